/* Read sections: an object that was resolved inside stays until the end. */
#include "tests/support.h"
#include <signal.h>
#include <string.h>

TestSuite(section, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 16};
static const char sixteen[16] = "fifteen letters";

#define SLOTS 128

static haft_id insert_text(haft_worker *worker)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_insert_wait(worker, sixteen, &id), HAFT_OK);
    return id;
}

/* Try to get at the slot of `id` while a reader is inside a section. */
static void expect_slot_kept(struct shared *shared, haft_id id, const char *object)
{
    haft_id other;

    for (int n = 0; n < 1000; n++) {
        if (haft_insert(shared->worker, "something else!", &other) == HAFT_OK) {
            must(haft_id_index(HAFT_LAYOUT_32_32, other) != haft_id_index(HAFT_LAYOUT_32_32, id));
            must(haft_free(shared->worker, other) == HAFT_OK);
        }
        must(memcmp(object, sixteen, sizeof sixteen) == 0);
    }
}

/* Whether some insert gets the slot of `id`, once a grace period can pass. */
static void expect_slot_reused(struct shared *shared, haft_id id)
{
    bool reused = false;
    haft_id other;

    for (int n = 0; n < 100000 && !reused; n++) {
        must(haft_insert_wait(shared->worker, NULL, &other) == HAFT_OK);
        reused = haft_id_index(HAFT_LAYOUT_32_32, other) == haft_id_index(HAFT_LAYOUT_32_32, id);
        must(haft_free(shared->worker, other) == HAFT_OK);
    }
    cr_expect(reused);
}

TEST_ON_EACH_CLOCK(section, a_slot_is_not_reused_while_its_reader_is_inside_and_is_afterwards)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_text(shared.worker);
    struct reader reader;

    reader_enter(&reader, &shared);
    const char *object = haft_resolve(shared.view, id); /* on behalf of the reader */

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    cr_expect(eq(ptr, haft_resolve(shared.view, id), NULL));
    expect_slot_kept(&shared, id, object);
    reader_leave(&reader);
    expect_slot_reused(&shared, id);
}

/* With qsbr the section is the span in which the thread is online. */
TEST_ON_EACH_CLOCK(section, free_inside_ones_own_section_leaves_the_object_readable)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_text(shared.worker);

    haft_section_begin(shared.domain);
    const char *object = haft_resolve(shared.view, id);

    cr_assert(ne(ptr, (char *)object, NULL));
    expect_status(haft_free(shared.worker, id), HAFT_OK);
    expect_status(haft_free(shared.worker, id), HAFT_STALE);
    expect_slot_kept(&shared, id, object);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    expect_slot_kept(&shared, id, object);
    haft_section_end(shared.domain);
    expect_slot_reused(&shared, id);
}

struct driver {
    pthread_t thread;
    haft_domain *domain;
    sem_t done;
};

static void *wait_once(void *arg)
{
    struct driver *driver = arg;

    must(haft_domain_wait(driver->domain) == HAFT_OK);
    sem_post(&driver->done);
    return NULL;
}

/* Then it waits for those that are inside; on a busy machine `ms` may be too few for that. */
static void drive(struct driver *driver, haft_domain *domain, unsigned ms)
{
    driver->domain = domain;
    sem_init(&driver->done, 0, 0);
    cr_assert(zero(int, pthread_create(&driver->thread, NULL, wait_once, driver)));
    sleep_ms(ms);
}

static uint64_t backlog(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).backlog;
}

static void free_and_flush(struct shared *shared, haft_id id)
{
    must(haft_free(shared->worker, id) == HAFT_OK);
    must(haft_worker_flush(shared->worker) == HAFT_OK);
}

/* The first reader leaves, and its grace period passes, within `ms`; how many tickets are left. */
static uint64_t left_when_first_leaves(const struct shared *shared, struct reader *first,
                                       unsigned ms)
{
    reader_leave(first);
    for (unsigned n = 0; n < ms && backlog(shared) > 1; n++) {
        sleep_ms(1);
    }
    return backlog(shared);
}

/*
 * A grace period waits for a first reader; then a second one comes in, what it looks at is freed,
 * and the first one leaves: now the grace period passes, and the next one waits for the second
 * reader.  A test cannot see when a driver has begun to wait, so it is given `ms`.  False: these
 * were too few, and it waits for both readers.
 */
