#include "model.h"
#include "calls.h"
#include <inttypes.h>
#include <string.h>

struct descriptor {
    uint64_t object;
    bool close_on_exec;
};

struct process {
    unsigned threads;
    GHashTable *descriptors; /* number -> struct descriptor */
};

struct thread {
    uint64_t number; /* in the trace that is written */
    struct process *process;
    char *begun;    /* the call that is to be resumed, or NULL */
    bool has_child; /* of the call that is to be resumed, met already */
};

struct model {
    FILE *out;
    GHashTable *threads; /* the system's number -> struct thread */
    struct totals totals;
};

/* --- rows --- */

static void put_row(struct model *model, const struct thread *thread, char op, uint64_t object)
{
    fprintf(model->out, "%" PRIu64 ",%c,%" PRIu64 "\n", thread->number, op, object);
    model->totals.rows++;
}

static struct descriptor *find(const struct thread *thread, int64_t number)
{
    return g_hash_table_lookup(thread->process->descriptors, GINT_TO_POINTER((int)number));
}

static void close_descriptor(struct model *model, const struct thread *thread, int64_t number)
{
    const struct descriptor *descriptor = find(thread, number);

    if (descriptor != NULL) {
        put_row(model, thread, 'f', descriptor->object);
        g_hash_table_remove(thread->process->descriptors, GINT_TO_POINTER((int)number));
    }
}

static void open_descriptor(struct model *model, const struct thread *thread, int64_t number,
                            bool close_on_exec)
{
    if (number < 0) {
        return;
    }
    close_descriptor(model, thread, number); /* dup2 does; of others, the close was not seen */
    struct descriptor *descriptor = g_new(struct descriptor, 1);

    *descriptor = (struct descriptor){++model->totals.objects, close_on_exec};
    g_hash_table_insert(thread->process->descriptors, GINT_TO_POINTER((int)number), descriptor);
    put_row(model, thread, 'a', descriptor->object);
}

static void use_descriptor(struct model *model, const struct thread *thread, int64_t number)
{
    if (number < 0) {
        return;
    }
    if (find(thread, number) == NULL) {
        open_descriptor(model, thread, number, false); /* open since before the recording */
    }
    put_row(model, thread, 'u', find(thread, number)->object);
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    return GPOINTER_TO_INT(a) - GPOINTER_TO_INT(b);
}

/* Closes those from `from` to `to`, or of them those that are close-on-exec. */
static void close_all(struct model *model, const struct thread *thread, int64_t from, int64_t to,
                      bool close_on_exec_only)
{
    GList *numbers = g_list_sort(g_hash_table_get_keys(thread->process->descriptors), by_number);

    for (const GList *at = numbers; at != NULL; at = at->next) {
        const int64_t number = GPOINTER_TO_INT(at->data);

        if (number >= from && number <= to &&
            (!close_on_exec_only || find(thread, number)->close_on_exec)) {
            close_descriptor(model, thread, number);
        }
    }
    g_list_free(numbers);
}

/* --- threads and processes --- */

static struct process *new_process(void)
{
    struct process *process = g_new0(struct process, 1);

    process->descriptors = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return process;
}

static void free_thread(gpointer data)
{
    struct thread *thread = data;

    if (--thread->process->threads == 0) {
        g_hash_table_unref(thread->process->descriptors);
        g_free(thread->process);
    }
    g_free(thread->begun);
    g_free(thread);
}

static struct thread *add_thread(struct model *model, uint64_t system_number,
                                 struct process *process)
{
    struct thread *thread = g_new0(struct thread, 1);

    thread->number = model->totals.threads++;
    thread->process = process;
    process->threads++;
    g_hash_table_insert(model->threads, GUINT_TO_POINTER((guint)system_number), thread);
    return thread;
}

static struct thread *find_thread(const struct model *model, uint64_t system_number)
{
    return g_hash_table_lookup(model->threads, GUINT_TO_POINTER((guint)system_number));
}

/* A child by the parent's clone, of which `flags` tell what both share. */
static struct thread *add_child(struct model *model, uint64_t system_number,
                                const struct thread *parent, const char *flags)
{
    if (strstr(flags, "CLONE_FILES") != NULL) {
        return add_thread(model, system_number, parent->process);
    }
    struct thread *child = add_thread(model, system_number, new_process());
    GList *numbers = g_list_sort(g_hash_table_get_keys(parent->process->descriptors), by_number);

    for (const GList *at = numbers; at != NULL; at = at->next) {
        const int number = GPOINTER_TO_INT(at->data);

        open_descriptor(model, child, number, find(parent, number)->close_on_exec);
    }
    g_list_free(numbers);
    return child;
}

