/*
 * bench/frame_scan.cc - what it costs to visit all objects of a table, and to make and end many.
 *
 *   scan_100, scan_50, scan_10
 *                   a table with `size` slots used, of which that many in a hundred are live,
 *                   scattered at random; the first words of all live objects are summed up.
 *                   One item is one live object; bytes_per_second counts the memory passed over.
 *       array       the live objects alone, 24 bytes each, one after another: the limit
 *       flags       32 bytes each with a word in front that says "live": an array with holes
 *       haft_cursor haft_cursor_next(), inlined; one thread, one open section
 *       haft_scan   haft_scan() with a visitor
 *   batch           `size` objects inserted and freed, in one call each or one call for all, with a
 *                   quiescent point after each round.  One item is one insert and one free.
 */
#include "bench/frame.h"
#include "bench/main.h"
#include "bench/random.h"
#include "bench/subjects.h"

#include <haft/scan.h>
#include <haft/table.h>
#include <memory>
#include <vector>

namespace
{

using bench::Object;

constexpr uint64_t slots = uint64_t{1} << 20;
constexpr uint64_t batch_size = 1024;

struct Flagged {
    uint64_t live;
    Object object;
};

struct Domain {
    Domain()
    {
        haft_domain_options options = {};
        haft_table_options table_options = {};

        options.clock = HAFT_CLOCK_WORKERS;
        table_options.capacity = slots;
        table_options.object_size = sizeof(Object);
        bench::require(haft_domain_open(&options, &domain));
        bench::require(haft_table_open(domain, &table_options, &table));
        bench::require(haft_worker_open(table, &worker));
    }
    ~Domain()
    {
        bench::require(haft_worker_close(worker));
        bench::require(haft_table_close(table));
        bench::require(haft_domain_close(domain));
    }
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
    haft_worker *worker = nullptr;
};

/* Which of `count` slots are live, the same for every subject. */
std::vector<bool> scattered(uint64_t count, unsigned percent)
{
    bench::Random random(percent);
    std::vector<bool> live(count);

    for (uint64_t i = 0; i < count; i++) {
        live[i] = random.below(100) < percent;
    }
    return live;
}

void count_items(benchmark::State &state, uint64_t live, uint64_t bytes)
{
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * live));
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

template <unsigned Percent> void scan_array(benchmark::State &state)
{
    const std::vector<bool> live = scattered(static_cast<uint64_t>(state.range(0)), Percent);
    std::vector<Object> objects;

    for (const bool is_live : live) {
        if (is_live) {
            objects.push_back(Object{1, {2, 3}});
        }
    }
    for (auto _ : state) {
        uint64_t sum = 0;
        for (const Object &object : objects) {
            sum += object.first;
        }
        bench::keep(sum);
    }
    count_items(state, objects.size(), objects.size() * sizeof(Object));
}

template <unsigned Percent> void scan_flags(benchmark::State &state)
{
    const std::vector<bool> live = scattered(static_cast<uint64_t>(state.range(0)), Percent);
    std::vector<Flagged> objects;
    uint64_t count = 0;

    for (const bool is_live : live) {
        objects.push_back(Flagged{is_live, {1, {2, 3}}});
        count += is_live;
    }
    for (auto _ : state) {
        uint64_t sum = 0;
        for (const Flagged &flagged : objects) {
            if (flagged.live != 0) {
                sum += flagged.object.first;
            }
        }
        bench::keep(sum);
    }
    count_items(state, count, objects.size() * sizeof(Flagged));
}

/* A table whose slots are all used, and live where `live` says so; the number of these. */
uint64_t fill(Domain &domain, const std::vector<bool> &live)
{
    const Object object = {1, {2, 3}};
    std::vector<haft_id> ids(live.size());
    uint64_t count = 0;

    for (haft_id &id : ids) {
        bench::require(haft_insert(domain.worker, &object, &id));
    }
    for (uint64_t i = 0; i < live.size(); i++) {
        if (live[i]) {
            count++;
        } else {
            bench::require(haft_free(domain.worker, ids[i]));
        }
    }
    return count;
}

uint64_t sum_by_cursor(const haft_table *table)
{
    haft_cursor cursor = haft_cursor_over(table, HAFT_EVERYTHING);
    uint64_t sum = 0;
    haft_id id;
    void *object;

    while (haft_cursor_next(&cursor, &id, &object)) {
        sum += static_cast<const Object *>(object)->first;
    }
    return sum;
}

bool add_first(haft_id, void *object, void *sum)
{
    *static_cast<uint64_t *>(sum) += static_cast<const Object *>(object)->first;
    return true;
}

uint64_t sum_by_visitor(const haft_table *table)
{
    uint64_t sum = 0;

    haft_scan(table, HAFT_EVERYTHING, add_first, &sum);
    return sum;
}

template <unsigned Percent, uint64_t (*Sum)(const haft_table *)>
void scan_table(benchmark::State &state)
{
    Domain domain;
    const uint64_t used = static_cast<uint64_t>(state.range(0));
    const uint64_t live = fill(domain, scattered(used, Percent));

    for (auto _ : state) {
        const uint64_t sum = Sum(domain.table);
        if (sum != live) {
            state.SkipWithError("an object was missed");
        }
        bench::keep(sum);
    }
    count_items(state, live, used * haft_table_view(domain.table).stride);
}

void one_by_one(benchmark::State &state)
{
    Domain domain;
    const std::vector<Object> objects(static_cast<size_t>(state.range(0)), Object{1, {2, 3}});
    std::vector<haft_id> ids(objects.size());
    uint64_t failed = 0;

    for (auto _ : state) {
        for (size_t i = 0; i < ids.size(); i++) {
            failed += haft_insert(domain.worker, &objects[i], &ids[i]) != HAFT_OK;
        }
        for (const haft_id id : ids) {
            failed += haft_free(domain.worker, id) != HAFT_OK;
        }
        haft_worker_quiescent(domain.worker);
    }
    if (failed != 0) {
        state.SkipWithError("a call failed");
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * ids.size()));
}

void all_at_once(benchmark::State &state)
{
    Domain domain;
    const std::vector<Object> objects(static_cast<size_t>(state.range(0)), Object{1, {2, 3}});
    std::vector<haft_id> ids(objects.size());
    uint64_t failed = 0;

    for (auto _ : state) {
        const size_t count = ids.size();
        failed +=
            count - haft_insert_many(domain.worker, objects.data(), ids.data(), count, nullptr);
        failed += count - haft_free_many(domain.worker, ids.data(), count, nullptr);
        haft_worker_quiescent(domain.worker);
    }
    if (failed != 0) {
        state.SkipWithError("a call failed");
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * ids.size()));
}

void add_case(const char *workload, const char *subject, uint64_t size,
              void (*run)(benchmark::State &state))
{
    bench::Case one;
    one.workload = workload;
    one.subject = subject;
    one.size = size;
    one.run = run;
    bench::add(one);
}

template <unsigned Percent> void add_scans(const char *workload)
{
    add_case(workload, "array", slots, scan_array<Percent>);
    add_case(workload, "flags", slots, scan_flags<Percent>);
    add_case(workload, "haft_cursor", slots, scan_table<Percent, sum_by_cursor>);
    add_case(workload, "haft_scan", slots, scan_table<Percent, sum_by_visitor>);
}

} // namespace

void bench::add_scan_cases()
{
    add_scans<100>("scan_100");
    add_scans<50>("scan_50");
    add_scans<10>("scan_10");
    add_case("batch", "one_by_one", batch_size, one_by_one);
    add_case("batch", "all_at_once", batch_size, all_at_once);
}
