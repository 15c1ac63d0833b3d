/*
 * bench/hashed.h - concurrent hash tables keyed by id, as their own documentation sets them up.
 *
 *   Lfht<Flavour>   liburcu's cds_lfht: resizes itself, lookups in a read section, removed
 *                   objects are freed by call_rcu
 *   Tbb             oneTBB's concurrent_hash_map: objects in its nodes, an accessor locks one
 *
 * Neither makes ids: each worker counts its own.
 */
#ifndef HAFT_BENCH_HASHED_H
#define HAFT_BENCH_HASHED_H

#include "bench/locked.h"
#include "bench/subjects.h"

#include <atomic>
#include <oneapi/tbb/concurrent_hash_map.h>
#include <urcu/rculfhash.h>

namespace bench
{

/* Ids that no other worker makes. */
class IdSource
{
  public:
    explicit IdSource(std::atomic<uint64_t> &workers) : last((workers.fetch_add(1) + 1) << 40) {}
    haft_id next() { return haft_id{++last}; }

  private:
    uint64_t last;
};

// --- liburcu ---

struct LfhtNode {
    cds_lfht_node node;
    rcu_head head;
    uint64_t id;
    Object object;

    static LfhtNode *of(cds_lfht_node *node)
    {
        return node != nullptr ? caa_container_of(node, LfhtNode, node) : nullptr;
    }

    static int matches(cds_lfht_node *node, const void *id)
    {
        return of(node)->id == *static_cast<const uint64_t *>(id);
    }

    static void release(rcu_head *head) { delete caa_container_of(head, LfhtNode, head); }

    static unsigned long hash(uint64_t id)
    {
        id = (id ^ id >> 33) * 0xFF51AFD7ED558CCDu;
        id = (id ^ id >> 33) * 0xC4CEB9FE1A85EC53u;
        return id ^ id >> 33;
    }

    /* In a read section. */
    static LfhtNode *find(cds_lfht *table, uint64_t id)
    {
        cds_lfht_iter place;

        cds_lfht_lookup(table, hash(id), matches, &id, &place);
        return of(cds_lfht_iter_get_node(&place));
    }
};

template <class Flavour> class Lfht
{
  public:
    explicit Lfht(uint64_t)
        : table(cds_lfht_new_flavor(1024, 1024, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
                                    Flavour::flavour(), nullptr))
    {
    }

    ~Lfht()
    {
        const Worker worker(*this); /* registers this thread */
        clear();
        Flavour::flavour()->thread_offline();
        Flavour::flavour()->barrier();
        cds_lfht_destroy(table, nullptr);
        Flavour::flavour()->thread_online();
    }

    Lfht(const Lfht &) = delete;
    Lfht &operator=(const Lfht &) = delete;

    uint64_t high_water() const { return 0; }

    class Reader
    {
      public:
        explicit Reader(cds_lfht *read) : table(read) {}
        void begin() const { Flavour::begin(nullptr); }
        void end() const { Flavour::end(nullptr); }

        uint64_t first_word(haft_id id) const
        {
            const LfhtNode *found = LfhtNode::find(table, id.bits);

            return found != nullptr ? found->object.first : 0;
        }

      private:
        cds_lfht *table;
    };

    class Worker
    {
      public:
        explicit Worker(Lfht &owner) : table(owner.table), ids(owner.workers)
        {
            Flavour::flavour()->register_thread();
        }

        ~Worker()
        {
            if (is_offline) {
                Flavour::flavour()->thread_online();
            }
            Flavour::flavour()->unregister_thread();
        }

        Worker(const Worker &) = delete;
        Worker &operator=(const Worker &) = delete;

        haft_id insert(const Object &object)
        {
            LfhtNode *made = new LfhtNode;
            const haft_id id = ids.next();

            made->id = id.bits;
            made->object = object;
            Flavour::begin(nullptr);
            cds_lfht_add(table, LfhtNode::hash(id.bits), &made->node);
            Flavour::end(nullptr);
            return id;
        }

        bool free(haft_id id)
        {
            Flavour::begin(nullptr);
            LfhtNode *found = LfhtNode::find(table, id.bits);
            const bool is_ours = found != nullptr && cds_lfht_del(table, &found->node) == 0;

            Flavour::end(nullptr);
            if (is_ours) {
                Flavour::flavour()->update_call_rcu(&found->head, LfhtNode::release);
            }
            return is_ours;
        }

        void quiescent() { Flavour::flavour()->read_quiescent_state(); }

        void offline()
        {
            Flavour::flavour()->thread_offline();
            is_offline = true;
        }

        void online()
        {
            Flavour::flavour()->thread_online();
            is_offline = false;
        }

        Reader reader() const { return Reader(table); }

      private:
        cds_lfht *table;
        IdSource ids;
        bool is_offline = false;
    };

  private:
    void clear()
    {
        cds_lfht_iter place;
        cds_lfht_node *node;

        Flavour::begin(nullptr);
        cds_lfht_for_each(table, &place, node)
        {
            if (cds_lfht_del(table, node) == 0) {
                Flavour::flavour()->update_call_rcu(&LfhtNode::of(node)->head, LfhtNode::release);
            }
        }
        Flavour::end(nullptr);
    }

    cds_lfht *table;
    std::atomic<uint64_t> workers{0};
};

// --- oneTBB ---

class Tbb
{
  public:
    explicit Tbb(uint64_t) {}

    class Worker
    {
      public:
        explicit Worker(Tbb &owner) : table(&owner), ids(owner.workers) {}

        haft_id insert(const Object &object)
        {
            const haft_id id = ids.next();

            table->map.insert({id.bits, object});
            return id;
        }

        bool free(haft_id id) { return table->map.erase(id.bits); }
        void quiescent() {}
        void offline() {}
        void online() {}
        LockingReader<Tbb> reader() const { return LockingReader<Tbb>(table); }

      private:
        Tbb *table;
        IdSource ids;
    };

    uint64_t first_word(haft_id id)
    {
        Map::const_accessor found;

        return map.find(found, id.bits) ? found->second.first : 0;
    }

    uint64_t high_water() const { return 0; }

  private:
    using Map = tbb::concurrent_hash_map<uint64_t, Object>;

    Map map;
    std::atomic<uint64_t> workers{0};
};

} // namespace bench

#endif // HAFT_BENCH_HASHED_H
