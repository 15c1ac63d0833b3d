/*
 * bench/unwrap.cc - look-ups alone, of values of 8 bytes.
 *
 *   unwrap   1,024 values are live; each of 1 to 8 threads looks all of them up by id, in another
 *            order, again and again, and adds them up; a quiescent point each time.  One item is
 *            one id.
 *
 * haft_table's read section lasts from one quiescent point to the next; haft_counted copies the
 * value out, or acquires and releases it; lfht_memb has a read section around each look-up.
 * `bare` is the bound: a call that loads, compares and loads.
 */
#define HAFT_BENCH_VALUES /* bench::Object has 8 bytes */
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/pool.h"
#include "bench/random.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace
{

using bench::Companion;
using bench::Object;

constexpr uint64_t values = 1024;

std::unique_ptr<Companion> companion;
std::vector<haft_id> ids;

/* Values in place, under a read-write lock. */
class SharedValues
{
  public:
    explicit SharedValues(uint64_t) {}

    using Worker = bench::AnyWorker<SharedValues>;

    haft_id insert(const Object &object)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex);
        const haft_id id{++last_id};

        map.emplace(id.bits, object);
        return id;
    }

    uint64_t first_word(haft_id id)
    {
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto found = map.find(id.bits);

        return found != map.end() ? found->second.first : 0;
    }

  private:
    std::shared_mutex mutex;
    std::unordered_map<uint64_t, Object> map;
    uint64_t last_id = 0;
};

/* A table of bench/held.h that copies, or holds, what it is asked for. */
template <class Table> struct Copying : Table {
    using Table::Table;
    using Worker = bench::AnyWorker<Copying>;
    uint64_t first_word(haft_id id) { return Table::copy(id); }
};

template <class Table> struct Kept {
    static void before(const benchmark::State &)
    {
        companion = std::make_unique<Companion>();
        table = std::make_unique<Table>(4 * values);
        ids.clear();
        bench::span.clear();

        typename Table::Worker worker(*table);
        while (ids.size() < values) {
            ids.push_back(worker.insert(Object{1}));
        }
    }

    static void after(const benchmark::State &)
    {
        table.reset();
        companion.reset();
    }

    static std::unique_ptr<Table> table;
};

template <class Table> std::unique_ptr<Table> Kept<Table>::table;

template <class Reader> uint64_t sum_of(Reader reader, const std::vector<haft_id> &order)
{
    uint64_t sum = 0;

    for (const haft_id id : order) {
        reader.begin();
        sum += reader.first_word(id);
        reader.end();
    }
    return sum;
}

template <class Table> void unwrap(benchmark::State &state)
{
    typename Table::Worker worker(*Kept<Table>::table);
    const auto reader = worker.reader();
    std::vector<haft_id> order = ids;
    uint64_t wrong = 0;

    bench::shuffle(order, bench::Random(static_cast<uint64_t>(state.thread_index()) + 1));
    bench::run_rounds(state, worker, [&] { wrong += sum_of(reader, order) != values; });
    if (wrong != 0) {
        state.SkipWithError("a value was not found");
    }
    if (state.thread_index() == 0) {
        state.counters["items_per_second"] = static_cast<double>(state.iterations()) *
                                             state.threads() * static_cast<double>(values) /
                                             bench::span.seconds();
    }
}

template <class Table> void add_table(const char *subject)
{
    bench::Case one;

    one.workload = "unwrap";
    one.subject = subject;
    one.size = values;
    one.run = unwrap<Table>;
    one.before = Kept<Table>::before;
    one.after = Kept<Table>::after;
    bench::add_threads(one, 1, bench::most_threads());
}

} // namespace

void bench::add_cases()
{
    add_table<Copying<BareSteps>>("bare");
    add_table<Workers>("haft_table");
    add_table<CountedCopies>("haft_counted_copy");
    add_table<Counted>("haft_counted_acquire");
    add_table<Mutex>("mutex");
    add_table<ReadWrite>("read_write_lock");
    add_table<SharedValues>("shared_unordered_map");
    add_table<Copying<WeakPointers>>("weak_ptr");
    add_table<Lfht<Memb>>("lfht_memb");
    add_table<Lfht<Qsbr>>("lfht_qsbr");
    add_table<Tbb>("tbb");
}
