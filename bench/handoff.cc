/*
 * bench/handoff.cc - objects that end on another thread than they began on.
 *
 *   handoff   threads in pairs: one inserts 512 objects at a time and hands their ids over in one
 *             batch, the other frees them.  At most 8 batches are under way in a pair.  One item
 *             is one insert and one free.
 *
 * A thread that waits for the other yields the processor and announces a quiescent point.
 */
#include "bench/allocated.h"
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/pool.h"
#include "bench/subjects.h"

#include <array>
#include <atomic>
#include <sched.h>
#include <vector>

namespace
{

using bench::Object;
using bench::Shared;

constexpr uint64_t batch_size = 512;
constexpr uint64_t depth = 8;

using Batch = std::array<haft_id, batch_size>;

/* One thread fills, one empties. */
struct alignas(64) Mailbox {
    alignas(64) std::atomic<uint64_t> filled{0};
    alignas(64) std::atomic<uint64_t> emptied{0};
    std::array<Batch, depth> batches;
};

std::vector<Mailbox> mailboxes(static_cast<size_t>(bench::most_threads()) / 2);

template <class Table> void before(const benchmark::State &state)
{
    Shared<Table>::before(state);
    for (Mailbox &mailbox : mailboxes) {
        mailbox.filled.store(0, std::memory_order_relaxed);
        mailbox.emptied.store(0, std::memory_order_relaxed);
    }
}

template <class Worker, class Ready> void wait_until(Worker &worker, Ready ready)
{
    while (!ready()) {
        worker.quiescent();
        sched_yield();
    }
}

template <class Worker> void hand_over(Worker &worker, Mailbox &mailbox, const Object &object)
{
    const uint64_t at = mailbox.filled.load(std::memory_order_relaxed);

    wait_until(worker,
               [&] { return at - mailbox.emptied.load(std::memory_order_acquire) < depth; });
    for (haft_id &id : mailbox.batches[at % depth]) {
        id = worker.insert(object);
    }
    mailbox.filled.store(at + 1, std::memory_order_release);
}

template <class Worker> uint64_t free_batch(Worker &worker, Mailbox &mailbox)
{
    const uint64_t at = mailbox.emptied.load(std::memory_order_relaxed);
    uint64_t failed = 0;

    wait_until(worker, [&] { return mailbox.filled.load(std::memory_order_acquire) > at; });
    for (const haft_id id : mailbox.batches[at % depth]) {
        failed += !worker.free(id);
    }
    mailbox.emptied.store(at + 1, std::memory_order_release);
    return failed;
}

template <class Table> void handoff(benchmark::State &state)
{
    Table &table = *Shared<Table>::table;
    typename Table::Worker worker(table);
    Mailbox &mailbox = mailboxes[static_cast<size_t>(state.thread_index()) / 2];
    const bool gives = state.thread_index() % 2 == 0;
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    bench::run_rounds(state, worker, [&] {
        if (gives) {
            hand_over(worker, mailbox, object);
        } else {
            failed += free_batch(worker, mailbox);
        }
    });
    if (failed != 0) {
        state.SkipWithError("an object could not be freed by the thread that got its id");
    }
    bench::report(state, table, batch_size / 2); /* a pair's two rounds */
}

template <class Table> void add_table(const char *subject)
{
    bench::Case one;
    one.workload = "handoff";
    one.subject = subject;
    one.size = batch_size;
    one.run = handoff<Table>;
    one.before = before<Table>;
    one.after = Shared<Table>::after;
    bench::add_threads(one, 2, bench::most_threads() / 2 * 2);
}

} // namespace

void bench::add_cases()
{
    add_table<Workers>("haft_workers");
    add_table<QsbrCaller>("haft_qsbr_caller");
    add_table<QsbrThread>("haft_qsbr_thread");
    add_table<MembCaller>("haft_memb_caller");
    add_table<MembThread>("haft_memb_thread");
    add_table<Counted>("haft_counted");
    add_table<SharedPointers>("shared_ptr");
    add_table<Mutex>("mutex");
    add_table<SpinLock>("spin_lock");
    add_table<ReadWrite>("read_write_lock");
    add_table<EntryMutex>("entry_mutex");
    add_table<SharedHashMap>("shared_unordered_map");
    add_table<Lfht<Memb>>("lfht_memb");
    add_table<Lfht<Qsbr>>("lfht_qsbr");
    add_table<Tbb>("tbb");
    add_table<Allocated<Glibc>>("malloc");
    add_table<Allocated<Mi>>("mimalloc");
}
