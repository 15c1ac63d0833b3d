/* Threads that stand still: see gathering.h. */
#include "stress/combinations/gathering.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/threads.h"
#include <string.h>

struct gathering {
    _Atomic(uint32_t) arrived;  /* in all rounds */
    _Atomic(uint32_t) released; /* rounds */
    _Atomic(uintptr_t) requests[MOST_THREADS];
};

static struct gathering gathering;

void begin_gathering(void)
{
    memset(&gathering, 0, sizeof gathering);
}

struct awaited {
    uint32_t arrived;
    uint32_t round;
    uint32_t thread;
};

static bool have_arrived(const void *what)
{
    return atomic_load(&gathering.arrived) == ((const struct awaited *)what)->arrived;
}

static bool is_called(const void *what)
{
    const struct awaited *awaited = what;

    return atomic_load(&gathering.released) == awaited->round ||
           atomic_load(&gathering.requests[awaited->thread]) != 0;
}

static bool is_answered(const void *what)
{
    return atomic_load(&gathering.requests[((const struct awaited *)what)->thread]) == 0;
}

/* Until the first thread lets all go on, the thread answers its requests. */
static void stand_still(struct thread *thread, uint32_t round)
{
    const struct awaited awaited = {.round = round, .thread = thread->number};

    end_sections(thread);
    go_offline(thread);
    atomic_fetch_add(&gathering.arrived, 1);
    for (;;) {
        backend_await(is_called, &awaited);
        const uintptr_t request = atomic_load(&gathering.requests[thread->number]);

        if (request == 0) {
            break;
        }
        go_online(thread);
        ((void (*)(struct thread *))request)(thread);
        go_offline(thread);
        atomic_store(&gathering.requests[thread->number], 0);
    }
    go_online(thread);
}

void gather(struct thread *thread, uint32_t round, const struct step *step, call_of_one *call)
{
    const struct awaited awaited = {.arrived = round * (play.plan->threads - 1)};

    if (thread->number != 0) {
        stand_still(thread, round);
        return;
    }
    end_sections(thread);
    go_offline(thread);
    backend_await(have_arrived, &awaited);
    go_online(thread);
    call(thread, step);
    atomic_store(&gathering.released, round);
}

void by_thread(uint32_t number, void (*call)(struct thread *thread))
{
    struct thread *before = current;

    if (!play.at_once || number == 0) {
        current = &play.threads[number];
        call(current);
        current = before;
        return;
    }
    const struct awaited awaited = {.thread = number};

    go_offline(before);
    atomic_store(&gathering.requests[number], (uintptr_t)call);
    backend_await(is_answered, &awaited);
    go_online(before);
}

void by_each_thread(void (*call)(struct thread *thread))
{
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        by_thread(i, call);
    }
}
