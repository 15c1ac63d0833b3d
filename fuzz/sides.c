/*
 * Sides of a haft_local beside the model, and states that it goes back to.  on_end carries
 * operations out, as on_destroy does: it may free, rewind, and set values.
 */
#include "fuzz/play.h"
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIDES 3
#define MOST_KEPT 2

struct value {
    uint64_t id; /* 0: none */
    uint64_t value;
    bool is_ending; /* on_end runs for it */
    bool is_due;    /* it will, when an on_end of the side has returned */
};

struct side {
    struct play *play;
    haft_side *side; /* NULL: none is open */
    size_t size;     /* of a value */
    bool has_end;
    bool is_ending; /* an on_end runs */
    uint64_t ends;  /* values that have ended */
    uint64_t opens; /* how often one was opened in this place */
    struct value values[MOST_SLOTS];
};

/* What a snapshot keeps: of a side, if the same one is open, and has no on_end. */
struct kept {
    struct model model;
    uint64_t opens[MOST_SIDES]; /* 0: none was open */
    struct value values[MOST_SIDES][MOST_SLOTS];
};

struct sides {
    struct side all[MOST_SIDES];
    haft_history *history;
    struct kept kept[MOST_KEPT]; /* of snapshot n, in place n % MOST_KEPT */
    uint64_t rewinds;
    bool is_rewinding;
    unsigned rewinds_within; /* one within another, by way of on_end */
};

/* --- values --- */

static struct side *side_at_hand(struct play *play)
{
    return &play->sides->all[(play->now.x >> 4) % MOST_SIDES];
}

static struct value *value_of(struct side *side, haft_id id)
{
    const uint64_t index = haft_id_index(side->play->model.layout, id);

    return index < MOST_SLOTS && side->values[index].id == id.bits && id.bits != 0
               ? &side->values[index]
               : NULL;
}

static void check_bytes(const struct side *side, const struct value *value, const void *bytes)
{
    must_be(memcmp(bytes, &value->value, side->size) == 0, "a value is the stored one");
    must_be((uintptr_t)bytes % sizeof(uint64_t) == 0, "a value is aligned");
}

static void forget_value(struct side *side, struct value *value)
{
    *value = (struct value){0};
    side->ends++;
}

static bool can_be_found(const struct value *value)
{
    return value != NULL && value->id != 0 && !value->is_ending && !value->is_due;
}

/* A rewind inside an on_end of the side makes its values due, one after the other. */
static void note_due(const struct side *side, struct value *value)
{
    if (side->is_ending && can_be_found(value) && side->play->sides->rewinds_within != 0) {
        value->is_due = haft_side_get(haft_side_entries(side->side), (haft_id){value->id}) == NULL;
    }
}

static void check_value(struct side *side, haft_id id)
{
    struct value *value = value_of(side, id);
    const void *found = haft_side_get(haft_side_entries(side->side), id);

    note_due(side, value);
    if ((found != NULL) != can_be_found(value)) {
        differ("id %llx has %s value", (unsigned long long)id.bits, found != NULL ? "a" : "no");
    }
    if (found != NULL) {
        check_bytes(side, value, found);
    }
}

static void on_end(void *bytes, haft_id id, void *arg)
{
    struct side *side = arg;
    struct play *play = side->play;
    struct value *value = value_of(side, id);

    tell(play, "  on_end %llx", (unsigned long long)id.bits);
    must_be(value != NULL && !value->is_ending, "on_end is for a value that is there");
    must_be(!side->is_ending, "no on_end of a side runs inside another");
    check_bytes(side, value, bytes);
    const bool was_rewinding = play->sides->is_rewinding;

    side->is_ending = true;
    value->is_due = false;
    value->is_ending = true;
    must_be(haft_side_get(haft_side_entries(side->side), id) == NULL, "what ends is not found");
    play_nested(play);
    play->sides->is_rewinding = was_rewinding;
    must_be(value->is_ending && value->id == id.bits, "the entry is taken until on_end returns");
    check_bytes(side, value, bytes);
    forget_value(side, value);
    side->is_ending = false;
}

/* --- the calls --- */

