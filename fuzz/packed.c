/*
 * haft_packed beside the model: objects by position, and the dead in the order of their kills.
 * Without keep_order a refresh may fill its gaps as it likes, but only with the last objects.
 */
#include "fuzz/play.h"
#include <string.h>

static haft_dense_view view(const struct play *play)
{
    return haft_packed_view(play->packed);
}

static uint64_t available(const struct model *model)
{
    return model->capacity - model->count - model->counts[WORN];
}

/* Position of a live id, or `count`. */
static uint64_t position_of(const struct model *model, haft_id id)
{
    uint64_t at = 0;

    while (at < model->count && !haft_id_equal(model->order[at], id)) {
        at++;
    }
    return at;
}

static void check_counts(const struct play *play)
{
    const struct model *model = &play->model;

    must_equal(haft_packed_count(play->packed), model->count, "count");
    must_equal(haft_packed_available(play->packed), available(model), "available");
    must_be(haft_packed_is_empty(play->packed) == (model->count == 0), "is_empty");
    if (play->depth == 0) {
        must_equal(haft_packed_dead_count(play->packed), model->dead_count, "dead_count");
    }
}

/* --- the way in --- */

/* The slot ended last, or one of those that ended together; fresh ones in order. */
static bool may_take(const struct model *model, uint64_t index)
{
    const struct slot *slot = &model->slots[index];

    for (uint64_t i = HAFT_FIRST_INDEX; i < model->used; i++) {
        if (model->slots[i].state == FREE && model->slots[i].ended > slot->ended) {
            return false;
        }
    }
    return model->counts[FREE] != 0 ? slot->state == FREE : index == model->used;
}

static void insert(struct play *play)
{
    struct model *model = &play->model;
    const haft_status expected = available(model) == 0 ? HAFT_FULL : HAFT_OK;
    const bool is_zero = play->now.x % 8 == 0;
    const uint64_t value = is_zero ? 0 : ++model->next_value;
    haft_id id = {UINT64_C(0x5a5a)};
    const haft_status said =
        haft_packed_insert(play->packed, is_zero ? NULL : object_bytes(play, value), &id);
    const uint64_t index = haft_id_index(model->layout, id);

    tell(play, "insert: %s, id %llx", haft_status_name(said), (unsigned long long)id.bits);
    must_answer(said, expected, "insert");
    if (said != HAFT_OK) {
        must_equal(id.bits, UINT64_C(0x5a5a), "the id of a refused insert");
        return;
    }
    must_be(index >= HAFT_FIRST_INDEX && index < model->limit && may_take(model, index),
            "the slot is the next one");
    must_equal(id.bits, model_id(model, index, model->slots[index].generation).bits, "the new id");
    model->used = index < model->used ? model->used : index + 1;
    model_set(model, index, LIVE);
    model->slots[index].value = value;
    model->order[model->count++] = id;
    model_issue(model, id);
    play_check_object(play, id, haft_packed_resolve(view(play), id));
}

static void insert_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 16u; i++) {
        insert(play);
    }
}

/* --- the way out --- */

static void list_dead(struct model *model, haft_id id)
{
    struct slot *slot = model_slot(model, id);

    if (!slot->dead) {
        slot->dead = true;
        model->dead[model->dead_count++] = id;
    }
}

/* As clearing does at first, and again when there are none left of those. */
static void list_all(struct model *model)
{
    for (uint64_t i = 0; i < model->count; i++) {
        if (!haft_id_is_nil(model->order[i])) {
            list_dead(model, model->order[i]);
        }
    }
}

/* The object to be destroyed next; nil if there is none. */
static haft_id next_to_go(struct play *play)
{
    struct model *model = &play->model;

    if (!haft_id_is_nil(play->removed)) {
        return play->done == 0 ? play->removed : HAFT_NIL;
    }
    if (play->done == model->dead_count && play->is_clearing) {
        list_all(model);
    }
    return play->done < model->dead_count ? model->dead[play->done] : HAFT_NIL;
}

static void go(struct play *play, haft_id id)
{
    struct model *model = &play->model;

    model->order[position_of(model, id)] = HAFT_NIL;
    model_end(model, haft_id_index(model->layout, id));
    play->done++;
}

