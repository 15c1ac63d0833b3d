/*
 * bench/alone.h - tables for one thread, with the face of bench/subjects.h and one call more:
 *
 *   Worker::sum()   of the first words of all objects, in the order that suits the table
 */
#ifndef HAFT_BENCH_ALONE_H
#define HAFT_BENCH_ALONE_H

#include "bench/subjects.h"

#include <algorithm>
#include <haft/kit/packed.h>
#include <haft/view.h>
#include <memory>
#include <vector>

namespace bench
{

/* Apart: whose objects they are makes no difference to the machine code. */
inline __attribute__((noinline)) uint64_t sum_of_array(const Object *objects, uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        sum += objects[i].first;
    }
    return sum;
}

// --- haft_local ---

/* An inline run over the view. */
class LocalRun : public Local
{
  public:
    using Local::Local;

    class Worker : public Local::Worker
    {
      public:
        explicit Worker(LocalRun &owner) : Local::Worker(owner) {}

        uint64_t sum() const
        {
            haft_run run = haft_run_over(haft_local_view(table()), HAFT_RANGE(0, used));
            uint64_t total = 0;
            haft_id id;
            void *object;

            while (haft_run_next(&run, &id, &object)) {
                total += static_cast<const Object *>(object)->first;
            }
            return total;
        }

        haft_id insert(const Object &object)
        {
            const haft_id id = Local::Worker::insert(object);

            used = std::max(used, uint64_t{haft_id_index(HAFT_LAYOUT_32_32, id)} + 1);
            return id;
        }

      private:
        uint64_t used = 0; /* slots */
    };
};

/* A call for each object. */
class LocalCalled : public Local
{
  public:
    using Local::Local;

    class Worker : public Local::Worker
    {
      public:
        explicit Worker(LocalCalled &owner) : Local::Worker(owner) {}

        uint64_t sum() const
        {
            uint64_t total = 0;

            haft_local_for_each(table(), add_first_word, &total);
            return total;
        }

      private:
        static bool add_first_word(haft_id, void *object, void *sum)
        {
            *static_cast<uint64_t *>(sum) += static_cast<const Object *>(object)->first;
            return true;
        }
    };
};

/* The same slots, without the check. */
class LocalRaw : public Local
{
  public:
    using Local::Local;

    class Worker : public Local::Worker
    {
      public:
        explicit Worker(LocalRaw &owner) : Local::Worker(owner) {}
        RawReader reader() const { return RawReader(haft_local_view(table())); }
    };
};

// --- haft_packed ---

class Packed
{
  public:
    explicit Packed(uint64_t capacity)
    {
        haft_packed_options options = {};

        options.capacity = capacity;
        options.object_size = sizeof(Object);
        require(haft_packed_open(&options, &packed));
    }

    ~Packed() { haft_packed_close(packed); }
    Packed(const Packed &) = delete;
    Packed &operator=(const Packed &) = delete;

    class Reader
    {
      public:
        explicit Reader(haft_dense_view table_view) : view(table_view) {}
        void begin() const {}
        void end() const {}

        uint64_t first_word(haft_id id) const
        {
            const void *object = haft_packed_resolve(view, id);

            return object != nullptr ? static_cast<const Object *>(object)->first : 0;
        }

      private:
        haft_dense_view view;
    };

    class Worker
    {
      public:
        explicit Worker(Packed &owner) : packed(owner.packed) {}

        haft_id insert(const Object &object)
        {
            haft_id id;
            const haft_status status = haft_packed_insert(packed, &object, &id);

            if (status != HAFT_OK) {
                require(status);
            }
            return id;
        }

        bool free(haft_id id) { return haft_packed_free(packed, id) == HAFT_OK; }
        Reader reader() const { return Reader(haft_packed_view(packed)); }

        uint64_t sum() const
        {
            return sum_of_array(static_cast<const Object *>(haft_packed_objects(packed)),
                                haft_packed_count(packed));
        }

      private:
        haft_packed *packed;
    };

  private:
    haft_packed *packed = nullptr;
};

// --- maps of heap objects, keyed by id ---

template <class Map> class HeapMap
{
  public:
    explicit HeapMap(uint64_t) {}

    class Reader
    {
      public:
        explicit Reader(const Map *read) : map(read) {}
        void begin() const {}
        void end() const {}

        uint64_t first_word(haft_id id) const
        {
            const auto found = map->find(id.bits);

            return found != map->end() ? found->second->first : 0;
        }

      private:
        const Map *map;
    };

    class Worker
    {
      public:
        explicit Worker(HeapMap &owner) : map(&owner.map), last_id(&owner.last_id) {}

        haft_id insert(const Object &object)
        {
            const haft_id id{++*last_id};

            map->emplace(id.bits, std::make_unique<Object>(object));
            return id;
        }

        bool free(haft_id id) { return map->erase(id.bits) == 1; }
        Reader reader() const { return Reader(map); }

        uint64_t sum() const
        {
            uint64_t total = 0;

            for (const auto &entry : *map) {
                total += entry.second->first;
            }
            return total;
        }

      private:
        Map *map;
        uint64_t *last_id;
    };

  private:
    Map map;
    uint64_t last_id = 0;
};

// --- a plain array, without ids ---

class Array
{
  public:
    explicit Array(uint64_t capacity) { objects.reserve(capacity); }

    class Worker
    {
      public:
        explicit Worker(Array &owner) : objects(&owner.objects) {}

        haft_id insert(const Object &object)
        {
            objects->push_back(object);
            return haft_id{objects->size() - 1};
        }

        uint64_t sum() const { return sum_of_array(objects->data(), objects->size()); }

      private:
        std::vector<Object> *objects;
    };

  private:
    std::vector<Object> objects;
};

} // namespace bench

#endif // HAFT_BENCH_ALONE_H
