/*
 * stress/combinations/plan.h - what one play does: a table's options, its threads, their calls.
 *
 * A plan is drawn from a seed, before anything runs: a call names registers (places for an object's
 * id) instead of ids, and does nothing where the state does not allow it.  So any part of a plan is
 * a plan too, which is what shrinking needs.
 */
#ifndef HAFT_COMBINATIONS_PLAN_H
#define HAFT_COMBINATIONS_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_THREADS 4
#define PLAN_STEPS 384
#define MOST_CALLBACK_STEPS 4

/*
 * CALL(name): a thread's own calls.  ALONE(name): calls that one thread makes while all others
 * stand still; each of them waits for all threads to come there.
 */
#define ALL_CALLS(CALL, ALONE)                                                                     \
    CALL(WORKER_OPEN)                                                                              \
    CALL(WORKER_CLOSE)                                                                             \
    CALL(QUIESCENT)                                                                                \
    CALL(FLUSH)                                                                                    \
    CALL(OFFLINE_ONLINE)                                                                           \
    CALL(INSERT)                                                                                   \
    CALL(INSERT_WAIT)                                                                              \
    CALL(INSERT_MANY)                                                                              \
    CALL(RESERVE)                                                                                  \
    CALL(PUBLISH)                                                                                  \
    CALL(ABORT)                                                                                    \
    CALL(FREE)                                                                                     \
    CALL(FREE_STALE)                                                                               \
    CALL(FREE_MANY)                                                                                \
    CALL(TABLE_FREE)                                                                               \
    CALL(SECTION_BEGIN)                                                                            \
    CALL(SECTION_END)                                                                              \
    CALL(RESOLVE)                                                                                  \
    CALL(RESOLVE_MANY)                                                                             \
    CALL(PIN)                                                                                      \
    CALL(UNPIN)                                                                                    \
    CALL(SCAN)                                                                                     \
    CALL(DIAGNOSE)                                                                                 \
    CALL(EXPLAIN)                                                                                  \
    CALL(EXPORT)                                                                                   \
    CALL(SIDE_OPEN)                                                                                \
    CALL(SIDE_CLOSE)                                                                               \
    CALL(SIDE_SET)                                                                                 \
    CALL(SIDE_FIND)                                                                                \
    CALL(TRIM)                                                                                     \
    CALL(RECLAIM)                                                                                  \
    CALL(RESERVE_CAPACITY)                                                                         \
    CALL(WAIT)                                                                                     \
    CALL(JOB_BEGIN)                                                                                \
    CALL(JOB_END)                                                                                  \
    CALL(PARK)                                                                                     \
    CALL(UNPARK)                                                                                   \
    CALL(COMMANDS_OPEN)                                                                            \
    CALL(COMMANDS_CLOSE)                                                                           \
    CALL(RECORDER_OPEN)                                                                            \
    CALL(RECORD_CREATE)                                                                            \
    CALL(RECORD_DESTROY)                                                                           \
    CALL(RECORD_CALL)                                                                              \
    CALL(OTHER_INSERT)                                                                             \
    CALL(OTHER_FREE)                                                                               \
    CALL(COUNTED_INSERT)                                                                           \
    CALL(COUNTED_ACQUIRE)                                                                          \
    CALL(COUNTED_RELEASE)                                                                          \
    CALL(COUNTED_AGAIN)                                                                            \
    CALL(COUNTED_COPY)                                                                             \
    CALL(COUNTED_FREE)                                                                             \
    CALL(COUNTED_TAKE)                                                                             \
    CALL(COUNTED_STALE)                                                                            \
    CALL(COUNTED_WALK)                                                                             \
    CALL(APPLY)                                                                                    \
    ALONE(GUEST)                                                                                   \
    ALONE(GUEST_LEAVING)                                                                           \
    ALONE(TICK)                                                                                    \
    ALONE(CENSUS)                                                                                  \
    ALONE(DRAIN)                                                                                   \
    ALONE(PROGRESS)                                                                                \
    ALONE(UNSHARE_SHARE)                                                                           \
    ALONE(REWIND)                                                                                  \
    ALONE(SAVE_LOAD)                                                                               \
    ALONE(CLONE)                                                                                   \
    ALONE(TABLE_CLOSE)                                                                             \
    ALONE(COUNTED_CLOSE)                                                                           \
    ALONE(FORK)                                                                                    \
    ALONE(REFUSE_MEMORY)                                                                           \
    ALONE(CROWD)

