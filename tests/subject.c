/* A table of one of the two kinds, for tests that hold for both. */
#include "tests/support.h"

static haft_status open_local(const haft_table_options *options, struct subject *subject)
{
    const haft_local_options local = {
        .name = options->name,
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
        .huge_pages = options->huge_pages,
        .places = options->places,
        .on_leak = options->on_leak,
        .leak_arg = options->leak_arg,
    };
    const haft_status status = haft_local_open(&local, &subject->local);

    if (status == HAFT_OK) {
        subject->view = haft_local_view(subject->local);
    }
    return status;
}

static haft_status open_table(const haft_table_options *options, struct subject *subject)
{
    const haft_domain_options domain = domain_options(MEMB_CALLER);
    struct shared *shared = &subject->shared;

    assert_status(haft_domain_open(&domain, &shared->domain), HAFT_OK);
    haft_thread_register(shared->domain);
    const haft_status status = haft_table_open(shared->domain, options, &shared->table);

    if (status != HAFT_OK) {
        close_shared(shared);
        return status;
    }
    shared->worker = open_worker(shared->table);
    shared->view = haft_table_view(shared->table);
    subject->view = shared->view;
    return HAFT_OK;
}

haft_status subject_try_open(int kind, const haft_table_options *options, struct subject *subject)
{
    *subject = (struct subject){.kind = kind};
    return kind == LOCAL ? open_local(options, subject) : open_table(options, subject);
}

struct subject subject_open(int kind, const haft_table_options *options)
{
    struct subject subject;

    assert_status(subject_try_open(kind, options, &subject), HAFT_OK);
    return subject;
}

void subject_close(struct subject *subject)
{
    if (subject->kind == LOCAL) {
        haft_local_close(subject->local);
        expect_no_leaks();
    } else {
        close_shared(&subject->shared);
    }
}

haft_status subject_reserve(struct subject *subject, haft_id *id, void **object)
{
    return subject->kind == LOCAL ? haft_local_reserve(subject->local, id, object)
                                  : haft_reserve(subject->shared.worker, id, object);
}

void subject_publish(struct subject *subject, haft_id id)
{
    if (subject->kind == LOCAL) {
        haft_local_publish(subject->local, id);
    } else {
        haft_publish(subject->shared.worker, id);
    }
}

void subject_abort(struct subject *subject, haft_id id)
{
    if (subject->kind == LOCAL) {
        haft_local_abort(subject->local, id);
    } else {
        haft_abort(subject->shared.worker, id);
    }
}

haft_status subject_insert(struct subject *subject, const void *object, haft_id *id)
{
    return subject->kind == LOCAL ? haft_local_insert(subject->local, object, id)
                                  : haft_insert(subject->shared.worker, object, id);
}

haft_status subject_free(struct subject *subject, haft_id id)
{
    return subject->kind == LOCAL ? haft_local_free(subject->local, id)
                                  : haft_free(subject->shared.worker, id);
}

haft_status subject_diagnose(const struct subject *subject, haft_id id)
{
    return subject->kind == LOCAL ? haft_local_diagnose(subject->local, id)
                                  : haft_diagnose(subject->shared.table, id);
}

haft_layout subject_layout(const struct subject *subject)
{
    return subject->kind == LOCAL ? haft_local_layout(subject->local)
                                  : haft_table_layout(subject->shared.table);
}

uint64_t subject_live(const struct subject *subject)
{
    return subject->kind == LOCAL ? haft_local_count(subject->local)
                                  : stats_of(subject->shared.table).live;
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
