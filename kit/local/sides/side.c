/*
 * Sides: values beside a table's objects.
 *
 * A former life of the slot is over when an id of this one is held: the grace period between the
 * two orders all uses of the entry, as it orders those of the object.  So the
 * compare-and-swap that takes the entry orders nothing: in each life one thread wins it.
 *
 * Edges in this file.
 *   SIDE     write_value (release) -> claim_shared, haft_side_for_each (acquire)   value before id
 *   OWN      one thread uses a local table; a list is under a lock; a slot is no other thread's
 *   RETRY    whether a thread takes the entry in this life: the compare-and-swap decides
 *   ONWARD   how far entries were set
 *   COUNT    numbers that are assigned once
 */
#include "kit/local/sides/side.h"
#include "kit/local/status/kit_status.h"
#include "lib/base/os.h"
#include "lib/slots/diagnose.h"
#include <assert.h>
#include <string.h>

/* --- a side comes and goes --- */

static haft_status check_options(const haft_side_options *options, bool is_shared, bool ids_repeat)
{
    const struct common_options wanted = {
        .capacity = 1,
        .object_size = options->value_size,
        .object_alignment = options->value_alignment,
    };
    struct common_options common;
    uint64_t most;
    const haft_status status = options_check(&wanted, IN_SLOTS, &common, &most);

    if (status != HAFT_OK) {
        return kit_status(status == HAFT_BAD_OBJECT_SIZE ? HAFT_BAD_VALUE_SIZE
                                                         : HAFT_BAD_VALUE_ALIGNMENT);
    }
    if (is_shared && options->on_end != NULL) {
        return kit_status(HAFT_BAD_ON_END);
    }
    return ids_repeat ? HAFT_BAD_WRAP : HAFT_OK;
}

/* Entries lie as slots do. */
static struct geometry geometry_for(const haft_side_options *options)
{
    const size_t alignment = options->value_alignment != 0
                                 ? options->value_alignment
                                 : options_usual_alignment(options->value_size);
    const struct slots_options wanted = {
        .common =
            {
                .capacity = 1,
                .object_size = options->value_size,
                .object_alignment = alignment,
            },
    };
    return geometry_of(&wanted);
}

static haft_status reserve_entries(haft_side *side, const haft_side_options *options)
{
    const struct geometry geometry = geometry_for(options);
    const uint64_t count = side->slots->view.mask + 1;
    haft_status status =
        reservation_open_array(&side->memory, geometry.bias + count * geometry.stride,
                               (size_t)geometry.alignment, &side->slots->heap);

    if (status != HAFT_OK) {
        return status;
    }
    side->entries.base = side->memory.base + geometry.bias;
    side->entries.mask = count - 1;
    side->entries.stride = geometry.stride;
    status = reservation_commit(&side->memory, geometry.bias + geometry.stride);
    if (status != HAFT_OK) {
        reservation_close_array(&side->memory, &side->slots->heap);
    }
    return status;
}

static atomic_u64 *entry_of(const haft_side *side, uint64_t index)
{
    return (atomic_u64 *)(void *)(side->entries.base + index * side->entries.stride);
}

/* 0 is none's. */
static uint64_t side_number(void)
{
    static atomic_u64 last;

    return fetch_add_relaxed(COUNT, &last, 1) + 1;
}

static haft_status open_side(const struct slots *slots, const haft_side_options *options,
                             bool is_shared, haft_side **side)
{
    haft_side *opened = heap_take_zero(&slots->heap, sizeof *opened, _Alignof(haft_side));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->slots = slots;
    opened->number = is_shared ? 0 : side_number();
    opened->is_shared = is_shared;
    opened->value_size = options->value_size;
    opened->on_end = options->on_end;
    opened->end_arg = options->end_arg;
    const haft_status status = reserve_entries(opened, options);

    if (status != HAFT_OK) {
        heap_give(&slots->heap, opened, sizeof *opened);
        return status;
    }
    opened->due = NONE_DUE;
    store_relaxed(OWN, &opened->used, HAFT_FIRST_INDEX);
    store_relaxed(OWN, entry_of(opened, 0), MARK_RESERVED);
    *side = opened;
    return HAFT_OK;
}

haft_status side_open(const struct slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side)
{
    haft_side_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? check_options(&known, is_shared, ids_repeat) : status;
    return status == HAFT_OK ? open_side(slots, &known, is_shared, side) : status;
}

haft_side *sides_first(const atomic_u64 *list)
{
    return (haft_side *)(uintptr_t)load_relaxed(OWN, list);
}

void sides_add(atomic_u64 *list, haft_side *side)
{
    side->list = list;
    side->next = sides_first(list);
    store_relaxed(OWN, list, (uintptr_t)side);
}

