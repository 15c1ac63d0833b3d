/*
 * A counted table beside a model, in one thread: every call's answer, every object's bytes, and
 * every on_destroy are those that the model says.  Ids come from the past and from nowhere.
 */
#include "fuzz/target.h"
#include <haft/counted.h>
#include <haft/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 16, MOST_HELD = 1000, OBJECT_WORDS = 3 };

/* What the model knows of a slot. */
enum life { DEAD, TAKEN, ALIVE, OVER, ENDING }; /* TAKEN: reserved.  OVER: freed, still held */

struct slot {
    enum life life;
    haft_id id; /* of the latest life */
    uint64_t holders;
    uint64_t words[OBJECT_WORDS];
    uint64_t next; /* index of a slot whose object is freed when this one's is destroyed; 0: none */
    bool is_worn;
};

static struct {
    haft_counted *table;
    haft_counted_options options;
    struct slot slots[MOST_SLOTS + HAFT_FIRST_INDEX];
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

static uint64_t last_index(void)
{
    return HAFT_FIRST_INDEX + world.options.capacity + world.options.min_free - 1;
}

static struct slot *slot_of(haft_id id)
{
    const uint64_t index = haft_id_index(world.options.layout, id);

    return index >= HAFT_FIRST_INDEX && index <= last_index() ? &world.slots[index] : NULL;
}

/* The slot whose latest life has this id, and is not over for the model. */
static struct slot *latest(haft_id id)
{
    struct slot *slot = slot_of(id);

    return slot != NULL && slot->life != DEAD && haft_id_equal(slot->id, id) ? slot : NULL;
}

static uint64_t taken(void)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index <= last_index(); index++) {
        count += world.slots[index].life != DEAD || world.slots[index].is_worn;
    }
    return count;
}

static uint64_t in_life(enum life life)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index <= last_index(); index++) {
        count += world.slots[index].life == life;
    }
    return count;
}

static void die(struct slot *slot)
{
    const uint64_t generation = haft_id_generation(world.options.layout, slot->id);

    slot->life = DEAD;
    slot->holders = 0;
    slot->next = 0;
    slot->is_worn =
        !world.options.wrap && generation == haft_field_max(world.options.layout.generation_bits);
}

/* The object ends: on_destroy runs before the outermost call returns. */
static void end(struct slot *slot)
{
    if (world.options.on_destroy != NULL) {
        slot->life = ENDING;
        world.expected++;
    } else {
        die(slot);
    }
}

static void check_words(const struct slot *slot, const void *object)
{
    must(memcmp(slot->words, object, world.options.object_size) == 0, "an object's bytes");
}

static void free_it(haft_id id);

static void on_destroy(void *object, haft_id id, void *arg)
{
    struct slot *slot = slot_of(id);
    const bool outer = world.in_destroy;

    must(arg == &world, "destroy_arg");
    must(!outer, "an on_destroy within another one of the table");
    must(slot != NULL && slot->life == ENDING && haft_id_equal(slot->id, id),
         "an object that does not end is destroyed");
    check_words(slot, object);
    must(haft_counted_close(world.table) == HAFT_IN_USE, "a table closes in its on_destroy");
    must(haft_counted_acquire(world.table, id) == NULL, "what is destroyed is acquired");
    world.in_destroy = true;
    if (slot->next != 0) {
        free_it(world.slots[slot->next].id);
    }
    world.in_destroy = false;
    world.destroyed++;
    die(slot);
}

/* --- ids, of now, of the past, and made up --- */