static void on_packed_destroy(void *object, haft_id id, void *arg)
{
    struct play *play = arg;
    struct model *model = &play->model;
    const haft_id expected = next_to_go(play);
    const struct slot *slot = model_slot(model, id);

    tell(play, "  on_destroy %llx", (unsigned long long)id.bits);
    must_equal(id.bits, expected.bits, "the object that is destroyed next");
    must_be(object_is(play, object, slot->value), "the object is intact in on_destroy");
    go(play, id);
    must_be(haft_packed_resolve(view(play), id) == NULL, "the id is stale in on_destroy");
    check_counts(play);
    play_nested(play);
    must_be(slot->state == ENDING && object_is(play, object, slot->value),
            "the object is intact until on_destroy returns");
}

/* Gaps close in order. */
static void close_gaps(struct model *model)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < model->count; i++) {
        if (!haft_id_is_nil(model->order[i])) {
            model->order[kept++] = model->order[i];
        }
    }
    model->count = kept;
}

/* Take the table's order for the model's, if it has the same objects and ids in it. */
static void learn_order(struct play *play)
{
    struct model *model = &play->model;

    for (uint64_t i = 0; i < model->count; i++) {
        const haft_id id = haft_packed_id_in(play->packed, i);
        uint64_t position = UINT64_MAX;

        must_be(model_is_live(model, id), "what has a position is live");
        must_answer(haft_packed_position(play->packed, id, &position), HAFT_OK, "position");
        must_equal(position, i, "the position of the object that is there");
        model->order[i] = id;
    }
}

static void fill_gaps(struct play *play)
{
    struct model *model = &play->model;
    uint64_t gaps = 0;

    for (uint64_t i = 0; i < model->count; i++) {
        gaps += haft_id_is_nil(model->order[i]);
    }
    model->count -= gaps;
    must_equal(haft_packed_count(play->packed), model->count, "count");
    for (uint64_t i = 0; i < model->count; i++) {
        must_be(haft_id_is_nil(model->order[i]) ||
                    haft_id_equal(model->order[i], haft_packed_id_in(play->packed, i)),
                "only the last objects move");
    }
    learn_order(play);
}

/* The call has returned: all that had to go is gone, gaps are closed and slots are free. */
static void finish_removal(struct play *play)
{
    struct model *model = &play->model;

    for (haft_id id = next_to_go(play); !haft_id_is_nil(id); id = next_to_go(play)) {
        must_be(!play->setup.destroys, "on_destroy for all that goes");
        go(play, id);
    }
    if (haft_id_is_nil(play->removed)) {
        model->dead_count = 0;
    }
    if (play->setup.keep_order || play->is_clearing) {
        close_gaps(model);
    } else {
        fill_gaps(play);
    }
    model->moment++;
    for (uint64_t i = HAFT_FIRST_INDEX; i < model->used; i++) {
        if (model->slots[i].state == ENDING) {
            model->slots[i].ended = model->moment;
            model_set(model, i, model->slots[i].generation == 0 ? WORN : FREE);
        }
    }
}

/* The one killed last takes the turn of a dead object that is freed. */
static void unlist_dead(struct model *model, haft_id id)
{
    for (uint64_t i = 0; i < model->dead_count; i++) {
        if (haft_id_equal(model->dead[i], id)) {
            model->dead[i] = model->dead[--model->dead_count];
        }
    }
}

static void free_one(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    haft_status expected = model_diagnose(model, id);

    expected = expected == HAFT_OK && play->depth != 0 ? HAFT_IN_CALLBACK : expected;
    tell(play, "free %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    if (expected == HAFT_OK) {
        unlist_dead(model, id);
        play->removed = id;
        play->is_clearing = false;
        play->done = 0;
    }
    must_answer(haft_packed_free(play->packed, id), expected, "free");
    if (expected == HAFT_OK) {
        finish_removal(play);
    }
}

static void kill_one(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    haft_status expected = model_diagnose(model, id);

    if (expected == HAFT_OK && model_slot(model, id)->dead) {
        expected = HAFT_DEAD;
    }
    tell(play, "kill %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    must_answer(haft_packed_kill(play->packed, id), expected, "kill");
    if (expected == HAFT_OK) {
        list_dead(model, id);
    }
}

static void kill_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 8u; i++) {
        kill_one(play);
        play->now.y = (uint16_t)(play->now.y + 3);
    }
}

