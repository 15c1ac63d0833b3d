/* A table of one thread, and random calls of all its functions. */
#include "fuzz/exact.h"
#include "fuzz/target.h"
#include <haft/kit/restore.h>
#include <stdio.h>
#include <string.h>

/* The table that a callback is of: one at a time. */
static struct subject *playing;

uint64_t exact_draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545F4914F6CDD1D) >> 16;
}

void exact_must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

static uint64_t draw(struct subject *subject, uint64_t below)
{
    return exact_draw(&subject->mind.chance) % below;
}

static void note(struct subject *subject, uint64_t answer)
{
    subject->digest = (subject->digest ^ answer) * UINT64_C(0x9E3779B97F4A7C15);
    subject->digest ^= subject->digest >> 29;
}

/* --- ids known --- */

static void learn(struct subject *subject, haft_id id)
{
    struct mind *mind = &subject->mind;
    const uint64_t at = mind->ids_known < MIND_IDS ? mind->ids_known++ : draw(subject, MIND_IDS);

    mind->ids[at] = id;
}

static haft_id any_id(struct subject *subject)
{
    const haft_id nil = HAFT_NIL;

    return subject->mind.ids_known == 0 ? nil
                                        : subject->mind.ids[draw(subject, subject->mind.ids_known)];
}

/* --- callbacks --- */

static void insert_one(struct subject *subject);

static void free_one(struct subject *subject)
{
    const haft_id id = any_id(subject);

    note(subject, subject->local != NULL ? haft_local_free(subject->local, id)
                                         : haft_packed_free(subject->packed, id));
}

static void destroyed(void *object, haft_id id, void *arg)
{
    const struct body *body = object;

    (void)arg;
    note(playing, id.bits ^ body->value);
    if (playing->depth < 2 && draw(playing, 3) == 0) {
        playing->depth++;
        if (draw(playing, 2) == 0) {
            insert_one(playing);
        } else {
            free_one(playing);
        }
        playing->depth--;
    }
}

/* --- opening --- */

static void open_local(struct subject *subject, uint64_t *chance, uint64_t capacity)
{
    const bool is_fifo = exact_draw(chance) % 2 == 0;
    const haft_local_options options = {
        .capacity = capacity,
        .object_size = sizeof(struct body),
        .object_alignment = exact_draw(chance) % 3 == 0 ? 32 : 8,
        .layout = subject->layout,
        .tag = exact_draw(chance) % 2,
        .first_generation = 1 + exact_draw(chance) % 3,
        .sites = exact_draw(chance) % 8 == 0,
        .reuse = is_fifo ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
        .min_free = is_fifo ? exact_draw(chance) % 20 : 0,
        .wrap = exact_draw(chance) % 3 == 0,
        .pins = exact_draw(chance) % 4 == 0,
        .on_destroy = subject->destroys ? destroyed : NULL,
        .on_leak = NULL,
    };

    exact_must(haft_local_open(&options, &subject->local) == HAFT_OK, "a table is opened");
}

static void open_packed(struct subject *subject, uint64_t *chance, uint64_t capacity)
{
    const haft_packed_options options = {
        .capacity = capacity,
        .object_size = sizeof(struct body),
        .layout = subject->layout,
        .tag = exact_draw(chance) % 2,
        .first_generation = 1 + exact_draw(chance) % 3,
        .growth_step = exact_draw(chance) % 3 * 16,
        .keep_order = exact_draw(chance) % 2 == 0,
        .on_destroy = subject->destroys ? destroyed : NULL,
    };

    exact_must(haft_packed_open(&options, &subject->packed) == HAFT_OK, "a table is opened");
}

/* Few lives to a slot often, and slots in pages at times: else they are in the heap. */
void subject_open(struct subject *subject, uint64_t chance)
{
    const haft_layout few = {14, 2, 1, 0};
    const haft_layout many = {16, 16, 1, 0};
    const uint64_t capacity = exact_draw(&chance) % 12 == 0 ? 3000 + exact_draw(&chance) % 3000
                                                            : 1 + exact_draw(&chance) % 60;

    memset(subject, 0, sizeof *subject);
    subject->layout = exact_draw(&chance) % 2 == 0 ? few : many;
    subject->destroys = exact_draw(&chance) % 2 == 0;
    subject->mind.chance = chance;
    if (exact_draw(&chance) % 3 != 0) {
        open_local(subject, &chance, capacity);
    } else {
        open_packed(subject, &chance, capacity);
    }
}

void subject_close(struct subject *subject)
{
    playing = subject;
    if (subject->local != NULL) {
        haft_local_set_destroy(subject->local, NULL, NULL);
        haft_local_clear(subject->local); /* so that none is said to be lost */
        haft_local_close(subject->local);
    } else {
        haft_packed_close(subject->packed);
    }
}

