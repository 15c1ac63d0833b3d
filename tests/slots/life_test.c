/* The life of an object, in every kind of table: reserve, publish, abort, insert, free. */
#include "tests/support.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(reserve, .timeout = SUITE_SECONDS);
TestSuite(abort_, .timeout = SUITE_SECONDS);
TestSuite(insert, .timeout = SUITE_SECONDS);
TestSuite(life, .timeout = SUITE_SECONDS);
TestSuite(free_, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 10, .object_size = 16};
static const char sixteen[16] = "fifteen letters";

#define LIMIT 64 /* more than a table of 10 ever holds */

TEST_ON_EACH_RESERVING(reserve, a_reserved_id_is_not_live_before_publish)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    void *object = NULL;
    haft_id id;

    assert_status(subject_reserve(&subject, &id, &object), HAFT_OK);
    cr_expect(not(subject_is_live(&subject, id)));
    cr_expect(eq(ptr, subject_find(&subject, id), NULL));
    expect_status(subject_diagnose(&subject, id), HAFT_RESERVED);
    memcpy(object, sixteen, sizeof sixteen);
    subject_publish(&subject, id);
    cr_expect(subject_is_live(&subject, id));
    cr_expect(eq(ptr, subject_find(&subject, id), object));
    cr_expect(eq(str, (char *)object, (char *)sixteen));
}

TEST_ON_EACH_RESERVING(reserve, a_full_table_refuses_and_leaves_id_and_object_alone)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];
    const uint64_t count = subject_fill(&subject, ids, LIMIT);
    haft_id id = {0x5a5a};
    void *object = &id;

    cr_assert(ge(u64, count, 10));
    cr_assert(lt(u64, count, LIMIT));
    expect_status(subject_reserve(&subject, &id, &object), HAFT_FULL);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, &id));
    cr_expect(eq(u64, subject_live(&subject), count));
}

TEST_ON_EACH_RESERVING(reserve, a_table_full_of_reservations_is_full)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];
    int count = 0;

    while (count < LIMIT && subject_reserve(&subject, &ids[count], NULL) == HAFT_OK) {
        count++;
    }
    cr_expect(ge(int, count, 10));
    expect_status(subject_insert(&subject, NULL, &ids[0]), HAFT_FULL);
    cr_expect(eq(u64, subject_live(&subject), 0));
    for (int i = 0; i < count; i++) {
        subject_abort(&subject, ids[i]);
    }
    subject_settle(&subject);
    cr_expect(ge(u64, subject_fill(&subject, ids, LIMIT), 10));
}

TEST_ON_EACH_KIND(reserve, a_table_filled_freed_and_filled_again_holds_its_capacity)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];

    for (int round = 0; round < 100; round++) {
        const uint64_t count = subject_fill(&subject, ids, LIMIT);

        must(count >= 10 && count < LIMIT);
        subject_free_each(&subject, ids, (int)count);
        subject_settle(&subject);
    }
}

/* --- abort --- */

TEST_ON_EACH_RESERVING(abort_, the_id_is_stale_for_ever)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id given_up;
    haft_id ids[LIMIT];

    assert_status(subject_reserve(&subject, &given_up, NULL), HAFT_OK);
    subject_abort(&subject, given_up);

    cr_expect(not(subject_is_live(&subject, given_up)));
    expect_status(subject_diagnose(&subject, given_up), HAFT_STALE);
    expect_status(subject_free(&subject, given_up), HAFT_STALE);
    subject_settle(&subject);
    const uint64_t count = subject_fill(&subject, ids, LIMIT);

    for (uint64_t i = 0; i < count; i++) {
        cr_expect(not(haft_id_equal(ids[i], given_up)));
    }
    cr_expect(not(subject_is_live(&subject, given_up)));
}

TEST_ON_EACH_RESERVING(abort_, a_million_in_turn_use_no_more_slots)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    uint32_t highest = 0;
    haft_id id;

    for (int i = 0; i < 1000000; i++) {
        if (i % 8 == 0) {
            subject_settle(&subject);
        }
        must(subject_reserve(&subject, &id, NULL) == HAFT_OK);
        highest = haft_id_index(HAFT_LAYOUT_32_32, id) > highest
                      ? haft_id_index(HAFT_LAYOUT_32_32, id)
                      : highest;
        subject_abort(&subject, id);
    }
    cr_expect(lt(u32, highest, 4 + 20));
    cr_expect(eq(u64, subject_live(&subject), 0));
}

/* --- insert --- */

#define NEIGHBOURS 40

static haft_status insert_bytes(struct subject *subject, size_t size, int seed, haft_id *id)
{
    unsigned char object[256];

    for (size_t b = 0; b < size; b++) {
        object[b] = (unsigned char)(b * 7 + (size_t)seed);
    }
    return subject_insert(subject, object, id);
}

