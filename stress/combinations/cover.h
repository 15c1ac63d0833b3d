/*
 * stress/combinations/cover.h - which pairs of features have met.
 *
 * A call counts when the library is called, not when a plan has it; CENSUS, DRAIN, PROGRESS and
 * REFUSE_MEMORY, which are none of the library's, count when they begin.  The columns of options
 * also have the clocks, and what makes a table special without being an option: one life a slot, no
 * slot beyond the capacity.
 */
#ifndef HAFT_COMBINATIONS_COVER_H
#define HAFT_COMBINATIONS_COVER_H

#include "stress/combinations/plan.h"

/* FEATURE(name, whether a plan's `options` have it) */
#define ALL_FEATURES(FEATURE)                                                                      \
    FEATURE(caller_memb, options->clock == PLAN_CALLER_MEMB)                                       \
    FEATURE(caller_qsbr, options->clock == PLAN_CALLER_QSBR)                                       \
    FEATURE(thread_memb, options->clock == PLAN_THREAD_MEMB)                                       \
    FEATURE(thread_qsbr, options->clock == PLAN_THREAD_QSBR)                                       \
    FEATURE(caller_ck, options->clock == PLAN_CALLER_CK)                                           \
    FEATURE(thread_ck, options->clock == PLAN_THREAD_CK)                                           \
    FEATURE(workers, options->clock == PLAN_WORKERS)                                               \
    FEATURE(frame, options->clock == PLAN_FRAME)                                                   \
    FEATURE(tag, options->tag_bits != 0)                                                           \
    FEATURE(first_generation, options->first_generation != 0)                                      \
    FEATURE(no_objects, options->object_size == 0)                                                 \
    FEATURE(large_objects, options->object_size >= 4096)                                           \
    FEATURE(wrap, options->wrap != 0)                                                              \
    FEATURE(pins, options->pins != 0)                                                              \
    FEATURE(sites, options->sites != 0)                                                            \
    FEATURE(on_reclaim, options->on_reclaim != 0)                                                  \
    FEATURE(waiting_bytes, options->waiting_slots != 0)                                            \
    FEATURE(never_wait, options->never_wait != 0)                                                  \
    FEATURE(block, options->heap == 2)                                                             \
    FEATURE(heap, options->heap != 0)                                                              \
    FEATURE(side, options->side != 0)                                                              \
    FEATURE(other_table, options->other_table != 0)                                                \
    FEATURE(counted, options->counted != 0)                                                        \
    FEATURE(counted_min_free, options->counted != 0 && options->counted_min_free != 0)             \
    FEATURE(one_life, plan_has_one_life(options))                                                  \
    FEATURE(no_spare, options->capacity + 4 == 1u << options->index_bits)

#define FEATURE_NAME(name, has) FEATURE_##name,
enum feature { ALL_FEATURES(FEATURE_NAME) FEATURE_COUNT };
#undef FEATURE_NAME

/* Moments at which a call is made. */
#define ALL_PHASES(PHASE)                                                                          \
    PHASE(first_use)     /* nothing is live, or was freed */                                       \
    PHASE(last_slot)     /* one place is left */                                                   \
    PHASE(full)          /* no place is left */                                                    \
    PHASE(last_life)     /* of the slot that the call is on */                                     \
    PHASE(exhausted)     /* some slot is */                                                        \
    PHASE(ids_repeat)    /* after wrapping */                                                      \
    PHASE(trimming)      /* while another call trims */                                            \
    PHASE(closing)       /* while the table is closed, or taken from all threads */                \
    PHASE(shared_again)  /* after it was a local table in between */                               \
    PHASE(budget_spent)  /* open workers hold back all that they may */                            \
    PHASE(no_memory)     /* while the system refuses memory */                                     \
    PHASE(in_section)    /* inside a read section */                                               \
    PHASE(in_job)        /* inside an outermost job, or one with the frame clock */                \
    PHASE(in_inner_job)  /* inside another job, or online */                                       \
    PHASE(parked)        /* between park and unpark, in no job that began since */                 \
    PHASE(recorded)      /* while recorders are open */                                            \
    PHASE(applying)      /* while a thread applies a command set */                                \
    PHASE(holding)       /* while the thread holds counted objects */                              \
    PHASE(in_on_destroy) /* of the counted table */                                                \
    PHASE(in_on_reclaim)

#define PHASE_NAME(name) PHASE_##name,
enum phase { ALL_PHASES(PHASE_NAME) PHASE_COUNT };
#undef PHASE_NAME

/* How often a row and a column came together, and in which play first. */
struct pair {
    _Atomic(uint64_t) count;
    _Atomic(uint64_t) seed; /* of its plan */
};

struct cover {
    struct pair features[FEATURE_COUNT][FEATURE_COUNT]; /* plays */
    struct pair with[CALL_COUNT][FEATURE_COUNT];        /* calls */
    struct pair during[CALL_COUNT][PHASE_COUNT];        /* calls */
    struct pair beside[CALL_COUNT][CALL_COUNT];         /* of two threads on one slot */
};

/* A play has ended: its features, and how often it made each call. */
void cover_play(struct cover *cover, const struct plan *plan, const uint64_t *made);

/* A call of the plan of `seed` was made at a moment with these phases, a bit each. */
void cover_call(struct cover *cover, uint64_t seed, uint32_t call, uint32_t phases);

/* A call on a slot on which another thread is in the middle of the call `other`. */
void cover_overlap(struct cover *cover, uint64_t seed, uint32_t call, uint32_t other);

/* As JSON: rows and columns by name, their counts, and the seeds of the first plays. */
void cover_write(FILE *file, const struct cover *cover);

#endif /* HAFT_COMBINATIONS_COVER_H */