static void remove_dead(struct play *play, bool all)
{
    const haft_status expected = play->depth != 0 ? HAFT_IN_CALLBACK : HAFT_OK;

    tell(play, all ? "clear" : "refresh");
    if (expected == HAFT_OK) {
        play->removed = HAFT_NIL;
        play->is_clearing = all;
        play->done = 0;
        if (all) {
            list_all(&play->model);
        }
    }
    must_answer(all ? haft_packed_clear(play->packed) : haft_packed_refresh(play->packed), expected,
                "refresh or clear");
    if (expected == HAFT_OK) {
        finish_removal(play);
    }
}

static void refresh(struct play *play)
{
    remove_dead(play, false);
}

static void clear(struct play *play)
{
    if (play->now.y % 4 == 0) {
        remove_dead(play, true);
    } else {
        kill_one(play);
    }
}

/* --- sorting --- */

static int key_of(const struct play *play, uint64_t value)
{
    return (int)((value & 0xff) * (play->sort_key | 1) >> 2 & 7);
}

/* By a key of few values, so that many objects are equal; or without any sense at all. */
static int compare(const void *a, const void *b, void *arg)
{
    struct play *play = arg;
    uint64_t bytes[2] = {0, 0};

    memcpy(&bytes[0], a, 1);
    memcpy(&bytes[1], b, 1);
    play_nested(play);
    if (play->sort_key % 16 == 0) {
        return (int)(bytes[0] * 7 + bytes[1] * 13) % 3 - 1;
    }
    return key_of(play, bytes[0]) - key_of(play, bytes[1]);
}

static void sort_model(const struct play *play, struct model *model, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const haft_id id = model->order[i];
        const int key = key_of(play, model_slot(model, id)->value);
        uint64_t to = i;

        for (; to > 0 && key_of(play, model_slot(model, model->order[to - 1])->value) > key; to--) {
            model->order[to] = model->order[to - 1];
        }
        model->order[to] = id;
    }
}

/* All objects, or the first few. */
static void sort_by_key(struct play *play)
{
    const haft_status expected = play->depth != 0 ? HAFT_IN_CALLBACK : HAFT_OK;
    const bool all = play->now.x % 2 == 0;
    const uint64_t most = all ? UINT64_MAX : play->now.x / 4;
    const uint64_t count = most < play->model.count ? most : play->model.count;

    tell(play, "sort %llu by %u", (unsigned long long)count, play->now.y);
    if (expected == HAFT_OK) {
        play->sort_key = play->now.y;
    }
    must_answer(all ? haft_packed_sort(play->packed, compare, play)
                    : haft_packed_sort_n(play->packed, most, compare, play),
                expected, "sort");
    if (expected != HAFT_OK) {
        return;
    }
    if (play->sort_key % 16 == 0) {
        must_equal(haft_packed_count(play->packed), play->model.count, "count");
        learn_order(play);
    } else {
        sort_model(play, &play->model, count);
    }
}

static void order_as(struct model *model, const haft_id *ids, uint64_t count)
{
    haft_id order[MOST_SLOTS];
    uint64_t placed = 0;

    for (uint64_t i = 0; i < count + model->count; i++) {
        const haft_id id = i < count ? ids[i] : model->order[i - count];
        bool is_placed = !model_is_live(model, id);

        for (uint64_t k = 0; k < placed; k++) {
            is_placed |= haft_id_equal(order[k], id);
        }
        if (!is_placed) {
            order[placed++] = id;
        }
    }
    must_equal(placed, model->count, "objects in the order of a list");
    memcpy(model->order, order, (size_t)placed * sizeof order[0]);
}

static void sort_as(struct play *play)
{
    const haft_status expected = play->depth != 0 ? HAFT_IN_CALLBACK : HAFT_OK;
    const uint64_t count = play->now.y % 12u;
    haft_id ids[12];

    for (uint64_t i = 0; i < count; i++) {
        ids[i] = play_id(play);
        play->now.y = (uint16_t)(play->now.y * 5 + 3);
    }
    tell(play, "sort as %llu ids", (unsigned long long)count);
    must_answer(haft_packed_sort_as(play->packed, ids, count), expected, "sort_as");
    if (expected == HAFT_OK) {
        order_as(&play->model, ids, count);
    }
}

