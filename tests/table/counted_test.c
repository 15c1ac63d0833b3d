/* What is counted besides objects and slots: haft/diagnose.h, and refused frees. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/threads.h>

TestSuite(counted, .timeout = SUITE_SECONDS);

Test(counted, resolve_finds_what_resolve_finds_and_counts_the_rest)
{
    struct shared shared =
        open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10, .object_size = 8});
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    cr_expect(eq(ptr, haft_resolve_counted(shared.worker, shared.view, id),
                 haft_resolve(shared.view, id)));
    cr_expect(eq(u64, stats_of(shared.table).stale_resolves, 0));
    cr_expect(eq(ptr, haft_resolve_counted(shared.worker, shared.view, HAFT_NIL), NULL));
    haft_section_end(shared.domain);
    haft_count_stale(shared.worker);
    cr_expect(eq(u64, stats_of(shared.table).stale_resolves, 2));
    close_shared(&shared);
}

Test(counted, refused_frees_are_counted_with_a_worker_and_without)
{
    struct shared shared =
        open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10, .object_size = 8});
    const haft_id id = insert(shared.worker);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).refused_frees, 0));
    assert_status(haft_free(shared.worker, id), HAFT_STALE);
    assert_status(haft_free_unregistered(shared.table, id), HAFT_STALE);
    assert_status(haft_free(shared.worker, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, stats_of(shared.table).refused_frees, 3));
    cr_expect(eq(u64, stats_of(shared.table).created, 1));
    cr_expect(eq(u64, stats_of(shared.table).freed, 1));
    close_shared(&shared);
}
