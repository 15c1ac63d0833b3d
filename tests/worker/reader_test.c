/*
 * With the workers clock a thread that looks at objects has an open worker: debug builds assert it
 * where a call of the library looks.  With NDEBUG there are no assertions to see.
 */
#include "concurrent/clock/domain.h"
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/table.h>
#include <signal.h>

TestSuite(reader, .timeout = SUITE_SECONDS);

static struct {
    struct shared shared;
    haft_id live;
    haft_id freed;
} subject;

static void pass_over(const haft_bad_access *access, void *arg)
{
}

static void open_subject(haft_clock clock)
{
    const haft_domain_options domain = {
        .clock = clock,
    };
    const haft_table_options options = {
        .capacity = 100, .object_size = 8, .pins = true, .on_bad_access = pass_over};

    subject.shared = open_shared_on(&domain, &options);
    subject.live = insert(subject.shared.worker);
    subject.freed = insert(subject.shared.worker);
    must(haft_free(subject.shared.worker, subject.freed) == HAFT_OK);
}

/* --- ways to look --- */

static bool see(haft_id id, void *object, void *arg)
{
    return true;
}

static void scan(void)
{
    haft_scan(subject.shared.table, HAFT_EVERYTHING, see, NULL);
}

static void step(void)
{
    haft_cursor cursor = haft_cursor_over(subject.shared.table, HAFT_EVERYTHING);
    haft_id id;
    void *object;

    haft_cursor_next(&cursor, &id, &object);
}

static void hold(void)
{
    if (haft_pin(subject.shared.table, subject.live) != NULL) {
        haft_unpin(subject.shared.table, subject.live);
    }
}

static void need(void)
{
    haft_require(subject.shared.table, haft_table_view(subject.shared.table), subject.freed);
}

static void (*const looks[])(void) = {scan, step, hold, need};

#define LOOKS (sizeof looks / sizeof looks[0])

static struct criterion_test_params all_looks(void)
{
    size_t *all = cr_malloc(LOOKS * sizeof *all);

    for (size_t i = 0; i < LOOKS; i++) {
        all[i] = i;
    }
    return cr_make_param_array(size_t, all, LOOKS);
}

#define TEST_EACH_LOOK(name, ...)                                                                  \
    ParameterizedTestParameters(reader, name)                                                      \
    {                                                                                              \
        return all_looks();                                                                        \
    }                                                                                              \
    ParameterizedTest(size_t *look, reader, name, __VA_ARGS__)

#ifdef NDEBUG
#define AS_AN_ASSERTION() raise(SIGABRT)
#else
#define AS_AN_ASSERTION() (void)0
#endif

/* --- inside sections --- */

TEST_EACH_LOOK(beside_an_open_worker_or_with_another_clock_is_none, .timeout = SUITE_SECONDS)
{
    open_subject(HAFT_CLOCK_WORKERS);
    looks[*look]();
    close_shared(&subject.shared);

    open_subject(HAFT_CLOCK_FRAME);
    looks[*look]();
    close_shared(&subject.shared);
}

/* --- outside --- */

static void *ask_whether_it_may(void *may)
{
    *(bool *)may = domain_may_read(subject.shared.domain);
    return NULL;
}

static bool another_thread_may(void)
{
    bool may = false;

    in_another_thread(ask_whether_it_may, &may);
    return may;
}

/* White-box: what the asserts ask, in any build. */
Test(reader, is_one_with_a_worker_that_is_online_or_any_thread_without_workers)
{
    open_subject(HAFT_CLOCK_WORKERS);
    haft_domain *domain = subject.shared.domain;

    cr_expect(domain_may_read(domain));
    cr_expect(not(another_thread_may()));
    const haft_job_state parked = haft_thread_park(domain);

    cr_expect(not(domain_may_read(domain)));
    haft_thread_unpark(domain, parked);
    must(haft_worker_close(subject.shared.worker) == HAFT_OK);
    const haft_job_state job = haft_job_begin(domain);

    cr_expect(domain_may_read(domain));
    cr_expect(another_thread_may());
    haft_job_end(domain, job);
    subject.shared.worker = NULL;
    close_shared(&subject.shared);

    open_subject(HAFT_CLOCK_FRAME);
    cr_expect(another_thread_may());
    close_shared(&subject.shared);
}

static void *look_without_a_worker(void *look)
{
    looks[*(const size_t *)look]();
    return NULL;
}

static void *look_with_a_closed_worker(void *look)
{
    must(haft_worker_close(open_worker(subject.shared.table)) == HAFT_OK);
    return look_without_a_worker(look);
}

/* While this thread has a worker open. */
static void look_on_another_thread(void *(*run)(void *look), size_t *look)
{
    AS_AN_ASSERTION();
    open_subject(HAFT_CLOCK_WORKERS);
    in_another_thread(run, look);
}

TEST_EACH_LOOK(without_a_worker_is_an_assertion_with_the_workers_clock, .signal = SIGABRT)
{
    look_on_another_thread(look_without_a_worker, look);
}

TEST_EACH_LOOK(with_a_closed_worker_is_an_assertion, .signal = SIGABRT)
{
    look_on_another_thread(look_with_a_closed_worker, look);
}

TEST_EACH_LOOK(when_all_workers_are_closed_is_none, .timeout = SUITE_SECONDS)
{
    open_subject(HAFT_CLOCK_WORKERS);
    must(haft_worker_close(subject.shared.worker) == HAFT_OK);
    looks[*look]();
    subject.shared.worker = open_worker(subject.shared.table);
    close_shared(&subject.shared);
}

TEST_EACH_LOOK(while_parked_is_an_assertion, .signal = SIGABRT)
{
    AS_AN_ASSERTION();
    open_subject(HAFT_CLOCK_WORKERS);
    (void)haft_thread_park(subject.shared.domain);
    looks[*look]();
}
