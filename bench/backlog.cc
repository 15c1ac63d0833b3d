/*
 * bench/backlog.cc - freed slots that wait for reuse, over time: what readers that stay make of the
 * memory.
 *
 * Two threads insert 1,024 objects and free them, again and again.  From 40 % to 60 % of the time a
 * third one stays in one read section.  Meanwhile nothing that was freed after its begin can be
 * used again, so the backlog grows until the workers have as many waiting slots as they may, and
 * wait themselves.  When the reader leaves, the backlog falls; the slots go on from hand to hand,
 * oldest first, so that as many as there ever were stay in use.
 *
 *   backlog [milliseconds]     of each subject (1000); JSON on standard output, as all programs
 *                              here write it: `milliseconds`, `retired` (slots freed and not
 *                              reclaimed) and `waiting` (batches that wait for a grace period)
 *                              are series
 */
#include "bench/flavours.h"
#include "bench/subjects.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace
{

using bench::Object;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr uint64_t capacity = 65536;
constexpr int churners = 2;
constexpr uint64_t round_size = 1024;
constexpr int most_samples = 400;

struct Sample {
    double milliseconds;
    double retired, waiting;
};

using Samples = std::vector<Sample>;

template <class Table> void churn(Table &table, const std::atomic<bool> &stop)
{
    typename Table::Worker worker(table);
    const Object object = {1, {2, 3}};
    std::array<haft_id, round_size> ids;

    while (!stop.load(std::memory_order_relaxed)) {
        for (haft_id &id : ids) {
            id = worker.insert(object);
        }
        for (const haft_id id : ids) {
            bench::require(worker.free(id) ? HAFT_OK : HAFT_STALE);
        }
        worker.quiescent();
    }
}

template <class Table> void stay(Table &table, Clock::time_point from, Clock::time_point to)
{
    std::this_thread::sleep_until(from);
    const typename Table::Worker worker(table);
    const auto reader = worker.reader();

    reader.begin();
    std::this_thread::sleep_until(to);
    reader.end();
}

/* From now on, evenly over the time. */
template <class Table>
Samples sample(const Table &table, Clock::time_point begin, Milliseconds time)
{
    Samples samples;

    for (int i = 1; i <= most_samples; i++) {
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(time * i / most_samples));
        const auto retired = static_cast<double>(table.retired());
        const auto waiting = static_cast<double>(table.waiting());

        samples.push_back({Milliseconds(Clock::now() - begin).count(), retired, waiting});
    }
    return samples;
}

template <class Table> Samples measure(Milliseconds time)
{
    Table table(capacity);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    const Clock::time_point begin = Clock::now();
    const auto at = [&](double part) {
        return begin + std::chrono::duration_cast<Clock::duration>(time * part);
    };

    for (int i = 0; i < churners; i++) {
        threads.emplace_back([&] { churn(table, stop); });
    }
    threads.emplace_back([&] { stay(table, at(0.4), at(0.6)); });
    const Samples samples = sample(table, begin, time);

    stop.store(true, std::memory_order_relaxed);
    for (std::thread &thread : threads) {
        thread.join();
    }
    return samples;
}

void print_series(const char *key, const Samples &samples, double Sample::*value)
{
    std::printf("   \"%s\": [", key);
    for (size_t i = 0; i < samples.size(); i++) {
        std::printf("%s%.1f", i == 0 ? "" : ", ", samples[i].*value);
    }
    std::printf("]");
}

void print(const char *name, const Samples &samples, bool last)
{
    std::printf("  {\"name\": \"backlog/%s/%llu/%d\", \"run_type\": \"iteration\",\n", name,
                static_cast<unsigned long long>(round_size), churners);
    print_series("milliseconds", samples, &Sample::milliseconds);
    std::printf(",\n");
    print_series("retired", samples, &Sample::retired);
    std::printf(",\n");
    print_series("waiting", samples, &Sample::waiting);
    std::printf("}%s\n", last ? "" : ",");
}

struct Subject {
    const char *name;
    Samples (*measure)(Milliseconds time);
};

constexpr std::array<Subject, 5> subjects = {{
    {"haft_workers", measure<bench::Workers>},
    {"haft_qsbr_caller", measure<bench::QsbrCaller>},
    {"haft_qsbr_thread", measure<bench::QsbrThread>},
    {"haft_memb_caller", measure<bench::MembCaller>},
    {"haft_memb_thread", measure<bench::MembThread>},
}};

} // namespace

int main(int argc, char **argv)
{
    char *end = nullptr;
    const double time = argc > 1 ? std::strtod(argv[1], &end) : 1000;

    if (argc > 2 || (argc == 2 && *end != '\0') || !(time >= 1 && time <= 60000)) {
        std::fprintf(stderr, "Usage: backlog [milliseconds: 1 to 60000]\n");
        return 2;
    }
    std::printf("{\"benchmarks\": [\n");
    for (const Subject &subject : subjects) {
        print(subject.name, subject.measure(Milliseconds(time)), &subject == &subjects.back());
    }
    std::printf("]}\n");
    return std::fflush(stdout) != 0;
}
