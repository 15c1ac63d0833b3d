/*
 * bench/pauses.cc - how long one call takes where on_reclaim runs: the price of taking a whole
 * batch back in one call, and of smaller batches.
 *
 * Each object owns a block of 64 bytes, which on_reclaim gives back to malloc.  A thread inserts
 * 256 objects and frees them, again and again, with a quiescent point after each round, and times
 * each call.  The clock's reading, about 20 ns, is part of each time.
 *
 *   pauses [rounds]     (10000), a table on standard output: ns of an insertion, a free, and a
 *                       quiescent point; and of a processor for an object's whole life, which
 *                       tells what smaller batches cost
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <haft/table.h>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;

constexpr size_t round_size = 256;
constexpr size_t slot_bytes = 16;

struct Object {
    void *block;
};

void require(bool holds)
{
    if (!holds) {
        std::fputs("pauses: the table did not do what it was asked to\n", stderr);
        std::exit(1);
    }
}

void give_back(void *object, haft_id, haft_worker *, void *)
{
    std::free(static_cast<Object *>(object)->block);
}

/* Of one kind of call; in ns. */
class Times
{
  public:
    template <class Call> void time(const Call &call)
    {
        const Clock::time_point begin = Clock::now();

        call();
        all.push_back(static_cast<uint64_t>((Clock::now() - begin) / std::chrono::nanoseconds(1)));
    }

    void print(const char *subject, const char *call)
    {
        std::sort(all.begin(), all.end());
        std::printf("%-24s %-10s %8llu %8llu %8llu %10llu\n", subject, call, at(0.5), at(0.99),
                    at(0.9999), at(1));
    }

  private:
    unsigned long long at(double part) const
    {
        return all[static_cast<size_t>(part * static_cast<double>(all.size() - 1))];
    }

    std::vector<uint64_t> all;
};

struct Run {
    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
    haft_worker *worker = nullptr;
    std::vector<haft_id> ids = std::vector<haft_id>(round_size);

    Run(haft_reclaim *on_reclaim, uint64_t waiting_bytes)
    {
        haft_table_options options = {};

        options.capacity = 1 << 20;
        options.object_size = sizeof(Object);
        options.on_reclaim = on_reclaim;
        options.waiting_bytes = waiting_bytes;
        require(haft_domain_open(nullptr, &domain) == HAFT_OK);
        require(haft_table_open(domain, &options, &table) == HAFT_OK);
        require(haft_worker_open(table, &worker) == HAFT_OK);
    }

    ~Run()
    {
        require(haft_worker_close(worker) == HAFT_OK);
        require(haft_table_close(table) == HAFT_OK);
        require(haft_domain_close(domain) == HAFT_OK);
    }

    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    void insert(haft_id &id, bool has_blocks)
    {
        const Object object = {has_blocks ? std::malloc(64) : nullptr};

        require(haft_insert_wait(worker, &object, &id) == HAFT_OK);
    }
};

void measure(const char *subject, haft_reclaim *on_reclaim, uint64_t waiting_bytes, int rounds)
{
    Run run(on_reclaim, waiting_bytes);
    Times inserts, frees, points;
    const bool has_blocks = on_reclaim != nullptr;

    for (int n = 0; n < rounds; n++) {
        for (haft_id &id : run.ids) {
            inserts.time([&] { run.insert(id, has_blocks); });
        }
        for (const haft_id id : run.ids) {
            frees.time([&] { require(haft_free(run.worker, id) == HAFT_OK); });
        }
        points.time([&] { require(haft_worker_quiescent(run.worker) == HAFT_OK); });
    }
    const std::clock_t begin = std::clock();

    for (int n = 0; n < rounds; n++) {
        for (haft_id &id : run.ids) {
            run.insert(id, has_blocks);
        }
        for (const haft_id id : run.ids) {
            require(haft_free(run.worker, id) == HAFT_OK);
        }
        require(haft_worker_quiescent(run.worker) == HAFT_OK);
    }
    const double took = static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;

    inserts.print(subject, "insert");
    frees.print(subject, "free");
    points.print(subject, "quiescent");
    std::printf("%-24s %-10s %8.1f\n", subject, "life",
                took / static_cast<double>(round_size * static_cast<size_t>(rounds)));
}

} // namespace

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 10000;

    std::printf("%-24s %-10s %8s %8s %8s %10s\n", "ns", "", "p50", "p99", "p99.99", "most");
    measure("no on_reclaim", nullptr, 0, rounds);
    measure("batches of 128", give_back, 0, rounds);
    /* A batch has one slot more than a 64th of those that may wait. */
    measure("batches of 32", give_back, 64 * 31 * slot_bytes, rounds);
    measure("batches of 8", give_back, 64 * 7 * slot_bytes, rounds);
    return 0;
}
