/*
 * bench/pinned.h - threads that stay on a core of their own, where there are as many cores.
 */
#ifndef HAFT_BENCH_PINNED_H
#define HAFT_BENCH_PINNED_H

#include <sched.h>

namespace bench
{

/*
 * The calling thread on the `number`-th core that it may use, for as long as this lives; nothing if
 * there are fewer cores than `threads`, or the system does not let it.
 */
class Pinned
{
  public:
    Pinned(int number, int threads)
    {
        if (sched_getaffinity(0, sizeof before, &before) != 0 || CPU_COUNT(&before) < threads) {
            return;
        }
        int core = 0;
        cpu_set_t one;

        while (!CPU_ISSET(core, &before) || number-- > 0) {
            core++;
        }
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        is_pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    }

    ~Pinned()
    {
        if (is_pinned) {
            sched_setaffinity(0, sizeof before, &before);
        }
    }

    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;

  private:
    cpu_set_t before = {};
    bool is_pinned = false;
};

} // namespace bench

#endif // HAFT_BENCH_PINNED_H
