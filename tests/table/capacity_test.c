/* Capacity is a floor: whichever worker holds slots back, it fits once a grace period can pass. */
#include "tests/support.h"

TestSuite(capacity, .timeout = SUITE_SECONDS);

#define MOST_WORKERS 40
#define MOST_LIVE 65536

/* A table with several workers, all of this thread, and what is live in it. */
struct crowd {
    struct shared shared;
    haft_worker *workers[MOST_WORKERS];
    int worker_count;
    uint64_t capacity;
    uint64_t live;
    haft_id *ids;
};

static haft_id all_ids[MOST_LIVE];

static struct crowd open_crowd(struct setting setting, const haft_table_options *options,
                               int worker_count)
{
    struct crowd crowd = {.worker_count = worker_count, .ids = all_ids};

    crowd.capacity = options->capacity;
    crowd.shared = open_shared(setting, options);
    crowd.workers[0] = crowd.shared.worker;
    for (int i = 1; i < worker_count; i++) {
        crowd.workers[i] = open_worker(crowd.shared.table);
    }
    return crowd;
}

static void close_crowd(struct crowd *crowd)
{
    for (int i = 1; i < crowd->worker_count; i++) {
        haft_worker_close(crowd->workers[i]);
    }
    close_shared(&crowd->shared);
}

/* Insert until the capacity is live; the workers from `first`, `step` apart, in turn. */
static void fill(struct crowd *crowd, int first, int step)
{
    const haft_table_stats stats = stats_of(crowd->shared.table);
    int turn = first;

    while (crowd->live < crowd->capacity) {
        haft_id *id = &crowd->ids[crowd->live];

        must(haft_insert_wait(crowd->workers[turn % crowd->worker_count], NULL, id) == HAFT_OK);
        must((id->bits & crowd->shared.view.mask) < HAFT_FIRST_INDEX + stats.limit);
        crowd->live++;
        turn += step;
    }
    must(stats_of(crowd->shared.table).live == crowd->live);
}

/* Free at random places, by workers at random, until `rest` are live. */
static void drain(struct crowd *crowd, uint64_t rest, uint64_t *seed)
{
    while (crowd->live > rest) {
        const uint64_t at = random_next(seed) % crowd->live;
        const uint64_t worker = random_next(seed) % (uint64_t)crowd->worker_count;

        must(haft_free(crowd->workers[worker], crowd->ids[at]) == HAFT_OK);
        crowd->ids[at] = crowd->ids[--crowd->live];
    }
}

/* One worker takes all, whichever; then all in turn; with frees by anybody in between. */
static void expect_floor(struct setting setting, const haft_table_options *options,
                         int worker_count, int rounds)
{
    AT_END(close_crowd) struct crowd crowd = open_crowd(setting, options, worker_count);
    uint64_t seed = 17;

    fill(&crowd, 0, 1);
    for (int round = 0; round < rounds; round++) {
        drain(&crowd, random_next(&seed) % 3 == 0 ? 0 : random_next(&seed) % crowd.capacity, &seed);
        fill(&crowd, round, 0);
        drain(&crowd, random_next(&seed) % crowd.capacity, &seed);
        fill(&crowd, round, 1);
    }
}

TEST_ON_EACH_CLOCK(capacity, a_table_of_64_with_8_workers_takes_64_objects_whoever_inserts)
{
    const haft_table_options options = {.capacity = 64};

    expect_floor(*setting, &options, 8, 400);
}

TEST_ON_EACH_CLOCK(capacity, small_tables_with_many_workers_take_their_capacity)
{
    static const uint64_t capacities[] = {1, 2, 3, 4, 7, 12, 31, 64, 100, 200};

    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        const haft_table_options options = {.capacity = capacities[i]};

        for (int workers = 1; workers <= MOST_WORKERS; workers += 13) {
            expect_floor(*setting, &options, workers, 40);
        }
    }
}

TEST_ON_EACH_CLOCK(capacity, a_layout_with_no_index_to_spare_takes_its_full_capacity)
{
    const haft_table_options options = {.capacity = 65532, .layout = HAFT_LAYOUT_16_16};

    expect_floor(*setting, &options, 1, 2);
    expect_floor(*setting, &options, 8, 2);
}

