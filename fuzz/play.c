/* A sequence: its setup, its operations, and what to do when table and model differ. */
#include "fuzz/play.h"
#include "fuzz/target.h"
#include <haft/domain.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool telling;
static struct play *current;
static const uint8_t *current_data;
static size_t current_size;

/* --- calls that were made, and what is wrong --- */

void play_tell(void)
{
    telling = true;
}

void tell(const struct play *play, const char *format, ...)
{
    va_list arguments;

    if (!telling) {
        return;
    }
    fprintf(stderr, "%5llu%*s", (unsigned long long)play->number, 2 + 4 * (int)play->depth, "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/* Say what differs, after the list of operations: they are carried out once more to print it. */
void differ(const char *format, ...)
{
    va_list arguments;

    if (!telling) {
        telling = true;
        if (current->in_section) {
            haft_section_end(current->domain);
        }
        fprintf(stderr, "table and model differ; the operations:\n");
        play(current_data, current_size);
        fprintf(stderr, "the difference did not come again\n");
    }
    fprintf(stderr, "DIFFERENCE in operation %llu: ", (unsigned long long)current->number);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    target_differs();
}

void must_be(bool holds, const char *what)
{
    if (!holds) {
        differ("not so: %s", what);
    }
}

void must_answer(haft_status status, haft_status expected, const char *call)
{
    if (status != expected) {
        differ("%s answers %s, the model %s", call, haft_status_name(status),
               haft_status_name(expected));
    }
}

void must_equal(uint64_t is, uint64_t expected, const char *what)
{
    if (is != expected) {
        differ("%s: %llu, in the model %llu", what, (unsigned long long)is,
               (unsigned long long)expected);
    }
}

/* --- objects --- */

const void *object_bytes(const struct play *play, uint64_t value)
{
    static uint64_t bytes[(MOST_OBJECT + 7) / 8];

    for (size_t i = 0; i < (play->setup.object_size + 7) / 8; i++) {
        bytes[i] = value;
    }
    return bytes;
}

bool object_is(const struct play *play, const void *object, uint64_t value)
{
    const char *bytes = object;
    const size_t size = play->setup.object_size;
    const size_t tail = size / 8 * 8;
    const size_t usual = size % 8 == 0 ? model_usual_alignment(size) : 1;
    const size_t asked = play->setup.object_alignment;

    if (size != 0 && (uintptr_t)object % (asked != 0 ? asked : usual) != 0) {
        return false;
    }
    for (size_t at = 0; at + 8 <= size; at += at < 64 || at + 72 > size ? 8 : 64) {
        if (memcmp(bytes + at, &value, 8) != 0) {
            return false;
        }
    }
    return memcmp(bytes + tail, &value, size - tail) == 0;
}

void play_check_object(struct play *play, haft_id id, const void *object)
{
    if ((object != NULL) != model_is_live(&play->model, id)) {
        differ("id %llx is %s, in the model %s", (unsigned long long)id.bits,
               object != NULL ? "live" : "not live", object != NULL ? "not live" : "live");
    }
    if (object != NULL && !object_is(play, object, model_slot(&play->model, id)->value)) {
        differ("the object of id %llx is not the stored one", (unsigned long long)id.bits);
    }
}

/* --- ids --- */

static uint64_t scramble(uint64_t x)
{
    x = (x + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ x >> 32;
}

static haft_id id_in_state(const struct play *play, enum slot_state state)
{
    const uint64_t index = model_find(&play->model, state, play->now.y);

    return model_id(&play->model, index, index != 0 ? play->model.slots[index].generation : 0);
}

static haft_id issued_before(const struct play *play)
{
    const struct model *model = &play->model;
    const uint64_t many = model->issues < MOST_ISSUED ? model->issues : MOST_ISSUED;

    return many != 0 ? model->issued[play->now.y % many] : HAFT_NIL;
}

/* Index and generation from the operation, which may be anything that the layout has. */
static haft_id id_from_fields(const struct play *play)
{
    const struct model *model = &play->model;
    const uint64_t slots = model->limit - HAFT_FIRST_INDEX + 2;
    const uint64_t index = HAFT_FIRST_INDEX + (play->now.y & 0xff) % slots;
    const uint64_t near = index < MOST_SLOTS ? model->slots[index].generation : 1;

    return model_id(model, index & haft_field_max(model->layout.index_bits),
                    (near + (play->now.y >> 8) % 4 - 1) &
                        haft_field_max(model->layout.generation_bits));
}

haft_id play_id(struct play *play)
{
    const struct model *model = &play->model;
    haft_id id = issued_before(play);

    switch (play->now.x % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        return id_in_state(play, LIVE);
    case 5:
    case 6:
        return id;
    case 7:
        id.bits += UINT64_C(1) << model->layout.index_bits;
        return id;
    case 8:
        id.bits -= UINT64_C(1) << model->layout.index_bits;
        return id;
    case 9:
        id = id_in_state(play, LIVE);
        id.bits ^= UINT64_C(1) << (play->now.y >> 10);
        return id;
    case 10:
        id.bits = scramble(play->now.y);
        return id;
    case 11: /* a mark under a generation that is about */
        id.bits = (id.bits & ~haft_field_max(model->layout.index_bits)) | (play->now.y & 3);
        return id;
    case 12:
        return id_in_state(play, TAKEN);
    case 13:
        return id_in_state(play, WORN);
    case 14:
        return haft_id_is_nil(play->at_hand) ? id_from_fields(play) : play->at_hand;
    default:
        return id_from_fields(play);
    }
}

static haft_status diagnose(const struct play *play, haft_id id)
{
    return play->kind == LOCAL    ? haft_local_diagnose(play->local, id)
           : play->kind == PACKED ? haft_packed_diagnose(play->packed, id)
                                  : haft_diagnose(play->table, id);
}

/* A shared table does not say which slots a trim has given back, nor does what it becomes. */
static bool may_be_given_back(const struct play *play, const struct slot *slot)
{
    const bool is_unknown = play->has_trimmed && (play->table != NULL || play->is_over);

    return slot->state == FRESH || (is_unknown && (slot->state == FREE || slot->state == RETIRED));
}

/*
 * Not promised: whether a last life has been reclaimed already; and, once ids repeat, whether a
 * slot that was given back counts as used.
 */
void play_must_diagnose(struct play *play, haft_id id, haft_status said, const char *call)
{
    const haft_status expected = model_diagnose(&play->model, id);
    const struct slot *slot = model_slot(&play->model, id);
    const bool was_last = (expected == HAFT_STALE && said == HAFT_EXHAUSTED &&
                           slot->state == RETIRED && slot->generation == 0) ||
                          (expected == HAFT_EXHAUSTED && said == HAFT_STALE && play->closing);
    const bool is_of_used = (expected == HAFT_NEVER_ISSUED && said == HAFT_STALE) ||
                            (expected == HAFT_STALE && said == HAFT_NEVER_ISSUED);
    const bool ids_repeat = play->model.wrapped;

    if (said != expected && !was_last &&
        !(is_of_used && slot != NULL && ids_repeat && may_be_given_back(play, slot))) {
        differ("%s of id %llx answers %s, the model %s", call, (unsigned long long)id.bits,
               haft_status_name(said), haft_status_name(expected));
    }
}

static void check_id(struct play *play, haft_id id)
{
    const void *object = play->kind == PACKED
                             ? haft_packed_resolve(haft_packed_view(play->packed), id)
                             : haft_resolve(play->view, id);

    play_must_diagnose(play, id, diagnose(play, id), "diagnose");
    play_check_object(play, id, object);
}

void play_check_ids(struct play *play)
{
    const struct model *model = &play->model;
    const uint64_t many = model->issues < MOST_ISSUED ? model->issues : MOST_ISSUED;
    const unsigned width =
        (unsigned)model->layout.index_bits + model->layout.generation_bits + model->layout.tag_bits;

    for (uint64_t i = 0; i < many; i++) {
        check_id(play, model->issued[i]);
    }
    for (uint64_t bits = 0; width <= 8 && bits < UINT64_C(1) << (width + 1); bits++) {
        check_id(play, (haft_id){bits});
    }
}

/* --- the setup --- */

static const haft_layout layouts[] = {
    {32, 32, 0, 0}, {32, 24, 8, 0}, {20, 12, 0, 0}, {16, 16, 0, 0}, {3, 1, 0, 0},  {4, 2, 0, 0},
    {5, 3, 2, 0},   {4, 1, 1, 0},   {6, 4, 0, 0},   {8, 8, 8, 0},   {3, 60, 1, 0}, {3, 1, 60, 0},
    {10, 3, 1, 0},  {12, 5, 0, 0},  {32, 1, 31, 0}, {7, 2, 55, 0},
};

static const size_t sizes[] = {0, 1, 8, 16, 24, 64, 72, 5, 1016, 2040, 4088, 8184, 500, 3000, 8, 8};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* One of the first lives, or one of the last: there slots wear out. */
static uint64_t first_generation_from(uint8_t byte, haft_layout layout)
{
    const uint64_t most = haft_field_max(layout.generation_bits);

    return byte < 96    ? 0
           : byte < 160 ? 1 + byte % (most < 8 ? most : 8)
                        : most - byte % (most < 8 ? most : 8);
}

static void alignment_from(struct setup *setup, uint8_t byte)
{
    static const size_t alignments[] = {0, 0, 8, 16, 64, 0, 1, 4096};
    const size_t alignment = alignments[byte % COUNT_OF(alignments)];

    if (setup->kind != PACKED || (alignment != 0 && setup->object_size % alignment == 0)) {
        setup->object_alignment = alignment;
    }
}

static struct setup setup_from(const uint8_t *bytes)
{
    static const uint64_t capacities[] = {1,  2,  3,  4,  6,   9,   12,  20,
                                          28, 40, 60, 60, 100, 250, 400, 8};
    static const haft_clock clocks[] = {HAFT_CLOCK_FRAME, HAFT_CLOCK_WORKERS, HAFT_CLOCK_CALLER,
                                        HAFT_CLOCK_FRAME};
    struct setup setup = {
        .kind = bytes[0] % KINDS,
        .clock = clocks[bytes[0] >> 4 & 3],
        .layout = layouts[bytes[1] % COUNT_OF(layouts)],
        .capacity = capacities[bytes[2] % COUNT_OF(capacities)],
        .object_size = sizes[bytes[3] % COUNT_OF(sizes)],
        .reuse = bytes[4] & 1 ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
        .min_free = bytes[4] & 1 ? (uint64_t)(bytes[4] >> 1 & 7) : 0,
        .wrap = bytes[5] % 4 == 0,
        .destroys = bytes[5] & 8,
        .keep_order = bytes[5] & 16,
        .nested = bytes[6] & 1 ? bytes[6] : 0,
        .pins = bytes[11] & 1,
        .growth_step = bytes[7] < 128   ? 0
                       : bytes[7] < 160 ? HAFT_PACKED_FIXED
                                        : bytes[7] % 17,
    };
    const uint64_t most = haft_field_max(setup.layout.index_bits) + 1 - HAFT_FIRST_INDEX;

    setup.capacity = setup.capacity < most ? setup.capacity : most;
    setup.min_free =
        setup.min_free < most - setup.capacity ? setup.min_free : most - setup.capacity;
    setup.tag = bytes[8] & haft_field_max(setup.layout.tag_bits);
    setup.first_generation = first_generation_from(bytes[9], setup.layout);
    if (setup.kind == PACKED && setup.object_size == 0) {
        setup.object_size = 8;
    }
    alignment_from(&setup, bytes[10]);
    setup.object_size = setup.object_size < MOST_OBJECT ? setup.object_size : MOST_OBJECT;
    return setup;
}

static void model_from(struct model *model, const struct setup *setup)
{
    const uint64_t most = haft_field_max(setup->layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    const uint64_t room = most - setup->capacity;

    model->layout = setup->layout;
    model->tag = setup->tag;
    model->first = setup->first_generation != 0 ? setup->first_generation : 1;
    model->capacity = setup->capacity;
    model->limit =
        HAFT_FIRST_INDEX + setup->capacity + (setup->min_free < room ? setup->min_free : room);
    model->wears_early = setup->kind == PACKED;
    model->wraps = setup->kind != PACKED && setup->wrap;
    model->is_fifo = setup->kind == LOCAL && setup->reuse == HAFT_REUSE_FIFO;
    model->min_free = setup->kind == LOCAL ? setup->min_free : 0;
    model->used = HAFT_FIRST_INDEX;
    model->next_value = 1;
    model->counts[UNUSED] = MOST_SLOTS;
    for (uint64_t i = 0; i < MOST_SLOTS; i++) {
        model->slots[i].generation = model->first;
    }
    model_run_setup(model, setup->object_size, setup->object_alignment, setup->pins);
}

/* --- the sequence --- */

struct table_kind {
    const char *name;
    void (*open)(struct play *play);
    void (*step)(struct play *play);
    void (*check)(struct play *play);
    void (*close)(struct play *play);
};

static const struct table_kind kinds[KINDS] = {
    [LOCAL] = {"local", local_open, local_step, local_check, local_close},
    [PACKED] = {"packed", packed_open, packed_step, packed_check, packed_close},
    [SHARED] = {"shared", shared_open, shared_step, shared_check, shared_close},
};

static void tell_setup(const struct play *play)
{
    const struct setup *setup = &play->setup;

    tell(play,
         "open %s clock=%d layout=%u+%u+%u capacity=%llu size=%zu align=%zu tag=%llu "
         "first=%llu fifo=%d min_free=%llu wrap=%d destroy=%d keep_order=%d step=%llx "
         "nested=%u pins=%d",
         kinds[setup->kind].name, (int)setup->clock, setup->layout.index_bits,
         setup->layout.generation_bits, setup->layout.tag_bits, (unsigned long long)setup->capacity,
         setup->object_size, setup->object_alignment, (unsigned long long)setup->tag,
         (unsigned long long)setup->first_generation, setup->reuse == HAFT_REUSE_FIFO,
         (unsigned long long)setup->min_free, setup->wrap, setup->destroys, setup->keep_order,
         (unsigned long long)setup->growth_step, setup->nested, setup->pins);
}

static struct operation operation_at(const uint8_t *bytes)
{
    return (struct operation){bytes[0], bytes[1], (uint16_t)(bytes[2] | bytes[3] << 8)};
}

void play_nested(struct play *play)
{
    const struct operation outer = play->now;

    if (play->setup.nested == 0 || play->depth > 2 || play->budget == 0) {
        return;
    }
    play->budget--;
    play->depth++;
    play->now.code = (uint8_t)(play->setup.nested + play->budget * 5);
    play->now.x = (uint8_t)(outer.x + play->budget * 7);
    play->now.y = (uint16_t)(outer.y + play->budget * 331);
    kinds[play->kind].step(play);
    play->depth--;
    play->now = outer;
}

uint64_t play(const uint8_t *data, size_t size)
{
    struct play *play = calloc(1, sizeof *play);

    if (play == NULL || size < SETUP_BYTES) {
        free(play);
        return 0;
    }
    current = play;
    current_data = data;
    current_size = size;
    play->setup = setup_from(data);
    play->kind = play->setup.kind;
    model_from(&play->model, &play->setup);
    tell_setup(play);
    sides_open(play);
    kinds[play->kind].open(play);
    for (size_t at = SETUP_BYTES; at + OPERATION_BYTES <= size && !play->is_over;
         at += OPERATION_BYTES) {
        play->number++;
        play->now = operation_at(data + at);
        play->budget = 4;
        kinds[play->kind].step(play);
        if (play->number % 32 == 0) {
            kinds[play->kind].check(play);
        }
    }
    kinds[play->kind].check(play);
    kinds[play->kind].close(play);
    sides_end(play);
    const uint64_t operations = play->number;

    free(play);
    return operations;
}
