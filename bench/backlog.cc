/*
 * bench/backlog.cc - freed slots that wait for reuse, over time: what readers that stay make of the
 * memory.
 *
 * Two threads insert 1,024 objects and free them, again and again.  From 40 % to 60 % of the time a
 * third one stays in one read section.  Meanwhile nothing that was freed after its begin can be
 * used again, so the backlog grows until the table has no slot left, and insert waits.
 *
 *   backlog [milliseconds]     of each subject (1000); JSON on standard output, as all programs
 *                              here write it: `milliseconds` and `retired` are series
 */
#include "bench/flavours.h"
#include "bench/subjects.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace
{

using bench::Object;
using bench::require;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr uint64_t capacity = 65536;
constexpr int churners = 2;
constexpr uint64_t round_size = 1024;
constexpr int most_samples = 400;

struct Subject {
    const char *name;
    const rcu_flavor_struct *flavour;
    haft_clock clock;
};

struct Run {
    haft_domain *domain;
    haft_table *table;
    std::atomic<bool> stop{false};
};

haft_table *open_table(haft_domain *domain)
{
    haft_table_options options = {};
    haft_table *table;

    options.capacity = capacity;
    options.object_size = sizeof(Object);
    require(haft_table_open(domain, &options, &table));
    return table;
}

haft_domain *open_domain(const Subject &subject)
{
    haft_domain_options options = {};
    haft_domain *domain;

    options.flavour = subject.flavour;
    options.clock = subject.clock;
    require(haft_domain_open(&options, &domain));
    return domain;
}

/* A registered thread with a worker, for as long as this lives. */
class Member
{
  public:
    explicit Member(const Run &run) : domain(run.domain)
    {
        haft_thread_register(domain);
        require(haft_worker_open(run.table, &worker));
    }

    ~Member()
    {
        require(haft_worker_close(worker));
        haft_thread_unregister(domain);
    }

    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;

    haft_worker *worker = nullptr;

  private:
    haft_domain *domain;
};

void churn(Run &run)
{
    const Member member(run);
    const Object object = {1, {2, 3}};
    std::array<haft_id, round_size> ids;

    while (!run.stop.load(std::memory_order_relaxed)) {
        for (haft_id &id : ids) {
            require(haft_insert_wait(member.worker, &object, &id));
        }
        for (const haft_id id : ids) {
            require(haft_free(member.worker, id));
        }
        require(haft_worker_quiescent(member.worker));
    }
}

void stay(const Run &run, Clock::time_point from, Clock::time_point to)
{
    std::this_thread::sleep_until(from);
    const Member member(run);

    haft_section_begin(run.domain);
    std::this_thread::sleep_until(to);
    haft_section_end(run.domain);
}

/* From now on, evenly over the time. */
std::vector<std::pair<double, uint64_t>> sample(const Run &run, Clock::time_point begin,
                                                Milliseconds time)
{
    std::vector<std::pair<double, uint64_t>> samples;

    for (int i = 1; i <= most_samples; i++) {
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(time * i / most_samples));
        const uint64_t now = haft_table_stats_get(run.table).retired;

        samples.emplace_back(Milliseconds(Clock::now() - begin).count(), now);
    }
    return samples;
}

std::vector<std::pair<double, uint64_t>> measure(const Subject &subject, Milliseconds time)
{
    Run run;
    std::vector<std::thread> threads;

    run.domain = open_domain(subject);
    run.table = open_table(run.domain);
    const Clock::time_point begin = Clock::now();
    const auto at = [&](double part) {
        return begin + std::chrono::duration_cast<Clock::duration>(time * part);
    };

    for (int i = 0; i < churners; i++) {
        threads.emplace_back([&] { churn(run); });
    }
    threads.emplace_back([&] { stay(run, at(0.4), at(0.6)); });
    const auto samples = sample(run, begin, time);

    run.stop.store(true, std::memory_order_relaxed);
    for (std::thread &thread : threads) {
        thread.join();
    }
    require(haft_table_close(run.table));
    require(haft_domain_close(run.domain));
    return samples;
}

template <class Get>
void print_series(const char *key, const std::vector<std::pair<double, uint64_t>> &samples, Get get)
{
    std::printf("   \"%s\": [", key);
    for (size_t i = 0; i < samples.size(); i++) {
        std::printf("%s%.1f", i == 0 ? "" : ", ", static_cast<double>(get(samples[i])));
    }
    std::printf("]");
}

void print(const Subject &subject, const std::vector<std::pair<double, uint64_t>> &samples,
           bool last)
{
    std::printf("  {\"name\": \"backlog/%s/%llu/%d\", \"run_type\": \"iteration\",\n", subject.name,
                static_cast<unsigned long long>(round_size), churners);
    print_series("milliseconds", samples, [](const auto &sample) { return sample.first; });
    std::printf(",\n");
    print_series("retired", samples, [](const auto &sample) { return sample.second; });
    std::printf("}%s\n", last ? "" : ",");
}

} // namespace

int main(int argc, char **argv)
{
    const std::array<Subject, 5> subjects = {{
        {"haft_workers", nullptr, HAFT_CLOCK_WORKERS},
        {"haft_qsbr_caller", &urcu_qsbr_flavor, HAFT_CLOCK_CALLER},
        {"haft_qsbr_thread", &urcu_qsbr_flavor, HAFT_CLOCK_THREAD},
        {"haft_memb_caller", &urcu_memb_flavor, HAFT_CLOCK_CALLER},
        {"haft_memb_thread", &urcu_memb_flavor, HAFT_CLOCK_THREAD},
    }};
    char *end = nullptr;
    const double time = argc > 1 ? std::strtod(argv[1], &end) : 1000;

    if (argc > 2 || (argc == 2 && *end != '\0') || !(time >= 1 && time <= 60000)) {
        std::fprintf(stderr, "Usage: backlog [milliseconds: 1 to 60000]\n");
        return 2;
    }
    std::printf("{\"benchmarks\": [\n");
    for (size_t i = 0; i < subjects.size(); i++) {
        print(subjects[i], measure(subjects[i], Milliseconds(time)), i + 1 == subjects.size());
    }
    std::printf("]}\n");
    return 0;
}
