/* Snapshots, clones and saved tables when the system refuses: a clean status, nothing changed. */
#include "tests/base/faults.h"
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/share.h>
#include <stdlib.h>
#include <string.h>

TestSuite(snapshot_failing, .timeout = SUITE_SECONDS);

#define LARGE 100000 /* slots that are in pages */

static haft_local *local;
static haft_packed *packed;
static unsigned char *bytes;
static size_t size;
static size_t read_to;
static uint64_t objects;

static void open_tables(uint64_t count)
{
    haft_id id;

    objects = count;
    assert_status(
        haft_local_open(&(haft_local_options){.capacity = count, .object_size = 24}, &local),
        HAFT_OK);
    assert_status(
        haft_packed_open(&(haft_packed_options){.capacity = count, .object_size = 24}, &packed),
        HAFT_OK);
    for (uint64_t i = 0; i < count; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
    }
}

static void close_tables(void)
{
    must(haft_local_count(local) == objects && haft_packed_count(packed) == objects);
    haft_local_close(local);
    haft_packed_close(packed);
    expect_no_leaks();
}

/* --- snapshots --- */

static void close_history(void *opened)
{
    haft_history_close(opened);
}

FAULTS_OPEN(open_history, haft_history,
            haft_history_open(&(haft_history_options){.keep = 3}, &made))

/* A history with two snapshots: the second one has changes. */
static haft_status take_two(void **opened, haft_status (*take)(haft_history *))
{
    void *history = *opened;
    haft_status status = open_history(&history);

    if (status != HAFT_OK) {
        return status;
    }
    for (int i = 0; i < 2 && status == HAFT_OK; i++) {
        status = take(history);
        must(haft_history_kept(history).to == (uint64_t)i + (status == HAFT_OK));
    }
    if (status == HAFT_OK) {
        *opened = history;
    } else {
        haft_history_close(history);
    }
    return status;
}

static haft_status take_local(haft_history *history)
{
    return haft_local_snapshot(local, history, NULL);
}

static haft_status take_packed(haft_history *history)
{
    return haft_packed_snapshot(packed, history, NULL);
}

static haft_status take_two_local(void **opened)
{
    return take_two(opened, take_local);
}

static haft_status take_two_packed(void **opened)
{
    return take_two(opened, take_packed);
}

Test(snapshot_failing, the_first_leaves_the_history_to_tables_of_any_shape)
{
    int refused = 0;

    for (int n = 1; n < 6; n++) {
        haft_packed *larger;
        haft_history *history;
        haft_id id;

        open_tables(4);
        assert_status(
            haft_packed_open(&(haft_packed_options){.capacity = 1000, .object_size = 64}, &larger),
            HAFT_OK);
        for (int i = 0; i < 900; i++) {
            must(haft_packed_insert(larger, NULL, &id) == HAFT_OK);
        }
        assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
        fail_calls(n, n);
        const haft_status status = take_packed(history);

        fail_calls(0, -1);
        if (status != HAFT_OK) {
            expect_status(haft_packed_snapshot(larger, history, NULL), HAFT_OK);
            expect_status(haft_packed_rewind(larger, history, 0), HAFT_OK);
        }
        refused += status == HAFT_NO_MEMORY;
        haft_history_close(history);
        haft_packed_close(larger);
        close_tables();
    }
    cr_expect(eq(int, refused, 3)); /* a packed table's image has as many parts */
}

Test(snapshot_failing, taking)
{
    for (int round = 0; round < 3; round++) {
        faults.strict = round == 2;
        open_tables(round == 0 ? 100 : LARGE);
        fail_each_both_ways(open_history, close_history);
        fail_each_both_ways(take_two_local, close_history);
        fail_each_both_ways(take_two_packed, close_history);
        close_tables();
    }
}

/* Two sides: the first one's copy goes when there is none of the second. */
Test(snapshot_failing, taking_with_sides)
{
    haft_side *sides[2];
    haft_id id;

    for (int round = 0; round < 2; round++) {
        open_tables(round == 0 ? 100 : LARGE);
        for (int i = 0; i < 2; i++) {
            assert_status(
                haft_side_open_local(local, &(haft_side_options){.value_size = 8}, &sides[i]),
                HAFT_OK);
            must(haft_local_id_at(local, HAFT_FIRST_INDEX, &id) == HAFT_OK);
            must(haft_side_set(sides[i], id, NULL, NULL) == HAFT_OK);
        }
        fail_each_both_ways(take_two_local, close_history);
        haft_side_close(sides[0]);
        haft_side_close(sides[1]);
        close_tables();
    }
}

/* All slots are in use, each of them a page run. */
Test(snapshot_failing, going_back_to_where_the_table_was_needs_no_memory)
{
    haft_history *history;
    haft_id ids[60];
    uint64_t number;

    faults.strict = true;
    assert_status(
        haft_local_open(&(haft_local_options){.capacity = 60, .object_size = 4088}, &local),
        HAFT_OK);
    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    local_insert_each(local, ids, 60);
    local_free_each(local, ids, 20);
    assert_status(haft_local_trim(local, NULL), HAFT_OK);
    assert_status(haft_local_snapshot(local, history, &number), HAFT_OK);
    fail_calls(1, 1000000);
    expect_status(haft_local_rewind(local, history, number), HAFT_OK);
    fail_calls(0, -1);
    haft_history_close(history);
    haft_local_close(local);
    expect_no_leaks();
}

/* --- clones --- */

FAULTS_OPEN(clone_local, haft_local, haft_local_clone(local, &made))

static void close_local(void *opened)
{
    must(haft_local_count(opened) == objects);
    haft_local_close(opened);
}