void sides_remove(haft_side *side)
{
    haft_side *before = sides_first(side->list);

    if (before == side) {
        store_relaxed(OWN, side->list, (uintptr_t)side->next);
        return;
    }
    while (before->next != side) {
        before = before->next;
    }
    before->next = side->next;
}

haft_entries haft_side_entries(const haft_side *side)
{
    return side->entries;
}

/* --- values end --- */

/* The value of entry `index` is to end.  Until then there is none, and none can be set. */
static void add_due(haft_side *side, uint64_t index)
{
    atomic_u64 *entry = entry_of(side, index);
    const uint64_t word = load_relaxed(OWN, entry);

    assert(word_index(&side->slots->format, word) == index && "the entry has a value");
    store_relaxed(OWN, entry, word_with_index(&side->slots->format, word, side->due));
    side->due = index;
}

/* on_end runs for the value that became due last.  Meanwhile none can be set there. */
static void end_due(haft_side *side)
{
    const struct word_format *format = &side->slots->format;
    const uint64_t index = side->due;
    atomic_u64 *entry = entry_of(side, index);
    const uint64_t word = load_relaxed(OWN, entry);

    side->due = word_index(format, word);
    assert(side->due != index && side->due != MARK_RESERVED);
    store_relaxed(OWN, entry, word_with_index(format, word, MARK_RESERVED));
    side->on_end(entry + 1, (haft_id){word_with_index(format, word, index)}, side->end_arg);
    store_relaxed(OWN, entry, 0);
}

/*
 * The value of entry `index` ends, and those that on_end ends meanwhile: in a loop, since a chain
 * may be longer than the stack.  Inside an on_end of the side it becomes due.
 */
static void end_value(haft_side *side, uint64_t index)
{
    if (side->on_end == NULL) {
        store_relaxed(OWN, entry_of(side, index), 0);
        return;
    }
    add_due(side, index);
    if (side->is_ending) {
        return;
    }
    const int cancel = os_cancel_off();

    side->is_ending = true;
    while (side->due != NONE_DUE) {
        end_due(side);
    }
    side->is_ending = false;
    os_cancel_restore(cancel);
}

/* The value of slot `index`, if it has one. */
static bool forget(haft_side *side, uint64_t index)
{
    const uint64_t word = load_relaxed(OWN, entry_of(side, index));
    const bool has_value = (word & side->entries.mask) == index;

    if (has_value) {
        end_value(side, index);
    }
    return has_value;
}

/* How many values there were; on_end may set others meanwhile. */
static uint64_t forget_all(haft_side *side)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < load_relaxed(OWN, &side->used); index++) {
        count += forget(side, index);
    }
    return count;
}

/* Again and again: in one side, on_end may have set values in another. */
static void forget_each(const atomic_u64 *list, bool with_plain)
{
    uint64_t ended;

    do {
        ended = 0;
        for (haft_side *side = sides_first(list); side != NULL; side = side->next) {
            ended += with_plain || side->on_end != NULL ? forget_all(side) : 0;
        }
    } while (ended != 0);
}

void sides_forget_all(const atomic_u64 *list)
{
    forget_each(list, true);
}

void sides_end_all(const atomic_u64 *list)
{
    forget_each(list, false);
}

void haft_side_close(haft_side *side)
{
    uint64_t ended = side->on_end != NULL ? forget_all(side) : 0;

    while (ended != 0) {
        ended = forget_all(side); /* what on_end has set */
    }
    side->leave(side);
    reservation_close_array(&side->memory, &side->slots->heap);
    heap_give(&side->slots->heap, side, sizeof *side);
}

/* Whether `id` is live or reserved. */
static bool is_held(const haft_side *side, haft_id id)
{
    const haft_status status = slots_diagnose(side->slots, id);

    return status == HAFT_OK || status == HAFT_RESERVED;
}

uint64_t haft_side_sweep(haft_side *side)
{
    uint64_t count = 0;

    assert(!side->is_shared && "values of a shared table are not removed");
    for (uint64_t index = HAFT_FIRST_INDEX;
         !side->is_shared && index < load_relaxed(OWN, &side->used); index++) {
        const haft_id id = {load_relaxed(OWN, entry_of(side, index))};

        if ((id.bits & side->entries.mask) == index && !is_held(side, id)) {
            end_value(side, index);
            count++;
        }
    }
    return count;
}

bool haft_side_remove(haft_side *side, haft_id id)
{
    const uint64_t index = id.bits & side->entries.mask;

    assert(!side->is_shared && "values of a shared table are not removed");
    if (side->is_shared || load_relaxed(OWN, entry_of(side, index)) != id.bits) {
        return false;
    }
    end_value(side, index);
    return true;
}

/* --- values are set --- */

