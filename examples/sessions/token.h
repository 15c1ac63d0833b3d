/*
 * token.h - a token library in the manner of PKCS #11: a host that it does not know calls it on
 * threads that it did not start.  Sessions have objects, which are secrets.
 *
 * Every function may be called on any thread at any time between token_open() and token_close().
 * A session or object that another thread closes meanwhile stays until the call that uses it has
 * returned; then its secrets are wiped.
 */
#ifndef EXAMPLES_SESSIONS_TOKEN_H
#define EXAMPLES_SESSIONS_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t token_session; /* 0 is none */
typedef uint64_t token_object;

typedef enum token_result {
    TOKEN_OK,
    TOKEN_SESSION_INVALID, /* never opened, or closed */
    TOKEN_OBJECT_INVALID,  /* never created, or destroyed; or another session's */
    TOKEN_FULL,
    TOKEN_FORKED, /* this process is the child of one that had the token open */
    TOKEN_NO_MEMORY,
} token_result;

enum { TOKEN_SECRET_SIZE = 32 };

token_result token_open(void);
void token_close(void); /* waits for calls that are under way */

token_result token_session_open(token_session *session);
token_result token_session_close(token_session session); /* and all its objects */
void token_close_all_sessions(void);

token_result token_object_create(token_session session, const uint8_t secret[TOKEN_SECRET_SIZE],
                                 token_object *object);
token_result token_object_destroy(token_session session, token_object object);

/* A checksum of the data under the object's secret: not one to sign anything with. */
token_result token_sign(token_session session, token_object object, uint64_t data,
                        uint64_t *signature);

/* Secrets that exist now, and that were ever wiped. */
void token_count(uint64_t *objects, uint64_t *wiped);

#endif /* EXAMPLES_SESSIONS_TOKEN_H */