static haft_id some_id(void)
{
    const uint64_t kind = draw(8);
    haft_id id = world.slots[HAFT_FIRST_INDEX + draw(last_index() - HAFT_FIRST_INDEX + 1)].id;

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

static haft_status expected_diagnosis(haft_id id)
{
    const haft_layout layout = world.options.layout;
    const struct slot *slot = slot_of(id);
    const uint64_t asked = haft_id_generation(layout, id);
    const uint64_t first = world.options.first_generation != 0 ? world.options.first_generation : 1;

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if ((id.bits & ~haft_field_max((unsigned)layout.index_bits + layout.generation_bits +
                                   layout.tag_bits)) != 0 ||
        haft_id_index(layout, id) < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if (haft_id_tag(layout, id) != world.options.tag) {
        return HAFT_FOREIGN;
    }
    if (slot == NULL || haft_id_is_nil(slot->id)) {
        return HAFT_NEVER_ISSUED;
    }
    if (haft_id_equal(slot->id, id) && slot->life == ALIVE) {
        return HAFT_OK;
    }
    if (haft_id_equal(slot->id, id) && slot->life == TAKEN) {
        return HAFT_RESERVED;
    }
    if (asked < first || asked > haft_id_generation(layout, slot->id)) {
        return HAFT_NEVER_ISSUED;
    }
    return slot->is_worn ? HAFT_EXHAUSTED : HAFT_STALE;
}

static haft_status check_diagnosis(haft_id id)
{
    const haft_status status = haft_counted_diagnose(world.table, id);
    const haft_status expected = expected_diagnosis(id);
    const bool is_in_doubt = world.options.wrap && expected != HAFT_OK && expected != HAFT_RESERVED;
    const struct slot *slot = latest(id);

    /* Before the last life of a worn slot has been given back it is not known to be the last. */
    must(status == expected || is_in_doubt ||
             (slot != NULL && (slot->life == ENDING || slot->life == OVER)),
         "a diagnosis");
    must((status == HAFT_OK) == (slot != NULL && slot->life == ALIVE), "whether an id is live");
    must(haft_counted_is_live(world.table, id) == (status == HAFT_OK), "is_live");
    return status;
}

/* --- operations --- */

static void note_new(haft_id id, enum life life)
{
    struct slot *slot = slot_of(id);

    must(slot != NULL && slot->life == DEAD && !slot->is_worn, "a slot that is taken is given out");
    must(haft_id_tag(world.options.layout, id) == world.options.tag, "a new id's tag");
    must(world.options.wrap || id.bits > slot->id.bits, "an id is given out twice");
    slot->life = life;
    slot->id = id;
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
    note_new(id, ALIVE);
    memset(slot_of(id)->words, 0, sizeof words);
    if (!is_zero) {
        memcpy(slot_of(id)->words, words, world.options.object_size);
    }
    if (draw(3) == 0) { /* a chain: one that is live now ends after it */
        const uint64_t next = HAFT_FIRST_INDEX + draw(last_index() - HAFT_FIRST_INDEX + 1);

        slot_of(id)->next = world.slots[next].life == ALIVE ? next : 0;
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
        memset(slot_of(id)->words, 7, world.options.object_size);
    }
}

static void settle_reserved(void)
{
    const haft_id id = some_id();
    struct slot *slot = latest(id);

    if (slot == NULL || slot->life != TAKEN) {
        return;
    }
    if (draw(2) == 0) {
        haft_counted_publish(world.table, id);
        slot->life = ALIVE;
    } else {
        haft_counted_abort(world.table, id);
        die(slot);
    }
}

static void on_bad_access(const haft_bad_access *access, void *arg)
{
    *(haft_status *)arg = access->status;
}

static void acquire(void)
{
    const haft_id id = some_id();
    struct slot *slot = latest(id);
    haft_status *said = world.options.bad_access_arg;

    *said = HAFT_OK;
    const void *object = draw(2) == 0 ? haft_counted_acquire(world.table, id)
                                      : haft_counted_require(world.table, id);

    must((object != NULL) == (slot != NULL && slot->life == ALIVE), "which ids are acquired");
    must(object == NULL || *said == HAFT_OK, "on_bad_access of a live id");
    if (object != NULL) {
        must((uintptr_t)object % 8 == 0, "an object's alignment");
        check_words(slot, object);
        slot->holders++;
    }
}

static void again(void)
{
    const haft_id id = some_id();
    struct slot *slot = latest(id);
    const bool is_held = slot != NULL && slot->holders != 0;

    must(haft_counted_again(world.table, id) == is_held, "which holds are repeated");
    if (is_held) {
        slot->holders++;
    }
}

static void release(void)
{
    const haft_id id = some_id();
    struct slot *slot = latest(id);
    const bool is_held = slot != NULL && slot->holders != 0;

    if (is_held && --slot->holders == 0 && slot->life == OVER) {
        end(slot);
    }
    must(haft_counted_release(world.table, id) == (is_held ? HAFT_OK : HAFT_NOT_HELD),
         "which holds are released");
}

static void free_it(haft_id id)
{
    struct slot *slot = latest(id);
    const bool is_live = slot != NULL && slot->life == ALIVE;
    const haft_status otherwise = is_live ? HAFT_OK : check_diagnosis(id);

    if (is_live && slot->holders != 0) {
        slot->life = OVER;
    } else if (is_live) {
        end(slot);
    }
    must(haft_counted_free(world.table, id) == otherwise, "which ids are freed");
}

static void take(void)
{
    const haft_id id = some_id();
    struct slot *slot = latest(id);
    uint64_t words[OBJECT_WORDS];
    const bool is_live = slot != NULL && slot->life == ALIVE;
    const haft_status expected = !is_live             ? check_diagnosis(id)
                                 : slot->holders != 0 ? HAFT_IN_USE
                                                      : HAFT_OK;

    must(haft_counted_take(world.table, id, words) == expected, "which objects are taken out");
    if (expected == HAFT_OK) {
        check_words(slot, words);
        die(slot);
    }
}

static void copy(void)
{
    const haft_id id = some_id();
    const struct slot *slot = latest(id);
    uint64_t words[OBJECT_WORDS];
    bool is_copied;

    if (!world.options.copies) {
        return;
    }
    is_copied = haft_counted_copy(world.table, id, words);
    must(is_copied == (slot != NULL && slot->life == ALIVE), "which ids are copied");
    if (is_copied) {
        check_words(slot, words);
    }
}

static void walk(void)
{
    haft_counted_cursor cursor = {0};
    uint64_t found = 0;
    haft_id id;
    void *object;

    while (haft_counted_cursor_next(world.table, &cursor, &id, &object)) {
        must(latest(id) != NULL && latest(id)->life == ALIVE,
             "a walk visits an object that is not live");
        check_words(latest(id), object);
        must(haft_counted_release(world.table, id) == HAFT_OK, "a walk holds");
        found++;
    }
    must(found == in_life(ALIVE), "a walk leaves objects out");
}

static void look_at_slot(void)
{
    const uint64_t index = draw(MOST_SLOTS + 8);
    haft_id id = HAFT_NIL;
    const haft_status status = haft_counted_id_at(world.table, index, &id);

    if (index < HAFT_FIRST_INDEX || index > last_index()) {
        must(status == HAFT_OUT_OF_RANGE, "a slot beyond the table");
        return;
    }
    const struct slot *slot = &world.slots[index];

    must((status == HAFT_OK) == (slot->life == ALIVE), "the state of a slot");
    must((status == HAFT_RESERVED) == (slot->life == TAKEN), "whether a slot is reserved");
    must((status != HAFT_OK && status != HAFT_RESERVED) || haft_id_equal(id, slot->id),
         "the id of a slot");
}

static void check_stats(void)
{
    const haft_counted_stats stats = haft_counted_stats_get(world.table);
    char text[200];

    must(stats.live == in_life(ALIVE), "live objects");
    must(stats.reserved == in_life(TAKEN), "reserved slots");
    must(stats.ended == in_life(OVER) + in_life(ENDING), "ended objects");
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
        .bad_access_arg = said,
    };
    world.options.first_generation = draw(haft_field_max(world.options.layout.generation_bits) + 1);
    if ((flags & 64) != 0) {
        haft_footprint footprint;

        must(haft_counted_footprint(&world.options, &footprint) == HAFT_OK, "a footprint");
        world.options.memory = malloc((size_t)footprint.bytes);
        world.options.memory_size = footprint.bytes;
    }
}

/* The program lets go of all that it has, before the table closes and after. */
static void end_world(void)
{
    bool is_held = false;

    for (uint64_t index = HAFT_FIRST_INDEX; index <= last_index(); index++) {
        is_held |= world.slots[index].holders != 0;
        world.slots[index].next = 0;
        if (world.slots[index].life == TAKEN) {
            haft_counted_abort(world.table, world.slots[index].id);
            die(&world.slots[index]);
        }
    }
    for (uint64_t index = HAFT_FIRST_INDEX; index <= last_index(); index++) {
        struct slot *slot = &world.slots[index];

        if (slot->life == ALIVE && slot->holders == 0) {
            end(slot); /* closing frees it */
        } else if (slot->life == ALIVE) {
            slot->life = OVER;
        }
    }
    must(haft_counted_close(world.table) == (is_held ? HAFT_IN_USE : HAFT_OK), "closing");
    if (!is_held) {
        return;
    }
    haft_id id;

    must(haft_counted_insert(world.table, NULL, &id) == HAFT_CLOSED, "a closed table takes more");
    for (uint64_t index = HAFT_FIRST_INDEX; index <= last_index(); index++) {
        struct slot *slot = &world.slots[index];

        while (slot->holders != 0) {
            if (--slot->holders == 0) {
                end(slot);
            }
            must(haft_counted_release(world.table, slot->id) == HAFT_OK, "a late release");
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
