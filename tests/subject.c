/* Tables of one thread; and a table of one of the kinds, for tests that hold for several. */
#include "tests/support.h"
#include <string.h>

haft_local *local_open(const haft_local_options *options)
{
    haft_local *local = NULL;

    assert_status(haft_local_open(options, &local), HAFT_OK);
    return local;
}

void counted_end(haft_counted **counted)
{
    must(haft_counted_close(*counted) == HAFT_OK);
}

void dense_end(haft_packed **packed)
{
    haft_packed_close(*packed);
}

void history_end(haft_history **history)
{
    haft_history_close(*history);
}

void local_end(haft_local **local)
{
    haft_local_close(*local);
}

void side_end(haft_side **side)
{
    haft_side_close(*side);
}

haft_id local_insert_one(haft_local *local)
{
    haft_id id = HAFT_NIL;

    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    return id;
}

void local_insert_each(haft_local *local, haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        ids[i] = local_insert_one(local);
    }
}

void local_free_each(haft_local *local, const haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_local_free(local, ids[i]) == HAFT_OK);
    }
}

/* A pointer that a refused opening leaves alone. */
static void *const untouched = (void *)&layouts;

/* Those that every kind of table begins with. */
struct common_options {
    HAFT_COMMON_OPTIONS;
};

static haft_status open_local(const haft_table_options *options, struct subject *subject)
{
    haft_local_options local = {
        .huge_pages = options->huge_pages,
        .wrap = options->wrap,
        .reuse = subject->kind == FIFO ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
    };

    memcpy(&local, options, sizeof(struct common_options));
    subject->local = untouched;
    const haft_status status = haft_local_open(&local, &subject->local);

    if (status != HAFT_OK) {
        must(subject->local == untouched);
        subject->local = NULL;
        return status;
    }
    subject->view = haft_local_view(subject->local);
    return HAFT_OK;
}

static haft_status open_table(const haft_table_options *options, struct subject *subject)
{
    const haft_domain_options domain = domain_options(MEMB_CALLER);
    struct shared *shared = &subject->shared;

    assert_status(haft_domain_open(&domain, &shared->domain), HAFT_OK);
    haft_thread_register(shared->domain);
    shared->table = untouched;
    const haft_status status = haft_table_open(shared->domain, options, &shared->table);

    if (status != HAFT_OK) {
        must(shared->table == untouched);
        shared->table = NULL;
        close_shared(shared);
        return status;
    }
    shared->worker = open_worker(shared->table);
    shared->view = haft_table_view(shared->table);
    subject->view = shared->view;
    return HAFT_OK;
}

static haft_status open_packed(const haft_table_options *options, struct subject *subject)
{
    haft_packed_options packed = {.keep_order = subject->kind == KILLED};

    memcpy(&packed, options, sizeof(struct common_options));
    packed.object_size = options->object_size != 0 ? options->object_size : 8;
    subject->packed = untouched;
    const haft_status status = haft_packed_open(&packed, &subject->packed);

    if (status != HAFT_OK) {
        must(subject->packed == untouched);
        subject->packed = NULL;
    }
    return status;
}

bool kind_has_layout(int kind, haft_layout layout)
{
    return kind != COUNTED || layout.generation_bits <= 32;
}

static haft_status open_counted(const haft_table_options *options, struct subject *subject)
{
    const haft_counted_options counted = {
        .name = options->name,
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
        .wrap = options->wrap,
        .on_bad_access = options->on_bad_access,
        .report_arg = options->report_arg,
        .allocator = options->allocator,
        .reserved = {options->reserved[0], options->reserved[1]},
    };

    subject->counted = untouched;
    const haft_status status = haft_counted_open(&counted, &subject->counted);

    if (status != HAFT_OK) {
        must(subject->counted == untouched);
        subject->counted = NULL;
    }
    return status;
}

haft_status subject_try_open(int kind, const haft_table_options *options, struct subject *subject)
{
    *subject = (struct subject){.kind = kind};
    switch (kind) {
    case SHARED:
        return open_table(options, subject);
    case DENSE:
    case KILLED:
        return open_packed(options, subject);
    case COUNTED:
        return open_counted(options, subject);
    default:
        return open_local(options, subject);
    }
}

struct subject subject_open(int kind, const haft_table_options *options)
{
    struct subject subject;

    assert_status(subject_try_open(kind, options, &subject), HAFT_OK);
    return subject;
}

void subject_close(struct subject *subject)
{
    switch (subject->kind) {
    case SHARED:
        close_shared(&subject->shared);
        return;
    case LOCAL:
    case FIFO:
        haft_local_close(subject->local);
        break;
    case COUNTED:
        must(haft_counted_close(subject->counted) == HAFT_OK);
        break;
    default:
        haft_packed_close(subject->packed);
    }
    expect_no_leaks();
}

/* What a call answers of a table of its kind. */
#define OF_RESERVING(subject, local_call, shared_call, counted_call)                               \
    ((subject)->local != NULL     ? (local_call)                                                   \
     : (subject)->counted != NULL ? (counted_call)                                                 \
                                  : (shared_call))
#define OF_KIND(subject, local_call, shared_call, packed_call, counted_call)                       \
    ((subject)->packed != NULL ? (packed_call)                                                     \
                               : OF_RESERVING(subject, local_call, shared_call, counted_call))

