/* The only free slot is one that another thread has freed: once it is flushed, it is found. */
#include "tests/support.h"

TestSuite(refill, .timeout = SUITE_SECONDS);

#define LAYOUT HAFT_LAYOUT_OF(13, 40, 0)

/* Large enough for workers to hold back more than a slot. */
static const haft_table_options options = {.capacity = 5000, .layout = {13, 40, 0, 0}};

/* A thread that frees one object of the full table and flushes, or leaves that to others. */
struct other {
    pthread_t thread;
    struct shared *shared;
    haft_status (*hand_on)(haft_worker *worker);
    haft_worker *worker;
    haft_id freed;
    sem_t go_on;
    sem_t done;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
        /* interrupted */
    }
}

static void *free_one(void *arg)
{
    struct other *other = arg;
    haft_domain *domain = other->shared->domain;

    haft_thread_register(domain);
    other->worker = open_worker(other->shared->table);
    must(haft_free(other->worker, other->freed) == HAFT_OK);
    if (other->hand_on != NULL) {
        must(other->hand_on(other->worker) == HAFT_OK);
    }
    haft_thread_offline(domain);
    sem_post(&other->done);
    wait_for(&other->go_on); /* it stands still */
    haft_thread_online(domain);
    if (other->hand_on != NULL && other->hand_on != haft_worker_close) {
        must(haft_worker_close(other->worker) == HAFT_OK);
    }
    haft_thread_unregister(domain);
    return NULL;
}

/* When this returns, all slots are in use but the one that `other` has freed. */
static struct shared all_but_one(struct setting setting, struct other *other)
{
    struct shared shared = open_shared(setting, &options);
    haft_id id;

    other->freed = insert(shared.worker);
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        /* to the last slot */
    }
    sem_init(&other->go_on, 0, 0);
    sem_init(&other->done, 0, 0);
    return shared;
}

static void start(struct other *other, struct shared *shared)
{
    other->shared = shared;
    cr_assert(zero(int, pthread_create(&other->thread, NULL, free_one, other)));
    haft_thread_offline(shared->domain);
    wait_for(&other->done);
    haft_thread_online(shared->domain);
}

static void end(struct other *other)
{
    sem_post(&other->go_on);
    pthread_join(other->thread, NULL);
}

static void expect_found(struct shared *shared, haft_id freed)
{
    haft_id id;

    expect_status(haft_domain_wait(shared->domain), HAFT_OK);
    assert_status(haft_insert(shared->worker, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, haft_id_index(LAYOUT, id), haft_id_index(LAYOUT, freed)));
    cr_expect(ne(u64, id.bits, freed.bits));
    expect_status(haft_insert(shared->worker, NULL, &id), HAFT_FULL);
}

static void expect_found_while_it_stands_still(struct setting setting,
                                               haft_status (*hand_on)(haft_worker *worker))
{
    struct other other = {.hand_on = hand_on};
    AT_END(close_shared) struct shared shared = all_but_one(setting, &other);

    start(&other, &shared);
    expect_found(&shared, other.freed);
    haft_thread_offline(shared.domain);
    end(&other);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(refill,
                   finds_a_slot_when_a_thread_has_flushed_passed_a_quiescent_point_or_closed)
{
    expect_found_while_it_stands_still(*setting, haft_worker_flush);
    expect_found_while_it_stands_still(*setting, haft_worker_quiescent);
    expect_found_while_it_stands_still(*setting, haft_worker_close);
}

TEST_ON_EACH_CLOCK(refill, finds_a_slot_when_a_worker_is_closed_that_its_thread_left_open)
{
    struct other other = {.hand_on = NULL};
    AT_END(close_shared) struct shared shared = all_but_one(*setting, &other);
    haft_id id;

    start(&other, &shared);
    haft_thread_offline(shared.domain);
    end(&other);
    haft_thread_online(shared.domain);
    cr_expect(ne(int, haft_insert(shared.worker, NULL, &id), HAFT_OK), "it is held back");
    expect_status(haft_worker_close(other.worker), HAFT_OK);
    expect_found(&shared, other.freed);
}
