/*
 * White-box: a fork finds another thread before each of its atomic operations in turn.
 *
 * Invariant: in the child each object lives whose insertion had ended and whose free had not begun,
 * and none whose free had ended; insertions get slots that no object has, and none twice, until
 * they are refused; nothing waits; table and domain close, whatever the other thread had open.
 * Pressure: a table so small that the other thread draws an extent, flushes batches and takes them
 * back within few operations, from the opening of its worker to its close.
 *
 * Usage: fork_anywhere [most]    the first `most` operations only (2,000)
 */
#include "lib/base/atomics.h"
#include "stress/ordered.h"
#include <haft/table.h>
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

#define MOST (2 * OBJECTS + 8)

/* The objects of the other thread: written by it, read in the child. */
static struct {
    haft_id id;
    enum { LIVE, FREEING, FREED } state;
} met[MOST];
static int met_count;

static int note(haft_status status, haft_id id, const char *what)
{
    must(status == HAFT_OK && met_count < MOST, what);
    met[met_count].id = id;
    met[met_count].state = LIVE;
    atomic_signal_fence(memory_order_seq_cst);
    return met_count++;
}

static int insert_one(haft_worker *worker)
{
    haft_id id;
    const haft_status status = haft_insert(worker, NULL, &id);

    return note(status, id, "haft_insert");
}

/* `worker` NULL: without one. */
static void free_one(haft_worker *worker, int number)
{
    met[number].state = FREEING;
    atomic_signal_fence(memory_order_seq_cst);
    must((worker != NULL ? haft_free(worker, met[number].id)
                         : haft_table_free(table, met[number].id)) == HAFT_OK,
         "freeing");
    atomic_signal_fence(memory_order_seq_cst);
    met[number].state = FREED;
}

static void insert_and_free(haft_worker *worker)
{
    int numbers[OBJECTS];
    haft_id reserved;

    for (int i = 0; i < OBJECTS; i++) {
        numbers[i] = insert_one(worker);
    }
    for (int i = 0; i < OBJECTS / 2; i++) {
        free_one(worker, numbers[i]);
    }
    must(haft_reserve(worker, &reserved, NULL) == HAFT_OK, "haft_reserve");
    haft_abort(worker, reserved);
    must(haft_reserve(worker, &reserved, NULL) == HAFT_OK, "haft_reserve");
    haft_publish(worker, reserved);
    const int published = note(HAFT_OK, reserved, "haft_publish");

    must(haft_worker_flush(worker) == HAFT_OK, "haft_worker_flush");
    for (int i = OBJECTS / 2; i < OBJECTS; i++) {
        free_one(NULL, numbers[i]);
    }
    must(haft_worker_quiescent(worker) == HAFT_OK, "haft_worker_quiescent");
    insert_one(worker);
    free_one(worker, published);
}

static void *run(void *before)
{
    haft_worker *worker;

    operations_left = *(const uint64_t *)before;
    must(haft_worker_open(table, &worker) == HAFT_OK, "haft_worker_open");
    haft_thread_offline(domain); /* the parent's thread waits for none here */
    insert_and_free(worker);
    must(haft_worker_close(worker) == HAFT_OK, "haft_worker_close");
    if (operations_left != 0) { /* the end came first */
        operations_left = 0;
        sem_post(&is_there);
        sem_wait(&may_go_on);
        return before;
    }
    return NULL;
}

/* --- the child --- */

#define CAPACITY 252
#define LOST_AT_MOST 64 /* slots that the other thread may have in its hands */

static uint64_t index_of(haft_id id)
{
    return haft_id_index(haft_table_info(table).layout, id);
}

/* Of its slots each is got once, and none that an object of the other thread's has. */
static void fill(haft_worker *worker, bool *taken, uint64_t live)
{
    uint64_t inserted = 0;
    haft_status status;
    haft_id id;

    while ((status = haft_insert_wait(worker, NULL, &id)) == HAFT_OK) {
        must(!taken[index_of(id)], "the child gets a slot that is taken");
        must(haft_is_live(haft_table_view(table), id), "an object of the child's is not live");
        taken[index_of(id)] = true;
        inserted++;
    }
    must(status == HAFT_FULL || status == HAFT_FORKED, "an insertion waits for another answer");
    must(live + inserted + LOST_AT_MOST >= CAPACITY, "the child has lost other threads' slots");
}

static void close_all(haft_worker *worker)
{
    must(haft_table_close(table) == HAFT_IN_USE, "closing with a worker of the child's");
    must(haft_worker_close(worker) == HAFT_OK, "haft_worker_close in the child");
    must(haft_table_close(table) == HAFT_OK, "haft_table_close in the child");
    must(haft_domain_close(domain) == HAFT_OK, "haft_domain_close in the child");
}

static void check_child(haft_worker *worker)
{
    const haft_view view = haft_table_view(table);
    static bool taken[2 * CAPACITY];
    uint64_t live = 0;

    alarm(PATIENCE);
    for (int i = 0; i < met_count; i++) {
        const bool is_live = haft_is_live(view, met[i].id);

        must(met[i].state != LIVE || is_live, "an object is not live in the child");
        must(met[i].state != FREED || !is_live, "a freed object is live in the child");
        taken[index_of(met[i].id)] |= is_live;
        live += is_live;
    }
    fill(worker, taken, live);
    for (int i = 0; i < met_count; i++) {
        if (haft_is_live(view, met[i].id)) {
            must(haft_free(worker, met[i].id) == HAFT_OK, "haft_free in the child");
            must(!haft_is_live(view, met[i].id), "an object is live that the child has freed");
        }
    }
    must(haft_worker_quiescent(worker) == HAFT_OK, "haft_worker_quiescent in the child");
    must(haft_worker_flush(worker) == HAFT_OK, "haft_worker_flush in the child");
    close_all(worker);
    _exit(HELD);
}

static void fork_now(haft_worker *worker)
{
    int status = -1;

    const pid_t child = fork();

    if (child == 0) {
        check_child(worker);
    }
    must(waitpid(child, &status, 0) == child && status == 0, "the child has not ended well");
}

/* --- one fork --- */

static void open_table(haft_worker **worker)
{
    const haft_domain_options on = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options options = {
        .capacity = CAPACITY, .object_size = 8, .layout = {8, 20, 0, 0}};

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