static void open_side(struct play *play)
{
    struct side *side = side_at_hand(play);
    const bool has_end = play->now.y % 4 != 0;
    const haft_side_options options = {
        .value_size = play->now.y % 8u,
        .on_end = has_end ? on_end : NULL,
        .end_arg = side,
    };

    if (side->side != NULL || play->closing) {
        return;
    }
    tell(play, "side_open %d: %zu bytes%s", (int)(side - play->sides->all), options.value_size,
         has_end ? ", on_end" : "");
    side->play = play;
    side->size = options.value_size;
    side->opens++;
    side->has_end = has_end;
    haft_side *opened = NULL;

    must_answer(haft_side_open_local(play->local, &options, &opened),
                play->model.wraps ? HAFT_BAD_WRAP : HAFT_OK, "side_open");
    side->side = opened;
}

/* An id that may have a value, or why not. */
static haft_status diagnosis(struct play *play, haft_id id)
{
    const haft_status status = model_diagnose(&play->model, id);

    return status == HAFT_RESERVED ? HAFT_OK : status;
}

/* Before the call: whether the entry may be set for an id that may have a value, or why not. */
static haft_status claim_value(struct side *side, struct value *value, haft_id id)
{
    note_due(side, value);
    if (value->is_ending || value->is_due) {
        return HAFT_BUSY;
    }
    if (value->id == id.bits) {
        return HAFT_OCCUPIED;
    }
    if (!side->has_end) {
        *value = (struct value){0};
    }
    value->is_due = value->id != 0 && side->is_ending;
    return value->is_due ? HAFT_BUSY : HAFT_OK;
}

static void set(struct play *play)
{
    struct side *side = side_at_hand(play);
    const haft_id id = play_id(play);
    const uint64_t number = ++play->model.next_value;
    const uint64_t index = haft_id_index(play->model.layout, id);
    haft_status expected = diagnosis(play, id);
    void *place = NULL;

    if (side->side == NULL) {
        return;
    }
    check_value(side, id);
    struct value *value = index < MOST_SLOTS ? &side->values[index] : NULL;

    expected = expected == HAFT_OK ? claim_value(side, value, id) : expected;
    tell(play, "side_set %d %llx: %s", (int)(side - play->sides->all), (unsigned long long)id.bits,
         haft_status_name(expected));
    play->at_hand = id;
    const haft_status said = haft_side_set(side->side, id, &number, &place);

    play->at_hand = (haft_id)HAFT_NIL;
    if (expected == HAFT_OK) {
        expected = value->id == 0         ? diagnosis(play, id) /* after on_end */
                   : value->id == id.bits ? HAFT_OCCUPIED       /* set by another on_end */
                                          : HAFT_BUSY;
    }
    if (said == HAFT_OK) {
        *value = (struct value){.id = id.bits, .value = number};
    }
    if (expected != HAFT_OK && expected != HAFT_BUSY && expected != HAFT_OCCUPIED) {
        must_be(said != HAFT_OK, "no value for such an id");
        play_must_diagnose(play, id, said, "side_set");
        return;
    }
    must_answer(said, expected, "side_set");
    must_be((place != NULL) == (said != HAFT_BUSY), "the place of a value");
    check_value(side, id);
}

static void get(struct play *play)
{
    struct side *side = side_at_hand(play);
    const haft_id id = play_id(play);

    if (side->side == NULL) {
        return;
    }
    void *object = NULL;
    const void *found = haft_side_find(haft_side_entries(side->side), play->view, id, &object);

    check_value(side, id);
    play_check_object(play, id, object);
    must_be((found != NULL) ==
                (object != NULL && haft_side_get(haft_side_entries(side->side), id) != NULL),
            "what side_find gives");
}

static void remove_one(struct play *play)
{
    struct side *side = side_at_hand(play);
    const haft_id id = play_id(play);

    if (side->side == NULL) {
        return;
    }
    check_value(side, id);
    struct value *value = value_of(side, id);
    const uint64_t ends = side->ends;
    const bool expected = can_be_found(value);

    tell(play, "side_remove %d %llx: %d", (int)(side - play->sides->all),
         (unsigned long long)id.bits, expected);
    if (expected && !side->has_end) {
        forget_value(side, value);
    }
    must_be(haft_side_remove(side->side, id) == expected, "what side_remove answers");
    if (expected && side->is_ending && side->has_end) {
        value->is_due = true;
    } else {
        must_be(!expected || side->ends != ends, "what is removed has ended");
    }
}

