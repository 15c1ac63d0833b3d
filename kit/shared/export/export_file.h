/*
 * kit/shared/export/export_file.h - where the file stands.
 */
#ifndef HAFT_CONCURRENT_EXPORT_FILE_H
#define HAFT_CONCURRENT_EXPORT_FILE_H

#include <haft/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_NAME_SIZE 48

struct export_file {
    int directory;
    char *path;
    size_t directory_length; /* of the path */
    char temporary[EXPORT_NAME_SIZE];
    char locked[EXPORT_NAME_SIZE];
};

/* HAFT_OK, and the names are this process's alone, which has no other such file open; or
 * HAFT_BAD_DIRECTORY, HAFT_NO_FILE or HAFT_NO_MEMORY, and there is nothing to close. */
haft_status export_file_open(struct export_file *file, const char *directory, uint64_t process);

/* Write it anew.  False: the system did not take it, and it is as it was. */
bool export_file_write(const struct export_file *file, const char *text, size_t length);

/* Remove it; in the child of a fork, only forget it. */
void export_file_remove(struct export_file *file);
void export_file_forget(struct export_file *file);

#endif /* HAFT_CONCURRENT_EXPORT_FILE_H */
