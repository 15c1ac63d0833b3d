/*
 * A worker belongs to one thread at a time: debug builds assert that no call meets another
 * thread's.  With NDEBUG there are no assertions to see.
 */
#include "tests/support.h"
#include <haft/share.h>
#include <haft/table.h>
#include <signal.h>

TestSuite(owner, .timeout = SUITE_SECONDS);

/* A thread that stays inside a call with a worker, in on_reclaim, until the program is aborted. */
static struct {
    struct shared shared;
    sem_t inside;
    pthread_t thread;
    haft_id live;
    haft_id reserved;
} busy;

static void stay(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (worker != NULL) {
        sem_post(&busy.inside);
        sleep_ms(SUITE_SECONDS * 1000);
    }
}

static void *stay_inside(void *arg)
{
    haft_worker_quiescent(arg);
    return NULL;
}

/* The frame clock: the thread that is waited for is none of a flavour's. */
static void open_busy(void)
{
    const haft_domain_options domain = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options options = {.capacity = 100, .object_size = 8, .on_reclaim = stay};

    busy.shared = open_shared_on(&domain, &options);
    sem_init(&busy.inside, 0, 0);
    busy.live = insert(busy.shared.worker);
    must(haft_reserve(busy.shared.worker, &busy.reserved, NULL) == HAFT_OK);
    must(haft_free(busy.shared.worker, insert(busy.shared.worker)) == HAFT_OK);
    must(haft_worker_flush(busy.shared.worker) == HAFT_OK);
    must(haft_domain_tick(busy.shared.domain) == HAFT_OK);
    must(pthread_create(&busy.thread, NULL, stay_inside, busy.shared.worker) == 0);
    while (sem_wait(&busy.inside) != 0) {
        /* interrupted */
    }
}

static void insert_one(haft_worker *worker)
{
    haft_id id;

    haft_insert(worker, NULL, &id);
}

static void insert_and_wait(haft_worker *worker)
{
    haft_id id;

    haft_insert_wait(worker, NULL, &id);
}

static void insert_many(haft_worker *worker)
{
    haft_id id;

    haft_insert_many(worker, NULL, &id, 1, NULL);
}

static void reserve_one(haft_worker *worker)
{
    haft_id id;

    haft_reserve(worker, &id, NULL);
}

static void reserve_and_wait(haft_worker *worker)
{
    haft_id id;

    haft_reserve_wait(worker, &id, NULL);
}

static void give_up(haft_worker *worker)
{
    haft_abort(worker, busy.reserved);
}

static void publish(haft_worker *worker)
{
    haft_publish(worker, busy.reserved);
}

static void free_one(haft_worker *worker)
{
    haft_free(worker, busy.live);
}

static void free_many(haft_worker *worker)
{
    haft_free_many(worker, &busy.live, 1, NULL);
}

static void quiescent(haft_worker *worker)
{
    haft_worker_quiescent(worker);
}

static void flush(haft_worker *worker)
{
    haft_worker_flush(worker);
}

static void end(haft_worker *worker)
{
    haft_worker_close(worker);
}

static void (*const calls[])(haft_worker *worker) = {
    insert_one,       insert_and_wait, insert_many, reserve_one,
    reserve_and_wait, publish,         give_up,     free_one,
    free_many,        quiescent,       flush,       end,
};

#define CALLS (sizeof calls / sizeof calls[0])

ParameterizedTestParameters(owner,
                            a_call_that_meets_another_threads_is_an_assertion_in_debug_builds)
{
    static size_t all[CALLS];

    for (size_t i = 0; i < CALLS; i++) {
        all[i] = i;
    }
    return cr_make_param_array(size_t, all, CALLS);
}

ParameterizedTest(size_t *call, owner,
                  a_call_that_meets_another_threads_is_an_assertion_in_debug_builds,
                  .signal = SIGABRT)
{
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    open_busy();
    calls[*call](busy.shared.worker);
}

/* --- each call: by the worker's thread, by another one, and after the worker's close --- */

static struct shared open_idle(void)
{
    const haft_domain_options domain = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options options = {.capacity = 100, .object_size = 8};
    struct shared shared = open_shared_on(&domain, &options);

    busy.live = insert(shared.worker);
    must(haft_reserve(shared.worker, &busy.reserved, NULL) == HAFT_OK);
    return shared;
}

#define TEST_EACH_CALL(suite, name, ...)                                                           \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static size_t all[CALLS];                                                                  \
        for (size_t i = 0; i < CALLS; i++) {                                                       \
            all[i] = i;                                                                            \
        }                                                                                          \
        return cr_make_param_array(size_t, all, CALLS);                                            \
    }                                                                                              \
    ParameterizedTest(size_t *call, suite, name, __VA_ARGS__)

TEST_EACH_CALL(owner, a_call_with_its_own_worker_is_no_assertion, .timeout = SUITE_SECONDS)
{
    struct shared shared = open_idle();

    calls[*call](shared.worker);
}

struct visit {
    haft_worker *worker;
    size_t call;
};

static void *call_it(void *arg)
{
    const struct visit *visit = arg;

    calls[visit->call](visit->worker);
    return NULL;
}

/* But a thread that has joined the worker's may close it. */
TEST_EACH_CALL(owner, a_call_with_another_threads_worker_is_an_assertion_in_debug_builds,
               .signal = SIGABRT)
{
    struct shared shared = open_idle();
    struct visit visit = {shared.worker, *call};

#ifdef NDEBUG
    raise(SIGABRT);
#endif
    in_another_thread(call_it, &visit);
    if (calls[*call] == end) {
        raise(SIGABRT); /* as all others */
    }
}

TEST_EACH_CALL(owner, a_call_with_a_closed_worker_is_an_assertion_in_debug_builds,
               .signal = SIGABRT)
{
    struct shared shared = open_idle();

#ifdef NDEBUG
    raise(SIGABRT);
#endif
    must(haft_worker_close(shared.worker) == HAFT_OK);
    calls[*call](shared.worker);
}

static int reclaimed;

static void insert_and_free_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (worker != NULL && reclaimed++ == 0) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
        must(haft_free(worker, id) == HAFT_OK);
    }
}

Test(owner, a_callback_may_use_the_worker_it_is_given)
{
    const haft_table_options options = {.capacity = 100, .on_reclaim = insert_and_free_inside};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    settle(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    cr_expect(ge(int, reclaimed, 1));
}

static void *announce(void *arg)
{
    haft_worker_quiescent(arg);
    return NULL;
}

static void use_on_another_thread(void *(*use)(void *worker))
{
    const haft_domain_options domain = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options options = {.capacity = 100};
    struct shared shared = open_shared_on(&domain, &options);

#ifdef NDEBUG
    raise(SIGABRT);
#endif
    in_another_thread(use, shared.worker);
}

Test(owner, with_the_workers_clock_announcing_by_anothers_worker_is_an_assertion, .signal = SIGABRT)
{
    use_on_another_thread(announce);
}
