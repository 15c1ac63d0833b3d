/* Taking a shared table back onto one thread. */
#include "tests/table/level.h"
#include <haft/detail/local_front.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <stdatomic.h>
#include <stdlib.h>

TestSuite(unshare, .timeout = SUITE_SECONDS);

Test(unshare, with_a_worker_open_is_refused_and_changes_nothing)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_local *local = NULL;

    fill(&level, 10);
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    expect_status(haft_unshare(level.table, &local), HAFT_IN_USE);
    expect_status(haft_table_close(level.table), HAFT_IN_USE);
    cr_expect(eq(ptr, local, NULL));
    insert(worker);
    must(haft_worker_close(worker) == HAFT_OK);
    expect_all(&level, level.view);
}

Test(unshare, inside_a_section_is_refused_and_changes_nothing)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_local *local = NULL;

    fill(&level, 10);
    share_level(&level);
    haft_section_begin(level.domain);
    expect_status(haft_unshare(level.table, &local), HAFT_IN_SECTION);
    haft_section_end(level.domain);
    cr_expect(eq(ptr, local, NULL));
    unshare_level(&level);
    expect_all(&level, level.view);
}

TEST_ON_EACH_CLOCK(unshare, what_was_freed_is_free_and_what_was_reserved_stays_so)
{
    AT_END(close_level) struct level level = open_level(*setting, &level_options);
    haft_id reserved;
    void *object;

    fill(&level, 100);
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    for (int i = 0; i < 60; i++) {
        must(haft_free(worker, level.ids[--level.count]) == HAFT_OK);
    }
    must(haft_reserve(worker, &reserved, &object) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_count(level.local), 40));
    cr_expect(eq(u64, haft_local_available(level.local), COUNT - 41));
    expect_status(haft_local_diagnose(level.local, reserved), HAFT_RESERVED);
    haft_local_abort(level.local, reserved);
    cr_expect(eq(u64, haft_local_available(level.local), COUNT - 40));
    fill(&level, COUNT - 40);
    expect_all(&level, level.view);
    haft_id id;

    expect_status(haft_local_insert(level.local, NULL, &id), HAFT_FULL);
}

Test(unshare, of_more_objects_than_the_capacity_keeps_them_all)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_id id;

    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        ((struct object *)haft_resolve(level.view, id))->id = id.bits;
        ((struct object *)haft_resolve(level.view, id))->value = level.count;
        must(level.count < ROOM);
        level.ids[level.count++] = id;
    }
    must(level.count > COUNT);
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_count(level.local), level.count));
    cr_expect(eq(u64, haft_local_available(level.local), 0));
    expect_status(haft_local_insert(level.local, NULL, &id), HAFT_FULL);
    expect_all(&level, level.view);
    must(haft_local_free(level.local, level.ids[--level.count]) == HAFT_OK);
    fill(&level, 1);
    expect_all(&level, level.view);
}

Test(unshare, slots_that_stay_free_are_as_many_as_still_fit)
{
    haft_local_options with = level_options;
    haft_id id;

    with.reuse = HAFT_REUSE_FIFO;
    with.min_free = 100;
    for (uint64_t room = 0; room <= 150; room += 50) { /* more and fewer than min_free */
        struct level level = open_level(MEMB_CALLER, &with);

        share_level(&level);
        fill_shared_level(&level, stats_of(level.table).limit - room);
        unshare_level(&level);
        const haft_local_stats stats = haft_local_stats_get(level.local);

        cr_expect(eq(u64, stats.capacity, stats.limit - room));
        cr_expect(eq(u64, haft_local_available(level.local), 0));
        for (int i = 0; i < 10; i++) {
            must(haft_local_free(level.local, level.ids[--level.count]) == HAFT_OK);
        }
        fill(&level, 10);
        expect_status(haft_local_insert(level.local, NULL, &id), HAFT_FULL);
        expect_all(&level, level.view);
        close_level(&level);
    }
}

/* A reader that leaves its section some time after unshare was called. */
struct late_reader {
    struct reader reader;
    const struct object *held;
    uint64_t id;
    atomic_bool has_left;
    unsigned reclaimed; /* after it had left */
    pthread_t thread;
};

static void *leave_late(void *arg)
{
    struct late_reader *late = arg;

    sleep_ms(50);
    must(late->held->id == late->id); /* on behalf of the reader */
    atomic_store(&late->has_left, true);
    reader_leave(&late->reader);
    return NULL;
}

static void note_reclaimed(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct late_reader *late = arg;

    must(worker != NULL);
    must(late->held == object && late->id == id.bits);
    late->reclaimed += atomic_load(&late->has_left);
    *(struct object *)object = (struct object){0, 0};
}

