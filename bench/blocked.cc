/*
 * bench/blocked.cc - memory that waits while a thread blocks inside a section, over time.
 *
 * On each clock two threads insert and free as fast as they can, in a table with waiting_bytes.
 * After a twentieth of the time a third thread enters a section and blocks there; with the frame
 * clock the frames stop.  So nothing freed from then on can be used again: the memory grows to the
 * bound, and inserts answer HAFT_BUSY until the thread goes on.  No quiescent point waits
 * (never_wait), so the churning threads try on; a thread drives the clocks that have none.
 *
 *   blocked [seconds [MiB]]     for which the thread blocks (60), and waiting_bytes (32); JSON on
 *                               standard output, as all programs here write it: `seconds`,
 *                               `waiting` and `used` (bytes of slots in batches that wait for a
 *                               grace period, and of all that were ever used) are series
 *
 * Exits with 1 if the memory goes beyond the bound, if none waits, if a stall is not reported, or
 * the report does not name the thread on the workers clock.
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <haft/table.h>
#include <haft/urcu.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr size_t object_bytes = 24;
constexpr uint64_t slot_bytes = object_bytes + 8;
constexpr int churners = 2;
constexpr int round_size = 250;       /* operations between two quiescent points */
constexpr uint64_t batch_slots = 128; /* at most */
constexpr int most_samples = 400;
constexpr double margin = 0.05; /* before and behind, of the time for which the thread blocks */

void require(haft_status status)
{
    if (status != HAFT_OK) {
        std::fprintf(stderr, "blocked: %s\n", haft_status_text(status));
        std::exit(1);
    }
}

constexpr double patience = 20; /* seconds for a report and for a refused insertion */

struct Setting {
    const char *name;
    haft_clock clock;
    const haft_foreign_clock *(*flavour)();
};

const haft_foreign_clock *none()
{
    return nullptr;
}

constexpr std::array<Setting, 6> settings = {{
    {"haft_workers", HAFT_CLOCK_WORKERS, none},
    {"haft_frame", HAFT_CLOCK_FRAME, none},
    {"haft_qsbr_caller", HAFT_CLOCK_CALLER, haft_urcu_qsbr},
    {"haft_qsbr_thread", HAFT_CLOCK_THREAD, haft_urcu_qsbr},
    {"haft_memb_caller", HAFT_CLOCK_CALLER, haft_urcu_memb},
    {"haft_memb_thread", HAFT_CLOCK_THREAD, haft_urcu_memb},
}};

struct Sample {
    double seconds;
    double waiting, used;
};

class Run
{
  public:
    Run(const Setting &wanted, Seconds blocked, uint64_t most_waiting)
        : setting(wanted), time(blocked), waiting_bytes(most_waiting)
    {
        haft_domain_options domain_options = {};
        haft_table_options options = {};

        domain_options.foreign_clock = setting.flavour();
        domain_options.clock = setting.clock;
        domain_options.on_stall = note_stall;
        domain_options.stall_arg = this;
        /* A second, or less where there is less time. */
        domain_options.stall_ns =
            static_cast<uint64_t>(1e9 * (time.count() / 4 < 1 ? time.count() / 4 : 1));
        require(haft_domain_open(&domain_options, &domain));
        options.capacity = 4 << 20;
        options.object_size = object_bytes;
        options.waiting_bytes = waiting_bytes;
        options.never_wait = true;
        require(haft_table_open(domain, &options, &table));
    }

    ~Run()
    {
        require(haft_table_close(table));
        require(haft_domain_close(domain));
    }

    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    void play()
    {
        std::vector<std::thread> threads;

        begin = Clock::now();
        for (int i = 0; i < churners; i++) {
            threads.emplace_back([this] { churn(); });
        }
        threads.emplace_back([this] { drive(); });
        std::thread blocked([this] { block(); });

        sample();
        blocked.join();
        stop.store(true, std::memory_order_relaxed);
        for (std::thread &thread : threads) {
            thread.join();
        }
    }

    /* Why the run did not go as promised; nullptr if it did. */
    const char *fault() const
    {
        const auto is_over = [this](const Sample &at) {
            return at.used > static_cast<double>(bound);
        };

        return is_over(at_end) || std::any_of(samples.begin(), samples.end(), is_over)
                   ? "more memory than the bound"
               : waits_little(at_end)           ? "too little memory waits"
               : refused == 0                   ? "no insertion was refused"
               : (reports != 0) != has_stalls() ? "no right report of the stall, or one of none"
                                                : nullptr;
    }

    void print(bool last) const
    {
        std::printf("  {\"name\": \"blocked/%s/%llu/%d\", \"run_type\": \"iteration\",\n",
                    setting.name, static_cast<unsigned long long>(waiting_bytes), churners);
        std::printf("   \"bound\": %llu, \"from\": %.3f, \"to\": %.3f, \"refused\": %llu,\n",
                    static_cast<unsigned long long>(bound), entered, left,
                    static_cast<unsigned long long>(refused.load()));
        std::printf("   \"reported\": %.3f, \"reported_wait\": %.3f, \"names_thread\": %s,\n",
                    reported, reported_wait, named != 0 ? "true" : "false");
        print_series("seconds", &Sample::seconds);
        print_series("waiting", &Sample::waiting);
        print_series("used", &Sample::used);
        std::printf("   \"slot_bytes\": %llu}%s\n", static_cast<unsigned long long>(slot_bytes),
                    last ? "" : ",");
    }

