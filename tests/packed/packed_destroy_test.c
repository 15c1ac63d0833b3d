/* The packed table: on_destroy, and what callbacks may do. */
#include "tests/packed/packed.h"
#include <signal.h>

TestSuite(packed_destroy, .timeout = SUITE_SECONDS);

#define OBJECTS 100

/* What an on_destroy has seen, and what it does. */
struct log {
    haft_packed *packed;
    uint64_t values[4 * OBJECTS];
    haft_id ids[4 * OBJECTS];
    int count;
    void (*act)(struct log *log, void *object, haft_id id);
    haft_id other; /* for `act` */
};

static void record(void *object, haft_id id, void *arg)
{
    struct log *log = arg;

    must(log->count < 4 * OBJECTS);
    log->values[log->count] = *(uint64_t *)object;
    log->ids[log->count++] = id;
    if (log->act != NULL) {
        log->act(log, object, id);
    }
}

static void open_with(struct log *log, uint64_t capacity, bool keep_order)
{
    const haft_packed_options options = {
        .capacity = capacity,
        .object_size = 8,
        .keep_order = keep_order,
        .on_destroy = record,
        .destroy_arg = log,
    };

    log->packed = packed_open(&options);
}

static bool has_seen(const struct log *log, const uint64_t *values, int count)
{
    bool same = log->count == count;

    for (int i = 0; same && i < count; i++) {
        same = log->values[i] == values[i];
    }
    return same;
}

/* --- once each --- */

TEST_ON_EACH_ORDER(packed_destroy, runs_once_on_free_with_the_object_and_its_id)
{
    struct log log = {0};
    haft_id ids[3];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 3);
    must(haft_packed_free(log.packed, ids[1]) == HAFT_OK);
    must(haft_packed_free(log.packed, ids[1]) == HAFT_STALE);
    must(haft_packed_refresh(log.packed) == HAFT_OK);

    cr_expect(has_seen(&log, (uint64_t[]){1}, 1));
    cr_expect(eq(u64, log.ids[0].bits, ids[1].bits));
    packed_close(log.packed);
}

TEST_ON_EACH_ORDER(packed_destroy, runs_once_on_refresh_in_the_order_of_the_kills)
{
    struct log log = {0};
    haft_id ids[6];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 6);
    must(haft_packed_kill(log.packed, ids[4]) == HAFT_OK);
    must(haft_packed_kill(log.packed, ids[0]) == HAFT_OK);
    must(haft_packed_kill(log.packed, ids[0]) == HAFT_DEAD);
    must(haft_packed_kill(log.packed, ids[3]) == HAFT_OK);
    cr_expect(zero(int, log.count)); /* not yet */
    must(haft_packed_refresh(log.packed) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);

    cr_expect(has_seen(&log, (uint64_t[]){4, 0, 3}, 3));
    packed_close(log.packed);
}

TEST_ON_EACH_ORDER(packed_destroy, of_a_freed_dead_object_leaves_its_turn_to_the_last_killed)
{
    struct log log = {0};
    haft_id ids[4];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 4);
    for (int i = 0; i < 4; i++) {
        must(haft_packed_kill(log.packed, ids[i]) == HAFT_OK);
    }
    must(haft_packed_free(log.packed, ids[1]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);

    cr_expect(has_seen(&log, (uint64_t[]){1, 0, 3, 2}, 4));
    packed_close(log.packed);
}

/* The dead first, then the others by position: in clear and in close. */
static void expect_end_of_all(struct log *log, bool keep_order, bool close)
{
    haft_id ids[5];

    open_with(log, OBJECTS, keep_order);
    packed_fill(log->packed, ids, 5);
    must(haft_packed_kill(log->packed, ids[3]) == HAFT_OK);
    must(haft_packed_kill(log->packed, ids[2]) == HAFT_OK);
    if (!close) {
        must(haft_packed_clear(log->packed) == HAFT_OK);
        must(haft_packed_clear(log->packed) == HAFT_OK);
    }
    packed_close(log->packed);
    cr_expect(has_seen(log, (uint64_t[]){3, 2, 0, 1, 4}, 5));
}

TEST_ON_EACH_ORDER(packed_destroy, runs_once_for_all_on_clear)
{
    struct log log = {0};

    expect_end_of_all(&log, *keep_order, false);
}

TEST_ON_EACH_ORDER(packed_destroy, runs_once_for_all_on_close)
{
    struct log log = {0};

    expect_end_of_all(&log, *keep_order, true);
}

