/*
 * bench/mutex_table.h - the handle table that one would write without haft: a mutex around an
 * array of {generation, object} with a free list.
 *
 * The same ids: index in the low 32 bits, generation above.  A pointer would not outlive the
 * lock, so reading happens under it.
 */
#ifndef HAFT_BENCH_MUTEX_TABLE_H
#define HAFT_BENCH_MUTEX_TABLE_H

#include <cstdint>
#include <haft/id.h>
#include <pthread.h>
#include <vector>

namespace bench
{

class Lock
{
  public:
    explicit Lock(pthread_mutex_t *mutex) : held(mutex) { pthread_mutex_lock(held); }
    ~Lock() { pthread_mutex_unlock(held); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

  private:
    pthread_mutex_t *held;
};

template <class Object> class MutexTable
{
  public:
    explicit MutexTable(uint64_t capacity) { entries.reserve(capacity); }
    ~MutexTable() { pthread_mutex_destroy(&mutex); }
    MutexTable(const MutexTable &) = delete;
    MutexTable &operator=(const MutexTable &) = delete;

    haft_id insert(const Object &object)
    {
        const Lock lock(&mutex);
        const uint32_t index = take_index();
        Entry &entry = entries[index];

        entry.object = object;
        return haft_id{index | uint64_t{entry.generation} << 32};
    }

    bool free(haft_id id)
    {
        const Lock lock(&mutex);
        Entry *entry = find(id);

        if (entry == nullptr) {
            return false;
        }
        ++entry->generation;
        entry->next_free = first_free;
        first_free = static_cast<uint32_t>(id.bits);
        return true;
    }

    /* The object's first word, 0 if the id is stale. */
    uint64_t first_word(haft_id id)
    {
        const Lock lock(&mutex);

        return first_word_locked(id);
    }

    /* The sum of the first words of `count` objects, under one lock. */
    uint64_t first_words(const haft_id *ids, size_t count)
    {
        const Lock lock(&mutex);
        uint64_t sum = 0;

        for (size_t i = 0; i < count; i++) {
            sum += first_word_locked(ids[i]);
        }
        return sum;
    }

    uint64_t high_water() const { return entries.size(); }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Entry {
        uint32_t generation = 1;
        uint32_t next_free = none;
        Object object{};
    };

    uint32_t take_index()
    {
        if (first_free == none) {
            entries.emplace_back();
            return static_cast<uint32_t>(entries.size() - 1);
        }
        const uint32_t index = first_free;
        first_free = entries[index].next_free;
        return index;
    }

    Entry *find(haft_id id)
    {
        const uint64_t index = id.bits & UINT32_MAX;

        if (index >= entries.size() || entries[index].generation != id.bits >> 32) {
            return nullptr;
        }
        return &entries[index];
    }

    uint64_t first_word_locked(haft_id id)
    {
        const Entry *entry = find(id);

        return entry != nullptr ? entry->object.first : 0;
    }

    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::vector<Entry> entries;
    uint32_t first_free = none;
};

} // namespace bench

#endif // HAFT_BENCH_MUTEX_TABLE_H
