/* The warning before a table is full: when on_fill is called, and what it may call. */
#include "lib/slots/fill.h"
#include "tests/support.h"
#include <haft/share.h>
#include <haft/threads.h>
#include <string.h>

TestSuite(fill, .timeout = SUITE_SECONDS);
TestSuite(fill_reclaim, .timeout = SUITE_SECONDS);

#define CAPACITY 1000
#define WARN_AT 800
#define LOW 700 /* an eighth below */

/* What on_fill saw, and what it shall do to the table. */
static struct {
    int calls;
    uint64_t in_use;
    uint64_t capacity;
    char table[32];
    void (*act)(void);
    haft_local *local;
    struct shared shared;
    haft_id ids[2 * CAPACITY];
} seen;

static void note(const haft_fill *fill, void *arg)
{
    must(arg == &seen);
    seen.calls++;
    seen.in_use = fill->in_use;
    seen.capacity = fill->capacity;
    strncpy(seen.table, fill->table, sizeof seen.table - 1);
    if (seen.act != NULL) {
        seen.act();
    }
}

/* White-box: threads count, and look, at their own pace. */
Test(fill, a_count_from_before_the_warning_neither_warns_nor_lets_it_warn_again)
{
    struct fill fill = {.warn_at = 8, .on_fill = note, .arg = &seen};
    const uint64_t before = fill_seen(&fill);

    fill_look(&fill, before, "players", 8, 10);
    cr_expect(eq(int, seen.calls, 1));
    fill_look(&fill, before, "players", 9, 10);
    fill_look(&fill, before, "players", 3, 10);
    fill_look(&fill, fill_seen(&fill), "players", 9, 10);
    cr_expect(eq(int, seen.calls, 1));
    fill_look(&fill, fill_seen(&fill), "players", 3, 10);
    fill_look(&fill, before, "players", 9, 10);
    cr_expect(eq(int, seen.calls, 1));
    fill_look(&fill, fill_seen(&fill), "players", 9, 10);
    cr_expect(eq(int, seen.calls, 2));
}

/* Two threads end a warning; the second had counted as many objects as warn about it again. */
Test(fill, of_two_that_may_end_a_warning_the_late_one_does_nothing)
{
    struct fill fill = {.warn_at = 4, .on_fill = note, .arg = &seen};

    fill_look(&fill, fill_seen(&fill), "players", 4, 10);
    const uint64_t before = fill_seen(&fill);

    fill_look(&fill, before, "players", 3, 10);
    fill_look(&fill, before, "players", 4, 10);
    cr_expect(eq(int, seen.calls, 1));
    fill_look(&fill, fill_seen(&fill), "players", 4, 10);
    cr_expect(eq(int, seen.calls, 2));
}

/* --- tables of one thread: exact --- */

static void open_local(haft_local_reuse reuse, uint64_t warn_at)
{
    const haft_local_options options = {
        .name = "players",
        .capacity = CAPACITY,
        .object_size = 8,
        .reuse = reuse,
        .warn_at = warn_at,
        .on_fill = note,
        .fill_arg = &seen,
    };

    memset(&seen, 0, sizeof seen);
    assert_status(haft_local_open(&options, &seen.local), HAFT_OK);
}

/* Objects `from` to `to` of seen.ids. */
static void insert_local(int from, int to)
{
    uint64_t object = 1;

    for (int i = from; i < to; i++) {
        must(haft_local_insert(seen.local, &object, &seen.ids[i]) == HAFT_OK);
    }
}

static void free_local(int from, int to)
{
    for (int i = from; i < to; i++) {
        must(haft_local_free(seen.local, seen.ids[i]) == HAFT_OK);
    }
}

Test(fill, a_slot_restored_as_exhausted_counts)
{
    open_local(HAFT_REUSE_LIFO, WARN_AT);
    insert_local(0, WARN_AT - 1);
    cr_expect(eq(int, seen.calls, 0));
    assert_status(haft_local_restore_free(
                      seen.local, haft_id_pack(haft_local_layout(seen.local), WARN_AT + 10, 0, 0)),
                  HAFT_OK);
    cr_expect(eq(int, seen.calls, 1));
    cr_expect(eq(u64, seen.in_use, WARN_AT));
    haft_local_close(seen.local);
}

