/*
 * bench/locked.h - tables that locks protect.
 *
 *   SharedMap     std::map or std::unordered_map of heap objects under a std::shared_mutex
 *   EntryMutex    an array with a mutex in each entry; another one guards the list of free ones
 *
 * The one mutex and the read-write lock around an array are in bench/locked_table.h.
 */
#ifndef HAFT_BENCH_LOCKED_H
#define HAFT_BENCH_LOCKED_H

#include "bench/subjects.h"

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace bench
{

/* Reads that each stand for themselves: the table is locked in each. */
template <class Table> class LockingReader
{
  public:
    explicit LockingReader(Table *read) : table(read) {}
    void begin() const {}
    void end() const {}
    uint64_t first_word(haft_id id) const { return table->first_word(id); }

  private:
    Table *table;
};

/* The worker of a table whose calls any thread may make. */
template <class Table> class AnyWorker
{
  public:
    explicit AnyWorker(Table &owner) : table(&owner) {}
    haft_id insert(const Object &object) { return table->insert(object); }
    bool free(haft_id id) { return table->free(id); }
    void quiescent() {}
    void offline() {}
    void online() {}
    LockingReader<Table> reader() const { return LockingReader<Table>(table); }

  private:
    Table *table;
};

template <class Map> class SharedMap
{
  public:
    explicit SharedMap(uint64_t) {}

    using Worker = AnyWorker<SharedMap>;

    haft_id insert(const Object &object)
    {
        auto box = std::make_unique<Object>(object);
        const std::unique_lock<std::shared_mutex> lock(mutex);
        const haft_id id{++last_id};

        map.emplace(id.bits, std::move(box));
        return id;
    }

    bool free(haft_id id)
    {
        const std::unique_lock<std::shared_mutex> lock(mutex);

        return map.erase(id.bits) == 1;
    }

    uint64_t first_word(haft_id id)
    {
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto found = map.find(id.bits);

        return found != map.end() ? found->second->first : 0;
    }

    uint64_t high_water() const { return 0; }

  private:
    std::shared_mutex mutex;
    Map map;
    uint64_t last_id = 0;
};

using SharedTreeMap = SharedMap<std::map<uint64_t, std::unique_ptr<Object>>>;
using SharedHashMap = SharedMap<std::unordered_map<uint64_t, std::unique_ptr<Object>>>;

class EntryMutex
{
  public:
    explicit EntryMutex(uint64_t most) : entries(std::make_unique<Entry[]>(most)), capacity(most) {}

    using Worker = AnyWorker<EntryMutex>;

    haft_id insert(const Object &object)
    {
        const uint32_t index = take_index();
        Entry &entry = entries[index];
        const std::lock_guard<std::mutex> lock(entry.mutex);

        entry.object = object;
        return haft_id{index | uint64_t{entry.generation} << 32};
    }

    bool free(haft_id id)
    {
        const uint32_t index = static_cast<uint32_t>(id.bits);
        {
            const std::lock_guard<std::mutex> lock(entries[index].mutex);

            if (entries[index].generation != id.bits >> 32) {
                return false;
            }
            ++entries[index].generation;
        }
        const std::lock_guard<std::mutex> lock(list_mutex);
        entries[index].next_free = first_free;
        first_free = index;
        return true;
    }

    uint64_t first_word(haft_id id)
    {
        const uint64_t index = id.bits & UINT32_MAX;

        if (index >= capacity) {
            return 0;
        }
        const std::lock_guard<std::mutex> lock(entries[index].mutex);
        return entries[index].generation == id.bits >> 32 ? entries[index].object.first : 0;
    }

    uint64_t high_water() const { return used; }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Entry {
        std::mutex mutex;
        uint32_t generation = 1;
        uint32_t next_free = none;
        Object object{};
    };

    uint32_t take_index()
    {
        const std::lock_guard<std::mutex> lock(list_mutex);
        const uint32_t index = first_free;

        if (index == none) {
            if (used == capacity) {
                std::abort();
            }
            return static_cast<uint32_t>(used++);
        }
        first_free = entries[index].next_free;
        return index;
    }

    std::unique_ptr<Entry[]> entries;
    uint64_t capacity;
    std::mutex list_mutex;
    uint32_t first_free = none;
    uint64_t used = 0;
};

} // namespace bench

#endif // HAFT_BENCH_LOCKED_H
