/*
 * work.h - the jobs: bytes and lines of all files of a shared level, by a thread pool.
 */
#ifndef LEVEL_LOAD_WORK_H
#define LEVEL_LOAD_WORK_H

#include <glib.h>
#include <haft/table.h>
#include <stdbool.h>
#include <stdint.h>

struct workload {
    haft_table *table;
    unsigned workers;
    uint64_t files; /* in it */
    GArray *freed;  /* where the ids of ended jobs go */
};

/* Measures all files, and returns when no thread uses the table any more.  False, with `error`
 * set, if the system gives no threads or memory. */
bool work(const struct workload *load, GError **error);

#endif /* LEVEL_LOAD_WORK_H */
