/*
 * bench/allocated.h - no table at all: an object is memory from an allocator, and its id is the
 * pointer.  Nothing detects a stale one.
 *
 * mimalloc is loaded at run time and called by its own names: linked, it would take malloc's
 * place.
 */
#ifndef HAFT_BENCH_ALLOCATED_H
#define HAFT_BENCH_ALLOCATED_H

#include "bench/subjects.h"

#include <dlfcn.h>

namespace bench
{

struct Glibc {
    static void *take(size_t size) { return std::malloc(size); }
    static void give(void *memory) { std::free(memory); }
};

struct Mi {
    static void *take(size_t size) { return entry().take(size); }
    static void give(void *memory) { entry().give(memory); }

  private:
    struct Entry {
        Entry()
        {
            /* Never closed: what it keeps for threads outlives this. */
            void *const library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);

            if (library != nullptr) {
                take = reinterpret_cast<void *(*)(size_t)>(dlsym(library, "mi_malloc"));
                give = reinterpret_cast<void (*)(void *)>(dlsym(library, "mi_free"));
            }
            if (take == nullptr || give == nullptr) {
                std::fprintf(stderr, "benchmark: no libmimalloc.so.2\n");
                std::abort();
            }
        }

        void *(*take)(size_t) = nullptr;
        void (*give)(void *) = nullptr;
    };

    static const Entry &entry()
    {
        static const Entry loaded;
        return loaded;
    }
};

template <class Allocator> class Allocated
{
  public:
    explicit Allocated(uint64_t) {}

    uint64_t high_water() const { return 0; }

    class Worker
    {
      public:
        explicit Worker(Allocated &) {}

        haft_id insert(const Object &object)
        {
            void *memory = Allocator::take(sizeof(Object));

            *static_cast<Object *>(memory) = object;
            return haft_id{reinterpret_cast<uint64_t>(memory)};
        }

        bool free(haft_id id)
        {
            Allocator::give(reinterpret_cast<void *>(id.bits));
            return true;
        }

        void quiescent() {}
        void offline() {}
        void online() {}
    };
};

} // namespace bench

#endif // HAFT_BENCH_ALLOCATED_H
