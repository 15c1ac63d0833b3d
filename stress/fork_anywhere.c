/*
 * White-box: a fork finds another thread before each of its atomic operations in turn.
 *
 * Invariant: in the child, with the calls of haft/threads.h around the fork, each slot is in one
 * place and every slot that is neither live nor reserved can be had; `created` and `freed` have all
 * calls that ended and none that had not begun, but a life that was about to begin may be in both.
 * Pressure: a table without slots to spare, so that one lost slot shows, and so small that the
 * other thread draws an extent, hands batches on and takes them back within few operations.
 *
 * Usage: fork_anywhere [most]    the first `most` operations only (2,000)
 */
#include "concurrent/table/census.h"
#include "stress/ordered.h"
#include <haft/threads.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 0, NOT_MET = 1, USAGE = 2, VIOLATION = 3, LAST = 10 }; /* LAST: no more operations */

#define PATIENCE 200 /* seconds that a child may take */
#define OBJECTS 12   /* of the other thread */

static haft_domain *domain;
static haft_table *table;
static sem_t is_there;
static sem_t may_go_on;
static _Thread_local uint64_t operations_left; /* before the pause; 0: none comes */

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fork_anywhere: %s\n", what);
        _exit(VIOLATION);
    }
}

/* --- the library's atomic operations --- */

static void pause_here(void)
{
    if (operations_left != 0 && --operations_left == 0) {
        sem_post(&is_there);
        sem_wait(&may_go_on);
    }
}

uint64_t haft_load(haft_edge edge, const haft_atomic_u64 *word, haft_order order)
{
    (void)edge;
    pause_here();
    return ordered_load(word, order);
}

void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    (void)edge;
    pause_here();
    ordered_store(word, value, order);
}

bool haft_cas(haft_edge edge, atomic_u64 *word, uint64_t expected, uint64_t desired,
              memory_order order)
{
    (void)edge;
    pause_here();
    return ordered_cas(word, expected, desired, order);
}

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    pause_here();
    return ordered_exchange(word, value, order);
}

uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    pause_here();
    return ordered_fetch_or(word, value, order);
}

uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order order)
{
    (void)edge;
    pause_here();
    return ordered_fetch_add(word, value, order);
}

/* --- the other thread --- */

/* Calls that insert, or free, one object each. */
struct calls {
    uint64_t begun, ended;
};

static struct calls insertions, frees;

static void begin(struct calls *calls)
{
    calls->begun++;
}

static void end(struct calls *calls, haft_status status, const char *what)
{
    must(status == HAFT_OK, what);
    calls->ended++;
}

static void insert_and_free(haft_worker *worker)
{
    haft_id ids[OBJECTS];
    haft_id reserved;

    for (int i = 0; i < OBJECTS; i++) {
        begin(&insertions);
        end(&insertions, haft_insert(worker, NULL, &ids[i]), "haft_insert");
    }
    for (int i = 0; i < OBJECTS / 2; i++) {
        begin(&frees);
        end(&frees, haft_free(worker, ids[i]), "haft_free");
    }
    must(haft_reserve(worker, &reserved, NULL) == HAFT_OK, "haft_reserve");
    haft_abort(worker, reserved);
    must(haft_reserve(worker, &reserved, NULL) == HAFT_OK, "haft_reserve");
    begin(&insertions);
    haft_publish(worker, reserved);
    end(&insertions, HAFT_OK, "haft_publish");
    must(haft_worker_flush(worker) == HAFT_OK, "haft_worker_flush");
    begin(&insertions);
    end(&insertions, haft_insert_unregistered(table, NULL, &ids[0]), "haft_insert_unregistered");
    for (int i = OBJECTS / 2; i < OBJECTS; i++) {
        begin(&frees);
        end(&frees, haft_table_free(table, ids[i]), "haft_table_free");
    }
    must(haft_worker_quiescent(worker) == HAFT_OK, "haft_worker_quiescent");
    begin(&frees);
    end(&frees, haft_free(worker, ids[0]), "haft_free");
    begin(&frees);
    end(&frees, haft_free(worker, reserved), "haft_free");
}

