/*
 * kit/shared/export/export_text.h - the text of an export's file.
 */
#ifndef HAFT_CONCURRENT_EXPORT_TEXT_H
#define HAFT_CONCURRENT_EXPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The process that writes, as the file says it. */
struct process {
    uint64_t number;
    uint64_t started; /* clock ticks since the machine's start; 0: not known */
    char program[64];
};

/* The calling process. */
struct process process_of_this(void);

/* The beginning of the file. */
struct export_head {
    struct process process;
    uint64_t interval_ms;
    uint64_t sequence;
};

/* Under the registry's lock: the file's text, to be freed, and its length; NULL: no memory. */
char *export_text(const struct export_head *head, size_t *length);

#endif /* HAFT_CONCURRENT_EXPORT_TEXT_H */