  private:
    double now() const { return Seconds(Clock::now() - begin).count(); }
    bool has_stalls() const { return setting.clock != HAFT_CLOCK_FRAME; }
    bool waits_little(const Sample &at) const
    {
        return at.waiting < static_cast<double>(waiting_bytes) / 2;
    }
    bool goes_on() const { return !stop.load(std::memory_order_relaxed); }

    void wait_until(double seconds) const
    {
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<Clock::duration>(Seconds(seconds)));
    }

    /*
     * Called once for a stall, by any thread.  The first report of the thread that blocks is kept;
     * where clocks know no threads, the first while it blocks.
     */
    static void note_stall(const haft_stall *stall, void *arg)
    {
        Run *run = static_cast<Run *>(arg);
        const bool has_names = run->setting.clock == HAFT_CLOCK_WORKERS;

        if (run->is_blocked && stall->thread == (has_names ? run->blocking.load() : 0) &&
            run->reports.fetch_add(1) == 0) {
            run->reported = run->now();
            run->reported_wait = static_cast<double>(stall->waited_ns) / 1e9;
            run->named = stall->thread;
        }
    }

    void churn()
    {
        haft_worker *worker;
        haft_id id;

        haft_thread_register(domain);
        require(haft_worker_open(table, &worker));
        while (goes_on()) {
            for (int i = 0; i < round_size; i++) {
                const haft_status status = haft_insert(worker, nullptr, &id);

                if (status == HAFT_OK) {
                    require(haft_free(worker, id));
                } else {
                    require(status == HAFT_BUSY ? HAFT_OK : status);
                    refused++;
                    break;
                }
            }
            require(haft_worker_quiescent(worker));
        }
        require(haft_worker_close(worker));
        haft_thread_unregister(domain);
    }

    void block()
    {
        haft_worker *worker;

        wait_until(margin * time.count());
        haft_thread_register(domain);
        require(haft_worker_open(table, &worker));
        blocking = static_cast<uint64_t>(gettid());
        is_blocked = true;
        haft_section_begin(domain);
        entered = now();
        wait_until(entered + time.count());
        /* On a busy machine other threads may not have come to fill the memory, or to notice it. */
        for (at_end = measured();
             (refused == 0 || waits_little(at_end) || (has_stalls() && reports == 0)) &&
             now() < entered + time.count() + patience;
             at_end = measured()) {
            wait_until(now() + 0.01);
        }
        left = now();
        is_blocked = false;
        haft_section_end(domain);
        require(haft_worker_quiescent(worker));
        require(haft_worker_close(worker));
        haft_thread_unregister(domain);
    }

    /* Frames, or grace periods that no thread of the clock waits for. */
    void drive()
    {
        while (goes_on()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (setting.clock == HAFT_CLOCK_FRAME) {
                require(is_blocked ? HAFT_OK : haft_domain_tick(domain));
            } else {
                require(haft_domain_wait(domain));
            }
        }
    }

    Sample measured() const
    {
        const haft_table_stats stats = haft_table_stats_get(table);
        const uint64_t waiting = std::min(stats.retired, stats.clock.backlog * batch_slots);

        return {now(), static_cast<double>(waiting * slot_bytes),
                static_cast<double>(stats.high_water * slot_bytes)};
    }

    void sample()
    {
        const double all = (1 + 2 * margin) * time.count();

        for (int i = 1; i <= most_samples; i++) {
            wait_until(all * i / most_samples);
            samples.push_back(measured());
        }
    }

    void print_series(const char *key, double Sample::*value) const
    {
        std::printf("   \"%s\": [", key);
        for (size_t i = 0; i < samples.size(); i++) {
            std::printf("%s%.3f", i == 0 ? "" : ", ", samples[i].*value);
        }
        std::printf("],\n");
    }

    const Setting &setting;
    const Seconds time;
    const uint64_t waiting_bytes;
    /* Each churning thread has one object live. */
    const uint64_t bound = waiting_bytes + churners * slot_bytes;
    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
    Clock::time_point begin;
    std::vector<Sample> samples;
    Sample at_end = {}; /* of the time for which the thread blocks */
    std::atomic<bool> stop{false};
    std::atomic<bool> is_blocked{false};
    std::atomic<uint64_t> refused{0};
    std::atomic<int> reports{0};
    double entered = 0, left = 0;
    double reported = 0, reported_wait = 0;
    std::atomic<uint64_t> blocking{0};
    uint64_t named = 0; /* by the report */
};

/* 0, which is too little everywhere, if it is none. */
double number(const char *text)
{
    char *end = nullptr;
    const double value = std::strtod(text, &end);

    return *end == '\0' ? value : 0;
}

} // namespace

int main(int argc, char **argv)
{
    const double time = argc > 1 ? number(argv[1]) : 60;
    const double mebibytes = argc > 2 ? number(argv[2]) : 32;

    if (argc > 3 || !(time >= 0.1 && time <= 3600) || !(mebibytes >= 1 && mebibytes <= 100)) {
        std::fprintf(stderr, "Usage: blocked [seconds: 0.1 to 3600 [MiB: 1 to 100]]\n");
        return 2;
    }
    bool is_right = true;

    std::printf("{\"benchmarks\": [\n");
    for (const Setting &setting : settings) {
        Run run(setting, Seconds(time), static_cast<uint64_t>(mebibytes * (1 << 20)));

        run.play();
        run.print(&setting == &settings.back());
        if (run.fault() != nullptr) {
            std::fprintf(stderr, "blocked: %s: %s\n", setting.name, run.fault());
            is_right = false;
        }
    }
    std::printf("]}\n");
    return std::fflush(stdout) != 0 || !is_right;
}