FAULTS_OPEN(clone_packed, haft_packed, haft_packed_clone(packed, &made))

static void close_packed(void *opened)
{
    must(haft_packed_count(opened) == objects);
    haft_packed_close(opened);
}

Test(snapshot_failing, cloning)
{
    for (int round = 0; round < 3; round++) {
        faults.strict = round == 2;
        open_tables(round == 0 ? 100 : LARGE);
        fail_each_both_ways(clone_local, close_local);
        fail_each_both_ways(clone_packed, close_packed);
        close_tables();
    }
}

Test(snapshot_failing, cloning_a_table_with_released_runs)
{
    static haft_id ids[LARGE];
    haft_range range;

    open_tables(LARGE);
    range = haft_local_used_range(local);
    for (uint64_t index = range.from; index < range.to; index++) {
        must(haft_local_id_at(local, index, &ids[index - range.from]) == HAFT_OK);
    }
    for (uint64_t i = LARGE / 2; i < LARGE; i++) {
        must(haft_local_free(local, ids[i]) == HAFT_OK);
    }
    assert_status(haft_local_trim(local, NULL), HAFT_OK);
    objects = LARGE / 2;
    fail_each_both_ways(clone_local, close_local);
    haft_local_close(local);
    haft_packed_close(packed);
    expect_no_leaks();
}

/* --- files --- */

static bool put(const void *from, size_t count, void *arg)
{
    memcpy(bytes + size, from, count);
    size += count;
    return true;
}

static bool get(void *to, size_t count, void *arg)
{
    if (size - read_to < count) {
        return false;
    }
    memcpy(to, bytes + read_to, count);
    read_to += count;
    return true;
}

static void copy(void *to, const void *from, void *arg)
{
    memcpy(to, from, 24);
}

static haft_file converted(void)
{
    read_to = 0;
    return (haft_file){.write = put, .read = get, .convert = copy, .converted_size = 24};
}

/* Each opens nothing, and gives the table that it is of. */
#define ON_FILE(name, table, kind, call)                                                           \
    static haft_status name(void **opened)                                                         \
    {                                                                                              \
        haft_file file = converted();                                                              \
        const haft_status status = call(table, &file);                                             \
                                                                                                   \
        *opened = status == HAFT_OK ? table : *opened;                                             \
        must(haft_##kind##_count(table) == objects);                                               \
        return status;                                                                             \
    }

static haft_status save_again_local(const haft_local *of, haft_file *file)
{
    size = 0;
    return haft_local_save(of, file);
}

static haft_status save_again_packed(const haft_packed *of, haft_file *file)
{
    size = 0;
    return haft_packed_save(of, file);
}

ON_FILE(save_local, local, local, save_again_local)
ON_FILE(load_local, local, local, haft_local_load)
ON_FILE(save_packed, packed, packed, save_again_packed)
ON_FILE(load_packed, packed, packed, haft_packed_load)

static void leave(void *opened)
{
}

Test(snapshot_failing, saving_and_loading)
{
    open_tables(100);
    bytes = malloc(100000);
    fail_each_both_ways(save_local, leave);
    fail_each_both_ways(load_local, leave);
    fail_each_both_ways(save_packed, leave);
    fail_each_both_ways(load_packed, leave);
    free(bytes);
    close_tables();
}

Test(snapshot_failing, loading_into_a_table_that_has_no_memory_yet)
{
    haft_local *small;
    haft_packed *few;

    open_tables(LARGE);
    bytes = malloc(100 * LARGE);
    faults.strict = true;
    assert_status(
        haft_local_open(&(haft_local_options){.capacity = LARGE, .object_size = 24}, &small),
        HAFT_OK);
    assert_status(
        haft_packed_open(&(haft_packed_options){.capacity = LARGE, .object_size = 24}, &few),
        HAFT_OK);
    haft_file file = converted();

    size = 0;
    assert_status(haft_local_save(local, &file), HAFT_OK);
    faults.no_protect = true;
    expect_status(haft_local_load(small, &file), HAFT_NO_MEMORY);
    cr_expect(eq(u64, haft_local_count(small), 0));
    faults.no_protect = false;
    file = converted();
    expect_status(haft_local_load(small, &file), HAFT_OK);
    file = converted();
    size = 0;
    assert_status(haft_packed_save(packed, &file), HAFT_OK);
    faults.no_protect = true;
    expect_status(haft_packed_load(few, &file), HAFT_NO_MEMORY);
    cr_expect(haft_packed_is_empty(few));
    faults.no_protect = false;
    file = converted();
    expect_status(haft_packed_load(few, &file), HAFT_OK);
    haft_local_close(small);
    haft_packed_close(few);
    free(bytes);
    close_tables();
}

/* Records of page runs are reserved for a shared table: none can be written to yet. */
Test(snapshot_failing, a_table_that_was_shared_goes_back_to_what_it_was_before)
{
    const haft_domain_options callers = {.clock = HAFT_CLOCK_FRAME};
    haft_history *history;
    haft_domain *domain;
    haft_table *table;

    faults.strict = true;
    open_tables(LARGE);
    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    assert_status(haft_domain_open(&callers, &domain), HAFT_OK);
    assert_status(haft_share(local, domain, NULL, &table), HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    faults.no_protect = true;
    expect_status(haft_local_rewind(local, history, 0), HAFT_NO_MEMORY);
    faults.no_protect = false;
    expect_status(haft_local_rewind(local, history, 0), HAFT_OK);
    assert_status(haft_domain_close(domain), HAFT_OK);
    haft_history_close(history);
    close_tables();
}
