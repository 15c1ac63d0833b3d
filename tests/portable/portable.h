/*
 * tests/portable/portable.h - a test program that needs haft, C11 and nothing else: for every
 * machine, compiler and C library, and for the two files of dist/.
 *
 * A test runs under one or more circumstances: alone for what knows no clock, else once for each
 * clock, and with domain and table in a block.  CHECK() counts; a check that fails is printed
 * below the table.
 */
#ifndef HAFT_TESTS_PORTABLE_H
#define HAFT_TESTS_PORTABLE_H

#ifdef HAFT_TWO_FILES
#include "haft_kit.h"
#else
#include <haft/kit/kit.h>
#endif
#include <stdatomic.h>

/* --- checks --- */

/* From any thread.  Gives what it is given. */
bool check(bool holds, const char *what, const char *file, int line);
#define CHECK(what) check(what, #what, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK((call) == HAFT_OK)

/* The current test cannot run here, for this reason; or it counted meetings of two threads. */
void skip(const char *reason);
void met(uint64_t times);

/* --- circumstances --- */

enum circumstance {
    ALONE, /* no domain; local tables in the heap */
    ALONE_IN_MEMORY,
    WORKERS, /* the clock */
    FRAME,
    THREAD,
    CALLER,
    WORKERS_IN_BLOCK, /* domain and table in a block */
    FRAME_IN_BLOCK,
    CIRCUMSTANCES
};

#define BIT(circumstance) (1u << (circumstance))
#define IN_SINGLE (BIT(ALONE))
#define IN_LOCAL (BIT(ALONE) | BIT(ALONE_IN_MEMORY))
#define IN_HEAP (BIT(WORKERS) | BIT(FRAME) | BIT(THREAD) | BIT(CALLER))
#define IN_BLOCK (BIT(WORKERS_IN_BLOCK) | BIT(FRAME_IN_BLOCK))
#define IN_SHARED (IN_HEAP | IN_BLOCK)

struct test {
    const char *subject;
    const char *name;
    unsigned runs_in;
    void (*run)(enum circumstance circumstance);
};

/* Each ends with one that has no name. */
extern const struct test value_tests[];
extern const struct test local_tests[];
extern const struct test counted_tests[];
extern const struct test packed_tests[];
extern const struct test state_tests[];
extern const struct test side_tests[];
extern const struct test arena_tests[];
extern const struct test typed_tests[];
extern const struct test table_tests[];
extern const struct test feature_tests[];
extern const struct test frame_tests[];
extern const struct test memory_tests[];
extern const struct test system_tests[];
extern const struct test stress_tests[];

/* --- a domain, a table on it, and a worker of this thread --- */

struct shared {
    enum circumstance circumstance;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    void *memory; /* of the block */
};

/* `options`, to which memory is added; NULL: 1,000 objects of a uint64_t.  False: the test ends. */
bool shared_open(struct shared *shared, enum circumstance circumstance,
                 const haft_table_options *options);
void shared_close(struct shared *shared);

/* Slots freed before can be used again: wait, or tick. */
void shared_grace(struct shared *shared);

/* The numbers add up: each slot ever used is in one place. */
bool shared_is_right(const struct shared *shared);

bool circumstance_has_memory(enum circumstance circumstance);
haft_clock circumstance_clock(enum circumstance circumstance);

/* A clock of the program's own, for haft_domain_options.foreign_clock. */
const haft_foreign_clock *own_clock(void);

/* --- threads --- */

struct thread;

/* NULL: there are none here. */
struct thread *thread_start(void (*run)(void *arg), void *arg);
void thread_join(struct thread *thread);
void thread_yield(void);

struct lock;
struct lock *lock_open(void);
void lock_close(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);
void lock_wait(struct lock *lock);     /* until woken; holding it */
void lock_wake_all(struct lock *lock); /* holding it */

#endif /* HAFT_TESTS_PORTABLE_H */