static haft_status shared_inside;

static void share_inside(void)
{
    haft_table *table;

    shared_inside = haft_share(seen.local, seen.shared.domain, NULL, &table);
}

Test(fill, no_table_is_shared_inside_on_fill)
{
    haft_domain *domain;

    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    open_local(HAFT_REUSE_LIFO, WARN_AT);
    seen.act = share_inside;
    seen.shared.domain = domain;
    insert_local(0, WARN_AT);
    expect_status(shared_inside, HAFT_IN_USE);
    haft_local_close(seen.local);
    assert_status(haft_domain_close(domain), HAFT_OK);
}

TEST_ON_EACH_KIND(fill, of_one_thread_is_told_with_the_object_that_reaches_it_and_once)
{
    const haft_table_options options = {.name = "players",
                                        .capacity = CAPACITY,
                                        .object_size = 8,
                                        .warn_at = WARN_AT,
                                        .on_fill = note,
                                        .fill_arg = &seen};
    struct subject subject = subject_open(*kind == SHARED ? LOCAL : *kind, &options);

    for (int i = 0; i < CAPACITY; i++) {
        must(subject_insert(&subject, NULL, &seen.ids[i]) == HAFT_OK);
        must(seen.calls == (i >= WARN_AT - 1));
    }
    cr_expect(eq(u64, seen.in_use, WARN_AT));
    cr_expect(eq(u64, seen.capacity, CAPACITY));
    cr_expect(eq(str, seen.table, "players"));
    for (int round = 1; round < 3; round++) {
        const int low = round == 1 ? LOW + 1 : LOW; /* one more than the eighth below */

        for (int i = low; i < (round == 1 ? CAPACITY : WARN_AT); i++) {
            must(subject_free(&subject, seen.ids[i]) == HAFT_OK);
        }
        for (int i = low; i < WARN_AT; i++) {
            must(subject_insert(&subject, NULL, &seen.ids[i]) == HAFT_OK);
        }
        cr_expect(eq(int, seen.calls, round));
    }
    subject_close(&subject);
}

static struct subject *told_of;
static haft_id same;  /* of the call that told of the fill, and of the one in on_fill */
static haft_id inner; /* what the latter got */

static void insert_into_same(void)
{
    must(subject_insert(told_of, NULL, &same) == HAFT_OK);
    inner = same;
}

static void open_told(struct subject *subject, int kind)
{
    const haft_table_options options = {.capacity = CAPACITY,
                                        .object_size = 8,
                                        .warn_at = WARN_AT,
                                        .on_fill = note,
                                        .fill_arg = &seen};

    memset(&seen, 0, sizeof seen);
    seen.act = insert_into_same;
    inner = (haft_id)HAFT_NIL;
    *subject = subject_open(kind, &options);
    told_of = subject;
}

/* Each has its own id: as many are live as have come. */
static void expect_each_its_own(struct subject *subject, int count)
{
    cr_expect(eq(int, seen.calls, 1));
    must(subject_free(subject, inner) == HAFT_OK);
    for (int i = 0; i < count; i++) {
        must(subject_free(subject, seen.ids[i]) == HAFT_OK);
    }
    subject_close(subject);
}

TEST_ON_EACH_KIND(fill, leaves_the_id_of_the_insertion_that_told_it_alone)
{
    struct subject subject;

    open_told(&subject, *kind);
    for (int i = 0; i < CAPACITY - 1; i++) {
        must(subject_insert(&subject, NULL, &same) == HAFT_OK);
        seen.ids[i] = same;
    }
    expect_each_its_own(&subject, CAPACITY - 1);
}

TEST_ON_EACH_TABLE(fill, leaves_the_id_of_the_reservation_that_told_it_alone)
{
    struct subject subject;
    void *object = NULL;

    open_told(&subject, *kind);
    for (int i = 0; i < CAPACITY - 1; i++) {
        must(subject_reserve(&subject, &same, &object) == HAFT_OK);
        subject_publish(&subject, same);
        cr_expect(eq(ptr, subject_find(&subject, same), object));
        seen.ids[i] = same;
    }
    expect_each_its_own(&subject, CAPACITY - 1);
}

