/* Resolving many at once. */
#include "tests/support.h"

TestSuite(resolve_many, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 300, .object_size = 8};

/* What resolve_many says of `count` ids equals what resolve says of each. */
static void expect_as_single(haft_view view, const haft_id *ids, size_t count)
{
    void *objects[301];
    void *const guard = &objects;
    size_t live = 0;

    objects[count] = guard;
    const size_t found = haft_resolve_many(view, ids, objects, count);

    for (size_t i = 0; i < count; i++) {
        must(objects[i] == haft_resolve(view, ids[i]));
        live += objects[i] != NULL;
    }
    must(found == live);
    must(objects[count] == guard);
}

TEST_ON_EACH_TABLE(resolve_many, gives_what_resolve_gives_for_each_of_0_to_300_ids)
{
    struct subject subject = subject_open(*kind, &options);
    uint64_t seed = 5;
    haft_id ids[300];

    for (int i = 0; i < 300; i++) {
        must(subject_insert(&subject, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 300; i++) {
        switch (random_next(&seed) % 4) {
        case 0:
            must(subject_free(&subject, ids[i]) == HAFT_OK);
            break;
        case 1:
            ids[i].bits = random_next(&seed);
            break;
        default:
            break;
        }
    }
    ids[7] = HAFT_NIL;
    for (size_t count = 0; count <= 300; count++) {
        expect_as_single(subject.view, ids, count);
    }
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(resolve_many, of_no_ids_needs_no_arrays)
{
    struct subject subject = subject_open(*kind, &options);

    cr_expect(eq(sz, haft_resolve_many(subject.view, NULL, NULL, 0), 0));
    subject_close(&subject);
}

TEST_ON_EACH_TABLE(resolve_many, the_same_id_may_stand_in_it_often)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[100];
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    for (int i = 0; i < 100; i++) {
        ids[i] = id;
    }
    expect_as_single(subject.view, ids, 100);
    subject_close(&subject);
}
