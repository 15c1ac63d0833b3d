/*
 * bench/held.h - tables whose objects a thread holds while it uses them, behind one face.
 *
 *   Table(capacity)
 *   insert(object), free(id)   any thread
 *   use(id)                    hold the object, read its first word, let it go; 0 if there is none
 *   copy(id)                   the first word without holding the object, where the table can
 *
 * Those with a Worker also play what bench/subjects.h describes: each read holds the object.
 *
 * Without haft one would write: a mutex and a count; a read-write lock and an atomic count; a count
 * beside the generation in one word, raised first and looked at after; weak_ptr.
 * `BareSteps` is the bound: for each step a load and a compare-and-swap; no word is judged.
 */
#ifndef HAFT_BENCH_HELD_H
#define HAFT_BENCH_HELD_H

#include "bench/locked.h"
#include "bench/subjects.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <haft/counted.h>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace bench
{

/* Objects of `size` bytes: of 8 they are copied, else held. */
template <bool copies, bool spreads> class CountedTable
{
  public:
    explicit CountedTable(uint64_t capacity, haft_counted_destroy *on_destroy = nullptr)
    {
        haft_counted_options options{};

        options.capacity = capacity;
        options.object_size = copies ? sizeof(uint64_t) : sizeof(Object);
        options.copies = copies;
        options.spread = spreads;
        options.on_destroy = on_destroy;
        if (haft_counted_open(&options, &table) != HAFT_OK) {
            std::abort();
        }
    }

    ~CountedTable()
    {
        if (haft_counted_close(table) != HAFT_OK) {
            std::abort();
        }
    }

    CountedTable(const CountedTable &) = delete;
    CountedTable &operator=(const CountedTable &) = delete;

    haft_id insert(const Object &object)
    {
        haft_id id = HAFT_NIL;

        if (haft_counted_insert(table, &object, &id) != HAFT_OK) {
            std::abort();
        }
        return id;
    }

    bool free(haft_id id) { return haft_counted_free(table, id) == HAFT_OK; }

    uint64_t use(haft_id id)
    {
        const void *object = haft_counted_acquire(table, id);
        uint64_t first = 0;

        if (object != nullptr) {
            std::memcpy(&first, object, sizeof first);
            haft_counted_release(table, id);
        }
        return first;
    }

    uint64_t copy(haft_id id)
    {
        uint64_t first = 0;

        haft_counted_copy(table, id, &first);
        return first;
    }

    using Worker = AnyWorker<CountedTable>;

    uint64_t first_word(haft_id id) { return copies ? copy(id) : use(id); }
    uint64_t high_water() const { return haft_counted_stats_get(table).high_water; }

  private:
    haft_counted *table = nullptr;
};

using Counted = CountedTable<false, false>;
using CountedSpread = CountedTable<false, true>;
using CountedCopies = CountedTable<true, false>;

/* A slot of the tables below. */
struct CountedEntry {
    std::atomic<uint64_t> word{0}; /* generation 32 | count 32 */
    Object object{};
    uint32_t generation = 1;
    uint32_t count = 0;
    std::atomic<uint32_t> holders{0};
};

/* Indices that are free, under a lock; each is given out with its generation. */
class CountedEntries
{
  public:
    explicit CountedEntries(uint64_t capacity) : entries(capacity)
    {
        for (uint64_t index = capacity; index-- > 0;) {
            free_indices.push_back(static_cast<uint32_t>(index));
        }
    }

    CountedEntry *find(haft_id id)
    {
        const uint64_t index = id.bits & UINT32_MAX;

        return index < entries.size() ? &entries[index] : nullptr;
    }

    haft_id put(const Object &object)
    {
        const uint32_t index = free_indices.back();
        CountedEntry &entry = entries[index];

        free_indices.pop_back();
        entry.object = object;
        return haft_id{index | uint64_t{entry.generation} << 32};
    }

    void take(haft_id id)
    {
        find(id)->generation++;
        free_indices.push_back(static_cast<uint32_t>(id.bits));
    }

  private:
    std::vector<CountedEntry> entries;
    std::vector<uint32_t> free_indices;
};

/* One mutex; the count is a number. */
class MutexCount
{
  public:
    explicit MutexCount(uint64_t capacity) : entries(capacity) {}

    haft_id insert(const Object &object)
    {
        const std::lock_guard<std::mutex> held(mutex);

        return entries.put(object);
    }

    bool free(haft_id id)
    {
        const std::lock_guard<std::mutex> held(mutex);
        const CountedEntry *entry = live(id);

        if (entry == nullptr || entry->count != 0) {
            return false;
        }
        entries.take(id);
        return true;
    }

    uint64_t use(haft_id id)
    {
        const CountedEntry *entry = acquire(id);
        const uint64_t first = entry != nullptr ? entry->object.first : 0;

        if (entry != nullptr) {
            release(id);
        }
        return first;
    }

  private:
    CountedEntry *live(haft_id id)
    {
        CountedEntry *entry = entries.find(id);

        return entry != nullptr && entry->generation == id.bits >> 32 ? entry : nullptr;
    }

    __attribute__((noinline)) CountedEntry *acquire(haft_id id)
    {
        const std::lock_guard<std::mutex> held(mutex);
        CountedEntry *entry = live(id);

        if (entry != nullptr) {
            entry->count++;
        }
        return entry;
    }

    __attribute__((noinline)) void release(haft_id id)
    {
        const std::lock_guard<std::mutex> held(mutex);

        live(id)->count--;
    }

    std::mutex mutex;
    CountedEntries entries;
};

/* A read-write lock around the look, and an atomic count that outlasts it. */
class ReadWriteCount
{
  public:
    explicit ReadWriteCount(uint64_t capacity) : entries(capacity) {}

    haft_id insert(const Object &object)
    {
        const std::unique_lock<std::shared_mutex> held(mutex);

        return entries.put(object);
    }

    bool free(haft_id id)
    {
        const std::unique_lock<std::shared_mutex> held(mutex);
        const CountedEntry *entry = live(id);

        if (entry == nullptr || entry->holders.load(std::memory_order_acquire) != 0) {
            return false;
        }
        entries.take(id);
        return true;
    }

    uint64_t use(haft_id id)
    {
        CountedEntry *entry = acquire(id);

        if (entry == nullptr) {
            return 0;
        }
        const uint64_t first = entry->object.first;

        release(entry);
        return first;
    }

  private:
    CountedEntry *live(haft_id id)
    {
        CountedEntry *entry = entries.find(id);

        return entry != nullptr && entry->generation == id.bits >> 32 ? entry : nullptr;
    }

    __attribute__((noinline)) CountedEntry *acquire(haft_id id)
    {
        const std::shared_lock<std::shared_mutex> held(mutex);
        CountedEntry *entry = live(id);

        if (entry != nullptr) {
            entry->holders.fetch_add(1, std::memory_order_acquire);
        }
        return entry;
    }

    __attribute__((noinline)) void release(CountedEntry *entry)
    {
        entry->holders.fetch_sub(1, std::memory_order_release);
    }

    std::shared_mutex mutex;
    CountedEntries entries;
};

/* One word: the count is raised before the generation is looked at, and lowered if it is wrong. */
class UndoCount
{
  public:
    explicit UndoCount(uint64_t capacity) : entries(capacity) {}

    haft_id insert(const Object &object)
    {
        const std::lock_guard<std::mutex> held(mutex);
        const haft_id id = entries.put(object);

        entries.find(id)->word.store(id.bits >> 32 << 32, std::memory_order_release);
        return id;
    }

    bool free(haft_id id)
    {
        uint64_t word = id.bits >> 32 << 32;

        if (!entries.find(id)->word.compare_exchange_strong(word, 0, std::memory_order_acquire)) {
            return false;
        }
        const std::lock_guard<std::mutex> held(mutex);

        entries.take(id);
        return true;
    }

    uint64_t use(haft_id id)
    {
        const CountedEntry *entry = acquire(id);
        const uint64_t first = entry != nullptr ? entry->object.first : 0;

        if (entry != nullptr) {
            release(id);
        }
        return first;
    }

  private:
    __attribute__((noinline)) CountedEntry *acquire(haft_id id)
    {
        CountedEntry *entry = entries.find(id);

        if (entry == nullptr) {
            return nullptr;
        }
        if (entry->word.fetch_add(1, std::memory_order_acquire) >> 32 != id.bits >> 32) {
            entry->word.fetch_sub(1, std::memory_order_release);
            return nullptr;
        }
        return entry;
    }

    __attribute__((noinline)) void release(haft_id id)
    {
        entries.find(id)->word.fetch_sub(1, std::memory_order_release);
    }

    std::mutex mutex;
    CountedEntries entries;
};

/* shared_ptr in an array, found by weak_ptr, as an id is kept elsewhere. */
class WeakPointers
{
  public:
    explicit WeakPointers(uint64_t capacity) : entries(capacity), owners(capacity), weak(capacity)
    {
    }

    haft_id insert(const Object &object)
    {
        const std::lock_guard<std::mutex> held(mutex);
        const haft_id id = entries.put(object);
        const uint64_t index = id.bits & UINT32_MAX;

        owners[index] = std::make_shared<Object>(object);
        weak[index] = owners[index];
        return id;
    }

    bool free(haft_id id)
    {
        const std::lock_guard<std::mutex> held(mutex);

        owners[id.bits & UINT32_MAX].reset();
        entries.take(id);
        return true;
    }

    uint64_t use(haft_id id)
    {
        const std::shared_ptr<Object> object = weak[id.bits & UINT32_MAX].lock();

        return object != nullptr ? object->first : 0;
    }

    uint64_t copy(haft_id id) { return use(id); }

  private:
    std::mutex mutex;
    CountedEntries entries;
    std::vector<std::shared_ptr<Object>> owners;
    std::vector<std::weak_ptr<Object>> weak;
};

/* An array of shared pointers and generations under a read-write lock; objects end outside it. */
class SharedPointers
{
  public:
    explicit SharedPointers(uint64_t) {}

    using Worker = AnyWorker<SharedPointers>;

    haft_id insert(const Object &object)
    {
        auto made = std::make_shared<Object>(object);
        const std::unique_lock<std::shared_mutex> held(mutex);

        if (free_indices.empty()) {
            free_indices.push_back(static_cast<uint32_t>(entries.size()));
            entries.emplace_back();
        }
        const uint32_t index = free_indices.back();

        free_indices.pop_back();
        entries[index].object = std::move(made);
        return haft_id{index | uint64_t{entries[index].generation} << 32};
    }

    bool free(haft_id id)
    {
        std::shared_ptr<Object> ended; /* destroyed when the lock is let go */
        const std::unique_lock<std::shared_mutex> held(mutex);
        Entry *entry = live(id);

        if (entry == nullptr) {
            return false;
        }
        ended.swap(entry->object);
        entry->generation++;
        free_indices.push_back(static_cast<uint32_t>(id.bits));
        return true;
    }

    uint64_t first_word(haft_id id)
    {
        const std::shared_ptr<Object> object = find(id);

        return object != nullptr ? object->first : 0;
    }

    uint64_t high_water() const { return entries.size(); }

  private:
    struct Entry {
        std::shared_ptr<Object> object;
        uint32_t generation = 1;
    };

    Entry *live(haft_id id)
    {
        Entry &entry = entries[id.bits & UINT32_MAX];

        return entry.generation == id.bits >> 32 ? &entry : nullptr;
    }

    std::shared_ptr<Object> find(haft_id id)
    {
        const std::shared_lock<std::shared_mutex> held(mutex);
        const Entry *entry = live(id);

        return entry != nullptr ? entry->object : nullptr;
    }

    std::shared_mutex mutex;
    std::vector<Entry> entries;
    std::vector<uint32_t> free_indices;
};

/*
 * The bound: a load and a compare-and-swap for each step of a use, three for a life; a copy is a
 * load of the word, a comparison and a load of the value.
 */
class BareSteps
{
  public:
    explicit BareSteps(uint64_t capacity) : entries(capacity) {}

    __attribute__((noinline)) haft_id insert(const Object &object)
    {
        const haft_id id{next < entries.size() ? next++ : entries.size() - 1};
        CountedEntry &entry = entries[id.bits];

        entry.object.first = object.first;
        step(head);
        entry.word.store(id.bits, std::memory_order_release);
        return id;
    }

    __attribute__((noinline)) bool free(haft_id id)
    {
        step(entries[id.bits].word);
        step(head);
        return true;
    }

    uint64_t use(haft_id id)
    {
        const uint64_t first = acquire(id);

        release(id);
        return first;
    }

    __attribute__((noinline)) uint64_t copy(haft_id id)
    {
        const CountedEntry &entry = entries[id.bits];

        return entry.word.load(std::memory_order_acquire) == id.bits ? entry.object.first : 0;
    }

  private:
    static void step(std::atomic<uint64_t> &word)
    {
        uint64_t now = word.load(std::memory_order_relaxed);

        while (!word.compare_exchange_strong(now, now + 1, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
        }
    }

    __attribute__((noinline)) uint64_t acquire(haft_id id)
    {
        step(entries[id.bits].word);
        return entries[id.bits].object.first;
    }

    __attribute__((noinline)) void release(haft_id id) { step(entries[id.bits].word); }

    std::vector<CountedEntry> entries;
    uint64_t next = 0;
    alignas(64) std::atomic<uint64_t> head{0};
};

} // namespace bench

#endif // HAFT_BENCH_HELD_H