/* --- what it sees --- */

static void look_around(struct log *log, void *object, haft_id id)
{
    const haft_packed *packed = log->packed;
    const haft_dense_view view = haft_packed_view(packed);
    const uint64_t position = (uint64_t)((uint64_t *)object - (uint64_t *)view.objects);
    const uint64_t *other = haft_packed_resolve(view, log->other);

    must(!haft_packed_is_live(view, id)); /* its own id is over */
    must(haft_packed_resolve(view, id) == NULL);
    must(haft_packed_diagnose(packed, id) == HAFT_STALE);
    must(haft_packed_state(packed, id) == HAFT_PACKED_UNUSED);
    must(haft_packed_kill(log->packed, id) == HAFT_STALE);
    must(haft_packed_free(log->packed, id) == HAFT_STALE);
    must(haft_packed_id_in(packed, position).bits == 0);
    must(haft_packed_ids(packed)[position].bits == 0);
    must(haft_packed_state_in(packed, position) == HAFT_PACKED_UNUSED);
    must(other != NULL && *other == 2); /* others are there */
    must(haft_packed_count(packed) == 3);
    must(haft_packed_available(packed) == OBJECTS - 3);
    *(uint64_t *)object = 99; /* its own bytes may be written */
}

TEST_ON_EACH_ORDER(packed_destroy, sees_its_id_stale_all_others_live_and_the_counts_of_before)
{
    struct log log = {.act = look_around};
    haft_id ids[3];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 3);
    log.other = ids[2];
    must(haft_packed_kill(log.packed, ids[0]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);
    ids[0] = packed_insert_value(log.packed, 0);
    must(haft_packed_free(log.packed, ids[1]) == HAFT_OK);
    cr_expect(eq(int, log.count, 2));
    log.act = NULL;
    packed_close(log.packed);
}

static int refused(const void *a, const void *b, void *arg)
{
    cr_fatal("compared");
    return 0;
}

static void try_to_move(struct log *log, void *object, haft_id id)
{
    must(haft_packed_free(log->packed, log->other) == HAFT_IN_CALLBACK);
    must(haft_packed_refresh(log->packed) == HAFT_IN_CALLBACK);
    must(haft_packed_clear(log->packed) == HAFT_IN_CALLBACK);
    must(haft_packed_sort(log->packed, refused, NULL) == HAFT_IN_CALLBACK);
    must(haft_packed_is_live(haft_packed_view(log->packed), log->other));
}

TEST_ON_EACH_ORDER(packed_destroy, may_not_free_refresh_clear_or_sort)
{
    struct log log = {.act = try_to_move};
    haft_id ids[4];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 4);
    log.other = ids[3];
    must(haft_packed_free(log.packed, ids[0]) == HAFT_OK);
    must(haft_packed_kill(log.packed, ids[1]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);
    packed_must_be_sound(log.packed, 8);
    log.act = NULL;
    must(haft_packed_clear(log.packed) == HAFT_OK);
    cr_expect(eq(int, log.count, 4));
    packed_close(log.packed);
}

/* --- kill and insert from it --- */

/* Objects with value v > 0 kill the one with v - 1. */
static void kill_the_one_before(struct log *log, void *object, haft_id id)
{
    const uint64_t value = *(uint64_t *)object;

    for (uint64_t i = 0; value > 0 && i < haft_packed_count(log->packed); i++) {
        const haft_id other = haft_packed_id_in(log->packed, i);

        if (!haft_id_is_nil(other) && packed_value_at(log->packed, i) == value - 1) {
            must(haft_packed_kill(log->packed, other) == HAFT_OK);
        }
    }
}

TEST_ON_EACH_ORDER(packed_destroy, what_it_kills_goes_in_the_same_refresh)
{
    struct log log = {.act = kill_the_one_before};
    haft_id ids[6];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 6);
    must(haft_packed_kill(log.packed, ids[3]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);

    cr_expect(has_seen(&log, (uint64_t[]){3, 2, 1, 0}, 4));
    cr_expect(zero(u64, haft_packed_dead_count(log.packed)));
    cr_expect(eq(u64, haft_packed_count(log.packed), 2));
    packed_must_be_sound(log.packed, 8);
    log.act = NULL;
    packed_close(log.packed);
}

