/*
 * bench/churn.cc - what an object's life costs: insert and free, 1 to 8 threads on one table.
 * The workload is described in bench/churn.h.
 *
 * Beside the throughput stands peak_slots, the slots that the table ever used: a clock that lets
 * garbage pile up is fast until memory runs out.
 */
#include "bench/churn.h"

void bench::add_cases()
{
    add_churn<Mutex>("mutex");
    add_churn<Local>("haft_local", 1);
    add_churn<Workers>("haft_workers");
    add_churn<QsbrCaller>("haft_qsbr_caller");
    add_churn<QsbrThread>("haft_qsbr_thread");
    add_churn<MembCaller>("haft_memb_caller");
    add_churn<MembThread>("haft_memb_thread");
}
