/*
 * The process's export of statistics: opened, written and closed whatever the table goes through.
 * One of the plan's threads at a time uses it, beside the export's own.
 */
#include "stress/combinations/exports.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/watch.h"
#include <haft/kit/export.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_MS 10

static struct {
    _Atomic(bool) is_taken; /* by a thread */
    haft_export *opened;    /* NULL: none */
    char directory[sizeof watch->directory + sizeof "/XXXXXX"];
} export;

static bool take_export(void)
{
    return !atomic_exchange_explicit(&export.is_taken, true, memory_order_acquire);
}

static void give_export_back(void)
{
    atomic_store_explicit(&export.is_taken, false, memory_order_release);
}

static void make_directory(void)
{
    snprintf(export.directory, sizeof export.directory, "%s/XXXXXX", watch->directory);
    require_that(mkdtemp(export.directory) != NULL, "mkdtemp");
}

static void open_export(void)
{
    const haft_export_options options = {.directory = export.directory, .interval_ms = INTERVAL_MS};

    make_directory();
    const haft_status status = haft_export_open(&options, &export.opened);

    if (status != HAFT_OK) {
        export.opened = NULL;
        rmdir(export.directory);
    }
    require_that(status == HAFT_OK || (play.memory_is_refused &&
                                       (status == HAFT_NO_MEMORY || status == HAFT_NO_THREAD)),
                 "haft_export_open");
}

/* The directory is empty again. */
static void close_export(void)
{
    haft_export_close(export.opened);
    export.opened = NULL;
    require_that(rmdir(export.directory) == 0, "a closed export leaves files");
}

static const json_t *table_in(const json_t *tables)
{
    size_t i;
    const json_t *table;

    json_array_foreach(tables, i, table)
    {
        const char *name = json_string_value(json_object_get(table, "name"));

        if (name != NULL && strcmp(name, TABLE_NAME) == 0) {
            return table;
        }
    }
    return NULL;
}

/* In turns nothing has happened since it was written. */
static void check_written(void)
{
    json_t *root = json_load_file(haft_export_path(export.opened), 0, NULL);

    require_that(root != NULL, "an export is no JSON");
    const json_t *table = table_in(json_object_get(root, "tables"));
    const uint64_t live = haft_table_stats_get(play.table).live;

    require_that(table != NULL || play.is_closing, "an export without the table");
    require_that(table == NULL || play.at_once || play.has_guest ||
                     (uint64_t)json_integer_value(json_object_get(table, "live")) == live,
                 "an export has a wrong number of live objects");
    json_decref(root);
}

static void write_export(void)
{
    const haft_status status = haft_export_write(export.opened);

    if (play.is_child) {
        expect(status, HAFT_NO_FILE, "haft_export_write in the child of a fork");
    } else if (status != HAFT_OK) {
        require_that(lacks_memory(status), "haft_export_write");
    } else if (!play.memory_is_refused) {
        check_written();
    }
}

void step_export(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    if (!backend_has_files() || !take_export()) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_EXPORT, HAFT_NIL);

    if (export.opened != NULL) {
        write_export();
        if (step->count == 1 && !play.is_child) {
            close_export();
        }
    } else if (!play.is_child) {
        open_export();
    }
    end_call(outer);
    give_export_back();
}

void end_export(void)
{
    if (export.opened != NULL) {
        close_export();
    }
}