Test(fill, of_one_object_is_told_each_time_the_table_was_empty)
{
    open_local(HAFT_REUSE_LIFO, 1);
    insert_local(0, 2);
    free_local(1, 2);
    insert_local(1, 2);
    cr_expect(eq(int, seen.calls, 1));
    free_local(0, 2);
    insert_local(0, 1);
    cr_expect(eq(int, seen.calls, 2));
    haft_local_close(seen.local);
}

Test(fill, counts_reservations_and_restored_ids_and_exhausted_slots)
{
    const haft_local_options options = {
        .capacity = 10,
        .layout = {8, 1, 0, 0},
        .warn_at = 4,
        .on_fill = note,
        .fill_arg = &seen,
    };
    haft_id id;

    memset(&seen, 0, sizeof seen);
    assert_status(haft_local_open(&options, &seen.local), HAFT_OK);
    assert_status(haft_local_insert(seen.local, NULL, &id), HAFT_OK);
    assert_status(haft_local_free(seen.local, id), HAFT_OK); /* its only life: exhausted */
    assert_status(haft_local_insert(seen.local, NULL, &id), HAFT_OK);
    assert_status(haft_local_restore(seen.local, haft_id_pack(options.layout, 9, 1, 0), NULL),
                  HAFT_OK);
    cr_expect(zero(int, seen.calls));
    assert_status(haft_local_reserve(seen.local, &id, NULL), HAFT_OK);
    cr_expect(eq(int, seen.calls, 1));
    haft_local_close(seen.local);

    memset(&seen, 0, sizeof seen);
    assert_status(haft_local_open(&options, &seen.local), HAFT_OK);
    for (uint64_t index = 9; index < 13; index++) {
        cr_expect(zero(int, seen.calls));
        assert_status(
            haft_local_restore(seen.local, haft_id_pack(options.layout, index, 1, 0), NULL),
            HAFT_OK);
    }
    cr_expect(eq(int, seen.calls, 1));
    haft_local_close(seen.local);
}

static void clear_and_insert(void)
{
    haft_local_clear(seen.local);
    for (int i = 0; i < WARN_AT - 1; i++) {
        must(haft_local_insert(seen.local, NULL, &seen.ids[CAPACITY + i]) == HAFT_OK);
    }
}

Test(fill, of_a_local_table_may_free_and_insert)
{
    open_local(HAFT_REUSE_LIFO, WARN_AT);
    seen.act = clear_and_insert;
    insert_local(0, WARN_AT);
    cr_expect(eq(int, seen.calls, 1));
    cr_expect(eq(u64, haft_local_count(seen.local), WARN_AT - 1));
    cr_expect(not(haft_is_live(haft_local_view(seen.local), seen.ids[WARN_AT - 1])));
    haft_local_close(seen.local);
}

static void clear_all(void)
{
    haft_local_clear(seen.local);
}

static haft_id root;

static void free_root(void)
{
    must(haft_local_free(seen.local, root) == HAFT_OK);
}

static void clear_with_root(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)arg;
    if (id.bits == root.bits) {
        haft_local_clear(seen.local);
    }
}

/* With a warning at two. */
static void open_cleared_by(void (*act)(void))
{
    open_local(HAFT_REUSE_LIFO, 2);
    insert_local(0, 1);
    seen.act = act;
    root = seen.ids[0];
    haft_local_set_destroy(seen.local, act == free_root ? clear_with_root : NULL, NULL);
}

/* It is the caller's alone: no other call is given the slot. */
static void expect_reserved(haft_id id)
{
    haft_id other;
    void *object;

    cr_expect(eq(int, seen.calls, 1));
    seen.act = NULL;
    cr_expect(not(haft_is_live(haft_local_view(seen.local), root)));
    expect_status(haft_local_diagnose(seen.local, id), HAFT_RESERVED);
    cr_expect(eq(u64, haft_local_available(seen.local), CAPACITY - 1));
    haft_local_publish(seen.local, id);
    void *own = haft_resolve(haft_local_view(seen.local), id);

    cr_expect(ne(ptr, own, NULL));
    must(haft_local_reserve(seen.local, &other, &object) == HAFT_OK);
    cr_expect(ne(ptr, object, own));
    haft_local_abort(seen.local, other);
    haft_local_set_destroy(seen.local, NULL, NULL);
    haft_local_close(seen.local);
}

