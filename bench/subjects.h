/*
 * bench/subjects.h - the tables that are compared, behind one face each.
 *
 *   Table(capacity)           opened and closed by one thread, when no worker is open
 *   Table::high_water()       slots ever used; asked once, when all workers are done
 *   Table::Worker(table)      a thread's part: constructed, used and destroyed by that thread
 *     insert, free, quiescent
 *     offline(), online()     around the time in which the thread waits for others: no grace
 *                             period waits for it
 *     reader()                a value to keep in a local variable, so that its fields stay in
 *                             registers
 *   Reader::begin(), end()    a read section
 *   Reader::first_word(id)    of the id's object; 0 if there is none
 *   Reader::first_words(..)   the sum of many, resolved together
 */
#ifndef HAFT_BENCH_SUBJECTS_H
#define HAFT_BENCH_SUBJECTS_H

#include "bench/flavours.h"
#include "bench/locked_table.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <haft/local.h>
#include <haft/table.h>
#include <haft/typed.h>
#include <vector>

namespace bench
{

struct Object {
    uint64_t first;       /* never 0 */
#ifndef HAFT_BENCH_VALUES /* which a program defines where objects are values of 8 bytes */
    uint64_t others[2];
#endif
#ifdef HAFT_BENCH_ENDS /* which a program defines that looks when objects end */
    ~Object();
#endif
};

/* How many ids a caller of first_words() resolves at a time. */
constexpr size_t many = 64;

/* A benchmark has no use for a table that did not do what it was asked to. */
inline void require(haft_status status)
{
    if (status != HAFT_OK) {
        std::fprintf(stderr, "benchmark: %s\n", haft_status_text(status));
        std::abort();
    }
}

// --- readers ---

/* haft_resolve(), and what a section is. */
template <class Flavour> class HaftReader
{
  public:
    HaftReader(haft_view table_view, haft_domain *table_domain)
        : view(table_view), domain(table_domain)
    {
    }

    void begin() const { Flavour::begin(domain); }
    void end() const { Flavour::end(domain); }

    uint64_t first_word(haft_id id) const
    {
        const void *object = haft_resolve(view, id);

        return object != nullptr ? static_cast<const Object *>(object)->first : 0;
    }

    uint64_t first_words(const haft_id *ids, size_t count) const
    {
        return sum_of_uses(ids, count, [](uint64_t first) { return first; });
    }

    /* What `use` makes of the objects' first words, resolved together. */
    template <class Use> uint64_t sum_of_uses(const haft_id *ids, size_t count, Use use) const
    {
        std::array<void *, many> objects;
        uint64_t sum = 0;

        haft_resolve_many(view, ids, objects.data(), count);
        for (size_t i = 0; i < count; i++) {
            sum += objects[i] != nullptr ? use(static_cast<const Object *>(objects[i])->first) : 0;
        }
        return sum;
    }

  private:
    haft_view view;
    haft_domain *domain;
};

struct NoSections {
    static void begin(haft_domain *) {}
    static void end(haft_domain *) {}
};

/* An array index without any check: what resolving cannot beat. */
class RawReader
{
  public:
    explicit RawReader(haft_view table_view) : view(table_view) {}

    void begin() const {}
    void end() const {}

    uint64_t first_word(haft_id id) const
    {
        const char *slot = view.base + (id.bits & view.mask) * view.stride;

        return reinterpret_cast<const Object *>(slot + sizeof(uint64_t))->first;
    }

  private:
    haft_view view;
};

/* haft_resolve() where the compiler knows the distance of slots, as in typed tables. */
class ConstantReader
{
  public:
    explicit ConstantReader(haft_view table_view) : view(table_view)
    {
        require(view.stride == stride ? HAFT_OK : HAFT_WRONG_TYPE);
    }

    void begin() const {}
    void end() const {}

    uint64_t first_word(haft_id id) const
    {
        const haft_view constant = {view.base, view.mask, stride};
        const void *object = haft_resolve(constant, id);

        return object != nullptr ? static_cast<const Object *>(object)->first : 0;
    }

  private:
    static constexpr uint64_t stride = sizeof(uint64_t) + sizeof(Object);
    haft_view view;
};

/* The least check: slots of a constant size in plain memory, whose first word is compared with the
 * id.  No atomic, no layout, no mask. */
class ComparedReader
{
  public:
    explicit ComparedReader(haft_view view) : slots(reinterpret_cast<const Slot *>(view.base)) {}

    void begin() const {}
    void end() const {}

    uint64_t first_word(haft_id id) const
    {
        const Slot &slot = slots[static_cast<uint32_t>(id.bits)];

        return slot.id == id.bits ? slot.object.first : 0;
    }

