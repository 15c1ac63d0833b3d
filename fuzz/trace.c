/* Any bytes for a trace: it is refused with a reason, or the trace made of it holds together. */
#include "examples/replay/trace.h"
#include "fuzz/target.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool telling;

void target_tell(void)
{
    telling = true;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

static void check_row(const struct trace *trace, const struct row *row, uint32_t thread)
{
    must(row->object < trace->object_count, "a row of no object");
    must(row->waits_for == NO_HANDOFF || row->waits_for < trace->handoff_count,
         "waits for nothing");
    must(row->waits_for == NO_HANDOFF || trace->handoffs[row->waits_for] == thread,
         "waits for another thread's hand-off");
    must(row->hands_on == NO_HANDOFF || row->hands_on < trace->handoff_count, "passes to no row");
    must(row->op == OP_ALLOCATE || row->op == OP_USE || row->op == OP_FREE, "no operation");
}

/* The counts are those of the rows, and no reference leads out of the trace. */
static void check_trace(const struct trace *trace)
{
    uint32_t rows = 0;
    uint32_t uses = 0;
    uint32_t frees = 0;

    for (uint32_t i = 0; i < trace->thread_count; i++) {
        const struct traced_thread *thread = &trace->threads[i];

        for (uint32_t j = 0; j < thread->row_count; j++) {
            check_row(trace, &thread->rows[j], i);
            uses += thread->rows[j].op == OP_USE;
            frees += thread->rows[j].op == OP_FREE;
        }
        rows += thread->row_count;
    }
    must(rows != 0 && rows == trace->row_count, "rows");
    must(uses == trace->use_count, "uses");
    must(frees == trace->free_count, "frees");
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    const int file = memfd_create("trace", 0);
    struct failure failure = {.message = NULL};
    char path[32];
    uint64_t rows = 0;

    must(file >= 0 && write(file, data, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0,
         "no memory for a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct trace *trace = trace_read(path, &failure);

    must((trace == NULL) == (failure.message != NULL), "a trace and a failure, or neither");
    if (trace != NULL) {
        check_trace(trace);
        rows = trace->row_count;
        trace_free(trace);
    } else if (telling) {
        fprintf(stderr, "%s\n", failure.message);
    }
    failure_clear(&failure);
    close(file);
    return rows + 1;
}