static void raise_used(haft_side *side, uint64_t end)
{
    uint64_t before = load_relaxed(ONWARD, &side->used);

    while (before < end && !cas_relaxed(ONWARD, &side->used, before, end)) {
        before = load_relaxed(ONWARD, &side->used);
    }
}

/* The entry is this thread's, to be filled: HAFT_OK, or why not. */
static haft_status claim_shared(atomic_u64 *entry, haft_id id, uint64_t reserved)
{
    uint64_t word;

    do {
        /* Weakened, the place of a value would be returned before its bytes are there. */
        word = load_acquire(SIDE, entry);
        if (word == id.bits) {
            return kit_status(HAFT_OCCUPIED);
        }
        if (word == reserved) {
            return HAFT_BUSY;
        }
    } while (!cas_relaxed(RETRY, entry, word, reserved));
    return HAFT_OK;
}

/* Whether a value may be set for `id`, as far as the table tells: one that threads share may have
 * freed it meanwhile. */
static haft_status check_id(const haft_side *side, haft_id id)
{
    if (side->is_shared) {
        return slots_check_chosen(side->slots, id, side->slots->limit);
    }
    return haft_is_live(side->slots->view, id) || is_held(side, id)
               ? HAFT_OK
               : slots_diagnose(side->slots, id);
}

static haft_status claim_local(haft_side *side, atomic_u64 *entry, haft_id id)
{
    const uint64_t index = id.bits & side->entries.mask;
    const uint64_t word = load_relaxed(OWN, entry);

    if (word == id.bits) {
        return kit_status(HAFT_OCCUPIED);
    }
    if (word == 0) {
        return HAFT_OK;
    }
    if ((word & side->entries.mask) != index) {
        return HAFT_BUSY; /* due, or its on_end runs */
    }
    end_value(side, index);
    if (load_relaxed(OWN, entry) == 0) {
        return check_id(side, id); /* on_end may have freed the object, or rewound the table */
    }
    /* Inside an on_end it is due now; else a later one has set a value. */
    return load_relaxed(OWN, entry) == id.bits ? kit_status(HAFT_OCCUPIED) : HAFT_BUSY;
}

/* Have memory for the entries below `end`. */
static haft_status make_entries(haft_side *side, uint64_t end)
{
    const uint64_t bias = (uint64_t)(side->entries.base - side->memory.base);
    haft_status status = HAFT_OK;

    /* Of a shared table each thread asks: it must see itself that the memory is writable. */
    if (side->is_shared || end > load_relaxed(ONWARD, &side->used)) {
        status = reservation_commit(&side->memory, bias + end * side->entries.stride);
    }
    if (status == HAFT_OK) {
        raise_used(side, end);
    }
    return status;
}

static haft_status claim(haft_side *side, atomic_u64 *entry, haft_id id)
{
    const struct word_format *format = &side->slots->format;
    const haft_status status = make_entries(side, word_index(format, id.bits) + 1);

    if (status != HAFT_OK) {
        return status;
    }
    return side->is_shared
               ? claim_shared(entry, id, word_with_index(format, id.bits, MARK_RESERVED))
               : claim_local(side, entry, id);
}

static void write_value(const haft_side *side, atomic_u64 *entry, haft_id id, const void *value)
{
    if (value == NULL) {
        memset(entry + 1, 0, side->value_size);
    } else {
        memcpy(entry + 1, value, side->value_size);
    }
    /* Weakened, a reader could match the id and read the value's bytes from before. */
    store_release(SIDE, entry, id.bits);
}

haft_status haft_side_set(haft_side *side, haft_id id, const void *value, void **place)
{
    atomic_u64 *entry = entry_of(side, id.bits & side->entries.mask);
    haft_status status = check_id(side, id);

    status = status == HAFT_OK ? claim(side, entry, id) : status;
    if (status == HAFT_OK) {
        write_value(side, entry, id, value);
    }
    if (place != NULL && (status == HAFT_OK || status == HAFT_OCCUPIED)) {
        *place = entry + 1;
    }
    return status;
}

/* --- looking --- */

uint64_t haft_side_for_each(haft_side *side,
                            bool (*visit)(haft_id id, void *object, void *value, void *arg),
                            void *arg)
{
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < load_relaxed(ONWARD, &side->used); index++) {
        atomic_u64 *entry = entry_of(side, index);
        /* Weakened, the visitor could read the value's bytes from before. */
        const haft_id id = {load_acquire(SIDE, entry)};
        void *object =
            (id.bits & side->entries.mask) == index ? haft_resolve(side->slots->view, id) : NULL;

        if (object == NULL) {
            continue;
        }
        calls++;
        if (!visit(id, object, entry + 1, arg)) {
            break;
        }
    }
    return calls;
}
