/*
 * Jobs inside jobs: what the outer one has resolved stays, whatever the inner one calls; and a
 * parked one holds nothing up.
 */
#include "stress/explorer/cases/case.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>

static haft_id id;
static shared_u64 turns;

/* The writer is a thread of the case, not the one that sets it up. */
static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    haft_worker *writer = open_worker();

    id = insert_stamped(writer);
    poke(&turns, 0);
    close_worker(writer);
}

static void set_up_workers(void)
{
    open_with(&(struct table_wish){.capacity = 1, .is_workers = true});
}

static void set_up_qsbr(void)
{
    open_with(&(struct table_wish){.capacity = 1, .is_qsbr = true});
}

static void set_up_memb(void)
{
    open_with(&(struct table_wish){.capacity = 1});
}

static void set_up_late(void)
{
    open_with(&(struct table_wish){.capacity = 1, .is_late = true});
}

/* There are two slots: the second insertion is into the first again. */
static void free_and_reuse(void)
{
    haft_worker *own = open_worker();
    haft_id next = id;

    race_begin();
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(own, next), HAFT_OK, "freeing");
        next = insert_stamped(own);
    }
    race_end();
    close_worker(own);
}

static void require_kept(const struct object *object)
{
    require(object == NULL || is_stamped(object, id),
            "an object is written again in a job that holds it");
}

/* --- job_inner: an inner job announces nothing, wherever workers open and close --- */

static void run_inner(haft_worker *own)
{
    const haft_job_state inner = haft_job_begin(fixture.domain);

    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point of an inner job");
    require_status(haft_domain_wait(fixture.domain), HAFT_IN_SECTION, "waiting in an inner job");
    haft_job_end(fixture.domain, inner);
}

static void job_inner_body(uint32_t thread)
{
    if (thread != 0) {
        free_and_reuse();
        return;
    }
    const haft_job_state outer = haft_job_begin(fixture.domain);
    haft_worker *own = open_worker(); /* with the workers clock the thread's first, in a job */

    race_begin();
    const struct object *object = haft_resolve(fixture.view, id);

    run_inner(own);
    require_kept(object);
    close_worker(own); /* the last one */
    require_kept(object);
    race_end();
    haft_job_end(fixture.domain, outer);
}

#define JOB_INNER_INVARIANT "what a job has resolved stays while inner jobs pass quiescent points"

EXPLORE(job_inner, 2, set_up_workers, job_inner_body, close_table, JOB_INNER_INVARIANT);
EXPLORE(job_inner_qsbr, 2, set_up_qsbr, job_inner_body, close_table,
        JOB_INNER_INVARIANT ", with qsbr");
EXPLORE(job_inner_memb, 2, set_up_memb, job_inner_body, close_table,
        JOB_INNER_INVARIANT ", with memb");
EXPLORE(job_inner_late, 2, set_up_late, job_inner_body, close_table,
        JOB_INNER_INVARIANT ", with late grace periods");

/* --- job_member: what a thread that ends its last job leaves is taken over by another one --- */

static void set_up_member(void)
{
    open_table(&(struct table_wish){.capacity = 1, .is_workers = true});
}

static void job_member_body(uint32_t thread)
{
    (void)thread;
    race_begin();
    const haft_job_state job = haft_job_begin(fixture.domain);

    haft_job_end(fixture.domain, job);
    race_end();
}

EXPLORE(job_member, 2, set_up_member, job_member_body, close_table,
        "a thread that begins a job takes over a member as the thread before left it");

/* --- job_back: a job opens a worker again after offline, the close of its last, and online --- */

static void job_back_body(uint32_t thread)
{
    if (thread != 0) {
        free_and_reuse();
        return;
    }
    const haft_job_state job = haft_job_begin(fixture.domain);
    haft_worker *own = open_worker();

    haft_thread_offline(fixture.domain);
    close_worker(own);
    haft_thread_online(fixture.domain);
    own = open_worker();
    race_begin();
    const struct object *object = haft_resolve(fixture.view, id);

    require_kept(object);
    close_worker(own);
    require_kept(object);
    race_end();
    haft_job_end(fixture.domain, job);
}

EXPLORE(job_back, 2, set_up_workers, job_back_body, close_table,
        "what a job resolves stays, though the thread was offline with no worker before");

/* --- job_lift: a worker that is opened on a thread that is parked --- */