  private:
    struct Slot {
        uint64_t id;
        Object object;
    };
    const Slot *slots;
};

// --- haft's shared table ---

template <class Flavour, haft_clock clock, bool huge_pages = false> class HaftTable
{
  public:
    explicit HaftTable(uint64_t capacity, haft_reclaim *on_reclaim = nullptr,
                       uint64_t waiting_bytes = 0)
    {
        haft_domain_options domain_options = {};
        haft_table_options options = {};

        domain_options.foreign_clock = Flavour::foreign_clock();
        domain_options.clock = clock;
        require(haft_domain_open(&domain_options, &domain));
        options.capacity = capacity;
        options.object_size = sizeof(Object);
        options.huge_pages = huge_pages;
        options.on_reclaim = on_reclaim;
        options.waiting_bytes = waiting_bytes;
        require(haft_table_open(domain, &options, &table));
    }

    ~HaftTable()
    {
        require(haft_table_close(table));
        require(haft_domain_close(domain));
    }

    HaftTable(const HaftTable &) = delete;
    HaftTable &operator=(const HaftTable &) = delete;

    uint64_t high_water() const { return haft_table_stats_get(table).high_water; }

    /* Slots that were freed and not reclaimed yet; batches of them whose grace period has not
     * passed. */
    uint64_t retired() const { return haft_table_stats_get(table).retired; }
    uint64_t waiting() const { return haft_domain_stats_get(domain).backlog; }

    class Worker
    {
      public:
        explicit Worker(HaftTable &owner) : domain(owner.domain), table(owner.table)
        {
            haft_thread_register(domain);
            require(haft_worker_open(table, &worker));
        }

        ~Worker()
        {
            require(haft_worker_close(worker));
            if (is_offline) {
                haft_thread_online(domain);
            }
            haft_thread_unregister(domain);
        }

        Worker(const Worker &) = delete;
        Worker &operator=(const Worker &) = delete;

        haft_id insert(const Object &object)
        {
            haft_id id;
            haft_status status = haft_insert(worker, &object, &id);

            if (status == HAFT_BUSY) {
                status = haft_insert_wait(worker, &object, &id);
            }
            if (status != HAFT_OK) {
                require(status);
            }
            return id;
        }

        bool free(haft_id id) { return haft_free(worker, id) == HAFT_OK; }
        void quiescent() { require(haft_worker_quiescent(worker)); }
        void flush() { require(haft_worker_flush(worker)); }

        /* Where the clock goes on by calls alone. */
        void drive()
        {
            if (clock == HAFT_CLOCK_CALLER) {
                require(haft_domain_wait(domain));
            } else if (clock == HAFT_CLOCK_FRAME) {
                require(haft_domain_tick(domain));
            }
        }

        void offline()
        {
            haft_thread_offline(domain);
            is_offline = true;
        }

        void online()
        {
            haft_thread_online(domain);
            is_offline = false;
        }

        HaftReader<Flavour> reader() const
        {
            return HaftReader<Flavour>(haft_table_view(table), domain);
        }

        haft_view view() const { return haft_table_view(table); }

      protected:
        haft_worker *untyped() const { return worker; }

      private:
        haft_domain *domain;
        haft_table *table;
        haft_worker *worker = nullptr;
        bool is_offline = false;
    };

  private:
    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
};

using QsbrCaller = HaftTable<Qsbr, HAFT_CLOCK_CALLER>;
using QsbrThread = HaftTable<Qsbr, HAFT_CLOCK_THREAD>;
using MembCaller = HaftTable<Memb, HAFT_CLOCK_CALLER>;
using MembHuge = HaftTable<Memb, HAFT_CLOCK_CALLER, true>;
using MembThread = HaftTable<Memb, HAFT_CLOCK_THREAD>;
using MembCalledCaller = HaftTable<MembCalled, HAFT_CLOCK_CALLER>;
using Workers = HaftTable<Announced, HAFT_CLOCK_WORKERS>;

} // namespace bench

HAFT_TYPED_ID(bench_object);
HAFT_TYPED(bench_object, bench::Object);
HAFT_TYPED_TABLE(bench_object);

namespace bench
{

/* A typed table: insertion and free in place. */
class Typed : public Workers
{
  public:
    using Workers::Workers;

    class Worker : public Workers::Worker
    {
      public:
        explicit Worker(Typed &owner) : Workers::Worker(owner)
        {
            require(bench_object_worker_adopt(untyped(), &typed));
        }

        haft_id insert(const Object &object)
        {
            bench_object_id id;
            haft_status status = bench_object_insert(typed, &object, &id);

            if (status == HAFT_BUSY) {
                status = bench_object_insert_wait(typed, &object, &id);
            }
            if (status != HAFT_OK) {
                require(status);
            }
            return bench_object_id_untyped(id);
        }

        bool free(haft_id id)
        {
            return bench_object_free(typed, bench_object_id_of(id)) == HAFT_OK;
        }

      private:
        bench_object_worker typed = {};
    };
};

/* Insertions and frees of many at once. */
class Many : public Workers
{
  public:
    using Workers::Workers;

    class Worker : public Workers::Worker
    {
      public:
        explicit Worker(Many &owner) : Workers::Worker(owner) {}

        /* Copies of `object`, made by the first call. */
        void insert_all(const Object &object, std::vector<haft_id> &ids)
        {
            objects.resize(ids.size(), object);
            size_t done = 0;

            while (done < ids.size()) {
                done += haft_insert_many(untyped(), &objects[done], &ids[done], ids.size() - done,
                                         nullptr);
                if (done < ids.size()) {
                    ids[done++] = insert(object); /* waits, if it has to */
                }
            }
        }

