/* Plans played by plain threads: in turn, by one of them, or all at once. */
#include "examples/ck/clock.h"
#include "stress/combinations/play.h"
#include "stress/combinations/watch.h"
#include <haft/urcu.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

const char *const backend_modes[] = {"turns", "threads", NULL};

bool backend_is_at_once(const char *mode)
{
    return strcmp(mode, "threads") == 0;
}

const haft_foreign_clock *backend_memb(void)
{
    return haft_urcu_memb();
}

const haft_foreign_clock *backend_qsbr(void)
{
    return haft_urcu_qsbr();
}

const haft_foreign_clock *backend_ck(void)
{
    return &ck_clock;
}

void backend_await(bool (*ready)(const void *what), const void *what)
{
    while (!ready(what)) {
        sched_yield();
    }
}

/* A sanitizer needs memory itself, and ThreadSanitizer lets no forked process have threads. */
bool backend_has_system(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#else
    return true;
#endif
#else
    return true;
#endif
}

bool backend_has_files(void)
{
    return true;
}

pid_t backend_fork(void)
{
    return fork();
}

void backend_fail(const char *kind, const char *detail)
{
    watch_note(kind, detail);
    _exit(3);
}

static void *run_thread(void *number)
{
    play_thread((uint32_t)(uintptr_t)number);
    return NULL;
}

static void play_at_once(const struct plan *plan)
{
    pthread_t threads[MOST_THREADS];

    play_begin(plan, true);
    for (uintptr_t i = 0; i < plan->threads; i++) {
        if (pthread_create(&threads[i], NULL, run_thread, (void *)i) != 0) {
            fail("pthread_create", "%s", "");
        }
    }
    for (uint32_t i = 0; i < plan->threads; i++) {
        pthread_join(threads[i], NULL);
    }
    play_end();
}

void backend_play(const struct plan *plan, const char *mode, uint32_t times)
{
    if (!backend_is_at_once(mode)) {
        play_in_turn(plan);
        return;
    }
    for (uint32_t i = 0; i < times; i++) {
        play_at_once(plan);
    }
}
