/*
 * bench/resolve.cc - what it costs to get from an id to its object, one thread.
 *
 *   resolve_open    live ids, all in one read section that stays open
 *   resolve_each    live ids, a read section around each
 *   resolve_many    live ids, 64 at a time, in one open section
 *   resolve_stale   freed ids whose slots hold newer objects, in one open section
 *
 * Each goes in random order through all `size` objects, 24 bytes each, and sums up their first
 * words: one item is one id.  `raw` is the same walk over the same kind of slots without any
 * check.  A mutex table has no read section: each read takes the lock, resolve_many once for 64.
 */
#include "bench/walk.h"

#include <algorithm>
#include <vector>

namespace
{

using bench::Filled;
using bench::finish_walk;
using bench::insert_all;
using bench::many;
using bench::sum_of;
using bench::walk;
using bench::walk_open;

template <class Worker> void free_all(Worker &worker, const std::vector<haft_id> &ids)
{
    for (const haft_id id : ids) {
        worker.free(id);
    }
}

template <class Reader> uint64_t walk_each(Reader reader, const std::vector<haft_id> &ids)
{
    uint64_t sum = 0;

    for (const haft_id id : ids) {
        reader.begin();
        sum += reader.first_word(id);
        reader.end();
    }
    return sum;
}

template <class Reader> uint64_t walk_many(Reader reader, const std::vector<haft_id> &ids)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ids.size(); i += many) {
        sum += reader.first_words(&ids[i], std::min(many, ids.size() - i));
    }
    return sum;
}

template <class Table> void resolve_each(benchmark::State &state)
{
    const Filled<Table> filled(state);
    const auto reader = filled.worker.reader();
    uint64_t sum = 0;

    for (auto _ : state) {
        sum = walk_each(reader, filled.ids);
        bench::keep(sum);
    }
    finish_walk(state, filled.size, sum, sum_of(filled.size));
}

template <class Table> void resolve_many(benchmark::State &state)
{
    const Filled<Table> filled(state);
    const auto reader = filled.worker.reader();
    uint64_t sum = 0;

    reader.begin();
    for (auto _ : state) {
        sum = walk_many(reader, filled.ids);
        bench::keep(sum);
    }
    reader.end();
    finish_walk(state, filled.size, sum, sum_of(filled.size));
}

template <class Table> void resolve_stale(benchmark::State &state)
{
    Filled<Table> filled(state);
    uint64_t sum = 0;

    free_all(filled.worker, filled.ids);
    filled.worker.quiescent();
    insert_all(filled.worker, filled.size);

    const auto reader = filled.worker.reader();
    reader.begin();
    for (auto _ : state) {
        sum = walk(reader, filled.ids);
        bench::keep(sum);
    }
    reader.end();
    finish_walk(state, filled.size, sum, 0);
}

void add_one(const char *workload, const char *subject, void (*run)(benchmark::State &))
{
    for (const uint64_t size : {1024u, 16384u, 262144u}) {
        bench::Case one;
        one.workload = workload;
        one.subject = subject;
        one.size = size;
        one.run = run;
        bench::add(one);
    }
}

template <class Table> void add_checked(const char *subject)
{
    add_one("resolve_open", subject, walk_open<Table>);
    add_one("resolve_each", subject, resolve_each<Table>);
    add_one("resolve_many", subject, resolve_many<Table>);
    add_one("resolve_stale", subject, resolve_stale<Table>);
}

} // namespace

void bench::add_cases()
{
    add_one("resolve_open", "raw", walk_open<Raw>);
    add_checked<Local>("haft_local");
    add_checked<QsbrCaller>("haft_qsbr");
    add_checked<MembCaller>("haft_memb");
    add_one("resolve_each", "haft_memb_called", resolve_each<MembCalledCaller>);
    add_checked<Mutex>("mutex");
}
