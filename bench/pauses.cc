/*
 * bench/pauses.cc - how long one call takes where on_reclaim runs: the price of taking a whole
 * batch back in one call, and of smaller batches.
 *
 * Each object owns a block of 64 bytes, which on_reclaim gives back to malloc.  A thread inserts
 * 256 objects and frees them, again and again, with a quiescent point after each round, and times
 * each call.  The clock's reading, about 20 ns, is part of each time.
 *
 *   pauses [rounds]     (10000); JSON on standard output, as all programs here write it: `ns` of an
 *                       insertion, a free and a quiescent point, that `part` of them did not go
 *                       beyond; and of a processor for an object's whole life, which tells what
 *                       smaller batches cost
 */
#include <algorithm>
#include <array>
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
constexpr std::array<double, 7> parts = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1};

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
        const char *between = "";

        std::sort(all.begin(), all.end());
        std::printf("  {\"name\": \"%s/%s/%zu/1\", \"run_type\": \"iteration\",\n   \"ns\": [",
                    call, subject, round_size);
        for (const double part : parts) {
            std::printf("%s%llu", between, at(part));
            between = ", ";
        }
        std::printf("]},\n");
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

struct Subject {
    const char *name;
    haft_reclaim *on_reclaim;
    uint64_t waiting_bytes;
};

/* A batch has one slot more than a 64th of those that may wait. */
constexpr std::array<Subject, 4> subjects = {{
    {"no_on_reclaim", nullptr, 0},
    {"batches_of_128", give_back, 0},
    {"batches_of_32", give_back, 64 * 31 * slot_bytes},
    {"batches_of_8", give_back, 64 * 7 * slot_bytes},
}};

void measure(const Subject &subject, int rounds)
{
    Run run(subject.on_reclaim, subject.waiting_bytes);
    Times inserts, frees, points;
    const bool has_blocks = subject.on_reclaim != nullptr;

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

    inserts.print(subject.name, "insert");
    frees.print(subject.name, "free");
    points.print(subject.name, "quiescent");
    std::printf(
        "  {\"name\": \"life/%s/%zu/1\", \"run_type\": \"iteration\", \"processor_ns\": %.2f}%s\n",
        subject.name, round_size,
        took / static_cast<double>(round_size * static_cast<size_t>(rounds)),
        &subject == &subjects.back() ? "" : ",");
}

} // namespace

int main(int argc, char **argv)
{
    char *end = nullptr;
    const long rounds = argc > 1 ? std::strtol(argv[1], &end, 10) : 10000;

    if (argc > 2 || (argc == 2 && (*end != '\0' || end == argv[1])) ||
        !(rounds >= 1 && rounds <= 100000)) {
        std::fprintf(stderr, "Usage: pauses [rounds: 1 to 100000]\n");
        return 2;
    }
    std::printf("{\"benchmarks\": [\n");
    for (const Subject &subject : subjects) {
        measure(subject, static_cast<int>(rounds));
    }
    std::printf("]}\n");
    return std::fflush(stdout) != 0;
}