haft_status subject_reserve(struct subject *subject, haft_id *id, void **object)
{
    return OF_RESERVING(subject, haft_local_reserve(subject->local, id, object),
                        haft_reserve(subject->shared.worker, id, object),
                        haft_counted_reserve(subject->counted, id, object));
}

void subject_publish(struct subject *subject, haft_id id)
{
    OF_RESERVING(subject, haft_local_publish(subject->local, id),
                 haft_publish(subject->shared.worker, id),
                 haft_counted_publish(subject->counted, id));
}

void subject_abort(struct subject *subject, haft_id id)
{
    OF_RESERVING(subject, haft_local_abort(subject->local, id),
                 haft_abort(subject->shared.worker, id), haft_counted_abort(subject->counted, id));
}

haft_status subject_insert(struct subject *subject, const void *object, haft_id *id)
{
    return OF_KIND(subject, haft_local_insert(subject->local, object, id),
                   haft_insert(subject->shared.worker, object, id),
                   haft_packed_insert(subject->packed, object, id),
                   haft_counted_insert(subject->counted, object, id));
}

static haft_status kill(haft_packed *packed, haft_id id)
{
    const haft_status status = haft_packed_kill(packed, id);

    must(haft_packed_refresh(packed) == HAFT_OK);
    return status;
}

haft_status subject_free(struct subject *subject, haft_id id)
{
    return OF_KIND(
        subject, haft_local_free(subject->local, id), haft_free(subject->shared.worker, id),
        subject->kind == DENSE ? haft_packed_free(subject->packed, id) : kill(subject->packed, id),
        haft_counted_free(subject->counted, id));
}

static void *released(const struct subject *subject, haft_id id, void *object)
{
    must(object == NULL || haft_counted_release(subject->counted, id) == HAFT_OK);
    return object;
}

void *subject_find(const struct subject *subject, haft_id id)
{
    return OF_KIND(subject, haft_resolve(subject->view, id), haft_resolve(subject->view, id),
                   haft_packed_resolve(haft_packed_view(subject->packed), id),
                   released(subject, id, haft_counted_acquire(subject->counted, id)));
}

void *subject_require(const struct subject *subject, haft_id id)
{
    return OF_KIND(subject, haft_local_require(subject->local, subject->view, id),
                   haft_require(subject->shared.table, subject->view, id),
                   haft_packed_require(subject->packed, haft_packed_view(subject->packed), id),
                   released(subject, id, haft_counted_require(subject->counted, id)));
}

bool subject_is_live(const struct subject *subject, haft_id id)
{
    return OF_KIND(subject, haft_is_live(subject->view, id), haft_is_live(subject->view, id),
                   haft_packed_is_live(haft_packed_view(subject->packed), id),
                   haft_counted_is_live(subject->counted, id));
}

haft_status subject_id_at(const struct subject *subject, uint64_t index, haft_id *id)
{
    return OF_KIND(subject, haft_local_id_at(subject->local, index, id),
                   haft_id_at(subject->shared.table, index, id),
                   haft_packed_id_at(subject->packed, index, id),
                   haft_counted_id_at(subject->counted, index, id));
}

haft_status subject_diagnose(const struct subject *subject, haft_id id)
{
    return OF_KIND(
        subject, haft_local_diagnose(subject->local, id), haft_diagnose(subject->shared.table, id),
        haft_packed_diagnose(subject->packed, id), haft_counted_diagnose(subject->counted, id));
}

int subject_describe(const struct subject *subject, haft_id id, char *text, size_t size)
{
    return OF_KIND(subject, haft_local_diagnose_format(subject->local, id, text, size),
                   haft_diagnose_format(subject->shared.table, id, text, size),
                   haft_packed_diagnose_format(subject->packed, id, text, size),
                   haft_counted_diagnose_format(subject->counted, id, text, size));
}

haft_info subject_info(const struct subject *subject)
{
    return OF_KIND(subject, haft_local_info(subject->local), haft_table_info(subject->shared.table),
                   haft_packed_info(subject->packed), haft_counted_info(subject->counted));
}

haft_layout subject_layout(const struct subject *subject)
{
    return subject_info(subject).layout;
}

uint64_t subject_live(const struct subject *subject)
{
    return OF_KIND(subject, haft_local_count(subject->local), stats_of(subject->shared.table).live,
                   haft_packed_count(subject->packed),
                   haft_counted_stats_get(subject->counted).live);
}

uint64_t subject_exhausted(const struct subject *subject)
{
    return OF_RESERVING(subject, haft_local_stats_get(subject->local).exhausted,
                        stats_of(subject->shared.table).exhausted,
                        haft_counted_stats_get(subject->counted).exhausted);
}

void subject_settle(struct subject *subject)
{
    if (subject->kind == SHARED) {
        settle(subject->shared.worker);
    }
}

uint64_t subject_fill(struct subject *subject, haft_id *ids, uint64_t most)
{
    uint64_t count = 0;

    while (count < most && subject_insert(subject, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    return count;
}

void subject_insert_each(struct subject *subject, haft_id *ids, int count)
{
    must(subject_fill(subject, ids, (uint64_t)count) == (uint64_t)count);
}

void subject_free_each(struct subject *subject, const haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        must(subject_free(subject, ids[i]) == HAFT_OK);
    }
}