/* --- steps --- */

static void insert_one(struct subject *subject)
{
    const struct body body = {draw(subject, 1000), {any_id(subject), any_id(subject)}};
    const void *object = draw(subject, 8) == 0 ? NULL : &body;
    haft_id id = HAFT_NIL;

    note(subject, subject->local != NULL ? haft_local_insert(subject->local, object, &id)
                                         : haft_packed_insert(subject->packed, object, &id));
    note(subject, id.bits);
    if (!haft_id_is_nil(id)) {
        learn(subject, id);
    }
}

static struct body *find(const struct subject *subject, haft_id id)
{
    return subject->local != NULL ? haft_resolve(haft_local_view(subject->local), id)
                                  : haft_packed_resolve(haft_packed_view(subject->packed), id);
}

static void write_one(struct subject *subject)
{
    const haft_id id = any_id(subject);
    struct body *body = find(subject, id);

    note(subject, body != NULL);
    if (body != NULL) {
        body->value += draw(subject, 100);
        body->joints[draw(subject, 2)] = any_id(subject);
    }
}

static void reserve_one(struct subject *subject)
{
    haft_id id = HAFT_NIL;
    void *object;
    const haft_status status = haft_local_reserve(subject->local, &id, &object);

    note(subject, id.bits ^ (uint64_t)status);
    if (status == HAFT_OK && draw(subject, 2) == 0) {
        memset(object, 7, sizeof(struct body));
        haft_local_publish(subject->local, id);
        learn(subject, id);
    } else if (status == HAFT_OK) {
        haft_local_abort(subject->local, id);
    }
}

/* Some slot's next life, or a later one. */
static haft_id next_of(struct subject *subject)
{
    haft_id id = any_id(subject);

    haft_local_id_at(subject->local, haft_id_index(subject->layout, id) + draw(subject, 3), &id);
    id.bits += draw(subject, 2) << subject->layout.index_bits;
    return id;
}

static void restore_one(struct subject *subject)
{
    const struct body body = {draw(subject, 1000), {any_id(subject), any_id(subject)}};
    const haft_id id = next_of(subject);

    if (draw(subject, 3) == 0) {
        note(subject, haft_local_restore_free(subject->local, id));
        return;
    }
    const bool reserves = draw(subject, 4) == 0;
    const haft_status status = reserves ? haft_local_reserve_at(subject->local, id, NULL)
                                        : haft_local_restore(subject->local, id, &body);

    note(subject, id.bits ^ (uint64_t)status << 56);
    if (status == HAFT_OK) {
        learn(subject, id);
    }
    if (status == HAFT_OK && reserves) {
        haft_local_abort(subject->local, id);
    }
}

static void load_some(struct subject *subject)
{
    haft_local_load_begin(subject->local);
    for (uint64_t i = draw(subject, 6); i-- > 0;) {
        restore_one(subject);
    }
    haft_local_load_end(subject->local);
}

/* Bodies that are joined to one that is gone go as well. */
static bool break_joints(haft_id id, void *object, void *arg)
{
    struct subject *subject = arg;
    const struct body *body = object;

    note(subject, id.bits);
    if (find(subject, body->joints[0]) == NULL && body->value % 2 == 0) {
        note(subject, haft_local_free(subject->local, id));
    }
    return true;
}

static void trim(struct subject *subject)
{
    uint64_t released = 0;

    note(subject, haft_local_trim(subject->local, &released));
    note(subject, released);
}

static void step_local(struct subject *subject)
{
    switch (draw(subject, 64)) {
    case 0:
        trim(subject);
        break;
    case 1:
    case 2:
        load_some(subject);
        break;
    case 3:
        if (draw(subject, 8) == 0) {
            note(subject, haft_local_clear(subject->local));
        }
        break;
    case 4:
        note(subject, haft_local_reserve_capacity(subject->local, draw(subject, 20)));
        break;
    case 5:
        note(subject, haft_local_for_each(subject->local, break_joints, subject));
        break;
    case 6:
    case 7:
        restore_one(subject);
        break;
    case 8:
    case 9:
    case 10:
        reserve_one(subject);
        break;
    default:
        note(subject, haft_local_diagnose(subject->local, any_id(subject)));
    }
}

