/* First generations drawn by chance. */
#include "tests/support.h"
#include <haft/share.h>

TestSuite(random_first, .timeout = SUITE_SECONDS);

static uint64_t first_of(int kind, haft_layout layout)
{
    struct subject subject = subject_open(
        kind, &(haft_table_options){
                  .capacity = 1, .layout = layout, .first_generation = HAFT_RANDOM_GENERATION});
    haft_id id;

    assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    cr_expect(not(haft_id_is_nil(id)));
    subject_close(&subject);
    return haft_id_generation(layout, id);
}

TEST_ON_EACH_KIND(random_first, lies_in_the_lower_half_and_differs_from_table_to_table)
{
    uint64_t same = 0;
    uint64_t last = 0;

    for (int i = 0; i < 100; i++) {
        const uint64_t first = first_of(*kind, HAFT_LAYOUT_32_32);

        must(first >= 1 && first <= UINT64_C(1) << 31);
        same += first == last;
        last = first;
        must(first_of(*kind, HAFT_LAYOUT_OF(10, 2, 0)) <= 2);
        must(first_of(*kind, HAFT_LAYOUT_OF(12, 1, 0)) == 1);
    }
    cr_expect(le(u64, same, 1));
}

Test(random_first, is_kept_by_sharing_and_taking_back)
{
    const haft_local_options options = {.capacity = 10, .first_generation = HAFT_RANDOM_GENERATION};
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 300});
    haft_local *local = local_open(&options);
    haft_table *table;
    haft_id id;

    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    const uint64_t first = haft_id_generation(HAFT_LAYOUT_32_32, id);

    assert_status(haft_share(local, shared.domain, NULL, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, insert(worker)), first));
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, id), first));
    haft_local_close(local);
    close_shared(&shared);
}
