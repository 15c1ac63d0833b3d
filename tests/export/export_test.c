/* Statistics in a file: haft/kit/export.h. */
#include "concurrent/clock/registry.h"
#include "tests/export/exporting.h"
#include <haft/counted.h>
#include <haft/diagnose.h>
#include <haft/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(export, .init = make_directory, .fini = remove_directory, .timeout = SUITE_SECONDS);

static const json_t *table_at(const json_t *root, size_t index)
{
    return json_array_get(json_object_get(root, "tables"), index);
}

/* With the workers clock there is the anchor as well. */
static const json_t *table_named(const json_t *root, const char *name)
{
    size_t index = 0;

    while (strcmp(json_string_value(json_object_get(table_at(root, index), "name")), name) != 0) {
        index++;
    }
    return table_at(root, index);
}

/* --- what is in it --- */

#define EXPECT_EQUAL(name, kind, unit, meaning)                                                    \
    cr_expect(eq(u64, number_in(table, #name), stats->name));

static void expect_equal_stats(const json_t *table,
                               const haft_table_stats *stats){HAFT_TABLE_STATS(EXPECT_EQUAL)}

TEST_ON_EACH_CLOCK(export, of_known_traffic_is_exact_when_all_is_quiet)
{
    struct shared shared = open_shared(
        *setting, &(haft_table_options){.name = "ships", .capacity = 1000, .object_size = 24});
    haft_export *opened = open_export();
    haft_id ids[300];
    haft_id reserved;

    for (int i = 0; i < 300; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < 200; i++) {
        assert_status(haft_free(shared.worker, ids[i]), HAFT_OK);
    }
    for (int i = 0; i < 7; i++) {
        assert_status(haft_free(shared.worker, ids[i]), HAFT_STALE);
    }
    assert_status(haft_reserve(shared.worker, &reserved, NULL), HAFT_OK);
    json_t *root = snapshot(opened);
    const json_t *table = table_named(root, "ships");
    const haft_table_stats stats = stats_of(shared.table);

    expect_equal_stats(table, &stats);
    cr_expect(eq(u64, number_in(table, "live"), 100));
    cr_expect(eq(u64, number_in(table, "reserved"), 1));
    cr_expect(eq(u64, number_in(table, "created"), 300));
    cr_expect(eq(u64, number_in(table, "freed"), 200));
    cr_expect(eq(u64, number_in(table, "refused_frees"), 7));
    cr_expect(eq(u64, number_in(table, "object_size"), 24));

    json_decref(root);
    haft_abort(shared.worker, reserved);
    haft_export_close(opened);
    close_shared(&shared);
    expect_no_leaks();
}

TEST_ON_EACH_CLOCK(export, has_the_slots_whose_memory_was_given_back)
{
    AT_END(close_shared)
    struct shared shared = open_shared(
        *setting, &(haft_table_options){.name = "ships", .capacity = 20000, .object_size = 24});
    static haft_id ids[20000];

    for (int i = 0; i < 20000; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < 20000; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    AT_END(export_end) haft_export *opened = open_export();
    json_t *root = read_file(opened);
    const json_t *table = table_named(root, "ships");

    cr_expect(lt(u64, 15000, number_in(table, "released")));
    cr_expect(eq(u64, number_in(table, "released"), stats_of(shared.table).released));
    cr_expect(eq(u64, number_in(table, "released") + number_in(table, "free"),
                 number_in(table, "high_water")));
    json_decref(root);
}

TEST_ON_EACH_CLOCK(export, has_the_clock_and_its_counters)
{
    static const char *const names[] = {[HAFT_CLOCK_THREAD] = "thread",
                                        [HAFT_CLOCK_CALLER] = "caller",
                                        [HAFT_CLOCK_WORKERS] = "workers"};
    struct shared shared =
        open_shared(*setting, &(haft_table_options){.capacity = 10, .object_size = 8});
    haft_export *opened = open_export();

    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    haft_worker_flush(shared.worker);
    settle(shared.worker);
    json_t *root = snapshot(opened);
    const json_t *domain = json_array_get(json_object_get(root, "domains"), 0);
    const haft_domain_stats stats = haft_domain_stats_get(shared.domain);

    cr_expect(eq(str, (char *)json_string_value(json_object_get(domain, "clock")),
                 (char *)names[setting->clock]));
    cr_expect(lt(u64, 0, number_in(domain, "grace_periods")));
    cr_expect(eq(u64, number_in(domain, "grace_periods"), stats.grace_periods));
    cr_expect(eq(u64, number_in(domain, "longest_grace_period_ns"), stats.longest_grace_period_ns));
    cr_expect(eq(u64, number_in(domain, "backlog"), stats.backlog));
    cr_expect(eq(u64, number_in(domain, "stalls"), 0));
    cr_expect(eq(u64, number_in(table_at(root, 0), "domain"), number_in(domain, "number")));

    json_decref(root);
    haft_export_close(opened);
    close_shared(&shared);
}

/* --- counted tables --- */

#define EXPECT_COUNTED(name, kind, unit, meaning)                                                  \
    cr_expect(eq(u64, number_in(table, #name), stats->name));

static void expect_equal_counted(const json_t *table, const haft_counted_stats *stats)
{
    HAFT_COUNTED_STATS(EXPECT_COUNTED)
}

static haft_counted *open_sessions(const char *name)
{
    const haft_counted_options options = {.name = name, .capacity = 100, .object_size = 24};
    haft_counted *opened;

    assert_status(haft_counted_open(&options, &opened), HAFT_OK);
    return opened;
}

/* An object live, one held, one freed and held, a slot reserved, and one used before. */
static void use_sessions(haft_counted *sessions, haft_id *held, haft_id *ended, haft_id *reserved)
{
    haft_id ids[4];

    for (int i = 0; i < 4; i++) {
        assert_status(haft_counted_insert(sessions, NULL, &ids[i]), HAFT_OK);
    }
    *held = ids[1];
    *ended = ids[2];
    cr_assert(ne(ptr, haft_counted_acquire(sessions, *held), NULL));
    cr_assert(ne(ptr, haft_counted_acquire(sessions, *ended), NULL));
    assert_status(haft_counted_reserve(sessions, reserved, NULL), HAFT_OK);
    assert_status(haft_counted_free(sessions, *ended), HAFT_OK);
    assert_status(haft_counted_free(sessions, ids[3]), HAFT_OK);
}

Test(export, of_a_counted_table_in_each_state_is_exact)
{
    haft_counted *sessions = open_sessions("sessions");
    haft_export *opened = open_export();
    haft_id held, ended, reserved;

    use_sessions(sessions, &held, &ended, &reserved);
    json_t *root = snapshot(opened);
    const json_t *table = json_array_get(json_object_get(root, "counted"), 0);
    const haft_counted_stats stats = haft_counted_stats_get(sessions);

    expect_equal_counted(table, &stats);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(table, "name")), "sessions"));
    cr_expect(eq(u64, number_in(table, "live"), 2));
    cr_expect(eq(u64, number_in(table, "held"), 1));
    cr_expect(eq(u64, number_in(table, "ended"), 1));
    cr_expect(eq(u64, number_in(table, "reserved"), 1));
    cr_expect(eq(u64, number_in(table, "free"), 1));
    cr_expect(eq(u64, number_in(table, "object_size"), 24));
    json_decref(root);
    haft_counted_abort(sessions, reserved);
    assert_status(haft_counted_release(sessions, held), HAFT_OK);
    assert_status(haft_counted_release(sessions, ended), HAFT_OK);
    assert_status(haft_counted_close(sessions), HAFT_OK);
    haft_export_close(opened);
    expect_no_leaks();
}

Test(export, lists_each_open_counted_table_once_with_a_number_not_used_before)
{
    AT_END(export_end) haft_export *opened = open_export();
    haft_counted *first = open_sessions("first");
    haft_counted *second = open_sessions("second");

    assert_status(haft_counted_close(second), HAFT_OK);
    haft_counted *third = open_sessions("third");
    json_t *root = snapshot(opened);
    const json_t *list = json_object_get(root, "counted");
    const uint64_t newer = number_in(json_array_get(list, 0), "number");
    const uint64_t older = number_in(json_array_get(list, 1), "number");

    cr_expect(eq(sz, json_array_size(list), 2));
    cr_expect(eq(u64, newer, older + 2));
    json_decref(root);
    assert_status(haft_counted_close(first), HAFT_OK);
    assert_status(haft_counted_close(third), HAFT_OK);
    root = snapshot(opened);
    cr_expect(eq(sz, json_array_size(json_object_get(root, "counted")), 0));
    json_decref(root);
}

Test(export, lists_each_open_table_once_and_each_domain_once)
{
    const haft_table_options options = {.capacity = 10};
    struct shared first = open_shared(MEMB_CALLER, &options);
    haft_domain *frames;
    haft_table *second;
    haft_table *third;

    assert_status(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &frames),
                  HAFT_OK);
    assert_status(haft_table_open(frames, &options, &second), HAFT_OK);
    assert_status(haft_table_open(first.domain, &options, &third), HAFT_OK);
    haft_export *opened = open_export();
    json_t *root = read_file(opened);

    cr_expect(eq(sz, json_array_size(json_object_get(root, "tables")), 3));
    cr_expect(eq(sz, json_array_size(json_object_get(root, "domains")), 2));
    json_decref(root);

    assert_status(haft_table_close(third), HAFT_OK);
    close_shared(&first);
    root = snapshot(opened);
    cr_expect(eq(sz, json_array_size(json_object_get(root, "tables")), 1));
    cr_expect(eq(sz, json_array_size(json_object_get(root, "domains")), 1));
    json_decref(root);

    assert_status(haft_table_close(second), HAFT_OK);
    assert_status(haft_domain_close(frames), HAFT_OK);
    root = snapshot(opened);
    cr_expect(eq(sz, json_array_size(json_object_get(root, "tables")), 0));
    json_decref(root);
    haft_export_close(opened);
    expect_no_leaks();
}

Test(export, names_of_any_bytes_stay_json)
{
    static const struct {
        const char *name;
        const char *written;
    } names[] = {
        {"quote \" backslash \\ tab \t", "quote \" backslash \\ tab \t"},
        {"Schiff \xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2",
         "Schiff \xc3\xa4 \xe2\x82\xac \xf0\x9f\x9a\xa2"},
        {"\xff cut \xe2\x82", "? cut ??"},
        {"\xe0\xa0\x80 \xed\x9f\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf",
         "\xe0\xa0\x80 \xed\x9f\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"},
        {"long \xe0\x9f\x80 \xf0\x8f\x80\x80", "long ??? ????"},
        {"long \xc0\xaf half \xed\xa0\x80 beyond \xf4\x90\x80\x80", "long ?? half ??? beyond ????"},
        {"", ""},
    };
    AT_END(export_end) haft_export *opened = open_export();

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct shared shared =
            open_shared(MEMB_CALLER, &(haft_table_options){.name = names[i].name, .capacity = 10});
        json_t *root = snapshot(opened);

        cr_expect(eq(str, (char *)json_string_value(json_object_get(table_at(root, 0), "name")),
                     (char *)names[i].written));
        json_decref(root);
        close_shared(&shared);
    }
}

/* The 22nd number of /proc/self/stat; this program has no blank in its name. */
static uint64_t start_of_this_process(void)
{
    FILE *file = fopen("/proc/self/stat", "r");
    unsigned long long started = 0;

    must(file != NULL);
    for (int words = 1; words < 22; words++) {
        must(fscanf(file, "%*s") != EOF);
    }
    must(fscanf(file, "%llu", &started) == 1 && fclose(file) == 0);
    return started;
}

Test(export, says_who_writes_and_counts_its_writings)
{
    AT_END(export_end) haft_export *opened = open_export();
    json_t *root = read_file(opened);

    cr_expect(eq(u64, number_in(root, "haft_export"), 1));
    cr_expect(eq(u64, number_in(root, "process"), (uint64_t)getpid()));
    cr_expect(eq(u64, number_in(root, "started"), start_of_this_process()));
    cr_expect(lt(u64, 0, number_in(root, "written_ns")));
    cr_expect(eq(u64, number_in(root, "interval_ms"), NEVER));
    cr_expect(eq(u64, number_in(root, "sequence"), 1));
    cr_expect(ne(ptr, (void *)json_string_value(json_object_get(root, "program")), NULL));
    json_decref(root);

    root = snapshot(opened);
    cr_expect(eq(u64, number_in(root, "sequence"), 2));
    json_decref(root);
}

Test(export, is_written_again_every_interval)
{
    AT_END(export_end) haft_export *opened;
    uint64_t sequence = 0;

    assert_status(haft_export_open(
                      &(haft_export_options){.directory = directory, .interval_ms = 10}, &opened),
                  HAFT_OK);
    while (sequence < 4) { /* the suite's time-out is the bound */
        json_t *root = read_file(opened);

        cr_expect(ge(u64, number_in(root, "sequence"), sequence));
        sequence = number_in(root, "sequence");
        json_decref(root);
    }
}

/* White-box: the thread has to write while this one has what it takes. */
Test(export, that_cannot_be_written_now_is_closed_all_the_same)
{
    haft_export *opened;

    assert_status(haft_export_open(
                      &(haft_export_options){.directory = directory, .interval_ms = 10}, &opened),
                  HAFT_OK);
    registry_lock();
    sleep_ms(100);
    haft_export_close(opened);
    registry_unlock();
    cr_expect(eq(int, (int)files_in_directory(), 0));
}

/* White-box: as a program's own handler of forks may. */
Test(export, is_written_by_a_thread_that_has_the_registry_locked)
{
    AT_END(export_end) haft_export *opened = open_export();

    registry_lock();
    expect_status(haft_export_write(opened), HAFT_OK);
    registry_unlock();
    expect_status(haft_export_write(opened), HAFT_OK);
}

/* --- the file --- */

static void expect_owners_alone(const char *path)
{
    struct stat found;

    cr_assert(eq(int, lstat(path, &found), 0));
    cr_expect(eq(int, (int)(found.st_mode & S_IFMT), S_IFREG));
    cr_expect(eq(int, (int)(found.st_mode & 07777), 0600));
    cr_expect(eq(int, (int)found.st_uid, (int)geteuid()));
}

Test(export, files_are_their_owners_alone_whatever_the_umask)
{
    static const mode_t masks[] = {0, 022, 0777};
    char lock[128];

    snprintf(lock, sizeof lock, "%s/.haft-%d.lock", directory, (int)getpid());

    for (int i = 0; i < 3; i++) {
        umask(masks[i]);
        AT_END(export_end) haft_export *opened = open_export();

        assert_status(haft_export_write(opened), HAFT_OK);
        expect_owners_alone(haft_export_path(opened));
        expect_owners_alone(lock);
    }
    umask(022);
}

Test(export, leaves_nothing_behind_when_closed)
{
    haft_export *opened = open_export();

    assert_status(haft_export_write(opened), HAFT_OK);
    cr_expect(eq(int, (int)files_in_directory(), 2)); /* its lock, too */
    haft_export_close(opened);
    cr_expect(eq(int, (int)files_in_directory(), 0));
    expect_no_leaks();
}

Test(export, follows_no_link_that_waits_under_its_names)
{
    char path[128];
    char target[96];

    snprintf(target, sizeof target, "%s/target", directory);
    fclose(fopen(target, "w"));
    snprintf(path, sizeof path, "%s/haft-%d.json", directory, (int)getpid());
    cr_assert(eq(int, symlink(target, path), 0));
    snprintf(path, sizeof path, "%s/.haft-%d.new", directory, (int)getpid());
    cr_assert(eq(int, symlink(target, path), 0));
    AT_END(export_end) haft_export *opened = open_export();
    struct stat found;

    cr_assert(eq(int, lstat(haft_export_path(opened), &found), 0));
    cr_expect(eq(int, (int)(found.st_mode & S_IFMT), S_IFREG));
    cr_assert(eq(int, stat(target, &found), 0));
    cr_expect(eq(sz, (size_t)found.st_size, 0));
}

Test(export, file_that_was_removed_comes_back)
{
    AT_END(export_end) haft_export *opened = open_export();

    cr_assert(eq(int, unlink(haft_export_path(opened)), 0));
    json_t *root = snapshot(opened);

    cr_expect(eq(u64, number_in(root, "sequence"), 2));
    json_decref(root);
}

Test(export, write_that_fails_says_so)
{
    AT_END(export_end) haft_export *opened = open_export();

    remove_directory();
    expect_status(haft_export_write(opened), HAFT_NO_FILE);
    cr_assert(eq(int, mkdir(directory, 0700), 0)); /* another one: the export keeps to its own */
    expect_status(haft_export_write(opened), HAFT_NO_FILE);
}

/* --- what is refused --- */

Test(export, directory_must_be_one)
{
    char path[96];

    expect_status(try_open(NULL, 0), HAFT_BAD_DIRECTORY);
    expect_status(try_open("", 0), HAFT_BAD_DIRECTORY);
    snprintf(path, sizeof path, "%s/missing", directory);
    expect_status(try_open(path, 0), HAFT_BAD_DIRECTORY);
    fclose(fopen(path, "w"));
    expect_status(try_open(path, 0), HAFT_BAD_DIRECTORY);
    expect_no_leaks();
}

Test(export, directory_that_takes_no_files_is_refused)
{
    const haft_status status = try_open("/proc/self", 0);

    cr_expect(status == HAFT_BAD_DIRECTORY || status == HAFT_NO_FILE);
    expect_no_leaks();
}

Test(export, program_without_descriptors_left_is_not_told_that_the_directory_is_bad)
{
    struct rlimit before;

    must(getrlimit(RLIMIT_NOFILE, &before) == 0);
    must(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}) == 0);
    const haft_status status = try_open(directory, 0);

    must(setrlimit(RLIMIT_NOFILE, &before) == 0);
    expect_status(status, HAFT_NO_FILE);
}

