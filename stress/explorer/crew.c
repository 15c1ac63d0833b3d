/*
 * White-box: threads under the scheduler: the linker sends calls here (--wrap).
 *
 * Starting and joining a thread that is reused order what creating and joining one would:
 * hooked.c tells ThreadSanitizer.
 */
#include "stress/explorer/crew.h"
#include "lib/base/os.h"
#include "stress/explorer/history.h"
#include "stress/explorer/hooked.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_MEMBERS (2 * MOST_SCHEDULED) /* some may never leave the schedule of a fork */

struct member {
    struct os_thread thread;
    const struct os_thread *called_by; /* the library's own, in this schedule */
    bool is_made;                      /* there is a thread */
    bool is_called;                    /* in this schedule, and not joined */
    _Atomic(int) has_call;             /* the thread sleeps on it */
    void (*run)(void *arg);
    void *arg;
    uint32_t number; /* in this schedule */
};

static struct member members[MOST_MEMBERS];
static bool reuses;

bool __real_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
void __real_os_thread_join(struct os_thread *thread);
bool __wrap_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
void __wrap_os_thread_join(struct os_thread *thread);

static void end_member(struct member *member)
{
    __real_os_thread_join(&member->thread);
    member->is_made = false;
    member->is_called = false;
}

/* A thread that the schedule before has abandoned, or left waiting for its turn. */
static void forget(struct member *member)
{
    if (schedule_was_abandoned(member->number)) {
        end_member(member);
    } else if (!schedule_has_left(member->number)) {
        violation("a thread is left behind");
    }
    member->is_called = false;
}

void crew_reset(bool reuse)
{
    for (int i = 0; i < MOST_MEMBERS; i++) {
        if (members[i].is_called) {
            forget(&members[i]);
        }
    }
    reuses = reuse;
}

static void await_call(struct member *member)
{
    while (atomic_exchange_explicit(&member->has_call, 0, memory_order_acquire) == 0) {
        syscall(SYS_futex, &member->has_call, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

static void call(struct member *member)
{
    atomic_store_explicit(&member->has_call, 1, memory_order_release);
    syscall(SYS_futex, &member->has_call, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void serve(void *arg)
{
    struct member *member = arg;

    do {
        if (reuses) { /* or schedules had other points, as the thread had been used before */
            hooked_number_thread();
        }
        await_call(member);
        schedule_enter(member->number);
        hooked_acquire(member);
        member->run(member->arg);
        hooked_release(member);
        schedule_leave();
    } while (reuses);
}

static struct member *free_member(void)
{
    for (int i = 0; i < MOST_MEMBERS; i++) {
        if (!members[i].is_called) {
            return &members[i];
        }
    }
    violation("more than %d threads", MOST_MEMBERS);
}

bool __wrap_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    struct member *member = free_member();

    member->run = run;
    member->arg = arg;
    member->number = schedule_add();
    view_clear(history_view(member->number));
    view_join(history_view(member->number), history_view(schedule_self()));
    member->is_made = member->is_made || __real_os_thread_start(&member->thread, serve, member);
    if (member->is_made) {
        member->is_called = true;
        member->called_by = thread;
        hooked_release(member);
        call(member);
    }
    return member->is_made;
}

static bool has_left(const void *member)
{
    return schedule_has_left(((const struct member *)member)->number);
}

void __wrap_os_thread_join(struct os_thread *thread)
{
    struct member *member = members;

    while (!member->is_called || member->called_by != thread) {
        member++;
    }
    schedule_block(has_left, member);
    view_join(history_view(schedule_self()), history_view(member->number));
    hooked_acquire(member);
    if (!reuses || schedule_was_abandoned(member->number)) {
        end_member(member);
    }
    member->is_called = false;
}
