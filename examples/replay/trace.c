#include "trace.h"
#include "list.h"
#include <inttypes.h>
#include <stdlib.h>

/* Row numbers must fit 32 bits, and the memory of a usual machine. */
enum { MAX_ROWS = 1 << 26 };

/* What is known of an object while the file is read. */
struct known_object {
    uint64_t number;
    uint64_t allocated_line;
    uint64_t freed_line; /* 0: not yet */
    uint32_t allocated_by;
    uint32_t last_thread; /* where its last row stands */
    uint32_t last_row;
    uint32_t uses;
};

struct known_thread {
    uint64_t number;
    struct list rows; /* of struct row */
};

struct builder {
    struct trace *trace;
    struct number_index thread_index; /* number in the file -> position in `threads` */
    struct number_index object_index;
    struct list threads;  /* of struct known_thread */
    struct list objects;  /* of struct known_object */
    struct list handoffs; /* of uint32_t */
};

/* --- threads --- */

static struct known_thread *thread_at(const struct builder *builder, uint32_t thread)
{
    return &((struct known_thread *)builder->threads.items)[thread];
}

static uint32_t thread_of(struct builder *builder, uint64_t number)
{
    uint32_t thread;

    if (!index_find_or_add(&builder->thread_index, number, builder->threads.count, &thread)) {
        struct known_thread *known = list_add(&builder->threads, sizeof *known);

        *known = (struct known_thread){.number = number};
    }
    return thread;
}

/* --- objects --- */

static struct known_object *object_at(const struct builder *builder, uint32_t object)
{
    return &((struct known_object *)builder->objects.items)[object];
}

static bool add_object(struct builder *builder, const struct reader *reader,
                       const struct fields *fields, uint32_t *object, struct failure *failure)
{
    if (index_find_or_add(&builder->object_index, fields->object, builder->objects.count, object)) {
        return reader_refuse(reader, fields->object_column, failure,
                             "object %" PRIu64 " is allocated twice, first on line %" PRIu64
                             ": each object needs another number",
                             fields->object, object_at(builder, *object)->allocated_line);
    }
    struct known_object *known = list_add(&builder->objects, sizeof *known);

    *known = (struct known_object){
        .number = fields->object,
        .allocated_line = reader_line(reader),
        .allocated_by = thread_of(builder, fields->thread),
    };
    return true;
}

static bool find_allocated(const struct builder *builder, const struct reader *reader,
                           const struct fields *fields, uint32_t *object, struct failure *failure)
{
    const bool frees = fields->op == OP_FREE;

    if (!index_find(&builder->object_index, fields->object, object)) {
        return reader_refuse(reader, fields->object_column, failure,
                             "object %" PRIu64 " is %s before it is allocated", fields->object,
                             frees ? "freed" : "used");
    }
    const uint64_t freed_line = object_at(builder, *object)->freed_line;

    if (freed_line != 0) {
        return reader_refuse(reader, fields->object_column, failure,
                             frees ? "object %" PRIu64 " is freed twice, first on line %" PRIu64
                                   : "object %" PRIu64 " is used after its free on line %" PRIu64,
                             fields->object, freed_line);
    }
    return true;
}

/* --- rows --- */

static struct row *row_at(const struct builder *builder, uint32_t thread, uint32_t row)
{
    return &((struct row *)thread_at(builder, thread)->rows.items)[row];
}

/* Makes `row` of `thread` wait for the object's row before it, if that is another thread's. */
static void join(struct builder *builder, const struct known_object *known, uint32_t thread,
                 struct row *row)
{
    if (row->op == OP_ALLOCATE || known->last_thread == thread) {
        return;
    }
    const uint32_t handoff = builder->handoffs.count;

    row_at(builder, known->last_thread, known->last_row)->hands_on = handoff;
    row->waits_for = handoff;
    *(uint32_t *)list_add(&builder->handoffs, sizeof thread) = thread;
}

