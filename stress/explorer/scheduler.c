/* Threads and turns.  Compiled without ThreadSanitizer: see scheduler.h. */
#include "stress/explorer/scheduler.h"
#include "stress/explorer/choice.h"
#include "stress/explorer/report.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

struct scheduled {
    _Atomic(int) has_turn; /* the thread sleeps on it */
    bool lives;
    bool is_abandoned;               /* its next turn is its end */
    bool (*ready)(const void *what); /* NULL: it can go on */
    const void *what;
};

static struct scheduled threads[MOST_SCHEDULED];
static uint32_t thread_count; /* in this schedule; 0 outside */
static uint64_t steps;
static void (*call_last)(void); /* what abandoned threads call, and how many have */
static _Atomic(uint32_t) gone;
static _Thread_local uint32_t self = NO_THREAD;

void schedule_begin(void)
{
    self = 0;
    steps = 0;
    thread_count = 1;
    threads[0].lives = true;
    threads[0].ready = NULL;
}

void schedule_end(void)
{
    self = NO_THREAD;
    thread_count = 0;
}

uint32_t schedule_self(void)
{
    return self;
}

uint64_t schedule_steps(void)
{
    return steps;
}

static void give_turn(uint32_t thread)
{
    atomic_store_explicit(&threads[thread].has_turn, 1, memory_order_release);
    syscall(SYS_futex, &threads[thread].has_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_turn(void)
{
    while (atomic_load_explicit(&threads[self].has_turn, memory_order_acquire) == 0) {
        syscall(SYS_futex, &threads[self].has_turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
    atomic_store_explicit(&threads[self].has_turn, 0, memory_order_relaxed);
    if (threads[self].is_abandoned) {
        self = NO_THREAD;
        call_last();
        atomic_fetch_add(&gone, 1);
        pthread_exit(NULL);
    }
}

static bool can_run(uint32_t thread)
{
    const struct scheduled *at = &threads[thread];

    return at->lives && (at->ready == NULL || at->ready(at->what));
}

/* The threads that can run: the calling thread first, or last if it yields, the others in turn. */
static uint32_t who_can_run(uint32_t *found, bool yields)
{
    uint32_t count = 0;

    for (uint32_t i = yields ? 1 : 0; i < thread_count + (yields ? 1 : 0); i++) {
        const uint32_t thread = (self + i) % thread_count;

        if (can_run(thread)) {
            found[count++] = thread;
        }
    }
    return count;
}

static enum choice_reason reason_of(const uint32_t *found, uint32_t count, bool yields)
{
    const bool could_go_on = found[0] == self || found[count - 1] == self;

    if (could_go_on) {
        return yields ? CHOICE_YIELD : CHOICE_PREEMPT;
    }
    return self == 0 || !threads[self].lives ? CHOICE_ENDED : CHOICE_BLOCKED;
}

/* The one that goes on. */
static uint32_t pick(bool yields)
{
    uint32_t found[MOST_SCHEDULED];
    const uint32_t count = who_can_run(found, yields);

    if (count == 0) {
        violation("deadlock: no thread can go on");
    }
    if (++steps == MOST_STEPS) {
        violation("live-lock: %u points and no end", MOST_STEPS);
    }
    return found[choice_of_thread(found, count, reason_of(found, count, yields))];
}

static void pass(bool yields)
{
    const uint32_t next = pick(yields);

    if (next != self) {
        give_turn(next);
        await_turn();
    }
}

void schedule_point(void)
{
    if (self != NO_THREAD) {
        pass(false);
    }
}

void schedule_yield(void)
{
    if (self != NO_THREAD) {
        pass(true);
    }
}

void schedule_block(bool (*ready)(const void *what), const void *what)
{
    threads[self].ready = ready;
    threads[self].what = what;
    pass(false);
    threads[self].ready = NULL;
}

static bool others_wait(const void *thread)
{
    for (uint32_t i = 0; i < thread_count; i++) {
        if (&threads[i] != thread && can_run(i)) {
            return false;
        }
    }
    return true;
}

void schedule_settle(void)
{
    schedule_block(others_wait, &threads[self]);
}

uint32_t schedule_add(void)
{
    const uint32_t thread = thread_count++;

    if (thread == MOST_SCHEDULED) {
        violation("more than %d threads", MOST_SCHEDULED);
    }
    threads[thread].lives = true;
    threads[thread].is_abandoned = false;
    threads[thread].ready = NULL;
    atomic_store_explicit(&threads[thread].has_turn, 0, memory_order_relaxed);
    return thread;
}

void schedule_enter(uint32_t thread)
{
    self = thread;
    await_turn();
}

void schedule_leave(void)
{
    threads[self].lives = false;
    give_turn(pick(false));
    self = NO_THREAD;
}

bool schedule_has_left(uint32_t thread)
{
    return !threads[thread].lives;
}

bool schedule_was_abandoned(uint32_t thread)
{
    return threads[thread].is_abandoned;
}

void schedule_abandon(void (*last)(void))
{
    uint32_t count = 0;

    call_last = last;
    atomic_store(&gone, 0);
    for (uint32_t i = 1; i < thread_count; i++) {
        if (i != self && threads[i].lives) {
            threads[i].lives = false;
            threads[i].is_abandoned = true;
            give_turn(i);
            count++;
        }
    }
    while (atomic_load(&gone) != count) {
        syscall(SYS_sched_yield);
    }
}