static int by_value(const void *a, const void *b, void *arg)
{
    const struct body *x = a;
    const struct body *y = b;

    (void)arg;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void reorder(struct subject *subject)
{
    const haft_id ids[3] = {any_id(subject), any_id(subject), any_id(subject)};

    switch (draw(subject, 3)) {
    case 0:
        note(subject, haft_packed_sort_n(subject->packed, draw(subject, 80), by_value, NULL));
        break;
    case 1:
        note(subject, haft_packed_sort_as(subject->packed, ids, 3));
        break;
    default:
        note(subject, haft_packed_swap(subject->packed, ids[0], ids[1]));
    }
}

static void step_packed(struct subject *subject)
{
    switch (draw(subject, 24)) {
    case 0:
        reorder(subject);
        break;
    case 1:
    case 2:
        note(subject, haft_packed_refresh(subject->packed));
        break;
    case 3:
        if (draw(subject, 8) == 0) {
            note(subject, haft_packed_clear(subject->packed));
        }
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        note(subject, haft_packed_kill(subject->packed, any_id(subject)));
        break;
    default:
        note(subject, haft_packed_diagnose(subject->packed, any_id(subject)));
    }
}

static void step(struct subject *subject)
{
    switch (draw(subject, 4)) {
    case 0:
        insert_one(subject);
        break;
    case 1:
        free_one(subject);
        break;
    case 2:
        write_one(subject);
        break;
    default:
        if (subject->local != NULL) {
            step_local(subject);
        } else {
            step_packed(subject);
        }
    }
}

/* --- what the table is --- */

static void note_object(struct subject *subject, haft_id id, const struct body *body)
{
    note(subject, id.bits);
    note(subject, body->value);
    note(subject, body->joints[0].bits ^ body->joints[1].bits << 1);
}

static bool note_slot(haft_id id, void *object, void *arg)
{
    note(arg, id.bits);
    if (object != NULL) {
        note_object(arg, id, object);
    }
    return true;
}

static void look_local(struct subject *subject)
{
    const haft_local_stats stats = haft_local_stats_get(subject->local);
    haft_run run =
        haft_run_over(haft_local_view(subject->local), haft_local_used_range(subject->local));
    haft_id id;
    void *object;

    haft_local_for_each_slot(subject->local, note_slot, subject);
    while (haft_run_next(&run, &id, &object)) {
        note_object(subject, id, object);
    }
    note(subject, stats.live ^ stats.free << 16 ^ stats.exhausted << 32);
    note(subject, stats.released ^ stats.high_water << 20 ^ stats.limit << 40);
    note(subject, haft_local_available(subject->local));
}

static void look_packed(struct subject *subject)
{
    for (uint64_t i = 0; i < haft_packed_count(subject->packed); i++) {
        const struct body *bodies = haft_packed_objects(subject->packed);

        note_object(subject, haft_packed_id_in(subject->packed, i), &bodies[i]);
        note(subject, haft_packed_state_in(subject->packed, i));
    }
    note(subject, haft_packed_available(subject->packed));
}

uint64_t subject_look(struct subject *subject)
{
    haft_id id;

    playing = subject;
    subject->digest = 1;
    if (subject->local != NULL) {
        look_local(subject);
    } else {
        look_packed(subject);
    }
    for (uint64_t index = 0; index < 70; index++) {
        const haft_status status = subject->local != NULL
                                       ? haft_local_id_at(subject->local, index, &id)
                                       : haft_packed_id_at(subject->packed, index, &id);

        note(subject, status == HAFT_OUT_OF_RANGE ? 0 : id.bits ^ (uint64_t)status << 56);
    }
    return subject->digest;
}

uint64_t subject_play(struct subject *subject, uint64_t steps)
{
    playing = subject;
    subject->digest = 0;
    for (; steps > 0; steps--) {
        step(subject);
    }
    const uint64_t answers = subject->digest;

    return answers ^ subject_look(subject) ^ subject->mind.chance;
}

/* --- the state as a whole --- */

struct subject subject_clone(struct subject *subject)
{
    struct subject clone = *subject;
    const haft_status status = subject->local != NULL
                                   ? haft_local_clone(subject->local, &clone.local)
                                   : haft_packed_clone(subject->packed, &clone.packed);

    exact_must(status == HAFT_OK, "a clone");
    return clone;
}

haft_status subject_snapshot(struct subject *subject, haft_history *history, uint64_t *number)
{
    return subject->local != NULL ? haft_local_snapshot(subject->local, history, number)
                                  : haft_packed_snapshot(subject->packed, history, number);
}

haft_status subject_rewind(struct subject *subject, haft_history *history, uint64_t number)
{
    return subject->local != NULL ? haft_local_rewind(subject->local, history, number)
                                  : haft_packed_rewind(subject->packed, history, number);
}

haft_status subject_save(struct subject *subject, haft_file *file)
{
    return subject->local != NULL ? haft_local_save(subject->local, file)
                                  : haft_packed_save(subject->packed, file);
}

haft_status subject_load(struct subject *subject, haft_file *file)
{
    return subject->local != NULL ? haft_local_load(subject->local, file)
                                  : haft_packed_load(subject->packed, file);
}
