/*
 * bench/flavours.h - liburcu's flavours, as the benchmarks' readers use them.
 *
 * The read locks are liburcu's inlined ones: bench/BUILD defines _LGPL_SOURCE, which is for each
 * user of liburcu to decide.  haft's own headers never do.
 */
#ifndef HAFT_BENCH_FLAVOURS_H
#define HAFT_BENCH_FLAVOURS_H

#include <haft/domain.h>
#include <urcu/tls-compat.h>

/*
 * liburcu says thread_local to C++ compilers, which then ask before each use whether the variable
 * has a constructor to run.  __thread is what C programs get.
 */
#ifdef URCU_TLS_STORAGE_CLASS
#undef URCU_TLS_STORAGE_CLASS
#define URCU_TLS_STORAGE_CLASS __thread
#endif
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include <haft/urcu.h> /* behind them, since it includes liburcu's headers too */

namespace bench
{

struct Qsbr {
    static const rcu_flavor_struct *flavour() { return &urcu_qsbr_flavor; }
    static const haft_foreign_clock *foreign_clock() { return haft_urcu_qsbr(); }
    static void begin(haft_domain *) { urcu_qsbr_read_lock(); }
    static void end(haft_domain *) { urcu_qsbr_read_unlock(); }
};

struct Memb {
    static const rcu_flavor_struct *flavour() { return &urcu_memb_flavor; }
    static const haft_foreign_clock *foreign_clock() { return haft_urcu_memb(); }
    static void begin(haft_domain *) { urcu_memb_read_lock(); }
    static void end(haft_domain *)
    {
        haft_note_reader_left();
        urcu_memb_read_unlock();
    }
};

/* The same flavour by way of haft/domain.h, which inlines nothing. */
struct MembCalled {
    static const rcu_flavor_struct *flavour() { return &urcu_memb_flavor; }
    static const haft_foreign_clock *foreign_clock() { return haft_urcu_memb(); }
    static void begin(haft_domain *domain) { haft_section_begin(domain); }
    static void end(haft_domain *domain) { haft_section_end(domain); }
};

/* No foreign clock: workers announce their own quiescent points. */
struct Announced {
    static const haft_foreign_clock *foreign_clock() { return nullptr; }
    static void begin(haft_domain *) {}
    static void end(haft_domain *) {}
};

} // namespace bench

#endif // HAFT_BENCH_FLAVOURS_H