Test(fill, leaves_the_reservation_that_told_it_alone_where_it_clears_the_table)
{
    void (*const acts[])(void) = {clear_all, free_root};
    haft_id id;

    for (int i = 0; i < 2; i++) {
        open_cleared_by(acts[i]);
        assert_status(haft_local_reserve(seen.local, &id, NULL), HAFT_OK);
        expect_reserved(id);

        open_cleared_by(acts[i]);
        id = haft_id_pack(HAFT_LAYOUT_32_32, 50, 3, 0);
        assert_status(haft_local_reserve_at(seen.local, id, NULL), HAFT_OK);
        expect_reserved(id);
    }
}

static haft_status restored_inside;

static void trim_and_restore(void)
{
    haft_local_clear(seen.local);
    assert_status(haft_local_trim(seen.local, NULL), HAFT_OK);
    restored_inside = haft_local_restore(seen.local, root, NULL);
    insert_local(0, 1);
}

Test(fill, leaves_the_reservation_that_told_it_its_slot)
{
    open_cleared_by(trim_and_restore);
    root = haft_id_pack(HAFT_LAYOUT_32_32, 50, 3, 0);
    assert_status(haft_local_reserve_at(seen.local, root, NULL), HAFT_OK);
    expect_status(restored_inside, HAFT_OCCUPIED);
    expect_status(haft_local_diagnose(seen.local, root), HAFT_RESERVED);
    cr_expect(eq(u64, haft_local_count(seen.local), 1));
    haft_local_publish(seen.local, root);
    haft_local_close(seen.local);
}

/* --- the shared table: by batches --- */

static void open_table(uint64_t capacity, uint64_t warn_at)
{
    const haft_table_options options = {
        .name = "players",
        .capacity = capacity,
        .object_size = 8,
        .restore_range = 10,
        .warn_at = warn_at,
        .on_fill = note,
        .fill_arg = &seen,
    };

    memset(&seen, 0, sizeof seen);
    seen.shared = open_shared(MEMB_CALLER, &options);
}

static uint64_t live(void)
{
    return stats_of(seen.shared.table).live;
}

/* Insert with each of the workers in turn; how many objects were live when it was told. */
static uint64_t fill_until_told(haft_worker **workers, int count)
{
    while (seen.calls == 0) {
        for (int i = 0; i < count && seen.calls == 0; i++) {
            insert(workers[i]);
        }
        must(live() < 20000);
    }
    return live();
}

Test(fill, of_a_shared_table_is_told_within_a_batch_of_each_worker)
{
    haft_worker *workers[4];

    open_table(20000, 10000);
    workers[0] = seen.shared.worker;
    for (int i = 1; i < 4; i++) {
        workers[i] = open_worker(seen.shared.table);
    }
    const uint64_t told_at = fill_until_told(workers, 4);

    cr_expect(ge(u64, told_at, 10000));
    cr_expect(le(u64, told_at, 10000 + 4 * 128));
    cr_expect(ge(u64, seen.in_use, 10000));
    cr_expect(eq(u64, seen.capacity, 20000));
    cr_expect(eq(str, seen.table, "players"));
    for (int i = 1; i < 4; i++) {
        haft_worker_close(workers[i]);
    }
    close_shared(&seen.shared);
}

