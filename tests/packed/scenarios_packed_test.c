/* haft_packed in situations that broke other tables; docs/scenarios.md lists them all. */
#include "tests/packed/packed.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(scenarios_packed, .timeout = SUITE_SECONDS);

#define OBJECTS 100

/* --- free --- */

static void end_all(haft_packed *packed, const haft_id *ids, bool by_refresh)
{
    if (!by_refresh) {
        must(haft_packed_clear(packed) == HAFT_OK);
        return;
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_packed_kill(packed, ids[i * 37 % OBJECTS]) == HAFT_OK);
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
}

TEST_ON_EACH_ORDER(scenarios_packed, refresh_and_clear_bump_every_generation_by_one)
{
    haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    uint64_t lives[HAFT_FIRST_INDEX + OBJECTS] = {0};
    haft_id ids[OBJECTS];

    for (int round = 0; round < 20; round++) {
        packed_fill(packed, ids, OBJECTS);
        for (int i = 0; i < OBJECTS; i++) {
            const uint64_t generation = haft_id_generation(HAFT_LAYOUT_32_32, ids[i]);

            must(generation == ++lives[haft_id_index(HAFT_LAYOUT_32_32, ids[i])]);
        }
        end_all(packed, ids, round % 2 == 0);
        for (int i = 0; i < OBJECTS; i++) {
            must(haft_packed_diagnose(packed, ids[i]) == HAFT_STALE);
        }
    }
    packed_close(packed);
}

/* --- bits --- */

static void fill_index_range(haft_layout layout)
{
    const haft_packed_options options = {
        .capacity = haft_field_max(layout.index_bits) + 1 - HAFT_FIRST_INDEX,
        .object_size = 8,
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
    };
    haft_packed *packed = packed_open(&options);
    haft_id id = {0x5a};

    for (uint64_t i = 0; i < options.capacity; i++) {
        const haft_id given = packed_insert_value(packed, i);

        must(haft_id_index(layout, given) == HAFT_FIRST_INDEX + i);
        must(haft_id_generation(layout, given) == 1);
        must(haft_id_tag(layout, given) == options.tag);
    }
    must(haft_packed_insert(packed, NULL, &id) == HAFT_FULL && id.bits == 0x5a);
    must(haft_packed_count(packed) == options.capacity);
    packed_must_be_sound(packed, 8);
    packed_close(packed);
}

Test(scenarios_packed, in_every_layout_the_index_after_the_last_is_refused_and_never_spills)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts[i].index_bits <= 20) {
            fill_index_range(layouts[i]);
        }
    }
}

/* --- walks --- */

/* Each object is met by the loop that kills and inserts: the old ones and the new, once each. */
TEST_ON_EACH_ORDER(scenarios_packed, a_loop_that_kills_and_inserts_meets_each_object_once)
{
    haft_packed *packed = packed_open_values(3 * OBJECTS, *keep_order);
    int met[2 * OBJECTS] = {0};
    haft_id ids[OBJECTS];
    uint64_t next = OBJECTS;

    packed_fill(packed, ids, OBJECTS);
    for (uint64_t i = 0; i < haft_packed_count(packed); i++) {
        const uint64_t value = packed_value_at(packed, i);

        met[value]++;
        must(value % 3 != 0 || haft_packed_kill(packed, haft_packed_id_at(packed, i)) == HAFT_OK);
        if (next < 2 * OBJECTS) {
            packed_insert_value(packed, next++);
        }
    }
    for (int value = 0; value < 2 * OBJECTS; value++) {
        cr_expect(eq(int, met[value], 1));
    }
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    for (uint64_t i = 0; i < haft_packed_count(packed); i++) {
        met[packed_value_at(packed, i)]++;
    }
    for (int value = 0; value < 2 * OBJECTS; value++) {
        cr_expect(eq(int, met[value], value % 3 == 0 ? 1 : 2));
    }
    packed_close(packed);
}

TEST_ON_EACH_ORDER(scenarios_packed, after_all_were_freed_or_refreshed_a_loop_meets_nothing)
{
    haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id ids[OBJECTS];

    packed_fill(packed, ids, OBJECTS);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_packed_free(packed, ids[i * 37 % OBJECTS]) == HAFT_OK);
    }
    cr_expect(zero(u64, haft_packed_count(packed)));
    packed_must_be_sound(packed, 8);
    packed_fill(packed, ids, OBJECTS);
    end_all(packed, ids, true);
    cr_expect(zero(u64, haft_packed_count(packed)));
    packed_must_be_sound(packed, 8);
    packed_close(packed);
}

