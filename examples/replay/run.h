/*
 * run.h - a run: repeats of a trace, in flight on the workers of a thread pool.
 *
 *   run.c       opens domain, table and pool, waits for the end, adds up
 *   schedule.c  jobs: which traced thread goes on where and when
 *   pool.c      threads, and jobs that wait for them
 *   member.c    a pool thread's own part
 *   check.c     what is asked of haft, and whether the answers are right
 */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "latency.h"
#include "options.h"
#include "pool.h"
#include "trace.h"
#include <haft/domain.h>
#include <haft/kit/export.h>
#include <haft/table.h>
#include <stdatomic.h>

/* Counters of one member, or of all. */
struct tally {
    uint64_t rows; /* of the trace, carried out */
    uint64_t allocations;
    uint64_t uses;
    uint64_t frees;
    uint64_t cross_worker_frees; /* on another worker than the allocation */
    uint64_t refused_frees;      /* second frees, each of which must be refused */
    uint64_t collisions;         /* among them: when the slot had just got a new object */
    uint64_t stale_checks;       /* of ids whose object was freed */
    uint64_t reclaimed;          /* objects that on_reclaim was called for */
    uint64_t wrong_answers;
    struct latency latency;
};

enum { MAX_KEPT = 16384 }; /* ids of freed objects that a member keeps, to try them later */

/* A pool thread's own part, or main's while no pool runs. */
struct member {
    struct run *run;
    haft_worker *worker;
    unsigned number;
    uint64_t random;
    unsigned until_sample;  /* calls until the next one that is timed */
    unsigned until_check;   /* steps until the next check of a kept id */
    haft_id kept[MAX_KEPT]; /* by slot; nil: none */
    struct tally tally;
};

/* A traced thread of one repeat: the job that is submitted again until its rows are done. */
struct job {
    struct replay *replay;
    const struct traced_thread *thread;
    uint32_t next;      /* row */
    struct job *behind; /* in the pool */
};

/* One repeat in flight; used again for a later one when it has ended. */
struct replay {
    struct run *run;
    uint64_t number;        /* of the repeat */
    struct job *jobs;       /* of each traced thread */
    haft_id *ids;           /* of each traced object */
    uint16_t *allocated_by; /* member, of each traced object */
    atomic_uchar *handoffs; /* see schedule.c */
    atomic_uint jobs_left;
};

enum { MAX_COMPLAINTS = 8 };

/* The first wrong answers, in words. */
struct complaints {
    char *texts[MAX_COMPLAINTS];
    unsigned count;
};

struct run {
    const struct options *options;
    const struct trace *trace;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_export *exported; /* NULL: nothing is */
    struct job_pool pool;
    struct member **members; /* one for each worker, and main's */
    struct replay *replays;
    unsigned in_flight; /* replays */
    atomic_uint joined; /* members */
    atomic_uint_least64_t next_repeat;
    atomic_uint_least64_t rows_done;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    uint64_t replays_done;
    struct complaints complaints;
};

struct result {
    struct tally sum;
    haft_table_stats stats; /* when all is freed, before the table is closed */
    uint64_t elapsed_ns;
    uint64_t cross_thread_frees; /* in the trace, times its repeats */
    struct complaints complaints;
};

/* --- run.c --- */

/*
 * Replays the trace; false, with `failure` set, if the system lacks what it takes.  SIGINT, SIGTERM
 * and SIGHUP end the process after the export has been closed.
 */
bool run_trace(const struct options *options, const struct trace *trace, struct result *result,
               struct failure *failure);
void result_clear(struct result *result);

/* --- schedule.c --- */

/* What a thread of the pool does: jobs, until the pool is closed. */
void *schedule_work(void *run);

/* Begins the next repeat in `replay`, if there is one left. */
void schedule_begin(struct replay *replay);

/* --- member.c --- */

/* Opens the calling thread's member, and closes its worker; its counters and kept ids stay. */
struct member *member_join(struct run *run);
void member_leave(struct member *member);

/* The calling thread's member, inside a call to haft. */
struct member *member_of_callback(void);

/* When all have left, and the table is closed. */
void members_free(struct run *run);

/* A number below `bound`, from the member's own generator. */
unsigned member_random(struct member *member, unsigned bound);

/* --- check.c --- */

extern const size_t check_object_size;

/* Carry a row out.  check_use is called inside a read section, the others outside. */
void check_allocate(struct member *member, struct replay *replay, const struct row *row);
void check_use(struct member *member, struct replay *replay, const struct row *row);
void check_free(struct member *member, struct replay *replay, const struct row *row);

/* Now and then: is one of the ids that the member kept still stale? */
void check_at_random(struct member *member);

/* Frees what the trace left over; then all ids of the replay must be stale. */
void check_end(struct member *member, struct replay *replay);

/* All ids that `other` kept must be stale. */
void check_kept(struct member *member, const struct member *other);

/* A number that must be right when all has ended. */
void check_count(struct member *member, const char *what, uint64_t is, uint64_t should);

/* The table's on_reclaim. */
void check_reclaim(void *bytes, haft_id id, haft_worker *worker, void *arg);

#endif /* REPLAY_RUN_H */
