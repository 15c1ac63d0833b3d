/* What the tests of handing over share. */
#include "tests/table/level.h"

const haft_local_options level_options = {
    .capacity = COUNT, .object_size = sizeof(struct object), .will_share = true};

haft_id local_insert(haft_local *local, uint64_t value)
{
    haft_id id;
    void *object;

    must(haft_local_reserve(local, &id, &object) == HAFT_OK);
    *(struct object *)object = (struct object){id.bits, value};
    haft_local_publish(local, id);
    return id;
}

struct level open_level(struct setting setting, const haft_local_options *local)
{
    const haft_domain_options domain = domain_options(setting);
    struct level level = {0};

    must(haft_domain_open(&domain, &level.domain) == HAFT_OK);
    haft_thread_register(level.domain);
    must(haft_local_open(local, &level.local) == HAFT_OK);
    level.view = haft_local_view(level.local);
    return level;
}

void fill(struct level *level, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        level->ids[level->count] = local_insert(level->local, level->count);
        level->count++;
    }
}

void share_level(struct level *level)
{
    assert_status(haft_share(level->local, level->domain, NULL, &level->table), HAFT_OK);
    level->local = NULL;
}

void fill_shared_level(struct level *level, uint64_t count)
{
    haft_worker *worker = open_worker(level->table);

    while (level->count < count) {
        haft_id id;
        void *object;

        must(haft_reserve(worker, &id, &object) == HAFT_OK);
        *(struct object *)object = (struct object){id.bits, level->count};
        haft_publish(worker, id);
        level->ids[level->count++] = id;
    }
    must(haft_worker_close(worker) == HAFT_OK);
}

void unshare_level(struct level *level)
{
    assert_status(haft_unshare(level->table, &level->local), HAFT_OK);
    level->table = NULL;
}

void close_level(struct level *level)
{
    if (level->table != NULL) {
        expect_status(haft_table_close(level->table), HAFT_OK);
    }
    if (level->local != NULL) {
        haft_local_close(level->local);
    }
    haft_thread_unregister(level->domain);
    expect_status(haft_domain_close(level->domain), HAFT_OK);
    expect_no_leaks();
}

void expect_all(const struct level *level, haft_view view)
{
    for (uint64_t i = 0; i < level->count; i++) {
        const struct object *object = haft_resolve(view, level->ids[i]);

        must(object != NULL && object->id == level->ids[i].bits && object->value == i);
    }
}
