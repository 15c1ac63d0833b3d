/*
 * bench/boxes.cc - objects in place against objects in boxes, one thread.
 *
 *   create     a table is opened, which knows nothing of how many objects will come, and `size`
 *              objects are inserted.  Its memory comes fresh from the system: malloc's is given
 *              back between rounds.  Closing the table is not counted.
 *   recreate   the same in a table that held as many objects before and was emptied: its memory
 *              is there already.
 *   access     the first words of these objects are summed up, by their ids in the order of
 *              insertion.
 *
 * One item is one object: 24 bytes, and 256 in the _large ones.  In place, the
 * object lies in the table; in a box, the table holds a pointer to memory allocated for it alone.
 * `vector` is the same check of a generation over a std::vector, which copies all it has
 * whenever it grows; haft_local never does, and boxes spare it.
 */
#include "bench/local.h"
#include "bench/main.h"
#include "bench/subjects.h"

#include <malloc.h>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace
{

using bench::require;

constexpr uint64_t objects_made = 10000;
constexpr uint64_t most_objects = 1 << 20; /* only address space is reserved for them */

template <size_t words> struct Sized {
    uint64_t first;
    uint64_t others[words - 1];
};

// --- what a table holds for an object ---

template <class Object> struct InPlace {
    explicit InPlace(const Object &from) : object(from) {}
    uint64_t first_word() const { return object.first; }
    Object object;
};

template <class Object> struct Boxed {
    explicit Boxed(const Object &from) : object(std::make_unique<Object>(from)) {}
    uint64_t first_word() const { return object->first; }
    std::unique_ptr<Object> object;
};

// --- tables of either ---

template <class Held> class HaftBoxes
{
  public:
    HaftBoxes()
    {
        haft_local_options options = {};

        options.capacity = most_objects;
        options.object_size = sizeof(Held);
        options.on_destroy = std::is_trivially_destructible_v<Held> ? nullptr : destroy;
        require(haft_local_open(&options, &local));
        view = haft_local_view(local);
    }

    ~HaftBoxes() { haft_local_close(local); }
    HaftBoxes(const HaftBoxes &) = delete;
    HaftBoxes &operator=(const HaftBoxes &) = delete;

    template <class Object> haft_id insert(const Object &object)
    {
        haft_id id;
        void *bytes;
        const haft_status status = haft_local_reserve(local, &id, &bytes);

        if (status != HAFT_OK) {
            require(status);
        }
        new (bytes) Held(object);
        haft_local_publish(local, id);
        return id;
    }

    void clear() { haft_local_clear(local); }

    uint64_t first_word(haft_id id) const
    {
        const void *held = haft_resolve(view, id);

        return held != nullptr ? static_cast<const Held *>(held)->first_word() : 0;
    }

  private:
    static void destroy(void *held, haft_id, void *) { static_cast<Held *>(held)->~Held(); }

    haft_local *local = nullptr;
    haft_view view;
};

template <class Held> class VectorBoxes
{
  public:
    template <class Object> haft_id insert(const Object &object)
    {
        entries.emplace_back(object);
        return haft_id{(entries.size() - 1) | uint64_t{1} << 32};
    }

    void clear() { entries.clear(); }

    uint64_t first_word(haft_id id) const
    {
        const uint64_t index = id.bits & UINT32_MAX;

        return index < entries.size() && entries[index].generation == id.bits >> 32
                   ? entries[index].held.first_word()
                   : 0;
    }

  private:
    struct Entry {
        template <class Object> explicit Entry(const Object &object) : held(object) {}
        uint64_t generation = 1;
        Held held;
    };

    std::vector<Entry> entries;
};

// --- loops ---

template <class Table, class Object> void insert_all(Table &table, std::vector<haft_id> &ids)
{
    Object object = {};

    for (haft_id &id : ids) {
        object.first++;
        id = table.insert(object);
    }
}

template <class Table, class Object> void create(benchmark::State &state)
{
    std::vector<haft_id> ids(static_cast<size_t>(state.range(0)));

    for (auto _ : state) {
        auto table = std::make_unique<Table>();
        insert_all<Table, Object>(*table, ids);
        bench::keep(ids.back().bits);
        state.PauseTiming();
        table.reset();
        malloc_trim(0);
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Table, class Object> void recreate(benchmark::State &state)
{
    std::vector<haft_id> ids(static_cast<size_t>(state.range(0)));
    Table table;

    insert_all<Table, Object>(table, ids);
    for (auto _ : state) {
        state.PauseTiming();
        table.clear();
        state.ResumeTiming();
        insert_all<Table, Object>(table, ids);
        bench::keep(ids.back().bits);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Table, class Object> void access(benchmark::State &state)
{
    std::vector<haft_id> ids(static_cast<size_t>(state.range(0)));
    Table table;
    uint64_t sum = 0;

    insert_all<Table, Object>(table, ids);
    for (auto _ : state) {
        sum = 0;
        for (const haft_id id : ids) {
            sum += table.first_word(id);
        }
        bench::keep(sum);
        benchmark::ClobberMemory();
    }
    if (sum != ids.size() * (ids.size() + 1) / 2) {
        state.SkipWithError("the objects do not sum up");
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Table, class Object> void add_table(const char *subject, const char *suffix)
{
    bench::Case one;

    one.subject = subject;
    one.size = objects_made;
    one.workload = std::string("create") + suffix;
    one.run = create<Table, Object>;
    bench::add(one);
    one.workload = std::string("recreate") + suffix;
    one.run = recreate<Table, Object>;
    bench::add(one);
    one.workload = std::string("access") + suffix;
    one.run = access<Table, Object>;
    bench::add(one);
}

template <class Object> void add_object(const char *suffix)
{
    add_table<HaftBoxes<InPlace<Object>>, Object>("haft_local_in_place", suffix);
    add_table<HaftBoxes<Boxed<Object>>, Object>("haft_local_boxed", suffix);
    add_table<VectorBoxes<InPlace<Object>>, Object>("vector_in_place", suffix);
    add_table<VectorBoxes<Boxed<Object>>, Object>("vector_boxed", suffix);
}

} // namespace

void bench::add_box_cases()
{
    add_object<Sized<3>>("");
    add_object<Sized<32>>("_large");
}
