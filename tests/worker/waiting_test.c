/* The bound on memory that waits for a grace period, and threads that never wait for one. */
#include "tests/support.h"
#include <haft/pin.h>
#include <haft/share.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(waiting_bytes, .timeout = SUITE_SECONDS);
TestSuite(never_wait, .timeout = SUITE_SECONDS);

#define SLOT 32 /* 24 bytes of object and the word */
#define BOUND 1000

static const haft_table_options bounded = {
    .capacity = 1000000, .object_size = 24, .waiting_bytes = BOUND * SLOT};

static const haft_table_options never = {
    .capacity = 1000000, .object_size = 24, .waiting_bytes = BOUND * SLOT, .never_wait = true};

/* Insert and free until there is an answer other than HAFT_OK; how many that were. */
static uint64_t churn(haft_worker *worker, uint64_t most)
{
    haft_status status = HAFT_OK;
    uint64_t count = 0;
    haft_id id;

    while (count < most && (status = haft_insert(worker, NULL, &id)) == HAFT_OK) {
        must(haft_free(worker, id) == HAFT_OK);
        count++;
    }
    must(status == HAFT_OK || status == HAFT_BUSY);
    return count;
}

TEST_ON_EACH_CLOCK(waiting_bytes, makes_inserts_busy_while_a_reader_stays)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &bounded);
    struct reader reader;
    haft_id id;

    reader_enter(&reader, &shared);
    cr_expect(eq(u64, churn(shared.worker, 10 * BOUND), BOUND));
    for (int n = 0; n < 100; n++) {
        must(churn(shared.worker, 1) == 0);
        must(haft_worker_flush(shared.worker) == HAFT_OK);
    }
    cr_expect(eq(u64, stats_of(shared.table).high_water, BOUND));
    reader_leave(&reader);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(le(u64, stats_of(shared.table).high_water, BOUND + 1));
}

TEST_ON_EACH_CLOCK(waiting_bytes, unset_makes_none_busy)
{
    const haft_table_options options = {.capacity = 100000, .object_size = 24};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct reader reader;

    reader_enter(&reader, &shared);
    cr_expect(eq(u64, churn(shared.worker, 50000), 50000));
    reader_leave(&reader);
}

Test(waiting_bytes, does_not_count_what_lives)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &bounded);
    struct reader reader;

    for (int n = 0; n < 20 * BOUND; n++) {
        insert(shared.worker);
    }
    reader_enter(&reader, &shared);
    cr_expect(eq(u64, churn(shared.worker, 10 * BOUND), BOUND));
    cr_expect(eq(u64, stats_of(shared.table).high_water, 21 * BOUND));
    reader_leave(&reader);
}

Test(waiting_bytes, does_not_count_what_was_exhausted)
{
    haft_table_options options = bounded;

    options.layout = (haft_layout){24, 1, 0, 0}; /* one life */
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int n = 0; n < 5 * BOUND; n++) {
        haft_id id;

        must(haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK);
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
}

Test(waiting_bytes, counts_pinned_objects_that_were_freed)
{
    haft_table_options options = bounded;
    haft_id ids[BOUND];

    options.pins = true;
    options.waiting_bytes = BOUND * (SLOT + sizeof(uint64_t));
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int n = 0; n < BOUND; n++) {
        ids[n] = insert(shared.worker);
        haft_section_begin(shared.domain);
        must(haft_pin(shared.table, ids[n]) != NULL);
        haft_section_end(shared.domain);
        must(haft_free(shared.worker, ids[n]) == HAFT_OK);
    }
    settle(shared.worker);
    cr_expect(zero(u64, churn(shared.worker, 1)));
    haft_unpin(shared.table, ids[0]);
    cr_expect(eq(u64, churn(shared.worker, 1), 1));
    for (int n = 1; n < BOUND; n++) {
        haft_unpin(shared.table, ids[n]);
    }
}

Test(waiting_bytes, of_a_full_table_is_no_reason)
{
    const haft_table_options options = {.capacity = 124,
                                        .object_size = 24,
                                        .layout = HAFT_LAYOUT_OF(7, 32, 0),
                                        .waiting_bytes = SLOT};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id id;

    for (int n = 0; n < 124; n++) {
        insert(shared.worker);
    }
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
}

