/* Read sections: what was resolved inside stays until the end. */
#include "tests/support.h"
#include <string.h>

TestSuite(section, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 16};
static const char sixteen[16] = "fifteen letters";

#define SLOTS 128

static haft_id insert_text(haft_worker *worker)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_insert(worker, sixteen, &id), HAFT_OK);
    return id;
}

/* Try to get at the slot of `id` while somebody is inside a section. */
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
    struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_text(shared.worker);
    struct reader reader;

    reader_enter(&reader, &shared);
    const char *object = haft_resolve(shared.view, id); /* on behalf of the reader */

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    cr_expect(eq(ptr, haft_resolve(shared.view, id), NULL));
    expect_slot_kept(&shared, id, object);
    reader_leave(&reader);
    expect_slot_reused(&shared, id);
    close_shared(&shared);
}

/* With qsbr the section is the span in which the thread is online. */
TEST_ON_EACH_CLOCK(section, free_inside_ones_own_section_leaves_the_object_readable)
{
    struct shared shared = open_shared(*setting, &options);
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
    close_shared(&shared);
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

/* When this returns, it waits for those that are inside. */
static void drive(struct driver *driver, haft_domain *domain)
{
    driver->domain = domain;
    sem_init(&driver->done, 0, 0);
    cr_assert(zero(int, pthread_create(&driver->thread, NULL, wait_once, driver)));
    sleep_ms(50);
}

/* Until all grace periods that began before the last free have passed. */
static void expect_one_ticket_left(const struct shared *shared)
{
    for (int n = 0; n < 5000 && haft_domain_stats_get(shared->domain).backlog > 1; n++) {
        sleep_ms(2);
    }
    cr_expect(eq(u64, haft_domain_stats_get(shared->domain).backlog, 1));
}

/* It began before the second free, and passes while the second reader is inside. */
TEST_ON_EACH_CLOCK(section, a_grace_period_does_not_cover_what_is_freed_after_it_began)
{
    struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_text(shared.worker);
    struct reader first;
    struct reader second;
    struct driver driver;

    haft_thread_offline(shared.domain);
    reader_enter(&first, &shared);
    assert_status(haft_free(shared.worker, insert_text(shared.worker)), HAFT_OK);
    haft_worker_flush(shared.worker);
    drive(&driver, shared.domain);
    reader_enter(&second, &shared);
    const char *object = haft_resolve(shared.view, id); /* on behalf of the second reader */

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    haft_worker_flush(shared.worker);
    reader_leave(&first);
    expect_one_ticket_left(&shared);
    expect_slot_kept(&shared, id, object);
    reader_leave(&second);
    pthread_join(driver.thread, NULL);
    haft_thread_online(shared.domain);
    expect_slot_reused(&shared, id);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(section, a_reader_between_two_drivers_that_overlap_is_waited_for)
{
    struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_text(shared.worker);
    struct reader first;
    struct reader between;
    struct driver drivers[2];

    haft_thread_offline(shared.domain);
    reader_enter(&first, &shared);
    assert_status(haft_free(shared.worker, insert_text(shared.worker)), HAFT_OK);
    haft_worker_flush(shared.worker);
    drive(&drivers[0], shared.domain);
    reader_enter(&between, &shared);
    const char *object = haft_resolve(shared.view, id); /* on behalf of the reader between */

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    haft_worker_flush(shared.worker);
    drive(&drivers[1], shared.domain);
    reader_leave(&first);
    expect_one_ticket_left(&shared);
    sleep_ms(50);
    cr_expect(ne(int, sem_trywait(&drivers[1].done), 0), "done with a reader inside");
    expect_slot_kept(&shared, id, object);
    reader_leave(&between);
    pthread_join(drivers[0].thread, NULL);
    pthread_join(drivers[1].thread, NULL);
    haft_thread_online(shared.domain);
    expect_slot_reused(&shared, id);
    close_shared(&shared);
}

Test(section, nested_sections_end_with_the_outermost)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);

    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    haft_section_end(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    close_shared(&shared);
}

/* With qsbr and the workers clock begin and end do nothing, and what waits is outside by itself. */
TEST_ON_EACH_CLOCK(section, of_one_domain_counts_for_another_of_the_same_flavour)
{
    struct shared a = open_shared(*setting, &options);
    const haft_domain_options other = domain_options(*setting);
    const haft_status inside = setting->sections == MEMB ? HAFT_IN_SECTION : HAFT_OK;
    haft_domain *b;

    assert_status(haft_domain_open(&other, &b), HAFT_OK);
    haft_section_begin(b);
    cr_expect(eq(int, haft_domain_wait(a.domain), inside));
    cr_expect(eq(int, haft_worker_quiescent(a.worker), inside));
    if (inside == HAFT_IN_SECTION) {
        expect_status(haft_domain_close(b), HAFT_IN_SECTION);
    }
    haft_section_end(b);
    expect_status(haft_domain_close(b), HAFT_OK);
    close_shared(&a);
}

Test(section, qsbr_begin_and_end_do_nothing)
{
    struct shared shared = open_shared((struct setting){1, HAFT_CLOCK_CALLER}, &options);

    haft_section_begin(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    haft_section_end(shared.domain);
    close_shared(&shared);
}

struct outside {
    haft_domain *domain;
    sem_t ready;
    sem_t leave;
};

static void *stay_offline(void *arg)
{
    struct outside *outside = arg;

    haft_thread_register(outside->domain);
    haft_section_begin(outside->domain);
    haft_section_end(outside->domain);
    haft_thread_offline(outside->domain);
    sem_post(&outside->ready);
    sem_wait(&outside->leave);
    haft_thread_online(outside->domain);
    haft_thread_unregister(outside->domain);
    return NULL;
}

TEST_ON_EACH_CLOCK(section, no_grace_period_waits_for_a_thread_that_is_offline)
{
    struct shared shared = open_shared(*setting, &options);
    struct outside outside = {.domain = shared.domain};
    pthread_t thread;

    sem_init(&outside.ready, 0, 0);
    sem_init(&outside.leave, 0, 0);
    cr_assert(zero(int, pthread_create(&thread, NULL, stay_offline, &outside)));
    sem_wait(&outside.ready);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    settle(shared.worker); /* or a time-out */
    sem_post(&outside.leave);
    haft_thread_offline(shared.domain);
    pthread_join(thread, NULL);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(section, a_thread_registers_and_unregisters_in_turn)
{
    struct shared shared = open_shared(*setting, &options);

    for (int i = 0; i < 100; i++) {
        haft_thread_unregister(shared.domain);
        haft_thread_register(shared.domain);
        haft_section_begin(shared.domain);
        haft_section_end(shared.domain);
        haft_thread_offline(shared.domain);
        haft_thread_online(shared.domain);
    }
    settle(shared.worker);
    close_shared(&shared);
}
