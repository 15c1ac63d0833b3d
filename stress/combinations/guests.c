/* Threads that come and go. */
#include "stress/combinations/guests.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/opening.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

struct guest {
    const struct step *step;
    sem_t is_ready; /* to leave */
    sem_t may_leave;
};

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

/* Comes with a worker, which it closes. */
static void work(struct thread *thread, const struct step *step, bool frees)
{
    struct step made = *step;

    begin_worker(thread);
    made.call = CALL_INSERT;
    call_step(thread, thread->worker, &made);
    if (frees) {
        made.call = CALL_FREE;
        call_step(thread, thread->worker, &made);
    }
    end_worker(thread);
}

static void *visit(void *arg)
{
    struct guest *guest = arg;
    static struct seat seat; /* static: callbacks on the thread look at them */
    static struct thread thread;

    seat = (struct seat){0};
    thread = (struct thread){.seat = &seat};
    current = &thread;
    const bool reads = guest->step->call == CALL_GUEST_LEAVING && (has_sections() || is_qsbr());

    if (reads) {
        haft_thread_register(play.domain);
    }
    work(&thread, guest->step, !reads); /* else its table would wait for the freed ones */
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

static haft_status close_beside(struct guest *guest, pthread_t thread)
{
    sem_post(&guest->may_leave);
    for (volatile uint32_t n = guest->step->at % 32 * 256; n != 0; n--) {
    }
    const haft_status status = play_close_table();

    pthread_join(thread, NULL);
    play.has_guest = false;
    return status;
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
    if (step->call == CALL_GUEST_LEAVING) {
        try_close_beside_guest(thread, step);
    } else {
        receive_guest(step);
    }
}