static bool has_bytes(const struct subject *subject, size_t size, int seed, haft_id id)
{
    const unsigned char *object = subject_find(subject, id);
    bool same = object != NULL;

    for (size_t b = 0; same && b < size; b++) {
        same = object[b] == (unsigned char)(b * 7 + (size_t)seed);
    }
    return same;
}

/* Fresh slots, then every second one again, between others that stay live. */
static void expect_copied(int kind, size_t size)
{
    const haft_table_options sized = {.capacity = NEIGHBOURS, .object_size = size};
    AT_END(subject_close) struct subject subject = subject_open(kind, &sized);
    haft_id ids[3 * NEIGHBOURS];
    int count = 0;

    while (insert_bytes(&subject, size, count, &ids[count]) == HAFT_OK) {
        count++;
    }
    must(count >= NEIGHBOURS);
    for (int i = 0; i < count; i += 2) {
        must(subject_free(&subject, ids[i]) == HAFT_OK);
    }
    subject_settle(&subject);
    for (int i = 0; i < count; i += 2) {
        must(insert_bytes(&subject, size, i, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < count; i++) {
        must(has_bytes(&subject, size, i, ids[i]));
    }
}

TEST_ON_EACH_KIND(insert, copies_objects_of_every_size_to_the_byte)
{
    for (size_t size = 0; size <= 200; size++) {
        expect_copied(*kind, size);
    }
}

TEST_ON_EACH_KIND(insert, null_gives_zeros_where_another_object_was)
{
    static const char zeros[16];
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];
    const uint64_t count = subject_fill(&subject, ids, LIMIT);

    for (uint64_t i = 0; i < count; i++) {
        memset(subject_find(&subject, ids[i]), 0xff, 16);
        assert_status(subject_free(&subject, ids[i]), HAFT_OK);
    }
    subject_settle(&subject);
    for (uint64_t i = 0; i < 10; i++) {
        assert_status(subject_insert(&subject, NULL, &ids[i]), HAFT_OK);
        must(memcmp(subject_find(&subject, ids[i]), zeros, 16) == 0);
    }
}

TEST_ON_EACH_KIND(insert, an_allocator_of_ids_alone_gives_distinct_ids)
{
    const haft_table_options no_objects = {.capacity = 1000};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &no_objects);
    static bool met[4096];
    haft_id id;

    for (int i = 0; i < 1000; i++) {
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
        must(subject_find(&subject, id) != NULL);
        must(!met[haft_id_index(HAFT_LAYOUT_32_32, id)]);
        met[haft_id_index(HAFT_LAYOUT_32_32, id)] = true;
    }
    cr_expect(eq(u64, subject_live(&subject), 1000));
}

TEST_ON_EACH_KIND(insert, never_issues_an_id_twice)
{
    const haft_table_options tiny = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 8, 0)};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &tiny);
    static bool issued[1 << 11];
    int count = 0;
    haft_id id;

    while (subject_insert(&subject, NULL, &id) == HAFT_OK) {
        must(!issued[id.bits]);
        issued[id.bits] = true;
        count++;
        must(subject_free(&subject, id) == HAFT_OK);
        subject_settle(&subject);
    }
    cr_expect(eq(int, count, 4 * 255)); /* every slot, every generation from 1 */
}

TEST_ON_EACH_KIND(insert, a_full_table_refuses_and_leaves_the_id_alone)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];
    const uint64_t count = subject_fill(&subject, ids, LIMIT);
    haft_id id = {0x5a5a};

    cr_assert(ge(u64, count, 10));
    cr_assert(lt(u64, count, LIMIT));
    must(*kind == SHARED || count == 10); /* its capacity, exactly */
    expect_status(subject_insert(&subject, sixteen, &id), HAFT_FULL);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(u64, subject_live(&subject), count));
    assert_status(subject_free(&subject, ids[3]), HAFT_OK);
    subject_settle(&subject);
    expect_status(subject_insert(&subject, sixteen, &id), HAFT_OK);
    expect_status(subject_insert(&subject, sixteen, &id), HAFT_FULL);
}

/* --- free --- */

TEST_ON_EACH_KIND(free_, second_free_of_an_id_is_stale)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_insert(&subject, sixteen, &id), HAFT_OK);
    const haft_status first = subject_free(&subject, id);
    const haft_status second = subject_free(&subject, id);

    expect_status(first, HAFT_OK);
    expect_status(second, HAFT_STALE);
    cr_expect(eq(u64, subject_live(&subject), 0));
}

