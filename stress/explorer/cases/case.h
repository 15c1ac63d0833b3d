/*
 * stress/explorer/cases/case.h - what a case is, and what cases share.
 *
 * A case is one situation with a few threads and few steps, run under many schedules.  It states
 * its invariant, and says when the race was met that it is for: a run that never met it proves
 * nothing.  Tables are tiny, so that reuse, exhaustion and the last slot come within few steps.
 *
 * Cases know the library only, white-box ones the depot, ring and pool as well.  What threads of
 * a case tell each other goes through shared words, which order nothing.
 */
#ifndef HAFT_STRESS_CASE_H
#define HAFT_STRESS_CASE_H

#include <haft/domain.h>
#include <haft/share.h>
#include <haft/table.h>
#include <stdatomic.h>

struct explored_case {
    const char *name;
    const char *invariant;
    uint32_t threads;
    void (*set_up)(void);          /* before the threads, in each schedule */
    void (*body)(uint32_t thread); /* 0 to threads - 1, at once */
    void (*tear_down)(void);       /* after them; checks what must hold at the end */
    struct explored_case *next;
};

/* In the order of the files. */
extern struct explored_case *all_cases;
void add_case(struct explored_case *explored);

/* Adds a case: its name, set_up, body, tear_down and invariant. */
#define EXPLORE(case_name, count, set_up, body, tear_down, text)                                   \
    __attribute__((constructor)) static void add_##case_name(void)                                 \
    {                                                                                              \
        static struct explored_case explored = {#case_name, text,      count, set_up,              \
                                                body,       tear_down, NULL};                      \
                                                                                                   \
        add_case(&explored);                                                                       \
    }                                                                                              \
    _Static_assert((count) > 0, "a case has threads")

/* An invariant, in words for when it does not hold. */
void require(bool holds, const char *text);
void require_status(haft_status status, haft_status expected, const char *what);

/*
 * The race that the case is for was met in this schedule: said so, or because two threads were
 * between begin and end at once.
 */
void met(void);
void race_begin(void);
void race_end(void);

/* As in the child of a fork: the other threads of the case stop where they are, for good. */
void fork_here(void);

/* The last thing that a thread does which may have ended when another one forks. */
void end_before_fork(void);

/* Until no other thread can go on; then see all that they have done. */
void settle(void);

/* --- words that order nothing --- */

typedef _Atomic(uint64_t) shared_u64;

uint64_t peek(shared_u64 *word);
void poke(shared_u64 *word, uint64_t value);
uint64_t add(shared_u64 *word, uint64_t value); /* the value before */

/* Later than all times read before: its reader has seen what the readers of those had done. */
uint64_t stamp_time(void);

/* Before the first of a schedule; opening a table does so. */
void forget_times(void);

/* --- a domain and a table for each schedule --- */

struct object {
    uint64_t id;
    uint64_t canary;
};

/* Write what shows whose an object is; whether it does. */
void stamp(struct object *object, haft_id id);
bool is_stamped(const struct object *object, haft_id id);

struct fixture {
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
};

extern struct fixture fixture;

/* An index of 3 bits: at most 4 slots. */
struct table_wish {
    uint64_t capacity;
    uint64_t waiting_bytes;
    size_t object_size;      /* 0: struct object's */
    uint8_t index_bits;      /* 0: 3, for 4 slots */
    uint8_t generation_bits; /* 0: 2, for 3 lives of each slot */
    bool is_workers;         /* the workers clock */
    bool is_frame;           /* the frame clock */
    bool has_pins;
    bool has_thread;          /* the clock has a thread, else threads that wait drive it */
    bool is_qsbr;             /* threads are online or offline, else sections begin and end */
    bool is_late;             /* the foreign clock, as late as it may be */
    haft_reclaim *on_reclaim; /* NULL: none */
    void (*on_stall)(const haft_stall *stall, void *arg); /* NULL: none; else of any time */
};

void open_table(const struct table_wish *wish);
void open_shared(haft_local *local); /* the fixture's table is that one, shared */

/* No call is under way: each slot is in one place, and the counters agree.  Closing checks it. */
void require_census(const haft_table *table);
void close_table(void);
void close_table_in_child(void); /* of a fork: no census */

haft_worker *open_worker(void);
void close_worker(haft_worker *worker);

/* A new object that knows its id, waiting for a slot if that helps. */
haft_id insert_stamped(haft_worker *worker);

/* The same in a local table, which has a slot. */
haft_id insert_local(haft_local *local);

/* Resolve in a section of the calling thread; what is found must be the id's own object. */
bool look_at(haft_id id);

/* The system gives the calling thread no memory, until it is told to again: see commit.c. */
void refuse_memory(bool refuse);

/* With all workers closed, the table takes `count` objects. */
void require_room_for(uint32_t count);

#endif /* HAFT_STRESS_CASE_H */
