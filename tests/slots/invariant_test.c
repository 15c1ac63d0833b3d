/*
 * White-box: word and mark.  On tiny layouts, after each step of a long walk through all states
 * of slots, every pattern of the layout and patterns with bits above it are tried.
 *
 * Invariant   unless slot s is live, the index field of its word, masked, is not s
 * So          resolve and is_live say yes for exactly the live ids; diagnose tells all others
 *             apart; freeing them is refused and changes no word
 */
#include "tests/support.h"

TestSuite(invariant, .timeout = SUITE_SECONDS);

#define MOST_BITS 9
#define MOST_SLOTS 64

enum life { NEVER, RESERVED, LIVE, DEAD };

/* What is known of every id of a layout. */
struct model {
    struct subject subject;
    haft_layout layout;
    uint64_t tag;
    uint64_t patterns;
    enum life lives[1 << MOST_BITS];
    haft_id reserved[MOST_SLOTS];
    int reserved_count;
    haft_id live[MOST_SLOTS];
    int live_count;
};

static uint64_t word_of(const struct model *model, uint64_t index)
{
    return haft_load_acquire(HAFT_EDGE_NONE, haft_slot_of(model->subject.view, (haft_id){index}));
}

/* Whether what diagnose says of a pattern of this layout agrees with the model. */
static bool agrees(const struct model *model, haft_id id, haft_status said)
{
    const uint64_t last = haft_field_max(model->layout.generation_bits);
    const haft_id last_life = haft_id_pack(model->layout, haft_id_index(model->layout, id), last,
                                           haft_id_tag(model->layout, id));

    if (haft_id_is_nil(id)) {
        return said == HAFT_NO_ID;
    }
    if (haft_id_index(model->layout, id) < HAFT_FIRST_INDEX) {
        return said == HAFT_MALFORMED;
    }
    if (haft_id_tag(model->layout, id) != model->tag) {
        return said == HAFT_FOREIGN;
    }
    switch (model->lives[id.bits]) {
    case NEVER:
        return said == HAFT_NEVER_ISSUED;
    case RESERVED:
        return said == HAFT_RESERVED;
    case LIVE:
        return said == HAFT_OK;
    default:
        return said == HAFT_STALE ||
               (said == HAFT_EXHAUSTED && model->lives[last_life.bits] == DEAD);
    }
}

/* The only way in which `id` may be answered if it is not live. */
static void expect_dead(struct model *model, haft_id id, haft_status said)
{
    uint64_t words[MOST_SLOTS];

    must(haft_resolve(model->subject.view, id) == NULL);
    must(!haft_is_live(model->subject.view, id));
    must(said != HAFT_OK);
    for (uint64_t s = 0; s <= model->subject.view.mask; s++) {
        words[s] = word_of(model, s);
    }
    must(subject_free(&model->subject, id) == said);
    for (uint64_t s = 0; s <= model->subject.view.mask; s++) {
        must(words[s] == word_of(model, s));
    }
}

static void expect_all_answers(struct model *model)
{
    for (uint64_t bits = 0; bits < model->patterns; bits++) {
        const haft_id id = {bits};
        const haft_status said = subject_diagnose(&model->subject, id);

        must(agrees(model, id, said));
        if (model->lives[bits] == LIVE) {
            must(haft_is_live(model->subject.view, id));
            must(haft_resolve(model->subject.view, id) ==
                 (char *)haft_slot_of(model->subject.view, id) + 8);
        } else {
            expect_dead(model, id, said);
        }
        for (unsigned shift = 0; model->patterns << shift != 0; shift += 7) {
            const haft_id above = {bits | model->patterns << shift};

            must(subject_diagnose(&model->subject, above) == HAFT_MALFORMED);
            expect_dead(model, above, HAFT_MALFORMED);
        }
    }
}

static void expect_invariant(const struct model *model)
{
    for (uint64_t s = 0; s <= model->subject.view.mask; s++) {
        const haft_id word = {word_of(model, s)};
        const bool own = (haft_id_index(model->layout, word) & model->subject.view.mask) == s;

        if (word.bits == 0) { /* fresh: no index leads to it but 0, whose slot is never fresh */
            must(s != 0);
        } else {
            must(own == (model->lives[word.bits] == LIVE && s >= HAFT_FIRST_INDEX));
        }
    }
    must(word_of(model, 0) == 1);
    must(subject_live(&model->subject) == (uint64_t)model->live_count);
}

static void begin_life(struct model *model, haft_id id)
{
    must(id.bits < model->patterns);
    must(model->lives[id.bits] == NEVER); /* an id is never issued twice */
    must(haft_id_tag(model->layout, id) == model->tag);
    must(haft_id_index(model->layout, id) >= HAFT_FIRST_INDEX);
}

