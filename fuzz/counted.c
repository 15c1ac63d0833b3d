/*
 * A counted table beside a model, in one thread: every call's answer, every object's bytes, and
 * every on_destroy are those that the model says.  Ids come from the past and from nowhere.
 */
#include "fuzz/model.h"
#include "fuzz/target.h"
#include <haft/counted.h>
#include <haft/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDEX = 32, MOST_HELD = 1000, OBJECT_WORDS = 3 };

/* What an object has beside its slot, whose states are LIVE, TAKEN, RETIRED (freed and still held),
 * ENDING (its on_destroy is to come) and UNUSED, FREE or WORN. */
struct object {
    haft_id id; /* of the latest life */
    uint64_t holders;
    uint64_t words[OBJECT_WORDS];
    uint64_t next; /* index of a slot whose object is freed when this one's is destroyed; 0: none */
};

static struct model model;

static struct {
    haft_counted *table;
    haft_counted_options options;
    struct object objects[MOST_INDEX];
    uint64_t destroyed; /* calls of on_destroy that the model has seen */
    uint64_t expected;  /* and that must have come when the outermost call returns */
    uint64_t inserted;
    uint64_t operations;
    bool tells;
    bool in_destroy;
} world;

static struct {
    const uint8_t *at;
    const uint8_t *end;
} input;

