/*
 * The export's file.
 *
 * Each time a new file is made under another name, which must not be there, and renamed over the
 * old one.  So the file is never half written, never larger or smaller than its text, and never
 * somebody else's: neither step follows a link.
 *
 * Both names hold the process's number, and processes of one number may share the directory: in
 * containers, or on several machines.  So they are only used under a lock (flock) on a third file,
 * which ends with its process: who finds it held goes on to the next names.  Files that a process
 * of that number has left behind are used again.
 */
#include "concurrent/export.h"
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
#define MOST_TRIES 100       /* for a lock that is removed whenever it is taken */

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

/* Somebody else's lock, or something of that name that is no lock. */
static bool is_taken(int error)
{
    return error == EWOULDBLOCK || error == EACCES || error == EPERM || error == ELOOP ||
           error == EISDIR || error == ENXIO;
}

/* 0 if it is locked, and still the file of its name: a former owner may have removed it. */
static int lock_file(int file, bool *has_name)
{
    struct stat found;

    if (flock(file, LOCK_EX | LOCK_NB) != 0 || fstat(file, &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode) || found.st_nlink > 1) {
        return EPERM; /* somebody's pipe, or a file that has another name as well */
    }
    *has_name = found.st_nlink != 0;
    return 0;
}

/* 0, or why not: then the lock's file may be somebody else's, and stays. */
static int lock_names(struct export_file *file)
{
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    bool has_name = false;

    for (int i = 0; i < MOST_TRIES && !has_name; i++) {
        file->lock = openat(file->directory, file->locked, flags, OWNER_ONLY);
        const int error = file->lock < 0 ? errno : lock_file(file->lock, &has_name);

        if (file->lock >= 0 && !has_name) {
            close(file->lock);
            file->lock = -1;
        }
        if (error != 0) {
            return error;
        }
    }
    if (!has_name) {
        return EIO; /* a file system that counts no names? */
    }
    /* Whatever umask.  Where it fails, the next of this number may have to take another turn. */
    fchmod(file->lock, OWNER_ONLY);
    return 0;
}

/* --- opening and closing --- */

void export_file_forget(struct export_file *file)
{
    if (file->lock >= 0) {
        close(file->lock);
    }
    if (file->directory >= 0) {
        close(file->directory);
    }
    free(file->path);
}

haft_status export_file_open(struct export_file *file, const char *directory, uint64_t process)
{
    int error = EWOULDBLOCK;

    *file = (struct export_file){.lock = -1, .directory_length = strlen(directory)};
    file->path = malloc(file->directory_length + EXPORT_NAME_SIZE);
    if (file->path == NULL) {
        return HAFT_NO_MEMORY;
    }
    memcpy(file->path, directory, file->directory_length);
    file->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->directory < 0 && (errno == EMFILE || errno == ENFILE)) {
        export_file_forget(file);
        return HAFT_NO_FILE; /* the directory may be as it should */
    }
    if (file->directory < 0 || faccessat(file->directory, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        export_file_forget(file);
        return HAFT_BAD_DIRECTORY;
    }
    for (int turn = 1; turn <= MOST_OF_A_NUMBER && is_taken(error); turn++) {
        set_names(file, process, turn);
        error = lock_names(file);
    }
    if (error != 0) {
        export_file_forget(file);
        return HAFT_NO_FILE;
    }
    return HAFT_OK;
}

void export_file_remove(struct export_file *file)
{
    unlinkat(file->directory, name_of(file), 0);
    unlinkat(file->directory, file->locked, 0); /* last: the names are others' from now on */
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
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    unlinkat(file->directory, file->temporary, 0); /* of a process of this number that died */
    const int made = openat(file->directory, file->temporary, flags, OWNER_ONLY);

    if (made < 0) {
        return false;
    }
    const bool wrote =
        fchmod(made, OWNER_ONLY) == 0 && write_all(made, text, length); /* whatever umask */

    return close(made) == 0 && wrote;
}

bool export_file_write(const struct export_file *file, const char *text, size_t length)
{
    const bool written =
        write_temporary(file, text, length) &&
        renameat(file->directory, file->temporary, file->directory, name_of(file)) == 0;

    if (!written) {
        unlinkat(file->directory, file->temporary, 0);
    }
    return written;
}
