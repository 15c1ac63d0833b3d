/*
 * The export: a thread that writes a file every interval.
 *
 * Each time a new file is made under another name, which must not be there, and renamed over the
 * old one.  So the file is never half written, never larger or smaller than its text, and never
 * somebody else's: neither step follows a link.
 */
#include <haft/export.h>

#include "concurrent/background.h"
#include "concurrent/domain.h"
#include "concurrent/export.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_INTERVAL_MS 1000
#define LEAST_INTERVAL_MS 10
#define MOST_INTERVAL_MS 3600000

struct haft_export {
    int directory;
    char *path;
    const char *name; /* the path's last part */
    char temporary[48];
    pthread_t thread;
    pthread_mutex_t lock; /* for what follows, and the temporary file */
    pthread_cond_t stop_wanted;
    bool stopping;
    struct export_head head;
};

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t open_in; /* the process that has an export open, or 0; under the lock */

/* --- the file --- */

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(file, text, length);

        if (written < 0 && errno != EINTR) {
            return false;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool write_temporary(const haft_export *export, const char *text, size_t length)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    unlinkat(export->directory, export->temporary, 0); /* of a process of this number that died */
    const int file = openat(export->directory, export->temporary, flags, S_IRUSR | S_IWUSR);

    if (file < 0) {
        return false;
    }
    const bool wrote =
        fchmod(file, S_IRUSR | S_IWUSR) == 0 && write_all(file, text, length); /* whatever umask */

    return close(file) == 0 && wrote;
}

/* Under the lock. */
static haft_status write_file(haft_export *export)
{
    size_t length;

    export->head.sequence++;
    char *text = export_text(&export->head, &length);

    if (text == NULL) {
        return HAFT_NO_MEMORY;
    }
    const bool written =
        write_temporary(export, text, length) &&
        renameat(export->directory, export->temporary, export->directory, export->name) == 0;

    free(text);
    if (!written) {
        unlinkat(export->directory, export->temporary, 0);
        return HAFT_NO_FILE;
    }
    return HAFT_OK;
}

/* --- the thread --- */

static struct timespec after(uint64_t interval_ms)
{
    const uint64_t at = now_ns() + interval_ms * (NS_PER_S / 1000);
    const struct timespec time = {.tv_sec = (time_t)(at / NS_PER_S),
                                  .tv_nsec = (long)(at % NS_PER_S)};

    return time;
}

static void *write_until_stopped(void *arg)
{
    haft_export *export = arg;

    pthread_mutex_lock(&export->lock);
    while (!export->stopping) {
        const struct timespec next = after(export->head.interval_ms);

        if (pthread_cond_timedwait(&export->stop_wanted, &export->lock, &next) == ETIMEDOUT &&
            !export->stopping) {
            write_file(export); /* what fails now may work the next time */
        }
    }
    pthread_mutex_unlock(&export->lock);
    return NULL;
}

/* --- opening and closing --- */

static haft_status check(const haft_export_options *options)
{
    if (options->directory == NULL) {
        return HAFT_BAD_DIRECTORY;
    }
    return options->interval_ms == 0 || (options->interval_ms >= LEAST_INTERVAL_MS &&
                                         options->interval_ms <= MOST_INTERVAL_MS)
               ? HAFT_OK
               : HAFT_BAD_INTERVAL_MS;
}

static void init_waiting(haft_export *export)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&export->stop_wanted, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&export->lock, NULL);
}

static void discard(haft_export *export)
{
    if (export->directory >= 0) {
        close(export->directory);
    }
    free(export->path);
    free(export);
}

static haft_export *prepare(const haft_export_options *options)
{
    haft_export *export = calloc(1, sizeof *export);
    const struct process process = process_of_this();
    const size_t size = strlen(options->directory) + 48;
    char *path = malloc(size);

    if (export == NULL || path == NULL) {
        free(path);
        free(export);
        return NULL;
    }
    snprintf(path, size, "%s/haft-%" PRIu64 ".json", options->directory, process.number);
    snprintf(export->temporary, sizeof export->temporary, ".haft-%" PRIu64 ".new", process.number);
    export->path = path;
    export->name = strrchr(path, '/') + 1;
    export->directory = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    export->head.process = process;
    export->head.interval_ms =
        options->interval_ms != 0 ? options->interval_ms : DEFAULT_INTERVAL_MS;
    return export;
}

/* The first file, and the thread that writes the others. */
static haft_status start(haft_export *export)
{
    if (export->directory < 0 || faccessat(export->directory, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        return HAFT_BAD_DIRECTORY;
    }
    const haft_status status = write_file(export);

    if (status != HAFT_OK) {
        return status;
    }
    init_waiting(export);
    if (background_start(&export->thread, write_until_stopped, export) != 0) {
        pthread_cond_destroy(&export->stop_wanted);
        pthread_mutex_destroy(&export->lock);
        unlinkat(export->directory, export->name, 0);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

/* Whether it was this process's turn to open one. */
static bool claim(void)
{
    const uint64_t process = (uint64_t)getpid();

    pthread_mutex_lock(&open_lock);
    const bool is_mine = open_in != process; /* the parent's is not the child's */

    open_in = process;
    pthread_mutex_unlock(&open_lock);
    return is_mine;
}

static void give_up_claim(void)
{
    pthread_mutex_lock(&open_lock);
    open_in = 0;
    pthread_mutex_unlock(&open_lock);
}

haft_status haft_export_open(const haft_export_options *options, haft_export **opened)
{
    haft_status status = check(options);

    if (status != HAFT_OK) {
        return status;
    }
    if (!claim()) {
        return HAFT_IN_USE;
    }
    haft_export *export = prepare(options);

    status = export != NULL ? start(export) : HAFT_NO_MEMORY;
    if (status == HAFT_OK) {
        *opened = export;
        return HAFT_OK;
    }
    if (export != NULL) {
        discard(export);
    }
    give_up_claim();
    return status;
}

/* Not in the child of a fork: the lock and the thread are its parent's. */
static bool is_mine(const haft_export *export)
{
    return export->head.process.number == (uint64_t)getpid();
}

haft_status haft_export_write(haft_export *opened)
{
    if (!is_mine(opened)) {
        return HAFT_NO_FILE;
    }
    pthread_mutex_lock(&opened->lock);
    const haft_status status = write_file(opened);

    pthread_mutex_unlock(&opened->lock);
    return status;
}

const char *haft_export_path(const haft_export *opened)
{
    return opened->path;
}

haft_status haft_export_close(haft_export *opened)
{
    if (is_mine(opened)) {
        pthread_mutex_lock(&opened->lock);
        opened->stopping = true;
        pthread_cond_signal(&opened->stop_wanted);
        pthread_mutex_unlock(&opened->lock);
        pthread_join(opened->thread, NULL);
        pthread_cond_destroy(&opened->stop_wanted);
        pthread_mutex_destroy(&opened->lock);
        unlinkat(opened->directory, opened->name, 0);
        give_up_claim();
    }
    discard(opened);
    return HAFT_OK;
}
