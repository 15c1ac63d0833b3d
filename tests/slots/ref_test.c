/* Refs: an id with the place it leads to.  Both kinds of table, unless it says otherwise. */
#include "tests/table/level.h"
#include <haft/view.h>
#include <string.h>

TestSuite(ref, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100, .object_size = sizeof(uint64_t)};

static haft_id insert_value(struct subject *subject, uint64_t value)
{
    haft_id id = HAFT_NIL;

    assert_status(subject_insert(subject, &value, &id), HAFT_OK);
    return id;
}

static void expect_nil(haft_ref ref)
{
    cr_expect(haft_id_is_nil(haft_ref_id(ref)));
    cr_expect(not(haft_ref_is_live(ref)));
    cr_expect(zero(ptr, haft_ref_get(ref)));
}

Test(ref, takes_an_id_and_a_pointer_16_bytes)
{
    cr_expect(eq(sz, sizeof(haft_ref), sizeof(haft_id) + sizeof(void *)));
}

Test(ref, zeroed_memory_is_a_nil_ref)
{
    haft_ref ref;

    memset(&ref, 0, sizeof ref);
    expect_nil(ref);
}

TEST_ON_EACH_TABLE(ref, of_a_live_id_leads_to_what_resolve_finds)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id id = insert_value(&subject, 7);
    const haft_ref ref = haft_ref_of(subject.view, id);

    cr_expect(haft_id_equal(haft_ref_id(ref), id));
    cr_expect(haft_ref_is_live(ref));
    cr_expect(eq(ptr, haft_ref_get(ref), haft_resolve(subject.view, id)));
    cr_expect(eq(u64, *(uint64_t *)haft_ref_get(ref), 7));
}

TEST_ON_EACH_TABLE(ref, of_an_id_that_is_not_live_is_nil)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id stale = insert_value(&subject, 7);
    haft_id reserved;

    assert_status(subject_free(&subject, stale), HAFT_OK);
    assert_status(subject_reserve(&subject, &reserved, NULL), HAFT_OK);
    expect_nil(haft_ref_of(subject.view, HAFT_NIL));
    expect_nil(haft_ref_of(subject.view, stale));
    expect_nil(haft_ref_of(subject.view, reserved));
    expect_nil(haft_ref_of(subject.view, (haft_id){stale.bits + 1}));
    expect_nil(haft_ref_of(subject.view, (haft_id){UINT64_MAX}));
    subject_abort(&subject, reserved);
}

TEST_ON_EACH_TABLE(ref, of_a_freed_object_gets_null_also_when_its_slot_lives_again)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id id = insert_value(&subject, 7);
    const haft_ref ref = haft_ref_of(subject.view, id);
    bool again = false;

    assert_status(subject_free(&subject, id), HAFT_OK);
    cr_expect(zero(ptr, haft_ref_get(ref)));
    cr_expect(not(haft_ref_is_live(ref)));
    cr_expect(haft_id_equal(haft_ref_id(ref), id));
    subject_settle(&subject);
    for (int i = 0; i < 100; i++) {
        again |= (uint32_t)insert_value(&subject, 8).bits == (uint32_t)id.bits;
    }
    cr_expect(again);
    cr_expect(zero(ptr, haft_ref_get(ref)));
    cr_expect(not(haft_ref_is_live(ref)));
}

TEST_ON_EACH_TABLE(ref, its_id_can_be_asked_after_the_table_has_been_closed)
{
    struct subject subject = subject_open(*kind, &options);
    const haft_id id = insert_value(&subject, 7);
    const haft_ref ref = haft_ref_of(subject.view, id);

    subject_close(&subject);
    cr_expect(haft_id_equal(haft_ref_id(ref), id));
}

/* The last life's end, and what comes of a slot that is never used again. */
TEST_ON_EACH_TABLE(ref, of_the_last_life_goes_stale_with_it)
{
    const haft_table_options few = {.capacity = 1, .layout = {8, 1, 0, 0}, .object_size = 8};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &few);
    const haft_id id = insert_value(&subject, 7);
    const haft_ref ref = haft_ref_of(subject.view, id);

    cr_expect(eq(u64, *(uint64_t *)haft_ref_get(ref), 7));
    assert_status(subject_free(&subject, id), HAFT_OK);
    cr_expect(zero(ptr, haft_ref_get(ref)));
    subject_settle(&subject);
    cr_expect(zero(ptr, haft_ref_get(ref)));
}

/* A freed object stays readable until the section ends, the ref that led to it does not lead on. */
TEST_ON_EACH_CLOCK(ref, got_in_a_section_keeps_its_object_until_the_section_ends)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const uint64_t value = 7;
    haft_id id;

    assert_status(haft_insert(shared.worker, &value, &id), HAFT_OK);
    const haft_ref ref = haft_ref_of(shared.view, id);

    haft_section_begin(shared.domain);
    const uint64_t *object = haft_ref_get(ref);

    cr_assert(not(zero(ptr, (void *)object)));
    assert_status(haft_free(shared.worker, id), HAFT_OK);
    for (int i = 0; i < 1000; i++) {
        const uint64_t other = 8;
        haft_id next;

        if (haft_insert(shared.worker, &other, &next) == HAFT_OK) {
            cr_expect(ne(ptr, haft_resolve(shared.view, next), (void *)object));
            haft_free(shared.worker, next);
        }
    }
    cr_expect(eq(u64, *object, 7));
    cr_expect(zero(ptr, haft_ref_get(ref)));
    haft_section_end(shared.domain);
}

Test(ref, stays_good_through_sharing_and_back)
{
    static struct level level;

    level = open_level(MEMB_CALLER, &level_options);
    fill(&level, 10);
    const haft_ref kept = haft_ref_of(level.view, level.ids[3]);
    void *object = haft_ref_get(kept);

    share_level(&level);
    cr_expect(eq(ptr, haft_ref_get(kept), object));
    unshare_level(&level);
    cr_expect(eq(ptr, haft_ref_get(kept), object));
    assert_status(haft_local_free(level.local, level.ids[3]), HAFT_OK);
    cr_expect(zero(ptr, haft_ref_get(kept)));
    close_level(&level);
}

Test(ref, stays_good_through_trim_and_stale_if_stale)
{
    enum { MANY = 10000 };
    static haft_ref refs[MANY];
    const haft_local_options local_options = {.capacity = MANY, .object_size = 8};
    AT_END(local_end) haft_local *local = local_open(&local_options);
    uint64_t released;
    haft_id id;

    for (uint64_t i = 0; i < MANY; i++) {
        assert_status(haft_local_insert(local, &i, &id), HAFT_OK);
        refs[i] = haft_ref_of(haft_local_view(local), id);
    }
    for (uint64_t i = 1; i < MANY; i++) {
        must(haft_local_free(local, haft_ref_id(refs[i])) == HAFT_OK);
    }
    assert_status(haft_local_trim(local, &released), HAFT_OK);
    cr_expect(lt(u64, 0, released));
    cr_expect(eq(u64, *(uint64_t *)haft_ref_get(refs[0]), 0));
    for (uint64_t i = 1; i < MANY; i++) {
        must(haft_ref_get(refs[i]) == NULL);
    }
}
