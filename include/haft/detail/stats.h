/*
 * haft/detail/stats.h - the statistics of tables and domains: the one list of each.
 *
 *   X(name, kind, unit, meaning)   kind: counter, which never falls, or gauge
 *
 * haft_table_stats, haft_domain_stats, haft_local_stats and haft_counted_stats consist of them, in
 * this order; the file of an export, haft-top's metrics, gdb's printer and the HTML pages take them
 * from here.  concurrent/table/stats.c says how each is made of the workers' counters.
 */
#ifndef HAFT_DETAIL_STATS_H
#define HAFT_DETAIL_STATS_H

#include <stdint.h>

#define HAFT_TABLE_STATS(X)                                                                        \
    X(live, gauge, objects, "published and not freed")                                             \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(retired, gauge, slots, "freed, not reclaimed yet: before or after a grace period")           \
    X(free, gauge, slots, "reclaimed, to be reserved or restored again")                           \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(released, gauge, slots, "not drawn since their memory was released: haft/memory.h")          \
    X(high_water, gauge, slots, "ever used: all of the above together")                            \
    X(capacity, gauge, objects, "fit, as opened")                                                  \
    X(limit, gauge, slots, "can be: capacity, and what workers hold back")                         \
    X(batches_moved, counter, batches, "went from one worker to another or to the depot")          \
    X(workers, gauge, workers, "open now")                                                         \
    X(created, counter, objects, "ever published, shared or restored")                             \
    X(freed, counter, objects, "ever freed")                                                       \
    X(refused_frees, counter, frees, "of ids that were not live")

#define HAFT_DOMAIN_STATS(X)                                                                       \
    X(grace_periods, counter, periods, "ended and let something be reused (frame: ticks)")         \
    X(longest_grace_period_ns, gauge, ns, "0 before the first, and with the frame clock")          \
    X(backlog, gauge, tickets, "batches that wait: requested and not done")                        \
    X(stalls, counter, stalls, "noticed")

/*
 * Of haft_local: a name of the list above has its meaning there.  After haft_unshare() slots that a
 * worker had drawn and not used count too: in `high_water`, and in `released` where they fill page
 * runs, else in `free`.
 */
#define HAFT_LOCAL_STATS(X)                                                                        \
    X(live, gauge, objects, "published and not freed")                                             \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(retired, gauge, slots, "freed, not reclaimed yet: on_destroy runs")                          \
    X(free, gauge, slots, "reclaimed, to be reserved or restored again")                           \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(released, gauge, slots, "not drawn since their memory was released: haft/memory.h")          \
    X(high_water, gauge, slots, "ever used: all of the above together")                            \
    X(capacity, gauge, objects, "fit, as opened, grown by haft_unshare() or loaded")               \
    X(limit, gauge, slots, "can be: capacity, min_free, and what workers held back")               \
    X(bytes, gauge, bytes, "of memory in use: the table, its slots and what belongs to them")

/* Of haft_counted: a walk counts them, except for high_water, capacity, limit and bytes. */
#define HAFT_COUNTED_STATS(X)                                                                      \
    X(live, gauge, objects, "published and not freed")                                             \
    X(held, gauge, objects, "live, and held")                                                      \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(ended, gauge, objects, "freed, and still held or being destroyed")                           \
    X(free, gauge, slots, "used before, to be used again")                                         \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(high_water, gauge, slots, "ever used: live, reserved, ended, free and exhausted")            \
    X(capacity, gauge, objects, "fit, as opened")                                                  \
    X(limit, gauge, slots, "can be: capacity and min_free")                                        \
    X(bytes, gauge, bytes, "of memory in use: the table and the slots ever used")

/* A struct of them has room for more, so that a later version has the same struct. */
#define HAFT_STATS_MEMBER(name, kind, unit, meaning) uint64_t name;
#define HAFT_STATS_COUNT(name, kind, unit, meaning) +1
#define HAFT_TABLE_STATS_ROOM 24
#define HAFT_DOMAIN_STATS_ROOM 8
#define HAFT_LOCAL_STATS_ROOM 16
#define HAFT_COUNTED_STATS_ROOM 16

#endif /* HAFT_DETAIL_STATS_H */