void target_tell(void)
{
    world.tells = true;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

static uint64_t draw(uint64_t bound)
{
    return input.at < input.end ? *input.at++ % bound : 0;
}

/* --- the model --- */

static uint64_t index_of(haft_id id)
{
    return haft_id_index(model.layout, id);
}

static enum slot_state state_of(haft_id id)
{
    return model.slots[index_of(id)].state;
}

/* The object whose latest life has this id, and is not over for the model. */
static struct object *latest(haft_id id)
{
    const struct slot *slot = model_slot(&model, id);

    if (slot == NULL || index_of(id) >= model.limit || slot->state == UNUSED ||
        slot->state == FREE || slot->state == WORN) {
        return NULL;
    }
    struct object *object = &world.objects[index_of(id)];

    return haft_id_equal(object->id, id) ? object : NULL;
}

static bool is_live(haft_id id)
{
    return latest(id) != NULL && state_of(id) == LIVE;
}

static uint64_t taken(void)
{
    return model.counts[TAKEN] + model.counts[LIVE] + model.counts[RETIRED] + model.counts[ENDING] +
           model.counts[WORN];
}

/* The life is over for the program: its id is stale, though its object may be held. */
static void retire(haft_id id)
{
    model_end(&model, index_of(id));
    model_set(&model, index_of(id), RETIRED);
}

/* The slot is free, or worn out. */
static void die(haft_id id)
{
    struct object *object = &world.objects[index_of(id)];
    const bool is_worn = model.slots[index_of(id)].generation == 0;

    object->holders = 0;
    object->next = 0;
    model_set(&model, index_of(id), is_worn ? WORN : FREE);
}

/* The object ends: on_destroy runs before the outermost call returns. */
static void end(haft_id id)
{
    if (world.options.on_destroy != NULL) {
        model_set(&model, index_of(id), ENDING);
        world.expected++;
    } else {
        die(id);
    }
}

static void check_words(const struct object *known, const void *object)
{
    must(memcmp(known->words, object, world.options.object_size) == 0, "an object's bytes");
}

static void free_it(haft_id id);

static void on_destroy(void *object, haft_id id, void *arg)
{
    struct object *known = latest(id);

    must(arg == &world, "destroy_arg");
    must(!world.in_destroy, "an on_destroy within another one of the table");
    must(known != NULL && state_of(id) == ENDING, "an object that does not end is destroyed");
    check_words(known, object);
    must(haft_counted_close(world.table) == HAFT_IN_USE, "a table closes in its on_destroy");
    must(haft_counted_acquire(world.table, id) == NULL, "what is destroyed is acquired");
    world.in_destroy = true;
    if (known->next != 0) {
        free_it(world.objects[known->next].id);
    }
    world.in_destroy = false;
    world.destroyed++;
    die(id);
}

/* --- ids, of now, of the past, and made up --- */

static haft_id some_id(void)
{
    const uint64_t kind = draw(8);
    haft_id id = world.objects[HAFT_FIRST_INDEX + draw(model.limit - HAFT_FIRST_INDEX)].id;

    if (kind == 1) {
        id.bits -= UINT64_C(1) << world.options.layout.index_bits; /* the life before */
    } else if (kind == 2) {
        for (int i = 0; i < 8; i++) {
            id.bits = id.bits << 8 | draw(256);
        }
    } else if (kind == 3) {
        id.bits ^= UINT64_C(1) << draw(64);
    }
    return id;
}

static haft_status check_diagnosis(haft_id id)
{
    const haft_status status = haft_counted_diagnose(world.table, id);
    const haft_status expected = model_diagnose(&model, id);
    const bool is_in_doubt = world.options.wrap && expected != HAFT_OK && expected != HAFT_RESERVED;
    const bool is_ending =
        latest(id) != NULL && (state_of(id) == ENDING || state_of(id) == RETIRED);

    /* Before the last life of a worn slot has been given back it is not known to be the last. */
    must(status == expected || is_in_doubt || is_ending, "a diagnosis");
    must((status == HAFT_OK) == is_live(id), "whether an id is live");
    must(haft_counted_is_live(world.table, id) == (status == HAFT_OK), "is_live");
    return status;
}

/* --- operations --- */

static void note_new(haft_id id, enum slot_state state)
{
    const uint64_t index = index_of(id);
    const struct slot *slot = model_slot(&model, id);

    must(slot != NULL && index < model.limit && (slot->state == UNUSED || slot->state == FREE),
         "a slot that is taken is given out");
    must(id.bits == model_id(&model, index, slot->generation).bits, "the new id");
    model_set(&model, index, state);
    world.objects[index].id = id;
    world.inserted++;
}

/* HAFT_FULL is exact. */
static void check_room(haft_status status)
{
    must(status == (taken() < world.options.capacity ? HAFT_OK : HAFT_FULL), "room in the table");
}

static void insert(void)
{
    uint64_t words[OBJECT_WORDS] = {world.inserted, draw(256), ~world.inserted};
    haft_id id = {UINT64_MAX};
    const bool is_zero = draw(5) == 0;
    const haft_status status = haft_counted_insert(world.table, is_zero ? NULL : words, &id);

    check_room(status);
    if (status != HAFT_OK) {
        must(id.bits == UINT64_MAX, "a refused insertion writes an id");
        return;
    }
    note_new(id, LIVE);
    struct object *known = &world.objects[index_of(id)];

    memset(known->words, 0, sizeof words);
    if (!is_zero) {
        memcpy(known->words, words, world.options.object_size);
    }
    if (draw(3) == 0) { /* a chain: one that is live now ends after it */
        const uint64_t next = HAFT_FIRST_INDEX + draw(model.limit - HAFT_FIRST_INDEX);

        known->next = model.slots[next].state == LIVE ? next : 0;
    }
}

static void reserve(void)
{
    haft_id id;
    void *object;
    const haft_status status = haft_counted_reserve(world.table, &id, &object);

    if (world.options.copies) {
        must(status == HAFT_BAD_COPIES, "a reservation beside copies");
        return;
    }
    check_room(status);
    if (status == HAFT_OK) {
        note_new(id, TAKEN);
        memset(object, 7, world.options.object_size);
        memset(world.objects[index_of(id)].words, 7, world.options.object_size);
    }
}

static void settle_reserved(void)
{
    const haft_id id = some_id();

    if (latest(id) == NULL || state_of(id) != TAKEN) {
        return;
    }
    if (draw(2) == 0) {
        haft_counted_publish(world.table, id);
        model_set(&model, index_of(id), LIVE);
    } else {
        haft_counted_abort(world.table, id);
        retire(id);
        die(id);
    }
}

static void on_bad_access(const haft_bad_access *access, void *arg)
{
    *(haft_status *)arg = access->status;
}

static void acquire(void)
{
    const haft_id id = some_id();
    struct object *known = latest(id);
    haft_status *said = world.options.report_arg;

    *said = HAFT_OK;
    const void *object = draw(2) == 0 ? haft_counted_acquire(world.table, id)
                                      : haft_counted_require(world.table, id);

    must((object != NULL) == is_live(id), "which ids are acquired");
    must(object == NULL || *said == HAFT_OK, "on_bad_access of a live id");
    if (object != NULL) {
        must((uintptr_t)object % 8 == 0, "an object's alignment");
        check_words(known, object);
        known->holders++;
    }
}

static void again(void)
{
    const haft_id id = some_id();
    struct object *known = latest(id);
    const bool is_held = known != NULL && known->holders != 0;

    must(haft_counted_again(world.table, id) == is_held, "which holds are repeated");
    if (is_held) {
        known->holders++;
    }
}

static void release(void)
{
    const haft_id id = some_id();
    struct object *known = latest(id);
    const bool is_held = known != NULL && known->holders != 0;

    if (is_held && --known->holders == 0 && state_of(id) == RETIRED) {
        end(id);
    }
    must(haft_counted_release(world.table, id) == (is_held ? HAFT_OK : HAFT_NOT_HELD),
         "which holds are released");
}

static void free_it(haft_id id)
{
    const struct object *known = latest(id);
    const bool was_live = is_live(id);
    const haft_status otherwise = was_live ? HAFT_OK : check_diagnosis(id);

    if (was_live) {
        retire(id);
    }
    if (was_live && known->holders == 0) {
        end(id);
    }
    must(haft_counted_free(world.table, id) == otherwise, "which ids are freed");
}

static void take(void)
{
    const haft_id id = some_id();
    const struct object *known = latest(id);
    uint64_t words[OBJECT_WORDS];
    const haft_status expected = !is_live(id)          ? check_diagnosis(id)
                                 : known->holders != 0 ? HAFT_IN_USE
                                                       : HAFT_OK;

    must(haft_counted_take(world.table, id, words) == expected, "which objects are taken out");
    if (expected == HAFT_OK) {
        check_words(known, words);
        retire(id);
        die(id);
    }
}

static void copy(void)
{
    const haft_id id = some_id();
    uint64_t words[OBJECT_WORDS];

    if (!world.options.copies) {
        return;
    }
    must(haft_counted_copy(world.table, id, words) == is_live(id), "which ids are copied");
    if (is_live(id)) {
        check_words(latest(id), words);
    }
}

static void walk(void)
{
    haft_counted_cursor cursor = {0};
    uint64_t found = 0;
    haft_id id;
    void *object;

    while (haft_counted_cursor_next(world.table, &cursor, &id, &object)) {
        must(is_live(id), "a walk visits an object that is not live");
        check_words(latest(id), object);
        must(haft_counted_release(world.table, id) == HAFT_OK, "a walk holds");
        found++;
    }
    must(found == model.counts[LIVE], "a walk leaves objects out");
}

static void look_at_slot(void)
{
    const uint64_t index = draw(MOST_INDEX);
    haft_id id = HAFT_NIL;
    const haft_status status = haft_counted_id_at(world.table, index, &id);

    if (index < HAFT_FIRST_INDEX || index >= model.limit) {
        must(status == HAFT_OUT_OF_RANGE, "a slot beyond the table");
        return;
    }
    const enum slot_state state = model.slots[index].state;

    must((status == HAFT_OK) == (state == LIVE), "the state of a slot");
    must((status == HAFT_RESERVED) == (state == TAKEN), "whether a slot is reserved");
    must((status != HAFT_OK && status != HAFT_RESERVED) ||
             haft_id_equal(id, world.objects[index].id),
         "the id of a slot");
}

static void check_stats(void)
{
    const haft_counted_stats stats = haft_counted_stats_get(world.table);
    char text[200];

    must(stats.live == model.counts[LIVE], "live objects");
    must(stats.reserved == model.counts[TAKEN], "reserved slots");
    must(stats.ended == model.counts[RETIRED] + model.counts[ENDING], "ended objects");
    must(stats.high_water ==
             stats.live + stats.reserved + stats.ended + stats.free + stats.exhausted,
         "slots ever used");
    must(stats.limit == world.options.capacity + world.options.min_free &&
             stats.high_water <= stats.limit,
         "the limit");
    must(haft_counted_explain(world.table, (haft_status)draw(HAFT_STATUS_COUNT), text,
                              sizeof text) > 0,
         "words");
    haft_counted_diagnose_format(world.table, some_id(), text, sizeof text);
}

static void free_some(void)
{
    free_it(some_id());
}

static void diagnose(void)
{
    check_diagnosis(some_id());
}

static void operate(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {
        {"insert", insert},
        {"insert", insert},
        {"insert", insert},
        {"reserve", reserve},
        {"settle", settle_reserved},
        {"acquire", acquire},
        {"acquire", acquire},
        {"again", again},
        {"release", release},
        {"release", release},
        {"free", free_some},
        {"free", free_some},
        {"take", take},
        {"copy", copy},
        {"walk", walk},
        {"id_at", look_at_slot},
        {"diagnose", diagnose},
        {"stats", check_stats},
    };
    const uint64_t kind = draw(sizeof kinds / sizeof kinds[0]);

    if (world.tells) {
        fprintf(stderr, "%s\n", kinds[kind].name);
    }
    kinds[kind].run();
    must(world.destroyed == world.expected, "what ends is destroyed when the call returns");
    world.operations++;
}

/* --- a table --- */

static void draw_options(haft_status *said)
{
    const uint64_t flags = draw(256);

    world.options = (haft_counted_options){
        .capacity = 1 + draw(6),
        .object_size = draw(8 * OBJECT_WORDS + 1),
        .layout = HAFT_LAYOUT_OF((uint8_t)(5 + draw(20)), (uint8_t)(1 + draw(6)), 2),
        .tag = draw(4),
        .min_free = (flags & 1) != 0 ? draw(5) : 0,
        .wrap = (flags & 2) != 0,
        .copies = (flags & 4) != 0,
        .wipe = (flags & 8) != 0,
        .spread = (flags & 16) != 0,
        .on_destroy = (flags & 32) != 0 ? on_destroy : NULL,
        .destroy_arg = &world,
        .on_bad_access = on_bad_access,
        .report_arg = said,
    };
    world.options.first_generation = draw(haft_field_max(world.options.layout.generation_bits) + 1);
    if ((flags & 64) != 0) {
        haft_footprint footprint;

        must(haft_counted_footprint(&world.options, &footprint) == HAFT_OK, "a footprint");
        world.options.memory = malloc((size_t)footprint.bytes);
        world.options.memory_size = footprint.bytes;
    }
}

static void model_from_options(void)
{
    memset(&model, 0, sizeof model);
    model.layout = world.options.layout;
    model.tag = world.options.tag;
    model.first = world.options.first_generation != 0 ? world.options.first_generation : 1;
    model.capacity = world.options.capacity;
    model.limit = HAFT_FIRST_INDEX + world.options.capacity + world.options.min_free;
    model.wraps = world.options.wrap;
    model.counts[UNUSED] = MOST_SLOTS;
    for (uint64_t i = 0; i < MOST_SLOTS; i++) {
        model.slots[i].generation = model.first;
    }
}

/* The program lets go of all that it has, before the table closes and after. */
static void end_world(void)
{
    bool is_held = false;
    haft_id id;

    for (uint64_t index = HAFT_FIRST_INDEX; index < model.limit; index++) {
        struct object *known = &world.objects[index];

        is_held |= known->holders != 0;
        known->next = 0;
        if (model.slots[index].state == TAKEN) {
            haft_counted_abort(world.table, known->id);
            retire(known->id);
            die(known->id);
        }
    }
    for (uint64_t index = HAFT_FIRST_INDEX; index < model.limit; index++) { /* closing frees it */
        if (model.slots[index].state == LIVE) {
            retire(world.objects[index].id);
            if (world.objects[index].holders == 0) {
                end(world.objects[index].id);
            }
        }
    }
    must(haft_counted_close(world.table) == (is_held ? HAFT_IN_USE : HAFT_OK), "closing");
    if (!is_held) {
        return;
    }
    must(haft_counted_insert(world.table, NULL, &id) == HAFT_CLOSED, "a closed table takes more");
    for (uint64_t index = HAFT_FIRST_INDEX; index < model.limit; index++) {
        struct object *known = &world.objects[index];

        while (known->holders != 0) {
            if (--known->holders == 0) {
                end(known->id);
            }
            must(haft_counted_release(world.table, known->id) == HAFT_OK, "a late release");
        }
    }
    must(haft_counted_close_wait(world.table) == HAFT_OK, "closing for good");
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    const bool tells = world.tells;
    haft_status said = HAFT_OK;

    memset(&world, 0, sizeof world);
    world.tells = tells;
    input.at = data;
    input.end = data + size;
    draw_options(&said);
    model_from_options();
    must(haft_counted_open(&world.options, &world.table) == HAFT_OK, "opening");
    while (input.at < input.end) {
        operate();
    }
    if (size % 7 == 0) {
        haft_counted_abandon(world.table);
    } else {
        end_world();
        must(world.destroyed == world.expected, "what closing ends is destroyed");
    }
    free(world.options.memory);
    return world.operations;
}
