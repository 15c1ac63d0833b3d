/*
 * bench/churn.cc - what an object's life costs: insert and free, 1 to 8 threads on one table.
 * The workload is described in bench/churn.h.
 *
 * Beside the throughput stands peak_slots, the slots that the table ever used: a clock that lets
 * garbage pile up is fast until memory runs out.  malloc and mimalloc are allocation alone.
 */
#include "bench/churn.h"
#include "bench/allocated.h"
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/one_cas.h"

void bench::add_cases()
{
    add_churn<OneCas>("one_cas", 1);
    add_churn<OneCasInlined>("one_cas_inlined", 1);
    add_churn<Mutex>("mutex");
    add_churn<SpinLock>("spin_lock");
    add_churn<Local>("haft_local", 1);
    add_churn<Workers>("haft_workers");
    add_churn<Typed>("haft_typed_workers");
    add_churn<Many>("haft_many_workers", 1);
    add_churn<QsbrCaller>("haft_qsbr_caller");
    add_churn<QsbrThread>("haft_qsbr_thread");
    add_churn<MembCaller>("haft_memb_caller");
    add_churn<MembThread>("haft_memb_thread");
    add_churn<Counted>("haft_counted");
    add_churn<SharedPointers>("shared_ptr");
    add_churn<ReadWrite>("read_write_lock");
    add_churn<EntryMutex>("entry_mutex");
    add_churn<SharedTreeMap>("shared_map");
    add_churn<SharedHashMap>("shared_unordered_map");
    add_churn<Lfht<Memb>>("lfht_memb");
    add_churn<Lfht<Qsbr>>("lfht_qsbr");
    add_churn<Tbb>("tbb");
    add_churn<Allocated<Glibc>>("malloc");
    add_churn<Allocated<Mi>>("mimalloc");
}