Test(fill, of_a_shared_table_is_told_again_only_after_it_fell)
{
    static haft_id ids[12000];

    open_table(20000, 10000);
    for (int i = 0; i < 12000; i++) {
        ids[i] = insert(seen.shared.worker);
    }
    cr_expect(eq(int, seen.calls, 1));
    for (int round = 2; round < 4; round++) {
        for (int i = 8000; i < 12000; i++) {
            must(haft_free(seen.shared.worker, ids[i]) == HAFT_OK);
        }
        settle(seen.shared.worker);
        for (int i = 8000; i < 12000; i++) {
            ids[i] = insert(seen.shared.worker);
        }
        cr_expect(eq(int, seen.calls, round));
    }
    for (int i = 11000; i < 12000; i++) { /* not low enough */
        must(haft_free(seen.shared.worker, ids[i]) == HAFT_OK);
    }
    settle(seen.shared.worker);
    for (int i = 11000; i < 12000; i++) {
        ids[i] = insert(seen.shared.worker);
    }
    cr_expect(eq(int, seen.calls, 3));
    close_shared(&seen.shared);
}

/* Slots that wait are a look at insertions apart: up to a batch, in which the table may fill. */
Test(fill, of_a_shared_table_is_told_again_however_few_insertions_its_fall_lasted)
{
    static haft_id ids[10000];

    open_table(20000, 100);
    for (int round = 1; round < 20; round++) {
        for (int i = 0; i < 10000; i++) {
            ids[i] = insert(seen.shared.worker);
        }
        cr_expect(eq(int, seen.calls, round));
        for (int i = 0; i < 10000; i++) {
            must(haft_free(seen.shared.worker, ids[i]) == HAFT_OK);
        }
        insert(seen.shared.worker); /* the next batches begin elsewhere */
        must(haft_worker_flush(seen.shared.worker) == HAFT_OK);
        must(haft_domain_wait(seen.shared.domain) == HAFT_OK);
    }
    close_shared(&seen.shared);
}

/* The worker holds slots for more than are warned about, so no insertion looks before they live. */
Test(fill, of_a_shared_table_is_told_again_where_only_frees_can_see_its_fall)
{
    static haft_id ids[257]; /* a batch of 128 has just been begun */

    open_table(20000, 100);
    for (int round = 1; round < 3; round++) {
        for (int i = 0; i < 257; i++) {
            ids[i] = insert(seen.shared.worker);
        }
        cr_expect(eq(int, seen.calls, round));
        for (int i = 0; i < 257; i++) {
            must(haft_free(seen.shared.worker, ids[i]) == HAFT_OK);
        }
    }
    close_shared(&seen.shared);
}

Test(fill, without_a_worker_is_told_with_the_object_that_reaches_it)
{
    haft_id id;

    open_table(CAPACITY, 10);
    for (int i = 1; i <= 12; i++) {
        assert_status(haft_insert_unregistered(seen.shared.table, NULL, &id), HAFT_OK);
        cr_expect(eq(int, seen.calls, i >= 10));
    }
    cr_expect(eq(u64, seen.in_use, 10));
    close_shared(&seen.shared);
}

/* Of the slots in use while on_fill runs. */
static haft_table_stats meanwhile;

static void note_slots(void)
{
    meanwhile = stats_of(seen.shared.table);
}

static void expect_meanwhile(uint64_t live, uint64_t reserved)
{
    cr_expect(eq(int, seen.calls, 1));
    cr_expect(eq(u64, meanwhile.live, live));
    cr_expect(eq(u64, meanwhile.reserved, reserved));
    close_shared(&seen.shared);
}

static void open_and_note_slots(void)
{
    open_table(CAPACITY, 1);
    seen.act = note_slots;
}

Test(fill, of_a_shared_table_is_told_while_the_slot_is_reserved)
{
    haft_id id;

    open_and_note_slots();
    must(haft_insert(seen.shared.worker, NULL, &id) == HAFT_OK);
    expect_meanwhile(0, 1);
    open_and_note_slots();
    must(haft_insert_unregistered(seen.shared.table, NULL, &id) == HAFT_OK);
    expect_meanwhile(0, 1);
}

Test(fill, of_a_shared_table_is_told_of_many_objects_that_are_live)
{
    haft_id ids[3];

    open_and_note_slots();
    must(haft_insert_many(seen.shared.worker, NULL, ids, 3, NULL) == 3);
    expect_meanwhile(3, 0);
}

static void *insert_without_worker(void *arg)
{
    haft_id id;

    must(haft_insert_unregistered(arg, NULL, &id) == HAFT_OK);
    return NULL;
}