/* --- counts --- */

TEST_ON_EACH_ORDER(scenarios_packed, count_is_inserted_less_freed_on_every_path)
{
    haft_packed *packed = packed_open_values(3, *keep_order);
    haft_id ids[3];
    haft_id id;

    packed_fill(packed, ids, 3);
    expect_status(haft_packed_insert(packed, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    expect_status(haft_packed_kill(packed, ids[0]), HAFT_OK);
    expect_status(haft_packed_kill(packed, ids[0]), HAFT_DEAD);
    expect_status(haft_packed_insert(packed, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    expect_status(haft_packed_free(packed, ids[1]), HAFT_OK);
    expect_status(haft_packed_free(packed, ids[1]), HAFT_STALE);
    expect_status(haft_packed_kill(packed, ids[1]), HAFT_STALE);
    expect_status(haft_packed_free(packed, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, haft_packed_count(packed), 2));
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    expect_status(haft_packed_refresh(packed), HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(packed), 1));
    packed_insert_value(packed, 1);
    cr_expect(eq(u64, haft_packed_count(packed), 2));
    expect_status(haft_packed_clear(packed), HAFT_OK);
    cr_expect(zero(u64, haft_packed_count(packed)));
    packed_close(packed);
}

/* --- memory --- */

static long resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0;
    long resident = 0;

    must(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

Test(scenarios_packed, failed_frees_and_kills_bring_no_memory_in)
{
    haft_packed *packed = packed_open_values(1 << 20, false);

    packed_insert_value(packed, 1);
    const long before = resident_pages();

    for (uint64_t index = 5; index < 1 << 20; index += 64) { /* four in each page of slots */
        const haft_id id = {index | UINT64_C(1) << 32};

        must(haft_packed_free(packed, id) == HAFT_NEVER_ISSUED);
        must(haft_packed_kill(packed, id) == HAFT_NEVER_ISSUED);
        must(haft_packed_resolve(haft_packed_view_get(packed), id) == NULL);
    }
    /* Of 4096.  The system's page of zeros, on which reads fall, is not counted. */
    cr_expect(lt(long, resident_pages() - before, 1000));
    packed_close(packed);
}

/* --- fork --- */

static uint64_t *value_of(haft_packed *packed, haft_id id)
{
    return haft_packed_resolve(haft_packed_view_get(packed), id);
}

static bool change_as_child(haft_packed *packed, haft_id freed, haft_id kept)
{
    haft_id id = HAFT_NIL;
    const bool right = haft_packed_free(packed, freed) == HAFT_OK &&
                       haft_packed_insert(packed, NULL, &id) == HAFT_OK;

    *value_of(packed, kept) = 2;
    return right && value_of(packed, id) != NULL && value_of(packed, freed) == NULL;
}

TEST_ON_EACH_ORDER(scenarios_packed,
                   after_a_fork_child_and_parent_each_go_on_with_a_table_of_their_own)
{
    haft_packed *packed = packed_open_values(10, *keep_order);
    const haft_id freed = packed_insert_value(packed, 1);
    const haft_id kept = packed_insert_value(packed, 1);
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        _exit(change_as_child(packed, freed, kept) ? 0 : 1);
    }
    cr_assert(gt(int, child, 0));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status));
    cr_expect(packed_has(packed, (uint64_t[]){1, 1}, 2));
    packed_must_be_sound(packed, 8);
    expect_status(haft_packed_free(packed, freed), HAFT_OK);
    packed_close(packed);
}

/* --- the end --- */

static haft_packed *ending;

static void close_again(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    haft_packed_close(ending);
}

Test(scenarios_packed, closing_in_a_callback_is_an_assertion_in_debug_builds, .signal = SIGABRT)
{
    const haft_packed_options options = {
        .capacity = 10, .object_size = 8, .on_destroy = close_again};

#ifdef NDEBUG
    raise(SIGABRT);
#endif
    ending = packed_open(&options);
    packed_insert_value(ending, 1);
    haft_packed_close(ending);
}
