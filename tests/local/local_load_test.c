/* Load mode, and saved games: an id that was stale at saving is stale after loading. */
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(load, .timeout = SUITE_SECONDS);
TestSuite(save, .timeout = SUITE_SECONDS);

#define CAPACITY 200

static haft_local *open_local(haft_local_reuse reuse, haft_layout layout, bool wrap)
{
    const haft_local_options options = {
        .capacity = CAPACITY, .object_size = 1016, .layout = layout, .reuse = reuse, .wrap = wrap};
    return local_open(&options);
}

static haft_id of(uint64_t index, uint64_t generation)
{
    return haft_id_pack(HAFT_LAYOUT_32_32, index, generation, 0);
}

static void expect_loading(haft_local_reuse reuse)
{
    AT_END(local_end) haft_local *local = open_local(reuse, HAFT_LAYOUT_32_32, false);
    const haft_id before = local_insert_one(local);
    const haft_id freed = local_insert_one(local);
    haft_id reserved[2];
    haft_id id = {0x5a5a};
    uint64_t bytes = 99;

    for (int i = 0; i < 2; i++) {
        must(haft_local_reserve(local, &reserved[i], NULL) == HAFT_OK);
    }
    must(haft_local_free(local, local_insert_one(local)) == HAFT_OK); /* there is a free slot */
    haft_local_load_begin(local);
    expect_status(haft_local_insert(local, NULL, &id), HAFT_LOADING);
    expect_status(haft_local_reserve(local, &id, NULL), HAFT_LOADING);
    expect_status(haft_local_trim(local, &bytes), HAFT_LOADING);
    expect_status(haft_local_reserve_capacity(local, 1), HAFT_LOADING);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(u64, bytes, 99));
    expect_status(haft_local_free(local, freed), HAFT_OK);
    expect_status(haft_local_free(local, freed), HAFT_STALE);
    expect_status(haft_local_insert(local, NULL, &id), HAFT_LOADING);
    expect_status(haft_local_restore(local, of(5, 8), NULL), HAFT_OK); /* where that one was */
    haft_local_publish(local, reserved[0]);
    haft_local_abort(local, reserved[1]);
    cr_expect(haft_is_live(haft_local_view(local), before));
    cr_expect(haft_is_live(haft_local_view(local), reserved[0]));
    cr_expect(eq(u64, haft_local_count(local), 3));
    cr_expect(eq(u64, haft_local_available(local), CAPACITY - 3));
    haft_local_load_end(local);
    cr_expect(eq(u64, local_insert_one(local).bits, of(7, 2).bits)); /* given up while loading */
    cr_expect(eq(u64, haft_local_count(local), 4));
}

Test(load, inserting_and_memory_answer_loading_and_the_rest_works)
{
    expect_loading(HAFT_REUSE_LIFO);
    expect_loading(HAFT_REUSE_FIFO);
}

Test(load, free_slots_are_used_in_order_of_index_afterwards)
{
    for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
        haft_local *local = open_local((haft_local_reuse)reuse, HAFT_LAYOUT_32_32, false);
        uint64_t last = 0;

        haft_local_load_begin(local);
        for (uint64_t i = 0; i < 100; i++) { /* 7 is prime to 100; every other index */
            expect_status(haft_local_restore(local, of(4 + 2 * (i * 7 % 100), 3), NULL), HAFT_OK);
        }
        haft_local_load_end(local);
        for (int i = 0; i < 100; i++) {
            const uint64_t index = local_insert_one(local).bits & UINT32_MAX;

            cr_expect(lt(u64, last, index));
            cr_expect(eq(u64, index % 2, 1));
            last = index;
        }
        cr_expect(eq(u64, haft_local_available(local), 0));
        haft_local_close(local);
    }
}

Test(load, of_nothing_changes_nothing_but_the_order)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, HAFT_LAYOUT_32_32, false);
    const haft_id a = local_insert_one(local);
    const haft_id b = local_insert_one(local);

    must(haft_local_free(local, a) == HAFT_OK && haft_local_free(local, b) == HAFT_OK);
    haft_local_load_begin(local);
    haft_local_load_end(local);
    cr_expect(eq(u64, local_insert_one(local).bits, of(4, 2).bits));
    cr_expect(eq(u64, local_insert_one(local).bits, of(5, 2).bits));
    cr_expect(eq(u64, local_insert_one(local).bits, of(6, 1).bits));
}

