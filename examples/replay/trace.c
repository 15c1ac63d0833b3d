#include "trace.h"
#include "failure.h"
#include <inttypes.h>

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

struct builder {
    struct trace *trace;
    GHashTable *thread_index; /* number in the file -> position in thread_rows */
    GHashTable *object_index;
    GArray *thread_numbers;
    GPtrArray *thread_rows; /* of GArray of struct row */
    GArray *objects;        /* of struct known_object */
    GArray *handoffs;       /* of uint32_t */
};

/* --- numbers of the file -> small numbers --- */

static GHashTable *new_index(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

/* False if `number` is new; `*position` is then `next`, and remembered. */
static bool look_up(GHashTable *index, uint64_t number, uint32_t next, uint32_t *position)
{
    gpointer found = NULL;

    if (g_hash_table_lookup_extended(index, &number, NULL, &found)) {
        *position = GPOINTER_TO_UINT(found);
        return true;
    }
    *position = next;
    g_hash_table_insert(index, g_memdup2(&number, sizeof number), GUINT_TO_POINTER(next));
    return false;
}

static uint32_t thread_of(struct builder *builder, uint64_t number)
{
    uint32_t thread;

    if (!look_up(builder->thread_index, number, builder->thread_rows->len, &thread)) {
        g_array_append_val(builder->thread_numbers, number);
        g_ptr_array_add(builder->thread_rows, g_array_new(FALSE, FALSE, sizeof(struct row)));
    }
    return thread;
}

/* --- objects --- */

static struct known_object *object_at(const struct builder *builder, uint32_t object)
{
    return &g_array_index(builder->objects, struct known_object, object);
}

static bool allocate(struct builder *builder, const struct reader *reader,
                     const struct fields *fields, uint32_t *object, GError **error)
{
    if (look_up(builder->object_index, fields->object, builder->objects->len, object)) {
        return reader_refuse(reader, fields->object_column, error,
                             "object %" PRIu64 " is allocated twice, first on line %" PRIu64
                             ": each object has a number of its own",
                             fields->object, object_at(builder, *object)->allocated_line);
    }
    const struct known_object known = {
        .number = fields->object,
        .allocated_line = reader_line(reader),
        .allocated_by = thread_of(builder, fields->thread),
    };

    g_array_append_val(builder->objects, known);
    return true;
}

static bool find_allocated(const struct builder *builder, const struct reader *reader,
                           const struct fields *fields, uint32_t *object, GError **error)
{
    const bool frees = fields->op == OP_FREE;
    gpointer found = NULL;

    if (!g_hash_table_lookup_extended(builder->object_index, &fields->object, NULL, &found)) {
        return reader_refuse(reader, fields->object_column, error,
                             "object %" PRIu64 " is %s before it is allocated", fields->object,
                             frees ? "freed" : "used");
    }
    *object = GPOINTER_TO_UINT(found);
    const uint64_t freed_line = object_at(builder, *object)->freed_line;

    if (freed_line != 0) {
        return reader_refuse(reader, fields->object_column, error,
                             frees ? "object %" PRIu64 " is freed twice, first on line %" PRIu64
                                   : "object %" PRIu64 " is used after its free on line %" PRIu64,
                             fields->object, freed_line);
    }
    return true;
}

/* --- rows --- */

static struct row *row_at(const struct builder *builder, uint32_t thread, uint32_t row)
{
    return &g_array_index((GArray *)g_ptr_array_index(builder->thread_rows, thread), struct row,
                          row);
}

/* Makes `row` of `thread` wait for the object's row before it, if that is another thread's. */
static void join(struct builder *builder, const struct known_object *known, uint32_t thread,
                 struct row *row)
{
    if (row->op == OP_ALLOCATE || known->last_thread == thread) {
        return;
    }
    const uint32_t handoff = builder->handoffs->len;

    row_at(builder, known->last_thread, known->last_row)->hands_on = handoff;
    row->waits_for = handoff;
    g_array_append_val(builder->handoffs, thread);
}

static void append(struct builder *builder, uint32_t thread, uint32_t object, enum op op,
                   uint64_t line)
{
    GArray *rows = g_ptr_array_index(builder->thread_rows, thread);
    struct known_object *known = object_at(builder, object);
    struct row row = {line, object, known->uses, NO_HANDOFF, NO_HANDOFF, op};
    struct trace *trace = builder->trace;

    join(builder, known, thread, &row);
    known->last_thread = thread;
    known->last_row = rows->len;
    g_array_append_val(rows, row);
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
                    const struct fields *fields, GError **error)
{
    uint32_t object = 0;

    if (builder->trace->row_count == MAX_ROWS) {
        return reader_refuse(reader, fields->thread_column, error,
                             "the trace has more than %d rows", MAX_ROWS);
    }
    if (!(fields->op == OP_ALLOCATE ? allocate(builder, reader, fields, &object, error)
                                    : find_allocated(builder, reader, fields, &object, error))) {
        return false;
    }
    append(builder, thread_of(builder, fields->thread), object, fields->op, reader_line(reader));
    return true;
}

static bool add_rows(struct builder *builder, const char *path, GError **error)
{
    struct reader *reader = reader_open(path, error);
    struct fields fields;
    enum reading reading = READ_FAILED;

    while (reader != NULL && (reading = reader_next(reader, &fields, error)) == READ_ROW &&
           add_row(builder, reader, &fields, error)) {
    }
    if (reading == READ_END && builder->trace->row_count == 0) {
        g_set_error(error, REPLAY_FAILURE, EXIT_REFUSED, "%s: there is not a single row in it",
                    path);
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

    trace->thread_count = builder->thread_rows->len;
    trace->threads = g_new0(struct traced_thread, trace->thread_count);
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        GArray *rows = g_ptr_array_index(builder->thread_rows, i);

        trace->threads[i].number = g_array_index(builder->thread_numbers, uint64_t, i);
        trace->threads[i].row_count = rows->len;
        trace->threads[i].rows = (struct row *)(void *)g_array_free(rows, FALSE);
    }
}

static void take_objects(struct builder *builder)
{
    struct trace *trace = builder->trace;

    trace->object_count = builder->objects->len;
    trace->objects = g_new0(struct traced_object, trace->object_count);
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
    builder->trace->handoff_count = builder->handoffs->len;
    builder->trace->handoffs = (uint32_t *)(void *)g_array_free(builder->handoffs, FALSE);
    g_ptr_array_unref(builder->thread_rows);
    g_array_unref(builder->thread_numbers);
    g_array_unref(builder->objects);
    g_hash_table_unref(builder->thread_index);
    g_hash_table_unref(builder->object_index);
}

struct trace *trace_read(const char *path, GError **error)
{
    struct builder builder = {
        .trace = g_new0(struct trace, 1),
        .thread_index = new_index(),
        .object_index = new_index(),
        .thread_numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .thread_rows = g_ptr_array_new(),
        .objects = g_array_new(FALSE, FALSE, sizeof(struct known_object)),
        .handoffs = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    const bool read = add_rows(&builder, path, error);

    builder_end(&builder);
    builder.trace->path = g_strdup(path);
    if (!read) {
        trace_free(builder.trace);
        return NULL;
    }
    return builder.trace;
}

void trace_free(struct trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        g_free(trace->threads[i].rows);
    }
    g_free(trace->threads);
    g_free(trace->objects);
    g_free(trace->handoffs);
    g_free(trace->path);
    g_free(trace);
}