/* A thread whose clone has begun and whose child has not been met; NULL: there is none. */
static struct thread *expecting(const struct model *model)
{
    GHashTableIter threads;
    gpointer thread;

    g_hash_table_iter_init(&threads, model->threads);
    while (g_hash_table_iter_next(&threads, NULL, &thread)) {
        struct thread *parent = thread;

        if (parent->begun != NULL && !parent->has_child && call_makes_child(parent->begun)) {
            return parent;
        }
    }
    return NULL;
}

/* Without numbers there is only one thread; once there are several, it has its number too. */
static uint64_t key_of(const struct model *model, uint64_t system_number)
{
    GHashTableIter threads;
    gpointer key;

    if (g_hash_table_size(model->threads) == 1) {
        g_hash_table_iter_init(&threads, model->threads);
        g_hash_table_iter_next(&threads, &key, NULL);
        if (system_number == 0 || (key == NULL && expecting(model) == NULL)) {
            return GPOINTER_TO_UINT(key);
        }
    }
    return find_thread(model, system_number) == NULL && find_thread(model, 0) != NULL &&
                   expecting(model) == NULL
               ? 0
               : system_number;
}

/* The child's first line may come before its parent's clone returns. */
static struct thread *thread_of(struct model *model, uint64_t system_number)
{
    const uint64_t key = key_of(model, system_number);
    struct thread *thread = find_thread(model, key);

    if (thread != NULL) {
        if (key != system_number && system_number != 0) {
            g_hash_table_steal(model->threads, GUINT_TO_POINTER((guint)key));
            g_hash_table_insert(model->threads, GUINT_TO_POINTER((guint)system_number), thread);
        }
        return thread;
    }
    struct thread *parent = expecting(model);

    if (parent == NULL) {
        return add_thread(model, system_number, new_process());
    }
    parent->has_child = true;
    return add_child(model, system_number, parent, parent->begun);
}

static void end_thread(struct model *model, uint64_t number)
{
    const uint64_t system_number = key_of(model, number);
    struct thread *thread = find_thread(model, system_number);

    if (thread != NULL) {
        if (thread->process->threads == 1) {
            close_all(model, thread, 0, INT32_MAX, false);
        }
        g_hash_table_remove(model->threads, GUINT_TO_POINTER((guint)system_number));
    }
}

/* --- calls --- */

static void open_pair(struct model *model, const struct thread *thread, const struct line *line,
                      unsigned argument)
{
    int64_t pair[2];
    const bool close_on_exec = line_has(line, 1, "CLOEXEC");

    if (line_pair(line, argument, pair)) {
        open_descriptor(model, thread, pair[0], close_on_exec);
        open_descriptor(model, thread, pair[1], close_on_exec);
    }
}

/* dup2 and dup3 to the same number change nothing. */
static void duplicate(struct model *model, const struct thread *thread, const struct line *line)
{
    const int64_t copy = line_result(line);

    use_descriptor(model, thread, line_descriptor(line, 0));
    if (copy >= 0 && copy != line_descriptor(line, 0)) {
        open_descriptor(model, thread, copy, line_has(line, 2, "CLOEXEC"));
    }
}

static void control(struct model *model, const struct thread *thread, const struct line *line)
{
    const int64_t number = line_descriptor(line, 0);

    use_descriptor(model, thread, number);
    if (line_result(line) < 0) {
        return;
    }
    if (line_has(line, 1, "F_DUPFD")) {
        open_descriptor(model, thread, line_result(line), line_has(line, 1, "CLOEXEC"));
    } else if (line_has(line, 1, "F_SETFD") && number >= 0) {
        find(thread, number)->close_on_exec = line_has(line, 2, "FD_CLOEXEC");
    }
}

static void close_called(struct model *model, const struct thread *thread, const struct line *line)
{
    const int64_t number = line_descriptor(line, 0);

    if (number >= 0 && line_result(line) >= 0 && find(thread, number) == NULL) {
        open_descriptor(model, thread, number, false);
    }
    close_descriptor(model, thread, number);
}

