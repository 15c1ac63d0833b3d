/*
 * bench/resolve.cc - what it costs to get from an id to its object, one thread.
 *
 *   resolve_open    live ids, all in one read section that stays open
 *   resolve_each    live ids, a read section around each
 *   resolve_many    live ids, 64 at a time, in one open section
 *   resolve_stale   freed ids whose slots hold newer objects, in one open section
 *   use_one         live ids in one open section, and some hundred instructions for each object
 *   use_many        the same, 64 ids resolved at a time
 *
 * Each goes in random order through all `size` objects, 24 bytes each, and sums up their first
 * words: one item is one id.  `raw` is the same walk over the same kind of slots without any
 * check, `compared` over plain memory with the id compared.  Tables with locks have no read
 * section: each read takes the lock, resolve_many once for 64, and weak_ptr locks each.
 */
#include "bench/hashed.h"
#include "bench/walk.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace
{

using bench::Filled;
using bench::finish_walk;
using bench::insert_all;
using bench::many;
using bench::Object;
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

// --- objects that something is done with ---

/* A chain of some hundred instructions. */
inline uint64_t use(uint64_t first)
{
    for (uint64_t round = 0; round < 32; round++) {
        first = (first ^ first >> 7) + round;
    }
    return first;
}

uint64_t sum_of_uses(uint64_t size)
{
    uint64_t sum = 0;

    for (uint64_t first = 1; first <= size; first++) {
        sum += use(first);
    }
    return sum;
}

template <class Reader> uint64_t walk_use_one(Reader reader, const std::vector<haft_id> &ids)
{
    uint64_t sum = 0;

    for (const haft_id id : ids) {
        const uint64_t first = reader.first_word(id);

        sum += first != 0 ? use(first) : 0;
    }
    return sum;
}

template <class Reader> uint64_t walk_use_many(Reader reader, const std::vector<haft_id> &ids)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ids.size(); i += many) {
        sum += reader.sum_of_uses(&ids[i], std::min(many, ids.size() - i), use);
    }
    return sum;
}

template <class Table, bool at_once> void use_all(benchmark::State &state)
{
    const Filled<Table> filled(state);
    const auto reader = filled.worker.reader();
    uint64_t sum = 0;

    reader.begin();
    for (auto _ : state) {
        sum = at_once ? walk_use_many(reader, filled.ids) : walk_use_one(reader, filled.ids);
        bench::keep(sum);
    }
    reader.end();
    finish_walk(state, filled.size, sum, sum_of_uses(filled.size));
}

// --- std::weak_ptr ---

/* Ids are the weak pointers themselves, so they are walked through instead of looked up. */
struct Weak {
    explicit Weak(const benchmark::State &state)
    {
        for (int64_t i = 1; i <= state.range(0); i++) {
            owners.push_back(std::make_shared<Object>(Object{static_cast<uint64_t>(i), {0, 0}}));
        }
        ids.assign(owners.begin(), owners.end());
        bench::shuffle(ids, bench::Random(1));
    }

    uint64_t walk() const
    {
        uint64_t sum = 0;

        for (const std::weak_ptr<Object> &id : ids) {
            const std::shared_ptr<Object> object = id.lock();

            sum += object != nullptr ? object->first : 0;
        }
        return sum;
    }

    std::vector<std::shared_ptr<Object>> owners;
    std::vector<std::weak_ptr<Object>> ids;
};

void walk_weak(benchmark::State &state, const Weak &weak, uint64_t expected)
{
    uint64_t sum = 0;

    for (auto _ : state) {
        sum = weak.walk();
        bench::keep(sum);
    }
    finish_walk(state, weak.ids.size(), sum, expected);
}

void resolve_weak(benchmark::State &state)
{
    walk_weak(state, Weak(state), sum_of(static_cast<uint64_t>(state.range(0))));
}

void resolve_weak_stale(benchmark::State &state)
{
    Weak weak(state);

    weak.owners.clear();
    walk_weak(state, weak, 0);
}

using Run = void(benchmark::State &);

void add_size(const char *workload, const char *subject, Run *run, uint64_t size)
{
    bench::Case one;
    one.workload = workload;
    one.subject = subject;
    one.size = size;
    one.run = run;
    bench::add(one);
}

void add_one(const char *workload, const char *subject, Run *run)
{
    for (const uint64_t size : {1024u, 16384u, 262144u}) {
        add_size(workload, subject, run, size);
    }
}

template <class Table> void add_checked(const char *subject)
{
    add_one("resolve_open", subject, walk_open<Table>);
    add_one("resolve_each", subject, resolve_each<Table>);
    add_one("resolve_many", subject, resolve_many<Table>);
    add_one("resolve_stale", subject, resolve_stale<Table>);
}

/* Tables without a call for many ids. */
template <class Table> void add_peer(const char *subject)
{
    add_one("resolve_open", subject, walk_open<Table>);
    add_one("resolve_each", subject, resolve_each<Table>);
    add_one("resolve_stale", subject, resolve_stale<Table>);
}

/* More objects than any cache holds. */
void add_largest()
{
    constexpr uint64_t largest = 4194304;

    add_size("resolve_open", "raw", walk_open<bench::Raw>, largest);
    add_size("resolve_open", "haft_memb", walk_open<bench::MembCaller>, largest);
    add_size("resolve_open", "haft_huge", walk_open<bench::MembHuge>, largest);
    add_size("resolve_many", "haft_memb", resolve_many<bench::MembCaller>, largest);
    add_size("use_one", "haft_memb", use_all<bench::MembCaller, false>, largest);
    add_size("use_many", "haft_memb", use_all<bench::MembCaller, true>, largest);
}

} // namespace

void bench::add_cases()
{
    add_one("resolve_open", "raw", walk_open<Raw>);
    add_one("resolve_open", "compared", walk_open<Compared>);
    add_one("resolve_open", "haft_constant", walk_open<Constant>);
    add_checked<Local>("haft_local");
    add_checked<QsbrCaller>("haft_qsbr");
    add_checked<MembCaller>("haft_memb");
    add_one("resolve_each", "haft_memb_called", resolve_each<MembCalledCaller>);
    add_largest();
    add_checked<Mutex>("mutex");
    add_checked<ReadWrite>("read_write_lock");
    add_peer<EntryMutex>("entry_mutex");
    add_peer<SharedTreeMap>("shared_map");
    add_peer<SharedHashMap>("shared_unordered_map");
    add_peer<Lfht<Memb>>("lfht_memb");
    add_peer<Lfht<Qsbr>>("lfht_qsbr");
    add_peer<Tbb>("tbb");
    add_one("resolve_each", "weak_ptr", resolve_weak);
    add_one("resolve_stale", "weak_ptr", resolve_weak_stale);
}
