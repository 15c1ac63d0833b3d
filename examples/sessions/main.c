/*
 * sessions - a host of the token library: threads that come and go open sessions, sign, and are
 * interrupted by one that closes all sessions; meanwhile the process forks.
 */
#include "token.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GENERATIONS = 20, THREADS = 4, SESSIONS = 20, SIGNATURES = 20, CHILD_SECONDS = 20 };

/* What all secrets begin with: where these bytes are, one lies. */
static const char marker[] = {'h', 'i', 'd', 'e', ' ', 'm', 'e', '!'};

static _Alignas(64) char memory[TOKEN_MEMORY_SIZE];
static const uint8_t message[4096] = {42};
static _Atomic uint64_t created;
static _Atomic uint64_t signatures;
static _Atomic uint64_t refused; /* calls whose session was closed before them */
static _Atomic uint64_t mistakes;
static atomic_bool ends;

static void expect(bool holds)
{
    if (!holds) {
        atomic_fetch_add(&mistakes, 1);
    }
}

/* Secrets in the memory that was the token's. */
static uint64_t count_secrets(void)
{
    uint64_t found = 0;

    for (size_t at = 0; at + sizeof marker <= sizeof memory; at++) {
        found += memcmp(memory + at, marker, sizeof marker) == 0;
    }
    return found;
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
    memcpy(secret, marker, sizeof marker);
    if (result == TOKEN_OK) {
        result = token_object_create(session, secret, &object);
        atomic_fetch_add(&created, result == TOKEN_OK);
    }
    for (int i = 0; i < SIGNATURES && result == TOKEN_OK; i++) {
        uint64_t signature;

        result = token_sign(session, object, message, sizeof message, &signature);
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
        expect(token_sign(session, object, message, sizeof message, &first) ==
               TOKEN_SESSION_INVALID);
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

/* As an atexit handler of the child does, with no thread but this; then it opens its own. */
static bool child_works(token_session session)
{
    token_session other;
    token_counts counts;

    return token_session_close(session) == TOKEN_FORKED && token_count(&counts) == TOKEN_FORKED &&
           token_close() == TOKEN_OK && count_secrets() == 0 &&
           token_session_close(session) == TOKEN_NOT_OPEN && token_open(memory) == TOKEN_OK &&
           token_session_open(&other) == TOKEN_OK && token_session_close(other) == TOKEN_OK &&
           token_close() == TOKEN_OK;
}

/* Other threads are in calls. */
static void run_fork(void)
{
    token_session session;
    int status = 0;

    expect(token_session_open(&session) == TOKEN_OK);
    const pid_t child = fork();

    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(child_works(session) ? 0 : 1);
    }
    expect(waitpid(child, &status, 0) == child && status == 0);
}

/* Threads that end, and others after them. */
static void run_threads(void)
{
    for (int generation = 0; generation < GENERATIONS && atomic_load(&mistakes) == 0;
         generation++) {
        pthread_t threads[THREADS];

        for (uintptr_t i = 0; i < THREADS; i++) {
            expect(pthread_create(&threads[i], NULL, be_a_thread, (void *)i) == 0);
        }
        run_fork();
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
}

static void expect_not_open(void)
{
    token_session session;
    token_counts counts;

    expect(token_session_open(&session) == TOKEN_NOT_OPEN);
    expect(token_close_all_sessions() == TOKEN_NOT_OPEN);
    expect(token_count(&counts) == TOKEN_NOT_OPEN);
    expect(token_close() == TOKEN_NOT_OPEN);
}

int main(void)
{
    token_counts counts = {0};
    pthread_t closer;

    expect_not_open();
    if (token_open(memory) != TOKEN_OK || pthread_create(&closer, NULL, close_all, NULL) != 0) {
        return 1;
    }
    expect(token_open(memory) == TOKEN_ALREADY_OPEN);
    run_threads();
    atomic_store(&ends, true);
    pthread_join(closer, NULL);
    expect(token_close_all_sessions() == TOKEN_OK);
    expect(token_count(&counts) == TOKEN_OK);
    expect(token_close() == TOKEN_OK);
    expect_not_open();
    expect(counts.objects == 0 && counts.ended == atomic_load(&created) && count_secrets() == 0);
    expect(counts.outlived > 0 && atomic_load(&refused) > 0);
    printf("%" PRIu64 " signatures; %" PRIu64 " sessions closed under a call, %" PRIu64
           " calls refused\n",
           atomic_load(&signatures), counts.outlived, atomic_load(&refused));
    printf("%" PRIu64 " secrets created, %" PRIu64 " ended, %" PRIu64 " left in memory; %" PRIu64
           " mistakes\n",
           atomic_load(&created), counts.ended, count_secrets(), atomic_load(&mistakes));
    return fflush(stdout) != 0 || atomic_load(&mistakes) != 0;
}