/* It would never end if a lock were held. */
static void insert_on_another_thread(void)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, insert_without_worker, seen.shared.table) == 0);
    pthread_join(thread, NULL);
}

/* Marks that are passed where a batch is taken, and where none is. */
Test(fill, is_told_with_no_lock_held)
{
    haft_id id;

    for (uint64_t mark = 1; mark <= 10; mark++) {
        open_table(CAPACITY, mark);
        seen.act = insert_on_another_thread;
        for (int i = 0; i < 12; i++) {
            assert_status(haft_insert_unregistered(seen.shared.table, NULL, &id), HAFT_OK);
        }
        cr_expect(eq(int, seen.calls, 1));
        cr_expect(eq(u64, live(), 13));
        close_shared(&seen.shared);
    }
}

/* More than a batch. */
static void insert_by_the_same_worker(void)
{
    for (int i = 0; i < 300; i++) {
        seen.ids[i] = insert(seen.shared.worker);
    }
    for (int i = 0; i < 100; i++) {
        must(haft_free(seen.shared.worker, seen.ids[i]) == HAFT_OK);
    }
}

Test(fill, of_a_shared_table_may_insert_and_free_by_the_same_worker)
{
    open_table(5000, 1000);
    seen.act = insert_by_the_same_worker;
    for (int i = 0; i < 2000; i++) {
        insert(seen.shared.worker);
    }
    cr_expect(eq(int, seen.calls, 1));
    cr_expect(eq(u64, live(), 2200));
    haft_id id;

    settle(seen.shared.worker);
    while (haft_insert(seen.shared.worker, NULL, &id) == HAFT_OK) {
        /* until it is full */
    }
    cr_expect(eq(u64, live(), stats_of(seen.shared.table).limit - 10)); /* no slot has got lost */
    for (int i = 100; i < 300; i++) {
        cr_expect(haft_is_live(seen.shared.view, seen.ids[i]));
    }
    close_shared(&seen.shared);
}

Test(fill, goes_with_a_local_table_that_is_shared_and_back)
{
    open_local(HAFT_REUSE_LIFO, WARN_AT);
    const haft_domain_options domain = domain_options(MEMB_CALLER);
    struct shared shared = {0};

    insert_local(0, WARN_AT - 100);
    assert_status(haft_domain_open(&domain, &shared.domain), HAFT_OK);
    haft_thread_register(shared.domain);
    assert_status(haft_share(seen.local, shared.domain, NULL, &shared.table), HAFT_OK);
    shared.worker = open_worker(shared.table);
    for (int i = WARN_AT - 100; i < CAPACITY; i++) {
        seen.ids[i] = insert(shared.worker);
    }
    cr_expect(eq(int, seen.calls, 1));
    haft_worker_close(shared.worker);
    assert_status(haft_unshare(shared.table, &seen.local), HAFT_OK);
    free_local(LOW, CAPACITY);
    insert_local(LOW, WARN_AT);
    cr_expect(eq(int, seen.calls, 2));
    haft_local_close(seen.local);
    shared.worker = NULL;
    shared.table = NULL;
    close_shared(&shared);
}

/* --- options --- */

static void expect_refused(int kind, uint64_t warn_at, haft_on_fill *on_fill)
{
    const haft_table_options options = {.capacity = 10, .warn_at = warn_at, .on_fill = on_fill};
    struct subject subject;

    expect_status(subject_try_open(kind, &options, &subject), HAFT_BAD_WARN_AT);
}

TEST_ON_EACH_KIND(fill, above_the_capacity_or_without_its_function_is_refused)
{
    expect_refused(*kind, 11, note);
    expect_refused(*kind, UINT64_MAX, note);
    expect_refused(*kind, 5, NULL);
    expect_refused(*kind, 0, note);
}

/* --- where on_reclaim inserts --- */

#define OBJECTS 512

static struct shared shared;
static haft_id ids[OBJECTS];
static bool with_worker;
static int warnings;
static int reclaims;    /* under way */
static int in_one;      /* insertions by on_reclaim, within one of the test's */
static int most_in_one; /* so far */