TEST_ON_EACH_CLOCK(capacity, tiny_layouts_full_to_their_last_index)
{
    const haft_table_options of_4 = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 40, 0)};
    const haft_table_options of_12 = {.capacity = 12, .layout = HAFT_LAYOUT_OF(4, 40, 0)};
    const haft_table_options of_27 = {.capacity = 27, .layout = HAFT_LAYOUT_OF(5, 40, 0)};

    for (int workers = 1; workers <= MOST_WORKERS; workers += 13) {
        expect_floor(*setting, &of_4, workers, 100);
        expect_floor(*setting, &of_12, workers, 100);
        expect_floor(*setting, &of_27, workers, 100);
    }
}

TEST_ON_EACH_CLOCK(capacity, thousands_of_objects_with_as_many_workers_as_the_budget_feeds_and_more)
{
    const haft_table_options options = {.capacity = 4200, .object_size = 8};

    expect_floor(*setting, &options, 1, 10);
    expect_floor(*setting, &options, 16, 20);
    expect_floor(*setting, &options, MOST_WORKERS, 20);
}

Test(capacity, every_size_from_1_to_600_fills_frees_and_fills_again)
{
    static haft_id ids[600];

    for (uint64_t capacity = 1; capacity <= 600; capacity++) {
        const haft_table_options options = {.capacity = capacity};
        AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

        for (int round = 0; round < 3; round++) {
            for (uint64_t i = 0; i < capacity; i++) {
                must((round == 0 ? haft_insert(shared.worker, NULL, &ids[i])
                                 : haft_insert_wait(shared.worker, NULL, &ids[i])) == HAFT_OK);
            }
            must(stats_of(shared.table).live == capacity);
            for (uint64_t i = 0; i < capacity; i++) {
                must(haft_free(shared.worker, ids[i]) == HAFT_OK);
            }
        }
    }
}

Test(capacity, the_limit_is_where_inserting_ends)
{
    static const uint64_t capacities[] = {1, 5, 64, 600, 4095, 4096, 40000};

    for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        const haft_table_options options = {.capacity = capacities[i]};
        AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
        const haft_table_stats stats = stats_of(shared.table);
        uint64_t count = 0;
        haft_id id;

        while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
            count++;
        }
        cr_expect(eq(u64, stats.capacity, capacities[i]));
        cr_expect(ge(u64, count, stats.capacity));
        cr_expect(le(u64, count, stats.limit));
        cr_expect(eq(u64, stats_of(shared.table).live, count));
    }
}

/* With the budget spent, a worker that takes a full batch may keep one slot of it. */
TEST_ON_EACH_CLOCK(capacity, a_worker_without_budget_hands_on_all_but_one_slot_of_a_batch_it_takes)
{
    const haft_table_options options = {.capacity = 4200};
    AT_END(close_crowd) struct crowd crowd = open_crowd(*setting, &options, MOST_WORKERS);
    haft_worker *first = crowd.workers[0];
    int count = 0;

    while (haft_insert(first, NULL, &crowd.ids[count]) == HAFT_OK) {
        count++;
    }
    for (int i = 0; i < count; i++) { /* now all slots are in full batches of the first worker */
        must(haft_free(first, crowd.ids[i]) == HAFT_OK);
    }
    settle(first);
    for (int i = 1; i < MOST_WORKERS; i++) {
        must(haft_insert(crowd.workers[i], NULL, &crowd.ids[crowd.live++]) == HAFT_OK);
    }
    fill(&crowd, 0, 0);
}

/* What closed workers held is there for those that are left. */
TEST_ON_EACH_CLOCK(capacity, a_closed_workers_slots_are_found)
{
    const haft_table_options options = {.capacity = 500};
    AT_END(close_crowd) struct crowd crowd = open_crowd(*setting, &options, 8);
    uint64_t seed = 23;

    for (int round = 0; round < 50; round++) {
        fill(&crowd, 0, 1);
        drain(&crowd, 0, &seed);
        for (int i = 1; i < 8; i++) {
            haft_worker_close(crowd.workers[i]);
        }
        crowd.worker_count = 1;
        fill(&crowd, 0, 0);
        drain(&crowd, 0, &seed);
        crowd.worker_count = 8;
        for (int i = 1; i < 8; i++) {
            crowd.workers[i] = open_worker(crowd.shared.table);
        }
    }
}