static void swap_two(struct play *play)
{
    struct model *model = &play->model;
    const haft_id a = play_id(play);

    play->now.y = (uint16_t)(play->now.y + 7);
    const haft_id b = play_id(play);
    haft_status expected = model_diagnose(model, a);

    expected = expected == HAFT_OK ? model_diagnose(model, b) : expected;
    expected = expected == HAFT_OK && play->depth != 0 ? HAFT_IN_CALLBACK : expected;
    tell(play, "swap %llx and %llx", (unsigned long long)a.bits, (unsigned long long)b.bits);
    must_answer(haft_packed_swap(play->packed, a, b), expected, "swap");
    if (expected == HAFT_OK) {
        const uint64_t at = position_of(model, a);

        model->order[position_of(model, b)] = a;
        model->order[at] = b;
    }
}

static void reorder(struct play *play)
{
    static void (*const ways[4])(struct play * play) = {sort_by_key, sort_by_key, sort_as,
                                                        swap_two};

    ways[play->now.x / 16 % 4](play);
}

/* --- looking --- */

static haft_packed_life life_of(struct model *model, haft_id id)
{
    if (!model_is_live(model, id)) {
        return HAFT_PACKED_UNUSED;
    }
    return model_slot(model, id)->dead ? HAFT_PACKED_DEAD : HAFT_PACKED_ALIVE;
}

static void look(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    const haft_status expected = model_diagnose(model, id);
    uint64_t position = UINT64_MAX;

    tell(play, "resolve %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    must_answer(haft_packed_diagnose(play->packed, id), expected, "diagnose");
    must_answer(haft_packed_position(play->packed, id, &position), expected, "position");
    must_be(haft_packed_is_live(view(play), id) == (expected == HAFT_OK), "is_live");
    must_equal(haft_packed_state(play->packed, id), life_of(model, id), "state");
    play_check_object(play, id, haft_packed_resolve(view(play), id));
    if (expected == HAFT_OK) {
        must_equal(position, position_of(model, id), "position");
    } else {
        must_equal(position, UINT64_MAX, "the position of what is not live");
    }
}

static void check_order(struct play *play)
{
    struct model *model = &play->model;
    const char *objects = haft_packed_objects(play->packed);

    for (uint64_t i = 0; i < model->count; i++) {
        const haft_id id = model->order[i];

        must_equal(haft_packed_ids(play->packed)[i].bits, id.bits, "the id in a position");
        must_equal(haft_packed_id_in(play->packed, i).bits, id.bits, "id_in");
        must_equal(haft_packed_state_in(play->packed, i), life_of(model, id), "state_in");
        if (!haft_id_is_nil(id)) {
            must_be(haft_packed_resolve(view(play), id) == objects + i * play->setup.object_size,
                    "an id leads to its position");
        }
    }
    must_be(haft_id_is_nil(haft_packed_id_in(play->packed, model->count)), "no id behind the last");
}

/* --- the whole --- */

void packed_open(struct play *play)
{
    const struct setup *setup = &play->setup;
    const haft_packed_options options = {
        .capacity = setup->capacity,
        .object_size = setup->object_size,
        .object_alignment = setup->object_alignment,
        .layout = setup->layout,
        .tag = setup->tag,
        .first_generation = setup->first_generation,
        .growth_step = setup->growth_step,
        .keep_order = setup->keep_order,
        .on_destroy = setup->destroys ? on_packed_destroy : NULL,
        .destroy_arg = play,
    };

    must_answer(haft_packed_open(&options, &play->packed), HAFT_OK, "packed_open");
}

void packed_check(struct play *play)
{
    check_counts(play);
    check_order(play);
    play_check_ids(play);
}

void packed_step(struct play *play)
{
    static void (*const steps[32])(struct play * play) = {
        insert,    insert,   insert,   insert,   insert,   insert_some, insert_some, insert_some,
        free_one,  free_one, free_one, free_one, kill_one, kill_one,    kill_one,    kill_some,
        kill_some, refresh,  refresh,  refresh,  clear,    reorder,     reorder,     look,
        look,      look,     insert,   kill_one, free_one, look,        insert_some, kill_some,
    };

    steps[play->now.code % 32](play);
    check_counts(play);
    if (play->depth == 0) {
        check_order(play);
    }
}

void packed_close(struct play *play)
{
    tell(play, "close");
    play->removed = HAFT_NIL;
    play->is_clearing = true;
    play->done = 0;
    list_all(&play->model);
    haft_packed_close(play->packed);
    if (play->setup.destroys) {
        must_be(haft_id_is_nil(next_to_go(play)), "close calls on_destroy for all objects");
    }
}
