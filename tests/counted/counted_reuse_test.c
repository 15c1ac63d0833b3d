/* Which slot comes next: exact FULL, min_free, generations that end or wrap. */
#include "concurrent/counted/state.h"
#include "tests/support.h"
#include <haft/counted.h>
#include <stdlib.h>
#include <string.h>

TestSuite(counted_reuse, .timeout = SUITE_SECONDS);

static haft_counted *table;

static void open_with(const haft_counted_options *options)
{
    assert_status(haft_counted_open(options, &table), HAFT_OK);
}

static void close_table(void)
{
    expect_status(haft_counted_close(table), HAFT_OK);
}

/* --- FULL --- */

Test(counted_reuse, full_is_said_exactly_when_all_slots_are_taken)
{
    for (uint64_t min_free = 0; min_free <= 9; min_free += 3) {
        for (uint64_t capacity = 1; capacity <= 40; capacity++) {
            haft_id ids[40];
            haft_id more;
            uint64_t state = capacity;

            open_with(&(haft_counted_options){
                .capacity = capacity, .object_size = 8, .min_free = min_free});
            for (uint64_t i = 0; i < capacity; i++) {
                must(haft_counted_insert(table, NULL, &ids[i]) == HAFT_OK);
            }
            for (int round = 0; round < 300; round++) {
                haft_id *id = &ids[random_next(&state) % capacity];

                must(haft_counted_insert(table, NULL, &more) == HAFT_FULL);
                must(haft_counted_reserve(table, &more, NULL) == HAFT_FULL);
                if (round % 3 == 0) {
                    must(haft_counted_acquire(table, *id) != NULL);
                    must(haft_counted_free(table, *id) == HAFT_OK);
                    must(haft_counted_insert(table, NULL, &more) == HAFT_FULL); /* held */
                    must(haft_counted_release(table, *id) == HAFT_OK);
                } else {
                    must(haft_counted_free(table, *id) == HAFT_OK);
                }
                if (round % 2 == 0) {
                    must(haft_counted_reserve(table, id, NULL) == HAFT_OK);
                    must(haft_counted_insert(table, NULL, &more) == HAFT_FULL); /* reserved */
                    haft_counted_abort(table, *id);
                }
                must(haft_counted_insert(table, NULL, id) == HAFT_OK);
            }
            close_table();
        }
    }
}

static _Atomic(int) unexpected;

/* One of three threads that each have at most a third of the capacity: none finds it full. */
static void *take_a_third(void *arg)
{
    for (int round = 0; round < 20000; round++) {
        haft_id ids[4];

        for (int i = 0; i < 4; i++) {
            unexpected += haft_counted_insert(table, NULL, &ids[i]) != HAFT_OK;
        }
        for (int i = 0; i < 4; i++) {
            unexpected += haft_counted_free(table, ids[i]) != HAFT_OK;
        }
    }
    return arg;
}

Test(counted_reuse, threads_that_take_no_more_than_the_capacity_are_never_told_full)
{
    for (uint64_t min_free = 0; min_free <= 2; min_free++) {
        pthread_t threads[3];

        open_with(&(haft_counted_options){.capacity = 12, .object_size = 8, .min_free = min_free});
        for (int i = 0; i < 3; i++) {
            must(pthread_create(&threads[i], NULL, take_a_third, NULL) == 0);
        }
        for (int i = 0; i < 3; i++) {
            must(pthread_join(threads[i], NULL) == 0);
        }
        cr_expect(zero(int, unexpected));
        cr_expect(zero(u64, haft_counted_stats_get(table).live));
        close_table();
    }
}

/* --- min_free --- */

Test(counted_reuse, with_min_free_one_objects_ids_repeat_no_slot_for_that_many_births)
{
    for (uint64_t min_free = 1; min_free <= 20; min_free++) {
        uint64_t last_seen[64] = {0};
        haft_id id;

        open_with(&(haft_counted_options){.capacity = 5, .object_size = 8, .min_free = min_free});
        for (uint64_t birth = 1; birth <= 1000; birth++) {
            must(haft_counted_insert(table, NULL, &id) == HAFT_OK);
            const uint64_t index = haft_id_index(HAFT_LAYOUT_32_32, id);

            must(last_seen[index] == 0 || birth - last_seen[index] > min_free);
            last_seen[index] = birth;
            must(haft_counted_free(table, id) == HAFT_OK);
        }
        cr_expect(lt(u64, haft_counted_stats_get(table).high_water, min_free + 6));
        close_table();
    }
}

