/* First generations drawn by chance. */
#include "tests/support.h"
#include <haft/kit/packed.h>
#include <haft/share.h>

TestSuite(random_first, .timeout = SUITE_SECONDS);

static uint64_t local_first(haft_layout layout)
{
    const haft_local_options options = {
        .capacity = 1, .layout = layout, .random_first_generation = true};
    haft_local *local;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    cr_expect(not(haft_id_is_nil(id)));
    haft_local_close(local);
    return haft_id_generation(layout, id);
}

Test(random_first, lies_in_the_lower_half_and_differs_from_table_to_table)
{
    const haft_layout layout = HAFT_LAYOUT_32_32;
    uint64_t same = 0;
    uint64_t last = 0;

    for (int i = 0; i < 100; i++) {
        const uint64_t first = local_first(layout);

        must(first >= 1 && first <= UINT64_C(1) << 31);
        same += first == last;
        last = first;
        must(local_first(HAFT_LAYOUT_OF(10, 2, 0)) <= 2);
        must(local_first(HAFT_LAYOUT_OF(12, 1, 0)) == 1);
    }
    cr_expect(le(u64, same, 1));
}

Test(random_first, is_kept_by_sharing_and_taking_back)
{
    const haft_local_options options = {.capacity = 10, .random_first_generation = true};
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 300});
    haft_local *local;
    haft_table *table;
    haft_id id;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
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

Test(random_first, shared_and_packed_tables_have_it_too)
{
    const haft_table_options options = {.capacity = 10, .random_first_generation = true};
    const haft_packed_options packed_options = {
        .capacity = 10, .object_size = 8, .random_first_generation = true};
    struct shared first = open_shared(MEMB_CALLER, &options);
    haft_table *second;
    haft_packed *packed;
    haft_id id;

    assert_status(haft_table_open(first.domain, &options, &second), HAFT_OK);
    haft_worker *worker = open_worker(second);

    cr_expect(ne(u64, insert(first.worker).bits, insert(worker).bits)); /* but one time in 2^31 */
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(second) == HAFT_OK);
    close_shared(&first);
    assert_status(haft_packed_open(&packed_options, &packed), HAFT_OK);
    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    cr_expect(lt(u64, 1, haft_id_generation(HAFT_LAYOUT_32_32, id))); /* but one time in 2^31 */
    haft_packed_close(packed);
}

Test(random_first, a_first_generation_given_as_well_is_refused)
{
    const haft_local_options options = {
        .capacity = 10, .first_generation = 1, .random_first_generation = true};
    haft_local *local = NULL;

    expect_status(haft_local_open(&options, &local), HAFT_BAD_FIRST_GENERATION);
    cr_expect(eq(ptr, local, NULL));
}