Test(load, clear_while_loading_leaves_all_slots_free)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_FIFO, HAFT_LAYOUT_32_32, false);

    haft_local_load_begin(local);
    for (uint64_t i = 0; i < 50; i++) {
        must(haft_local_restore(local, of(4 + 4 * i, 3), NULL) == HAFT_OK);
    }
    haft_local_clear(local);
    haft_local_load_end(local);
    cr_expect(eq(u64, haft_local_count(local), 0));
    for (int i = 0; i < CAPACITY; i++) {
        local_insert_one(local);
    }
    cr_expect(eq(u64, haft_local_available(local), 0));
}

Test(load, memory_below_a_high_index_stays_untouched_and_its_slots_are_used_later)
{
    need_wide_addresses();
    const haft_local_options options = {.capacity = 1 << 18, .object_size = 1016};
    AT_END(local_end) haft_local *local = local_open(&options);

    const long before = resident_pages();

    haft_local_load_begin(local);
    must(haft_local_restore(local, of((1 << 18) + 3, 9), NULL) == HAFT_OK);
    haft_local_load_end(local);
    /* Of 65,536 pages; 256 are runs' records. */
    cr_expect(lt(long, pages_written_since(before), 1000));
    for (int i = 0; i < 1000; i++) {
        must(local_insert_one(local).bits >> 32 == 1);
    }
}

Test(load, after_a_trim_every_free_slot_is_still_used_once)
{
    for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
        haft_local *local = open_local((haft_local_reuse)reuse, HAFT_LAYOUT_32_32, false);
        bool met[4 + CAPACITY] = {false};
        uint64_t released;

        for (int i = 0; i < CAPACITY; i++) {
            local_insert_one(local);
        }
        haft_local_clear(local);
        must(haft_local_trim(local, &released) == HAFT_OK && released != 0);
        for (int i = 0; i < 23; i++) { /* a run is in use in part: a page has 4 slots */
            met[local_insert_one(local).bits & UINT32_MAX] = true;
        }
        haft_local_load_begin(local);
        must(haft_local_restore(local, of(4 + 150, 9), NULL) == HAFT_OK); /* amid a fresh run */
        haft_local_load_end(local);
        met[4 + 150] = true;
        for (int i = 24; i < CAPACITY; i++) {
            const uint64_t index = local_insert_one(local).bits & UINT32_MAX;

            must(!met[index]);
            met[index] = true;
        }
        cr_expect(eq(u64, haft_local_available(local), 0));
        haft_local_close(local);
    }
}

Test(load, into_released_memory_counts_right)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, HAFT_LAYOUT_32_32, false);

    for (int i = 0; i < CAPACITY; i++) {
        local_insert_one(local);
    }
    haft_local_clear(local);
    must(haft_local_trim(local, NULL) == HAFT_OK);
    must(haft_local_stats_get(local).released != 0);
    haft_local_load_begin(local);
    for (uint64_t i = 0; i < 100; i++) {
        must(haft_local_restore(local, of(50 + i, 9), NULL) == HAFT_OK);
        const haft_local_stats stats = haft_local_stats_get(local);

        must(stats.live == i + 1 && stats.free <= CAPACITY - stats.live);
        must(stats.free + stats.released == CAPACITY - stats.live);
    }
    haft_local_load_end(local);
}

/* --- saved games --- */

struct saved {
    haft_id id;
    int is_live;
};

struct file {
    struct saved slots[CAPACITY];
    int count;
    int stop_after;
};

static bool save_slot(haft_id id, void *object, void *arg)
{
    struct file *file = arg;

    must(file->count < CAPACITY);
    file->slots[file->count++] = (struct saved){id, object != NULL};
    return file->count != file->stop_after;
}

static void load(haft_local *local, const struct file *file)
{
    haft_local_load_begin(local);
    for (int i = file->count; i-- > 0;) { /* in any order */
        const struct saved *slot = &file->slots[i];

        must((slot->is_live ? haft_local_restore(local, slot->id, NULL)
                            : haft_local_restore_free(local, slot->id)) == HAFT_OK);
    }
    haft_local_load_end(local);
}

#define IDS 4096