#define CALL_NAME(name) CALL_##name,
enum call { ALL_CALLS(CALL_NAME, CALL_NAME) CALL_COUNT };
#undef CALL_NAME

extern const char *const call_names[CALL_COUNT];

/* Whether all other threads stand still for it. */
bool call_is_alone(uint32_t call);

struct step {
    uint8_t thread;
    uint8_t call;
    uint16_t at;    /* the register to begin at */
    uint16_t count; /* how often, or how many */
};

enum plan_clock {
    PLAN_CALLER_MEMB,
    PLAN_CALLER_QSBR,
    PLAN_THREAD_MEMB,
    PLAN_THREAD_QSBR,
    PLAN_WORKERS,
    PLAN_FRAME,
    PLAN_CALLER_CK, /* of another library than liburcu */
    PLAN_THREAD_CK,
    PLAN_CLOCK_COUNT
};

extern const char *const plan_clock_names[PLAN_CLOCK_COUNT];

#define ALL_OPTIONS(OPTION)                                                                        \
    OPTION(clock)                                                                                  \
    OPTION(index_bits)                                                                             \
    OPTION(generation_bits)                                                                        \
    OPTION(tag_bits)                                                                               \
    OPTION(capacity)                                                                               \
    OPTION(object_size)                                                                            \
    OPTION(first_generation)                                                                       \
    OPTION(wrap)                                                                                   \
    OPTION(pins)                                                                                   \
    OPTION(sites)                                                                                  \
    OPTION(on_reclaim)                                                                             \
    OPTION(waiting_slots)                                                                          \
    OPTION(never_wait)                                                                             \
    OPTION(heap)                                                                                   \
    OPTION(side)                                                                                   \
    OPTION(other_table)                                                                            \
    OPTION(counted)                                                                                \
    OPTION(counted_min_free)                                                                       \
    OPTION(counted_wrap)                                                                           \
    OPTION(counted_copies)                                                                         \
    OPTION(counted_spread)                                                                         \
    OPTION(counted_wipe)                                                                           \
    OPTION(counted_plain)                                                                          \
    OPTION(filled)                                                                                 \
    OPTION(stall)

/*
 * `filled`: objects inserted before the threads begin.  `heap`: its allocator is the play's (1),
 * or over a block (2).  `side`: values beside the objects, from the opening on.  `other_table`:
 * another table of the domain, which callbacks use as well; frees are by workers (1) or by
 * haft_table_free (2).  `counted`: the capacity of a counted table beside them; `counted_plain`:
 * without an on_destroy.  `waiting_slots`: waiting_bytes, as a number of slots.  `stall`: a grace
 * period is late after a nanosecond.  The rest is haft_table_options.
 */
struct plan_options {
#define OPTION_FIELD(name) uint32_t name;
    ALL_OPTIONS(OPTION_FIELD)
#undef OPTION_FIELD
};

struct plan {
    uint64_t seed;
    uint32_t threads;
    struct plan_options options;
    uint32_t step_count;
    uint32_t reclaim_count; /* the steps of on_reclaim, one a call */
    struct step steps[PLAN_STEPS];
    struct step on_reclaim[MOST_CALLBACK_STEPS];
};

/* A plan for threads that take turns with whole calls, or for threads at once, which is smaller. */
void plan_draw(struct plan *plan, uint64_t seed, bool at_once);

/* Whether it is the thread clock: chance has a part in what its thread does. */
bool plan_has_clock_thread(const struct plan_options *options);

/* How often a plan is played until it counts as one that breaks no rule: 4 times with such a clock,
 * else once. */
uint32_t plan_tries(const struct plan_options *options);

/* Whether no slot is used twice, unless generations wrap. */
bool plan_has_one_life(const struct plan_options *options);

/* The plan as C, for a test that plays it. */
void plan_print(FILE *file, const struct plan *plan);

#endif /* HAFT_COMBINATIONS_PLAN_H */