static bool is_dead(struct side *side, const struct value *value)
{
    const haft_id id = {value->id};

    return can_be_found(value) && diagnosis(side->play, id) != HAFT_OK;
}

static void sweep(struct play *play)
{
    struct side *side = side_at_hand(play);
    const uint64_t rewinds = play->sides->rewinds;
    const unsigned budget = play->budget;
    uint64_t *dead = calloc(MOST_SLOTS, sizeof *dead);
    uint64_t wanted = 0;

    for (uint64_t i = 0; side->side != NULL && i < MOST_SLOTS; i++) {
        if (is_dead(side, &side->values[i])) {
            check_value(side, (haft_id){side->values[i].id});
        }
        if (is_dead(side, &side->values[i])) {
            dead[i] = side->values[i].id;
            wanted++;
        }
        if (dead[i] != 0 && !side->has_end) {
            forget_value(side, &side->values[i]);
        }
    }
    if (side->side != NULL) {
        tell(play, "side_sweep %d: %llu", (int)(side - play->sides->all),
             (unsigned long long)wanted);
        const uint64_t swept = haft_side_sweep(side->side);

        must_be(swept == wanted || budget != play->budget, "how many values are swept");
    }
    for (uint64_t i = 0; i < MOST_SLOTS && side->is_ending; i++) {
        side->values[i].is_due |= dead[i] != 0;
    }
    for (uint64_t i = 0; i < MOST_SLOTS && rewinds == play->sides->rewinds; i++) {
        must_be(dead[i] == 0 || side->values[i].id != dead[i] || side->values[i].is_due,
                "sweeping ends dead values");
    }
    free(dead);
}

struct tour {
    struct side *side;
    uint64_t next; /* index */
};

static bool visit_value(haft_id id, void *object, void *bytes, void *arg)
{
    struct tour *tour = arg;
    struct side *side = tour->side;
    const uint64_t index = haft_id_index(side->play->model.layout, id);
    const struct value *value = value_of(side, id);

    must_be(index >= tour->next && can_be_found(value), "a visit of a value");
    for (; tour->next < index; tour->next++) {
        const struct value *passed = &side->values[tour->next];

        must_be(!can_be_found(passed) || !model_is_live(&side->play->model, (haft_id){passed->id}),
                "a walk leaves no value out");
    }
    tour->next++;
    check_bytes(side, value, bytes);
    play_check_object(side->play, id, object);
    return true;
}

static void walk_side(struct play *play)
{
    struct side *side = side_at_hand(play);
    struct tour tour = {side, 0};

    if (side->side != NULL) {
        const uint64_t visited = haft_side_for_each(side->side, visit_value, &tour);

        tell(play, "side_for_each %d: %llu", (int)(side - play->sides->all),
             (unsigned long long)visited);
    }
}

static void close_one(struct play *play, struct side *side)
{
    if (side->side == NULL) {
        return;
    }
    tell(play, "side_close %d", (int)(side - play->sides->all));
    haft_side_close(side->side);
    for (uint64_t i = 0; i < MOST_SLOTS; i++) {
        must_be(side->values[i].id == 0 || !side->has_end, "closing ends all values");
        side->values[i] = (struct value){0};
    }
    side->side = NULL;
}

/* A side whose values end is not closed in between. */
static void close_at_hand(struct play *play)
{
    if (play->depth == 0) {
        close_one(play, side_at_hand(play));
    }
}

/* --- states --- */

static haft_status check_moment(const struct play *play)
{
    const struct model *model = &play->model;

    if (model->is_loading && !play->closing) {
        return HAFT_LOADING;
    }
    return model->counts[TAKEN] + model->counts[ENDING] != 0 || play->destroying != 0 ||
                   play->sides->is_rewinding
               ? HAFT_IN_USE
               : HAFT_OK;
}

static void keep(struct play *play, struct kept *kept)
{
    kept->model = play->model;
    for (int i = 0; i < MOST_SIDES; i++) {
        const struct side *side = &play->sides->all[i];

        kept->opens[i] = side->side != NULL && !side->has_end ? side->opens : 0;
        memcpy(kept->values[i], side->values, sizeof side->values);
    }
}