/* Use up all slots, so that the slot of `old` has a new tenant; its id. */
static haft_id refill(struct subject *subject, haft_id old, haft_id *ids)
{
    subject_settle(subject);
    const uint64_t count = subject_fill(subject, ids, LIMIT);

    for (uint64_t i = 0; i < count; i++) {
        if (haft_id_index(HAFT_LAYOUT_32_32, ids[i]) == haft_id_index(HAFT_LAYOUT_32_32, old)) {
            return ids[i];
        }
    }
    cr_fatal("the slot was not reused");
    return HAFT_NIL;
}

TEST_ON_EACH_KIND(free_, a_stale_id_or_a_neighbouring_generation_leaves_the_new_tenant_alone)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[LIMIT];
    haft_id old;

    assert_status(subject_insert(&subject, NULL, &old), HAFT_OK);
    assert_status(subject_free(&subject, old), HAFT_OK);
    const haft_id tenant = refill(&subject, old, ids);
    const haft_id later = {tenant.bits + (UINT64_C(1) << 32)};
    const haft_id earlier = {tenant.bits - (UINT64_C(1) << 32)};
    const uint64_t live = subject_live(&subject);

    cr_assert(ne(u64, tenant.bits, old.bits));
    expect_status(subject_free(&subject, old), HAFT_STALE);
    expect_status(subject_free(&subject, earlier), HAFT_STALE);
    expect_status(subject_free(&subject, later), HAFT_NEVER_ISSUED);
    cr_expect(subject_is_live(&subject, tenant));
    cr_expect(eq(u64, subject_live(&subject), live));
    expect_status(subject_free(&subject, tenant), HAFT_OK);
}

TEST_ON_EACH_RESERVING(free_, a_reserved_id_is_refused_and_can_still_be_published)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id id;

    assert_status(subject_reserve(&subject, &id, NULL), HAFT_OK);
    expect_status(subject_free(&subject, id), HAFT_RESERVED);
    subject_publish(&subject, id);
    cr_expect(subject_is_live(&subject, id));
    expect_status(subject_free(&subject, id), HAFT_OK);
}

TEST_ON_EACH_KIND(free_, alloc_and_free_a_million_times_does_not_grow_the_table)
{
    const haft_table_options large = {.capacity = 1000000, .object_size = 16};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &large);
    uint32_t highest = 0;
    haft_id id;

    for (int i = 0; i < 1000000; i++) {
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
        highest = haft_id_index(HAFT_LAYOUT_32_32, id) > highest
                      ? haft_id_index(HAFT_LAYOUT_32_32, id)
                      : highest;
        must(subject_free(&subject, id) == HAFT_OK);
        if (*kind == SHARED && i % 4096 == 0) {
            must(haft_worker_quiescent(subject.shared.worker) == HAFT_OK);
        }
    }
    cr_expect(lt(u32, highest, *kind == SHARED ? 4 + 16384 : 5));
}

TEST_ON_EACH_KIND(free_, an_id_freed_long_ago_stays_stale_through_many_lives)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id old[1000];

    for (int i = 0; i < 1000; i++) {
        must(subject_insert(&subject, NULL, &old[i]) == HAFT_OK);
        must(subject_free(&subject, old[i]) == HAFT_OK);
        subject_settle(&subject);
    }
    for (int i = 0; i < 1000; i++) {
        must(subject_free(&subject, old[i]) == HAFT_STALE);
        must(subject_diagnose(&subject, old[i]) == HAFT_STALE);
        must(subject_find(&subject, old[i]) == NULL);
    }
    cr_expect(eq(u64, subject_live(&subject), 0));
}

/* --- fork: shared tables have tests of their own --- */

static bool change_as_child(struct subject *subject, haft_id freed, haft_id kept)
{
    haft_id id = HAFT_NIL;
    const bool right =
        subject_free(subject, freed) == HAFT_OK && subject_insert(subject, NULL, &id) == HAFT_OK;

    memset(subject_find(subject, kept), 'x', 8);
    return right && subject_is_live(subject, id) && !subject_is_live(subject, freed);
}

TEST_ON_EACH_KIND(life, after_a_fork_child_and_parent_each_go_on_with_a_table_of_their_own)
{
    struct subject subject = subject_open(*kind == SHARED ? LOCAL : *kind, &options);
    haft_id ids[2];
    int status = -1;

    must(subject_insert(&subject, sixteen, &ids[0]) == HAFT_OK);
    must(subject_insert(&subject, sixteen, &ids[1]) == HAFT_OK);
    const pid_t child = fork();

    if (child == 0) {
        _exit(change_as_child(&subject, ids[0], ids[1]) ? 0 : 1);
    }
    cr_assert(lt(int, 0, child));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status));
    cr_expect(subject_is_live(&subject, ids[0]));
    cr_expect(eq(str, subject_find(&subject, ids[1]), (char *)sixteen));
    cr_expect(eq(u64, subject_live(&subject), 2));
    expect_status(subject_free(&subject, ids[0]), HAFT_OK);
    subject_close(&subject);
}