static bool overlap(struct shared *shared, unsigned driver_count, unsigned ms)
{
    const haft_id earlier = insert_text(shared->worker);
    const haft_id id = insert_text(shared->worker);
    struct driver drivers[2];
    struct reader first;
    struct reader second;

    settle(shared->worker);
    haft_thread_offline(shared->domain);
    reader_enter(&first, shared);
    free_and_flush(shared, earlier);
    drive(&drivers[0], shared->domain, ms);
    reader_enter(&second, shared);
    const char *object = haft_resolve(shared->view, id); /* on behalf of the second reader */

    free_and_flush(shared, id);
    for (unsigned i = 1; i < driver_count; i++) {
        drive(&drivers[i], shared->domain, ms);
    }
    const uint64_t left = left_when_first_leaves(shared, &first, 20 * ms);

    cr_expect(ge(u64, left, 1), "done with a reader inside");
    expect_slot_kept(shared, id, object);
    for (unsigned i = 1; i < driver_count; i++) {
        sleep_ms(ms);
        cr_expect(ne(int, sem_trywait(&drivers[i].done), 0), "done with a reader inside");
    }
    reader_leave(&second);
    for (unsigned i = 0; i < driver_count; i++) {
        pthread_join(drivers[i].thread, NULL);
    }
    haft_thread_online(shared->domain);
    expect_slot_reused(shared, id);
    return left <= 1;
}

static void expect_overlap(struct setting setting, unsigned driver_count)
{
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    bool passed = false;

    for (unsigned ms = 50; ms <= 400 && !passed; ms *= 2) {
        passed = overlap(&shared, driver_count, ms);
    }
    cr_expect(passed, "a grace period waits for a reader that came after it began");
}

/* It began before the second free, and passes while the second reader is inside. */
TEST_ON_EACH_CLOCK(section, a_grace_period_does_not_cover_what_is_freed_after_it_began)
{
    expect_overlap(*setting, 1);
}

TEST_ON_EACH_CLOCK(section, a_reader_between_two_drivers_that_overlap_is_waited_for)
{
    expect_overlap(*setting, 2);
}

Test(section, nested_sections_end_with_the_outermost)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    haft_section_end(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
}

/* With qsbr and the workers clock begin and end do nothing, and waiting threads are outside. */
TEST_ON_EACH_CLOCK(section, of_one_domain_counts_for_another_of_the_same_flavour)
{
    AT_END(close_shared) struct shared a = open_shared(*setting, &options);
    const haft_domain_options other = domain_options(*setting);
    const haft_status inside = setting->sections == MEMB ? HAFT_IN_SECTION : HAFT_OK;
    AT_END(domain_end) haft_domain *b;

    assert_status(haft_domain_open(&other, &b), HAFT_OK);
    haft_section_begin(b);
    cr_expect(eq(int, haft_domain_wait(a.domain), inside));
    cr_expect(eq(int, haft_worker_quiescent(a.worker), inside));
    if (inside == HAFT_IN_SECTION) {
        expect_status(haft_domain_close(b), HAFT_IN_SECTION);
    }
    haft_section_end(b);
}

TEST_ON_EACH_CLOCK(section, a_thread_registers_and_unregisters_in_turn)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    for (int i = 0; i < 100; i++) {
        haft_thread_unregister(shared.domain);
        haft_thread_register(shared.domain);
        haft_section_begin(shared.domain);
        haft_section_end(shared.domain);
        haft_thread_offline(shared.domain);
        haft_thread_online(shared.domain);
    }
    settle(shared.worker);
}

/* --- misuse: with NDEBUG there are no assertions to see --- */

#ifndef NDEBUG
static void *begin_unregistered(void *domain)
{
    haft_section_begin(domain);
    return NULL;
}

static void *begin_job_unregistered(void *domain)
{
    haft_job_begin(domain);
    return NULL;
}

static void on_a_thread(struct shared *shared, void *run(void *))
{
    in_another_thread(run, shared->domain);
}

Test(section, of_an_unregistered_thread_is_noticed, .signal = SIGABRT)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);

    on_a_thread(&shared, begin_unregistered);
}

Test(section, of_an_unregistered_thread_is_noticed_with_qsbr, .signal = SIGABRT)
{
    struct shared shared = open_shared((struct setting){QSBR, HAFT_CLOCK_CALLER}, &options);

    on_a_thread(&shared, begin_unregistered);
}

Test(section, job_of_an_unregistered_thread_is_noticed, .signal = SIGABRT)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);

    on_a_thread(&shared, begin_job_unregistered);
}
#endif
