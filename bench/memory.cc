/*
 * bench/memory.cc - what tables take of memory.  Nothing is timed: the counters are the result.
 *
 *   memory   empty_bytes        resident memory that opening a table costs, and its only worker;
 *                               the table is sized for 1,048,576 objects
 *            bytes_per_object   resident memory that inserting `size` objects costs, divided by
 *                               their number; objects are 24 bytes
 *
 * Each measurement is made in a child process, which has used no table before.
 */
#include "bench/alone.h"
#include "bench/hashed.h"
#include "bench/pool.h"
#include "bench/resident.h"

#include <sys/wait.h>
#include <unistd.h>

namespace
{

using bench::Object;

constexpr uint64_t memory_size = 65536;

struct Figures {
    double empty_bytes;
    double bytes_per_object;
};

template <class Table> Figures measure(uint64_t size)
{
    bench::resident_bytes(); /* what the call itself touches is there from now on */
    const double before = bench::resident_bytes();
    Table table(bench::shared_capacity);
    typename Table::Worker worker(table);
    const double empty = bench::resident_bytes();

    for (uint64_t i = 0; i < size; i++) {
        worker.insert(Object{1, {2, 3}});
    }
    return {empty - before, (bench::resident_bytes() - empty) / static_cast<double>(size)};
}

/* measure() in a child; false if it did not answer. */
template <class Table> bool measure_apart(uint64_t size, Figures &figures)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        const Figures measured = measure<Table>(size);
        _exit(write(ends[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
    }
    close(ends[1]);
    const bool is_read = child > 0 && read(ends[0], &figures, sizeof figures) == sizeof figures;

    close(ends[0]);
    if (child > 0) {
        waitpid(child, nullptr, 0);
    }
    return is_read;
}

template <class Table> void memory(benchmark::State &state)
{
    Figures figures = {};

    for (auto _ : state) {
        if (!measure_apart<Table>(static_cast<uint64_t>(state.range(0)), figures)) {
            state.SkipWithError("the child gave no answer");
            break;
        }
    }
    state.counters["empty_bytes"] = figures.empty_bytes;
    state.counters["bytes_per_object"] = figures.bytes_per_object;
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Table> void add_table(const char *subject)
{
    bench::Case one;
    one.workload = "memory";
    one.subject = subject;
    one.size = memory_size;
    one.clock = bench::Clock::real;
    one.run = memory<Table>;
    bench::add(one);
}

} // namespace

void bench::add_cases()
{
    add_table<Array>("array");
    add_table<Local>("haft_local");
    add_table<Packed>("haft_packed");
    add_table<Workers>("haft_workers");
    add_table<QsbrCaller>("haft_qsbr_caller");
    add_table<MembThread>("haft_memb_thread");
    add_table<Mutex>("mutex");
    add_table<EntryMutex>("entry_mutex");
    add_table<SharedTreeMap>("shared_map");
    add_table<SharedHashMap>("shared_unordered_map");
    add_table<Lfht<Memb>>("lfht_memb");
    add_table<Tbb>("tbb");
}
