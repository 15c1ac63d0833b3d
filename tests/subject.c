/* A table of one of the kinds, for tests that hold for several. */
#include "tests/support.h"
#include <string.h>

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

haft_status subject_try_open(int kind, const haft_table_options *options, struct subject *subject)
{
    *subject = (struct subject){.kind = kind};
    switch (kind) {
    case SHARED:
        return open_table(options, subject);
    case DENSE:
    case KILLED:
        return open_packed(options, subject);
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
    if (subject->kind == SHARED) {
        close_shared(&subject->shared);
        return;
    }
    if (subject->local != NULL) {
        haft_local_close(subject->local);
    } else {
        haft_packed_close(subject->packed);
    }
    expect_no_leaks();
}

haft_status subject_reserve(struct subject *subject, haft_id *id, void **object)
{
    return subject->local != NULL ? haft_local_reserve(subject->local, id, object)
                                  : haft_reserve(subject->shared.worker, id, object);
}

void subject_publish(struct subject *subject, haft_id id)
{
    if (subject->local != NULL) {
        haft_local_publish(subject->local, id);
    } else {
        haft_publish(subject->shared.worker, id);
    }
}

void subject_abort(struct subject *subject, haft_id id)
{
    if (subject->local != NULL) {
        haft_local_abort(subject->local, id);
    } else {
        haft_abort(subject->shared.worker, id);
    }
}

haft_status subject_insert(struct subject *subject, const void *object, haft_id *id)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_insert(subject->local, object, id);
    case SHARED:
        return haft_insert(subject->shared.worker, object, id);
    default:
        return haft_packed_insert(subject->packed, object, id);
    }
}

static haft_status kill(haft_packed *packed, haft_id id)
{
    const haft_status status = haft_packed_kill(packed, id);

    must(haft_packed_refresh(packed) == HAFT_OK);
    return status;
}

haft_status subject_free(struct subject *subject, haft_id id)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_free(subject->local, id);
    case SHARED:
        return haft_free(subject->shared.worker, id);
    case DENSE:
        return haft_packed_free(subject->packed, id);
    default:
        return kill(subject->packed, id);
    }
}

void *subject_find(const struct subject *subject, haft_id id)
{
    return subject->packed != NULL ? haft_packed_resolve(haft_packed_view(subject->packed), id)
                                   : haft_resolve(subject->view, id);
}

bool subject_is_live(const struct subject *subject, haft_id id)
{
    return subject->packed != NULL ? haft_packed_is_live(haft_packed_view(subject->packed), id)
                                   : haft_is_live(subject->view, id);
}

haft_status subject_id_at(const struct subject *subject, uint64_t index, haft_id *id)
{
    if (subject->packed != NULL) {
        return haft_packed_id_at(subject->packed, index, id);
    }
    return subject->local != NULL ? haft_local_id_at(subject->local, index, id)
                                  : haft_id_at(subject->shared.table, index, id);
}

haft_status subject_diagnose(const struct subject *subject, haft_id id)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_diagnose(subject->local, id);
    case SHARED:
        return haft_diagnose(subject->shared.table, id);
    default:
        return haft_packed_diagnose(subject->packed, id);
    }
}

haft_layout subject_layout(const struct subject *subject)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_layout(subject->local);
    case SHARED:
        return haft_table_layout(subject->shared.table);
    default:
        return haft_packed_layout(subject->packed);
    }
}

const char *subject_name(const struct subject *subject)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_name(subject->local);
    case SHARED:
        return haft_table_name(subject->shared.table);
    default:
        return haft_packed_name(subject->packed);
    }
}

uint64_t subject_live(const struct subject *subject)
{
    switch (subject->kind) {
    case LOCAL:
    case FIFO:
        return haft_local_count(subject->local);
    case SHARED:
        return stats_of(subject->shared.table).live;
    default:
        return haft_packed_count(subject->packed);
    }
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
