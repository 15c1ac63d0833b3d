/*
 * A thread that has been asked to end, by pthread_cancel(), ends in none of haft's calls: neither
 * where they block, nor in callbacks, nor in files.  The request waits before each call, and would
 * be heeded at the first cancellation point: each callback is one.
 */
#include "tests/support.h"
#include <criterion/redirect.h>
#include <haft/counted.h>
#include <haft/kit/commands.h>
#include <haft/kit/export.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/urcu.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(cancel, .timeout = SUITE_SECONDS);

#define OBJECTS 100

static struct setting clock_of_test;
static atomic_bool came_back;
static int callbacks;

static void a_callback(void)
{
    callbacks++;
    pthread_testcancel();
}

static void *run_cancelled(void *arg)
{
    void (*const *calls)(void) = arg;

    pthread_cancel(pthread_self());
    (*calls)();
    atomic_store(&came_back, true);
    pthread_testcancel();
    return NULL;
}

/* The calls return, and afterwards the thread ends as it was asked to. */
static void expect_to_come_back(void (*calls)(void))
{
    pthread_t thread;
    void *end = NULL;

    atomic_store(&came_back, false);
    must(pthread_create(&thread, NULL, run_cancelled, &calls) == 0);
    must(pthread_join(thread, &end) == 0);
    cr_expect(atomic_load(&came_back));
    cr_expect(eq(ptr, end, PTHREAD_CANCELED));
}

/* --- calls that block --- */

static void reclaimed(void *object, haft_id id, haft_worker *worker, void *arg)
{
    a_callback();
}

