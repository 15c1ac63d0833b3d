#include "token.h"
#include <haft/counted.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SESSIONS = 64, MOST_OBJECTS = 1024 };

struct session {
    uint64_t opened; /* the how many-th: nothing else is kept of it here */
};

struct object {
    haft_id session;
    uint8_t secret[TOKEN_SECRET_SIZE];
};

static haft_counted *sessions;
static haft_counted *objects;
static pid_t owner; /* the process that opened the token */
static _Atomic uint64_t sessions_opened;
static _Atomic uint64_t secrets_wiped;

/* --- what ends --- */

/* Its last release: no call uses the session, so none creates an object in it. */
static void end_session(void *session, haft_id id, void *arg)
{
    haft_counted_cursor cursor = {0};
    haft_id found;
    void *each;

    (void)session;
    (void)arg;
    while (haft_counted_cursor_next(objects, &cursor, &found, &each)) {
        const struct object *object = each;

        if (haft_id_equal(object->session, id)) {
            haft_counted_free(objects, found);
        }
        haft_counted_release(objects, found);
    }
}

/* The table wipes the object's bytes when this has returned. */
static void end_object(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    atomic_fetch_add(&secrets_wiped, 1);
}

/* --- opening and closing --- */

token_result token_open(void)
{
    const haft_counted_options session_options = {
        .name = "sessions",
        .capacity = MOST_SESSIONS,
        .object_size = sizeof(struct session),
        .first_generation = HAFT_RANDOM_GENERATION, /* handles of the last run are refused */
        .on_destroy = end_session,
    };
    const haft_counted_options object_options = {
        .name = "objects",
        .capacity = MOST_OBJECTS,
        .object_size = sizeof(struct object),
        .first_generation = HAFT_RANDOM_GENERATION,
        .wipe = true,
        .on_destroy = end_object,
    };

    if (owner != 0 && owner != getpid()) {
        /* The parent's threads are not here: nothing is waited for, no secret's end is run. */
        haft_counted_abandon(sessions);
        haft_counted_abandon(objects);
        owner = 0;
    }
    if (haft_counted_open(&session_options, &sessions) != HAFT_OK) {
        return TOKEN_NO_MEMORY;
    }
    if (haft_counted_open(&object_options, &objects) != HAFT_OK) {
        haft_counted_close(sessions);
        return TOKEN_NO_MEMORY;
    }
    owner = getpid();
    return TOKEN_OK;
}

void token_close(void)
{
    haft_counted_close_wait(sessions); /* ends their objects */
    haft_counted_close_wait(objects);
    owner = 0;
}

static token_result result_of(haft_status status, token_result invalid)
{
    return status == HAFT_OK          ? TOKEN_OK
           : status == HAFT_FULL      ? TOKEN_FULL
           : status == HAFT_NO_MEMORY ? TOKEN_NO_MEMORY
                                      : invalid;
}

/* Hold the session during a call. */
static token_result enter(token_session session)
{
    if (owner != getpid()) {
        return TOKEN_FORKED;
    }
    return haft_counted_acquire(sessions, (haft_id){session}) != NULL ? TOKEN_OK
                                                                      : TOKEN_SESSION_INVALID;
}

static token_result leave(token_session session, token_result result)
{
    haft_counted_release(sessions, (haft_id){session});
    return result;
}

/* --- sessions --- */

token_result token_session_open(token_session *session)
{
    const struct session opened = {atomic_fetch_add(&sessions_opened, 1)};
    haft_id id;

    if (owner != getpid()) {
        return TOKEN_FORKED;
    }
    const haft_status status = haft_counted_insert(sessions, &opened, &id);

    if (status == HAFT_OK) {
        *session = id.bits;
    }
    return result_of(status, TOKEN_SESSION_INVALID);
}

token_result token_session_close(token_session session)
{
    if (owner != getpid()) {
        return TOKEN_FORKED;
    }
    return result_of(haft_counted_free(sessions, (haft_id){session}), TOKEN_SESSION_INVALID);
}

void token_close_all_sessions(void)
{
    haft_counted_cursor cursor = {0};
    haft_id id;
    void *session;

    while (haft_counted_cursor_next(sessions, &cursor, &id, &session)) {
        haft_counted_free(sessions, id);
        haft_counted_release(sessions, id);
    }
}

/* --- objects --- */

token_result token_object_create(token_session session, const uint8_t secret[TOKEN_SECRET_SIZE],
                                 token_object *object)
{
    struct object created = {.session = {session}};
    haft_id id;
    const token_result entered = enter(session);

    if (entered != TOKEN_OK) {
        return entered;
    }
    memcpy(created.secret, secret, sizeof created.secret);
    const haft_status status = haft_counted_insert(objects, &created, &id);

    if (status == HAFT_OK) {
        *object = id.bits;
    }
    return leave(session, result_of(status, TOKEN_OBJECT_INVALID));
}

/* The object of a session that the caller holds; held, too. */
static const struct object *hold(token_session session, token_object object)
{
    const haft_id id = {object};
    const struct object *held = haft_counted_acquire(objects, id);

    if (held != NULL && held->session.bits != session) {
        haft_counted_release(objects, id);
        held = NULL;
    }
    return held;
}

token_result token_object_destroy(token_session session, token_object object)
{
    const haft_id id = {object};
    const token_result entered = enter(session);

    if (entered != TOKEN_OK) {
        return entered;
    }
    if (hold(session, object) == NULL) {
        return leave(session, TOKEN_OBJECT_INVALID);
    }
    const haft_status status = haft_counted_free(objects, id);

    haft_counted_release(objects, id);
    return leave(session, result_of(status, TOKEN_OBJECT_INVALID));
}

token_result token_sign(token_session session, token_object object, uint64_t data,
                        uint64_t *signature)
{
    const token_result entered = enter(session);

    if (entered != TOKEN_OK) {
        return entered;
    }
    const struct object *held = hold(session, object);

    if (held == NULL) {
        return leave(session, TOKEN_OBJECT_INVALID);
    }
    for (int i = 0; i < TOKEN_SECRET_SIZE; i++) {
        data = (data ^ held->secret[i]) * UINT64_C(0x100000001B3); /* FNV-1a's prime */
    }
    *signature = data;
    haft_counted_release(objects, (haft_id){object});
    return leave(session, TOKEN_OK);
}

void token_count(uint64_t *count, uint64_t *wiped)
{
    *count = haft_counted_stats_get(objects).live;
    *wiped = atomic_load(&secrets_wiped);
}
