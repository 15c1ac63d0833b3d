/* Exports of several processes: of one number in one directory, and of a fork. */
#define _GNU_SOURCE /* unshare */
#include "tests/export/exporting.h"
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(export_process, .init = make_directory, .fini = remove_directory,
          .timeout = SUITE_SECONDS);

/* --- of one number --- */

/* What a process of this number in a directory of several has there: the first takes turn 1. */
static void path_of(char *path, size_t size, const char *before, int turn, const char *after)
{
    if (turn == 1) {
        snprintf(path, size, "%s/%shaft-%d%s", directory, before, (int)getpid(), after);
    } else {
        snprintf(path, size, "%s/%shaft-%d-%d%s", directory, before, (int)getpid(), turn, after);
    }
}

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    must(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* As another process of this number would do, in another container: locks are as far apart. */
static int pose_as_another(int turn)
{
    char path[128];

    path_of(path, sizeof path, "", turn, ".json");
    make_file(path, "theirs");
    path_of(path, sizeof path, ".", turn, ".new");
    make_file(path, "theirs");
    path_of(path, sizeof path, ".", turn, ".lock");
    const int lock = open(path, O_RDWR | O_CREAT, 0600);

    must(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
    return lock;
}

static void expect_theirs(const char *path)
{
    char text[8] = "";
    FILE *file = fopen(path, "r");

    must(file != NULL && fgets(text, sizeof text, file) != NULL && fclose(file) == 0);
    cr_expect(eq(str, text, "theirs"));
}

Test(export_process, other_processes_of_the_same_number_keep_their_files)
{
    char own[128];
    char path[128];
    int locks[4];

    for (int turn = 1; turn < 4; turn++) {
        locks[turn] = pose_as_another(turn);
    }
    path_of(own, sizeof own, "", 4, ".json");
    haft_export *opened = open_export();

    cr_expect(eq(str, (char *)haft_export_path(opened), own));
    assert_status(haft_export_write(opened), HAFT_OK);
    json_t *root = read_file(opened);

    cr_expect(eq(u64, number_in(root, "process"), (uint64_t)getpid()));
    json_decref(root);
    haft_export_close(opened);
    for (int turn = 1; turn < 4; turn++) {
        path_of(path, sizeof path, "", turn, ".json");
        expect_theirs(path);
        path_of(path, sizeof path, ".", turn, ".new");
        expect_theirs(path);
        close(locks[turn]);
    }
    cr_expect(eq(int, (int)files_in_directory(), 9));
}

static void *give_back(void *lock)
{
    sleep_ms(20);
    close(*(int *)lock);
    return NULL;
}

/* As haft-top does, for a longer time. */
Test(export_process, who_asks_whether_it_runs_is_waited_for)
{
    char path[128];
    pthread_t thread;

    path_of(path, sizeof path, ".", 1, ".lock");
    int lock = open(path, O_RDONLY | O_CREAT, 0600);

    must(lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0);
    must(pthread_create(&thread, NULL, give_back, &lock) == 0);
    path_of(path, sizeof path, "", 1, ".json");
    AT_END(export_end) haft_export *opened = open_export();

    cr_expect(eq(str, (char *)haft_export_path(opened), path));
    pthread_join(thread, NULL);
}

Test(export_process, who_never_gives_back_what_it_asked_for_keeps_its_files)
{
    char path[128];

    path_of(path, sizeof path, ".", 1, ".lock");
    const int lock = open(path, O_RDONLY | O_CREAT, 0600);

    must(lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0);
    path_of(path, sizeof path, "", 2, ".json");
    haft_export *opened = open_export();

    cr_expect(eq(str, (char *)haft_export_path(opened), path));
    haft_export_close(opened);
    close(lock);
}

Test(export_process, what_a_process_of_the_same_number_left_behind_is_used_again)
{
    char path[128];

    close(pose_as_another(1)); /* it has ended */
    path_of(path, sizeof path, "", 1, ".json");
    haft_export *opened = open_export();

    cr_expect(eq(str, (char *)haft_export_path(opened), path));
    json_t *root = read_file(opened);

    cr_expect(eq(u64, number_in(root, "sequence"), 1));
    json_decref(root);
    haft_export_close(opened);
    cr_expect(eq(int, (int)files_in_directory(), 0));
}

Test(export_process, a_hundred_processes_of_one_number_fit_in_a_directory)
{
    int locks[101];

    for (int turn = 1; turn <= 99; turn++) {
        locks[turn] = pose_as_another(turn);
    }
    expect_status(try_open(directory, 0), HAFT_OK);
    locks[100] = pose_as_another(100);
    expect_status(try_open(directory, 0), HAFT_NO_FILE);
    close(locks[17]);
    expect_status(try_open(directory, 0), HAFT_OK);
    expect_no_leaks();
}

Test(export_process, what_is_no_lock_is_left_alone)
{
    char path[128];
    char target[96];

    snprintf(target, sizeof target, "%s/target", directory);
    make_file(target, "theirs");
    path_of(path, sizeof path, ".", 1, ".lock");
    must(symlink(target, path) == 0);
    path_of(path, sizeof path, ".", 2, ".lock");
    must(mkdir(path, 0700) == 0);
    path_of(path, sizeof path, ".", 3, ".lock");
    must(mkfifo(path, 0644) == 0);
    path_of(path, sizeof path, ".", 4, ".lock");
    must(link(target, path) == 0);
    path_of(path, sizeof path, ".", 5, ".lock");
    must(mknod(path, S_IFSOCK | 0600, 0) == 0);
    must(chmod(target, 0644) == 0);
    path_of(path, sizeof path, "", 6, ".json");
    haft_export *opened = open_export();
    struct stat found;

    cr_expect(eq(str, (char *)haft_export_path(opened), path));
    expect_theirs(target);
    must(stat(target, &found) == 0);
    cr_expect(eq(int, (int)(found.st_mode & 0777), 0644));
    haft_export_close(opened);
    cr_expect(eq(int, (int)files_in_directory(), 6));
}

static bool has_in_it(const char *path, const char *text)
{
    static char found[10000];
    FILE *file = fopen(path, "r");
    const size_t length = file != NULL ? fread(found, 1, sizeof found - 1, file) : 0;

    found[length] = '\0';
    return file != NULL && fclose(file) == 0 && strstr(found, text) != NULL;
}

/* The first process of its namespace, as in a container: it has the number 1. */
static int export_again_and_again(const char *name)
{
    const haft_export_options with = {.directory = directory, .interval_ms = NEVER};
    haft_domain *frames;
    haft_table *table;

    if (getpid() != 1 ||
        haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &frames) != HAFT_OK ||
        haft_table_open(frames, &(haft_table_options){.name = name, .capacity = 10}, &table) !=
            HAFT_OK) {
        return 1;
    }
    for (int i = 0; i < 300; i++) {
        haft_export *opened;

        if (haft_export_open(&with, &opened) != HAFT_OK) {
            return 2;
        }
        for (int n = 0; n < 5; n++) {
            if (!has_in_it(haft_export_path(opened), name) ||
                haft_export_write(opened) != HAFT_OK) {
                return 3;
            }
        }
        haft_export_close(opened);
    }
    return 0;
}

static pid_t start_container(const char *name)
{
    const pid_t keeper = fork();

    if (keeper == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
            _exit(77);
        }
        const pid_t first = fork();
        int status = -1;

        if (first == 0) {
            _exit(export_again_and_again(name));
        }
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    }
    return keeper;
}