static void job_lift_body(uint32_t thread)
{
    if (thread != 0) {
        free_and_reuse();
        return;
    }
    haft_worker *own = open_worker();
    const haft_job_state parked = haft_thread_park(fixture.domain);
    haft_worker *transient = open_worker();

    race_begin();
    const struct object *object = haft_resolve(fixture.view, id);

    require_kept(object);
    require_kept(object);
    race_end();
    close_worker(transient);
    haft_thread_unpark(fixture.domain, parked);
    close_worker(own);
}

EXPLORE(job_lift, 2, set_up_workers, job_lift_body, close_table,
        "what a parked thread resolves while it has a worker open stays until the close");

/* --- job_park: a parked job is waited for by none; jobs that begin meanwhile are outermost --- */

static void await_turn(uint64_t turn)
{
    while (peek(&turns) < turn) {
        schedule_yield();
    }
}

/* Parks two jobs deep; no pointer is held across it. */
static void park_until_waited(haft_worker *own)
{
    const haft_job_state inner = haft_job_begin(fixture.domain);
    const haft_job_state parked = haft_thread_park(fixture.domain);

    poke(&turns, 1);
    const haft_job_state anew = haft_job_begin(fixture.domain);

    look_at(id);
    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point of an outermost job");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting in an outermost job");
    haft_job_end(fixture.domain, anew);
    haft_thread_offline(fixture.domain); /* as a function that blocks, which knows of no park */
    haft_thread_online(fixture.domain);
    await_turn(2);
    haft_thread_unpark(fixture.domain, parked);
    require_status(haft_domain_wait(fixture.domain), HAFT_IN_SECTION, "waiting in an inner job");
    haft_job_end(fixture.domain, inner);
}

static void job_park_body(uint32_t thread)
{
    if (thread != 0) {
        await_turn(1);
        haft_worker *own = open_worker();

        require_status(haft_free(own, id), HAFT_OK, "freeing");
        require_status(haft_worker_flush(own), HAFT_OK, "flushing");
        race_begin();
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting beside a parked job");
        race_end();
        poke(&turns, 2);
        close_worker(own);
        return;
    }
    const haft_job_state outer = haft_job_begin(fixture.domain);
    haft_worker *own = open_worker();

    look_at(id);
    race_begin();
    park_until_waited(own);
    race_end();
    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point of an outermost job");
    haft_job_end(fixture.domain, outer);
    close_worker(own);
}

#define JOB_PARK_INVARIANT "a parked job keeps no thread waiting, and is what it was afterwards"

EXPLORE(job_park, 2, set_up_workers, job_park_body, close_table, JOB_PARK_INVARIANT);
EXPLORE(job_park_qsbr, 2, set_up_qsbr, job_park_body, close_table,
        JOB_PARK_INVARIANT ", with qsbr");
EXPLORE(job_park_memb, 2, set_up_memb, job_park_body, close_table,
        JOB_PARK_INVARIANT ", with memb");

/* --- job_flavour: the inner job is one of another domain, with the same flavour --- */

static struct fixture beside;

static void set_up_flavour(void)
{
    open_table(&(struct table_wish){.capacity = 1, .is_qsbr = true});
    beside = fixture;
    set_up_qsbr();
}

static void job_flavour_body(uint32_t thread)
{
    if (thread != 0) {
        free_and_reuse();
        return;
    }
    haft_worker *other;
    const haft_job_state outer = haft_job_begin(fixture.domain);

    race_begin();
    const struct object *object = haft_resolve(fixture.view, id);
    const haft_job_state inner = haft_job_begin(beside.domain);

    require_status(haft_worker_open(beside.table, &other), HAFT_OK, "opening a worker");
    require_status(haft_worker_quiescent(other), HAFT_OK, "a quiescent point of an inner job");
    require_status(haft_domain_wait(beside.domain), HAFT_IN_SECTION, "waiting in an inner job");
    close_worker(other);
    haft_job_end(beside.domain, inner);
    require_kept(object);
    race_end();
    haft_job_end(fixture.domain, outer);
}

static void tear_down_flavour(void)
{
    close_table();
    fixture = beside;
    close_table();
}

EXPLORE(job_flavour, 2, set_up_flavour, job_flavour_body, tear_down_flavour,
        "jobs of two domains with qsbr are jobs of one thread");
