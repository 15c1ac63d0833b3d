/*
 * The export: a thread that writes a file every interval.
 *
 * The child of a fork finds no lock held here: a process claims its export with one
 * compare-and-swap, and leaves the one that it inherits alone.
 *
 * No thread waits for the registry's lock while it has the export's, or is to be joined.
 *
 * Edges in this file.
 *   RETRY   a first look, and the claim itself: of the threads that open an export one wins, and
 *           nothing travels with that
 *   OWN     while it is claimed, only the thread that opens or closes the export writes the claim
 */
#include <haft/kit/export.h>

#include "concurrent/clock/domain.h"
#include "concurrent/clock/registry.h"
#include "kit/local/status/kit_status.h"
#include "kit/shared/export/export_file.h"
#include "kit/shared/export/export_text.h"
#include "lib/base/os.h"
#include "lib/base/sized.h"
#include <stdlib.h>

#define DEFAULT_INTERVAL_MS 1000
#define LEAST_INTERVAL_MS 10
#define MOST_INTERVAL_MS 3600000
#define AGAIN_NS 1000000 /* between two tries for the registry's lock */

struct haft_export {
    uint64_t process; /* the one that opened it: see registry.h */
    struct export_file file;
    struct os_thread thread;
    struct os_mutex lock; /* for the members below, and writing the file */
    struct os_condition stop_wanted;
    bool stopping;
    struct export_head head;
};

static atomic_u64 open_in; /* the process that has an export open, or 0 */

/*
 * Under the export's lock, once there is a thread, and under the registry's, which it gives back
 * before it writes.
 */
static haft_status write_file(haft_export *export)
{
    size_t length;

    export->head.sequence++;
    char *text = export_text(&export->head, &length);

    registry_unlock();
    if (text == NULL) {
        return HAFT_NO_MEMORY;
    }
    const bool written = export_file_write(&export->file, text, length);

    free(text);
    return written ? HAFT_OK : kit_status(HAFT_NO_FILE);
}

/* --- the thread --- */

/* False: it is to stop.  The thread that wants that may have the registry's lock, and join it. */
static bool take_registry_to_write(haft_export *export)
{
    while (!export->stopping && !registry_try_lock()) {
        os_condition_wait(&export->stop_wanted, &export->lock, os_now_ns() + AGAIN_NS);
    }
    return !export->stopping;
}

static void write_until_stopped(void *arg)
{
    haft_export *export = arg;

    os_mutex_lock(&export->lock);
    while (!export->stopping) {
        const uint64_t next = os_now_ns() + export->head.interval_ms * (NS_PER_S / 1000);

        if (!os_condition_wait(&export->stop_wanted, &export->lock, next) &&
            take_registry_to_write(export)) {
            write_file(export); /* if this fails, the next write may succeed */
        }
    }
    os_mutex_unlock(&export->lock);
}

/* --- opening and closing --- */

static haft_status check_export(const haft_export_options *options)
{
    if (options->directory == NULL) {
        return kit_status(HAFT_BAD_DIRECTORY);
    }
    return options->interval_ms == 0 || (options->interval_ms >= LEAST_INTERVAL_MS &&
                                         options->interval_ms <= MOST_INTERVAL_MS)
               ? HAFT_OK
               : kit_status(HAFT_BAD_INTERVAL_MS);
}

static haft_export *new_export(const haft_export_options *options)
{
    haft_export *export = calloc(1, sizeof *export);

    if (export != NULL) {
        export->process = registry_process();
        export->head.process = process_of_this();
        export->head.interval_ms =
            options->interval_ms != 0 ? options->interval_ms : DEFAULT_INTERVAL_MS;
    }
    return export;
}

/* The first file, and the thread that writes the others. */
static haft_status start(haft_export *export)
{
    registry_lock();
    const haft_status status = write_file(export);

    if (status != HAFT_OK) {
        return status;
    }
    os_condition_open(&export->stop_wanted);
    os_mutex_open(&export->lock);
    if (!os_thread_start(&export->thread, write_until_stopped, export)) {
        os_condition_close(&export->stop_wanted);
        os_mutex_close(&export->lock);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static haft_status open_file(haft_export *export, const char *directory)
{
    haft_status status = export_file_open(&export->file, directory, export->head.process.number);

    if (status == HAFT_OK) {
        status = start(export);
        if (status != HAFT_OK) {
            export_file_remove(&export->file);
        }
    }
    return status;
}

/* Whether this process had none open.  Its parent's is not its own. */
static bool claim_process(void)
{
    const uint64_t process = registry_process();
    const uint64_t before = load_relaxed(RETRY, &open_in);

    return before != process && cas_relaxed(RETRY, &open_in, before, process);
}

static void give_up_claim(void)
{
    store_relaxed(OWN, &open_in, 0);
}

static haft_status open_export(const haft_export_options *options, haft_export **opened)
{
    haft_status status = check_export(options);

    if (status != HAFT_OK) {
        return status;
    }
    if (!claim_process()) {
        return HAFT_IN_USE;
    }
    haft_export *export = new_export(options);

    status = export != NULL ? open_file(export, options->directory) : HAFT_NO_MEMORY;
    if (status == HAFT_OK) {
        *opened = export;
        return HAFT_OK;
    }
    free(export);
    give_up_claim();
    return status;
}

haft_status haft_export_open_sized(const haft_export_options *options, size_t size,
                                   haft_export **opened)
{
    haft_export_options known;
    const int cancel = os_cancel_off();
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? open_export(&known, opened) : status;
    os_cancel_restore(cancel);
    return status;
}

/* Not in the child of a fork: the lock and the thread are its parent's. */
static bool is_mine(const haft_export *export)
{
    return export->process == registry_process();
}

/* The thread that has one of the two locks may wait for the other: so it waits with neither. */
static void take_locks_to_write(haft_export *export)
{
    os_mutex_lock(&export->lock);
    while (!registry_try_lock()) {
        os_mutex_unlock(&export->lock);
        registry_lock();
        registry_unlock();
        os_mutex_lock(&export->lock);
    }
}

haft_status haft_export_write(haft_export *opened)
{
    if (!is_mine(opened)) {
        return kit_status(HAFT_NO_FILE);
    }
    const int cancel = os_cancel_off();

    take_locks_to_write(opened);
    const haft_status status = write_file(opened);

    os_mutex_unlock(&opened->lock);
    os_cancel_restore(cancel);
    return status;
}

const char *haft_export_path(const haft_export *opened)
{
    return opened->file.path;
}

void haft_export_close(haft_export *opened)
{
    const int cancel = os_cancel_off();

    if (is_mine(opened)) {
        os_mutex_lock(&opened->lock);
        opened->stopping = true;
        os_condition_wake_all(&opened->stop_wanted);
        os_mutex_unlock(&opened->lock);
        os_thread_join(&opened->thread);
        os_condition_close(&opened->stop_wanted);
        os_mutex_close(&opened->lock);
        export_file_remove(&opened->file);
        give_up_claim();
    } else {
        export_file_forget(&opened->file);
    }
    free(opened);
    os_cancel_restore(cancel);
}
