/*
 * haft_local against a plain model: random operations of all kinds, for each order of reuse, with
 * and without wrap and destructor, on tiny layouts whose slots run out of generations and whose
 * pages hold a slot or two, so that trimming meets every state.
 *
 * After each step      count and available are the model's
 * Every so often       every pattern of the layout resolves exactly if the model has it live, to an
 *                      object that says the same, and no id is issued twice (but with wrap)
 * At each use          min_free lives have ended since the slot's end, but before a load_end()
 * In half the runs     ids are restored, too
 * Half the time        objects are inserted and freed in place (haft/detail/local_front.h)
 */
#include "tests/support.h"
#include <haft/detail/local_front.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BITS 12

struct setup {
    haft_layout layout;
    uint64_t capacity;
    size_t object_size; /* about a page: a run of pages has a slot or two */
    uint64_t min_free;
    haft_local_reuse reuse;
    int wrap;
    int destroy;
};

#define SETUPS 10
static const struct setup setups[SETUPS] = {
    {{3, 2, 0, 0}, 4, 4088, 0, HAFT_REUSE_LIFO, 0, 0},
    {{3, 2, 0, 0}, 4, 4088, 0, HAFT_REUSE_FIFO, 0, 1},
    {{4, 3, 0, 0}, 12, 2040, 0, HAFT_REUSE_LIFO, 0, 1},
    {{4, 3, 0, 0}, 8, 2040, 4, HAFT_REUSE_FIFO, 0, 0},
    {{4, 3, 2, 0}, 9, 4088, 3, HAFT_REUSE_FIFO, 0, 1},
    {{4, 2, 0, 0}, 9, 4088, 3, HAFT_REUSE_FIFO, 1, 1},
    {{5, 3, 1, 0}, 28, 1016, 0, HAFT_REUSE_LIFO, 1, 0},
    {{6, 6, 0, 0}, 40, 1016, 20, HAFT_REUSE_FIFO, 0, 0},
    {{6, 6, 0, 0}, 60, 4088, 0, HAFT_REUSE_LIFO, 0, 0},
    {{6, 5, 1, 0}, 50, 504, 10, HAFT_REUSE_FIFO, 0, 1},
};

struct model {
    const struct setup *setup;
    haft_local *local;
    uint64_t tag;
    uint64_t seed;
    uint64_t seed_of_run;
    bool issued[1 << MOST_BITS];
    bool live[1 << MOST_BITS];
    uint64_t live_count;
    uint64_t destroyed;
    uint64_t freed;
    uint64_t given_back;
    uint64_t ended;        /* lives */
    uint64_t ended_at[64]; /* of them, when the slot's last life ended; 0: it had none */
    haft_id held[64];
    uint64_t held_count;
};

static uint64_t below(struct model *model, uint64_t end)
{
    return random_next(&model->seed) % end;
}

static void destroyed(void *object, haft_id id, void *arg)
{
    struct model *model = arg;

    must(memcmp(object, &id.bits, sizeof id.bits) == 0);
    must(!haft_is_live(haft_local_view(model->local), id));
    must(haft_local_free(model->local, id) == HAFT_STALE);
    model->destroyed++;
}

static struct model *model_open(const struct setup *setup, uint64_t seed)
{
    struct model *model = calloc(1, sizeof *model);

    must(model != NULL);
    model->setup = setup;
    model->seed = seed * UINT64_C(0x9e3779b97f4a7c15);
    model->seed_of_run = seed;
    model->tag = haft_field_max(setup->layout.tag_bits);
    const haft_local_options options = {
        .capacity = setup->capacity,
        .object_size = setup->object_size,
        .layout = setup->layout,
        .tag = model->tag,
        .reuse = setup->reuse,
        .min_free = setup->min_free,
        .wrap = setup->wrap != 0,
        .on_destroy = setup->destroy ? destroyed : NULL,
        .destroy_arg = model,
    };
    must(haft_local_open(&options, &model->local) == HAFT_OK);
    return model;
}

