/* Tables of one thread: snapshots, clones and files; ids by index. */
#include "portable.h"
#include <string.h>

#define OBJECTS 40

/* A file in memory. */
struct tape {
    char bytes[65536];
    size_t size;
    size_t at;
};

static bool tape_write(const void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;

    if (size > sizeof tape->bytes - tape->size) {
        return false;
    }
    memcpy(tape->bytes + tape->size, bytes, size);
    tape->size += size;
    return true;
}

static bool tape_read(void *bytes, size_t size, void *arg)
{
    struct tape *tape = arg;

    if (size > tape->size - tape->at) {
        return false;
    }
    memcpy(bytes, tape->bytes + tape->at, size);
    tape->at += size;
    return true;
}

static haft_local *open_local(void)
{
    const haft_local_options options = {.capacity = 100, .object_size = sizeof(uint64_t)};
    haft_local *local = NULL;

    CHECK_OK(haft_local_open(&options, &local));
    return local;
}

/* Inserts and frees, the same each time: the ids are those that the state decides. */
static void play_local(haft_local *local, haft_id *ids)
{
    for (uint64_t i = 0; i < OBJECTS; i++) {
        CHECK_OK(haft_local_insert(local, &i, &ids[i]));
        if (i % 3 == 2) {
            CHECK_OK(haft_local_free(local, ids[i - 1]));
        }
    }
}

static void free_all_local(haft_local *local, const haft_id *ids)
{
    for (int i = 0; i < OBJECTS; i++) {
        haft_local_free(local, ids[i]);
    }
}

static void test_local(enum circumstance circumstance)
{
    haft_local *local = open_local(), *clone = NULL;
    haft_history *history = NULL;
    haft_id first[OBJECTS], second[OBJECTS];
    uint64_t number = 7;

    (void)circumstance;
    CHECK(haft_history_open_sized(&(haft_history_options){.keep = 0}, sizeof(haft_history_options),
                                  &history) == HAFT_BAD_KEEP);
    CHECK_OK(haft_history_open(&(haft_history_options){.keep = 2}, &history));
    play_local(local, first);
    free_all_local(local, first);
    CHECK_OK(haft_local_snapshot(local, history, &number));
    CHECK(haft_history_kept(history).to == number + 1 && haft_history_bytes(history) > 0);
    CHECK_OK(haft_local_clone(local, &clone));
    play_local(local, first);
    CHECK_OK(haft_local_rewind(local, history, number));
    CHECK(haft_local_rewind(local, history, number + 1) == HAFT_OUT_OF_RANGE);
    play_local(local, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    play_local(clone, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    haft_local_close(clone);
    haft_local_close(local);
    haft_history_close(history);
}

static void test_local_file(enum circumstance circumstance)
{
    static struct tape tape;
    haft_file file = {.write = tape_write, .read = tape_read, .arg = &tape};
    haft_local *local = open_local(), *other = open_local();
    haft_id first[OBJECTS], second[OBJECTS];

    (void)circumstance;
    memset(&tape, 0, sizeof tape);
    play_local(local, first);
    CHECK_OK(haft_local_save(local, &file));
    CHECK_OK(haft_local_load(other, &file));
    CHECK(*(uint64_t *)haft_resolve(haft_local_view(other), first[0]) == 0);
    free_all_local(local, first);
    free_all_local(other, first);
    play_local(local, first);
    play_local(other, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    tape.bytes[tape.size / 2] ^= 1;
    tape.at = 0;
    CHECK(haft_local_load(other, &file) == HAFT_DAMAGED && file.what != NULL);
    CHECK(haft_is_live(haft_local_view(other), second[0]));
    haft_local_close(other);
    haft_local_close(local);
}

static haft_packed *open_packed(void)
{
    const haft_packed_options options = {.capacity = 100, .object_size = sizeof(uint64_t)};
    haft_packed *packed = NULL;

    CHECK_OK(haft_packed_open(&options, &packed));
    return packed;
}

static void test_packed(enum circumstance circumstance)
{
    static struct tape tape;
    haft_file file = {.write = tape_write, .read = tape_read, .arg = &tape};
    haft_packed *packed = open_packed(), *clone = NULL;
    haft_history *history = NULL;
    haft_id first, second, third;
    uint64_t number;

    (void)circumstance;
    memset(&tape, 0, sizeof tape);
    CHECK_OK(haft_history_open(&(haft_history_options){.keep = 1}, &history));
    CHECK_OK(haft_packed_snapshot(packed, history, &number));
    CHECK_OK(haft_packed_clone(packed, &clone));
    CHECK_OK(haft_packed_insert(packed, &(uint64_t){3}, &first));
    CHECK_OK(haft_packed_save(packed, &file));
    CHECK_OK(haft_packed_rewind(packed, history, number));
    CHECK(haft_packed_is_empty(packed));
    CHECK_OK(haft_packed_insert(packed, NULL, &second));
    CHECK_OK(haft_packed_insert(clone, NULL, &third));
    CHECK(haft_id_equal(first, second) && haft_id_equal(first, third));
    CHECK_OK(haft_packed_load(clone, &file));
    CHECK(*(uint64_t *)haft_packed_resolve(haft_packed_view(clone), first) == 3);
    haft_packed_close(clone);
    haft_packed_close(packed);
    haft_history_close(history);
}

static void test_index(enum circumstance circumstance)
{
    haft_local *local = open_local();
    haft_packed *packed = open_packed();
    haft_id id, found;

    (void)circumstance;
    CHECK_OK(haft_local_insert(local, NULL, &id));
    CHECK(haft_id_dense_index(haft_local_info(local).layout, id) == 0);
    const uint64_t index = haft_id_index(haft_local_info(local).layout, id);

    CHECK_OK(haft_local_id_at(local, index, &found));
    CHECK(haft_id_equal(found, id));
    CHECK(haft_local_stats_get(local).live == 1 && haft_local_stats_get(local).bytes > 0);
    CHECK_OK(haft_local_free(local, id));
    CHECK(haft_local_id_at(local, index, &found) == HAFT_STALE && !haft_id_equal(found, id));
    CHECK(haft_local_id_at(local, UINT64_MAX, &found) == HAFT_OUT_OF_RANGE);
    CHECK_OK(haft_packed_insert(packed, NULL, &id));
    CHECK_OK(haft_packed_id_at(packed, HAFT_FIRST_INDEX, &found));
    CHECK(haft_id_equal(found, id));
    haft_packed_close(packed);
    haft_local_close(local);
}

static void test_index_of_shared(enum circumstance circumstance)
{
    struct shared shared;
    haft_id id, found;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_insert(shared.worker, NULL, &id));
    CHECK_OK(
        haft_id_at(shared.table, haft_id_index(haft_table_info(shared.table).layout, id), &found));
    CHECK(haft_id_equal(found, id));
    shared_close(&shared);
}

const struct test state_tests[] = {
    {"states", "snapshots and clones of local", IN_SINGLE, test_local},
    {"states", "files of local", IN_SINGLE, test_local_file},
    {"states", "packed", IN_SINGLE, test_packed},
    {"states", "ids by index", IN_SINGLE, test_index},
    {"states", "ids by index, shared", IN_SHARED, test_index_of_shared},
    {NULL, NULL, 0, NULL},
};
