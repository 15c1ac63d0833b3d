/*
 * exporter - a program with known traffic, for haft-top's test: exports it, says so, and keeps
 * still until stdin ends.
 *
 * Usage: exporter DIRECTORY [die|again]      die: ends without closing the export
 *                                            again: closes and opens it until stdin ends
 */
#include <haft/counted.h>
#include <haft/domain.h>
#include <haft/kit/export.h>
#include <haft/table.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHIPS = 1500, SUNK = 500, TWICE = 7, SESSIONS = 1200, HELD = 30, ENDED = 4 };

static haft_domain *domain;
static haft_table *ships, *empty;
static haft_worker *worker;
static haft_counted *sessions, *twin; /* of one name */

static bool open_tables(void)
{
    const haft_domain_options clock = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options fleet = {
        .name = "ships \"and\"\n\\ boats", .capacity = 2000, .object_size = 24};
    const haft_table_options nothing = {.name = "\x1b[2Jempty", .capacity = 10};

    return haft_domain_open(&clock, &domain) == HAFT_OK &&
           haft_table_open(domain, &fleet, &ships) == HAFT_OK &&
           haft_table_open(domain, &nothing, &empty) == HAFT_OK &&
           haft_worker_open(ships, &worker) == HAFT_OK;
}

static bool make_traffic(void)
{
    static haft_id ids[SHIPS];
    bool right = true;

    for (int i = 0; i < SHIPS; i++) {
        right = right && haft_insert(worker, NULL, &ids[i]) == HAFT_OK;
    }
    for (int i = 0; i < SUNK; i++) {
        right = right && haft_free(worker, ids[i]) == HAFT_OK;
    }
    for (int i = 0; i < TWICE; i++) {
        right = right && haft_free(worker, ids[i]) == HAFT_STALE;
    }
    return right;
}

static bool open_counted(void)
{
    const haft_counted_options options = {
        .name = "sess\"ions", .capacity = 4000, .object_size = 40};

    return haft_counted_open(&options, &sessions) == HAFT_OK &&
           haft_counted_open(&options, &twin) == HAFT_OK;
}

/* Of the sessions some are held, and of these some are freed. */
static bool make_counted_traffic(void)
{
    haft_id id;

    for (int i = 0; i < SESSIONS; i++) {
        if (haft_counted_insert(sessions, NULL, &id) != HAFT_OK ||
            (i < HELD && haft_counted_acquire(sessions, id) == NULL) ||
            (i < ENDED && haft_counted_free(sessions, id) != HAFT_OK)) {
            return false;
        }
    }
    return true;
}

static haft_export *open_export(const char *directory)
{
    const haft_export_options options = {.directory = directory, .interval_ms = 50};
    haft_export *opened = NULL;

    haft_export_open(&options, &opened);
    return opened;
}

/* False: it was refused, or got another name. */
static bool open_again_and_again(const char *directory, haft_export **opened)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    const size_t length = strlen(haft_export_path(*opened));

    while (poll(&in, 1, 0) == 0) {
        haft_export_close(*opened);
        *opened = open_export(directory);
        if (*opened == NULL || strlen(haft_export_path(*opened)) != length) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const bool dies = argc == 3 && strcmp(argv[2], "die") == 0;
    const bool is_restless = argc == 3 && strcmp(argv[2], "again") == 0;
    haft_export *opened;

    if (argc < 2 || !open_tables() || !make_traffic() || !open_counted() ||
        !make_counted_traffic() || (opened = open_export(argv[1])) == NULL) {
        return 1;
    }
    puts(haft_export_path(opened));
    fflush(stdout);
    if (dies) {
        _exit(0);
    }
    if (is_restless && !open_again_and_again(argv[1], &opened)) {
        return 1;
    }
    while (getchar() != EOF) {
    }
    haft_export_close(opened);
    haft_counted_abandon(sessions);
    haft_counted_abandon(twin);
    return haft_worker_close(worker) || haft_table_close(empty) || haft_table_close(ships) ||
           haft_domain_close(domain);
}