/* What becomes of the object that the reader inside its section holds. */
enum fate { LIVES, IS_FREED, IS_FREED_WITHOUT_A_WORKER, FATES };

static void hold_one(struct late_reader *late, struct shared *shared, enum fate fate)
{
    const haft_id id = insert(shared->worker);
    struct object *object = haft_resolve(shared->view, id);

    object->id = id.bits;
    reader_enter(&late->reader, shared);
    late->held = haft_resolve(shared->view, id); /* on behalf of the reader */
    late->id = id.bits;
    must(fate != IS_FREED || haft_free(shared->worker, id) == HAFT_OK);
    must(haft_worker_close(shared->worker) == HAFT_OK);
    must(fate != IS_FREED_WITHOUT_A_WORKER || haft_table_free(shared->table, id) == HAFT_OK);
    shared->worker = NULL;
}

static void expect_unshare_to_wait(struct setting setting, enum fate fate)
{
    struct late_reader late = {.reclaimed = 0};
    const haft_table_options options = {.capacity = 100,
                                        .object_size = sizeof(struct object),
                                        .on_reclaim = note_reclaimed,
                                        .reclaim_arg = &late};
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    AT_END(local_end) haft_local *local;

    hold_one(&late, &shared, fate);
    must(pthread_create(&late.thread, NULL, leave_late, &late) == 0);
    expect_status(haft_unshare(shared.table, &local), HAFT_OK);
    cr_expect(atomic_load(&late.has_left), "fate %d", fate);
    cr_expect(eq(u32, late.reclaimed, fate != LIVES), "fate %d", fate);
    pthread_join(late.thread, NULL);
    shared.table = NULL;
}

TEST_ON_EACH_CLOCK(unshare, waits_for_a_reader_whatever_became_of_its_object)
{
    for (int fate = 0; fate < FATES; fate++) {
        expect_unshare_to_wait(*setting, (enum fate)fate);
    }
}

TEST_ON_EACH_CLOCK(unshare, a_table_that_was_never_local_becomes_one)
{
    const haft_table_options born = {.name = "born shared", .capacity = 100, .object_size = 16};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &born);
    haft_id kept = insert(shared.worker);
    AT_END(local_end) haft_local *local;

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    shared.table = NULL;
    cr_expect(eq(str, (char *)haft_local_info(local).name, "born shared"));
    cr_expect(eq(u64, haft_local_count(local), 1));
    cr_expect(eq(u64, haft_local_available(local), 99));
    cr_expect(ne(ptr, haft_resolve(haft_local_view(local), kept), NULL));
    for (int i = 0; i < 99; i++) {
        local_insert(local, 0);
    }
    cr_expect(eq(u64, haft_local_available(local), 0));
}

/* Slots of pages of their own size, four to a run, of which a worker drew some and used one. */
Test(unshare, of_slots_drawn_and_not_used_gives_each_of_them_once)
{
    const haft_local_options options = {
        .capacity = 40, .object_size = 1016, .reuse = HAFT_REUSE_LIFO};
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &options);
    bool seen[256] = {false};
    haft_id id;

    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    insert(worker);
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    while (haft_local_insert(level.local, NULL, &id) == HAFT_OK) {
        const uint32_t index = haft_id_index(haft_local_info(level.local).layout, id);

        cr_assert(lt(u32, index, 256));
        cr_expect(not(seen[index]));
        seen[index] = true;
    }
    cr_expect(eq(u64, haft_local_count(level.local), 40));
}

Test(unshare, of_more_slots_than_the_capacity_fits_no_more_than_that)
{
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);
    haft_id id;

    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        level.ids[level.count++] = id;
    }
    must(level.count > COUNT);
    while (level.count != 0) {
        must(haft_free(worker, level.ids[--level.count]) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_available(level.local), COUNT));
    fill(&level, COUNT);
    expect_status(haft_local_insert(level.local, NULL, &id), HAFT_FULL);
    expect_status(haft_local_insert_front(level.local, level.view, &(struct object){0, 0},
                                          sizeof(struct object), &id),
                  HAFT_FULL);
    expect_status(haft_local_reserve(level.local, &id, NULL), HAFT_FULL);
    cr_expect(eq(u64, haft_local_available(level.local), 0));
    expect_all(&level, level.view);
}

/* Insert `count` objects, and see that no two share a slot. */
static void expect_own_slots(haft_local *local, uint64_t count)
{
    haft_id *ids = calloc(count, sizeof *ids);
    const haft_view view = haft_local_view(local);

    must(ids != NULL);
    for (uint64_t i = 0; i < count; i++) {
        ids[i] = local_insert(local, i);
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct object *object = haft_resolve(view, ids[i]);

        must(object != NULL && object->value == i);
    }
    free(ids);
}

