/* The option huge_pages: what the system is asked for, and that tables work as without it. */
#include "tests/support.h"
#include <haft/kit/snapshot.h>
#include <string.h>

TestSuite(huge_pages, .timeout = SUITE_SECONDS);

#define OBJECTS 200000

static void expect_flags(int kind, bool huge_pages, const char *has, const char *has_not)
{
    const haft_table_options options = {
        .capacity = 1 << 20, .object_size = 56, .huge_pages = huge_pages};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);

    cr_expect(mapping_has_flag(subject.view.base, has));
    cr_expect(not(mapping_has_flag(subject.view.base, has_not)));
}

TEST_ON_EACH_TABLE(huge_pages, are_asked_for_with_the_option_and_declined_without)
{
    expect_flags(*kind, true, "hg", "nh");
    expect_flags(*kind, false, "nh", "hg");
}

/* Its slots lie in the heap, whose pages are others' too. */
TEST_ON_EACH_TABLE(huge_pages, are_not_asked_for_by_a_small_table)
{
    const haft_table_options options = {.capacity = 10, .object_size = 56, .huge_pages = true};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    cr_expect(not(mapping_has_flag(subject.view.base, "hg")));
}

Test(huge_pages, are_asked_for_by_a_clone_too)
{
    const haft_local_options options = {.capacity = 1 << 20, .object_size = 56, .huge_pages = true};
    AT_END(local_end) haft_local *local = local_open(&options);
    AT_END(local_end) haft_local *clone;

    assert_status(haft_local_clone(local, &clone), HAFT_OK);
    cr_expect(mapping_has_flag(haft_local_view(clone).base, "hg"));
}

TEST_ON_EACH_TABLE(huge_pages, objects_on_them_live_and_die_as_on_others)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = sizeof(int), .huge_pages = true};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    static haft_id ids[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        must(subject_insert(&subject, &i, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(*(int *)haft_resolve(subject.view, ids[i]) == i);
        must(subject_free(&subject, ids[i]) == HAFT_OK);
        must(haft_resolve(subject.view, ids[i]) == NULL);
    }
    cr_expect(zero(u64, subject_live(&subject)));
}

Test(huge_pages, trimmed_go_back_by_parts_and_all_ids_stay_stale)
{
    const haft_local_options options = {.capacity = OBJECTS, .object_size = 56, .huge_pages = true};
    const uint64_t bytes = OBJECTS * UINT64_C(64);
    static haft_id ids[OBJECTS];
    haft_local *local = local_open(&options);
    uint64_t released;

    local_insert_each(local, ids, OBJECTS);
    for (int i = 1; i < OBJECTS; i++) {
        must(haft_local_free(local, ids[i]) == HAFT_OK);
    }
    expect_status(haft_local_trim(local, &released), HAFT_OK);
    cr_expect(lt(u64, bytes / 100 * 99, released));
    cr_expect(haft_is_live(haft_local_view(local), ids[0])); /* on the first huge page of all */
    for (int i = 1; i < OBJECTS; i++) {
        haft_id id;

        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(haft_local_diagnose(local, ids[i]) == HAFT_STALE);
    }
    haft_local_close(local);
    expect_no_leaks();
}