static void append(struct builder *builder, uint32_t thread, uint32_t object, enum op op,
                   uint64_t line)
{
    struct list *rows = &thread_at(builder, thread)->rows;
    struct known_object *known = object_at(builder, object);
    struct row row = {line, object, known->uses, NO_HANDOFF, NO_HANDOFF, op};
    struct trace *trace = builder->trace;

    join(builder, known, thread, &row);
    known->last_thread = thread;
    known->last_row = rows->count;
    *(struct row *)list_add(rows, sizeof row) = row;
    trace->row_count++;
    if (op == OP_USE) {
        known->uses++;
        trace->use_count++;
    } else if (op == OP_FREE) {
        known->freed_line = line;
        trace->free_count++;
        trace->cross_thread_frees += known->allocated_by != thread;
    }
}

static bool add_row(struct builder *builder, const struct reader *reader,
                    const struct fields *fields, struct failure *failure)
{
    uint32_t object = 0;

    if (builder->trace->row_count == MAX_ROWS) {
        return reader_refuse(reader, fields->thread_column, failure,
                             "the trace has more than %d rows", MAX_ROWS);
    }
    if (!(fields->op == OP_ALLOCATE ? add_object(builder, reader, fields, &object, failure)
                                    : find_allocated(builder, reader, fields, &object, failure))) {
        return false;
    }
    append(builder, thread_of(builder, fields->thread), object, fields->op, reader_line(reader));
    return true;
}

static bool add_rows(struct builder *builder, const char *path, struct failure *failure)
{
    struct reader *reader = reader_open(path, failure);
    struct fields fields;
    enum reading reading = READ_FAILED;

    while (reader != NULL && (reading = reader_next(reader, &fields, failure)) == READ_ROW &&
           add_row(builder, reader, &fields, failure)) {
    }
    if (reading == READ_END && builder->trace->row_count == 0) {
        fail(failure, EXIT_REFUSED, "%s: there is not a single row in it", path);
    }
    if (reader != NULL) {
        reader_close(reader);
    }
    return reading == READ_END && builder->trace->row_count != 0;
}

/* --- the finished trace --- */

static void take_threads(struct builder *builder)
{
    struct trace *trace = builder->trace;

    trace->thread_count = builder->threads.count;
    trace->threads = replay_allocate(trace->thread_count, sizeof *trace->threads);
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        const struct known_thread *known = thread_at(builder, i);

        trace->threads[i] =
            (struct traced_thread){known->number, known->rows.count, known->rows.items};
    }
}

static void take_objects(struct builder *builder)
{
    struct trace *trace = builder->trace;

    trace->object_count = builder->objects.count;
    trace->objects = replay_allocate(trace->object_count, sizeof *trace->objects);
    for (uint32_t i = 0; i < trace->object_count; i++) {
        const struct known_object *known = object_at(builder, i);

        trace->objects[i] =
            (struct traced_object){known->number, known->uses, known->freed_line != 0};
    }
}

static void builder_end(struct builder *builder)
{
    take_threads(builder);
    take_objects(builder);
    builder->trace->handoff_count = builder->handoffs.count;
    builder->trace->handoffs = builder->handoffs.items;
    free(builder->threads.items);
    free(builder->objects.items);
    index_clear(&builder->thread_index);
    index_clear(&builder->object_index);
}

struct trace *trace_read(const char *path, struct failure *failure)
{
    struct builder builder = {.trace = replay_allocate(1, sizeof *builder.trace)};
    const bool read = add_rows(&builder, path, failure);

    builder_end(&builder);
    builder.trace->path = replay_copy_text(path);
    if (!read) {
        trace_free(builder.trace);
        return NULL;
    }
    return builder.trace;
}

void trace_free(struct trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        free(trace->threads[i].rows);
    }
    free(trace->threads);
    free(trace->objects);
    free(trace->handoffs);
    free(trace->path);
    free(trace);
}
