/*
 * bench/one_cas.h - the least that a life costs where any thread may free any object: slots from an
 * array of free indices, one compare-and-swap in free, and two calls, or none.  No clock, no limit,
 * no counters: a slot is used again at once.  One thread.
 */
#ifndef HAFT_BENCH_ONE_CAS_H
#define HAFT_BENCH_ONE_CAS_H

#include <atomic>
#include <cstdint>
#include <haft/id.h>
#include <vector>

namespace bench
{

template <bool calls> class OneCasTable
{
    static constexpr uint64_t index_mask = UINT32_MAX;
    static constexpr uint64_t generation_one = index_mask + 1;

    struct Slot {
        std::atomic<uint64_t> word{generation_one};
        Object object;
    };

  public:
    explicit OneCasTable(uint64_t) : slots(slot_count)
    {
        for (uint32_t index = slot_count; index-- > HAFT_FIRST_INDEX;) {
            free_slots.push_back(index);
        }
    }

    class Worker
    {
      public:
        explicit Worker(OneCasTable &owner) : table(&owner) {}

        haft_id insert(const Object &object)
        {
            return calls ? insert_called(object) : insert_here(object);
        }

        bool free(haft_id id) { return calls ? free_called(id) : free_here(id); }

        void quiescent() {}
        void offline() {}
        void online() {}

      private:
        __attribute__((noinline)) haft_id insert_called(const Object &object)
        {
            return insert_here(object);
        }

        __attribute__((noinline)) bool free_called(haft_id id) { return free_here(id); }

        __attribute__((always_inline)) haft_id insert_here(const Object &object)
        {
            const uint32_t index = table->free_slots.back();
            Slot &slot = table->slots[index];
            const uint64_t word = slot.word.load(std::memory_order_relaxed);
            const uint64_t bits = (word & ~index_mask) | index;

            table->free_slots.pop_back();
            slot.object = object;
            slot.word.store(bits, std::memory_order_release);
            return haft_id{bits};
        }

        __attribute__((always_inline)) bool free_here(haft_id id)
        {
            const uint32_t index = static_cast<uint32_t>(id.bits);
            Slot &slot = table->slots[index];
            uint64_t word = slot.word.load(std::memory_order_acquire);

            if (word != id.bits || !slot.word.compare_exchange_strong(
                                       word, (id.bits & ~index_mask) + generation_one,
                                       std::memory_order_acq_rel, std::memory_order_acquire)) {
                return false;
            }
            table->free_slots.push_back(index);
            return true;
        }

        OneCasTable *table;
    };

    uint64_t high_water() const { return slot_count; }

  private:
    static constexpr uint32_t slot_count = 1200; /* as many as haft uses beside 1,024 live ones */

    std::vector<Slot> slots;
    std::vector<uint32_t> free_slots;
};

using OneCas = OneCasTable<true>;
using OneCasInlined = OneCasTable<false>;

} // namespace bench

#endif // HAFT_BENCH_ONE_CAS_H