static haft_id take_one(haft_id *ids, int *count, uint64_t *seed)
{
    const int at = (int)(random_next(seed) % (uint64_t)*count);
    const haft_id id = ids[at];

    ids[at] = ids[--*count];
    return id;
}

static void step_in(struct model *model, bool reserve)
{
    haft_id id;

    if (reserve && subject_reserve(&model->subject, &id, NULL) == HAFT_OK) {
        begin_life(model, id);
        model->lives[id.bits] = RESERVED;
        model->reserved[model->reserved_count++] = id;
    } else if (!reserve && subject_insert(&model->subject, NULL, &id) == HAFT_OK) {
        begin_life(model, id);
        model->lives[id.bits] = LIVE;
        model->live[model->live_count++] = id;
    }
}

static void step_from_reserved(struct model *model, bool publish, uint64_t *seed)
{
    if (model->reserved_count == 0) {
        return;
    }
    const haft_id id = take_one(model->reserved, &model->reserved_count, seed);

    if (publish) {
        subject_publish(&model->subject, id);
        model->lives[id.bits] = LIVE;
        model->live[model->live_count++] = id;
    } else {
        subject_abort(&model->subject, id);
        model->lives[id.bits] = DEAD;
    }
}

static void step_out(struct model *model, uint64_t *seed)
{
    if (model->live_count != 0) {
        const haft_id id = take_one(model->live, &model->live_count, seed);

        must(subject_free(&model->subject, id) == HAFT_OK);
        model->lives[id.bits] = DEAD;
    }
}

static void step(struct model *model, uint64_t *seed)
{
    switch (random_next(seed) >> 20 & 7) {
    case 0:
        step_in(model, true);
        break;
    case 1:
    case 2:
        step_in(model, false);
        break;
    case 3:
        step_from_reserved(model, true, seed);
        break;
    case 4:
        step_from_reserved(model, false, seed);
        break;
    case 5:
    case 6:
        step_out(model, seed);
        break;
    default:
        subject_settle(&model->subject);
    }
}

static void walk(int kind, haft_layout layout, uint64_t capacity, uint64_t first, uint64_t tag)
{
    static struct model model;
    const haft_table_options options = {
        .capacity = capacity, .layout = layout, .first_generation = first, .tag = tag};
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    uint64_t seed = capacity * 1000 + first * 100 + tag + 1;

    model = (struct model){.layout = layout, .tag = tag, .patterns = UINT64_C(1) << width};
    model.subject = subject_open(kind, &options);
    for (int n = 0; n < 75; n++) {
        expect_invariant(&model);
        expect_all_answers(&model);
        step(&model, &seed);
    }
    while (model.reserved_count != 0) {
        step_from_reserved(&model, false, &seed);
    }
    expect_all_answers(&model);
    subject_close(&model.subject);
}

/* All first generations, and the smallest and largest tags. */
static void walk_layout(int kind, haft_layout layout, uint64_t capacity)
{
    for (uint64_t first = 1; first <= haft_field_max(layout.generation_bits); first++) {
        walk(kind, layout, capacity, first, 0);
        if (layout.tag_bits != 0) {
            walk(kind, layout, capacity, first, haft_field_max(layout.tag_bits));
        }
    }
}

TEST_ON_EACH_TABLE(invariant, smallest_layout_of_one_life)
{
    for (uint64_t capacity = 1; capacity <= 4; capacity++) {
        walk_layout(*kind, HAFT_LAYOUT_OF(3, 1, 0), capacity);
        walk_layout(*kind, HAFT_LAYOUT_OF(3, 1, 2), capacity);
    }
}

TEST_ON_EACH_TABLE(invariant, few_slots_of_several_lives_with_tag)
{
    for (uint64_t capacity = 1; capacity <= 4; capacity++) {
        walk_layout(*kind, HAFT_LAYOUT_OF(3, 2, 1), capacity);
        walk_layout(*kind, HAFT_LAYOUT_OF(3, 3, 1), capacity);
    }
}

TEST_ON_EACH_TABLE(invariant, tables_smaller_than_their_index_bits)
{
    for (uint64_t capacity = 1; capacity <= 12; capacity += 3) {
        walk_layout(*kind, HAFT_LAYOUT_OF(4, 2, 1), capacity);
        walk_layout(*kind, HAFT_LAYOUT_OF(5, 2, 0), capacity);
    }
    walk_layout(*kind, HAFT_LAYOUT_OF(6, 2, 0), 1);
    walk_layout(*kind, HAFT_LAYOUT_OF(4, 2, 1), 12);
}