        uint64_t free_all(const std::vector<haft_id> &ids)
        {
            return ids.size() - haft_free_many(untyped(), ids.data(), ids.size(), nullptr);
        }

      private:
        std::vector<Object> objects;
    };
};

/* The same slots, looked at in another way. */
template <class Reader> class Bare : public QsbrCaller
{
  public:
    using QsbrCaller::QsbrCaller;

    class Worker : public QsbrCaller::Worker
    {
      public:
        explicit Worker(Bare &owner) : QsbrCaller::Worker(owner) {}
        Reader reader() const { return Reader(view()); }
    };
};
using Raw = Bare<RawReader>;
using Compared = Bare<ComparedReader>;
using Constant = Bare<ConstantReader>;

// --- one thread ---

class Local
{
  public:
    explicit Local(uint64_t capacity)
    {
        haft_local_options options = {};

        options.capacity = capacity;
        options.object_size = sizeof(Object);
        require(haft_local_open(&options, &local));
    }

    ~Local() { haft_local_close(local); }
    Local(const Local &) = delete;
    Local &operator=(const Local &) = delete;

    /* Uses the table up: freed slots come back first, so the first fresh one tells. */
    uint64_t high_water()
    {
        const haft_layout layout = haft_local_info(local).layout;
        haft_id id;

        do {
            require(haft_local_insert(local, nullptr, &id));
        } while (haft_id_generation(layout, id) != 1);
        return haft_id_index(layout, id) - HAFT_FIRST_INDEX;
    }

    class Worker
    {
      public:
        explicit Worker(Local &owner) : local(owner.local) {}

        haft_id insert(const Object &object)
        {
            haft_id id;
            const haft_status status = haft_local_insert(local, &object, &id);

            if (status != HAFT_OK) {
                require(status);
            }
            return id;
        }

        bool free(haft_id id) { return haft_local_free(local, id) == HAFT_OK; }
        void quiescent() {}
        void offline() {}
        void online() {}
        HaftReader<NoSections> reader() const
        {
            return HaftReader<NoSections>(haft_local_view(local), nullptr);
        }

      protected:
        haft_local *table() const { return local; }

      private:
        haft_local *local;
    };

  private:
    haft_local *local = nullptr;
};

HAFT_TYPED_ID(typed);
HAFT_TYPED(typed, Object);
HAFT_TYPED_LOCAL(typed);

/* The same table, of which the compiler knows the type. */
class TypedLocal
{
  public:
    explicit TypedLocal(uint64_t capacity)
    {
        haft_local_options options = {};

        options.capacity = capacity;
        require(typed_local_open(&options, &local));
    }

    ~TypedLocal() { typed_local_close(local); }
    TypedLocal(const TypedLocal &) = delete;
    TypedLocal &operator=(const TypedLocal &) = delete;

    class Reader
    {
      public:
        explicit Reader(typed_view table_view) : view(table_view) {}

        void begin() const {}
        void end() const {}

        uint64_t first_word(haft_id id) const
        {
            const Object *object = typed_resolve(view, typed_id_of(id));

            return object != nullptr ? object->first : 0;
        }

      private:
        typed_view view;
    };

    class Worker
    {
      public:
        explicit Worker(TypedLocal &owner) : local(owner.local) {}

        haft_id insert(const Object &object)
        {
            typed_id id;
            const haft_status status = typed_local_insert(local, &object, &id);

            if (status != HAFT_OK) {
                require(status);
            }
            return typed_id_untyped(id);
        }

        bool free(haft_id id) { return typed_local_free(local, typed_id_of(id)) == HAFT_OK; }
        Reader reader() const { return Reader(local.view); }

      private:
        typed_local local;
    };

  private:
    typed_local local = {};
};

// --- locks around one array ---

template <class Lock> class Locked
{
  public:
    explicit Locked(uint64_t capacity) : table(capacity) {}

    uint64_t high_water() const { return table.high_water(); }

    class Reader
    {
      public:
        explicit Reader(LockedTable<Object, Lock> *read) : table(read) {}
        void begin() const {}
        void end() const {}
        uint64_t first_word(haft_id id) const { return table->first_word(id); }
        uint64_t first_words(const haft_id *ids, size_t count) const
        {
            return table->first_words(ids, count);
        }

      private:
        LockedTable<Object, Lock> *table;
    };

    class Worker
    {
      public:
        explicit Worker(Locked &owner) : table(&owner.table) {}
        haft_id insert(const Object &object) { return table->insert(object); }
        bool free(haft_id id) { return table->free(id); }
        void quiescent() {}
        void offline() {}
        void online() {}
        Reader reader() const { return Reader(table); }

      private:
        LockedTable<Object, Lock> *table;
    };

  private:
    LockedTable<Object, Lock> table;
};

using Mutex = Locked<OneAtATime>;
using SpinLock = Locked<Spinning>;
using ReadWrite = Locked<ManyReaders>;

} // namespace bench

#endif // HAFT_BENCH_SUBJECTS_H