/* A slot's k-th life begins at the earliest with the ((k - 1) * (m + 1) + 1)-th id. */
Test(counted_reuse, a_slots_kth_life_begins_at_the_earliest_with_the_id_that_the_header_says)
{
    uint64_t state = 5;

    for (uint64_t min_free = 1; min_free <= 12; min_free++) {
        haft_id live[6];
        unsigned count = 0;

        open_with(&(haft_counted_options){.capacity = 6, .object_size = 8, .min_free = min_free});
        for (uint64_t births = 0; births < 3000;) {
            if (count < 6 && random_next(&state) % 2 == 0) {
                must(haft_counted_insert(table, NULL, &live[count]) == HAFT_OK);
                births++;
                must(births >=
                     (haft_id_generation(HAFT_LAYOUT_32_32, live[count]) - 1) * (min_free + 1) + 1);
                count++;
            } else if (count > 0) {
                const unsigned at = (unsigned)(random_next(&state) % count);

                must(haft_counted_free(table, live[at]) == HAFT_OK);
                live[at] = live[--count];
            }
        }
        close_table();
    }
}

/* Births until an id comes again, where up to `most` objects live at a time. */
static uint64_t births_of_new_ids(unsigned most)
{
    bool seen[128] = {false};
    haft_id live[6];
    unsigned count = 0;
    uint64_t state = 5;

    for (uint64_t births = 0;;) {
        if (count == 0 || (count < most && random_next(&state) % 2 == 0)) {
            must(haft_counted_insert(table, NULL, &live[count]) == HAFT_OK);
            if (seen[live[count].bits]) {
                return births;
            }
            seen[live[count++].bits] = true;
            births++;
        } else {
            must(haft_counted_free(table, live[--count]) == HAFT_OK);
        }
    }
}

/* (2^generation_bits - 1) * (m + 1), as in the table of docs/guide.md. */
Test(counted_reuse, with_wrap_ids_repeat_at_the_earliest_after_the_births_that_the_guide_says)
{
    const haft_layout layout = {5, 2, 0, 0};

    for (uint64_t min_free = 0; min_free <= 12; min_free++) {
        for (unsigned most = 1; most <= 6; most++) {
            open_with(&(haft_counted_options){
                .capacity = 6, .layout = layout, .min_free = min_free, .wrap = true});
            const uint64_t births = births_of_new_ids(most);

            cr_expect(ge(u64, births, haft_field_max(2) * (min_free + 1)));
            cr_expect(most > 1 || births == haft_field_max(2) * (min_free + 1));
            close_table();
        }
    }
}

#define BIRTHS 20000 /* of each thread */
#define PARENTS 3
#define DISTANCE 7

static void *give_birth(void *arg)
{
    for (int i = 0; i < BIRTHS; i++) {
        haft_id id;

        unexpected += haft_counted_insert(table, NULL, &id) != HAFT_OK;
        unexpected += haft_counted_free(table, id) != HAFT_OK;
    }
    return arg;
}

Test(counted_reuse, with_min_free_a_slot_counts_as_used_when_it_has_been)
{
    haft_id id;

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 3, .min_free = 1}, &table),
                  HAFT_OK);
    cr_expect(zero(u64, haft_counted_stats_get(table).high_water));
    expect_status(haft_counted_id_at(table, HAFT_FIRST_INDEX, &id), HAFT_NEVER_ISSUED);
    expect_status(haft_counted_diagnose(table, id), HAFT_NEVER_ISSUED);
    cr_expect(zero(u64, haft_counted_stats_get(table).free));
    for (int births = 1; births <= 10; births++) {
        assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
        const haft_counted_stats stats = haft_counted_stats_get(table);

        cr_expect(eq(u64, stats.high_water, stats.live + stats.free));
        cr_expect(eq(u64, stats.high_water, births < 3 ? births : 2), "%d", births);
        assert_status(haft_counted_free(table, id), HAFT_OK);
    }
    expect_status(haft_counted_close(table), HAFT_OK);
}