/* Slots in the hands of workers that do nothing are no reason for ever. */
Test(waiting_bytes, leaves_room_beside_what_idle_workers_hold)
{
    enum { WORKERS = 40 };
    const haft_table_options options = {
        .capacity = 100000, .object_size = 24, .waiting_bytes = 64 * SLOT};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *idle[WORKERS];
    haft_id id;

    for (int n = 0; n < WORKERS; n++) {
        idle[n] = open_worker(shared.table);
        must(haft_free(idle[n], insert(idle[n])) == HAFT_OK);
    }
    for (int n = 0; n < 1000; n++) {
        must(haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK);
    }
    for (int n = 0; n < WORKERS; n++) {
        must(haft_worker_close(idle[n]) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(waiting_bytes, makes_quiescent_points_pay)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &bounded);

    for (int n = 0; n < 100; n++) {
        must(churn(shared.worker, BOUND / 2) == BOUND / 2);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(le(u64, stats_of(shared.table).high_water, BOUND));
    cr_expect(ge(u64, haft_domain_stats_get(shared.domain).grace_periods, 40));
}

/* Slots that a worker draws at once. */
static uint64_t drawn_at_once(size_t object_size, uint64_t waiting_bytes)
{
    const haft_table_options options = {
        .capacity = 10000, .object_size = object_size, .waiting_bytes = waiting_bytes};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    uint64_t drawn;

    insert(shared.worker);
    drawn = stats_of(shared.table).high_water;
    close_shared(&shared);
    return drawn;
}

Test(waiting_bytes, makes_batches_small)
{
    cr_expect(eq(u64, drawn_at_once(24, 0), 124)); /* to the first multiple of 128 */
    cr_expect(eq(u64, drawn_at_once(1016, 0), 124));
    cr_expect(le(u64, drawn_at_once(4096, 0), 64));
    cr_expect(le(u64, drawn_at_once(65536, 0), 16));
    cr_expect(le(u64, drawn_at_once(24, BOUND * SLOT), 16));
    cr_expect(eq(u64, drawn_at_once(24, SLOT), 1));
}

Test(waiting_bytes, below_a_slot_is_refused)
{
    haft_table_options options = bounded;
    AT_END(domain_end) haft_domain *domain;
    AT_END(table_end) haft_table *table = NULL;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    options.waiting_bytes = SLOT - 1;
    expect_status(haft_table_open(domain, &options, &table), HAFT_BAD_WAITING_BYTES);
    cr_expect(eq(ptr, table, NULL));
    options.waiting_bytes = SLOT;
    assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
}

Test(waiting_bytes, holds_for_a_shared_local_table)
{
    const haft_local_options local_options = {
        .capacity = 100000, .object_size = 24, .will_share = true};
    haft_share_options options = {.waiting_bytes = SLOT - 1, .never_wait = true};
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(domain_end) haft_domain *domain;
    haft_local *local;
    AT_END(table_end) haft_table *table;

    must(haft_domain_open(&frames, &domain) == HAFT_OK);
    must(haft_local_open(&local_options, &local) == HAFT_OK);
    for (int n = 0; n < 10; n++) {
        haft_id id;

        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    expect_status(haft_share(local, domain, &options, &table), HAFT_BAD_WAITING_BYTES);
    options.waiting_bytes = BOUND * SLOT;
    assert_status(haft_share(local, domain, &options, &table), HAFT_OK);
    AT_END(worker_end) haft_worker *worker = open_worker(table);

    cr_expect(eq(u64, churn(worker, 10 * BOUND), BOUND));
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_tick(domain) == HAFT_OK);
    cr_expect(ge(u64, churn(worker, 1), 1));
}

TEST_ON_EACH_CLOCK(never_wait, returns_at_once_whatever_waits)
{
    haft_table_options options = never;
    AT_END(close_shared) struct shared shared;
    struct reader reader;

    options.waiting_bytes = 0;
    shared = open_shared(*setting, &options);
    reader_enter(&reader, &shared);
    for (int n = 0; n < 40; n++) {
        must(churn(shared.worker, 1000) == 1000);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(ge(u64, stats_of(shared.table).retired, 39000));
    reader_leave(&reader);
}

TEST_ON_EACH_CLOCK(never_wait, holds_for_a_shared_local_table)
{
    const haft_table_options none = {.capacity = 1};
    const haft_local_options options = {.capacity = 100000, .object_size = 24, .will_share = true};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &none);
    struct reader reader;
    haft_local *local;
    AT_END(table_end) haft_table *table;

    must(haft_local_open(&options, &local) == HAFT_OK);
    assert_status(
        haft_share(local, shared.domain, &(haft_share_options){.never_wait = true}, &table),
        HAFT_OK);
    AT_END(worker_end) haft_worker *worker = open_worker(table);

    reader_enter(&reader, &shared);
    for (int n = 0; n < 40; n++) {
        must(churn(worker, 1000) == 1000);
        must(haft_worker_quiescent(worker) == HAFT_OK);
    }
    cr_expect(ge(u64, stats_of(table).retired, 39000));
    reader_leave(&reader);
}

/* --- full churn beside a thread that blocks inside a section --- */

#define STALL_NS (100u * 1000 * 1000)
#define CHURN_MS 400
#define CHURNING 2

struct blocked {
    struct shared shared;
    _Atomic(bool) stop;
    _Atomic(uint64_t) reports;
    _Atomic(bool) names_any;   /* some report names a thread */
    _Atomic(bool) names_right; /* the one that blocks, and its worker */
    _Atomic(uint64_t) waited_ns;
    uint64_t blocking; /* the number of the thread that blocks */
    haft_worker *blocked;
    sem_t inside;
    sem_t leave;
};

static void note(const haft_stall *stall, void *arg)
{
    struct blocked *b = arg;

    if (stall->thread != 0 || stall->worker != NULL) {
        atomic_store(&b->names_any, true);
    }
    if (stall->thread == b->blocking && stall->worker == b->blocked) {
        atomic_store(&b->names_right, true);
    }
    atomic_store(&b->waited_ns, stall->waited_ns);
    atomic_fetch_add(&b->reports, 1);
}

static void *block(void *arg)
{
    struct blocked *b = arg;
    haft_worker *worker = open_worker(b->shared.table);

    haft_thread_register(b->shared.domain);
    haft_section_begin(b->shared.domain);
    b->blocking = (uint64_t)syscall(SYS_gettid);
    b->blocked = worker;
    sem_post(&b->inside);
    while (sem_wait(&b->leave) != 0) {
        /* interrupted */
    }
    haft_section_end(b->shared.domain);
    must(haft_worker_quiescent(worker) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(b->shared.domain);
    return NULL;
}

static void *churn_until_stopped(void *arg)
{
    struct blocked *b = arg;
    haft_worker *worker = open_worker(b->shared.table);

    haft_thread_register(b->shared.domain);
    while (!atomic_load(&b->stop)) {
        churn(worker, 100);
        must(haft_worker_quiescent(worker) == HAFT_OK);
    }
    haft_thread_unregister(b->shared.domain);
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

/* The caller clock is driven by those that wait. */
static void *drive(void *arg)
{
    struct blocked *b = arg;

    haft_domain_wait(b->shared.domain);
    return NULL;
}

/* The blocked thread goes on: slots come back, where grace periods end without a tick. */
static void expect_slots_back(struct blocked *b, bool has_ends)
{
    const uint64_t freed = stats_of(b->shared.table).freed;

    for (int n = 0; n < 20000 && has_ends && stats_of(b->shared.table).freed <= freed; n++) {
        haft_domain_wait(b->shared.domain);
        sleep_ms(1);
    }
    cr_expect(has_ends == (stats_of(b->shared.table).freed > freed));
}

static void churn_beside_blocked(const haft_domain_options *clock, struct blocked *b)
{
    haft_domain_options domain = *clock;
    const bool has_ends = domain.clock != HAFT_CLOCK_FRAME;
    pthread_t blocking, driving, churning[CHURNING];

    domain.on_stall = note;
    domain.stall_arg = b;
    domain.stall_ns = STALL_NS;
    b->shared = open_shared_on(&domain, &never);
    sem_init(&b->inside, 0, 0);
    sem_init(&b->leave, 0, 0);
    haft_thread_offline(b->shared.domain);
    must(pthread_create(&blocking, NULL, block, b) == 0);
    while (sem_wait(&b->inside) != 0) {
        /* interrupted */
    }
    for (int n = 0; n < CHURNING; n++) {
        must(pthread_create(&churning[n], NULL, churn_until_stopped, b) == 0);
    }
    while (stats_of(b->shared.table).retired < BOUND / 2) {
        sleep_ms(1);
    }
    must(pthread_create(&driving, NULL, drive, b) == 0);
    for (int n = 0; n < CHURN_MS || (n < 20000 && has_ends && atomic_load(&b->reports) == 0); n++) {
        sleep_ms(1);
    }
    cr_expect(ge(u64, stats_of(b->shared.table).retired, BOUND / 2));
    sem_post(&b->leave);
    pthread_join(blocking, NULL);
    pthread_join(driving, NULL);
    expect_slots_back(b, has_ends);
    atomic_store(&b->stop, true);
    for (int n = 0; n < CHURNING; n++) {
        pthread_join(churning[n], NULL);
    }
    cr_expect(le(u64, stats_of(b->shared.table).high_water, BOUND + CHURNING));
    haft_thread_online(b->shared.domain);
    close_shared(&b->shared);
}

TEST_ON_EACH_CLOCK(waiting_bytes, bounds_memory_beside_a_blocked_thread_which_is_reported)
{
    struct blocked b = {.stop = false};
    const haft_domain_options domain = domain_options(*setting);

    churn_beside_blocked(&domain, &b);
    cr_expect(ge(u64, atomic_load(&b.reports), 1));
    cr_expect(ge(u64, atomic_load(&b.waited_ns), STALL_NS));
    cr_expect(atomic_load(&b.names_right) == (setting->clock == HAFT_CLOCK_WORKERS));
    cr_expect(atomic_load(&b.names_any) == (setting->clock == HAFT_CLOCK_WORKERS));
}

Test(waiting_bytes, bounds_memory_in_a_frame_that_does_not_end)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    struct blocked b = {.stop = false};

    churn_beside_blocked(&frames, &b);
}
