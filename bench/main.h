/*
 * bench/main.h - what all programs share: names, flags, reports.
 *
 * A benchmark's name is workload/subject/size/threads and nothing else: Google Benchmark's
 * "/real_time/threads:2" is taken off again in reports, in --benchmark_list_tests and in what
 * --benchmark_filter is matched against.
 */
#ifndef HAFT_BENCH_MAIN_H
#define HAFT_BENCH_MAIN_H

#include <benchmark/benchmark.h>
#include <cstdint>
#include <string>

namespace bench
{

enum class Clock {
    cpu,  /* one thread that never sleeps: what others take of the machine is not counted */
    real, /* several threads, or one that waits */
};

struct Case {
    std::string workload;
    std::string subject;
    uint64_t size = 0;
    int threads = 1;
    Clock clock = Clock::cpu;
    void (*run)(benchmark::State &state) = nullptr;
    /* Called before the threads start and after they have ended; may be null. */
    void (*before)(const benchmark::State &state) = nullptr;
    void (*after)(const benchmark::State &state) = nullptr;
};

/* Adds a case; state.range(0) is its size.  To be called from add_cases(). */
void add(const Case &one);

/* Each program defines this one. */
void add_cases();

/*
 * The optimiser may not do without this result.  As a constant: for variables of a word's size
 * Google Benchmark 1.7 asks for "+m,r", with which gcc 12 loses the value at -O1.
 */
inline void keep(const uint64_t &result)
{
    benchmark::DoNotOptimize(result);
}

} // namespace bench

#endif // HAFT_BENCH_MAIN_H
