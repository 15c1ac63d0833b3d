/* Threads that come and go, and the workers that they leave. */
#include "stress/combinations/guests.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/opening.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

struct guest {
    const struct step *step;
    sem_t is_ready; /* to leave */
    sem_t may_leave;
};

static struct {
    pthread_key_t key;
    bool is_made;
    uint32_t rounds;
} late;

/* In the last round of destructors, after the library's own. */
static void ask_late(void *arg)
{
    if (++late.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(late.key, arg);
        return;
    }
    require_that(haft_worker_current(play.table, &play.left_worker) == HAFT_OK,
                 "haft_worker_current");
}

static void stay(void)
{
    if (!late.is_made) { /* after the library's key */
        require_that(pthread_key_create(&late.key, ask_late) == 0, "pthread_key_create");
        late.is_made = true;
    }
    late.rounds = 0;
    pthread_setspecific(late.key, &late);
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) { /* interrupted */
    }
}

#define LOOKS 16        /* while the table closes */
#define MOST_YIELDS 256 /* until it does */

static void await_closing(void)
{
    for (uint32_t i = 0; i < MOST_YIELDS && !play.is_closing; i++) {
        sched_yield();
    }
}

/* An object that lives stays itself until the reader is done, also while its table closes. */
static void look_until_end(const struct reg *reg, const struct stamp *object)
{
    await_closing();
    for (uint32_t i = 0; i < LOOKS; i++) {
        require_that(object == NULL || is_stamp_of(object, reg), "an object changed under a guest");
        sched_yield();
    }
    if (has_sections()) {
        haft_section_end(play.domain);
    }
    haft_thread_unregister(play.domain);
}

static void read_and_leave(struct guest *guest)
{
    struct reg *reg = find_register(guest->step->at, REGISTER_LIVE);

    if (has_sections()) {
        haft_section_begin(play.domain);
    }
    const struct stamp *object = reg != NULL ? haft_resolve(play.view, id_in(reg)) : NULL;

    require_that(reg == NULL || object != NULL, "a live object was not found");
    sem_post(&guest->is_ready);
    await(&guest->may_leave);
    look_until_end(reg, object);
}

static void *visit(void *arg)
{
    struct guest *guest = arg;
    struct step step = *guest->step;
    static struct seat seat; /* static: the thread's destructors may run on_reclaim */
    static struct thread thread;

    seat = (struct seat){.workers = 1, .level = is_clock(PLAN_WORKERS)};
    thread = (struct thread){.seat = &seat, .is_implicit = true};
    current = &thread;
    const bool reads = step.call == CALL_GUEST_LEAVING && (has_sections() || is_qsbr());
    if (reads) {
        haft_thread_register(play.domain);
    }
    require_that(haft_worker_current(play.table, &thread.worker) == HAFT_OK, "haft_worker_current");
    step.call = CALL_INSERT;
    call_step(&thread, thread.worker, &step);
    if (!reads) { /* else its table would wait for the freed ones */
        step.call = CALL_FREE;
        call_step(&thread, thread.worker, &step);
    }
    if (guest->step->call == CALL_GUEST_LATE) {
        stay();
    }
    if (reads) {
        read_and_leave(guest);
        return NULL;
    }
    sem_post(&guest->is_ready);
    await(&guest->may_leave);
    return NULL;
}

/* Until it is about to leave. */
static pthread_t receive(struct guest *guest, const struct step *step)
{
    pthread_t thread;

    guest->step = step;
    sem_init(&guest->is_ready, 0, 0);
    sem_init(&guest->may_leave, 0, 0);
    require_that(pthread_create(&thread, NULL, visit, guest) == 0, "pthread_create");
    await(&guest->is_ready);
    return thread;
}

static void receive_guest(const struct step *step)
{
    struct guest guest;
    const struct call_under_way outer = begin_call(step->call, HAFT_NIL);
    const pthread_t thread = receive(&guest, step);

    sem_post(&guest.may_leave);
    pthread_join(thread, NULL);
    end_call(outer);
}

void close_left(void)
{
    if (play.left_worker != NULL) {
        const struct call_under_way outer = begin_call(CALL_CLOSE_LEFT, HAFT_NIL);

        require_that(haft_worker_close(play.left_worker) == HAFT_OK, "haft_worker_close");
        end_call(outer);
        play.left_worker = NULL;
    }
}

/* With the workers clock a guest that is still there keeps the table open. */
static haft_status close_beside(struct guest *guest, pthread_t thread)
{
    sem_post(&guest->may_leave);
    for (volatile uint32_t n = guest->step->at % 32 * 256; n != 0; n--) {
    }
    const haft_status status = play_close_table();

    pthread_join(thread, NULL);
    play.has_guest = false;
    return status == HAFT_IN_USE && is_clock(PLAN_WORKERS) ? play_close_table() : status;
}

/* A guest ends while the table closes. */
static void try_close_beside_guest(struct thread *thread, const struct step *step)
{
    struct guest guest;
    uint32_t closed = 0;

    if (step->at % 2 == 0) {
        closed = clear_for_closing(thread);
        pass_grace_period(thread);
    }
    const struct call_under_way outer = begin_call(CALL_GUEST_LEAVING, HAFT_NIL);
    const pthread_t leaving = receive(&guest, step);

    play.has_guest = true;
    leave_to_close(thread);
    const haft_status status = close_beside(&guest, leaving);

    end_call(outer);
    go_on_after_close(status);
    open_workers_again(closed);
}

void have_guest(struct thread *thread, const struct step *step)
{
    if (play.left_worker != NULL) {
        return;
    }
    if (step->call == CALL_GUEST_LEAVING) {
        try_close_beside_guest(thread, step);
    } else {
        receive_guest(step);
    }
}