Test(unshare, fresh_slots_that_a_worker_left_are_at_hand_once)
{
    /* The worker's stretch of fresh slots ends in the middle of slots that are trimmed together. */
    const haft_table_options born = {.capacity = 45000, .object_size = sizeof(struct object)};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &born);
    AT_END(local_end) haft_local *local;

    insert(shared.worker);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    shared.table = NULL;
    expect_own_slots(local, 44999);
}

Test(unshare, slots_trimmed_at_the_end_of_the_table_are_at_hand_once)
{
    haft_local_options larger = level_options;
    uint64_t released = 0;
    uint64_t more = 0;
    haft_id id;

    larger.capacity = 3 * COUNT;
    larger.object_alignment = 8; /* a run of slots is a few pages */
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &larger);

    fill(&level, 3 * COUNT);
    while (level.count != 0) {
        must(haft_local_free(level.local, level.ids[--level.count]) == HAFT_OK);
    }
    must(haft_local_trim(level.local, &released) == HAFT_OK && released != 0);
    share_level(&level);
    unshare_level(&level);
    fill(&level, 3 * COUNT);
    share_level(&level);
    AT_END(worker_end) haft_worker *worker = open_worker(level.table);

    cr_expect(eq(u64, stats_of(level.table).live, 3 * COUNT));
    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        more++;
    }
    cr_expect(le(u64, more, stats_of(level.table).limit - 3 * COUNT));
    expect_all(&level, level.view);
}

/* The table has the capacity, and is full. */
static haft_table *open_full_table(const struct level *level, const haft_table_options *options,
                                   haft_id *ids)
{
    haft_table *table;

    must(haft_table_open(level->domain, options, &table) == HAFT_OK);
    haft_worker *worker = open_worker(table);

    for (uint64_t i = 0; i < options->capacity; i++) {
        must(haft_insert(worker, NULL, &ids[i]) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    return table;
}

TEST_ON_EACH_CLOCK(unshare, last_lives_ended_without_a_worker_are_all_taken_back)
{
    static const haft_table_options last = {
        .capacity = COUNT, .object_size = sizeof(struct object), .first_generation = UINT32_MAX};
    AT_END(close_level) struct level level = open_level(*setting, &level_options);
    haft_id id;

    haft_local_close(level.local);
    level.table = open_full_table(&level, &last, level.ids);
    for (int i = 0; i < COUNT; i++) {
        must(haft_table_free(level.table, level.ids[i]) == HAFT_OK);
    }
    unshare_level(&level);
    cr_expect(eq(u64, haft_local_available(level.local), 0));
    expect_status(haft_local_insert(level.local, NULL, &id), HAFT_FULL);
}

static void pin_and_free_all(const struct level *level, const haft_id *ids, uint64_t count)
{
    AT_END(worker_end) haft_worker *worker = open_worker(level->table);

    haft_section_begin(level->domain);
    for (uint64_t i = 0; i < count; i++) {
        must(haft_pin(level->table, ids[i]) != NULL);
    }
    haft_section_end(level->domain);
    for (uint64_t i = 0; i < count; i++) {
        must(haft_free(worker, ids[i]) == HAFT_OK);
    }
    settle(worker);
    must(haft_trim(level->table, NULL) == HAFT_OK); /* reclaims all others */
}

/* It stays live: the slot's last tenant has left no trace. */
static void pin_and_unpin_one(const struct level *level)
{
    AT_END(worker_end) haft_worker *worker = open_worker(level->table);
    const haft_id id = insert(worker);

    must(haft_pin(level->table, id) != NULL);
    expect_status(haft_unpin(level->table, id), HAFT_OK);
    cr_assert(ne(ptr, haft_resolve(haft_table_view(level->table), id), NULL));
    must(haft_free(worker, id) == HAFT_OK);
}

Test(unshare, slots_unpinned_before_are_all_taken_back)
{
    /* All slots that ids have room for: so workers hold none back, and each slot is a batch. */
    static const haft_table_options pinned = {
        .capacity = 1020, .object_size = 8, .layout = {10, 54, 0, 0}, .pins = true};
    AT_END(close_level) struct level level = open_level(MEMB_CALLER, &level_options);

    haft_local_close(level.local);
    level.table = open_full_table(&level, &pinned, level.ids);
    pin_and_free_all(&level, level.ids, pinned.capacity);
    for (uint64_t i = 0; i < pinned.capacity; i++) {
        must(haft_unpin(level.table, level.ids[i]) == HAFT_OK);
    }
    unshare_level(&level);
    share_level(&level);
    for (uint64_t i = 0; i < pinned.capacity; i++) {
        pin_and_unpin_one(&level);
    }
}