static void use_shared(void)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = 8, .pins = true, .on_reclaim = reclaimed};
    AT_END(close_shared) struct shared shared = open_shared(clock_of_test, &options);
    haft_id ids[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        must(haft_insert_wait(shared.worker, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_insert_wait(shared.worker, NULL, &ids[i]) == HAFT_OK);
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    must(haft_trim(shared.table, NULL) == HAFT_OK);
}

TEST_ON_EACH_CLOCK(cancel, waits_and_callbacks_of_a_shared_table_come_back)
{
    clock_of_test = *setting;
    expect_to_come_back(use_shared);
    cr_expect(eq(int, callbacks, 2 * OBJECTS));
}

static void waited(void *ctx)
{
    a_callback();
    haft_urcu_memb()->wait(ctx);
    a_callback();
}

static haft_clock driven;

static void wait_by_foreign_clock(void)
{
    haft_foreign_clock foreign = *haft_urcu_memb();
    const haft_domain_options domain = {.clock = driven, .foreign_clock = &foreign};
    const haft_table_options options = {.capacity = OBJECTS};

    foreign.wait = waited;
    AT_END(close_shared) struct shared shared = open_shared_on(&domain, &options);

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
}

Test(cancel, a_foreign_clock_that_waits_comes_back)
{
    driven = HAFT_CLOCK_CALLER;
    expect_to_come_back(wait_by_foreign_clock);
    cr_expect(le(int, 2, callbacks));
    driven = HAFT_CLOCK_THREAD;
    expect_to_come_back(wait_by_foreign_clock);
}

static struct shared watched;
static struct reader reader;

static void stalled(const haft_stall *stall, void *arg)
{
    if (callbacks == 0) {
        reader_leave(&reader);
    }
    a_callback();
}

static void wait_for_reader(void)
{
    haft_worker *worker;
    haft_id id;

    haft_thread_register(watched.domain);
    must(haft_worker_open(watched.table, &worker) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    must(haft_free(worker, id) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_wait(watched.domain) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(watched.domain);
}

/* The wait goes on for longer than a look: the reader leaves once the stall has been reported. */
Test(cancel, a_wait_for_a_reader_and_its_on_stall_come_back)
{
    const haft_domain_options domain = {
        .clock = HAFT_CLOCK_WORKERS, .stall_ns = 1000000, .on_stall = stalled};
    const haft_table_options options = {.capacity = OBJECTS};

    watched = open_shared_on(&domain, &options);
    reader_enter(&reader, &watched);
    haft_thread_offline(watched.domain);
    expect_to_come_back(wait_for_reader);
    haft_thread_online(watched.domain);
    cr_expect(lt(int, 0, callbacks));
    close_shared(&watched);
}

/* --- callbacks of tables of one thread --- */

static void destroyed(void *object, haft_id id, void *arg)
{
    a_callback();
}

static void leaked(const haft_leak *leak, void *arg)
{
    a_callback();
}

static void use_local(void)
{
    const haft_local_options options = {.capacity = OBJECTS,
                                        .object_size = 8,
                                        .sites = true,
                                        .on_leak = leaked,
                                        .on_destroy = destroyed};
    const haft_side_options of_side = {.value_size = 8, .on_end = destroyed};
    AT_END(local_end) haft_local *local;
    AT_END(side_end) haft_side *side;
    haft_id id;

    must(haft_local_open(&options, &local) == HAFT_OK);
    must(haft_side_open_local(local, &of_side, &side) == HAFT_OK);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    must(haft_side_set(side, id, NULL, NULL) == HAFT_OK);
    must(haft_side_remove(side, id) && callbacks == 1);
    must(haft_local_free(local, id) == HAFT_OK && callbacks == 2);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    must(haft_local_clear(local) == HAFT_OK && callbacks == 3);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
}

Test(cancel, callbacks_of_a_local_table_come_back)
{
    expect_to_come_back(use_local);
    cr_expect(eq(int, callbacks, 5));
}

static int compared(const void *a, const void *b, void *arg)
{
    a_callback();
    return 0;
}

static void use_packed(void)
{
    const haft_packed_options options = {
        .capacity = OBJECTS, .object_size = 8, .on_destroy = destroyed};
    AT_END(dense_end) haft_packed *packed;
    haft_id ids[3];

    must(haft_packed_open(&options, &packed) == HAFT_OK);
    for (int i = 0; i < 3; i++) {
        must(haft_packed_insert(packed, "1234567", &ids[i]) == HAFT_OK);
    }
    must(haft_packed_sort(packed, compared, NULL) == HAFT_OK && callbacks >= 2);
    callbacks = 0;
    must(haft_packed_free(packed, ids[0]) == HAFT_OK && callbacks == 1);
    must(haft_packed_kill(packed, ids[1]) == HAFT_OK);
    must(haft_packed_refresh(packed) == HAFT_OK && callbacks == 2);
}

Test(cancel, callbacks_of_a_packed_table_come_back)
{
    expect_to_come_back(use_packed);
    cr_expect(eq(int, callbacks, 3));
}

static void hold_counted(haft_counted *counted, haft_id id)
{
    haft_counted_cursor cursor = {0};
    haft_id found;
    void *object;

    must(haft_counted_acquire(counted, id) != NULL && haft_counted_again(counted, id));
    must(haft_counted_cursor_next(counted, &cursor, &found, &object));
    must(haft_counted_release(counted, id) == HAFT_OK);
    must(haft_counted_release(counted, id) == HAFT_OK);
    must(haft_counted_is_live(counted, id));
    must(haft_counted_free(counted, id) == HAFT_OK && callbacks == 0);
    must(haft_counted_require(counted, id) == NULL && callbacks == 1); /* on_bad_access */
    must(haft_counted_release(counted, id) == HAFT_OK && callbacks == 2);
}

static void look_at_counted(haft_counted *counted, haft_id id)
{
    char text[200];
    haft_id found;

    must(haft_counted_diagnose(counted, id) == HAFT_OK);
    must(haft_counted_diagnose_format(counted, id, text, sizeof text) > 0);
    must(haft_counted_explain(counted, HAFT_FULL, text, sizeof text) > 0);
    must(haft_counted_id_at(counted, HAFT_FIRST_INDEX, &found) == HAFT_OK);
    must(haft_counted_stats_get(counted).live == 1);
}

static void refused_counted(const haft_bad_access *access, void *arg)
{
    callbacks++; /* cancellation is as outside: it may leave by longjmp() */
}

static void use_counted(void)
{
    const haft_counted_options options = {.capacity = OBJECTS,
                                          .object_size = 8,
                                          .on_bad_access = refused_counted,
                                          .on_destroy = destroyed};
    haft_counted *counted;
    haft_id id;
    uint64_t taken;

    must(haft_counted_open(&options, &counted) == HAFT_OK);
    must(haft_counted_reserve(counted, &id, NULL) == HAFT_OK);
    haft_counted_abort(counted, id);
    must(haft_counted_insert(counted, "1234567", &id) == HAFT_OK);
    look_at_counted(counted, id);
    hold_counted(counted, id);
    must(haft_counted_reserve(counted, &id, NULL) == HAFT_OK);
    haft_counted_publish(counted, id);
    must(haft_counted_take(counted, id, &taken) == HAFT_OK);
    must(haft_counted_insert(counted, NULL, &id) == HAFT_OK);
    must(haft_counted_close(counted) == HAFT_OK && callbacks == 3);
    must(haft_counted_open(&options, &counted) == HAFT_OK);
    must(haft_counted_insert(counted, NULL, &id) == HAFT_OK);
    must(haft_counted_close_wait(counted) == HAFT_OK && callbacks == 4);
    must(haft_counted_open(&options, &counted) == HAFT_OK);
    haft_counted_abandon(counted);
}

Test(cancel, each_call_and_callback_of_a_counted_table_comes_back)
{
    expect_to_come_back(use_counted);
    cr_expect(eq(int, callbacks, 4));
}

/* --- files, commands, memory --- */

static struct {
    char bytes[20000];
    size_t at;
} file_bytes;

static bool write_bytes(const void *bytes, size_t size, void *arg)
{
    must(file_bytes.at + size <= sizeof file_bytes.bytes);
    memcpy(file_bytes.bytes + file_bytes.at, bytes, size);
    file_bytes.at += size;
    a_callback();
    return true;
}

static bool read_bytes(void *bytes, size_t size, void *arg)
{
    must(file_bytes.at + size <= sizeof file_bytes.bytes);
    memcpy(bytes, file_bytes.bytes + file_bytes.at, size);
    file_bytes.at += size;
    a_callback();
    return true;
}

static void save_and_load(void)
{
    haft_file file = {.write = write_bytes, .read = read_bytes};
    haft_local *local;
    AT_END(dense_end) haft_packed *packed;

    must(haft_local_open(&(haft_local_options){.capacity = 10, .object_size = 8}, &local) ==
         HAFT_OK);
    must(haft_local_save(local, &file) == HAFT_OK);
    file_bytes.at = 0;
    must(haft_local_load(local, &file) == HAFT_OK);
    haft_local_close(local);
    must(haft_packed_open(&(haft_packed_options){.capacity = 10, .object_size = 8}, &packed) ==
         HAFT_OK);
    file_bytes.at = 0;
    must(haft_packed_save(packed, &file) == HAFT_OK);
    file_bytes.at = 0;
    must(haft_packed_load(packed, &file) == HAFT_OK);
}

Test(cancel, saving_and_loading_come_back)
{
    expect_to_come_back(save_and_load);
    cr_expect(lt(int, 3, callbacks));
}

static void recorded(haft_recorder *recorder, void *payload)
{
    a_callback();
}

static void apply_commands(void)
{
    const haft_table_options options = {.capacity = OBJECTS, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_commands *commands;
    haft_recorder *recorder;

    must(haft_commands_open(shared.table, NULL, &commands) == HAFT_OK);
    must(haft_recorder_open(commands, 1, 0, &recorder) == HAFT_OK);
    must(haft_recorder_call(recorder, recorded, NULL, 0) == HAFT_OK);
    must(haft_commands_apply(commands, NULL) == HAFT_OK);
    haft_commands_close(commands);
}

Test(cancel, commands_come_back)
{
    expect_to_come_back(apply_commands);
    cr_expect(eq(int, callbacks, 1));
}

static void *alloc_block(void *context, size_t size, size_t alignment)
{
    a_callback();
    return haft_allocator_malloc().alloc(NULL, size, alignment);
}

static void free_block(void *context, void *block, size_t size)
{
    a_callback();
    haft_allocator_malloc().free(NULL, block, size);
}

static void use_allocator(void)
{
    haft_allocator allocator = haft_allocator_malloc();
    haft_local *local;
    haft_arena *arena;

    allocator.alloc = alloc_block;
    allocator.free = free_block;
    must(haft_local_open(&(haft_local_options){.capacity = 10, .allocator = &allocator}, &local) ==
         HAFT_OK);
    haft_local_close(local);
    must(haft_arena_open(&(haft_arena_options){.allocator = &allocator}, &arena) == HAFT_OK);
    must(haft_arena_alloc(arena, 100000) != NULL);
    haft_arena_close(arena);
}

Test(cancel, allocators_come_back)
{
    expect_to_come_back(use_allocator);
    cr_expect(lt(int, 3, callbacks));
}

static char directory[] = "/tmp/haft-cancel-XXXXXX";

static void export_statistics(void)
{
    haft_export *export;

    must(haft_export_open(&(haft_export_options){.directory = directory}, &export) == HAFT_OK);
    must(haft_export_write(export) == HAFT_OK);
    haft_export_close(export);
}

/* glibc's mkdtemp() is a cancellation point now and then, by chance: so not in the thread. */
Test(cancel, exporting_comes_back)
{
    must(mkdtemp(directory) != NULL);
    expect_to_come_back(export_statistics);
    must(rmdir(directory) == 0);
}

static void leak(void)
{
    AT_END(local_end) haft_local *local;
    haft_id id;

    must(haft_local_open(&(haft_local_options){.capacity = 10, .sites = true}, &local) == HAFT_OK);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
}

Test(cancel, lines_on_stderr_come_back, .init = cr_redirect_stderr)
{
    expect_to_come_back(leak);
}