static void *run(void *before)
{
    haft_worker *worker;

    must(haft_worker_open(table, &worker) == HAFT_OK, "haft_worker_open");
    haft_thread_offline(domain); /* the parent's thread waits for none here */
    operations_left = *(const uint64_t *)before;
    insert_and_free(worker);
    if (operations_left != 0) { /* the end came first */
        operations_left = 0;
        sem_post(&is_there);
        sem_wait(&may_go_on);
        must(haft_worker_close(worker) == HAFT_OK, "haft_worker_close");
        return before;
    }
    must(haft_worker_close(worker) == HAFT_OK, "haft_worker_close");
    return NULL;
}

/* --- the child --- */

static void check_child(haft_worker *worker)
{
    const haft_table_stats at_first = haft_table_stats_get(table);
    haft_status status;
    haft_id id;

    alarm(PATIENCE);
    must(at_first.created >= insertions.ended && at_first.created <= insertions.begun,
         "the child has not counted each insertion once");
    must(at_first.freed >= frees.ended &&
             at_first.freed <= frees.begun + insertions.begun - insertions.ended,
         "the child has not counted each free once");
    must(at_first.created - at_first.freed == at_first.live, "live is not created less freed");
    must(census_is_right(table), "a slot is in no place, or in two, in the child");
    while ((status = haft_insert_wait(worker, NULL, &id)) == HAFT_OK) {
    }
    const haft_table_stats stats = haft_table_stats_get(table);

    must(status == HAFT_FULL, "an insertion in the child is not told HAFT_FULL");
    must(stats.live + stats.reserved == stats.capacity, "the child has lost slots");
    must(census_is_right(table), "a slot is in no place, or in two, in the full table");
    _exit(HELD);
}

static void fork_now(haft_worker *worker)
{
    int status = -1;

    haft_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        haft_after_fork_child();
        check_child(worker);
    }
    haft_after_fork_parent();
    must(waitpid(child, &status, 0) == child && status == 0, "the child has not ended well");
}

/* --- one fork --- */

static void open_table(haft_worker **worker)
{
    const haft_domain_options on = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options options = {.capacity = 252, .object_size = 8, .layout = {8, 20, 0, 0}};

    sem_init(&is_there, 0, 0);
    sem_init(&may_go_on, 0, 0);
    must(haft_domain_open(&on, &domain) == HAFT_OK, "haft_domain_open");
    must(haft_table_open(domain, &options, &table) == HAFT_OK, "haft_table_open");
    must(haft_worker_open(table, worker) == HAFT_OK, "haft_worker_open");
}

/* In a process that has no other thread yet.  True: the other thread ends before. */
static bool fork_before(uint64_t operation)
{
    haft_worker *worker;
    pthread_t thread;
    void *has_ended;

    alarm(2 * PATIENCE);
    open_table(&worker);
    must(pthread_create(&thread, NULL, run, &operation) == 0, "pthread_create");
    sem_wait(&is_there);
    fork_now(worker);
    haft_thread_offline(domain);
    sem_post(&may_go_on);
    pthread_join(thread, &has_ended);
    haft_thread_online(domain);
    must(haft_worker_close(worker) == HAFT_OK, "haft_worker_close");
    must(haft_table_close(table) == HAFT_OK, "haft_table_close");
    must(haft_domain_close(domain) == HAFT_OK, "haft_domain_close");
    return has_ended != NULL;
}

int main(int argc, char **argv)
{
    const uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;
    uint64_t operation = 0;
    int status = 0;

    do {
        const pid_t process = fork();

        operation++;
        if (process == 0) {
            _exit(fork_before(operation) ? LAST : HELD);
        }
        if (waitpid(process, &status, 0) != process) {
            return USAGE;
        }
    } while (status == 0 && operation < most);
    if (WIFEXITED(status) && WEXITSTATUS(status) == LAST) {
        printf("a fork before each of %llu operations\n", (unsigned long long)operation - 1);
        return HELD;
    }
    fprintf(stderr, "fork_anywhere: before operation %llu: status %x\n",
            (unsigned long long)operation, (unsigned)status);
    return status == 0 ? NOT_MET : VIOLATION;
}