Test(export_process, of_first_processes_of_two_containers_each_has_its_own_file)
{
    const pid_t keepers[2] = {start_container("one"), start_container("other")};

    for (int i = 0; i < 2; i++) {
        int status = -1;

        cr_assert(eq(int, waitpid(keepers[i], &status, 0), keepers[i]));
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            cr_skip("no namespaces of process numbers");
        }
        cr_expect(eq(int, status, 0));
    }
    cr_expect(eq(int, (int)files_in_directory(), 0));
}

/* --- forks --- */

static atomic_bool stop;

static void *open_and_close_exports(void *arg)
{
    while (!atomic_load(&stop)) {
        expect_status(try_open(directory, NEVER), HAFT_OK);
    }
    return NULL;
}

/* Enough that writing them, under the lock of opening and closing, takes most of the time. */
#define TABLES 300

static void open_tables(haft_domain *domain, haft_table **tables)
{
    for (int i = 0; i < TABLES; i++) {
        must(haft_table_open(domain, &(haft_table_options){.capacity = 10}, &tables[i]) == HAFT_OK);
    }
}

static void close_tables(haft_table **tables)
{
    for (int i = 0; i < TABLES; i++) {
        must(haft_table_close(tables[i]) == HAFT_OK);
    }
}

static int export_in_child(void)
{
    haft_domain *frames;
    haft_table *table;

    if (haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &frames) != HAFT_OK ||
        haft_table_open(frames, &(haft_table_options){.capacity = 10}, &table) != HAFT_OK) {
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        haft_export *own;

        if (haft_export_open(&(haft_export_options){.directory = directory}, &own) != HAFT_OK) {
            return 2;
        }
        haft_export_close(own);
    }
    return haft_table_close(table) != HAFT_OK || haft_domain_close(frames) != HAFT_OK;
}

