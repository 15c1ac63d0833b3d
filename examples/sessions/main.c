/*
 * sessions - a host of the token library: threads that come and go open sessions, sign, and are
 * interrupted by one that closes all sessions; then the process forks.
 */
#include "token.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GENERATIONS = 20, THREADS = 4, SESSIONS = 50, SIGNATURES = 20 };

static _Atomic uint64_t signatures;
static _Atomic uint64_t refused; /* calls whose session was closed meanwhile */
static _Atomic uint64_t mistakes;
static atomic_bool ends;

static void expect(bool holds)
{
    if (!holds) {
        atomic_fetch_add(&mistakes, 1);
    }
}

/* All calls of one session: it may be closed under each of them. */
static void work(uint8_t seed)
{
    uint8_t secret[TOKEN_SECRET_SIZE];
    uint64_t first = 0;
    token_session session;
    token_object object;
    token_result result = token_session_open(&session);

    memset(secret, seed, sizeof secret);
    if (result == TOKEN_OK) {
        result = token_object_create(session, secret, &object);
    }
    for (int i = 0; i < SIGNATURES && result == TOKEN_OK; i++) {
        uint64_t signature;

        result = token_sign(session, object, 42, &signature);
        if (result == TOKEN_OK) {
            first = i == 0 ? signature : first;
            expect(signature == first);
            atomic_fetch_add(&signatures, 1);
        }
    }
    if (result == TOKEN_OK) {
        result = token_session_close(session);
    }
    if (result == TOKEN_SESSION_INVALID || result == TOKEN_OBJECT_INVALID) {
        atomic_fetch_add(&refused, 1);
    } else {
        expect(result == TOKEN_OK);
        expect(token_sign(session, object, 42, &first) == TOKEN_SESSION_INVALID);
    }
}

static void *be_a_thread(void *number)
{
    for (int i = 0; i < SESSIONS; i++) {
        work((uint8_t)((uintptr_t)number + (unsigned)i));
    }
    return NULL;
}

static void *close_all(void *unused)
{
    while (!atomic_load(&ends)) {
        token_close_all_sessions();
        usleep(200);
    }
    return unused;
}

/* Threads that end, and others after them. */
static void run_threads(void)
{
    for (int generation = 0; generation < GENERATIONS; generation++) {
        pthread_t threads[THREADS];

        for (uintptr_t i = 0; i < THREADS; i++) {
            expect(pthread_create(&threads[i], NULL, be_a_thread, (void *)i) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
}

/* The child opens a token itself; the parent's sessions are not for it. */
static bool child_works(token_session session)
{
    token_session other;

    return token_session_close(session) == TOKEN_FORKED && token_open() == TOKEN_OK &&
           token_session_open(&other) == TOKEN_OK && token_session_close(other) == TOKEN_OK;
}

static void run_fork(void)
{
    token_session session;
    int status = 0;

    expect(token_session_open(&session) == TOKEN_OK);
    const pid_t child = fork();

    if (child == 0) {
        _exit(child_works(session) ? 0 : 1);
    }
    expect(waitpid(child, &status, 0) == child && status == 0);
    expect(token_session_close(session) == TOKEN_OK);
}

int main(void)
{
    uint64_t objects;
    uint64_t wiped;
    pthread_t closer;

    if (token_open() != TOKEN_OK || pthread_create(&closer, NULL, close_all, NULL) != 0) {
        return 1;
    }
    run_threads();
    atomic_store(&ends, true);
    pthread_join(closer, NULL);
    run_fork();
    token_count(&objects, &wiped);
    token_close();
    printf("%" PRIu64 " signatures, %" PRIu64 " sessions closed while in use\n",
           atomic_load(&signatures), atomic_load(&refused));
    printf("%" PRIu64 " secrets left, %" PRIu64 " wiped; %" PRIu64 " mistakes\n", objects, wiped,
           atomic_load(&mistakes));
    return fflush(stdout) != 0 || objects != 0 || atomic_load(&mistakes) != 0;
}
