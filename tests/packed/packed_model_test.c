/*
 * The packed table beside a naive model: random operations on both, and both must agree.  With
 * keep_order they must agree on the order; without, on what is in it.
 */
#include "tests/packed/packed.h"
#include <stdlib.h>

TestSuite(packed_model, .timeout = SUITE_SECONDS);

#define MOST 64
#define OLD 512
#define OPERATIONS 60000

struct entry {
    haft_id id;
    uint64_t value;
    bool dead;
};

struct model {
    haft_packed *packed;
    struct entry entries[MOST];
    uint64_t count;
    haft_id old[OLD]; /* of ended lives: the last of them */
    uint64_t ended;
    uint64_t destroyed; /* sum of the values that on_destroy has been given */
    uint64_t expected;  /* sum of the values that it should have been given */
    uint64_t next_value;
    uint64_t seed;
    bool keep_order;
};

static void count_destroyed(void *object, haft_id id, void *arg)
{
    struct model *model = arg;

    (void)id;
    model->destroyed += *(uint64_t *)object;
}

static void end(struct model *model, uint64_t at)
{
    model->old[model->ended++ % OLD] = model->entries[at].id;
    model->expected += model->entries[at].value;
    model->count--;
    for (uint64_t i = at; i < model->count; i++) {
        model->entries[i] = model->entries[i + 1];
    }
}

static void insert_one(struct model *model)
{
    const struct entry entry = {.value = model->next_value};
    struct entry *to = &model->entries[model->count];
    const uint64_t room = haft_packed_available(model->packed);
    haft_id id;

    if (room == 0) {
        must(haft_packed_insert(model->packed, &entry.value, &id) == HAFT_FULL);
        return;
    }
    must(haft_packed_insert(model->packed, &entry.value, &id) == HAFT_OK);
    *to = entry;
    to->id = id;
    model->count++;
    model->next_value++;
}

static void free_one(struct model *model)
{
    if (model->count != 0) {
        const uint64_t at = random_next(&model->seed) % model->count;

        must(haft_packed_free(model->packed, model->entries[at].id) == HAFT_OK);
        end(model, at);
    }
}

static void kill_one(struct model *model)
{
    if (model->count != 0) {
        struct entry *entry = &model->entries[random_next(&model->seed) % model->count];

        must(haft_packed_kill(model->packed, entry->id) == (entry->dead ? HAFT_DEAD : HAFT_OK));
        entry->dead = true;
    }
}

static void refresh(struct model *model)
{
    must(haft_packed_refresh(model->packed) == HAFT_OK);
    for (uint64_t i = model->count; i-- > 0;) {
        if (model->entries[i].dead) {
            end(model, i);
        }
    }
}

static void clear(struct model *model)
{
    must(haft_packed_clear(model->packed) == HAFT_OK);
    while (model->count != 0) {
        end(model, 0);
    }
}

static int by_digit(const void *a, const void *b, void *arg)
{
    const uint64_t divisor = *(const uint64_t *)arg;

    return (int)(*(const uint64_t *)a / divisor % 10) - (int)(*(const uint64_t *)b / divisor % 10);
}

/* The same by insertion: stable. */
static void sort(struct model *model)
{
    uint64_t divisor = random_next(&model->seed) % 2 == 0 ? 1 : 10;

    must(haft_packed_sort(model->packed, by_digit, &divisor) == HAFT_OK);
    for (uint64_t i = 1; i < model->count; i++) {
        const struct entry entry = model->entries[i];
        uint64_t to = i;

        for (; to > 0 && by_digit(&model->entries[to - 1].value, &entry.value, &divisor) > 0;
             to--) {
            model->entries[to] = model->entries[to - 1];
        }
        model->entries[to] = entry;
    }
}

static void step(struct model *model)
{
    const uint64_t choice = random_next(&model->seed) >> 20 & 63;

    if (choice < 26) {
        insert_one(model);
    } else if (choice < 38) {
        free_one(model);
    } else if (choice < 56) {
        kill_one(model);
    } else if (choice < 60) {
        refresh(model);
    } else if (choice < 63) {
        sort(model);
    } else if (random_next(&model->seed) % 8 == 0) {
        clear(model);
    }
}

static void must_agree(struct model *model)
{
    const haft_packed *packed = model->packed;

    must(haft_packed_count(packed) == model->count);
    must(model->destroyed == model->expected);
    for (uint64_t i = 0; i < model->count; i++) {
        const struct entry *entry = &model->entries[i];
        const uint64_t *object = haft_packed_resolve(haft_packed_view(packed), entry->id);

        must(object != NULL && *object == entry->value);
        must(haft_packed_state(packed, entry->id) ==
             (entry->dead ? HAFT_PACKED_DEAD : HAFT_PACKED_ALIVE));
        must(!model->keep_order || haft_packed_id_at(packed, i).bits == entry->id.bits);
    }
    for (uint64_t i = 0; i < OLD && i < model->ended; i += 17) {
        must(!haft_packed_is_live(haft_packed_view(packed), model->old[i]));
    }
    packed_must_be_sound(packed, 8);
}

static void walk(haft_layout layout, uint64_t capacity, bool keep_order)
{
    static struct model model;
    const haft_packed_options options = {
        .capacity = capacity,
        .object_size = 8,
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
        .keep_order = keep_order,
        .on_destroy = count_destroyed,
        .destroy_arg = &model,
    };

    model = (struct model){.keep_order = keep_order, .seed = 97 + capacity, .next_value = 1};
    model.packed = packed_open(&options);
    for (int n = 0; n < OPERATIONS; n++) {
        step(&model);
        must_agree(&model);
    }
    must(capacity < MOST || model.ended > OPERATIONS / 8);
    while (model.count != 0) {
        end(&model, 0);
    }
    packed_close(model.packed); /* destroys the rest */
    must(model.destroyed == model.expected);
}

TEST_ON_EACH_ORDER(packed_model, random_operations_agree_with_a_plain_array)
{
    walk(HAFT_LAYOUT_32_32, MOST, *keep_order);
    walk(HAFT_LAYOUT_32_24_8, 20, *keep_order);
    walk(HAFT_LAYOUT_16_16, 3, *keep_order);
    walk(HAFT_LAYOUT_OF(3, 60, 1), 4, *keep_order);
}

TEST_ON_EACH_ORDER(packed_model, they_agree_until_all_slots_are_exhausted)
{
    walk(HAFT_LAYOUT_OF(6, 6, 0), 60, *keep_order);
    walk(HAFT_LAYOUT_OF(3, 1, 0), 4, *keep_order);
}