/* --- steps --- */

static bool restores(const struct model *model)
{
    return model->setup->capacity % 2 == model->seed_of_run % 2;
}

static void taken(struct model *model, haft_id id)
{
    const uint64_t at = model->ended_at[haft_id_index(model->setup->layout, id)];

    must(at == 0 || model->ended - at >= model->setup->min_free);
}

static void ended(struct model *model, haft_id id)
{
    model->ended_at[haft_id_index(model->setup->layout, id)] = ++model->ended;
}

static void came_to_life(struct model *model, haft_id id)
{
    void *object = haft_resolve(haft_local_view(model->local), id);

    must(id.bits < 1 << MOST_BITS && object != NULL);
    must(model->setup->wrap || !model->issued[id.bits]);
    must(!model->live[id.bits]);
    must(memcpy(object, &id.bits, sizeof id.bits) == object);
    model->issued[id.bits] = true;
    model->live[id.bits] = true;
    model->live_count++;
}

/* In place, or by a call: nobody can tell. */
static haft_status insert_object(struct model *model, haft_id *id)
{
    static const char zeros[4096];
    const haft_view view = haft_local_view(model->local);
    const void *object = below(model, 8) == 0 ? NULL : zeros;

    return below(model, 2) == 0
               ? haft_local_insert(model->local, object, id)
               : haft_local_insert_front(model->local, view, object, model->setup->object_size, id);
}

static haft_status free_object(struct model *model, haft_id id)
{
    const haft_view view = haft_local_view(model->local);

    return below(model, 2) == 0 ? haft_local_free(model->local, id)
                                : haft_local_free_front(model->local, view, id);
}

static void step_insert(struct model *model)
{
    const uint64_t available = haft_local_available(model->local);
    haft_id id = {0x5a5a};
    const haft_status status = insert_object(model, &id);

    must(status == (available == 0 ? HAFT_FULL : HAFT_OK));
    if (status == HAFT_OK) {
        taken(model, id);
        came_to_life(model, id);
    }
}

static void step_reserve(struct model *model)
{
    haft_id id = {0x5a5a};
    const bool fits = haft_local_available(model->local) != 0;

    must(haft_local_reserve(model->local, &id, NULL) == (fits ? HAFT_OK : HAFT_FULL));
    if (fits) {
        must(haft_local_diagnose(model->local, id) == HAFT_RESERVED);
        taken(model, id);
        model->held[model->held_count++] = id;
    }
}

static void step_settle(struct model *model)
{
    if (model->held_count == 0) {
        return;
    }
    const uint64_t which = below(model, model->held_count);
    const haft_id id = model->held[which];

    model->held[which] = model->held[--model->held_count];
    if (below(model, 2) == 0) {
        haft_local_publish(model->local, id);
        came_to_life(model, id);
    } else {
        haft_local_abort(model->local, id);
        model->issued[id.bits] = true;
        ended(model, id);
    }
}

static void step_free(struct model *model)
{
    const uint64_t patterns = UINT64_C(1) << MOST_BITS;
    const uint64_t start = below(model, patterns);

    for (uint64_t i = 0; i < patterns; i++) {
        const haft_id id = {(start + i) % patterns};

        if (model->live[id.bits]) {
            must(free_object(model, id) == HAFT_OK);
            must(free_object(model, id) != HAFT_OK);
            model->live[id.bits] = false;
            model->live_count--;
            model->freed++;
            ended(model, id);
            return;
        }
    }
}

static void step_clear(struct model *model)
{
    haft_local_clear(model->local);
    for (uint64_t i = 0; i < model->held_count; i++) {
        model->issued[model->held[i].bits] = true;
        model->live[model->held[i].bits] = true;
    }
    for (uint64_t index = 0; index < 64; index++) { /* in this order they end */
        for (uint64_t bits = 0; bits < 1 << MOST_BITS; bits++) {
            if (model->live[bits] &&
                haft_id_index(model->setup->layout, (haft_id){bits}) == index) {
                ended(model, (haft_id){bits});
            }
        }
    }
    model->freed += model->live_count;
    model->held_count = 0;
    model->live_count = 0;
    memset(model->live, 0, sizeof model->live);
}

