/*
 * bench/locked_table.h - the handle table that one would write without haft: a lock around an
 * array of {generation, object} with a free list.
 *
 * The same ids: index in the low 32 bits, generation above.  A pointer would not outlive the
 * lock, so reading happens under it.
 */
#ifndef HAFT_BENCH_LOCKED_TABLE_H
#define HAFT_BENCH_LOCKED_TABLE_H

#include <atomic>
#include <cstdint>
#include <haft/id.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <shared_mutex>
#include <vector>

namespace bench
{

/* A lock is taken by a guard: Reading or Writing. */

class OneAtATime
{
  public:
    OneAtATime() = default;
    ~OneAtATime() { pthread_mutex_destroy(&mutex); }
    OneAtATime(const OneAtATime &) = delete;
    OneAtATime &operator=(const OneAtATime &) = delete;

    class Writing
    {
      public:
        explicit Writing(OneAtATime &lock) : held(&lock.mutex) { pthread_mutex_lock(held); }
        ~Writing() { pthread_mutex_unlock(held); }
        Writing(const Writing &) = delete;
        Writing &operator=(const Writing &) = delete;

      private:
        pthread_mutex_t *held;
    };

    using Reading = Writing;

  private:
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

/* Test, and test and set; a thread that waits for long gives the processor up. */
class Spinning
{
  public:
    class Writing
    {
      public:
        explicit Writing(Spinning &lock) : held(&lock.is_taken)
        {
            while (held->exchange(true, std::memory_order_acquire)) {
                wait();
            }
        }
        ~Writing() { held->store(false, std::memory_order_release); }
        Writing(const Writing &) = delete;
        Writing &operator=(const Writing &) = delete;

      private:
        void wait() const
        {
            for (unsigned looks = 0; held->load(std::memory_order_relaxed); looks++) {
                if (looks % 128 == 127) {
                    sched_yield();
                }
            }
        }

        std::atomic<bool> *held;
    };

    using Reading = Writing;

  private:
    alignas(64) std::atomic<bool> is_taken{false};
};

struct ManyReaders {
    struct Writing : std::unique_lock<std::shared_mutex> {
        explicit Writing(ManyReaders &lock) : std::unique_lock<std::shared_mutex>(lock.mutex) {}
    };

    struct Reading : std::shared_lock<std::shared_mutex> {
        explicit Reading(ManyReaders &lock) : std::shared_lock<std::shared_mutex>(lock.mutex) {}
    };

    std::shared_mutex mutex;
};

template <class Object, class Lock> class LockedTable
{
  public:
    explicit LockedTable(uint64_t capacity) { entries.reserve(capacity); }
    LockedTable(const LockedTable &) = delete;
    LockedTable &operator=(const LockedTable &) = delete;

    haft_id insert(const Object &object)
    {
        const typename Lock::Writing held(lock);
        const uint32_t index = take_index();
        Entry &entry = entries[index];

        new (&entry.object) Object(object);
        return haft_id{index | uint64_t{entry.generation} << 32};
    }

    bool free(haft_id id)
    {
        const typename Lock::Writing held(lock);
        Entry *entry = find(id);

        if (entry == nullptr) {
            return false;
        }
        std::destroy_at(&entry->object);
        ++entry->generation;
        entry->next_free = first_free;
        first_free = static_cast<uint32_t>(id.bits);
        return true;
    }

    /* The object's first word, 0 if the id is stale. */
    uint64_t first_word(haft_id id)
    {
        const typename Lock::Reading held(lock);

        return first_word_locked(id);
    }

    /* The sum of the first words of `count` objects, under one lock. */
    uint64_t first_words(const haft_id *ids, size_t count)
    {
        const typename Lock::Reading held(lock);
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

    Lock lock;
    std::vector<Entry> entries;
    uint32_t first_free = none;
};

} // namespace bench

#endif // HAFT_BENCH_LOCKED_TABLE_H