Test(counted_reuse, the_distance_of_min_free_holds_for_the_births_of_all_threads_together)
{
    pthread_t threads[PARENTS];
    haft_id id;

    open_with(&(haft_counted_options){.capacity = PARENTS, .object_size = 8, .min_free = DISTANCE});
    for (int i = 0; i < PARENTS; i++) {
        must(pthread_create(&threads[i], NULL, give_birth, NULL) == 0);
    }
    for (int i = 0; i < PARENTS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
    cr_expect(zero(int, unexpected));
    for (uint64_t index = HAFT_FIRST_INDEX;
         haft_counted_id_at(table, index, &id) != HAFT_OUT_OF_RANGE; index++) {
        const uint64_t lives = haft_id_generation(HAFT_LAYOUT_32_32, id) - 1;

        cr_expect(le(u64, lives, (uint64_t)BIRTHS * PARENTS / (DISTANCE + 1) + 1));
    }
    close_table();
}

/* --- generations --- */

Test(counted_reuse, the_last_life_of_a_slot_may_end_held_or_be_given_up_or_taken)
{
    const haft_layout layout = {10, 1, 0, 0};
    haft_id ids[3];

    open_with(&(haft_counted_options){.capacity = 3, .object_size = 8, .layout = layout});
    assert_status(haft_counted_insert(table, NULL, &ids[0]), HAFT_OK);
    must(haft_counted_acquire(table, ids[0]) != NULL);
    expect_status(haft_counted_free(table, ids[0]), HAFT_OK);
    expect_status(haft_counted_release(table, ids[0]), HAFT_OK);
    assert_status(haft_counted_reserve(table, &ids[1], NULL), HAFT_OK);
    haft_counted_abort(table, ids[1]);
    assert_status(haft_counted_insert(table, NULL, &ids[2]), HAFT_OK);
    expect_status(haft_counted_take(table, ids[2], &(uint64_t){0}), HAFT_OK);
    for (int i = 0; i < 3; i++) {
        expect_status(haft_counted_diagnose(table, ids[i]), HAFT_EXHAUSTED);
    }
    expect_status(haft_counted_insert(table, NULL, &ids[0]), HAFT_FULL);
    cr_expect(eq(u64, haft_counted_stats_get(table).exhausted, 3));
    close_table();
}

static haft_counted_stats during_the_end;

static void note_stats(void *object, haft_id id, void *arg)
{
    during_the_end = haft_counted_stats_get(table);
}

Test(counted_reuse, an_object_in_its_slots_last_life_counts_as_ended_until_its_end_is_over)
{
    char line[100];
    haft_id id;

    open_with(&(haft_counted_options){
        .capacity = 3, .object_size = 8, .layout = {10, 1, 0, 0}, .on_destroy = note_stats});
    assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
    expect_status(haft_counted_free(table, id), HAFT_OK);
    cr_expect(eq(u64, during_the_end.ended, 1));
    cr_expect(zero(u64, during_the_end.exhausted));
    cr_expect(zero(u64, haft_counted_stats_get(table).ended));
    cr_expect(eq(u64, haft_counted_stats_get(table).exhausted, 1));
    haft_counted_explain(table, HAFT_IN_USE, line, sizeof line);
    cr_expect(eq(str, line, "counted table: in use: a call under way"));
    close_table();
}

/* White-box: the free slot has had that many lives. */
static void grow_old(uint32_t life)
{
    store_relaxed(OWN, counted_at(table, HAFT_FIRST_INDEX),
                  counted_word(life, COUNTED_FREE, COUNTED_NONE));
}

static void note_id(void *object, haft_id id, void *arg)
{
    *(haft_id *)arg = id;
}

Test(counted_reuse, a_slot_that_has_had_four_billion_lives_goes_on_as_one_that_has_wrapped)
{
    const uint8_t widths[] = {1, 5, 12, 31, 32};

    for (int i = 0; i < 5; i++) {
        const haft_layout layout = {10, widths[i], 0, 0};
        const uint64_t last = haft_field_max(widths[i]);
        haft_id ended = HAFT_NIL;
        haft_id id;

        open_with(&(haft_counted_options){.capacity = 1,
                                          .layout = layout,
                                          .wrap = true,
                                          .on_destroy = note_id,
                                          .destroy_arg = &ended});
        assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
        assert_status(haft_counted_free(table, id), HAFT_OK);
        grow_old(UINT32_MAX);
        for (uint64_t life = last; life < last + 4; life++) {
            assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
            cr_expect(eq(u64, haft_id_generation(layout, id), (life - 1) % last + 1));
            assert_status(haft_counted_free(table, id), HAFT_OK);
            cr_expect(haft_id_equal(id, ended));
            expect_status(
                haft_counted_diagnose(table, haft_id_pack(layout, HAFT_FIRST_INDEX, last, 0)),
                HAFT_STALE);
        }
        close_table();
    }
}