static void expect_no_reclaim(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    warnings++;
    cr_expect(zero(int, reclaims), "on_fill is called in on_reclaim");
}

static haft_id insert_one(haft_worker *worker)
{
    haft_id id;

    must((with_worker ? haft_insert(worker, NULL, &id)
                      : haft_insert_unregistered(shared.table, NULL, &id)) == HAFT_OK);
    return id;
}

static void free_one(haft_id id)
{
    must((with_worker ? haft_free(shared.worker, id) : haft_free_unregistered(shared.table, id)) ==
         HAFT_OK);
}

static void insert_two(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    if (worker == NULL) {
        return; /* the table is being closed */
    }
    reclaims++;
    insert_one(worker);
    insert_one(worker); /* beyond the slot that was taken back just before */
    reclaims--;
    in_one += 2;
    most_in_one = in_one > most_in_one ? in_one : most_in_one;
}

/* While one batch is taken back, on_reclaim inserts enough objects to pass the mark. */
static void expect_silence_in_on_reclaim(int mark)
{
    const haft_table_options options = {.capacity = 100000,
                                        .object_size = 8,
                                        .warn_at = (uint64_t)mark,
                                        .on_fill = expect_no_reclaim,
                                        .on_reclaim = insert_two};

    warnings = 0;
    most_in_one = 0;
    shared = open_shared(MEMB_CALLER, &options);
    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = insert_one(shared.worker);
    }
    cr_expect(eq(int, warnings, 1));
    for (int i = 0; i < OBJECTS; i++) {
        free_one(ids[i]);
    }
    settle(shared.worker);
    in_one = 0;
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    for (int i = 0; i < OBJECTS; i++) {
        in_one = 0;
        insert_one(shared.worker);
    }
    cr_expect(lt(int, mark, most_in_one));
    close_shared(&shared);
}

/* With a worker, and with a borrowed one. */
Test(fill_reclaim, on_fill_is_not_called_in_on_reclaim)
{
    /* More than a batch has slots: 128, or 1 of a borrowed worker. */
    expect_silence_in_on_reclaim(6);
    with_worker = true;
    expect_silence_in_on_reclaim(200);
}

/* --- an insertion by on_fill that is refused --- */

static haft_worker *refused; /* through which on_fill inserts; NULL: not now */
static int refusals;         /* insertions by on_fill that were told HAFT_BUSY */
static bool reclaimed_by_refused;

static void insert_in_vain(const haft_fill *fill, void *arg)
{
    haft_id id;

    (void)fill;
    (void)arg;
    refusals += refused != NULL && haft_insert(refused, NULL, &id) == HAFT_BUSY;
}

static void note_worker(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    reclaimed_by_refused = reclaimed_by_refused || (worker != NULL && worker == refused);
    reclaims++;
}

/* Two slots wait for their grace period, and two are in use. */
static void fill_small_table(haft_worker *first, haft_worker *second)
{
    for (int i = 0; i < 2; i++) {
        must(haft_insert(first, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 2; i++) {
        must(haft_free(second, ids[i]) == HAFT_OK);
        must(haft_worker_flush(second) == HAFT_OK);
    }
    refused = first;
    for (int i = 0; i < 2; i++) {
        must(haft_insert(first, NULL, &ids[i]) == HAFT_OK);
    }
}

Test(fill_reclaim, refused_insertion_of_on_fill_leaves_nothing_to_its_worker)
{
    const haft_table_options options = {.capacity = 4,
                                        .object_size = 8,
                                        .layout = {3, 20, 0, 0},
                                        .warn_at = 2,
                                        .on_fill = insert_in_vain,
                                        .on_reclaim = note_worker};

    shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_FRAME}, &options);
    haft_worker *first = open_worker(shared.table);

    fill_small_table(first, shared.worker);
    assert_status(haft_worker_close(first), HAFT_OK);
    haft_domain_tick(shared.domain);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);

    cr_assert(eq(int, refusals, 1), "on_fill found no slot");
    cr_expect(eq(int, reclaims, 2));
    cr_expect(not(reclaimed_by_refused), "on_reclaim is given a worker that is closed");
    close_shared(&shared);
}