TEST_ON_EACH_ORDER(packed_destroy, what_it_kills_in_a_free_waits_for_the_refresh)
{
    struct log log = {.act = kill_the_one_before};
    haft_id ids[6];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 6);
    must(haft_packed_free(log.packed, ids[3]) == HAFT_OK);

    cr_expect(has_seen(&log, (uint64_t[]){3}, 1));
    cr_expect(eq(int, (int)haft_packed_state(log.packed, ids[2]), HAFT_PACKED_DEAD));
    cr_expect(eq(u64, haft_packed_dead_count(log.packed), 1));
    packed_must_be_sound(log.packed, 8);
    log.act = NULL;
    packed_close(log.packed);
}

/* Objects below 100 leave one of 100 more behind. */
static void leave_another(struct log *log, void *object, haft_id id)
{
    const uint64_t value = *(uint64_t *)object + 100;

    if (value < 200) {
        log->other = packed_insert_value(log->packed, value);
    }
    must(*(uint64_t *)object == value - 100); /* has not moved */
}

TEST_ON_EACH_ORDER(packed_destroy, what_it_inserts_in_a_refresh_or_a_free_is_kept)
{
    struct log log = {.act = leave_another};
    haft_id ids[4];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 4);
    must(haft_packed_kill(log.packed, ids[3]) == HAFT_OK);
    must(haft_packed_kill(log.packed, ids[1]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(log.packed), 4));
    packed_must_be_sound(log.packed, 8);
    must(haft_packed_free(log.packed, ids[0]) == HAFT_OK);
    cr_expect(haft_packed_is_live(haft_packed_view(log.packed), log.other));
    cr_expect(eq(u64, haft_packed_count(log.packed), 4));
    if (*keep_order) {
        cr_expect(packed_has(log.packed, (uint64_t[]){2, 103, 101, 100}, 4));
    }
    packed_must_be_sound(log.packed, 8);
    log.act = NULL;
    packed_close(log.packed);
}

TEST_ON_EACH_ORDER(packed_destroy, what_it_inserts_in_a_clear_or_close_is_destroyed_too)
{
    struct log log = {.act = leave_another};
    haft_id ids[3];

    open_with(&log, OBJECTS, *keep_order);
    packed_fill(log.packed, ids, 3);
    must(haft_packed_clear(log.packed) == HAFT_OK);
    cr_expect(has_seen(&log, (uint64_t[]){0, 1, 2, 100, 101, 102}, 6));
    cr_expect(haft_packed_is_empty(log.packed));
    cr_expect(eq(u64, haft_packed_available(log.packed), OBJECTS));
    packed_must_be_sound(log.packed, 8);
    packed_fill(log.packed, ids, 3);
    log.count = 0;
    packed_close(log.packed);
    cr_expect(has_seen(&log, (uint64_t[]){0, 1, 2, 100, 101, 102}, 6));
}

/* Inserts as long as there is room, and kills that. */
static void insert_and_kill(struct log *log, void *object, haft_id id)
{
    const uint64_t room = haft_packed_available(log->packed);
    const haft_status status = haft_packed_insert(log->packed, object, &id);

    must(status == (room != 0 ? HAFT_OK : HAFT_FULL));
    must(status != HAFT_OK || haft_packed_kill(log->packed, id) == HAFT_OK);
}

TEST_ON_EACH_ORDER(packed_destroy, that_always_inserts_and_kills_ends_where_the_table_is_full)
{
    struct log log = {.act = insert_and_kill};
    haft_id ids[4];

    open_with(&log, 10, *keep_order);
    packed_fill(log.packed, ids, 4);
    must(haft_packed_kill(log.packed, ids[1]) == HAFT_OK);
    must(haft_packed_refresh(log.packed) == HAFT_OK);
    cr_expect(eq(int, log.count, 1 + 6));
    cr_expect(eq(u64, haft_packed_count(log.packed), 3));
    cr_expect(eq(u64, haft_packed_available(log.packed), 7));
    packed_must_be_sound(log.packed, 8);
    log.count = 0;
    must(haft_packed_clear(log.packed) == HAFT_OK);
    cr_expect(eq(int, log.count, 10));
    cr_expect(eq(u64, haft_packed_available(log.packed), 10));
    log.act = NULL;
    packed_close(log.packed);
}

/* --- the end --- */

static haft_packed *ending;

static void close_again(void *object, haft_id id, void *arg)
{
    haft_packed_close(ending);
}

Test(packed_destroy, closing_in_a_callback_is_an_assertion_in_debug_builds, .signal = SIGABRT)
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
