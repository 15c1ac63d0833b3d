/* What needs a system with processes and files: forks and exports. */
#include "portable.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAFT_OS_BARE) || defined(_WIN32) || defined(__EMSCRIPTEN__)
#define HAS_FORK 0
#else
#define HAS_FORK 1
#include <sys/wait.h>
#include <unistd.h>
#endif

#if HAS_FORK
/* In the child: 0 if the objects of before are there, and new ones can be inserted. */
static int go_on(struct shared *shared, haft_id id)
{
    haft_id other;

    return haft_is_live(haft_table_view(shared->table), id) &&
                   haft_insert(shared->worker, NULL, &other) == HAFT_OK &&
                   haft_free(shared->worker, id) == HAFT_OK && shared_is_right(shared)
               ? 0
               : 1;
}

static void test_fork(enum circumstance circumstance)
{
    struct shared shared;
    haft_id id;
    int status = -1;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_insert(shared.worker, NULL, &id));
    fflush(stdout);
    const pid_t child = fork();

    if (child == 0) {
        _exit(go_on(&shared, id));
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(haft_is_live(haft_table_view(shared.table), id));
    shared_close(&shared);
}
#else
static void test_fork(enum circumstance circumstance)
{
    (void)circumstance;
    skip("no fork");
}
#endif

#if HAS_FORK && !defined(HAFT_WITHOUT_EXPORT)
static bool file_has(const char *path, const char *text)
{
    static char content[65536];
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        return false;
    }
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    return strstr(content, text) != NULL;
}

static void test_export(enum circumstance circumstance)
{
    char directory[] = "/tmp/haft_portable_XXXXXX";
    haft_export_options options = {.interval_ms = 1};
    haft_export *opened = NULL, *second = NULL;
    struct shared shared;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK(haft_export_open(NULL, &opened) == HAFT_BAD_DIRECTORY);
    if (CHECK(mkdtemp(directory) != NULL)) {
        options.directory = directory;
        CHECK(haft_export_open(&options, &opened) == HAFT_BAD_INTERVAL_MS);
        options.interval_ms = 0;
        const haft_status status = haft_export_open(&options, &opened);

        if (CHECK(status == HAFT_OK)) {
            CHECK(haft_export_open_sized(&options, sizeof options, &second) == HAFT_IN_USE);
            CHECK_OK(haft_export_write(opened));
            CHECK(file_has(haft_export_path(opened), "\"capacity\""));
            haft_export_close(opened);
        }
        CHECK(rmdir(directory) == 0);
    }
    shared_close(&shared);
}
#else
static void test_export(enum circumstance circumstance)
{
    (void)circumstance;
    skip("no export");
}
#endif

const struct test system_tests[] = {
    {"fork", "the child goes on", IN_HEAP, test_fork},
    {"export", "a file of statistics", BIT(WORKERS), test_export},
    {NULL, NULL, 0, NULL},
};
