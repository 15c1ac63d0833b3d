/*
 * trace.h - a trace, checked and made ready to be replayed.
 *
 * Each traced thread's rows stand together in program order.  Rows of one object that follow
 * each other on different threads are joined by a hand-off: the later row waits until the
 * earlier one has been carried out.  So every object sees its rows in the order of the file,
 * and nothing else orders the threads.
 */
#ifndef REPLAY_TRACE_H
#define REPLAY_TRACE_H

#include "reader.h"

#define NO_HANDOFF UINT32_MAX

struct row {
    uint64_t line;
    uint32_t object;
    uint32_t uses;      /* of this object in earlier rows */
    uint32_t waits_for; /* hand-off, or NO_HANDOFF */
    uint32_t hands_on;  /* hand-off, or NO_HANDOFF */
    enum op op;
};

struct traced_thread {
    uint64_t number; /* as in the file */
    uint32_t row_count;
    struct row *rows;
};

struct traced_object {
    uint64_t number; /* as in the file */
    uint32_t uses;
    bool freed; /* by a row of the trace */
};

struct trace {
    char *path;
    struct traced_thread *threads;
    struct traced_object *objects;
    uint32_t *handoffs; /* hand-off -> the thread that waits for it */
    uint32_t thread_count;
    uint32_t object_count;
    uint32_t handoff_count;
    uint32_t row_count;
    uint32_t use_count;
    uint32_t free_count;
    uint32_t cross_thread_frees; /* frees on another thread than the allocation */
};

/*
 * Reads the whole file.  NULL, with `failure` set, if it cannot be read, has no rows, or is
 * malformed: a bad line, or an object used or freed while it is not allocated, or allocated
 * twice.
 */
struct trace *trace_read(const char *path, struct failure *failure);
void trace_free(struct trace *trace);

#endif /* REPLAY_TRACE_H */
