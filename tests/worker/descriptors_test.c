/* White-box: batch descriptors; a worker begins with few, and brings more where it may ask. */
#include "concurrent/batches/ring.h"
#include "concurrent/clock/domain.h"
#include "concurrent/worker/descriptors.h"
#include "tests/base/counted.h"
#include "tests/support.h"
#include <haft/memory.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(descriptors, .timeout = SUITE_SECONDS);

#define OBJECTS 60000

static haft_id ids[OBJECTS];

static struct counted heap;

static struct shared open_counted(struct setting setting)
{
    const haft_allocator allocator = counted_allocator(&heap);
    const haft_table_options options = {.capacity = OBJECTS, .allocator = &allocator};

    heap = (struct counted){.left = -1};
    return open_shared(setting, &options);
}

/* Objects that were freed before may take up the slots until the clock's thread has run. */
static void insert_all(haft_worker *worker)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_insert_wait(worker, NULL, &ids[i]) == HAFT_OK);
    }
}

static void free_all(haft_worker *worker)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(worker, ids[i]) == HAFT_OK);
    }
}

/* Frees that a quiescent point finds worth a ticket, of `objects` a time. */
static void work(haft_worker *worker, int rounds, int objects)
{
    for (int n = 0; n < rounds; n++) {
        for (int i = 0; i < objects; i++) {
            must(haft_insert(worker, NULL, &ids[i]) == HAFT_OK);
        }
        for (int i = 0; i < objects; i++) {
            must(haft_free(worker, ids[i]) == HAFT_OK);
        }
        must(haft_worker_quiescent(worker) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(descriptors, a_worker_takes_less_than_16_kib_at_first)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);
    const size_t before = heap.held;
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    cr_expect(lt(sz, heap.held - before, 16 << 10));
}

TEST_ON_EACH_CLOCK(descriptors, no_free_asks_for_memory_however_many_a_job_makes)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);

    insert_all(shared.worker);
    const int calls = heap.calls;

    free_all(shared.worker);
    cr_expect(eq(int, heap.calls, calls));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
}

TEST_ON_EACH_CLOCK(descriptors, a_worker_brings_more_while_batches_wait_up_to_full_rings)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);
    struct reader reader;

    cr_expect(lt(u64, descriptors_waiting(shared.worker), RING_BATCHES / 2));
    reader_enter(&reader, &shared);
    for (int n = 0; n < 200; n++) {
        /* Less than a quiescent point waits for. */
        work(shared.worker, 1, WORTH_CLOSING);
    }
    reader_leave(&reader);
    cr_expect(eq(u64, descriptors_waiting(shared.worker), RING_BATCHES));
    cr_expect(eq(u64, descriptors_ready(shared.worker), READY_BATCHES));
    cr_expect(eq(u64, descriptors_spare(shared.worker), SPARE_BATCHES));
    const int calls = heap.calls;

    insert_all(shared.worker);
    free_all(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    cr_expect(eq(int, heap.calls, calls));
}

/* The rings of a worker have at most as many batches as it has descriptors for, beside those of the
 * batches in hand. */
TEST_ON_EACH_CLOCK(descriptors, without_memory_for_more_all_calls_go_on_with_short_rings)
{
    struct shared shared = open_counted(*setting);
    const uint64_t most = descriptors_waiting(shared.worker);

    cr_expect(le(u64,
                 PRIVATE_BATCHES + most + descriptors_ready(shared.worker) +
                     descriptors_spare(shared.worker),
                 SEGMENT_BATCHES));
    heap.left = 0;
    work(shared.worker, 300, WORTH_CLOSING);
    insert_all(shared.worker);
    free_all(shared.worker);
    cr_expect(le(u64, ring_length(&shared.worker->waiting), most));
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    insert_all(shared.worker);
    free_all(shared.worker);
    cr_expect(eq(u64, descriptors_waiting(shared.worker), most));
    close_shared(&shared); /* which counts the descriptors, in debug builds */
    cr_expect(eq(sz, heap.held, 0));
}

TEST_ON_EACH_CLOCK(descriptors, a_worker_of_frees_alone_brings_more_when_it_is_opened)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);
    struct reader reader;

    insert_all(shared.worker);
    reader_enter(&reader, &shared);
    haft_worker *other = open_worker(shared.table);
    const haft_worker *const first = other;

    for (int i = 0; i < 5 * BATCH_SLOTS; i++) {
        must(haft_free(other, ids[i]) == HAFT_OK);
    }
    const int calls = heap.calls;

    haft_worker_close(other);
    cr_expect(eq(int, heap.calls, calls));
    other = open_worker(shared.table);
    cr_expect(eq(ptr, (void *)other, (void *)first));
    cr_expect(lt(int, calls, heap.calls));
    haft_worker_close(other);
    reader_leave(&reader);
}

TEST_ON_EACH_CLOCK(descriptors, reserved_capacity_leaves_nothing_to_ask_for)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);

    assert_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_OK);
    const int calls = heap.calls;

    work(shared.worker, 300, WORTH_CLOSING);
    insert_all(shared.worker);
    free_all(shared.worker);
    cr_expect(eq(int, heap.calls, calls));
    cr_expect(eq(u64, descriptors_waiting(shared.worker), RING_BATCHES));
}

TEST_ON_EACH_CLOCK(descriptors, reserving_capacity_says_if_any_worker_gets_none)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);

    for (int left = 0; left < 2; left++) {
        heap.left = left;
        expect_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_NO_MEMORY);
    }
    heap.left = -1;
    expect_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_OK);
    cr_expect(eq(u64, descriptors_waiting(shared.worker), RING_BATCHES));
    cr_expect(eq(u64, descriptors_waiting(other), RING_BATCHES));
}

/* Another thread may have had the allocator's lock at the fork. */
TEST_ON_EACH_CLOCK(descriptors, the_child_of_a_fork_asks_for_none)
{
    AT_END(close_shared) struct shared shared = open_counted(*setting);

    insert_all(shared.worker);
    const int calls = heap.calls;
    const pid_t child = fork();

    if (child == 0) {
        free_all(shared.worker);
        for (int i = 0; i < BATCH_SLOTS + 1; i++) { /* one search or more */
            if (haft_insert(shared.worker, NULL, &ids[i]) == HAFT_NO_MEMORY) {
                _exit(2);
            }
        }
        _exit(heap.calls == calls ? 0 : 1);
    }
    int status = -1;

    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status));
}
