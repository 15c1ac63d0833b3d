/*
 * token.h - a token library in the manner of PKCS #11: a host that it does not know calls it on
 * threads that it did not start.  Sessions have objects, which are secrets.
 *
 * Every function may be called on any thread at any time; but as in PKCS #11 no other call runs
 * beside token_open() and token_close(): the host lets all calls return first.  A session or object
 * that another thread closes meanwhile stays until the call that uses it has returned; then its
 * secrets are wiped.
 *
 * A fork may come while other threads are in calls.  In the child calls answer TOKEN_FORKED until
 * it closes its parent's token, which wipes the child's memory, or opens its own, which does too.
 */
#ifndef EXAMPLES_SESSIONS_TOKEN_H
#define EXAMPLES_SESSIONS_TOKEN_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t token_session; /* 0 is none */
typedef uint64_t token_object;

typedef enum token_result {
    TOKEN_OK,
    TOKEN_SESSION_INVALID, /* never opened, or closed */
    TOKEN_OBJECT_INVALID,  /* never created, or destroyed; or another session's */
    TOKEN_FULL,
    TOKEN_NOT_OPEN,
    TOKEN_ALREADY_OPEN,
    TOKEN_FORKED, /* this process is the child of one that had the token open */
    TOKEN_NO_MEMORY,
} token_result;

enum { TOKEN_SECRET_SIZE = 32, TOKEN_MEMORY_SIZE = 128 << 10 };

/*
 * Secrets lie in `memory` alone: TOKEN_MEMORY_SIZE bytes of the host at a multiple of 64, locked
 * pages for instance.  They are the host's again after token_close().
 */
token_result token_open(void *memory);
token_result token_close(void);

token_result token_session_open(token_session *session);
token_result token_session_close(token_session session); /* and all its objects */
token_result token_close_all_sessions(void);

token_result token_object_create(token_session session, const uint8_t secret[TOKEN_SECRET_SIZE],
                                 token_object *object);
token_result token_object_destroy(token_session session, token_object object);

/* A checksum of the data under the object's secret: not one to sign anything with. */
token_result token_sign(token_session session, token_object object, const uint8_t *data,
                        size_t size, uint64_t *signature);

typedef struct token_counts {
    uint64_t objects;  /* that exist now */
    uint64_t ended;    /* objects of all time that exist no more */
    uint64_t outlived; /* calls whose session was closed before they returned */
} token_counts;

token_result token_count(token_counts *counts);

#endif /* EXAMPLES_SESSIONS_TOKEN_H */
