/*
 * The n-th call to the system fails, for every n: an export says so, and the file stays as it was.
 */
#include "tests/base/faults.h"
#include <errno.h>
#include <fcntl.h>
#include <haft/kit/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static char lock_path[128];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/haft_failing_export.XXXXXX");
    cr_assert(ne(ptr, mkdtemp(directory), NULL));
    snprintf(lock_path, sizeof lock_path, "%s/.haft-%d.lock", directory, (int)getpid());
}

/* Nothing may be left behind. */
static void remove_directory(void)
{
    must(rmdir(directory) == 0);
}

TestSuite(nth_call_of_export, .init = make_directory, .fini = remove_directory,
          .timeout = SUITE_SECONDS);

static haft_status try_open(void **opened)
{
    const haft_export_options with = {.directory = directory, .interval_ms = 3600000};
    haft_export *made = *opened;
    const haft_status status = haft_export_open(&with, &made);

    *opened = made;
    return status;
}

/* A lock that was made and could not be taken is all that may be left behind. */
static haft_status open_export(void **opened)
{
    const haft_status status = try_open(opened);

    if (status != HAFT_OK) {
        unlink(lock_path);
        must(rmdir(directory) == 0 && mkdir(directory, 0700) == 0);
    }
    return status;
}

static void close_export(void *opened)
{
    must(haft_export_write(opened) == HAFT_OK);
    must(access(haft_export_path(opened), R_OK) == 0);
    haft_export_close(opened);
}

/* It has the names of the second process of this number. */
static void expect_second_names(void *opened)
{
    char path[128];

    snprintf(path, sizeof path, "%s/haft-%d-2.json", directory, (int)getpid());
    cr_expect(eq(str, (char *)haft_export_path(opened), path));
}

Test(nth_call_of_export, opening_it)
{
    fail_each_both_ways(open_export, close_export);
}

/* --- names --- */

static int lock_of_another;

static void lock_for_another(void)
{
    lock_of_another = open(lock_path, O_RDWR | O_CREAT, 0600);
    must(lock_of_another >= 0 && flock(lock_of_another, LOCK_EX | LOCK_NB) == 0);
}

static haft_status open_second(void **opened)
{
    const haft_status status = try_open(opened);
    char path[128];

    snprintf(path, sizeof path, "%s/.haft-%d-2.lock", directory, (int)getpid());
    if (status != HAFT_OK) { /* as above */
        unlink(path);
    }
    return status;
}

Test(nth_call_of_export, opening_it_beside_another_of_its_number)
{
    lock_for_another();
    fail_each_both_ways(open_second, close_export);
    close(lock_of_another);
    must(unlink(lock_path) == 0);
}

/* The one that had the lock removes it, and another one of this number comes. */
static void change_owners(void)
{
    must(unlink(lock_path) == 0);
    lock_for_another();
}

Test(nth_call_of_export, lock_that_changes_owners_while_it_is_taken_is_left_to_them)
{
    void *opened = NULL;

    faults.before_lock = change_owners;
    assert_status(open_export(&opened), HAFT_OK);
    expect_second_names(opened);
    haft_export_close(opened);
    close(lock_of_another);
    must(unlink(lock_path) == 0);
}

static void remove_lock(void)
{
    must(unlink(lock_path) == 0);
    faults.before_lock = remove_lock; /* and the next time */
}

Test(nth_call_of_export, locks_that_are_always_removed_are_given_up)
{
    const haft_export_options with = {.directory = directory};
    haft_export *opened = NULL;

    faults.before_lock = remove_lock;
    expect_status(haft_export_open(&with, &opened), HAFT_NO_FILE);
    cr_expect(eq(ptr, opened, NULL));
    cr_expect(not(has_leaks()));
}

Test(nth_call_of_export, directory_that_cannot_be_opened_is_told_from_want_of_descriptors)
{
    void *opened = NULL;

    faults.open_error = EACCES;
    expect_status(try_open(&opened), HAFT_BAD_DIRECTORY);
    faults.open_error = ENFILE;
    expect_status(try_open(&opened), HAFT_NO_FILE);
    cr_expect(eq(ptr, opened, NULL));
    cr_expect(not(has_leaks()));
}

/* As when another user's process of this number, in another container, has it. */
Test(nth_call_of_export, lock_that_it_may_not_open_is_left_for_the_next_names)
{
    void *opened = NULL;

    faults.openat_error = EACCES;
    assert_status(try_open(&opened), HAFT_OK);
    expect_second_names(opened);
    close_export(opened);
}

/* --- writing --- */

/* What stands in the file: how often it was written. */
static long sequence_of(const haft_export *opened)
{
    char text[4096];
    FILE *file = fopen(haft_export_path(opened), "r");

    must(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strstr(text, "\"sequence\": ");

    must(at != NULL && strstr(text, "\n}\n") != NULL);
    return strtol(at + strlen("\"sequence\": "), NULL, 10);
}

/* The n-th call fails, alone or with all after it; false: there are less. */
static bool write_with_refusals(haft_export *opened, int n, int last)
{
    const long before = sequence_of(opened);

    fail_calls(n, last);
    const haft_status status = haft_export_write(opened);
    const bool reached = faults.calls >= n;

    fail_calls(0, -1);
    if (status == HAFT_OK) {
        must(sequence_of(opened) > before);
    } else {
        must(reached && (status == HAFT_NO_MEMORY || status == HAFT_NO_FILE));
        must(sequence_of(opened) == before);
    }
    must(haft_export_write(opened) == HAFT_OK);
    must(sequence_of(opened) > before);
    return reached;
}

Test(nth_call_of_export, writing_it)
{
    const long before = faults.balance;
    void *opened = NULL;

    must(open_export(&opened) == HAFT_OK);
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        int n = 1;

        while (write_with_refusals(opened, n, for_ever ? 1000000 : n)) {
            must(++n < 50);
        }
        cr_expect(ge(int, n, 6));
    }
    haft_export_close(opened);
    cr_expect(eq(long, faults.balance, before));
    cr_expect(not(has_leaks()));
}

Test(nth_call_of_export, writing_that_is_interrupted_goes_on_where_it_was)
{
    void *opened = NULL;

    must(open_export(&opened) == HAFT_OK);
    const long before = sequence_of(opened);

    faults.short_writes = 100;
    expect_status(haft_export_write(opened), HAFT_OK);
    cr_expect(zero(int, faults.short_writes));
    cr_expect(eq(long, sequence_of(opened), before + 1));
    haft_export_close(opened);
}
