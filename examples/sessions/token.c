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
static pid_t owner;         /* the process that opened the token; 0: none has */
static void *secret_memory; /* of the host: `objects` lies there */
static _Atomic uint64_t sessions_opened;
static _Atomic uint64_t objects_ended;
static _Atomic uint64_t calls_outlived;

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
    atomic_fetch_add(&objects_ended, 1);
}

/* --- opening and closing --- */

static token_result check_open(void)
{
    return owner == 0 ? TOKEN_NOT_OPEN : owner != getpid() ? TOKEN_FORKED : TOKEN_OK;
}

static haft_status open_sessions(void)
{
    return haft_counted_open(
        &(haft_counted_options){
            .name = "sessions",
            .capacity = MOST_SESSIONS,
            .object_size = sizeof(struct session),
            .first_generation = HAFT_RANDOM_GENERATION, /* handles of the last run are refused */
            .on_destroy = end_session,
        },
        &sessions);
}

static haft_status open_objects(void *memory)
{
    return haft_counted_open(
        &(haft_counted_options){
            .name = "objects",
            .capacity = MOST_OBJECTS,
            .object_size = sizeof(struct object),
            .first_generation = HAFT_RANDOM_GENERATION,
            .wipe = true,
            .on_destroy = end_object,
            .memory = memory,
            .memory_size = TOKEN_MEMORY_SIZE,
        },
        &objects);
}

/* In the child of a fork.  The parent's threads are not here, and what they held stays held. */
static void abandon(void)
{
    haft_counted_abandon(sessions);
    haft_counted_abandon(objects);
    memset(secret_memory, 0, TOKEN_MEMORY_SIZE); /* the child's copy: no object has ended in it */
    owner = 0;
}

token_result token_open(void *memory)
{
    const token_result is_open = check_open();

    if (is_open == TOKEN_OK) {
        return TOKEN_ALREADY_OPEN;
    }
    if (is_open == TOKEN_FORKED) {
        abandon();
    }
    if (open_sessions() != HAFT_OK) {
        return TOKEN_NO_MEMORY;
    }
    if (open_objects(memory) != HAFT_OK) {
        haft_counted_close(sessions);
        return TOKEN_NO_MEMORY;
    }
    secret_memory = memory;
    owner = getpid();
    return TOKEN_OK;
}

token_result token_close(void)
{
    const token_result is_open = check_open();

    if (is_open == TOKEN_NOT_OPEN) {
        return TOKEN_NOT_OPEN;
    }
    if (is_open == TOKEN_FORKED) {
        abandon();
        return TOKEN_OK;
    }
    haft_counted_close_wait(sessions); /* ends their objects */
    haft_counted_close_wait(objects);
    owner = 0;
    return TOKEN_OK;
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
    const token_result is_open = check_open();

    if (is_open != TOKEN_OK) {
        return is_open;
    }
    return haft_counted_acquire(sessions, (haft_id){session}) != NULL ? TOKEN_OK
                                                                      : TOKEN_SESSION_INVALID;
}

static token_result leave(token_session session, token_result result)
{
    if (!haft_counted_is_live(sessions, (haft_id){session})) {
        atomic_fetch_add(&calls_outlived, 1);
    }
    haft_counted_release(sessions, (haft_id){session});
    return result;
}

/* --- sessions --- */

token_result token_session_open(token_session *session)
{
    const struct session opened = {atomic_fetch_add(&sessions_opened, 1)};
    const token_result is_open = check_open();
    haft_id id;

    if (is_open != TOKEN_OK) {
        return is_open;
    }
    const haft_status status = haft_counted_insert(sessions, &opened, &id);

    if (status == HAFT_OK) {
        *session = id.bits;
    }
    return result_of(status, TOKEN_SESSION_INVALID);
}

token_result token_session_close(token_session session)
{
    const token_result is_open = check_open();

    if (is_open != TOKEN_OK) {
        return is_open;
    }
    return result_of(haft_counted_free(sessions, (haft_id){session}), TOKEN_SESSION_INVALID);
}

token_result token_close_all_sessions(void)
{
    const token_result is_open = check_open();
    haft_counted_cursor cursor = {0};
    haft_id id;
    void *session;

    if (is_open != TOKEN_OK) {
        return is_open;
    }
    while (haft_counted_cursor_next(sessions, &cursor, &id, &session)) {
        haft_counted_free(sessions, id);
        haft_counted_release(sessions, id);
    }
    return TOKEN_OK;
}

/* --- objects --- */

token_result token_object_create(token_session session, const uint8_t secret[TOKEN_SECRET_SIZE],
                                 token_object *object)
{
    const token_result entered = enter(session);
    haft_id id;
    void *place;

    if (entered != TOKEN_OK) {
        return entered;
    }
    const haft_status status = haft_counted_reserve(objects, &id, &place);

    if (status == HAFT_OK) {
        struct object *created = place; /* filled in place: no other copy has to be wiped */

        created->session = (haft_id){session};
        memcpy(created->secret, secret, sizeof created->secret);
        haft_counted_publish(objects, id);
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

token_result token_sign(token_session session, token_object object, const uint8_t *data,
                        size_t size, uint64_t *signature)
{
    const token_result entered = enter(session);

    if (entered != TOKEN_OK) {
        return entered;
    }
    const struct object *held = hold(session, object);

    if (held == NULL) {
        return leave(session, TOKEN_OBJECT_INVALID);
    }
    *signature = 0;
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = data[i] ^ held->secret[i % TOKEN_SECRET_SIZE];

        *signature = (*signature ^ byte) * UINT64_C(0x100000001B3); /* FNV-1a's prime */
    }
    haft_counted_release(objects, (haft_id){object});
    return leave(session, TOKEN_OK);
}

token_result token_count(token_counts *counts)
{
    const token_result is_open = check_open();

    if (is_open == TOKEN_OK) {
        *counts = (token_counts){.objects = haft_counted_stats_get(objects).live,
                                 .ended = atomic_load(&objects_ended),
                                 .outlived = atomic_load(&calls_outlived)};
    }
    return is_open;
}