/* Wear the table for a while; all ids it issued. */
static int wear(haft_local *local, haft_id *ids, uint64_t seed)
{
    int count = 0;

    while (count < IDS) {
        const uint64_t random = random_next(&seed);

        if (random % 8 < 4 && haft_local_available(local) != 0) {
            ids[count++] = local_insert_one(local);
        } else if (random % 8 < 7 && count != 0) {
            haft_local_free(local, ids[random / 8 % (uint64_t)count]);
        } else if (random % 4096 == 4095) {
            must(haft_local_trim(local, NULL) == HAFT_OK);
        } else if (haft_local_available(local) == 0) {
            break; /* nearly worn out */
        }
    }
    return count;
}

static void expect_round_trip(haft_layout layout, haft_local_reuse reuse, bool wrap, uint64_t seed)
{
    static haft_id ids[IDS];
    struct file file = {.count = 0};
    haft_local *played = open_local(reuse, layout, wrap);
    AT_END(local_end) haft_local *loaded = open_local(reuse, layout, wrap);
    const int count = wear(played, ids, seed);

    haft_local_for_each_slot(played, save_slot, &file);
    load(loaded, &file);
    must(haft_local_count(loaded) == haft_local_count(played));
    must(haft_local_available(loaded) == haft_local_available(played));
    for (int i = 0; i < count; i++) {
        must(haft_local_diagnose(loaded, ids[i]) == haft_local_diagnose(played, ids[i]));
    }
    while (haft_local_available(loaded) != 0) { /* no old id comes to life */
        const haft_id id = local_insert_one(loaded);

        for (int i = 0; i < count && !wrap; i++) {
            must(!haft_id_equal(id, ids[i]));
        }
    }
    haft_local_close(played);
}

Test(save, ids_that_were_stale_at_saving_are_stale_after_loading)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
            expect_round_trip(HAFT_LAYOUT_32_32, (haft_local_reuse)reuse, false, seed);
            expect_round_trip(HAFT_LAYOUT_16_16, (haft_local_reuse)reuse, false, seed);
            expect_round_trip(HAFT_LAYOUT_OF(8, 4, 0), (haft_local_reuse)reuse, false, seed);
            expect_round_trip(HAFT_LAYOUT_OF(8, 4, 0), (haft_local_reuse)reuse, true, seed);
        }
    }
}

Test(save, with_wrap_generations_below_the_first_are_loaded_too)
{
    const haft_local_options options = {
        .capacity = 1, .layout = {3, 4, 0, 0}, .first_generation = 15, .wrap = true};
    struct file file = {.count = 0};
    haft_local *played = local_open(&options);
    AT_END(local_end) haft_local *loaded = local_open(&options);
    const haft_id last = local_insert_one(played);

    must(haft_local_free(played, last) == HAFT_OK);
    const haft_id begun_again = local_insert_one(played);

    cr_assert(eq(u64, haft_id_generation(options.layout, begun_again), 1));
    haft_local_for_each_slot(played, save_slot, &file);
    load(loaded, &file);
    cr_expect(haft_is_live(haft_local_view(loaded), begun_again));
    expect_status(haft_local_diagnose(loaded, last), HAFT_STALE);
    haft_local_close(played);
}

Test(save, visits_each_slot_ever_used_with_what_to_restore)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO, HAFT_LAYOUT_OF(8, 2, 0), false);
    struct file file = {.count = 0};
    haft_id ids[4];
    haft_id reserved;

    for (int i = 0; i < 4; i++) {
        ids[i] = local_insert_one(local);
    }
    must(haft_local_reserve(local, &reserved, NULL) == HAFT_OK);
    must(haft_local_free(local, ids[1]) == HAFT_OK);
    for (int i = 0; i < 3; i++) { /* wear slot 5 out */
        must(i == 0 || haft_local_free(local, ids[1]) == HAFT_OK);
        must(i == 2 || haft_local_insert(local, NULL, &ids[1]) == HAFT_OK);
    }
    must(haft_local_free(local, ids[2]) == HAFT_OK);
    cr_expect(eq(u64, haft_local_for_each_slot(local, save_slot, &file), 5));
    cr_assert(eq(int, file.count, 5));
    static const uint64_t generations[] = {1, 0, 2, 1, 2};

    for (uint64_t i = 0; i < 5; i++) {
        cr_expect(eq(u64, file.slots[i].id.bits, 4 + i + generations[i] * 256));
        cr_expect(eq(int, file.slots[i].is_live, i == 0 || i == 3));
    }
    file = (struct file){.stop_after = 2};
    cr_expect(eq(u64, haft_local_for_each_slot(local, save_slot, &file), 2));
    haft_local_close(local);
}