static void close_range_called(struct model *model, const struct thread *thread,
                               const struct line *line)
{
    const int64_t last = line_descriptor(line, 1);

    if (line_result(line) == 0 && !line_has(line, 2, "CLOEXEC")) {
        close_all(model, thread, line_descriptor(line, 0), last < 0 ? INT32_MAX : last, false);
    }
}

static void child_made(struct model *model, const struct thread *thread, const struct line *line)
{
    const int64_t child = line_result(line);

    if (child > 0 && find_thread(model, (uint64_t)child) == NULL) {
        add_child(model, (uint64_t)child, thread, line->name);
    }
}

static void carry_out(struct model *model, const struct thread *thread, const struct line *line)
{
    switch (call_kind(line)) {
    case CALL_OPENS:
        use_descriptor(model, thread, call_used(line, 0));
        open_descriptor(model, thread, line_result(line), call_sets_close_on_exec(line));
        break;
    case CALL_PIPES:
        open_pair(model, thread, line, 0);
        break;
    case CALL_PAIRS:
        open_pair(model, thread, line, 3);
        break;
    case CALL_DUPLICATES:
        duplicate(model, thread, line);
        break;
    case CALL_CONTROLS:
        control(model, thread, line);
        break;
    case CALL_CLOSES:
        close_called(model, thread, line);
        break;
    case CALL_CLOSES_RANGE:
        close_range_called(model, thread, line);
        break;
    case CALL_MAKES_CHILD:
        child_made(model, thread, line);
        break;
    case CALL_EXECUTES:
        if (line_result(line) == 0) {
            close_all(model, thread, 0, INT32_MAX, true);
        }
        break;
    case CALL_USES:
        use_descriptor(model, thread, call_used(line, 0));
        use_descriptor(model, thread, call_used(line, 1));
        break;
    case CALL_OTHER:
        break;
    }
}

/* A descriptor that is not open is nothing that happened. */
static void take_call(struct model *model, const struct thread *thread, const struct line *line)
{
    if (!g_str_has_prefix(line->result, "-1 EBADF")) {
        carry_out(model, thread, line);
    }
}

/* Its number is free for other threads as soon as close has begun. */
static void begin_call(struct model *model, struct thread *thread, const struct line *line)
{
    if (call_kind(line) == CALL_CLOSES) {
        close_descriptor(model, thread, line_descriptor(line, 0));
    }
    g_free(thread->begun);
    thread->begun = g_strndup(line->call, line->call_length);
    thread->has_child = false;
}

static bool resume_call(struct model *model, struct thread *thread, const struct line *line,
                        struct mistake *mistake)
{
    struct line whole;
    struct mistake inside;

    if (thread->begun == NULL) {
        *mistake = (struct mistake){line->name, "the call that is resumed has not begun"};
        return false;
    }
    char *text = g_strconcat(thread->begun, line->call, NULL);
    const size_t begun_length = strlen(thread->begun);
    bool right = g_str_has_prefix(text, "exit") || line_parse_call(text, &whole, &inside);

    g_free(thread->begun);
    thread->begun = NULL;
    if (!right) {
        const size_t at = (size_t)(inside.at - text);

        *mistake =
            (struct mistake){line->call + (at > begun_length ? at - begun_length : 0), inside.what};
    } else if (!g_str_has_prefix(text, "exit") && call_kind(&whole) != CALL_CLOSES) {
        take_call(model, thread, &whole);
    }
    g_free(text);
    return right;
}

bool model_take(struct model *model, const struct line *line, struct mistake *mistake)
{
    switch (line->kind) {
    case LINE_CALL:
        take_call(model, thread_of(model, line->thread), line);
        return true;
    case LINE_BEGUN:
        begin_call(model, thread_of(model, line->thread), line);
        return true;
    case LINE_RESUMED:
        return resume_call(model, thread_of(model, line->thread), line, mistake);
    case LINE_ENDED:
        end_thread(model, line->thread);
        return true;
    case LINE_NOTHING:
        return true;
    }
    return true;
}

/* --- its own life --- */

struct model *model_new(FILE *out)
{
    struct model *model = g_new0(struct model, 1);

    model->out = out;
    model->threads = g_hash_table_new_full(NULL, NULL, NULL, free_thread);
    return model;
}

struct totals model_totals(const struct model *model)
{
    return model->totals;
}

void model_free(struct model *model)
{
    g_hash_table_unref(model->threads);
    g_free(model);
}