Test(export, interval_must_be_in_range)
{
    expect_status(try_open(directory, 9), HAFT_BAD_INTERVAL_MS);
    expect_status(try_open(directory, 3600001), HAFT_BAD_INTERVAL_MS);
    expect_status(try_open(directory, 10), HAFT_OK);
    expect_status(try_open(directory, 3600000), HAFT_OK);
    expect_status(try_open(directory, 0), HAFT_OK);
}

Test(export, second_one_in_a_process_is_refused_until_the_first_is_closed)
{
    haft_export *opened = open_export();

    expect_status(try_open(directory, 0), HAFT_IN_USE);
    haft_export_close(opened);
    expect_status(try_open(directory, 0), HAFT_OK);
}

/* --- processes and threads --- */

static int in_child(haft_export *opened, struct shared *shared)
{
    haft_export *own;

    if (haft_export_write(opened) != HAFT_NO_FILE) {
        return 1;
    }
    haft_export_close(opened);
    if (haft_export_open(&(haft_export_options){.directory = directory}, &own) != HAFT_OK) {
        return 2;
    }
    if (access(haft_export_path(own), R_OK) != 0) {
        return 3;
    }
    haft_export_close(own);
    return haft_worker_close(shared->worker) != HAFT_OK;
}

Test(export, child_of_a_fork_leaves_the_parents_file_alone_and_may_open_its_own)
{
    need_forks_beside_threads(); /* the export's */
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10});
    haft_export *opened = open_export();
    const pid_t child = fork();

    if (child == 0) {
        _exit(in_child(opened, &shared));
    }
    int status;

    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(eq(int, status, 0));
    json_t *root = snapshot(opened);

    cr_expect(eq(u64, number_in(root, "process"), (uint64_t)getpid()));
    json_decref(root);
    haft_export_close(opened);
    close_shared(&shared);
}

static void *open_and_close_tables(void *domain)
{
    for (int i = 0; i < 300; i++) {
        AT_END(table_end) haft_table *table;
        AT_END(worker_end) haft_worker *worker;
        haft_id id;

        must(haft_table_open(domain, &(haft_table_options){.capacity = 10}, &table) == HAFT_OK);
        must(haft_worker_open(table, &worker) == HAFT_OK);
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
    }
    return NULL;
}

Test(export, tables_may_come_and_go_while_it_is_written)
{
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10});
    haft_export *opened = open_export();
    pthread_t thread;

    cr_assert(eq(int, pthread_create(&thread, NULL, open_and_close_tables, shared.domain), 0));
    for (int i = 0; i < 100; i++) {
        json_t *root = snapshot(opened);
        const size_t tables = json_array_size(json_object_get(root, "tables"));

        must(tables == 1 || tables == 2);
        json_decref(root);
    }
    pthread_join(thread, NULL);
    haft_export_close(opened);
    close_shared(&shared);
    expect_no_leaks();
}
