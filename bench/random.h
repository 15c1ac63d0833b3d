/*
 * bench/random.h - xorshift64*: cheap, the same in every run, private to a thread.
 */
#ifndef HAFT_BENCH_RANDOM_H
#define HAFT_BENCH_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench
{

class Random
{
  public:
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}

    uint64_t next()
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1Du;
    }

    /* Below `bound`, which fits in 32 bits; without a division. */
    uint64_t below(uint64_t bound) { return (next() >> 32) * bound >> 32; }

  private:
    uint64_t state;
};

template <class Item> void shuffle(std::vector<Item> &items, Random random)
{
    for (size_t left = items.size(); left > 1; left--) {
        std::swap(items[left - 1], items[random.below(left)]);
    }
}

} // namespace bench

#endif // HAFT_BENCH_RANDOM_H
