/*
 * The export's file.
 *
 * Each write makes a new file under another name, which must not exist, and renames it over the
 * old one.  So the file is never half written, never larger or smaller than its text, and never
 * another user's: neither step follows a link.
 *
 * Both names hold the process's number, and processes of one number may share the directory: in
 * containers, or on several machines.  So they are only used under a lock (flock) on a third file,
 * which ends with its process: a process that finds it held goes on to the next names.  Files that
 * a process of that number has left behind are used again.
 *
 * A reader that asks whether the process runs takes a share of the lock for a moment; opening waits
 * for that.  The child of a fork would keep the lock when its parent has ended, so the child closes
 * it first of all, and a new file that was being written.
 */
#include "kit/shared/export/export_file.h"
#include "concurrent/clock/registry.h"
#include "kit/local/status/kit_status.h"
#include "kit/shared/export/export_posix.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWNER_ONLY (S_IRUSR | S_IWUSR)
#define MOST_OF_A_NUMBER 100 /* processes of one number in one directory */
#define MOST_TRIES 100       /* for a lock that is removed, or asked for, whenever it is tried */
#define PAUSE_NS 1000000     /* then a reader that asked is done */

/*
 * The locked file of this process's one export, and the new file that is being written; or -1.
 * Each fork takes their lock, so a child knows of each that it has.  A thread that has it takes no
 * other; the thread that forks takes it after the registry's, which openers of exports may have.
 */
static struct os_mutex files_lock;
static int held = -1;
static int being_written = -1;

/* --- names --- */

static void set_names(struct export_file *file, uint64_t process, int turn)
{
    char stem[32];
    const int length = snprintf(stem, sizeof stem, "haft-%" PRIu64, process);

    if (turn > 1) {
        snprintf(stem + length, sizeof stem - (size_t)length, "-%d", turn);
    }
    snprintf(file->path + file->directory_length, EXPORT_NAME_SIZE, "/%s.json", stem);
    snprintf(file->temporary, sizeof file->temporary, ".%s.new", stem);
    snprintf(file->locked, sizeof file->locked, ".%s.lock", stem);
}

static const char *name_of(const struct export_file *file)
{
    return file->path + file->directory_length + 1;
}

/* --- the lock --- */

/* True unless the system found that something was not written. */
static bool release(int *file)
{
    const bool closed = *file < 0 || close(*file) == 0;

    *file = -1;
    return closed;
}

static void lock_files(void)
{
    registry_lock();
    os_mutex_lock(&files_lock);
}

static void unlock_files(void)
{
    os_mutex_unlock(&files_lock);
    registry_unlock();
}

static void forget_files(void)
{
    release(&held);
    release(&being_written);
    unlock_files();
}

/* After the registry's handler, and before the program's: see registry.c. */
AT_START(102, watch_forks_of_files);

static void watch_forks_of_files(void)
{
    os_on_fork(lock_files, unlock_files, forget_files);
}

/* Another process's lock, or something of that name that is no lock. */
static bool is_taken(int error)
{
    return error == EWOULDBLOCK || error == EBUSY || error == EACCES || error == EPERM ||
           error == ELOOP || error == EISDIR || error == ENXIO;
}

/* 0; EBUSY: only readers ask for it; ESTALE: a former owner has removed it. */
static int lock_file(int file)
{
    struct stat found;

    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;

        return error == EWOULDBLOCK && flock(file, LOCK_SH | LOCK_NB) == 0 ? EBUSY : error;
    }
    if (fstat(file, &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode) || found.st_nlink > 1) {
        return EPERM; /* a pipe, or a file that has another name as well */
    }
    return found.st_nlink != 0 ? 0 : ESTALE;
}

static int try_names(const struct export_file *file)
{
    const int flags = O_RDWR | O_CREAT | OS_O_NOFOLLOW | O_NONBLOCK | OS_O_CLOEXEC;

    os_mutex_lock(&files_lock);
    held = sys_openat(file->directory, file->locked, flags, OWNER_ONLY);
    const int error = held < 0 ? errno : lock_file(held);

    if (error != 0) {
        release(&held);
    }
    os_mutex_unlock(&files_lock);
    return error;
}

/* 0, or the error: then the lock's file may be another process's, and stays. */
static int lock_names(const struct export_file *file)
{
    int error = ESTALE;

    for (int i = 0; i < MOST_TRIES && (error == EBUSY || error == ESTALE); i++) {
        error = try_names(file);
        if (error == EBUSY) {
            os_sleep(PAUSE_NS);
        }
    }
    if (error == 0) {
        /* Whatever umask.  Where it fails, the next of this number may need another turn. */
        sys_fchmod(held, OWNER_ONLY);
    }
    return error; /* ESTALE: a file system that counts no names? */
}

/* --- opening and closing --- */

void export_file_forget(struct export_file *file)
{
    if (file->directory >= 0) {
        close(file->directory);
    }
    free(file->path);
}

haft_status export_file_open(struct export_file *file, const char *directory, uint64_t process)
{
    int error = EWOULDBLOCK;

    *file = (struct export_file){.directory_length = strlen(directory)};
    file->path = malloc(file->directory_length + EXPORT_NAME_SIZE);
    if (file->path == NULL) {
        return HAFT_NO_MEMORY;
    }
    memcpy(file->path, directory, file->directory_length);
    file->directory = open(directory, O_RDONLY | OS_O_DIRECTORY | OS_O_CLOEXEC);
    if (file->directory < 0 && (errno == EMFILE || errno == ENFILE)) {
        export_file_forget(file);
        return kit_status(HAFT_NO_FILE); /* the directory may be as it should */
    }
    if (file->directory < 0 ||
        sys_faccessat(file->directory, ".", W_OK | X_OK, OS_AT_EACCESS) != 0) {
        export_file_forget(file);
        return kit_status(HAFT_BAD_DIRECTORY);
    }
    for (int turn = 1; turn <= MOST_OF_A_NUMBER && is_taken(error); turn++) {
        set_names(file, process, turn);
        error = lock_names(file);
    }
    if (error != 0) {
        export_file_forget(file);
        return kit_status(HAFT_NO_FILE);
    }
    return HAFT_OK;
}

void export_file_remove(struct export_file *file)
{
    sys_unlinkat(file->directory, name_of(file), 0);
    sys_unlinkat(file->directory, file->locked, 0); /* last: the names are others' from now on */
    os_mutex_lock(&files_lock);
    release(&held);
    os_mutex_unlock(&files_lock);
    export_file_forget(file);
}

/* --- writing --- */

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

static bool write_temporary(const struct export_file *file, const char *text, size_t length)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | OS_O_NOFOLLOW | OS_O_CLOEXEC;

    sys_unlinkat(file->directory, file->temporary, 0); /* of a process of this number that died */
    os_mutex_lock(&files_lock);
    const int opened = sys_openat(file->directory, file->temporary, flags, OWNER_ONLY);

    being_written = opened;
    os_mutex_unlock(&files_lock);
    if (opened < 0) {
        return false;
    }
    const bool wrote =
        sys_fchmod(opened, OWNER_ONLY) == 0 && write_all(opened, text, length); /* whatever umask */

    os_mutex_lock(&files_lock);
    const bool closed = release(&being_written);

    os_mutex_unlock(&files_lock);
    return closed && wrote;
}

bool export_file_write(const struct export_file *file, const char *text, size_t length)
{
    const bool written =
        write_temporary(file, text, length) &&
        sys_renameat(file->directory, file->temporary, file->directory, name_of(file)) == 0;

    if (!written) {
        sys_unlinkat(file->directory, file->temporary, 0);
    }
    return written;
}
