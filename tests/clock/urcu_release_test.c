/* liburcu's clocks in a program whose own files are compiled as for release. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include "tests/support.h"
#include <haft/urcu.h>

TestSuite(urcu_release, .timeout = SUITE_SECONDS);

Test(urcu_release, a_worker_opened_while_offline_is_online_until_it_is_closed)
{
    const haft_foreign_clock *qsbr = haft_urcu_qsbr();
    const haft_domain_options options = {.foreign_clock = qsbr, .clock = HAFT_CLOCK_CALLER};
    AT_END(domain_end) haft_domain *domain;
    AT_END(table_end) haft_table *table;

    must(haft_domain_open(&options, &domain) == HAFT_OK);
    must(haft_table_open(domain, &(haft_table_options){.capacity = 8}, &table) == HAFT_OK);
    haft_thread_register(domain);
    haft_thread_offline(domain);
    haft_worker *worker = open_worker(table);

    cr_expect(qsbr->inside(qsbr->ctx), "what the thread resolves is protected");
    expect_status(haft_worker_close(worker), HAFT_OK);
    cr_expect(not(qsbr->inside(qsbr->ctx)), "offline again");
    haft_thread_unregister(domain);
}