/* An id that may come to life under a random pattern does, one that may not does not. */
static void step_restore(struct model *model)
{
    const haft_id id = {below(model, UINT64_C(1) << MOST_BITS)};
    const uint64_t available = haft_local_available(model->local);
    const haft_status said = haft_local_restore(model->local, id, NULL);

    must(said != HAFT_OK || available != 0);
    if (said == HAFT_OK) {
        came_to_life(model, id);
    } else {
        must(haft_local_available(model->local) == available);
    }
}

static void check_everything(struct model *model)
{
    const haft_view view = haft_local_view(model->local);

    for (uint64_t bits = 0; bits < 1 << MOST_BITS; bits++) {
        const haft_id id = {bits};
        const uint64_t *object = haft_resolve(view, id);

        must((object != NULL) == model->live[bits]);
        must(object == NULL || *object == bits);
        must((haft_local_diagnose(model->local, id) == HAFT_OK) == model->live[bits]);
        must(!model->issued[bits] || haft_local_diagnose(model->local, id) != HAFT_NEVER_ISSUED);
    }
}

static void step(struct model *model)
{
    const uint64_t what = below(model, 200);

    if (what < 80) {
        step_insert(model);
    } else if (what < 90) {
        step_reserve(model);
    } else if (what < 105) {
        step_settle(model);
    } else if (what < 184) {
        step_free(model);
    } else if (what < 185) {
        step_clear(model);
    } else if (what < 190) {
        uint64_t bytes;
        must(haft_local_trim(model->local, &bytes) == HAFT_OK);
        model->given_back += bytes;
    } else if (what < 192 && restores(model)) {
        step_restore(model);
    } else if (what < 194) {
        const uint64_t available = haft_local_available(model->local);
        must(haft_local_reserve_capacity(model->local, available) == HAFT_OK);
        must(haft_local_reserve_capacity(model->local, available + 1) == HAFT_FULL);
    } else if (what < 195 && restores(model)) {
        haft_local_load_begin(model->local);
        step_restore(model);
        step_free(model);
        step_restore(model);
        haft_local_load_end(model->local);
        memset(model->ended_at, 0, sizeof model->ended_at); /* a new queue */
    }
}

/* Until the table is worn out: then all slots are exhausted and nothing fits. */
static uint64_t run(const struct setup *setup, uint64_t seed)
{
    struct model *model = model_open(setup, seed);

    for (int i = 0; i < 400; i++) {
        step(model);
        must(haft_local_count(model->local) == model->live_count);
        must(haft_local_is_empty(model->local) == (model->live_count == 0));
        must(haft_local_available(model->local) + model->live_count + model->held_count <=
             setup->capacity);
        must(model->destroyed == (setup->destroy ? model->freed : 0));
        if (i % 16 == 0) {
            check_everything(model);
        }
    }
    check_everything(model);
    const uint64_t freed = model->freed + model->live_count;
    const uint64_t given_back = model->given_back;

    haft_local_close(model->local);
    must(model->destroyed == (setup->destroy ? freed : 0));
    free(model);
    expect_no_leaks();
    return given_back;
}

TestSuite(model, .timeout = SUITE_SECONDS);

ParameterizedTestParameters(model, random_steps_agree_with_the_model)
{
    static struct setup all[SETUPS];
    memcpy(all, setups, sizeof setups);
    return cr_make_param_array(struct setup, all, SETUPS);
}

ParameterizedTest(struct setup *setup, model, random_steps_agree_with_the_model)
{
    uint64_t given_back = 0;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        given_back += run(setup, seed);
    }
    cr_expect(gt(u64, given_back, 0)); /* trimming met something to give back */
}
