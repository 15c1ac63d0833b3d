/* Whole histories of three threads on one object, its slot and the one beside. */
#include "stress/explorer/cases/case.h"
#include "stress/linear/history.h"
#include <haft/pin.h>
#include <stddef.h>

static haft_worker *workers[3];
static struct linear_history parts[4]; /* each thread's own, and the calls before */

static struct linear_operation *begin(uint32_t thread, enum linear_kind kind, haft_id id)
{
    struct linear_history *part = &parts[thread];
    struct linear_operation *operation = &part->operations[part->count++];

    *operation = (struct linear_operation){.kind = kind, .thread = thread, .id = id};
    operation->called = stamp_time();
    return operation;
}

static void end(struct linear_operation *operation)
{
    operation->returned = stamp_time();
}

static haft_id insert(uint32_t thread, haft_worker *worker)
{
    struct linear_operation *operation = begin(thread, LINEAR_INSERT, (haft_id)HAFT_NIL);
    const struct object object = {thread * 16 + parts[thread].count, 0};

    operation->note = object.id;
    operation->status = haft_insert(worker, &object, &operation->id);
    end(operation);
    return operation->id;
}

static void free_one(uint32_t thread, haft_id id)
{
    struct linear_operation *operation = begin(thread, LINEAR_FREE, id);

    operation->status = haft_free(workers[thread], id);
    end(operation);
}

static void look(uint32_t thread, haft_id id)
{
    haft_section_begin(fixture.domain);
    struct linear_operation *operation = begin(thread, LINEAR_RESOLVE, id);
    const struct object *object = haft_resolve(fixture.view, id);

    end(operation);
    operation->found = object != NULL;
    operation->note = object != NULL ? object->id : 0;
    haft_section_end(fixture.domain);
}

static void ask(uint32_t thread, haft_id id)
{
    struct linear_operation *operation = begin(thread, LINEAR_IS_LIVE, id);

    operation->found = haft_is_live(fixture.view, id);
    end(operation);
}

static bool pin(uint32_t thread, haft_id id)
{
    haft_section_begin(fixture.domain);
    struct linear_operation *operation = begin(thread, LINEAR_PIN, id);
    const struct object *object = haft_pin(fixture.table, id);

    end(operation);
    haft_section_end(fixture.domain);
    operation->found = object != NULL;
    operation->note = object != NULL ? object->id : 0;
    return operation->found;
}

static void unpin(uint32_t thread, haft_id id)
{
    struct linear_operation *operation = begin(thread, LINEAR_UNPIN, id);

    operation->status = haft_unpin(fixture.table, id);
    end(operation);
}

static haft_id first;
static haft_id second; /* the next life of its slot */

static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 1, .has_pins = true});
    for (int i = 0; i < 4; i++) {
        parts[i].count = 0;
    }
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    first = insert(3, workers[0]);
    second = haft_id_pack(fixture.layout, haft_id_index(fixture.layout, first),
                          haft_id_generation(fixture.layout, first) + 1, 0);
}

static void body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        free_one(thread, first);
        insert(thread, workers[thread]);
        haft_domain_wait(fixture.domain);
        insert(thread, workers[thread]);
    } else if (thread == 1) {
        ask(thread, second);
        free_one(thread, first);
        look(thread, second);
    } else {
        const bool is_pinned = pin(thread, first);

        look(thread, first);
        if (is_pinned) {
            unpin(thread, first);
        }
    }
    race_end();
}

static void tear_down(void)
{
    struct linear_history history = {.layout = fixture.layout, .capacity = 1};

    for (int i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < parts[i].count; j++) {
            history.operations[history.count++] = parts[i].operations[j];
        }
    }
    if (!linear_is_allowed(&history, linear_allows)) {
        linear_print(stderr, &history);
        require(false, "the history is not linearizable");
    }
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

EXPLORE(linear, 3, set_up, body, tear_down,
        "what three threads do to one object could be done by one");
