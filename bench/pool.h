/*
 * bench/pool.h - workloads in which several threads share a table, and where that table is
 * meanwhile.
 *
 * Google Benchmark calls before() and after() on the main thread, while no other runs; it lets
 * the threads' loops begin and end together.
 */
#ifndef HAFT_BENCH_POOL_H
#define HAFT_BENCH_POOL_H

#include "bench/main.h"
#include "bench/pinned.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

namespace bench
{

/* Far more than is live: how many slots are used is the clock's doing alone (peak_slots). */
constexpr uint64_t shared_capacity = uint64_t{1} << 20;

/*
 * From the first thread's first round to the last thread's last one.  Google Benchmark divides by
 * the mean of the threads' times instead, which flatters threads that take turns on a core.
 */
class Span
{
  public:
    using Clock = std::chrono::steady_clock;

    void add(Clock::time_point from, Clock::time_point to)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        first = std::min(first, from);
        last = std::max(last, to);
    }

    double seconds() const { return std::chrono::duration<double>(last - first).count(); }

    void clear()
    {
        first = Clock::time_point::max();
        last = Clock::time_point::min();
    }

  private:
    std::mutex mutex;
    Clock::time_point first = Clock::time_point::max();
    Clock::time_point last = Clock::time_point::min();
};

inline Span span; /* of the benchmark that runs now */

/*
 * A thread that does nothing: in a program of one thread, glibc's mutexes and shared_ptr of
 * libstdc++ leave their atomic operations out.
 */
class Companion
{
  public:
    Companion()
        : thread([this] {
              while (!ends.load(std::memory_order_relaxed)) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
          })
    {
    }
    ~Companion()
    {
        ends.store(true, std::memory_order_relaxed);
        thread.join();
    }
    Companion(const Companion &) = delete;
    Companion &operator=(const Companion &) = delete;

  private:
    std::atomic<bool> ends{false};
    std::thread thread;
};

/* The table of the benchmark that runs now. */
template <class Table> struct Shared {
    static std::unique_ptr<Table> table;

    static void before(const benchmark::State &)
    {
        table = std::make_unique<Table>(shared_capacity);
        span.clear();
    }

    static void after(const benchmark::State &) { table.reset(); }
};

template <class Table> std::unique_ptr<Table> Shared<Table>::table;

/*
 * Runs `round` until the benchmark has enough, with a quiescent point after each.  The thread is
 * offline when it comes to the barrier at the end: there it waits for threads that may be
 * waiting for a grace period.  Where there are as many cores, each thread has one.
 */
template <class Worker, class Round>
void run_rounds(benchmark::State &state, Worker &worker, Round round)
{
    const Pinned pinned(state.thread_index(), state.threads());
    benchmark::IterationCount left = state.max_iterations;
    Span::Clock::time_point begin;

    for (auto _ : state) {
        if (left == state.max_iterations) {
            begin = Span::Clock::now();
        }
        round();
        worker.quiescent();
        if (--left == 0) {
            worker.offline();
            span.add(begin, Span::Clock::now());
        }
    }
}

/*
 * After the loop, when all threads are done.  Google Benchmark adds up what the threads report, so
 * one of them does.
 */
template <class Table> void report(benchmark::State &state, Table &table, uint64_t items_a_round)
{
    if (state.thread_index() == 0) {
        const double rounds = static_cast<double>(state.iterations()) * state.threads();

        state.counters["items_per_second"] =
            rounds * static_cast<double>(items_a_round) / span.seconds();
        if (table.high_water() != 0) { /* else the table does not count its slots */
            state.counters["peak_slots"] = static_cast<double>(table.high_water());
        }
    }
}

/* At least 8, to see how threads wait for one another; on larger machines all cores. */
inline int most_threads()
{
    return std::max(8, static_cast<int>(std::thread::hardware_concurrency()));
}

/* Adds the workload with `least` threads, each power of two up to `most`, and `most`. */
inline void add_threads(Case one, int least, int most)
{
    one.clock = Clock::real;
    for (one.threads = least; one.threads < most; one.threads *= 2) {
        add(one);
    }
    one.threads = most;
    add(one);
}

} // namespace bench

#endif // HAFT_BENCH_POOL_H
