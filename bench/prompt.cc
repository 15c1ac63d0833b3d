/*
 * bench/prompt.cc - how long after its free an object's on_reclaim runs.
 *
 * One thread frees objects; another, as an event loop would, passes a quiescent point every
 * millisecond when idle, and drives the clock as often where that takes a call: a wait, or a tick.
 *
 *   idle    an object in 2 ms, a flush, and the thread parks
 *   busy    both threads free 64 objects between two quiescent points, without a break
 *
 *   prompt [rounds]     (400; busy 10 times as many); a line of JSON on standard output for each
 *                       clock: median and longest time in microseconds, and the objects for which
 *                       on_reclaim had not run 100 ms after all were freed
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
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;

constexpr uint64_t batch = 64;

struct Setting {
    haft_clock clock;
    const char *name;
    bool is_busy;
};

uint64_t now_ns()
{
    return static_cast<uint64_t>(Clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void require(bool holds)
{
    if (!holds) {
        std::fputs("prompt: the table did not do what it was asked to\n", stderr);
        std::exit(1);
    }
}

struct Times {
    std::vector<uint64_t> all;
    std::atomic<size_t> count{0};
};

void note(void *object, haft_id, haft_worker *, void *arg)
{
    auto *times = static_cast<Times *>(arg);
    const size_t at = times->count.fetch_add(1);

    if (at < times->all.size()) {
        times->all[at] = now_ns() - *static_cast<uint64_t *>(object);
    }
}

class Run
{
  public:
    Run(const Setting &setting, uint64_t rounds) : setting_(setting), rounds_(rounds)
    {
        const bool is_foreign =
            setting.clock == HAFT_CLOCK_THREAD || setting.clock == HAFT_CLOCK_CALLER;
        haft_domain_options domain = {};
        haft_table_options table = {};

        domain.clock = setting.clock;
        domain.foreign_clock = is_foreign ? haft_urcu_memb() : nullptr;
        table.capacity = 1000000;
        table.object_size = sizeof(uint64_t);
        table.on_reclaim = note;
        table.reclaim_arg = &times_;
        times_.all.resize(rounds * (setting.is_busy ? 2 * batch : 1));
        require(haft_domain_open(&domain, &domain_) == HAFT_OK);
        require(haft_table_open(domain_, &table, &table_) == HAFT_OK);
    }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;
    ~Run()
    {
        require(haft_table_close(table_) == HAFT_OK && haft_domain_close(domain_) == HAFT_OK);
    }

    void play()
    {
        std::thread freeing([this] { free_all(); });

        loop();
        freeing.join();
    }

    void print()
    {
        const size_t seen = std::min(on_time_, times_.all.size());
        const auto end = times_.all.begin() + static_cast<std::ptrdiff_t>(seen);

        std::sort(times_.all.begin(), end);
        std::printf("{\"clock\": \"%s\", \"load\": \"%s\", \"median_us\": %.1f, "
                    "\"longest_us\": %.1f, \"objects\": %zu, \"not_reclaimed\": %zu}\n",
                    setting_.name, setting_.is_busy ? "busy" : "idle",
                    seen != 0 ? static_cast<double>(times_.all[seen / 2]) / 1e3 : 0.0,
                    seen != 0 ? static_cast<double>(times_.all[seen - 1]) / 1e3 : 0.0,
                    times_.all.size(), times_.all.size() - seen);
    }

  private:
    void free_some(haft_worker *worker, uint64_t count) const
    {
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t now = now_ns();
            haft_id id;

            require(haft_insert_wait(worker, &now, &id) == HAFT_OK);
            require(haft_free(worker, id) == HAFT_OK);
        }
        require(haft_worker_quiescent(worker) == HAFT_OK);
    }

    void rest(unsigned us) const
    {
        const haft_job_state state = haft_thread_park(domain_);

        std::this_thread::sleep_for(std::chrono::microseconds(us));
        haft_thread_unpark(domain_, state);
    }

    haft_worker *begin() const
    {
        haft_worker *worker;

        haft_thread_register(domain_);
        require(haft_worker_open(table_, &worker) == HAFT_OK);
        return worker;
    }

    void end(haft_worker *worker) const
    {
        require(haft_worker_close(worker) == HAFT_OK);
        haft_thread_unregister(domain_);
    }

    /* The thread that goes idle parks for good before it ends. */
    void free_all()
    {
        haft_worker *worker = begin();

        for (uint64_t i = 0; i < rounds_; i++) {
            free_some(worker, setting_.is_busy ? batch : 1);
            if (!setting_.is_busy) {
                require(haft_worker_flush(worker) == HAFT_OK);
                rest(2000);
            }
        }
        require(haft_worker_flush(worker) == HAFT_OK);
        const haft_job_state state = haft_thread_park(domain_);

        has_freed_ = true;
        while (!is_over_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        haft_thread_unpark(domain_, state);
        end(worker);
    }

    void drive() const
    {
        if (setting_.clock == HAFT_CLOCK_CALLER) {
            require(haft_domain_wait(domain_) == HAFT_OK);
        } else if (setting_.clock == HAFT_CLOCK_FRAME) {
            require(haft_domain_tick(domain_) == HAFT_OK);
        }
    }

    void loop()
    {
        haft_worker *worker = begin();

        uint64_t driven = now_ns();

        for (uint64_t i = 0; setting_.is_busy && i < rounds_; i++) {
            free_some(worker, batch);
            if (now_ns() - driven >= 1000000) {
                drive();
                driven = now_ns();
            }
        }
        for (int after = 0; after < 100; after += has_freed_ ? 1 : 0) {
            drive();
            require(haft_worker_quiescent(worker) == HAFT_OK);
            rest(1000);
        }
        on_time_ = times_.count;
        is_over_ = true;
        end(worker);
    }

    const Setting setting_;
    const uint64_t rounds_;
    haft_domain *domain_ = nullptr;
    haft_table *table_ = nullptr;
    Times times_;
    std::atomic<bool> has_freed_{false};
    std::atomic<bool> is_over_{false};
    size_t on_time_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
    const std::array<Setting, 8> settings = {{
        {HAFT_CLOCK_WORKERS, "workers", false},
        {HAFT_CLOCK_THREAD, "thread", false},
        {HAFT_CLOCK_CALLER, "caller", false},
        {HAFT_CLOCK_FRAME, "frame", false},
        {HAFT_CLOCK_WORKERS, "workers", true},
        {HAFT_CLOCK_THREAD, "thread", true},
        {HAFT_CLOCK_CALLER, "caller", true},
        {HAFT_CLOCK_FRAME, "frame", true},
    }};

    for (const Setting &setting : settings) {
        Run run(setting, setting.is_busy ? 10 * rounds : rounds);

        run.play();
        run.print();
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