static void *export_in_thread(void *status)
{
    *(int *)status = export_in_child();
    return NULL;
}

/* The thread that forked may count itself as the owner of the lock of opening and closing; another
 * one finds the lock as the fork left it. */
static int export_in_thread_of_child(void)
{
    pthread_t thread;
    int status;

    if (pthread_create(&thread, NULL, export_in_thread, &status) != 0) {
        return 3;
    }
    pthread_join(thread, NULL);
    return status;
}

static void expect_exports_in_children(int (*in_child)(void))
{
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10});
    haft_table *tables[TABLES];
    pthread_t thread;

    open_tables(shared.domain, tables);
    must(pthread_create(&thread, NULL, open_and_close_exports, NULL) == 0);
    for (int n = 0; n < 50; n++) {
        const pid_t child = fork();
        int status = -1;

        if (child == 0) {
            alarm(SUITE_SECONDS); /* then it hangs */
            _exit(in_child());
        }
        cr_assert(eq(int, waitpid(child, &status, 0), child));
        cr_assert(eq(int, status, 0));
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    close_tables(tables);
    close_shared(&shared);
}

Test(export_process, child_opens_its_own_whatever_other_threads_did_when_it_was_forked)
{
    need_forks_beside_threads();
    expect_exports_in_children(export_in_child);
}

Test(export_process, so_does_another_thread_of_the_child)
{
    need_forks_beside_threads();
    expect_exports_in_children(export_in_thread_of_child);
}

/* Exports, and ends without closing; its child goes on until `until` is closed. */
static void end_before_ones_child(int until)
{
    char byte;

    open_export();
    if (fork() == 0) {
        read(until, &byte, 1);
    }
    _exit(0);
}

Test(export_process, has_ended_when_it_has_though_a_child_of_it_goes_on)
{
    char path[128];
    int ends[2];

    need_forks_beside_threads();
    must(pipe(ends) == 0);
    const pid_t parent = fork();

    if (parent == 0) {
        close(ends[1]);
        end_before_ones_child(ends[0]);
    }
    must(waitpid(parent, NULL, 0) == parent);
    snprintf(path, sizeof path, "%s/.haft-%d.lock", directory, (int)parent);
    const int lock = open(path, O_RDONLY);

    cr_expect(ge(int, lock, 0));
    for (int n = 0; n < 10000 && flock(lock, LOCK_SH | LOCK_NB) != 0; n++) {
        sleep_ms(1); /* the child may not have begun to run */
    }
    cr_expect(zero(int, flock(lock, LOCK_SH | LOCK_NB)));
    close(lock);
    close(ends[1]);
}

Test(export_process, lock_stays_the_parents_whatever_its_child_does)
{
    char path[128];
    int status = -1;

    need_forks_beside_threads();
    AT_END(export_end) haft_export *opened = open_export();
    const pid_t child = fork();

    if (child == 0) {
        haft_export *own = open_export();

        haft_export_close(opened);
        snprintf(path, sizeof path, "%s/.haft-%d.lock", directory, (int)getpid());
        const int lock = open(path, O_RDONLY);
        const bool is_held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;

        haft_export_close(own);
        _exit(!is_held);
    }
    must(waitpid(child, &status, 0) == child);
    cr_expect(eq(int, status, 0), "the child's own lock is free");
    path_of(path, sizeof path, ".", 1, ".lock");
    const int lock = open(path, O_RDONLY);

    cr_expect(ge(int, lock, 0));
    cr_expect(ne(int, flock(lock, LOCK_SH | LOCK_NB), 0));
    close(lock);
}

static void *write_again_and_again(void *opened)
{
    while (!atomic_load(&stop)) {
        must(haft_export_write(opened) == HAFT_OK);
    }
    return NULL;
}

static int descriptors_of_exports(void)
{
    char name[64];
    char path[256];
    int count = 0;

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", i);
        const ssize_t length = readlink(name, path, sizeof path - 1);

        path[length > 0 ? length : 0] = '\0';
        count += strstr(path, "haft-") != NULL;
    }
    return count;
}

Test(export_process, child_has_no_file_of_it_open)
{
    need_forks_beside_threads();
    AT_END(export_end) haft_export *opened = open_export();
    pthread_t thread;

    must(pthread_create(&thread, NULL, write_again_and_again, opened) == 0);
    for (int n = 0; n < 300; n++) {
        const pid_t child = fork();
        int status = -1;

        if (child == 0) {
            haft_export_close(opened);
            _exit(descriptors_of_exports());
        }
        cr_assert(eq(int, waitpid(child, &status, 0), child));
        cr_assert(zero(int, status));
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}