static void snapshot(struct play *play)
{
    struct sides *sides = play->sides;
    uint64_t number = UINT64_MAX;
    const haft_status expected = check_moment(play);

    if (sides->history == NULL) {
        must_answer(haft_history_open(&(haft_history_options){.keep = MOST_KEPT}, &sides->history),
                    HAFT_OK, "history_open");
    }
    must_answer(haft_local_snapshot(play->local, sides->history, &number), expected, "snapshot");
    tell(play, "snapshot %llu", (unsigned long long)number);
    if (expected == HAFT_OK) {
        keep(play, &sides->kept[number % MOST_KEPT]);
    }
}

/* All values with on_end have ended, those that were set meanwhile too. */
static void check_ends(struct play *play)
{
    for (int i = 0; i < MOST_SIDES; i++) {
        struct side *side = &play->sides->all[i];

        for (uint64_t at = 0; at < MOST_SLOTS; at++) {
            note_due(side, &side->values[at]);
            must_be(!side->has_end || !can_be_found(&side->values[at]),
                    "a rewind ends all values with on_end");
        }
    }
}

static void become(struct play *play, const struct kept *kept)
{
    struct model *model = &play->model;
    const uint64_t next_value = model->next_value;

    *model = kept->model;
    model->next_value = next_value;
    play->sides->rewinds++;
    for (int i = 0; i < MOST_SIDES; i++) {
        struct side *side = &play->sides->all[i];

        if (side->side != NULL && !side->has_end && kept->opens[i] == side->opens) {
            memcpy(side->values, kept->values[i], sizeof side->values);
        } else if (!side->has_end) {
            memset(side->values, 0, sizeof side->values);
        }
    }
}

static void go_back(struct play *play)
{
    struct sides *sides = play->sides;
    const bool outer = sides->is_rewinding;
    const haft_range kept =
        sides->history != NULL ? haft_history_kept(sides->history) : HAFT_RANGE(0, 0);
    const uint64_t number = kept.from + play->now.y % (MOST_KEPT + 1u);
    haft_status expected = check_moment(play);

    if (sides->history == NULL) {
        return;
    }
    expected = expected == HAFT_OK && number >= kept.to ? HAFT_OUT_OF_RANGE : expected;
    tell(play, "rewind %llu: %s", (unsigned long long)number, haft_status_name(expected));
    sides->is_rewinding |= expected == HAFT_OK;
    sides->rewinds_within++;
    const haft_status said = haft_local_rewind(play->local, sides->history, number);

    sides->is_rewinding = outer;
    if (expected == HAFT_OK) {
        check_ends(play);
    }
    sides->rewinds_within--;
    if (expected == HAFT_OK && check_moment(play) == HAFT_IN_USE) {
        expected = HAFT_IN_USE; /* on_end has reserved a slot */
    }
    must_answer(said, expected, "rewind");
    if (said == HAFT_OK) {
        become(play, &sides->kept[number % MOST_KEPT]);
    }
}

/* --- the whole --- */

void sides_open(struct play *play)
{
    play->sides = calloc(1, sizeof *play->sides);
    must_be(play->sides != NULL, "memory for the model");
}

bool sides_are_open(const struct play *play)
{
    for (int i = 0; i < MOST_SIDES; i++) {
        if (play->sides->all[i].side != NULL) {
            return true;
        }
    }
    return false;
}

void sides_step(struct play *play)
{
    static void (*const steps[16])(struct play * play) = {
        open_side,  set,   set,       set,           set,   set,      get,     get,
        remove_one, sweep, walk_side, close_at_hand, sweep, snapshot, go_back, open_side,
    };

    steps[play->now.code % 16](play);
}

void sides_check(struct play *play)
{
    for (int i = 0; i < MOST_SIDES; i++) {
        struct side *side = &play->sides->all[i];

        for (uint64_t at = 0; side->side != NULL && at < MOST_SLOTS; at++) {
            if (side->values[at].id != 0) {
                check_value(side, (haft_id){side->values[at].id});
            }
        }
        for (uint64_t at = 0; side->side != NULL && at < play->model.issues && at < MOST_ISSUED;
             at++) {
            check_value(side, play->model.issued[at]);
        }
    }
}

void sides_close(struct play *play)
{
    while (sides_are_open(play)) { /* on_end may open others */
        for (int i = 0; i < MOST_SIDES; i++) {
            close_one(play, &play->sides->all[i]);
        }
    }
}

void sides_end(struct play *play)
{
    if (play->sides->history != NULL) {
        haft_history_close(play->sides->history);
    }
    free(play->sides);
}
