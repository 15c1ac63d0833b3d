/*
 * haft_kit.c - haft 0.2.0: the kit in one file, with haft_kit.h and haft.c
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 *
 *   cc -c haft_kit.c
 *
 * It is compiled in place of haft.c, which it includes, and as that: alone, with the same options, or as
 * a part of another source.  One option more:
 *
 *   -DHAFT_WITHOUT_EXPORT   without haft_export_open() and its kin, which write files; on Windows and
 *                           with HAFT_OS_BARE they are left out anyway
 */
#include "haft.c"

#ifdef HAFT_INTERNAL

#include "haft_kit.h"

#if (defined(HAFT_OS_BARE) || defined(_WIN32)) && !defined(HAFT_WITHOUT_EXPORT)
#define HAFT_WITHOUT_EXPORT
#endif

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#if defined(NDEBUG) || defined(HAFT_WITHOUT_EXPORT)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#endif

#ifndef HAFT_WITHOUT_EXPORT
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#pragma push_macro("slots")
#undef slots

/*
 * kit/local/status/kit_status.h - answering with a status of the kit.
 */

/* The status, which haft_status_text() and haft_status_name() know from now on. */
HAFT_INTERNAL haft_status haft__kit_status(haft_status status);

/* kit/local/status/kit_status.c */

/* The kit's statuses in words. */

static const struct haft__status_words haft__kit_words[] = {
    {"HAFT_DEAD", "the object has been killed and waits for the refresh"},
    {"HAFT_NO_FILE", "the system did not take the file"},
    {"HAFT_USED_UP", "the recorder has created as many objects as it was opened for"},
    {"HAFT_SAME_KEY", "another recorder of the frame has the key"},
    {"HAFT_OCCUPIED", "the id's slot holds an object, a reservation or a value"},
    {"HAFT_DAMAGED", "the file is no saved table, is cut off or has been changed"},
    {"HAFT_OTHER_TABLE", "the state is that of a table that was opened with other options"},
    {"HAFT_BAD_BLOCK_SIZE", "block_size: at most 2^30 bytes"},
    {"HAFT_BAD_MAX_BLOCK_SIZE", "max_block_size: from block_size to 2^30 bytes"},
    {"HAFT_BAD_BUFFER_SIZE", "buffer_size: with a buffer at least HAFT_ARENA_OVERHEAD bytes, "
                             "without one 0"},
    {"HAFT_BAD_DIRECTORY", "directory: one that exists and that this process may write to"},
    {"HAFT_BAD_INTERVAL_MS", "interval_ms: 10 to 3600000, or 0 for 1000"},
    {"HAFT_BAD_VALUE_SIZE", "value_size: at most 2^30 bytes"},
    {"HAFT_BAD_VALUE_ALIGNMENT", "value_alignment: a power of two, at most 4096"},
    {"HAFT_BAD_ON_END", "on_end: only sides of local tables have one"},
    {"HAFT_BAD_KEEP", "keep: 1 or more snapshots"},
};

static const struct haft__status_list haft__kit_statuses = {HAFT_KIT_100,
                                                sizeof haft__kit_words / sizeof haft__kit_words[0], haft__kit_words};

HAFT_INTERNAL haft_status haft__kit_status(haft_status status)
{
    assert(status >= HAFT_KIT_100 && status <= HAFT_KIT_115);
    haft__status_list_add(&haft__kit_statuses);
    return status;
}

/*
 * kit/local/sides/side.h - the sides of a table: a list that its struct begins, and their entries.
 *
 * entry.word, beside slot.word of lib/slots/word.h:
 *
 *   0              no value
 *   g[RESERVED]    the value of that life is being set; in a local table, on_end runs for one
 *   g[other]       in a local table, the value of that life is due: on_end is to run, and then for
 *                  the entry of that index; NONE_DUE behind the last
 *   id             there is a value for it
 *   0[RESERVED]    entry 0, for ever
 *
 * Local tables go from each of the others to each.  Shared ones:
 *
 *          0, id of a former life, g[RESERVED] of a former life -> g[RESERVED]
 *                                             with CAS, by one thread in this life
 *          g[RESERVED] -> id                  by that thread                          (SIDE)
 *
 * g[RESERVED] of a former life was left by a thread that ended in the middle.
 */

#define haft__NONE_DUE haft__MARK_END

struct haft_side {
    haft_entries entries;
    const struct haft__slots *slots; /* the table's */
    uint64_t number;           /* no other side of a local table ever has it; of a shared one 0 */
    bool is_shared;            /* the table is */
    haft__atomic_u64 used;           /* entries that are not below were never set */
    struct haft__reservation memory;
    size_t value_size;
    haft_side_end *on_end;
    void *end_arg;
    bool is_ending;                 /* an on_end runs */
    uint64_t due;                   /* the entry whose on_end runs next, or NONE_DUE */
    void (*leave)(haft_side *side); /* out of the list */
    haft__atomic_u64 *list;               /* where the address of the first one is */
    haft_side *next;
};

/* A side in no list, for haft_side_open() and its kin: `ids_repeat` if the table has wrap. */
HAFT_INTERNAL
haft_status haft__side_open(const struct haft__slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side);

/* The list of a table's sides; NULL: there is none.  Of a shared table, under its lock. */
HAFT_INTERNAL haft_side *haft__sides_first(const haft__atomic_u64 *list);
HAFT_INTERNAL void haft__sides_add(haft__atomic_u64 *list, haft_side *side);
HAFT_INTERNAL void haft__sides_remove(haft_side *side);

/* All ids are issued again: each value of a local table's sides ends. */
HAFT_INTERNAL void haft__sides_forget_all(const haft__atomic_u64 *list);

/* The same where sides_become() follows: each value ends whose side has on_end. */
HAFT_INTERNAL void haft__sides_end_all(const haft__atomic_u64 *list);

/* kit/local/sides/local_side.c */

/* The sides of a table of one thread. */

haft_status haft_side_open_local_sized(haft_local *local, const haft_side_options *options,
                                       size_t size, haft_side **side)
{
    if (local->mode == haft__LOCAL_CLOSING) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = haft__side_open(&local->slots, options, size, false, local->wraps, side);

    if (status == HAFT_OK) {
        (*side)->leave = haft__sides_remove;
        haft__sides_add(&local->attached, *side);
    }
    return status;
}

/* kit/local/sides/side.c */

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

/* --- a side comes and goes --- */

static haft_status haft__check_options(const haft_side_options *options, bool is_shared, bool ids_repeat)
{
    const struct haft__common_options wanted = {
        .capacity = 1,
        .object_size = options->value_size,
        .object_alignment = options->value_alignment,
    };
    struct haft__common_options common;
    uint64_t most;
    const haft_status status = haft__options_check(&wanted, haft__IN_SLOTS, &common, &most);

    if (status != HAFT_OK) {
        return haft__kit_status(status == HAFT_BAD_OBJECT_SIZE ? HAFT_BAD_VALUE_SIZE
                                                         : HAFT_BAD_VALUE_ALIGNMENT);
    }
    if (is_shared && options->on_end != NULL) {
        return haft__kit_status(HAFT_BAD_ON_END);
    }
    return ids_repeat ? HAFT_BAD_WRAP : HAFT_OK;
}

/* Entries lie as slots do. */
static struct haft__geometry haft__geometry_for(const haft_side_options *options)
{
    const size_t alignment = options->value_alignment != 0
                                 ? options->value_alignment
                                 : haft__options_usual_alignment(options->value_size);
    const struct haft__slots_options wanted = {
        .common =
            {
                .capacity = 1,
                .object_size = options->value_size,
                .object_alignment = alignment,
            },
    };
    return haft__geometry_of(&wanted);
}

static haft_status haft__reserve_entries(haft_side *side, const haft_side_options *options)
{
    const struct haft__geometry geometry = haft__geometry_for(options);
    const uint64_t count = side->slots->view.mask + 1;
    haft_status status =
        haft__reservation_open_array(&side->memory, geometry.bias + count * geometry.stride,
                               (size_t)geometry.alignment, &side->slots->heap);

    if (status != HAFT_OK) {
        return status;
    }
    side->entries.base = side->memory.base + geometry.bias;
    side->entries.mask = count - 1;
    side->entries.stride = geometry.stride;
    status = haft__reservation_commit(&side->memory, geometry.bias + geometry.stride);
    if (status != HAFT_OK) {
        haft__reservation_close_array(&side->memory, &side->slots->heap);
    }
    return status;
}

static haft__atomic_u64 *haft__entry_of(const haft_side *side, uint64_t index)
{
    return (haft__atomic_u64 *)(void *)(side->entries.base + index * side->entries.stride);
}

/* 0 is none's. */
static uint64_t haft__side_number(void)
{
    static haft__atomic_u64 last;

    return haft__fetch_add_relaxed(COUNT, &last, 1) + 1;
}

static haft_status haft__open_side(const struct haft__slots *slots, const haft_side_options *options,
                             bool is_shared, haft_side **side)
{
    haft_side *opened = haft__heap_take_zero(&slots->heap, sizeof *opened, _Alignof(haft_side));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->slots = slots;
    opened->number = is_shared ? 0 : haft__side_number();
    opened->is_shared = is_shared;
    opened->value_size = options->value_size;
    opened->on_end = options->on_end;
    opened->end_arg = options->end_arg;
    const haft_status status = haft__reserve_entries(opened, options);

    if (status != HAFT_OK) {
        haft__heap_give(&slots->heap, opened, sizeof *opened);
        return status;
    }
    opened->due = haft__NONE_DUE;
    haft__store_relaxed(OWN, &opened->used, HAFT_FIRST_INDEX);
    haft__store_relaxed(OWN, haft__entry_of(opened, 0), haft__MARK_RESERVED);
    *side = opened;
    return HAFT_OK;
}

HAFT_INTERNAL
haft_status haft__side_open(const struct haft__slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side)
{
    haft_side_options known;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__check_options(&known, is_shared, ids_repeat) : status;
    return status == HAFT_OK ? haft__open_side(slots, &known, is_shared, side) : status;
}

HAFT_INTERNAL haft_side *haft__sides_first(const haft__atomic_u64 *list)
{
    return (haft_side *)(uintptr_t)haft__load_relaxed(OWN, list);
}

HAFT_INTERNAL void haft__sides_add(haft__atomic_u64 *list, haft_side *side)
{
    side->list = list;
    side->next = haft__sides_first(list);
    haft__store_relaxed(OWN, list, (uintptr_t)side);
}

HAFT_INTERNAL void haft__sides_remove(haft_side *side)
{
    haft_side *before = haft__sides_first(side->list);

    if (before == side) {
        haft__store_relaxed(OWN, side->list, (uintptr_t)side->next);
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
static void haft__add_due(haft_side *side, uint64_t index)
{
    haft__atomic_u64 *entry = haft__entry_of(side, index);
    const uint64_t word = haft__load_relaxed(OWN, entry);

    assert(haft__word_index(&side->slots->format, word) == index && "the entry has a value");
    haft__store_relaxed(OWN, entry, haft__word_with_index(&side->slots->format, word, side->due));
    side->due = index;
}

/* on_end runs for the value that became due last.  Meanwhile none can be set there. */
static void haft__end_due(haft_side *side)
{
    const struct haft__word_format *format = &side->slots->format;
    const uint64_t index = side->due;
    haft__atomic_u64 *entry = haft__entry_of(side, index);
    const uint64_t word = haft__load_relaxed(OWN, entry);

    side->due = haft__word_index(format, word);
    assert(side->due != index && side->due != haft__MARK_RESERVED);
    haft__store_relaxed(OWN, entry, haft__word_with_index(format, word, haft__MARK_RESERVED));
    side->on_end(entry + 1, (haft_id){haft__word_with_index(format, word, index)}, side->end_arg);
    haft__store_relaxed(OWN, entry, 0);
}

/*
 * The value of entry `index` ends, and those that on_end ends meanwhile: in a loop, since a chain
 * may be longer than the stack.  Inside an on_end of the side it becomes due.
 */
static void haft__end_value(haft_side *side, uint64_t index)
{
    if (side->on_end == NULL) {
        haft__store_relaxed(OWN, haft__entry_of(side, index), 0);
        return;
    }
    haft__add_due(side, index);
    if (side->is_ending) {
        return;
    }
    const int cancel = haft__os_cancel_off();

    side->is_ending = true;
    while (side->due != haft__NONE_DUE) {
        haft__end_due(side);
    }
    side->is_ending = false;
    haft__os_cancel_restore(cancel);
}

/* The value of slot `index`, if it has one. */
static bool haft__forget(haft_side *side, uint64_t index)
{
    const uint64_t word = haft__load_relaxed(OWN, haft__entry_of(side, index));
    const bool has_value = (word & side->entries.mask) == index;

    if (has_value) {
        haft__end_value(side, index);
    }
    return has_value;
}

/* How many values there were; on_end may set others meanwhile. */
static uint64_t haft__forget_all(haft_side *side)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < haft__load_relaxed(OWN, &side->used); index++) {
        count += haft__forget(side, index);
    }
    return count;
}

/* Again and again: in one side, on_end may have set values in another. */
static void haft__forget_each(const haft__atomic_u64 *list, bool with_plain)
{
    uint64_t ended;

    do {
        ended = 0;
        for (haft_side *side = haft__sides_first(list); side != NULL; side = side->next) {
            ended += with_plain || side->on_end != NULL ? haft__forget_all(side) : 0;
        }
    } while (ended != 0);
}

HAFT_INTERNAL void haft__sides_forget_all(const haft__atomic_u64 *list)
{
    haft__forget_each(list, true);
}

HAFT_INTERNAL void haft__sides_end_all(const haft__atomic_u64 *list)
{
    haft__forget_each(list, false);
}

void haft_side_close(haft_side *side)
{
    uint64_t ended = side->on_end != NULL ? haft__forget_all(side) : 0;

    while (ended != 0) {
        ended = haft__forget_all(side); /* what on_end has set */
    }
    side->leave(side);
    haft__reservation_close_array(&side->memory, &side->slots->heap);
    haft__heap_give(&side->slots->heap, side, sizeof *side);
}

/* Whether `id` is live or reserved. */
static bool haft__is_held(const haft_side *side, haft_id id)
{
    const haft_status status = haft__slots_diagnose(side->slots, id);

    return status == HAFT_OK || status == HAFT_RESERVED;
}

uint64_t haft_side_sweep(haft_side *side)
{
    uint64_t count = 0;

    assert(!side->is_shared && "values of a shared table are not removed");
    for (uint64_t index = HAFT_FIRST_INDEX;
         !side->is_shared && index < haft__load_relaxed(OWN, &side->used); index++) {
        const haft_id id = {haft__load_relaxed(OWN, haft__entry_of(side, index))};

        if ((id.bits & side->entries.mask) == index && !haft__is_held(side, id)) {
            haft__end_value(side, index);
            count++;
        }
    }
    return count;
}

bool haft_side_remove(haft_side *side, haft_id id)
{
    const uint64_t index = id.bits & side->entries.mask;

    assert(!side->is_shared && "values of a shared table are not removed");
    if (side->is_shared || haft__load_relaxed(OWN, haft__entry_of(side, index)) != id.bits) {
        return false;
    }
    haft__end_value(side, index);
    return true;
}

/* --- values are set --- */

static void haft__raise_used(haft_side *side, uint64_t end)
{
    uint64_t before = haft__load_relaxed(ONWARD, &side->used);

    while (before < end && !haft__cas_relaxed(ONWARD, &side->used, before, end)) {
        before = haft__load_relaxed(ONWARD, &side->used);
    }
}

/* The entry is this thread's, to be filled: HAFT_OK, or why not. */
static haft_status haft__claim_shared(haft__atomic_u64 *entry, haft_id id, uint64_t reserved)
{
    uint64_t word;

    do {
        /* Weakened, the place of a value would be returned before its bytes are there. */
        word = haft__load_acquire(SIDE, entry);
        if (word == id.bits) {
            return haft__kit_status(HAFT_OCCUPIED);
        }
        if (word == reserved) {
            return HAFT_BUSY;
        }
    } while (!haft__cas_relaxed(RETRY, entry, word, reserved));
    return HAFT_OK;
}

/* Whether a value may be set for `id`, as far as the table tells: one that threads share may have
 * freed it meanwhile. */
static haft_status haft__check_id(const haft_side *side, haft_id id)
{
    if (side->is_shared) {
        return haft__slots_check_chosen(side->slots, id, side->slots->limit);
    }
    return haft_is_live(side->slots->view, id) || haft__is_held(side, id)
               ? HAFT_OK
               : haft__slots_diagnose(side->slots, id);
}

static haft_status haft__claim_local(haft_side *side, haft__atomic_u64 *entry, haft_id id)
{
    const uint64_t index = id.bits & side->entries.mask;
    const uint64_t word = haft__load_relaxed(OWN, entry);

    if (word == id.bits) {
        return haft__kit_status(HAFT_OCCUPIED);
    }
    if (word == 0) {
        return HAFT_OK;
    }
    if ((word & side->entries.mask) != index) {
        return HAFT_BUSY; /* due, or its on_end runs */
    }
    haft__end_value(side, index);
    if (haft__load_relaxed(OWN, entry) == 0) {
        return haft__check_id(side, id); /* on_end may have freed the object, or rewound the table */
    }
    /* Inside an on_end it is due now; else a later one has set a value. */
    return haft__load_relaxed(OWN, entry) == id.bits ? haft__kit_status(HAFT_OCCUPIED) : HAFT_BUSY;
}

/* Have memory for the entries below `end`. */
static haft_status haft__make_entries(haft_side *side, uint64_t end)
{
    const uint64_t bias = (uint64_t)(side->entries.base - side->memory.base);
    haft_status status = HAFT_OK;

    /* Of a shared table each thread asks: it must see itself that the memory is writable. */
    if (side->is_shared || end > haft__load_relaxed(ONWARD, &side->used)) {
        status = haft__reservation_commit(&side->memory, bias + end * side->entries.stride);
    }
    if (status == HAFT_OK) {
        haft__raise_used(side, end);
    }
    return status;
}

static haft_status haft__claim(haft_side *side, haft__atomic_u64 *entry, haft_id id)
{
    const struct haft__word_format *format = &side->slots->format;
    const haft_status status = haft__make_entries(side, haft__word_index(format, id.bits) + 1);

    if (status != HAFT_OK) {
        return status;
    }
    return side->is_shared
               ? haft__claim_shared(entry, id, haft__word_with_index(format, id.bits, haft__MARK_RESERVED))
               : haft__claim_local(side, entry, id);
}

static void haft__write_value(const haft_side *side, haft__atomic_u64 *entry, haft_id id, const void *value)
{
    if (value == NULL) {
        memset(entry + 1, 0, side->value_size);
    } else {
        memcpy(entry + 1, value, side->value_size);
    }
    /* Weakened, a reader could match the id and read the value's bytes from before. */
    haft__store_release(SIDE, entry, id.bits);
}

haft_status haft_side_set(haft_side *side, haft_id id, const void *value, void **haft__place)
{
    haft__atomic_u64 *entry = haft__entry_of(side, id.bits & side->entries.mask);
    haft_status status = haft__check_id(side, id);

    status = status == HAFT_OK ? haft__claim(side, entry, id) : status;
    if (status == HAFT_OK) {
        haft__write_value(side, entry, id, value);
    }
    if (haft__place != NULL && (status == HAFT_OK || status == HAFT_OCCUPIED)) {
        *haft__place = entry + 1;
    }
    return status;
}

/* --- looking --- */

uint64_t haft_side_for_each(haft_side *side,
                            bool (*visit)(haft_id id, void *haft__object, void *value, void *arg),
                            void *arg)
{
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < haft__load_relaxed(ONWARD, &side->used); index++) {
        haft__atomic_u64 *entry = haft__entry_of(side, index);
        /* Weakened, the visitor could read the value's bytes from before. */
        const haft_id id = {haft__load_acquire(SIDE, entry)};
        void *haft__object =
            (id.bits & side->entries.mask) == index ? haft_resolve(side->slots->view, id) : NULL;

        if (haft__object == NULL) {
            continue;
        }
        calls++;
        if (!visit(id, haft__object, entry + 1, arg)) {
            break;
        }
    }
    return calls;
}

/*
 * kit/local/sides/side_copy.h - the values of a local table's sides, as a snapshot has them.
 *
 * Only of sides without on_end: their values are bytes, which may be copied and overwritten.
 */

/* All entries of one side that have had values; a list of them is of one table. */
struct haft__side_copy {
    struct haft__side_copy *next;
    uint64_t number; /* of its side */
    uint64_t bytes;  /* of entries, which follow */
};

/* Copies of the sides in the list: HAFT_OK; or HAFT_NO_MEMORY, and `*copies` is untouched. */
HAFT_INTERNAL haft_status haft__sides_copy(const haft__atomic_u64 *list, const haft_allocator *heap,
                                     struct haft__side_copy **copies);

/* NULL: there are none. */
HAFT_INTERNAL void haft__side_copies_free(const haft_allocator *heap, struct haft__side_copy *copies);

HAFT_INTERNAL uint64_t haft__side_copies_bytes(const struct haft__side_copy *copies);

/* Each side without on_end becomes its copy; one that has none, which was not open then, becomes
 * empty. */
HAFT_INTERNAL void haft__sides_become(const haft__atomic_u64 *list, const struct haft__side_copy *copies);

/* kit/local/sides/side_copy.c */

/*
 * Copies of sides.
 *
 * Edges in this file.
 *   OWN   one thread uses a local table
 */

/* Those before it have no values, and may have no memory. */
static char *haft__first_entry(const haft_side *side)
{
    return side->entries.base + HAFT_FIRST_INDEX * side->entries.stride;
}

/* Of all entries that have had values: that number only grows. */
static uint64_t haft__bytes_used(const haft_side *side)
{
    return (haft__load_relaxed(OWN, &side->used) - HAFT_FIRST_INDEX) * side->entries.stride;
}

static struct haft__side_copy *haft__copy_side(const haft_side *side, const haft_allocator *heap)
{
    const uint64_t bytes = haft__bytes_used(side);
    struct haft__side_copy *copy =
        haft__heap_take(heap, sizeof *copy + (size_t)bytes, _Alignof(struct haft__side_copy));

    if (copy != NULL) {
        *copy = (struct haft__side_copy){.number = side->number, .bytes = bytes};
        if (bytes != 0) {
            memcpy(copy + 1, haft__first_entry(side), (size_t)bytes);
        }
    }
    return copy;
}

HAFT_INTERNAL haft_status haft__sides_copy(const haft__atomic_u64 *list, const haft_allocator *heap,
                                     struct haft__side_copy **copies)
{
    struct haft__side_copy *first = NULL;

    for (const haft_side *side = haft__sides_first(list); side != NULL; side = side->next) {
        if (side->on_end != NULL) {
            continue;
        }
        struct haft__side_copy *copy = haft__copy_side(side, heap);

        if (copy == NULL) {
            haft__side_copies_free(heap, first);
            return HAFT_NO_MEMORY;
        }
        copy->next = first;
        first = copy;
    }
    *copies = first;
    return HAFT_OK;
}

HAFT_INTERNAL void haft__side_copies_free(const haft_allocator *heap, struct haft__side_copy *copies)
{
    for (struct haft__side_copy *copy = copies, *next; copy != NULL; copy = next) {
        next = copy->next;
        haft__heap_give(heap, copy, sizeof *copy + (size_t)copy->bytes);
    }
}

HAFT_INTERNAL uint64_t haft__side_copies_bytes(const struct haft__side_copy *copies)
{
    uint64_t bytes = 0;

    for (const struct haft__side_copy *copy = copies; copy != NULL; copy = copy->next) {
        bytes += sizeof *copy + copy->bytes;
    }
    return bytes;
}

static const struct haft__side_copy *haft__copy_of(const haft_side *side, const struct haft__side_copy *copies)
{
    while (copies != NULL && copies->number != side->number) {
        copies = copies->next;
    }
    return copies;
}

static void haft__become(const haft_side *side, const struct haft__side_copy *copy)
{
    const uint64_t haft__own = haft__bytes_used(side);
    const uint64_t haft__kept = copy != NULL ? copy->bytes : 0;

    assert(haft__kept <= haft__own && "entries that were set once stay");
    if (haft__kept != 0) {
        memcpy(haft__first_entry(side), copy + 1, (size_t)haft__kept);
    }
    if (haft__own != haft__kept) {
        memset(haft__first_entry(side) + haft__kept, 0, (size_t)(haft__own - haft__kept));
    }
}

HAFT_INTERNAL void haft__sides_become(const haft__atomic_u64 *list, const struct haft__side_copy *copies)
{
    for (const haft_side *side = haft__sides_first(list); side != NULL; side = side->next) {
        if (side->on_end == NULL) {
            haft__become(side, haft__copy_of(side, copies));
        }
    }
}

/*
 * kit/local/snapshots/image.h - the image of a table: all that decides what its next call answers.
 *
 * Numbers, and parts of its memory.  The parts of a table's own image are its memory itself; those
 * of another lie elsewhere.  A table becomes any image of its shape.
 */

#define haft__IMAGE_NUMBERS 18
#define haft__IMAGE_PARTS 4
#define haft__SHAPE_NUMBERS 10

struct haft__image_part {
    char *at;
    uint64_t bytes;
    uint64_t most; /* bytes that the part can ever have */
};

struct haft__image {
    uint64_t numbers[haft__IMAGE_NUMBERS];
    struct haft__image_part parts[haft__IMAGE_PARTS];
};

/* The options of the table that an image must agree with. */
struct haft__shape {
    uint64_t numbers[haft__SHAPE_NUMBERS];
};

/* Copied and compared in blocks, from the start of a part on. */
#define haft__IMAGE_BLOCK 64

/* Whether two whole blocks differ. */
static inline bool haft__image_differs(const char *a, const char *b)
{
    return haft__pairs_differ(a, b);
}

/* Make `bytes` bytes at `to` what they are at `from`: writes to blocks that differ, alone. */
HAFT_INTERNAL void haft__image_put(char *to, const char *from, uint64_t bytes);

/* Make the bytes zero; the same. */
HAFT_INTERNAL void haft__image_clear(char *at, uint64_t bytes);

/*
 * kit/local/snapshots/history.h - snapshots of a table: see haft/kit/snapshot.h.
 *
 * One of them, the current, is there as a whole: the shadow, a copy of the table's memory.  Between
 * two neighbours stand the blocks that differ, with the bytes of the one that the shadow is not.
 * Going from one to the other exchanges these bytes with the shadow's, so the way back is there
 * too.
 *
 *   oldest --changes-- current = shadow --changes-- newest
 *
 * Bytes of the shadow that no snapshot had before need no way back: nothing asks for them.
 */

struct haft__change;
struct haft__side_copy;

/* Snapshot number n is in place n % keep. */
struct haft__snapshot {
    uint64_t serial; /* no other one of the history ever has it; numbers come again */
    uint64_t numbers[haft__IMAGE_NUMBERS];
    uint64_t bytes[haft__IMAGE_PARTS];
    struct haft__change *changes;     /* against the snapshot before; NULL: none */
    uint64_t ends[haft__IMAGE_PARTS]; /* of each part's changes */
    struct haft__side_copy *sides;    /* all their values, whole; NULL: none */
};

struct haft__shadow_part {
    struct haft__reservation memory; /* if `is_open` */
    bool is_open;
    uint64_t bytes; /* that snapshots have had */
};

struct haft_history {
    haft_allocator heap;
    struct haft__snapshot *snapshots;
    uint64_t keep;
    uint64_t oldest;
    uint64_t next; /* one more than the newest; equal: there is none */
    uint64_t current;
    uint64_t taken;     /* snapshots ever */
    struct haft__shape shape; /* of the tables whose snapshots it has */
    struct haft__shadow_part shadow[haft__IMAGE_PARTS];
};

/* Whether snapshots of tables of that shape are or may be in it. */
HAFT_INTERNAL bool haft__history_fits(const struct haft_history *history, const struct haft__shape *shape);

/*
 * Keep a copy of `image`, which is of that shape, behind the current snapshot; those behind that
 * are dropped.  HAFT_OK and its number, and `sides`, of the history's heap, are the history's; or
 * HAFT_NO_MEMORY with nothing changed.
 */
HAFT_INTERNAL
haft_status haft__history_take(struct haft_history *history, const struct haft__shape *shape,
                         const struct haft__image *image, struct haft__side_copy *sides, uint64_t *number);

/* The snapshot of that number; NULL: there is none. */
HAFT_INTERNAL
const struct haft__snapshot *haft__history_find(const struct haft_history *history, uint64_t number);

/* Make a snapshot that is there the current one: its image, which is valid until the next call. */
HAFT_INTERNAL struct haft__image haft__history_go(struct haft_history *history, uint64_t number);

/* kit/local/snapshots/history.c */

/* Snapshots: a shadow, and what differs between neighbours. */

struct haft__change {
    uint64_t block;
    char bytes[haft__IMAGE_BLOCK];
};

static size_t haft__bytes_of_snapshots(uint64_t haft__keep)
{
    return (size_t)haft__keep * sizeof(struct haft__snapshot);
}

static haft_status haft__open_history(const haft_history_options *options, haft_history **history)
{
    const haft_allocator heap = haft__heap_of(options->allocator);
    haft_history *opened = haft__heap_take_zero(&heap, sizeof *opened, _Alignof(haft_history));
    struct haft__snapshot *snapshots =
        options->keep <= SIZE_MAX / 2 / sizeof *snapshots
            ? haft__heap_take_zero(&heap, haft__bytes_of_snapshots(options->keep), _Alignof(struct haft__snapshot))
            : NULL;

    if (opened == NULL || snapshots == NULL) {
        haft__heap_give(&heap, snapshots, haft__bytes_of_snapshots(options->keep));
        haft__heap_give(&heap, opened, sizeof *opened);
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->snapshots = snapshots;
    opened->keep = options->keep;
    *history = opened;
    return HAFT_OK;
}

haft_status haft_history_open_sized(const haft_history_options *options, size_t size,
                                    haft_history **history)
{
    haft_history_options known;
    const haft_status status = haft__sized_take(&known, sizeof known, options, size);

    if (status != HAFT_OK) {
        return status;
    }
    return known.keep != 0 ? haft__open_history(&known, history) : haft__kit_status(HAFT_BAD_KEEP);
}

/* Bytes of a snapshot's changes, with room for one more: never 0. */
static size_t haft__bytes_of_changes(const struct haft__snapshot *snapshot)
{
    return (size_t)(snapshot->ends[haft__IMAGE_PARTS - 1] + 1) * sizeof(struct haft__change);
}

static struct haft__snapshot *haft__snapshot_of(const haft_history *history, uint64_t number)
{
    return &history->snapshots[number % history->keep];
}

static void haft__forget_changes(const haft_history *history, uint64_t number)
{
    struct haft__snapshot *snapshot = haft__snapshot_of(history, number);

    haft__heap_give(&history->heap, snapshot->changes, haft__bytes_of_changes(snapshot));
    snapshot->changes = NULL;
}

static void haft__forget_snapshot(const haft_history *history, uint64_t number)
{
    struct haft__snapshot *snapshot = haft__snapshot_of(history, number);

    haft__forget_changes(history, number);
    haft__side_copies_free(&history->heap, snapshot->sides);
    snapshot->sides = NULL;
}

static void haft__close_shadow(haft_history *history)
{
    for (int part = 0; part < haft__IMAGE_PARTS; part++) {
        if (history->shadow[part].is_open) {
            haft__reservation_close_array(&history->shadow[part].memory, &history->heap);
            history->shadow[part].is_open = false;
        }
    }
}

void haft_history_close(haft_history *history)
{
    for (uint64_t number = history->oldest; number < history->next; number++) {
        haft__forget_snapshot(history, number);
    }
    haft__close_shadow(history);
    const haft_allocator heap = history->heap;

    haft__heap_give(&heap, history->snapshots, haft__bytes_of_snapshots(history->keep));
    haft__heap_give(&heap, history, sizeof *history);
}

haft_range haft_history_kept(const haft_history *history)
{
    return HAFT_RANGE(history->oldest, history->next);
}

uint64_t haft_history_bytes(const haft_history *history)
{
    uint64_t bytes = sizeof *history + history->keep * sizeof *history->snapshots;

    for (int part = 0; part < haft__IMAGE_PARTS; part++) {
        bytes += history->shadow[part].bytes;
    }
    for (uint64_t number = history->oldest; number < history->next; number++) {
        const struct haft__snapshot *snapshot = haft__snapshot_of(history, number);

        bytes += haft__side_copies_bytes(snapshot->sides);
        if (snapshot->changes != NULL) {
            bytes += snapshot->ends[haft__IMAGE_PARTS - 1] * sizeof *snapshot->changes;
        }
    }
    return bytes;
}

HAFT_INTERNAL bool haft__history_fits(const haft_history *history, const struct haft__shape *shape)
{
    return history->next == 0 || memcmp(&history->shape, shape, sizeof *shape) == 0;
}

HAFT_INTERNAL const struct haft__snapshot *haft__history_find(const haft_history *history, uint64_t number)
{
    return number >= history->oldest && number < history->next ? haft__snapshot_of(history, number)
                                                               : NULL;
}

/* --- taking --- */

static uint64_t haft__blocks_of(uint64_t bytes)
{
    return (bytes + haft__IMAGE_BLOCK - 1) / haft__IMAGE_BLOCK;
}

/* Room in the shadow for the whole image, in whole blocks. */
static haft_status haft__make_room(haft_history *history, const struct haft__image *image)
{
    haft_status status = HAFT_OK;

    for (int i = 0; i < haft__IMAGE_PARTS && status == HAFT_OK; i++) {
        const struct haft__image_part *part = &image->parts[i];
        struct haft__shadow_part *shadow = &history->shadow[i];

        if (part->bytes != 0 && !shadow->is_open) {
            status = haft__reservation_open_array(&shadow->memory, haft__blocks_of(part->most) * haft__IMAGE_BLOCK,
                                            haft__IMAGE_BLOCK, &history->heap);
            shadow->is_open = status == HAFT_OK;
        }
        if (part->bytes != 0 && status == HAFT_OK) {
            status = haft__reservation_commit(&shadow->memory, haft__blocks_of(part->bytes) * haft__IMAGE_BLOCK);
        }
    }
    return status;
}

/* Bytes of a part that the shadow has from a snapshot, whatever that was: the rest is new to it. */
static uint64_t haft__known_bytes(const struct haft__shadow_part *shadow, const struct haft__image_part *part)
{
    return part->bytes < shadow->bytes ? part->bytes : shadow->bytes;
}

/*
 * Set the bit of each block of a part that differs from the shadow's: how many.  The last block may
 * be a part of one.
 */
static uint64_t haft__compare_part(const struct haft__shadow_part *shadow, const struct haft__image_part *part,
                             uint64_t *differ)
{
    const uint64_t bytes = haft__known_bytes(shadow, part);
    const uint64_t whole = bytes / haft__IMAGE_BLOCK;
    uint64_t found = 0;

    for (uint64_t first = 0; first < haft__blocks_of(bytes); first += 64) {
        const uint64_t end = first + 64 < whole ? first + 64 : whole;
        uint64_t bits = 0;

        for (uint64_t block = first; block < end; block++) {
            const uint64_t at = block * haft__IMAGE_BLOCK;

            bits |= (uint64_t)haft__image_differs(part->at + at, shadow->memory.base + at)
                    << (block - first);
        }
        differ[first / 64] = bits;
        found += (uint64_t)haft__count_bits(bits);
    }
    if (bytes % haft__IMAGE_BLOCK != 0 &&
        memcmp(part->at + whole * haft__IMAGE_BLOCK, shadow->memory.base + whole * haft__IMAGE_BLOCK,
               (size_t)(bytes % haft__IMAGE_BLOCK)) != 0) {
        differ[whole / 64] |= UINT64_C(1) << whole % 64;
        found++;
    }
    return found;
}

/* Where the bits of a part begin, in words. */
static uint64_t haft__bitmap_of(const haft_history *history, int part)
{
    uint64_t words = 0;

    for (int i = 0; i < part; i++) {
        words += haft__blocks_of(history->shadow[i].bytes) / 64 + 1;
    }
    return words;
}

/* The shadow's bytes go to the change, and the image's to the shadow. */
static void haft__keep_block(char *shadow, const struct haft__image_part *part, uint64_t known, uint64_t block,
                       struct haft__change *change)
{
    const uint64_t at = block * haft__IMAGE_BLOCK;
    const uint64_t left = known - at;

    change->block = block;
    memcpy(change->bytes, shadow + at, haft__IMAGE_BLOCK);
    if (left >= haft__IMAGE_BLOCK) {
        memcpy(shadow + at, part->at + at, haft__IMAGE_BLOCK);
    } else {
        memcpy(shadow + at, part->at + at, (size_t)left);
    }
}

static struct haft__change *haft__keep_blocks(const struct haft__shadow_part *shadow, const struct haft__image_part *part,
                                  const uint64_t *differ, struct haft__change *change)
{
    const uint64_t known = haft__known_bytes(shadow, part);

    for (uint64_t first = 0; first < haft__blocks_of(known); first += 64) {
        for (uint64_t bits = differ[first / 64]; bits != 0; bits &= bits - 1) {
            haft__keep_block(shadow->memory.base, part, known, first + haft__lowest_bit(bits), change++);
        }
    }
    return change;
}

/*
 * Turn the shadow from the current snapshot into the image; the changes are those of the new one,
 * `taken`.  HAFT_OK, or HAFT_NO_MEMORY with nothing changed.
 */
static haft_status haft__exchange_with(haft_history *history, const struct haft__image *image,
                                 struct haft__snapshot *haft__taken)
{
    const size_t bitmap_bytes = (size_t)haft__bitmap_of(history, haft__IMAGE_PARTS) * sizeof(uint64_t);
    uint64_t *differ = haft__heap_take(&history->heap, bitmap_bytes, _Alignof(uint64_t));
    uint64_t found = 0;

    if (differ == NULL) {
        return HAFT_NO_MEMORY;
    }
    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        found +=
            haft__compare_part(&history->shadow[i], &image->parts[i], &differ[haft__bitmap_of(history, i)]);
        haft__taken->ends[i] = found;
    }
    haft__taken->changes = haft__heap_take(&history->heap, haft__bytes_of_changes(haft__taken), _Alignof(struct haft__change));
    if (haft__taken->changes == NULL) {
        haft__heap_give(&history->heap, differ, bitmap_bytes);
        return HAFT_NO_MEMORY;
    }
    struct haft__change *change = haft__taken->changes;

    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        change = haft__keep_blocks(&history->shadow[i], &image->parts[i], &differ[haft__bitmap_of(history, i)],
                             change);
    }
    haft__heap_give(&history->heap, differ, bitmap_bytes);
    return HAFT_OK;
}

/* Copy what the shadow does not know, from byte `known` of each part on. */
static void haft__copy_rest(haft_history *history, const struct haft__image *image, bool whole)
{
    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        const struct haft__image_part *part = &image->parts[i];
        struct haft__shadow_part *shadow = &history->shadow[i];
        const uint64_t known = whole ? 0 : haft__known_bytes(shadow, part);

        if (part->bytes != known) {
            memcpy(shadow->memory.base + known, part->at + known, (size_t)(part->bytes - known));
        }
        shadow->bytes = part->bytes > shadow->bytes ? part->bytes : shadow->bytes;
    }
}

/* The snapshots behind the current one go; and the oldest, if there is no room for one more. */
static void haft__drop(haft_history *history)
{
    while (history->next > history->current + 1) {
        haft__forget_snapshot(history, --history->next);
    }
    if (history->next - history->oldest == history->keep) {
        haft__forget_snapshot(history, history->oldest++);
        if (history->oldest < history->next) {
            haft__forget_changes(history, history->oldest);
        }
    }
}

HAFT_INTERNAL
haft_status haft__history_take(haft_history *history, const struct haft__shape *shape,
                         const struct haft__image *image, struct haft__side_copy *sides, uint64_t *number)
{
    const bool is_alone = history->next == 0 || history->keep == 1;
    struct haft__snapshot haft__taken = {.changes = NULL, .sides = sides};
    haft_status status = haft__make_room(history, image);

    if (status == HAFT_OK && !is_alone) {
        status = haft__exchange_with(history, image, &haft__taken);
    }
    if (status != HAFT_OK) {
        if (history->next == 0) {
            haft__close_shadow(history); /* the next table to come may be of another shape */
        }
        return status;
    }
    haft__copy_rest(history, image, is_alone);
    if (history->next != 0) {
        haft__drop(history);
    }
    memcpy(haft__taken.numbers, image->numbers, sizeof haft__taken.numbers);
    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        haft__taken.bytes[i] = image->parts[i].bytes;
    }
    history->shape = *shape;
    history->current = history->next++;
    haft__taken.serial = ++history->taken;
    *haft__snapshot_of(history, history->current) = haft__taken;
    if (number != NULL) {
        *number = history->current;
    }
    return HAFT_OK;
}

/* --- going --- */

/* The changes of a snapshot and the shadow exchange their bytes. */
static void haft__exchange(const haft_history *history, const struct haft__snapshot *snapshot)
{
    uint64_t at = 0;

    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        for (; at < snapshot->ends[i]; at++) {
            struct haft__change *change = &snapshot->changes[at];
            char *block = history->shadow[i].memory.base + change->block * haft__IMAGE_BLOCK;
            char bytes[haft__IMAGE_BLOCK];

            memcpy(bytes, block, haft__IMAGE_BLOCK);
            memcpy(block, change->bytes, haft__IMAGE_BLOCK);
            memcpy(change->bytes, bytes, haft__IMAGE_BLOCK);
        }
    }
}

HAFT_INTERNAL struct haft__image haft__history_go(haft_history *history, uint64_t number)
{
    struct haft__image image;

    while (history->current > number) {
        haft__exchange(history, haft__snapshot_of(history, history->current--));
    }
    while (history->current < number) {
        haft__exchange(history, haft__snapshot_of(history, ++history->current));
    }
    const struct haft__snapshot *snapshot = haft__snapshot_of(history, number);

    memcpy(image.numbers, snapshot->numbers, sizeof image.numbers);
    for (int i = 0; i < haft__IMAGE_PARTS; i++) {
        image.parts[i] =
            (struct haft__image_part){.at = history->shadow[i].memory.base, .bytes = snapshot->bytes[i]};
    }
    return image;
}

/* kit/local/snapshots/image.c */

/* Images of tables: memory that is mostly equal already. */

HAFT_INTERNAL void haft__image_put(char *to, const char *from, uint64_t bytes)
{
    uint64_t at = 0;

    for (; at + haft__IMAGE_BLOCK <= bytes; at += haft__IMAGE_BLOCK) {
        if (haft__image_differs(to + at, from + at)) {
            memcpy(to + at, from + at, haft__IMAGE_BLOCK);
        }
    }
    if (at < bytes) {
        memcpy(to + at, from + at, (size_t)(bytes - at));
    }
}

HAFT_INTERNAL void haft__image_clear(char *at, uint64_t bytes)
{
    static const uint64_t zeros[haft__IMAGE_BLOCK / sizeof(uint64_t)];

    for (; bytes >= haft__IMAGE_BLOCK; bytes -= haft__IMAGE_BLOCK, at += haft__IMAGE_BLOCK) {
        haft__image_put(at, (const char *)zeros, haft__IMAGE_BLOCK);
    }
    if (bytes != 0) {
        memset(at, 0, (size_t)bytes);
    }
}

/*
 * kit/local/snapshots/local_image.h - the image of a table of one thread: see
 * kit/local/snapshots/image.h.
 */

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define haft__LOCAL_NUMBERS(X)                                                                           \
    X(CAPACITY, "capacity")                                                                        \
    X(MIN_FREE, "min_free")                                                                        \
    X(LIMIT, "number of slots that there can be")                                                  \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")                                                                     \
    X(TAIL, "last free slot")                                                                      \
    X(QUEUED, "number of free slots")                                                              \
    X(FRESH_AT, "start of the fresh run in use")                                                   \
    X(FRESH_END, "end of the fresh run in use")                                                    \
    X(FRESH_SLOTS, "number of fresh slots")                                                        \
    X(FIRST_RUN, "first fresh run")                                                                \
    X(RUNS, "number of page runs")                                                                 \
    X(WRAPPED, "mark of generations that began again")

#define haft__LOCAL_NUMBER(name, text) haft__LOCAL_##name,
enum haft__local_number { haft__LOCAL_NUMBERS(haft__LOCAL_NUMBER) haft__LOCAL_NUMBERS_END };

/* The slots from slot 0 on; the records of page runs. */
enum haft__local_part { haft__LOCAL_SLOTS, haft__LOCAL_RUN_RECORDS };

/* What the table was opened with; names for each number of it. */
HAFT_INTERNAL struct haft__shape haft__local_shape(const haft_local *local);
HAFT_INTERNAL const char *const haft__local_shape_names[haft__SHAPE_NUMBERS];

/* The table's own image.  Between the two functions the bytes of all slots may be touched. */
HAFT_INTERNAL struct haft__image haft__local_begin_image(const haft_local *local);
HAFT_INTERNAL void haft__local_end_image(const haft_local *local);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__local_prepare(haft_local *local, const uint64_t *numbers);

/*
 * The values of the table's sides end by `end`, as its ids will be issued again.  HAFT_OK, or
 * HAFT_IN_USE: on_end has reserved a slot.
 */
HAFT_INTERNAL haft_status haft__local_end_values(haft_local *local, void (*end)(const haft__atomic_u64 *list));

/* Become the image, which the table is prepared for. */
HAFT_INTERNAL void haft__local_become(haft_local *local, const struct haft__image *image);

/* kit/local/snapshots/local_image.c */

/*
 * The image of a table of one thread, and how the table becomes another.
 *
 * Edges in this file.
 *   OWN    one thread uses the table
 */

_Static_assert(haft__LOCAL_NUMBERS_END <= haft__IMAGE_NUMBERS, "an image has room for the numbers");

HAFT_INTERNAL const char *const haft__local_shape_names[haft__SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag",  "object_size", "object_alignment",
    "slots",         "reuse",  "wrap", "pins",        "memory that can be released"};

HAFT_INTERNAL struct haft__shape haft__local_shape(const haft_local *local)
{
    const struct haft__slots *slots = &local->slots;
    const haft_layout layout = slots->format.layout;

    return (struct haft__shape){{
        1,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){slots->format.tag}),
        slots->object_size,
        haft__slots_alignment(slots),
        slots->view.mask + 1,
        local->is_fifo,
        local->wraps,
        slots->has_pins,
        !slots->runs.stay,
    }};
}

HAFT_INTERNAL haft_status haft__local_end_values(haft_local *local, void (*end)(const haft__atomic_u64 *list))
{
    local->in_callback = true;
    end(&local->attached);
    local->in_callback = false;
    return haft__local_check_moment(local); /* on_end may have reserved a slot */
}

/* Records of the page runs that have been used. */
static uint64_t haft__run_count(const haft_local *local)
{
    return local->slots.runs.records != NULL ? haft__runs_of(&local->slots.runs, local->used - 1) + 1 : 0;
}

HAFT_INTERNAL struct haft__image haft__local_begin_image(const haft_local *local)
{
    const struct haft__slots *slots = &local->slots;
    const uint64_t runs = haft__run_count(local);

    haft__slots_unpoison_all(slots, local->used);
    return (struct haft__image){
        .numbers =
            {
                [haft__LOCAL_CAPACITY] = local->capacity,
                [haft__LOCAL_MIN_FREE] = local->min_free,
                [haft__LOCAL_LIMIT] = slots->limit,
                [haft__LOCAL_FIRST] = slots->format.first,
                [haft__LOCAL_USED] = local->used,
                [haft__LOCAL_COUNT] = local->front.count,
                [haft__LOCAL_EXHAUSTED] = local->exhausted,
                [haft__LOCAL_HEAD] = local->is_in_place ? local->front.head : local->listed_head,
                [haft__LOCAL_TAIL] = local->queue_tail,
                [haft__LOCAL_QUEUED] = haft__local_listed(local), /* one in place too: not so in each table */
                [haft__LOCAL_FRESH_AT] = local->fresh_at,
                [haft__LOCAL_FRESH_END] = local->fresh_end,
                [haft__LOCAL_FRESH_SLOTS] = local->fresh_slots,
                [haft__LOCAL_FIRST_RUN] = slots->runs.first,
                [haft__LOCAL_RUNS] = runs,
                [haft__LOCAL_WRAPPED] = slots->wrapped,
            },
        .parts =
            {
                [haft__LOCAL_SLOTS] = {slots->view.base, local->used * slots->view.stride,
                                 (slots->view.mask + 1) * slots->view.stride},
                [haft__LOCAL_RUN_RECORDS] = {(char *)slots->runs.records, runs * sizeof(struct haft__run),
                                       slots->runs.count * sizeof(struct haft__run)},
            },
    };
}

/* AddressSanitizer is to report accesses to slots in which no object is. */
static void haft__poison_free_slots(const haft_local *local)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
        const uint64_t word = haft__load_relaxed(OWN, at);

        if (word != 0 && haft__word_index(&local->slots.format, word) != index) {
            haft__slots_poison(&local->slots, at);
        }
    }
}

HAFT_INTERNAL void haft__local_end_image(const haft_local *local)
{
    if (haft__asan_is_on()) {
        haft__poison_free_slots(local);
    }
}

HAFT_INTERNAL haft_status haft__local_prepare(haft_local *local, const uint64_t *numbers)
{
    const uint64_t used = numbers[haft__LOCAL_USED] > local->used ? numbers[haft__LOCAL_USED] : local->used;
    struct haft__runs *runs = &local->slots.runs;
    const haft_status status = haft__slots_commit(&local->slots, used);

    /* Records that were only reserved, for a shared table, are cleared as others are. */
    return status == HAFT_OK && (numbers[haft__LOCAL_RUNS] != 0 || runs->records != NULL)
               ? haft__runs_prepare(runs, used)
               : status;
}

/* Slots and records as in the image, and as new behind it. */
static void haft__become_parts(const haft_local *local, const struct haft__image *image)
{
    const struct haft__image_part haft__own[] = {
        [haft__LOCAL_SLOTS] = {local->slots.view.base, local->used * local->slots.view.stride, 0},
        [haft__LOCAL_RUN_RECORDS] = {(char *)local->slots.runs.records,
                               haft__run_count(local) * sizeof(struct haft__run), 0},
    };

    for (int i = haft__LOCAL_SLOTS; i <= haft__LOCAL_RUN_RECORDS; i++) {
        const struct haft__image_part *part = &image->parts[i];

        haft__image_put(haft__own[i].at, part->at, part->bytes);
        if (haft__own[i].bytes > part->bytes) {
            haft__image_clear(haft__own[i].at + part->bytes, haft__own[i].bytes - part->bytes);
        }
    }
}

static void haft__become_slots(struct haft__slots *slots, const uint64_t *numbers)
{
    slots->limit = numbers[haft__LOCAL_LIMIT];
    slots->format.first = numbers[haft__LOCAL_FIRST];
    slots->runs.first = numbers[haft__LOCAL_FIRST_RUN];
    slots->wrapped = numbers[haft__LOCAL_WRAPPED] != 0;
}

HAFT_INTERNAL void haft__local_become(haft_local *local, const struct haft__image *image)
{
    const uint64_t *numbers = image->numbers;
    const uint64_t used = numbers[haft__LOCAL_USED];

    haft__slots_unpoison_all(&local->slots, used > local->used ? used : local->used);
    haft__sites_forget(&local->slots.sites, HAFT_FIRST_INDEX, local->used);
    haft__become_parts(local, image);
    haft__become_slots(&local->slots, numbers);
    local->capacity = numbers[haft__LOCAL_CAPACITY];
    local->min_free = numbers[haft__LOCAL_MIN_FREE];
    local->used = used;
    local->exhausted = numbers[haft__LOCAL_EXHAUSTED];
    local->fresh_at = numbers[haft__LOCAL_FRESH_AT];
    local->fresh_end = numbers[haft__LOCAL_FRESH_END];
    local->fresh_slots = numbers[haft__LOCAL_FRESH_SLOTS];
    local->front.count = (uint32_t)numbers[haft__LOCAL_COUNT];
    local->is_crowded = haft__local_crowds(local);
    haft__local_begin_list(local);
    *haft__local_head(local) = (uint32_t)numbers[haft__LOCAL_HEAD];
    local->queue_tail = numbers[haft__LOCAL_TAIL];
    local->queue_count = local->is_in_place ? 0 : numbers[haft__LOCAL_QUEUED];
    haft__local_end_image(local);
}

/* kit/local/snapshots/local_snapshot.c */

/* haft_local: snapshots, and a second table. */

/* Whether the table may go to the history now, or come from it. */
static haft_status haft__check_history(const haft_local *local, const haft_history *history)
{
    const struct haft__shape shape = haft__local_shape(local);
    const haft_status status = haft__local_check_moment(local);

    if (status == HAFT_OK && !haft__history_fits(history, &shape)) {
        return haft__kit_status(HAFT_OTHER_TABLE);
    }
    return status;
}

haft_status haft_local_snapshot(const haft_local *local, haft_history *history, uint64_t *number)
{
    const struct haft__shape shape = haft__local_shape(local);
    haft_status status = haft__check_history(local, history);

    struct haft__side_copy *sides = NULL;

    status = status == HAFT_OK ? haft__sides_copy(&local->attached, &history->heap, &sides) : status;
    if (status == HAFT_OK) {
        const struct haft__image image = haft__local_begin_image(local);

        status = haft__history_take(history, &shape, &image, sides, number);
        haft__local_end_image(local);
    }
    if (status != HAFT_OK) {
        haft__side_copies_free(&history->heap, sides);
    }
    return status;
}

/*
 * Whether the table can become that snapshot now; it is prepared.  `*serial` is the snapshot's from
 * now on; if it was not 0, it must have been.
 */
static haft_status haft__prepare_rewind(haft_local *local, const haft_history *history, uint64_t number,
                                  uint64_t *serial)
{
    const struct haft__snapshot *snapshot = haft__history_find(history, number);
    const haft_status status = haft__check_history(local, history);

    if (status == HAFT_OK && (snapshot == NULL || (*serial != 0 && *serial != snapshot->serial))) {
        return HAFT_OUT_OF_RANGE;
    }
    *serial = snapshot != NULL ? snapshot->serial : 0;
    return status == HAFT_OK ? haft__local_prepare(local, snapshot->numbers) : status;
}

haft_status haft_local_rewind(haft_local *local, haft_history *history, uint64_t number)
{
    uint64_t serial = 0;
    haft_status status = haft__prepare_rewind(local, history, number, &serial);

    status = status == HAFT_OK ? haft__local_end_values(local, haft__sides_end_all) : status;
    /* on_end may have inserted, and taken snapshots of other tables. */
    status = status == HAFT_OK ? haft__prepare_rewind(local, history, number, &serial) : status;
    if (status == HAFT_OK) {
        const struct haft__image image = haft__history_go(history, number);

        haft__local_become(local, &image);
        haft__sides_become(&local->attached, haft__history_find(history, number)->sides);
    }
    return status;
}

/* Options for slots in as much address space. */
static struct haft__slots_options haft__like_slots(const struct haft__slots *slots)
{
    struct haft__slots_options wanted = {
        .common = slots->common,
        .pins = slots->has_pins,
        .huge_pages = slots->huge_pages,
    };

    wanted.common.capacity = slots->view.mask + 1 - HAFT_FIRST_INDEX;
    return wanted;
}

/* A new table like that one, without objects. */
static haft_status haft__open_like(const haft_local *local, haft_local **clone)
{
    const struct haft__slots_options wanted = haft__like_slots(&local->slots);
    haft_local *opened = haft__local_new(local->name, NULL, &local->slots.heap);
    const haft_status status =
        opened != NULL ? haft__slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;

    if (status != HAFT_OK) {
        haft__local_free(opened);
        return status;
    }
    opened->is_fifo = local->is_fifo;
    opened->wraps = local->wraps;
    opened->on_destroy = local->on_destroy;
    opened->destroy_arg = local->destroy_arg;
    opened->used = HAFT_FIRST_INDEX;
    opened->slots.runs.stay = local->slots.runs.stay;
    *clone = opened;
    return HAFT_OK;
}

static void haft__close_unused(haft_local *clone)
{
    haft__slots_close(&clone->slots);
    haft__local_free(clone);
}

haft_status haft_local_clone(const haft_local *local, haft_local **clone)
{
    haft_local *opened = NULL;
    haft_status status = haft__local_check_moment(local);

    if (status == HAFT_OK) {
        status = haft__open_like(local, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    const struct haft__image image = haft__local_begin_image(local);

    status = haft__local_prepare(opened, image.numbers);
    if (status == HAFT_OK) {
        haft__local_become(opened, &image);
        *clone = opened;
    } else {
        haft__close_unused(opened);
    }
    haft__local_end_image(local);
    return status;
}

/*
 * kit/local/files/saved.h - the file of a saved table: a head and a body in blocks, with checksums.
 *
 *   head    8 bytes that no text has, then numbers of 8 bytes; checksum
 *   body    blocks of 4,096 bytes, the last with the rest: bytes, checksum
 *
 * The first bytes are made as PNG's are: a transfer as text changes them.  A checksum is the CRC-32
 * of IEEE 802.3, as in zlib, of the bytes since the one before; it tells each error of up to 32
 * bits in a row.  All numbers are little-endian.
 */

#define haft__SAVED_BLOCK 4096
#define haft__SAVED_HEAD_NUMBERS 31 /* of each kind of table */

struct haft__saved_head {
    uint64_t numbers[haft__SAVED_HEAD_NUMBERS];
};

/* A body, on its way. */
struct haft__saved {
    haft_file *file; /* its offset: that of the block in hand */
    uint64_t left;   /* bytes of the body that are not in a block yet */
    uint64_t filled; /* of the block in hand */
    uint64_t at;
    unsigned char block[haft__SAVED_BLOCK + 4];
};

/* Where in the file a number of the head stands, and a byte of the body. */
HAFT_INTERNAL uint64_t haft__saved_offset_of_number(uint64_t number);
HAFT_INTERNAL uint64_t haft__saved_offset_of_byte(uint64_t byte);

/* The file is wrong, or could not be written: `what` is, or comes, at `offset`. */
HAFT_INTERNAL
haft_status haft__saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what);

/* Write the head, and make ready for a body of that many bytes.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL
haft_status haft__saved_begin_write(struct haft__saved *saved, haft_file *file, const struct haft__saved_head *head,
                              uint64_t bytes);

/* Write a piece of the body.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL haft_status haft__saved_write(struct haft__saved *saved, const void *bytes, uint64_t size);
HAFT_INTERNAL haft_status haft__saved_write_number(struct haft__saved *saved, uint64_t number);

/* Read a head.  HAFT_OK or HAFT_DAMAGED. */
HAFT_INTERNAL haft_status haft__saved_read_head(haft_file *file, struct haft__saved_head *head);

/* Make ready to read a body of that many bytes behind the head. */
HAFT_INTERNAL void haft__saved_begin_read(struct haft__saved *saved, haft_file *file, uint64_t bytes);

/* Read a piece of the body: `what` it is.  HAFT_OK or HAFT_DAMAGED. */
HAFT_INTERNAL
haft_status haft__saved_read(struct haft__saved *saved, void *bytes, uint64_t size, const char *what);
HAFT_INTERNAL
haft_status haft__saved_read_number(struct haft__saved *saved, uint64_t *number, const char *what);

/*
 * kit/local/files/image_file.h - the file of a table's image: its head, the words of its slots, and
 * its objects.
 *
 *   head   1, the shape's numbers, bytes of an object, bytes of the body, the image's numbers
 *   body   what the kind of table says
 */

/* A table that is loaded or saved. */
struct haft__image_file {
    haft_file *file;
    const haft_allocator *heap;
    uint64_t object_size;  /* in memory */
    uint64_t object_bytes; /* in the file */
    void *converted;       /* an object as it is in the file; NULL: nothing is converted */
    void *object;          /* while it is read: as it will be in memory, aligned as any may be */
    struct haft__saved *saved;   /* too large for the stack */
};

/*
 * Look at the file's options, and have room for a block of the file and for objects to be converted
 * in: HAFT_OK, HAFT_UNKNOWN_OPTION or HAFT_NO_MEMORY.  image_file_close() ends what is HAFT_OK.
 */
HAFT_INTERNAL
haft_status haft__image_file_open(struct haft__image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap);
HAFT_INTERNAL void haft__image_file_close(struct haft__image_file *image_file);

/* Write the head.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL
haft_status haft__image_file_begin_write(struct haft__image_file *image_file, const struct haft__shape *shape,
                                   const uint64_t *numbers, uint64_t body);

/*
 * Read the head of a file for a table of that shape, whose numbers have these names.  HAFT_OK, the
 * image's numbers and the bytes of the body; HAFT_DAMAGED, HAFT_OTHER_TABLE.
 */
HAFT_INTERNAL
haft_status haft__image_file_read_head(struct haft__image_file *image_file, const struct haft__shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body);

/* The image's number is wrong: HAFT_DAMAGED. */
HAFT_INTERNAL
haft_status haft__image_file_wrong_number(const struct haft__image_file *image_file, uint64_t number,
                                    const char *name);

/* Write and read an object, as haft_file says. */
HAFT_INTERNAL
haft_status haft__image_file_write_object(struct haft__image_file *image_file, const void *haft__object);
HAFT_INTERNAL haft_status haft__image_file_read_object(struct haft__image_file *image_file, void *haft__object);

/* --- slots: their words, from the first index on --- */

/* What words are there, and where. */
struct haft__image_slots {
    const struct haft__word_format *format;
    char *base; /* of slot 0's word */
    uint64_t stride;
    uint64_t end;      /* one more than the highest index */
    uint64_t at;       /* the byte of the body where the first word stands */
    bool may_be_fresh; /* words may be 0 */
    uint64_t live, exhausted, fresh, free;
    uint64_t tail; /* the last free slot */
};

static inline uint64_t *haft__image_word(const struct haft__image_slots *slots, uint64_t index)
{
    return (uint64_t *)(void *)(slots->base + index * slots->stride);
}

HAFT_INTERNAL
haft_status haft__image_file_write_words(struct haft__image_file *image_file, const struct haft__image_slots *slots);

/* Read the words, each of which is right as far as it tells, and count them. */
HAFT_INTERNAL
haft_status haft__image_file_read_words(struct haft__image_file *image_file, struct haft__image_slots *slots);

/* The list from `head` on has each free slot once; `number` of the image is the head. */
HAFT_INTERNAL
haft_status haft__image_file_check_list(const struct haft__image_file *image_file, struct haft__image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name);

/* Whether `word` is the first generation, or a floor: a generation and the tag alone. */
HAFT_INTERNAL bool haft__image_is_beginning(const struct haft__word_format *format, uint64_t word);

/* kit/local/files/image_file.c */

/* Images of tables in files. */

/* Places of numbers in the head. */
enum { haft__VERSION, haft__SHAPE, haft__OBJECT_BYTES = haft__SHAPE + haft__SHAPE_NUMBERS, haft__BODY, haft__NUMBERS };

#define haft__THIS_VERSION 1

_Static_assert(haft__NUMBERS + haft__IMAGE_NUMBERS == haft__SAVED_HEAD_NUMBERS, "a head has room for the numbers");

/* Whole multiples of any object's alignment; at least one, so that no memory is NULL. */
static size_t haft__round_up_size(uint64_t size)
{
    return (size_t)(size / haft__MAX_ALIGNMENT + 1) * haft__MAX_ALIGNMENT;
}

static size_t haft__block_size(const struct haft__image_file *image_file)
{
    return haft__round_up_size(image_file->object_bytes) + haft__round_up_size(image_file->object_size);
}

/* Room for an object as it is in the file, and for one behind it as it will be in memory. */
static haft_status haft__make_objects(struct haft__image_file *image_file)
{
    char *block = NULL;

    if (image_file->object_bytes <= SIZE_MAX / 2) {
        block = haft__heap_take(image_file->heap, haft__block_size(image_file), haft__MAX_ALIGNMENT);
        image_file->object = block != NULL ? block + haft__round_up_size(image_file->object_bytes) : NULL;
    }
    image_file->converted = block;
    return block != NULL ? HAFT_OK : HAFT_NO_MEMORY;
}

HAFT_INTERNAL
haft_status haft__image_file_open(struct haft__image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap)
{
    *image_file = (struct haft__image_file){
        .file = file,
        .heap = heap,
        .object_size = object_size,
        .object_bytes = file->convert != NULL ? file->converted_size : object_size,
    };
    if (file->reserved[0] != 0 || file->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    image_file->saved = haft__heap_take(heap, sizeof *image_file->saved, _Alignof(struct haft__saved));
    haft_status status = image_file->saved != NULL ? HAFT_OK : HAFT_NO_MEMORY;

    if (status == HAFT_OK && file->convert != NULL) {
        status = haft__make_objects(image_file);
    }
    if (status != HAFT_OK) {
        haft__heap_give(heap, image_file->saved, sizeof *image_file->saved);
    }
    return status;
}

HAFT_INTERNAL void haft__image_file_close(struct haft__image_file *image_file)
{
    haft__heap_give(image_file->heap, image_file->converted, haft__block_size(image_file));
    haft__heap_give(image_file->heap, image_file->saved, sizeof *image_file->saved);
}

/* --- head --- */

HAFT_INTERNAL
haft_status haft__image_file_begin_write(struct haft__image_file *image_file, const struct haft__shape *shape,
                                   const uint64_t *numbers, uint64_t body)
{
    struct haft__saved_head head = {
        .numbers =
            {
                [haft__VERSION] = haft__THIS_VERSION,
                [haft__OBJECT_BYTES] = image_file->object_bytes,
                [haft__BODY] = body,
            },
    };

    memcpy(&head.numbers[haft__SHAPE], shape->numbers, sizeof shape->numbers);
    memcpy(&head.numbers[haft__NUMBERS], numbers, haft__IMAGE_NUMBERS * sizeof numbers[0]);
    return haft__saved_begin_write(image_file->saved, image_file->file, &head, body);
}

static haft_status haft__other_table(const struct haft__image_file *image_file, uint64_t number,
                               const char *name)
{
    return haft__saved_fault(image_file->file, HAFT_OTHER_TABLE, haft__saved_offset_of_number(number), name);
}

HAFT_INTERNAL
haft_status haft__image_file_read_head(struct haft__image_file *image_file, const struct haft__shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body)
{
    struct haft__saved_head head;
    const haft_status status = haft__saved_read_head(image_file->file, &head);

    if (status != HAFT_OK) {
        return status;
    }
    if (head.numbers[haft__VERSION] != haft__THIS_VERSION) {
        return haft__other_table(image_file, haft__VERSION, "version of the file");
    }
    for (uint64_t i = 0; i < haft__SHAPE_NUMBERS; i++) {
        if (head.numbers[haft__SHAPE + i] != shape->numbers[i]) {
            return haft__other_table(image_file, haft__SHAPE + i,
                               names[i] != NULL ? names[i] : "number that must be 0");
        }
    }
    if (head.numbers[haft__OBJECT_BYTES] != image_file->object_bytes) {
        return haft__other_table(image_file, haft__OBJECT_BYTES, "bytes of an object in the file");
    }
    memcpy(numbers, &head.numbers[haft__NUMBERS], haft__IMAGE_NUMBERS * sizeof numbers[0]);
    *body = head.numbers[haft__BODY];
    return HAFT_OK;
}

HAFT_INTERNAL
haft_status haft__image_file_wrong_number(const struct haft__image_file *image_file, uint64_t number,
                                    const char *name)
{
    return haft__saved_fault(image_file->file, HAFT_DAMAGED, haft__saved_offset_of_number(haft__NUMBERS + number),
                       name);
}

/* --- objects --- */

HAFT_INTERNAL haft_status haft__image_file_write_object(struct haft__image_file *image_file, const void *haft__object)
{
    const haft_file *file = image_file->file;

    if (image_file->converted == NULL) {
        return haft__saved_write(image_file->saved, haft__object, image_file->object_bytes);
    }
    file->convert(image_file->converted, haft__object, file->convert_arg);
    return haft__saved_write(image_file->saved, image_file->converted, image_file->object_bytes);
}

HAFT_INTERNAL haft_status haft__image_file_read_object(struct haft__image_file *image_file, void *haft__object)
{
    const haft_file *file = image_file->file;
    void *to = image_file->converted != NULL ? image_file->converted : haft__object;
    const haft_status status =
        haft__saved_read(image_file->saved, to, image_file->object_bytes, "an object");

    if (status == HAFT_OK && image_file->converted != NULL) {
        memset(image_file->object, 0, (size_t)image_file->object_size);
        file->convert(image_file->object, image_file->converted, file->convert_arg);
        memcpy(haft__object, image_file->object, (size_t)image_file->object_size);
    }
    return status;
}

/* --- words --- */

HAFT_INTERNAL
haft_status haft__image_file_write_words(struct haft__image_file *image_file, const struct haft__image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        status = haft__saved_write_number(image_file->saved, *haft__image_word(slots, index));
    }
    return status;
}

/* The slot's word is wrong: HAFT_DAMAGED. */
static haft_status haft__wrong_word(const struct haft__image_file *image_file, const struct haft__image_slots *slots,
                              uint64_t index)
{
    const uint64_t byte = slots->at + (index - HAFT_FIRST_INDEX) * sizeof(uint64_t);

    return haft__saved_fault(image_file->file, HAFT_DAMAGED, haft__saved_offset_of_byte(byte), "a slot's word");
}

HAFT_INTERNAL bool haft__image_is_beginning(const struct haft__word_format *format, uint64_t word)
{
    return (word & ~format->generation_mask) == format->tag && haft__word_generation(format, word) != 0;
}

/* Whether the word may stand in slot `index`, where it is counted. */
static bool haft__count_word(struct haft__image_slots *slots, uint64_t index, uint64_t word)
{
    const struct haft__word_format *format = slots->format;
    const uint64_t field = haft__word_index(format, word);
    const bool has_generation = haft__image_is_beginning(format, haft__word_with_index(format, word, 0));

    if (word == 0) {
        slots->fresh++;
        return slots->may_be_fresh;
    }
    if (field == index) {
        slots->live++;
        return has_generation;
    }
    if (field == haft__MARK_EXHAUSTED) {
        slots->exhausted++;
        return word == (format->tag | haft__MARK_EXHAUSTED);
    }
    slots->free++;
    return has_generation &&
           (field == haft__MARK_END || (field >= HAFT_FIRST_INDEX && field < slots->end));
}

HAFT_INTERNAL
haft_status haft__image_file_read_words(struct haft__image_file *image_file, struct haft__image_slots *slots)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end; index++) {
        uint64_t word;
        const haft_status status = haft__saved_read_number(image_file->saved, &word, "a slot's word");

        if (status != HAFT_OK) {
            return status;
        }
        if (!haft__count_word(slots, index, word)) {
            return haft__wrong_word(image_file, slots, index);
        }
        *haft__image_word(slots, index) = word;
    }
    return HAFT_OK;
}

/* Whether the slot may be in the list. */
static bool haft__is_listed(const struct haft__image_slots *slots, uint64_t index)
{
    if (index < HAFT_FIRST_INDEX || index >= slots->end) {
        return false;
    }
    const uint64_t word = *haft__image_word(slots, index);
    const uint64_t field = haft__word_index(slots->format, word);

    return word != 0 && field != index && field != haft__MARK_EXHAUSTED;
}

HAFT_INTERNAL
haft_status haft__image_file_check_list(const struct haft__image_file *image_file, struct haft__image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name)
{
    uint64_t met = 0;

    slots->tail = haft__MARK_END;
    for (uint64_t at = head; at != haft__MARK_END || met != slots->free;) {
        /* A circle meets more slots than there are. */
        if (met == slots->free || !haft__is_listed(slots, at)) {
            return slots->tail == haft__MARK_END ? haft__image_file_wrong_number(image_file, number, name)
                                           : haft__wrong_word(image_file, slots, slots->tail);
        }
        met++;
        slots->tail = at;
        at = haft__word_index(slots->format, *haft__image_word(slots, at));
    }
    return HAFT_OK;
}

/* kit/local/files/local_restore.c */

/*
 * haft_local: ids chosen elsewhere, such as those of a saved game.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

/* Whether the slot of `id` is free, and has lived no life of that generation (0: none left). */
static haft_status haft__check_slot(const haft_local *local, haft_id id)
{
    const struct haft__word_format *format = &local->slots.format;
    const uint64_t index = haft__word_index(format, id.bits);
    const uint64_t word = haft__load_relaxed(OWN, haft__slots_word(&local->slots, index));
    const uint64_t asked = haft__word_generation(format, id.bits);

    if (haft__word_index(format, word) == haft__MARK_EXHAUSTED) {
        return HAFT_EXHAUSTED;
    }
    if (!haft__local_is_free(local, index, word) || haft__local_is_ending(local, index)) {
        return haft__kit_status(HAFT_OCCUPIED);
    }
    if (local->wraps && haft__slots_word_or_floor(&local->slots, index, word) == 0) {
        return HAFT_OK; /* even below the first generation: the slot may have begun again */
    }
    if (asked != 0 && asked < haft__word_generation(format, haft__slots_begin_at(&local->slots, index, word))) {
        return HAFT_STALE;
    }
    return HAFT_OK;
}

/* If `id` is not of the slot's next life, its allocation sites are of none before that id. */
static void haft__forget_sites(const haft_local *local, haft_id id)
{
    const struct haft__slots *slots = &local->slots;
    const uint64_t index = haft__word_index(&slots->format, id.bits);
    const uint64_t haft__begin =
        haft__slots_begin_at(slots, index, haft__load_relaxed(OWN, haft__slots_word(slots, index)));

    if (haft__word_generation(&slots->format, haft__begin) != haft__word_generation(&slots->format, id.bits)) {
        haft__sites_forget(&slots->sites, index, index + 1);
    }
}

/*
 * Take the slot of `id`, whose fields are in order, from where free slots are; `fills` if it will
 * not be free afterwards.
 */
static haft_status haft__claim_slot(haft_local *local, haft_id id, bool fills)
{
    const uint64_t index = haft__word_index(&local->slots.format, id.bits);
    haft_status status = haft__check_slot(local, id);

    if (status == HAFT_OK &&
        (local->mode == haft__LOCAL_CLOSING || (fills && haft__local_available(local) == 0))) {
        status = HAFT_FULL;
    }
    if (status == HAFT_OK) {
        status = haft__slots_commit(&local->slots, index + 1);
    }
    if (status == HAFT_OK) {
        local->slots.wrapped |= local->wraps; /* wherever the id comes from */
        haft__forget_sites(local, id);
        haft__local_claim(local, index);
    }
    return status;
}

/* The slot of `id`, which is free, is reserved: HAFT_OK and the object's bytes, or why not. */
static haft_status haft__reserve_chosen(haft_local *local, haft_id id, void **haft__object, const void *caller)
{
    struct haft__slots *slots = &local->slots;
    const uint64_t index = haft__word_index(&slots->format, id.bits);
    haft_status status = haft__slots_check_chosen(slots, id, slots->limit);

    if (status == HAFT_OK) {
        status = haft__claim_slot(local, id, true);
    }
    if (status == HAFT_OK) {
        haft__atomic_u64 *at = haft__slots_word(slots, index);

        haft__slots_unpoison(slots, at);
        haft__sites_note_birth(&slots->sites, index, caller);
        haft__store_relaxed(OWN, at, haft__word_with_index(&slots->format, id.bits, haft__MARK_RESERVED));
        local->held++;
        *haft__object = haft__slots_object(at);
    }
    return status;
}

haft_status haft_local_reserve_at(haft_local *local, haft_id id, void **haft__object)
{
    void *bytes;
    const haft_status status = haft__reserve_chosen(local, id, &bytes, haft__CALLER);

    if (status == HAFT_OK && haft__object != NULL) {
        *haft__object = bytes;
    }
    return status;
}

haft_status haft_local_restore(haft_local *local, haft_id id, const void *haft__object)
{
    void *bytes;
    const haft_status status = haft__reserve_chosen(local, id, &bytes, haft__CALLER);

    if (status == HAFT_OK) {
        haft__slots_fill(&local->slots, bytes, haft__object);
        haft_local_publish(local, id);
    }
    return status;
}

haft_status haft_local_restore_free(haft_local *local, haft_id next)
{
    const struct haft__word_format *format = &local->slots.format;
    const uint64_t index = haft__word_index(format, next.bits);
    const bool is_exhausted = haft__word_generation(format, next.bits) == 0;
    haft_status status = haft__word_check_fields(&local->slots.format, next, local->slots.limit);

    if (status == HAFT_OK) {
        status = haft__claim_slot(local, next, is_exhausted);
    }
    if (status == HAFT_OK && is_exhausted) {
        haft__store_relaxed(OWN, haft__slots_word(&local->slots, index),
                      haft__word_with_index(format, next.bits, haft__MARK_EXHAUSTED));
        local->exhausted++;
    } else if (status == HAFT_OK) {
        haft__local_push(local, index, next.bits);
    }
    return status;
}

void haft_local_load_begin(haft_local *local)
{
    assert(local->mode == haft__LOCAL_OPEN && !local->in_callback && "loading begins once");
    local->mode = haft__LOCAL_LOADING;
    /* Any of these may be chosen: local_rebuild() finds those that are left. */
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    haft__local_begin_list(local);
}

void haft_local_load_end(haft_local *local)
{
    assert(local->mode == haft__LOCAL_LOADING && !local->in_callback && "loading has begun");
    local->mode = haft__LOCAL_OPEN;
    haft__local_rebuild(local);
}

/* The id of slot `index`, if it is live; else that of its next life. */
static haft_id haft__id_or_next(const haft_local *local, uint64_t index, uint64_t word)
{
    const struct haft__word_format *format = &local->slots.format;
    uint64_t haft__begin = haft__slots_begin_at(&local->slots, index, word);

    if (haft__word_index(format, word) == haft__MARK_RESERVED) {
        haft__begin = haft__local_next_life(local, word);
    }
    return (haft_id){haft__word_with_index(format, haft__begin, index)};
}

uint64_t haft_local_for_each_slot(haft_local *local,
                                  bool (*visit)(haft_id id, void *haft__object, void *arg), void *arg)
{
    const struct haft__word_format *format = &local->slots.format;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
        const uint64_t word = haft__load_relaxed(OWN, at);
        void *haft__object = haft__word_index(format, word) == index ? haft__slots_object(at) : NULL;

        calls++;
        if (!visit(haft__id_or_next(local, index, word), haft__object, arg)) {
            break;
        }
    }
    return calls;
}

/* kit/local/files/local_save.c */

/*
 * haft_local: its image in a file.
 *
 * The body: floor and link of each page run, the words of all slots ever used, and the live objects
 * in order of index.  The end and the length of the list of free slots, which the image of some
 * builds has, are 0: loading finds them.
 */

static const char *const haft__number_names[] = {
#define haft__NAME(name, text) text,
    haft__LOCAL_NUMBERS(haft__NAME)
#undef haft__NAME
};

static uint64_t haft__runs_bytes(const uint64_t *numbers)
{
    return numbers[haft__LOCAL_RUNS] * 2 * sizeof(uint64_t);
}

static struct haft__image_slots haft__slots_of(const haft_local *local, const struct haft__image *image)
{
    return (struct haft__image_slots){
        .format = &local->slots.format,
        .base = image->parts[haft__LOCAL_SLOTS].at,
        .stride = local->slots.view.stride,
        .end = image->numbers[haft__LOCAL_USED],
        .at = haft__runs_bytes(image->numbers),
        .may_be_fresh = true,
    };
}

/* All numbers of the body, and objects that are one behind the other. */
static uint64_t haft__body_bytes(const struct haft__image_file *image_file, const uint64_t *numbers)
{
    return haft__runs_bytes(numbers) + (numbers[haft__LOCAL_USED] - HAFT_FIRST_INDEX) * sizeof(uint64_t) +
           numbers[haft__LOCAL_COUNT] * image_file->object_bytes;
}

static bool haft__is_live_in(const struct haft__image_slots *slots, uint64_t index)
{
    return haft__word_index(slots->format, *haft__image_word(slots, index)) == index;
}

/* --- saving --- */

static haft_status haft__write_runs(struct haft__image_file *image_file, const haft_local *local,
                              uint64_t count)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < 2 * count && status == HAFT_OK; i++) {
        const struct haft__runs *runs = &local->slots.runs;
        const uint64_t number = i % 2 == 0 ? haft__runs_floor(runs, i / 2) : haft__runs_link(runs, i / 2);

        status = haft__saved_write_number(image_file->saved, number);
    }
    return status;
}

static haft_status haft__write_objects(struct haft__image_file *image_file, const struct haft__image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        if (haft__is_live_in(slots, index)) {
            status = haft__image_file_write_object(image_file, haft__image_word(slots, index) + 1);
        }
    }
    return status;
}

/* How many records of page runs say anything: all, or none.  The fresh slots' says that its run is
 * in use. */
static uint64_t haft__runs_to_save(const haft_local *local, uint64_t count)
{
    if (local->fresh_at != local->fresh_end) {
        return count;
    }
    for (uint64_t haft__run = 0; haft__run < count; haft__run++) {
        if (haft__runs_floor(&local->slots.runs, haft__run) != 0 ||
            haft__runs_link(&local->slots.runs, haft__run) != haft__RUN_IN_USE) {
            return count;
        }
    }
    return 0;
}

/* Tables that behave alike have the same file. */
static void haft__make_canonical(const haft_local *local, uint64_t *numbers)
{
    numbers[haft__LOCAL_RUNS] = haft__runs_to_save(local, numbers[haft__LOCAL_RUNS]);
    numbers[haft__LOCAL_TAIL] = numbers[haft__LOCAL_QUEUED] = 0;
    if (numbers[haft__LOCAL_FRESH_AT] == numbers[haft__LOCAL_FRESH_END]) {
        numbers[haft__LOCAL_FRESH_AT] = numbers[haft__LOCAL_FRESH_END] = 0;
    }
}

static haft_status haft__write_image(struct haft__image_file *image_file, const haft_local *local)
{
    const struct haft__shape shape = haft__local_shape(local);
    struct haft__image image = haft__local_begin_image(local);

    haft__local_end_image(local);
    haft__make_canonical(local, image.numbers);
    const struct haft__image_slots slots = haft__slots_of(local, &image);
    haft_status status = haft__image_file_begin_write(image_file, &shape, image.numbers,
                                                haft__body_bytes(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = haft__write_runs(image_file, local, image.numbers[haft__LOCAL_RUNS]);
    }
    if (status == HAFT_OK) {
        status = haft__image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? haft__write_objects(image_file, &slots) : status;
}

static haft_status haft__save_local(const haft_local *local, haft_file *file)
{
    struct haft__image_file image_file;
    haft_status status = haft__local_check_moment(local);

    if (status == HAFT_OK) {
        status = haft__image_file_open(&image_file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status == HAFT_OK) {
        status = haft__write_image(&image_file, local);
        haft__image_file_close(&image_file);
    }
    return status;
}

haft_status haft_local_save(const haft_local *local, haft_file *file)
{
    const int cancel = haft__os_cancel_off();
    const haft_status status = haft__save_local(local, file);

    haft__os_cancel_restore(cancel);
    return status;
}

/* --- loading --- */

struct haft__loading {
    const haft_local *local;
    struct haft__image_file file;
    struct haft__image image; /* its parts are this call's */
    struct haft__image_slots slots;
};

static haft_status haft__wrong(const struct haft__loading *loading, enum haft__local_number number)
{
    return haft__image_file_wrong_number(&loading->file, number, haft__number_names[number]);
}

/* The first number that no table like this can have; LOCAL_NUMBERS_END: there is none. */
static enum haft__local_number haft__find_wrong_number(const haft_local *local, const uint64_t *numbers)
{
    const struct haft__slots *slots = &local->slots;
    const uint64_t limit = numbers[haft__LOCAL_LIMIT];
    const uint64_t used = numbers[haft__LOCAL_USED];
    const uint64_t capacity = numbers[haft__LOCAL_CAPACITY];

    if (limit > slots->view.mask + 1 || limit <= HAFT_FIRST_INDEX) {
        return haft__LOCAL_LIMIT;
    }
    if (capacity == 0 || capacity > limit - HAFT_FIRST_INDEX) {
        return haft__LOCAL_CAPACITY;
    }
    if (numbers[haft__LOCAL_MIN_FREE] > limit - HAFT_FIRST_INDEX - capacity ||
        (numbers[haft__LOCAL_MIN_FREE] != 0 && !local->is_fifo)) {
        return haft__LOCAL_MIN_FREE;
    }
    if (!haft__image_is_beginning(&slots->format, numbers[haft__LOCAL_FIRST])) {
        return haft__LOCAL_FIRST;
    }
    if (used < HAFT_FIRST_INDEX || used > limit) {
        return haft__LOCAL_USED;
    }
    if (numbers[haft__LOCAL_COUNT] > capacity) {
        return haft__LOCAL_COUNT;
    }
    if (numbers[haft__LOCAL_EXHAUSTED] > capacity - numbers[haft__LOCAL_COUNT]) {
        return haft__LOCAL_EXHAUSTED;
    }
    if (numbers[haft__LOCAL_RUNS] != 0 &&
        (slots->runs.stay || numbers[haft__LOCAL_RUNS] != haft__runs_of(&slots->runs, used - 1) + 1)) {
        return haft__LOCAL_RUNS;
    }
    return haft__LOCAL_NUMBERS_END;
}

/* The first mark that no table like this can have. */
static enum haft__local_number haft__find_wrong_mark(const haft_local *local, const uint64_t *numbers)
{
    if (numbers[haft__LOCAL_WRAPPED] > (local->wraps ? 1 : 0)) {
        return haft__LOCAL_WRAPPED;
    }
    if (numbers[haft__LOCAL_TAIL] != 0) {
        return haft__LOCAL_TAIL;
    }
    return numbers[haft__LOCAL_QUEUED] != 0 ? haft__LOCAL_QUEUED : haft__LOCAL_NUMBERS_END;
}

static haft_status haft__read_head(struct haft__loading *loading)
{
    const struct haft__shape shape = haft__local_shape(loading->local);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        haft__image_file_read_head(&loading->file, &shape, haft__local_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum haft__local_number number = haft__find_wrong_number(loading->local, numbers);

    if (number == haft__LOCAL_NUMBERS_END) {
        number = haft__find_wrong_mark(loading->local, numbers);
    }
    if (number == haft__LOCAL_NUMBERS_END && body != haft__body_bytes(&loading->file, numbers)) {
        number = haft__LOCAL_COUNT;
    }
    haft__saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == haft__LOCAL_NUMBERS_END ? HAFT_OK : haft__wrong(loading, number);
}

/* Memory for the image, which haft_local_load() frees. */
static haft_status haft__get_memory(struct haft__loading *loading)
{
    struct haft__image *image = &loading->image;
    const uint64_t bytes[] = {
        [haft__LOCAL_SLOTS] = image->numbers[haft__LOCAL_USED] * loading->local->slots.view.stride,
        [haft__LOCAL_RUN_RECORDS] = image->numbers[haft__LOCAL_RUNS] * sizeof(struct haft__run),
    };

    for (int part = haft__LOCAL_SLOTS; part <= haft__LOCAL_RUN_RECORDS; part++) {
        image->parts[part].bytes = bytes[part];
        image->parts[part].at = haft__heap_take_zero(&loading->local->slots.heap, (size_t)bytes[part] + 1,
                                               _Alignof(max_align_t));
        if (image->parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = haft__slots_of(loading->local, image);
    *haft__image_word(&loading->slots, 0) = haft__MARK_RESERVED;
    return HAFT_OK;
}

static haft_status haft__read_runs(struct haft__loading *loading)
{
    uint64_t *numbers = (uint64_t *)(void *)loading->image.parts[haft__LOCAL_RUN_RECORDS].at;
    const uint64_t count = loading->image.numbers[haft__LOCAL_RUNS];

    for (uint64_t i = 0; i < 2 * count; i++) {
        const haft_status status =
            haft__saved_read_number(loading->file.saved, &numbers[i], "a page run");

        if (status != HAFT_OK) {
            return status;
        }
        if (i % 2 == 0 && numbers[i] != 0 &&
            !haft__image_is_beginning(&loading->local->slots.format, numbers[i])) {
            return haft__saved_fault(loading->file.file, HAFT_DAMAGED,
                               haft__saved_offset_of_byte(i * sizeof(uint64_t)), "a page run's floor");
        }
    }
    return HAFT_OK;
}

static uint64_t haft__link_of(const struct haft__loading *loading, uint64_t haft__run)
{
    return (
        (const uint64_t *)(const void *)loading->image.parts[haft__LOCAL_RUN_RECORDS].at)[2 * haft__run + 1];
}

/* Whether all slots from `first` on, below `end`, are there and fresh. */
static bool haft__are_fresh(const struct haft__loading *loading, uint64_t first, uint64_t end)
{
    if (first < HAFT_FIRST_INDEX || end > loading->slots.end) {
        return false;
    }
    while (first < end && *haft__image_word(&loading->slots, first) == 0) {
        first++;
    }
    return first >= end;
}

/* The slots of all runs in the list of fresh ones; UINT64_MAX: that is no list of such runs. */
static uint64_t haft__count_in_fresh_runs(const struct haft__loading *loading)
{
    const struct haft__runs *runs = &loading->local->slots.runs;
    const uint64_t count = loading->image.numbers[haft__LOCAL_RUNS];
    uint64_t linked = 0;
    uint64_t slots = 0;

    for (uint64_t haft__run = 0; haft__run < count; haft__run++) {
        linked += haft__link_of(loading, haft__run) != haft__RUN_IN_USE;
    }
    for (uint64_t haft__run = loading->image.numbers[haft__LOCAL_FIRST_RUN]; haft__run != haft__RUN_LAST;
         haft__run = haft__link_of(loading, haft__run)) {
        if (linked-- == 0 || haft__run >= count ||
            !haft__are_fresh(loading, haft__runs_first(runs, haft__run), haft__runs_end(runs, haft__run))) {
            return UINT64_MAX;
        }
        slots += haft__runs_end(runs, haft__run) - haft__runs_first(runs, haft__run);
    }
    return linked == 0 ? slots : UINT64_MAX;
}

/* Whether the rest of the run in use is there: of a run that is in no list. */
static bool haft__is_run_in_use(const struct haft__loading *loading, uint64_t first, uint64_t end)
{
    const struct haft__runs *runs = &loading->local->slots.runs;

    return first < end && haft__are_fresh(loading, first, end) &&
           loading->image.numbers[haft__LOCAL_RUNS] != 0 && end == haft__runs_end(runs, haft__runs_of(runs, first)) &&
           haft__link_of(loading, haft__runs_of(runs, first)) == haft__RUN_IN_USE;
}

/* Each fresh slot is in one run, in the list or in use. */
static haft_status haft__check_runs(struct haft__loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const uint64_t listed = haft__count_in_fresh_runs(loading);
    const uint64_t first = numbers[haft__LOCAL_FRESH_AT];
    const uint64_t end = numbers[haft__LOCAL_FRESH_END];

    if (listed == UINT64_MAX) {
        return haft__wrong(loading, haft__LOCAL_FIRST_RUN);
    }
    if (first != end && !haft__is_run_in_use(loading, first, end)) {
        return haft__wrong(loading, haft__LOCAL_FRESH_AT);
    }
    if (numbers[haft__LOCAL_FRESH_SLOTS] != loading->slots.fresh ||
        numbers[haft__LOCAL_FRESH_SLOTS] != listed + (end - first)) {
        return haft__wrong(loading, haft__LOCAL_FRESH_SLOTS);
    }
    return HAFT_OK;
}

/* The words that were read agree with the numbers. */
static haft_status haft__check_slots(struct haft__loading *loading)
{
    uint64_t *numbers = loading->image.numbers;
    haft_status status = HAFT_OK;

    if (loading->slots.live != numbers[haft__LOCAL_COUNT]) {
        return haft__wrong(loading, haft__LOCAL_COUNT);
    }
    if (loading->slots.exhausted != numbers[haft__LOCAL_EXHAUSTED]) {
        return haft__wrong(loading, haft__LOCAL_EXHAUSTED);
    }
    status = haft__image_file_check_list(&loading->file, &loading->slots, numbers[haft__LOCAL_HEAD], haft__LOCAL_HEAD,
                                   haft__number_names[haft__LOCAL_HEAD]);
    numbers[haft__LOCAL_TAIL] = loading->slots.tail;
    numbers[haft__LOCAL_QUEUED] = loading->slots.free;
    return status == HAFT_OK ? haft__check_runs(loading) : status;
}

static haft_status haft__read_objects(struct haft__loading *loading)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < loading->slots.end && status == HAFT_OK;
         index++) {
        if (haft__is_live_in(&loading->slots, index)) {
            status = haft__image_file_read_object(&loading->file, haft__image_word(&loading->slots, index) + 1);
        }
    }
    return status;
}

static haft_status haft__read_image(struct haft__loading *loading)
{
    haft_status (*const steps[])(struct haft__loading *) = {haft__read_head, haft__get_memory, haft__read_runs};
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    if (status == HAFT_OK) {
        status = haft__image_file_read_words(&loading->file, &loading->slots);
    }
    if (status == HAFT_OK) {
        status = haft__check_slots(loading);
    }
    return status == HAFT_OK ? haft__read_objects(loading) : status;
}

static haft_status haft__load_local(haft_local *local, haft_file *file)
{
    struct haft__loading loading = {.local = local};
    haft_status status = haft__local_check_moment(local);

    if (status == HAFT_OK) {
        status = haft__image_file_open(&loading.file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = haft__read_image(&loading);
    if (status == HAFT_OK) {
        status = haft__local_prepare(local, loading.image.numbers);
    }
    status = status == HAFT_OK ? haft__local_end_values(local, haft__sides_forget_all) : status;
    /* on_end may have inserted. */
    status = status == HAFT_OK ? haft__local_prepare(local, loading.image.numbers) : status;
    if (status == HAFT_OK) {
        haft__local_become(local, &loading.image);
    }
    for (int part = haft__LOCAL_SLOTS; part <= haft__LOCAL_RUN_RECORDS; part++) {
        haft__heap_give(&local->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    haft__image_file_close(&loading.file);
    return status;
}

haft_status haft_local_load(haft_local *local, haft_file *file)
{
    const int cancel = haft__os_cancel_off();
    const haft_status status = haft__load_local(local, file);

    haft__os_cancel_restore(cancel);
    return status;
}

/* kit/local/files/saved.c */

/* The file of a saved table. */

static const unsigned char haft__first_bytes[8] = {0x89, 'h', 'a', 'f', 't', '\r', '\n', 0x1a};

#define haft__CHECKSUM 4 /* bytes */

/* The CRC-32 of IEEE 802.3, four bits at a time. */
static uint32_t haft__checksum_of(const unsigned char *bytes, uint64_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t haft__sum = UINT32_MAX;

    for (uint64_t i = 0; i < size; i++) {
        haft__sum ^= bytes[i];
        haft__sum = haft__sum >> 4 ^ table[haft__sum & 15];
        haft__sum = haft__sum >> 4 ^ table[haft__sum & 15];
    }
    return ~haft__sum;
}

static void haft__put_number(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> 8 * i);
    }
}

static uint64_t haft__get_number(const unsigned char *from, int bytes)
{
    uint64_t number = 0;

    for (int i = bytes; i-- > 0;) {
        number = number << 8 | from[i];
    }
    return number;
}

#define haft__HEAD_SIZE (sizeof haft__first_bytes + haft__SAVED_HEAD_NUMBERS * sizeof(uint64_t))

HAFT_INTERNAL uint64_t haft__saved_offset_of_number(uint64_t number)
{
    return sizeof haft__first_bytes + number * sizeof(uint64_t);
}

HAFT_INTERNAL uint64_t haft__saved_offset_of_byte(uint64_t byte)
{
    return haft__HEAD_SIZE + haft__CHECKSUM + byte / haft__SAVED_BLOCK * (haft__SAVED_BLOCK + haft__CHECKSUM) +
           byte % haft__SAVED_BLOCK;
}

HAFT_INTERNAL
haft_status haft__saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what)
{
    file->offset = offset;
    file->what = what;
    return haft__kit_status(status);
}

/* --- writing --- */

/* Write `size` bytes with their checksum, for which there is room behind them. */
static haft_status haft__write_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    haft__put_number(bytes + size, haft__checksum_of(bytes, size), haft__CHECKSUM);
    if (!file->write(bytes, (size_t)size + haft__CHECKSUM, file->arg)) {
        return haft__saved_fault(file, HAFT_NO_FILE, file->offset, "bytes that were not written");
    }
    file->offset += size + haft__CHECKSUM;
    return HAFT_OK;
}

/* Member by member: a copy of the whole would lie on the stack. */
static void haft__begin(struct haft__saved *saved, haft_file *file, uint64_t bytes)
{
    saved->file = file;
    saved->left = bytes;
    saved->filled = saved->at = 0;
}

HAFT_INTERNAL
haft_status haft__saved_begin_write(struct haft__saved *saved, haft_file *file, const struct haft__saved_head *head,
                              uint64_t bytes)
{
    haft__begin(saved, file, bytes);
    file->offset = 0;
    file->what = NULL;
    memcpy(saved->block, haft__first_bytes, sizeof haft__first_bytes);
    for (uint64_t i = 0; i < haft__SAVED_HEAD_NUMBERS; i++) {
        haft__put_number(saved->block + haft__saved_offset_of_number(i), head->numbers[i], sizeof(uint64_t));
    }
    return haft__write_checked(file, saved->block, haft__HEAD_SIZE);
}

HAFT_INTERNAL haft_status haft__saved_write(struct haft__saved *saved, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;

    while (size != 0) {
        const uint64_t room = haft__SAVED_BLOCK - saved->filled;
        const uint64_t part = size < room ? size : room;

        memcpy(saved->block + saved->filled, from, (size_t)part);
        saved->filled += part;
        saved->left -= part;
        from += part;
        size -= part;
        if (saved->filled == haft__SAVED_BLOCK || saved->left == 0) {
            const haft_status status = haft__write_checked(saved->file, saved->block, saved->filled);

            saved->filled = 0;
            if (status != HAFT_OK) {
                return status;
            }
        }
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__saved_write_number(struct haft__saved *saved, uint64_t number)
{
    unsigned char bytes[sizeof number];

    haft__put_number(bytes, number, sizeof number);
    return haft__saved_write(saved, bytes, sizeof bytes);
}

/* --- reading --- */

/* Read `size` bytes with their checksum, for which there is room behind them. */
static haft_status haft__read_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    if (!file->read(bytes, (size_t)size + haft__CHECKSUM, file->arg)) {
        return haft__saved_fault(file, HAFT_DAMAGED, file->offset, "the file is cut off in here");
    }
    if (haft__get_number(bytes + size, haft__CHECKSUM) != haft__checksum_of(bytes, size)) {
        return haft__saved_fault(file, HAFT_DAMAGED, file->offset,
                           "the checksum of the bytes from here on is wrong");
    }
    file->offset += size + haft__CHECKSUM;
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__saved_read_head(haft_file *file, struct haft__saved_head *head)
{
    unsigned char bytes[haft__HEAD_SIZE + haft__CHECKSUM] = {0};

    file->offset = 0;
    file->what = NULL;
    const haft_status status = haft__read_checked(file, bytes, haft__HEAD_SIZE);

    if (status == HAFT_DAMAGED && memcmp(bytes, haft__first_bytes, sizeof haft__first_bytes) != 0) {
        file->what = "no saved table begins like this";
    }
    for (uint64_t i = 0; i < haft__SAVED_HEAD_NUMBERS && status == HAFT_OK; i++) {
        head->numbers[i] = haft__get_number(bytes + haft__saved_offset_of_number(i), sizeof(uint64_t));
    }
    return status;
}

HAFT_INTERNAL void haft__saved_begin_read(struct haft__saved *saved, haft_file *file, uint64_t bytes)
{
    haft__begin(saved, file, bytes);
}

static haft_status haft__read_block(struct haft__saved *saved, const char *what)
{
    const uint64_t size = saved->left < haft__SAVED_BLOCK ? saved->left : haft__SAVED_BLOCK;

    if (size == 0) {
        return haft__saved_fault(saved->file, HAFT_DAMAGED, saved->file->offset, what);
    }
    saved->left -= size;
    saved->filled = size;
    saved->at = 0;
    return haft__read_checked(saved->file, saved->block, size);
}

HAFT_INTERNAL
haft_status haft__saved_read(struct haft__saved *saved, void *bytes, uint64_t size, const char *what)
{
    unsigned char *to = bytes;

    while (size != 0) {
        const haft_status status = saved->at == saved->filled ? haft__read_block(saved, what) : HAFT_OK;

        if (status != HAFT_OK) {
            return status;
        }
        const uint64_t there = saved->filled - saved->at;
        const uint64_t part = size < there ? size : there;

        memcpy(to, saved->block + saved->at, (size_t)part);
        saved->at += part;
        to += part;
        size -= part;
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__saved_read_number(struct haft__saved *saved, uint64_t *number, const char *what)
{
    unsigned char bytes[sizeof *number];
    const haft_status status = haft__saved_read(saved, bytes, sizeof bytes, what);

    if (status == HAFT_OK) {
        *number = haft__get_number(bytes, sizeof *number);
    }
    return status;
}

/*
 * kit/local/packed/state.h - the structs of the packed table.
 *
 * A slot is in one of three places: fresh (never used), in the free list, or behind an object in
 * a position; so positions in use never outnumber slots in use.  Exhausted slots are in none.
 *
 * While callbacks run, an object whose life has ended keeps its position (its id is nil there)
 * and its slot (marked FREE, or EXHAUSTED after the last life).  Both are given back together,
 * when no callback can see it.
 */

/* Arrays with one element for each position; ORDER is memory for sorting alone. */
enum haft__packed_array { haft__OBJECTS, haft__IDS, haft__DEAD, haft__ORDER, haft__PACKED_ARRAYS };

struct haft_packed {
    struct haft__slots slots;
    struct haft__reservation memory[haft__PACKED_ARRAYS];
    haft_dense_view view;
    haft_packed_slot *slot; /* view.slot, to be written */
    haft_id *ids;
    uint32_t *dead;  /* slots of dead objects, in order of the kills */
    uint32_t *order; /* two numbers for each position */
    uint64_t capacity;
    uint64_t step;      /* slots and positions made ready at a time */
    bool is_touched;    /* ready also means touched */
    uint64_t ready;     /* slots and positions that have memory */
    uint64_t used;      /* slots ever used */
    uint64_t free_head; /* first free slot, or MARK_END */
    uint64_t exhausted;
    uint64_t count;
    uint64_t dead_count;
    bool keep_order;
    bool in_callback;
    haft_packed_destroy *on_destroy;
    void *destroy_arg;
    const char *name; /* behind the struct */
};

/* Bytes of an array's element. */
static inline uint64_t haft__packed_bytes(const struct haft_packed *packed, enum haft__packed_array array)
{
    switch (array) {
    case haft__OBJECTS:
        return packed->view.object_size;
    case haft__DEAD:
        return sizeof(uint32_t);
    default: /* an id; two numbers */
        return sizeof(uint64_t);
    }
}

/* Make the first `count` elements of an array writable.  HAFT_OK or HAFT_NO_MEMORY. */
static inline haft_status haft__packed_commit(struct haft_packed *packed, enum haft__packed_array array,
                                        uint64_t count)
{
    return haft__reservation_commit(&packed->memory[array], count * haft__packed_bytes(packed, array));
}

static inline char *haft__packed_object(const struct haft_packed *packed, uint64_t position)
{
    return packed->view.objects + position * packed->view.object_size;
}

/*
 * An object may be in a position; `count` positions have none: AddressSanitizer reports accesses.
 */
static inline void haft__packed_unpoison(const struct haft_packed *packed, uint64_t position)
{
    haft__asan_unpoison(haft__packed_object(packed, position), (size_t)packed->view.object_size);
}

static inline void haft__packed_poison(const struct haft_packed *packed, uint64_t position,
                                 uint64_t count)
{
    haft__asan_poison(haft__packed_object(packed, position), (size_t)(count * packed->view.object_size));
}

/* The slot that an id of this table leads to. */
static inline haft_packed_slot *haft__packed_slot(const struct haft_packed *packed, haft_id id)
{
    return &packed->slot[haft__word_index(&packed->slots.format, id.bits)];
}

/* The object in `from` stands in `to` as well; its id leads there from now on. */
static inline void haft__packed_move(struct haft_packed *packed, uint64_t to, uint64_t from)
{
    memcpy(haft__packed_object(packed, to), haft__packed_object(packed, from),
           (size_t)packed->view.object_size);
    packed->ids[to] = packed->ids[from];
    haft__packed_slot(packed, packed->ids[to])->position = (uint32_t)to;
}

/*
 * kit/local/packed/packed.h - a packed table comes, and its memory.
 */

/* Memory for the next step of slots and positions: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__packed_make_ready(struct haft_packed *packed);

/* A table like that one, without objects: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__packed_open_like(const haft_packed *packed, haft_packed **clone);

/*
 * kit/local/packed/packed_remove.h - objects that go all at once.
 */

/* End the lives of all objects, and call on_destroy for each.  They keep their positions. */
HAFT_INTERNAL void haft__packed_destroy_all(struct haft_packed *packed, const void *caller);

/* kit/local/packed/packed.c */

/*
 * haft_packed: opening, lookups, and objects that come.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */

haft__OPTIONS_BEGIN_WITH_COMMON(haft_packed_options);

/* The bytes of a slot beyond its word, which struct slots takes for the object. */
#define haft__SLOT_OBJECT_SIZE (sizeof(haft_packed_slot) - sizeof(haft_atomic_u64))

/* --- opening --- */

static void haft__close_array(struct haft_packed *packed, int array)
{
    haft__reservation_close_array(&packed->memory[array], &packed->slots.heap);
}

/* A type's size is a multiple of its alignment. */
static size_t haft__array_alignment(uint64_t object_size)
{
    const uint64_t power = object_size & (~object_size + 1);

    return power > haft__MAX_ALIGNMENT ? haft__MAX_ALIGNMENT : power > haft__CACHE_LINE ? (size_t)power : haft__CACHE_LINE;
}

/* Memory for the arrays: an element more than the capacity, for sorting. */
static haft_status haft__open_arrays(struct haft_packed *packed)
{
    const size_t alignment = haft__array_alignment(packed->view.object_size);

    for (int array = 0; array < haft__PACKED_ARRAYS; array++) {
        const uint64_t bytes = haft__packed_bytes(packed, (enum haft__packed_array)array);
        const haft_status status = haft__reservation_open_array(
            &packed->memory[array], (packed->capacity + 1) * bytes, alignment, &packed->slots.heap);

        if (status != HAFT_OK) {
            while (array-- > 0) {
                haft__close_array(packed, array);
            }
            return status;
        }
    }
    packed->view.objects = packed->memory[haft__OBJECTS].base;
    packed->ids = (haft_id *)(void *)packed->memory[haft__IDS].base;
    packed->dead = (uint32_t *)(void *)packed->memory[haft__DEAD].base;
    packed->order = (uint32_t *)(void *)packed->memory[haft__ORDER].base;
    return HAFT_OK;
}

static void haft__close_memory(struct haft_packed *packed)
{
    for (int array = 0; array < haft__PACKED_ARRAYS; array++) {
        haft__close_array(packed, array);
    }
    haft__slots_close(&packed->slots);
}

/* Use each page of an array's elements from `begin` on, which no thread has written to. */
static void haft__touch(char *base, uint64_t haft__begin, uint64_t end, uint64_t bytes)
{
    memset(base + haft__begin * bytes, 0, (size_t)((end - haft__begin) * bytes));
}

HAFT_INTERNAL haft_status haft__packed_make_ready(struct haft_packed *packed)
{
    const uint64_t haft__begin = packed->ready;
    const uint64_t left = packed->capacity - haft__begin;
    const uint64_t end = haft__begin + (packed->step < left ? packed->step : left);
    haft_status status = haft__slots_commit(&packed->slots, HAFT_FIRST_INDEX + end);

    for (int array = haft__OBJECTS; array <= haft__DEAD && status == HAFT_OK; array++) {
        status = haft__packed_commit(packed, (enum haft__packed_array)array, end);
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (packed->is_touched) {
        for (int array = haft__OBJECTS; array <= haft__DEAD; array++) {
            haft__touch(packed->memory[array].base, haft__begin, end,
                  haft__packed_bytes(packed, (enum haft__packed_array)array));
        }
        haft__touch(packed->slots.view.base, HAFT_FIRST_INDEX + haft__begin, HAFT_FIRST_INDEX + end,
              sizeof(haft_packed_slot));
        haft__sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX + haft__begin, HAFT_FIRST_INDEX + end);
    }
    packed->ready = end;
    return HAFT_OK;
}

static haft_status haft__open_memory(struct haft_packed *packed, const haft_packed_options *options)
{
    struct haft__slots_options wanted = {0};
    uint64_t most;
    haft_status status = haft__options_check(options, haft__PACKED, &wanted.common, &most);

    if (status == HAFT_OK) {
        wanted.common.object_size = haft__SLOT_OBJECT_SIZE;
        wanted.common.object_alignment = sizeof(uint64_t);
        status = haft__slots_open(&packed->slots, &wanted);
    }
    if (status != HAFT_OK) {
        return status;
    }
    assert(packed->slots.view.stride == sizeof(haft_packed_slot));
    packed->slot = (haft_packed_slot *)(void *)packed->slots.view.base;
    packed->view.slot = packed->slot;
    packed->view.mask = packed->slots.view.mask;
    status = haft__open_arrays(packed);
    if (status != HAFT_OK) {
        haft__slots_close(&packed->slots);
        return status;
    }
    status = packed->is_touched ? haft__packed_make_ready(packed) : HAFT_OK;
    if (status != HAFT_OK) {
        haft__close_memory(packed);
    }
    return status;
}

static struct haft_packed *haft__packed_new(const char *name, const haft_allocator *heap)
{
    const size_t size = haft__size_with_name(sizeof(struct haft_packed), name);
    struct haft_packed *packed = haft__heap_take_zero(heap, size, _Alignof(struct haft_packed));

    if (packed != NULL) {
        packed->slots.heap = *heap;
        packed->name = memcpy(packed + 1, name, size - sizeof *packed);
    }
    return packed;
}

static void haft__packed_free(struct haft_packed *packed)
{
    haft__heap_give(&packed->slots.heap, packed,
              haft__size_with_name(sizeof(struct haft_packed), packed->name));
}

static haft_status haft__open_packed(const haft_packed_options *options, haft_packed **packed)
{
    const haft_allocator heap = haft__heap_of(options->allocator);
    struct haft_packed *opened =
        haft__packed_new(options->name != NULL ? options->name : "packed table", &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->view.object_size = options->object_size;
    opened->capacity = options->capacity;
    opened->step = options->growth_step != 0 ? options->growth_step : 1;
    opened->is_touched = options->growth_step != 0;
    const haft_status status = haft__open_memory(opened, options);

    if (status != HAFT_OK) {
        haft__packed_free(opened);
        return status;
    }
    opened->free_head = haft__MARK_END;
    opened->keep_order = options->keep_order;
    opened->on_destroy = options->on_destroy;
    opened->destroy_arg = options->destroy_arg;
    *packed = opened;
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__packed_open_like(const haft_packed *packed, haft_packed **clone)
{
    const struct haft__common_options *common = &packed->slots.common;
    haft_packed_options options = {
        .growth_step = packed->is_touched ? packed->step : 0,
        .keep_order = packed->keep_order,
        .on_destroy = packed->on_destroy,
        .destroy_arg = packed->destroy_arg,
    };

    memcpy(&options, common, sizeof *common);
    options.name = packed->name;
    options.object_size = (size_t)packed->view.object_size;
    options.object_alignment = 0;
    options.allocator = &packed->slots.heap;
    return haft__open_packed(&options, clone);
}

haft_status haft_packed_open_sized(const haft_packed_options *options, size_t size,
                                   haft_packed **packed)
{
    haft_packed_options known;
    const haft_status status = haft__sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? haft__open_packed(&known, packed) : status;
}

void haft_packed_close(haft_packed *packed)
{
    assert(!packed->in_callback && "a callback may not close its table");
    haft__leaks_report(&packed->slots, packed->name, HAFT_FIRST_INDEX + packed->used);
    if (packed->on_destroy != NULL) {
        haft__packed_destroy_all(packed, haft__CALLER);
    }
    haft__asan_unpoison(packed->view.objects, (size_t)((packed->ready + 1) * packed->view.object_size));
    haft__close_memory(packed);
    haft__packed_free(packed);
}

haft_dense_view haft_packed_view(const haft_packed *packed)
{
    return packed->view;
}

haft_info haft_packed_info(const haft_packed *packed)
{
    haft_info info = haft__slots_info(&packed->slots, packed->name, packed->capacity);

    info.object_size = (size_t)packed->view.object_size;
    return info;
}

/* --- by id --- */

haft_status haft_packed_diagnose(const haft_packed *packed, haft_id id)
{
    return haft__slots_diagnose(&packed->slots, id);
}

haft_packed_life haft_packed_state(const haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return HAFT_PACKED_UNUSED;
    }
    return haft__packed_slot(packed, id)->death != 0 ? HAFT_PACKED_DEAD : HAFT_PACKED_ALIVE;
}

haft_status haft_packed_position(const haft_packed *packed, haft_id id, uint64_t *position)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return haft_packed_diagnose(packed, id);
    }
    *position = haft__packed_slot(packed, id)->position;
    return HAFT_OK;
}

haft_status haft_packed_id_at(const haft_packed *packed, uint64_t index, haft_id *id)
{
    return haft__slots_id_at(&packed->slots, index, id);
}

/* --- by position --- */

void *haft_packed_objects(const haft_packed *packed)
{
    return packed->view.objects;
}

const haft_id *haft_packed_ids(const haft_packed *packed)
{
    return packed->ids;
}

haft_id haft_packed_id_in(const haft_packed *packed, uint64_t position)
{
    const haft_id nil = HAFT_NIL;

    return position < packed->count ? packed->ids[position] : nil;
}

haft_packed_life haft_packed_state_in(const haft_packed *packed, uint64_t position)
{
    return haft_packed_state(packed, haft_packed_id_in(packed, position));
}

uint64_t haft_packed_count(const haft_packed *packed)
{
    return packed->count;
}

uint64_t haft_packed_dead_count(const haft_packed *packed)
{
    return packed->dead_count;
}

uint64_t haft_packed_available(const haft_packed *packed)
{
    return packed->capacity - packed->count - packed->exhausted;
}

bool haft_packed_is_empty(const haft_packed *packed)
{
    return packed->count == 0;
}

/* --- insert --- */

/* The next slot to use, taken off the free list or fresh. */
static haft_status haft__take_packed_slot(struct haft_packed *packed, uint64_t *index)
{
    if (packed->free_head != haft__MARK_END) {
        *index = packed->free_head;
        packed->free_head =
            haft__word_index(&packed->slots.format, haft__load_relaxed(OWN, &packed->slot[*index].word));
        return HAFT_OK;
    }
    if (packed->used == packed->capacity) {
        return HAFT_FULL;
    }
    const haft_status status = packed->used < packed->ready ? HAFT_OK : haft__packed_make_ready(packed);

    if (status == HAFT_OK) {
        *index = HAFT_FIRST_INDEX + packed->used++;
    }
    return status;
}

haft_status haft_packed_insert(haft_packed *packed, const void *haft__object, haft_id *id)
{
    uint64_t index;
    const haft_status status = haft__take_packed_slot(packed, &index);

    if (status != HAFT_OK) {
        return status;
    }
    haft_packed_slot *slot = &packed->slot[index];
    const uint64_t position = packed->count++;
    char *bytes = haft__packed_object(packed, position);
    const uint64_t word = haft__slots_begin(&packed->slots, haft__load_relaxed(OWN, &slot->word));

    haft__packed_unpoison(packed, position);
    if (haft__object == NULL) {
        memset(bytes, 0, (size_t)packed->view.object_size);
    } else {
        memcpy(bytes, haft__object, (size_t)packed->view.object_size);
    }
    const haft_id inserted = {haft__word_with_index(&packed->slots.format, word, index)};

    packed->ids[position] = inserted;
    slot->position = (uint32_t)position;
    slot->death = 0;
    haft__sites_note_birth(&packed->slots.sites, index, haft__CALLER);
    haft__store_relaxed(OWN, &slot->word, inserted.bits);
    *id = inserted;
    return HAFT_OK;
}

/* kit/local/packed/packed_explain.c */

/* A packed table's statuses and ids, in words. */

int haft_packed_explain(const haft_packed *packed, haft_status status, char *line, size_t size)
{
    struct haft__text text = haft__text_in(line, size);
    const struct haft__use haft__use = {packed->count, 0, packed->exhausted};

    haft__text_add(&text, "%s: ", packed->name);
    if (status == HAFT_FULL) {
        haft__explain_full(&text, packed->capacity, &haft__use);
        if (packed->dead_count != 0) {
            haft__text_add(&text, "; ");
            haft__text_add_count(&text, packed->dead_count);
            haft__text_add(&text, " dead until the refresh");
        }
    } else if (status == HAFT_NO_MEMORY) {
        haft__text_add(&text, "no memory: the system refused more than ");
        haft__text_add_counted(&text, packed->used, "object");
        haft__text_add(&text, " of ");
        haft__text_add_counted(&text, packed->view.object_size, "byte");
    } else {
        haft__text_add(&text, "%s", haft_status_text(status));
    }
    return haft__text_length(&text);
}

int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size)
{
    if (haft_packed_state(packed, id) == HAFT_PACKED_DEAD) {
        return haft__sites_describe_ended(&packed->slots, packed->name, id, haft__kit_status(HAFT_DEAD), text,
                                    size);
    }
    return haft__sites_describe(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id), text,
                          size);
}

void *haft_packed_require_failed(const haft_packed *packed, haft_id id, const void *slots)
{
    assert(slots == packed->view.slot && "the view is the table's");
    (void)slots;
    haft__bad_access(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id));
    return NULL;
}

/*
 * kit/local/packed/packed_image.h - the image of a packed table: see kit/local/snapshots/image.h.
 */

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define haft__PACKED_NUMBERS(X)                                                                          \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(DEAD, "number of dead objects")                                                              \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")

#define haft__PACKED_NUMBER(name, text) haft__PACKED_##name,
enum haft__packed_number { haft__PACKED_NUMBERS(haft__PACKED_NUMBER) haft__PACKED_NUMBERS_END };

/* The slots from slot 0 on, and the arrays up to the last object. */
enum haft__packed_part {
    haft__PACKED_OBJECTS = haft__OBJECTS,
    haft__PACKED_IDS = haft__IDS,
    haft__PACKED_PART_DEAD = haft__DEAD,
    haft__PACKED_SLOTS
};

/* What the table was opened with; names for each number of it. */
HAFT_INTERNAL struct haft__shape haft__packed_shape(const haft_packed *packed);
HAFT_INTERNAL const char *const haft__packed_shape_names[haft__SHAPE_NUMBERS];

/* HAFT_OK, or why this is no moment for an image, to be taken or become. */
HAFT_INTERNAL haft_status haft__packed_check_moment(const haft_packed *packed);

/* The table's own image. */
HAFT_INTERNAL struct haft__image haft__packed_image(const haft_packed *packed);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__packed_prepare(haft_packed *packed, const uint64_t *numbers);

/* Become the image, which the table is prepared for. */
HAFT_INTERNAL void haft__packed_become(haft_packed *packed, const struct haft__image *image);

/* kit/local/packed/packed_image.c */

/* The image of a packed table, and how the table becomes another. */

_Static_assert(haft__PACKED_NUMBERS_END <= haft__IMAGE_NUMBERS, "an image has room for the numbers");

HAFT_INTERNAL const char *const haft__packed_shape_names[haft__SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag", "object_size", "capacity", "keep_order",
};

HAFT_INTERNAL struct haft__shape haft__packed_shape(const haft_packed *packed)
{
    const haft_layout layout = packed->slots.format.layout;

    return (struct haft__shape){{
        2,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){packed->slots.format.tag}),
        packed->view.object_size,
        packed->capacity,
        packed->keep_order,
    }};
}

HAFT_INTERNAL haft_status haft__packed_check_moment(const haft_packed *packed)
{
    return packed->in_callback ? HAFT_IN_USE : HAFT_OK;
}

static uint64_t haft__slot_bytes(uint64_t used)
{
    return (HAFT_FIRST_INDEX + used) * sizeof(haft_packed_slot);
}

HAFT_INTERNAL struct haft__image haft__packed_image(const haft_packed *packed)
{
    struct haft__image image = {
        .numbers =
            {
                [haft__PACKED_FIRST] = packed->slots.format.first,
                [haft__PACKED_USED] = packed->used,
                [haft__PACKED_COUNT] = packed->count,
                [haft__PACKED_DEAD] = packed->dead_count,
                [haft__PACKED_EXHAUSTED] = packed->exhausted,
                [haft__PACKED_HEAD] = packed->free_head,
            },
        .parts[haft__PACKED_SLOTS] = {(char *)packed->slot, haft__slot_bytes(packed->used),
                                haft__slot_bytes(packed->capacity)},
    };

    for (int array = haft__OBJECTS; array <= haft__DEAD; array++) {
        const uint64_t bytes = haft__packed_bytes(packed, (enum haft__packed_array)array);
        const uint64_t count = array == haft__DEAD ? packed->dead_count : packed->count;

        image.parts[array] = (struct haft__image_part){packed->memory[array].base, count * bytes,
                                                 packed->capacity * bytes};
    }
    return image;
}

HAFT_INTERNAL haft_status haft__packed_prepare(haft_packed *packed, const uint64_t *numbers)
{
    haft_status status = HAFT_OK;

    while (packed->ready < numbers[haft__PACKED_USED] && status == HAFT_OK) {
        status = haft__packed_make_ready(packed);
    }
    return status;
}

HAFT_INTERNAL void haft__packed_become(haft_packed *packed, const struct haft__image *image)
{
    const uint64_t *numbers = image->numbers;
    const struct haft__image haft__own = haft__packed_image(packed);
    const uint64_t count = numbers[haft__PACKED_COUNT];

    haft__asan_unpoison(packed->view.objects, (size_t)image->parts[haft__PACKED_OBJECTS].bytes);
    for (int part = 0; part < haft__IMAGE_PARTS; part++) {
        haft__image_put(haft__own.parts[part].at, image->parts[part].at, image->parts[part].bytes);
    }
    if (haft__own.parts[haft__PACKED_SLOTS].bytes > image->parts[haft__PACKED_SLOTS].bytes) {
        haft__image_clear(haft__own.parts[haft__PACKED_SLOTS].at + image->parts[haft__PACKED_SLOTS].bytes,
                    haft__own.parts[haft__PACKED_SLOTS].bytes - image->parts[haft__PACKED_SLOTS].bytes);
    }
    if (packed->count > count) {
        haft__packed_poison(packed, count, packed->count - count);
    }
    haft__sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX, HAFT_FIRST_INDEX + packed->used);
    packed->slots.format.first = numbers[haft__PACKED_FIRST];
    packed->used = numbers[haft__PACKED_USED];
    packed->count = count;
    packed->dead_count = numbers[haft__PACKED_DEAD];
    packed->exhausted = numbers[haft__PACKED_EXHAUSTED];
    packed->free_head = numbers[haft__PACKED_HEAD];
}

/* kit/local/packed/packed_remove.c */

/*
 * haft_packed: objects that go.
 *
 * In two steps.  First lives end, one on_destroy after the other, while every object stays where
 * it is; callbacks may insert and kill.  Then, without callbacks, gaps close and slots go back.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */

/* --- lives end --- */

/* End the life in slot `index`.  Its position and the slot stay taken. */
static void haft__end_object(struct haft_packed *packed, uint64_t index)
{
    const struct haft__word_format *format = &packed->slots.format;
    haft_packed_slot *slot = &packed->slot[index];
    const haft_id nil = HAFT_NIL;
    const haft_id id = packed->ids[slot->position];
    const uint64_t next = haft__word_next_life(format, id.bits, haft__MARK_FREE);
    const bool was_last = haft__word_generation(format, next) == 0;

    haft__store_relaxed(OWN, &slot->word,
                  was_last ? haft__word_with_index(format, next, haft__MARK_EXHAUSTED) : next);
    packed->ids[slot->position] = nil;
    if (packed->on_destroy != NULL) {
        const int cancel = haft__os_cancel_off();

        packed->in_callback = true;
        packed->on_destroy(haft__packed_object(packed, slot->position), id, packed->destroy_arg);
        packed->in_callback = false;
        haft__os_cancel_restore(cancel);
    }
}

/* The slot of an ended life: onto the free list, or out of use after its last. */
static void haft__free_slot(struct haft_packed *packed, uint64_t index)
{
    const struct haft__word_format *format = &packed->slots.format;
    haft__atomic_u64 *at = &packed->slot[index].word;
    const uint64_t word = haft__load_relaxed(OWN, at);

    if (haft__word_index(format, word) == haft__MARK_EXHAUSTED) {
        packed->exhausted++;
        return;
    }
    haft__store_relaxed(OWN, at, haft__word_with_index(format, word, packed->free_head));
    packed->free_head = index;
}

/* End the dead objects' lives, from place `done` among them on, and of those killed meanwhile. */
static void haft__destroy_dead(struct haft_packed *packed, uint64_t done)
{
    for (; done < packed->dead_count; done++) {
        haft__end_object(packed, packed->dead[done]);
    }
}

static void haft__free_dead_slots(struct haft_packed *packed)
{
    for (uint64_t i = 0; i < packed->dead_count; i++) {
        haft__free_slot(packed, packed->dead[i]);
    }
    packed->dead_count = 0;
}

/* --- gaps close --- */

static void haft__fill_gap_with_last(struct haft_packed *packed, uint64_t position)
{
    packed->count--;
    if (position != packed->count) {
        haft__packed_move(packed, position, packed->count);
    }
    haft__packed_poison(packed, packed->count, 1);
}

/* Move `count` objects up, from `from` to `to`. */
static void haft__move_run(struct haft_packed *packed, uint64_t to, uint64_t from, uint64_t count)
{
    memmove(haft__packed_object(packed, to), haft__packed_object(packed, from),
            (size_t)(count * packed->view.object_size));
    memmove(&packed->ids[to], &packed->ids[from], (size_t)count * sizeof packed->ids[0]);
    for (uint64_t position = to; position < to + count; position++) {
        haft__packed_slot(packed, packed->ids[position])->position = (uint32_t)position;
    }
}

/* Close all gaps from the first one on, which is at `to`: run by run, in order. */
static void haft__close_gaps(struct haft_packed *packed, uint64_t to)
{
    uint64_t from = to;

    while (from < packed->count) {
        uint64_t end = from;

        while (end < packed->count && !haft_id_is_nil(packed->ids[end])) {
            end++;
        }
        if (end != from) {
            haft__move_run(packed, to, from, end - from);
            to += end - from;
        }
        from = end + 1;
    }
    haft__packed_poison(packed, to, packed->count - to);
    packed->count = to;
}

/* The first position of a dead object; there is one. */
static uint64_t haft__first_gap(const struct haft_packed *packed)
{
    uint64_t first = UINT64_MAX;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t position = packed->slot[packed->dead[i]].position;

        first = position < first ? position : first;
    }
    return first;
}

/* Fill the gaps of dead objects that are not at the end anyway, each with the last live object. */
static void haft__fill_gaps(struct haft_packed *packed)
{
    const uint64_t before = packed->count;
    const uint64_t haft__kept = before - packed->dead_count;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t gap = packed->slot[packed->dead[i]].position;

        if (gap >= haft__kept) {
            continue;
        }
        while (haft_id_is_nil(packed->ids[packed->count - 1])) {
            packed->count--;
        }
        haft__fill_gap_with_last(packed, gap);
    }
    packed->count = haft__kept;
    haft__packed_poison(packed, haft__kept, before - haft__kept);
}

/* --- free --- */

/* Take an object off the list of the dead; the one killed last takes its turn. */
static void haft__unlist(struct haft_packed *packed, const haft_packed_slot *slot)
{
    const uint32_t haft__place = slot->death - 1;
    const uint32_t last = packed->dead[--packed->dead_count];

    packed->dead[haft__place] = last;
    packed->slot[last].death = haft__place + 1;
}

haft_status haft_packed_free(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return haft__slots_diagnose(&packed->slots, id);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint64_t index = haft__word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        haft__unlist(packed, slot);
    }
    haft__sites_note_death(&packed->slots.sites, index, haft__CALLER);
    haft__end_object(packed, index);
    if (packed->keep_order) {
        haft__close_gaps(packed, slot->position);
    } else {
        haft__fill_gap_with_last(packed, slot->position);
    }
    haft__free_slot(packed, index);
    return HAFT_OK;
}

/* --- kill and refresh --- */

/* Put a live object on the list of the dead, if it is not there. */
static bool haft__list_dead(struct haft_packed *packed, haft_id id, const void *caller)
{
    const uint64_t index = haft__word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        return false;
    }
    haft__sites_note_death(&packed->slots.sites, index, caller);
    packed->dead[packed->dead_count++] = (uint32_t)index;
    slot->death = (uint32_t)packed->dead_count;
    return true;
}

haft_status haft_packed_kill(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return haft__slots_diagnose(&packed->slots, id);
    }
    return haft__list_dead(packed, id, haft__CALLER) ? HAFT_OK : haft__kit_status(HAFT_DEAD);
}

haft_status haft_packed_refresh(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed->dead_count == 0) {
        return HAFT_OK;
    }
    haft__destroy_dead(packed, 0);
    if (packed->keep_order) {
        haft__close_gaps(packed, haft__first_gap(packed));
    } else {
        haft__fill_gaps(packed);
    }
    haft__free_dead_slots(packed);
    return HAFT_OK;
}

/* --- clear --- */

HAFT_INTERNAL void haft__packed_destroy_all(struct haft_packed *packed, const void *caller)
{
    uint64_t done = 0;

    for (uint64_t position = 0; position < packed->count;) {
        for (; position < packed->count; position++) {
            if (!haft_id_is_nil(packed->ids[position])) { /* nil: inserted, killed, destroyed */
                haft__list_dead(packed, packed->ids[position], caller);
            }
        }
        haft__destroy_dead(packed, done);
        done = packed->dead_count;
    }
}

haft_status haft_packed_clear(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    haft__packed_destroy_all(packed, haft__CALLER);
    haft__packed_poison(packed, 0, packed->count);
    packed->count = 0;
    haft__free_dead_slots(packed);
    return HAFT_OK;
}

/* kit/local/packed/packed_save.c */

/*
 * haft_packed: its image in a file.
 *
 * The body: the words of all slots ever used, the ids of all positions, the indices of dead slots
 * in order of the kills, and the objects in order of position.
 */

static const char *const haft__number_texts[] = {
#define haft__TEXT_OF(name, text) text,
    haft__PACKED_NUMBERS(haft__TEXT_OF)
#undef haft__TEXT_OF
};

static struct haft__image_slots haft__slots_in(const haft_packed *packed, const struct haft__image *image)
{
    return (struct haft__image_slots){
        .format = &packed->slots.format,
        .base = image->parts[haft__PACKED_SLOTS].at,
        .stride = sizeof(haft_packed_slot),
        .end = HAFT_FIRST_INDEX + image->numbers[haft__PACKED_USED],
        .tail = haft__MARK_END,
    };
}

static uint64_t haft__body_size(const struct haft__image_file *image_file, const uint64_t *numbers)
{
    return (numbers[haft__PACKED_USED] + numbers[haft__PACKED_COUNT] + numbers[haft__PACKED_DEAD]) *
               sizeof(uint64_t) +
           numbers[haft__PACKED_COUNT] * image_file->object_bytes;
}

/* --- saving --- */

static haft_status haft__write_positions(struct haft__image_file *image_file, const haft_packed *packed)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = haft__saved_write_number(image_file->saved, packed->ids[i].bits);
    }
    for (uint64_t i = 0; i < packed->dead_count && status == HAFT_OK; i++) {
        status = haft__saved_write_number(image_file->saved, packed->dead[i]);
    }
    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = haft__image_file_write_object(image_file, haft__packed_object(packed, i));
    }
    return status;
}

static haft_status haft__write_packed(struct haft__image_file *image_file, const haft_packed *packed)
{
    const struct haft__shape shape = haft__packed_shape(packed);
    const struct haft__image image = haft__packed_image(packed);
    const struct haft__image_slots slots = haft__slots_in(packed, &image);
    haft_status status = haft__image_file_begin_write(image_file, &shape, image.numbers,
                                                haft__body_size(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = haft__image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? haft__write_positions(image_file, packed) : status;
}

static haft_status haft__save_packed(const haft_packed *packed, haft_file *file)
{
    struct haft__image_file image_file;
    haft_status status = haft__packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = haft__image_file_open(&image_file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status == HAFT_OK) {
        status = haft__write_packed(&image_file, packed);
        haft__image_file_close(&image_file);
    }
    return status;
}

haft_status haft_packed_save(const haft_packed *packed, haft_file *file)
{
    const int cancel = haft__os_cancel_off();
    const haft_status status = haft__save_packed(packed, file);

    haft__os_cancel_restore(cancel);
    return status;
}

/* --- loading --- */

struct haft__packed_loading {
    const haft_packed *packed;
    struct haft__image_file file;
    struct haft__image image; /* its parts are this call's */
    struct haft__image_slots slots;
};

static haft_status haft__is_wrong(const struct haft__packed_loading *loading, enum haft__packed_number number)
{
    return haft__image_file_wrong_number(&loading->file, number, haft__number_texts[number]);
}

/* The first number that no table like this can have; PACKED_NUMBERS_END: there is none. */
static enum haft__packed_number haft__wrong_number_of(const haft_packed *packed, const uint64_t *numbers)
{
    if (!haft__image_is_beginning(&packed->slots.format, numbers[haft__PACKED_FIRST])) {
        return haft__PACKED_FIRST;
    }
    if (numbers[haft__PACKED_USED] > packed->capacity) {
        return haft__PACKED_USED;
    }
    if (numbers[haft__PACKED_COUNT] > numbers[haft__PACKED_USED]) {
        return haft__PACKED_COUNT;
    }
    return numbers[haft__PACKED_DEAD] > numbers[haft__PACKED_COUNT] ? haft__PACKED_DEAD : haft__PACKED_NUMBERS_END;
}

static haft_status haft__read_packed_head(struct haft__packed_loading *loading)
{
    const struct haft__shape shape = haft__packed_shape(loading->packed);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        haft__image_file_read_head(&loading->file, &shape, haft__packed_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum haft__packed_number number = haft__wrong_number_of(loading->packed, numbers);

    if (number == haft__PACKED_NUMBERS_END && body != haft__body_size(&loading->file, numbers)) {
        number = haft__PACKED_COUNT;
    }
    haft__saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == haft__PACKED_NUMBERS_END ? HAFT_OK : haft__is_wrong(loading, number);
}

static haft_status haft__get_packed_memory(struct haft__packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    struct haft__image_part *parts = loading->image.parts;

    for (int array = haft__OBJECTS; array <= haft__DEAD; array++) {
        parts[array].bytes = numbers[array == haft__DEAD ? haft__PACKED_DEAD : haft__PACKED_COUNT] *
                             haft__packed_bytes(loading->packed, (enum haft__packed_array)array);
    }
    parts[haft__PACKED_SLOTS].bytes =
        (HAFT_FIRST_INDEX + numbers[haft__PACKED_USED]) * sizeof(haft_packed_slot);
    for (int part = 0; part < haft__IMAGE_PARTS; part++) {
        parts[part].at = haft__heap_take_zero(&loading->packed->slots.heap, (size_t)parts[part].bytes + 1,
                                        _Alignof(max_align_t));
        if (parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = haft__slots_in(loading->packed, &loading->image);
    *haft__image_word(&loading->slots, 0) = haft__MARK_RESERVED;
    return HAFT_OK;
}

static haft_status haft__read_packed_words(struct haft__packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const haft_status status = haft__image_file_read_words(&loading->file, &loading->slots);

    if (status != HAFT_OK) {
        return status;
    }
    if (loading->slots.live != numbers[haft__PACKED_COUNT]) {
        return haft__is_wrong(loading, haft__PACKED_COUNT);
    }
    if (loading->slots.exhausted != numbers[haft__PACKED_EXHAUSTED]) {
        return haft__is_wrong(loading, haft__PACKED_EXHAUSTED);
    }
    return haft__image_file_check_list(&loading->file, &loading->slots, numbers[haft__PACKED_HEAD], haft__PACKED_HEAD,
                                 haft__number_texts[haft__PACKED_HEAD]);
}

/* The slot whose object has the id; NULL: there is none. */
static haft_packed_slot *haft__live_slot(const struct haft__packed_loading *loading, uint64_t id)
{
    const uint64_t index = haft__word_index(loading->slots.format, id);

    return index >= HAFT_FIRST_INDEX && index < loading->slots.end &&
                   *haft__image_word(&loading->slots, index) == id
               ? (haft_packed_slot *)(void *)haft__image_word(&loading->slots, index)
               : NULL;
}

/* A number of the body that names a slot is wrong; `before` numbers stand before it. */
static haft_status haft__wrong_name(const struct haft__packed_loading *loading, uint64_t before,
                              const char *what)
{
    return haft__saved_fault(loading->file.file, HAFT_DAMAGED,
                       haft__saved_offset_of_byte(before * sizeof(uint64_t)), what);
}

/* Each live slot has one position; `position` and `death` of its struct begin as 0. */
static haft_status haft__read_ids(struct haft__packed_loading *loading)
{
    haft_id *ids = (haft_id *)(void *)loading->image.parts[haft__PACKED_IDS].at;

    for (uint64_t i = 0; i < loading->image.numbers[haft__PACKED_COUNT]; i++) {
        const haft_status status =
            haft__saved_read_number(loading->file.saved, &ids[i].bits, "an object's id");
        haft_packed_slot *slot = status == HAFT_OK ? haft__live_slot(loading, ids[i].bits) : NULL;

        if (status != HAFT_OK) {
            return status;
        }
        if (slot == NULL || slot->position != 0 || (i != 0 && ids[0].bits == ids[i].bits)) {
            return haft__wrong_name(loading, loading->image.numbers[haft__PACKED_USED] + i, "an object's id");
        }
        slot->position = (uint32_t)i;
    }
    return HAFT_OK;
}

static haft_status haft__read_dead(struct haft__packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    uint32_t *dead = (uint32_t *)(void *)loading->image.parts[haft__PACKED_PART_DEAD].at;

    for (uint64_t i = 0; i < numbers[haft__PACKED_DEAD]; i++) {
        uint64_t index = 0;
        const haft_status status =
            haft__saved_read_number(loading->file.saved, &index, "a dead object's slot");

        if (status != HAFT_OK) {
            return status;
        }
        /* No free slot's word is a live id: the next slot in its list is free. */
        haft_packed_slot *slot = index < loading->slots.end
                                     ? haft__live_slot(loading, *haft__image_word(&loading->slots, index))
                                     : NULL;

        if (slot == NULL || slot->death != 0) {
            return haft__wrong_name(loading, numbers[haft__PACKED_USED] + numbers[haft__PACKED_COUNT] + i,
                              "a dead object's slot");
        }
        dead[i] = (uint32_t)index;
        slot->death = (uint32_t)i + 1;
    }
    return HAFT_OK;
}

static haft_status haft__read_packed_objects(struct haft__packed_loading *loading)
{
    haft_status status = HAFT_OK;
    char *at = loading->image.parts[haft__PACKED_OBJECTS].at;

    for (uint64_t i = 0; i < loading->image.numbers[haft__PACKED_COUNT] && status == HAFT_OK; i++) {
        status = haft__image_file_read_object(&loading->file, at);
        at += loading->file.object_size;
    }
    return status;
}

static haft_status haft__read_packed(struct haft__packed_loading *loading)
{
    haft_status (*const steps[])(struct haft__packed_loading *) = {
        haft__read_packed_head, haft__get_packed_memory, haft__read_packed_words,
        haft__read_ids,         haft__read_dead,         haft__read_packed_objects,
    };
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    return status;
}

static haft_status haft__load_packed(haft_packed *packed, haft_file *file)
{
    struct haft__packed_loading loading = {.packed = packed};
    haft_status status = haft__packed_check_moment(packed);

    if (status == HAFT_OK) {
        status =
            haft__image_file_open(&loading.file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = haft__read_packed(&loading);
    if (status == HAFT_OK) {
        status = haft__packed_prepare(packed, loading.image.numbers);
    }
    if (status == HAFT_OK) {
        haft__packed_become(packed, &loading.image);
    }
    for (int part = 0; part < haft__IMAGE_PARTS; part++) {
        haft__heap_give(&packed->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    haft__image_file_close(&loading.file);
    return status;
}

haft_status haft_packed_load(haft_packed *packed, haft_file *file)
{
    const int cancel = haft__os_cancel_off();
    const haft_status status = haft__load_packed(packed, file);

    haft__os_cancel_restore(cancel);
    return status;
}

/* kit/local/packed/packed_snapshot.c */

/* haft_packed: snapshots, and a second table. */

/* Whether the table may go to the history now, or come from it. */
static haft_status haft__check_history_of(const haft_packed *packed, const haft_history *history)
{
    const struct haft__shape shape = haft__packed_shape(packed);
    const haft_status status = haft__packed_check_moment(packed);

    if (status == HAFT_OK && !haft__history_fits(history, &shape)) {
        return haft__kit_status(HAFT_OTHER_TABLE);
    }
    return status;
}

haft_status haft_packed_snapshot(const haft_packed *packed, haft_history *history, uint64_t *number)
{
    const struct haft__shape shape = haft__packed_shape(packed);
    const struct haft__image image = haft__packed_image(packed);
    const haft_status status = haft__check_history_of(packed, history);

    return status == HAFT_OK ? haft__history_take(history, &shape, &image, NULL, number) : status;
}

haft_status haft_packed_rewind(haft_packed *packed, haft_history *history, uint64_t number)
{
    const struct haft__snapshot *snapshot = haft__history_find(history, number);
    haft_status status = haft__check_history_of(packed, history);

    if (status == HAFT_OK && snapshot == NULL) {
        status = HAFT_OUT_OF_RANGE;
    }
    if (status == HAFT_OK) {
        status = haft__packed_prepare(packed, snapshot->numbers);
    }
    if (status == HAFT_OK) {
        const struct haft__image image = haft__history_go(history, number);

        haft__packed_become(packed, &image);
    }
    return status;
}

haft_status haft_packed_clone(const haft_packed *packed, haft_packed **clone)
{
    const struct haft__image image = haft__packed_image(packed);
    haft_packed *opened = NULL;
    haft_status status = haft__packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = haft__packed_open_like(packed, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = haft__packed_prepare(opened, image.numbers);
    if (status != HAFT_OK) {
        haft_packed_close(opened);
        return status;
    }
    haft__packed_become(opened, &image);
    *clone = opened;
    return HAFT_OK;
}

/* kit/local/packed/packed_sort.c */

/*
 * haft_packed: the order of objects.  A merge sort, or a list of ids, puts positions in order; then
 * each object moves to its place once.
 *
 * order[i] is the position from which the object for position i comes.  Merging needs a second
 * array of positions, moving in cycles the memory of one object: both are there before the first
 * object moves, so nothing can fail half-way.
 */

struct haft__sorting {
    const struct haft_packed *packed;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    uint32_t *order;
    uint32_t *left; /* as long as order */
};

/* Whether the objects from positions `a` and `b` may stand in this order. */
static bool haft__in_order(const struct haft__sorting *sorting, uint32_t a, uint32_t b)
{
    return sorting->compare(haft__packed_object(sorting->packed, a), haft__packed_object(sorting->packed, b),
                            sorting->arg) <= 0;
}

/* Merge order[begin..middle) and order[middle..end), each in order. */
static void haft__merge(const struct haft__sorting *sorting, uint64_t haft__begin, uint64_t middle, uint64_t end)
{
    uint32_t *order = sorting->order;
    uint32_t *left = sorting->left;
    const uint64_t left_count = middle - haft__begin;
    uint64_t haft__taken = 0;

    if (haft__in_order(sorting, order[middle - 1], order[middle])) {
        return;
    }
    memcpy(left, &order[haft__begin], (size_t)left_count * sizeof left[0]);
    for (uint64_t at = haft__begin; haft__taken < left_count; at++) {
        if (middle == end || haft__in_order(sorting, left[haft__taken], order[middle])) {
            order[at] = left[haft__taken++];
        } else {
            order[at] = order[middle++];
        }
    }
}

static void haft__sort(const struct haft__sorting *sorting, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sorting->order[i] = (uint32_t)i;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t haft__begin = 0; haft__begin + width < count; haft__begin += 2 * width) {
            const uint64_t end = haft__begin + 2 * width < count ? haft__begin + 2 * width : count;

            haft__merge(sorting, haft__begin, haft__begin + width, end);
        }
    }
}

/* Move the objects of the cycle that begins at `start`; `spare` is a position beyond them all. */
static void haft__move_cycle(struct haft_packed *packed, uint64_t haft__start, uint64_t spare)
{
    const size_t size = (size_t)packed->view.object_size;
    uint32_t *order = packed->order;
    const haft_id first = packed->ids[haft__start];
    uint64_t to = haft__start;

    memcpy(haft__packed_object(packed, spare), haft__packed_object(packed, haft__start), size);
    while (order[to] != haft__start) {
        const uint64_t from = order[to];

        haft__packed_move(packed, to, from);
        order[to] = (uint32_t)to;
        to = from;
    }
    memcpy(haft__packed_object(packed, to), haft__packed_object(packed, spare), size);
    packed->ids[to] = first;
    haft__packed_slot(packed, first)->position = (uint32_t)to;
    order[to] = (uint32_t)to;
}

/* Move each of the first `count` objects to where `order` has it. */
static haft_status haft__move_all(struct haft_packed *packed, uint64_t count)
{
    /* `compare` may have inserted: the spare is behind that, too. */
    if (haft__packed_commit(packed, haft__OBJECTS, packed->count + 1) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    haft__packed_unpoison(packed, packed->count);
    for (uint64_t position = 0; position < count; position++) {
        if (packed->order[position] != position) {
            haft__move_cycle(packed, position, packed->count);
        }
    }
    if (packed->count < packed->ready) {
        haft__packed_poison(packed, packed->count, 1);
    }
    return HAFT_OK;
}

haft_status haft_packed_sort_n(haft_packed *packed, uint64_t n,
                               int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    const uint64_t count = n < packed->count ? n : packed->count;

    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (haft__packed_commit(packed, haft__ORDER, count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    const struct haft__sorting sorting = {
        .packed = packed,
        .compare = compare,
        .arg = arg,
        .order = packed->order,
        .left = packed->order + count,
    };
    const int cancel = haft__os_cancel_off();

    packed->in_callback = true;
    haft__sort(&sorting, count);
    packed->in_callback = false;
    haft__os_cancel_restore(cancel);
    return haft__move_all(packed, count);
}

haft_status haft_packed_sort(haft_packed *packed,
                             int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    return haft_packed_sort_n(packed, packed->count, compare, arg);
}

/* --- as ids are listed --- */

struct haft__placing {
    uint32_t *order;
    uint64_t count;
    uint32_t *is_placed; /* by position */
};

/* The object in `position` comes next, unless it has been placed. */
static void haft__place(struct haft__placing *placing, uint64_t position)
{
    if (placing->is_placed[position] == 0) {
        placing->is_placed[position] = 1;
        placing->order[placing->count++] = (uint32_t)position;
    }
}

haft_status haft_packed_sort_as(haft_packed *packed, const haft_id *ids, uint64_t count)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (haft__packed_commit(packed, haft__ORDER, packed->count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    struct haft__placing placing = {packed->order, 0, packed->order + packed->count};

    memset(placing.is_placed, 0, (size_t)packed->count * sizeof placing.is_placed[0]);
    for (uint64_t i = 0; i < count; i++) {
        if (haft_packed_is_live(packed->view, ids[i])) {
            haft__place(&placing, haft__packed_slot(packed, ids[i])->position);
        }
    }
    for (uint64_t position = 0; position < packed->count; position++) {
        haft__place(&placing, position);
    }
    return haft__move_all(packed, packed->count);
}

/* --- two objects --- */

static void haft__swap_bytes(char *a, char *b, uint64_t size)
{
    char haft__kept[64];

    for (uint64_t at = 0; at < size; at += sizeof haft__kept) {
        const size_t part = (size_t)(size - at < sizeof haft__kept ? size - at : sizeof haft__kept);

        memcpy(haft__kept, a + at, part);
        memcpy(a + at, b + at, part);
        memcpy(b + at, haft__kept, part);
    }
}

/* The object of `id` has come to stand in `position`. */
static void haft__settle_in(struct haft_packed *packed, haft_id id, uint32_t position)
{
    packed->ids[position] = id;
    haft__packed_slot(packed, id)->position = position;
}

haft_status haft_packed_swap(haft_packed *packed, haft_id a, haft_id b)
{
    if (!haft_packed_is_live(packed->view, a)) {
        return haft__slots_diagnose(&packed->slots, a);
    }
    if (!haft_packed_is_live(packed->view, b)) {
        return haft__slots_diagnose(&packed->slots, b);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint32_t position = haft__packed_slot(packed, a)->position;
    const uint32_t other = haft__packed_slot(packed, b)->position;

    if (position != other) {
        haft__swap_bytes(haft__packed_object(packed, position), haft__packed_object(packed, other),
                   packed->view.object_size);
        haft__settle_in(packed, a, other);
        haft__settle_in(packed, b, position);
    }
    return HAFT_OK;
}

/* kit/local/packed/packed_typed.c */

/* Whether packed tables and types fit each other. */

haft_status haft_type_fits_packed(haft_type type, haft_dense_view view)
{
    const bool is_aligned =
        (uintptr_t)view.objects % type.alignment == 0 && view.object_size % type.alignment == 0;

    return view.object_size == type.size && is_aligned ? HAFT_OK : HAFT_WRONG_TYPE;
}

/*
 * kit/local/arena/state.h - the structs of an arena.
 *
 * Blocks come in two kinds.  The chain: the first block, then each twice as large as the one
 * before, within bounds; those up to `block` are in use, `block` is where allocation goes on, those
 * behind it are kept for later.  Blocks of their own, for allocations too large for the chain's
 * next block, lie on one of two stacks: in use, or kept for later.
 *
 * From base to next a block is allocated, from next to end it is free, and poisoned under
 * AddressSanitizer.  With that, limit is next: the inline allocation never finds room, so each
 * allocation comes to the library, which poisons.
 */

struct haft__block {
    struct haft__block *next; /* in its chain or on its stack */
    char *base;         /* a multiple of HAFT_ARENA_ALIGNMENT */
    char *end;
    size_t size; /* as it came from the allocator; 0: it did not */
};

/* A function that runs on reset; lies in the arena. */
struct haft__clean_up {
    struct haft__clean_up *before; /* registered before this one */
    void (*function)(void *arg);
    void *arg;
};

struct haft__arena {
    haft_arena head; /* first: a haft_arena is the start of one of these */
    struct haft__block *block;
    char *pinned;      /* no shrinking below: the last mark in this block, or its base */
    size_t elsewhere;  /* bytes used in other blocks than this one */
    size_t high_water; /* as of the last time that bytes were given back */
    size_t capacity;
    struct haft__block *own;        /* blocks of their own in use, newest first */
    struct haft__block *own_oldest; /* the last of those, if there is one */
    struct haft__block *own_spare;
    struct haft__clean_up *clean_up; /* newest first */
    uint64_t round;            /* resets so far */
    size_t block_size;
    size_t max_block_size;
    bool fixed;
    bool marked;   /* since the last reset */
    bool cleaning; /* clean-up functions are running */
    haft_allocator allocator;
    struct haft__block first;
};

static inline struct haft__arena *haft__arena_of(haft_arena *head)
{
    return (struct haft__arena *)(void *)head;
}

/* Bytes from `at` to the next multiple of `alignment`. */
static inline size_t haft__arena_padding(const char *at, size_t alignment)
{
    return -(uintptr_t)at & (alignment - 1);
}

/* Allocation goes on at `next`, in the block in use. */
static inline void haft__arena_set_next(struct haft__arena *arena, char *next)
{
    arena->head.next = next;
    arena->head.limit = haft__asan_is_on() ? next : arena->block->end;
}

static inline size_t haft__arena_used(const struct haft__arena *arena)
{
    return arena->elsewhere + (size_t)(arena->head.next - arena->block->base);
}

/* To be called before bytes are given back. */
static inline void haft__arena_note_high_water(struct haft__arena *arena)
{
    const size_t used = haft__arena_used(arena);

    if (arena->high_water < used) {
        arena->high_water = used;
    }
}

/*
 * kit/local/arena/arena_blocks.h - where an arena's memory comes from, and where it is kept.
 */

/* `extent` bytes from another block than the one in use; or NULL, and nothing has changed. */
HAFT_INTERNAL char *haft__arena_take_elsewhere(struct haft__arena *arena, size_t extent, size_t alignment);

/* Blocks of their own, down to `until`, are kept for later. */
HAFT_INTERNAL void haft__arena_keep_own(struct haft__arena *arena, const struct haft__block *until);
HAFT_INTERNAL void haft__arena_keep_all_own(struct haft__arena *arena);

/*
 * All chain blocks behind `block` are poisoned, and `block` from `next` on; before it, the redzone
 * that the last allocation there may have grown over.
 */
HAFT_INTERNAL void haft__arena_poison_from(struct haft__block *block, char *next);

/* Blocks that hold nothing go back to the allocator. */
HAFT_INTERNAL void haft__arena_free_spare(struct haft__arena *arena);

/* kit/local/arena/arena.c */

/* haft_arena: allocation, marks, clean-up.  The struct and its blocks: kit/local/arena/state.h. */

#define haft__DEFAULT_BLOCK_SIZE ((size_t)1 << 16)
#define haft__DEFAULT_MAX_BLOCK_SIZE ((size_t)1 << 20)
#define haft__LARGEST_BLOCK_SIZE ((size_t)1 << 30)

/* The arena's own bytes, in front of its first block's. */
#define haft__RECORD                                                                                     \
    ((sizeof(struct haft__arena) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

_Static_assert(haft__RECORD + HAFT_ARENA_ALIGNMENT - 1 <= HAFT_ARENA_OVERHEAD, "it fits any buffer");
_Static_assert(_Alignof(max_align_t) <= HAFT_ARENA_ALIGNMENT, "enough for every basic type");

static size_t haft__larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* --- opening and closing --- */

/* Checks the options and puts them, with their defaults, into `arena`. */
static haft_status haft__take_options(struct haft__arena *arena, const haft_arena_options *options)
{
    const size_t size = options->block_size != 0 ? options->block_size : haft__DEFAULT_BLOCK_SIZE;
    const size_t most = options->max_block_size != 0 ? options->max_block_size
                                                     : haft__larger(size, haft__DEFAULT_MAX_BLOCK_SIZE);

    if (size > haft__LARGEST_BLOCK_SIZE) {
        return haft__kit_status(HAFT_BAD_BLOCK_SIZE);
    }
    if (most < size || most > haft__LARGEST_BLOCK_SIZE) {
        return haft__kit_status(HAFT_BAD_MAX_BLOCK_SIZE);
    }
    if (options->buffer != NULL ? options->buffer_size < HAFT_ARENA_OVERHEAD
                                : options->buffer_size != 0) {
        return haft__kit_status(HAFT_BAD_BUFFER_SIZE);
    }
    *arena = (struct haft__arena){
        .block_size = size,
        .max_block_size = most,
        .fixed = options->fixed,
        .allocator = options->allocator != NULL ? *options->allocator : haft_allocator_malloc(),
    };
    return HAFT_OK;
}

/* The memory of the arena itself and of its first block, which `first` then describes. */
static char *haft__first_memory(const struct haft__arena *arena, const haft_arena_options *options,
                          struct haft__block *first)
{
    char *memory = options->buffer;
    size_t bytes = options->buffer_size;

    if (memory != NULL) {
        const size_t padding = haft__arena_padding(memory, HAFT_ARENA_ALIGNMENT);

        memory += padding;
        bytes -= padding;
    } else {
        bytes = haft__RECORD + arena->block_size;
        first->size = bytes;
        memory = haft__heap_take(&arena->allocator, bytes, HAFT_ARENA_ALIGNMENT);
    }
    if (memory != NULL) {
        first->base = memory + haft__RECORD;
        first->end = memory + bytes;
    }
    return memory;
}

static haft_status haft__new_arena(const haft_arena_options *options, haft_arena **arena)
{
    struct haft__arena made;
    const haft_status status = haft__take_options(&made, options);

    if (status != HAFT_OK) {
        return status;
    }
    struct haft__arena *opened = (struct haft__arena *)(void *)haft__first_memory(&made, options, &made.first);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = made;
    opened->block = &opened->first;
    opened->pinned = opened->first.base;
    opened->capacity = (size_t)(opened->first.end - opened->first.base);
    haft__asan_poison(opened->first.base, opened->capacity);
    haft__arena_set_next(opened, opened->first.base);
    *arena = &opened->head;
    return HAFT_OK;
}

haft_status haft_arena_open_sized(const haft_arena_options *options, size_t size,
                                  haft_arena **arena)
{
    haft_arena_options known;
    const haft_status status = haft__sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? haft__new_arena(&known, arena) : status;
}

void haft_arena_close(haft_arena *head)
{
    struct haft__arena *arena = haft__arena_of(head);
    const haft_allocator from = arena->allocator;
    const size_t size = arena->first.size;

    haft_arena_reset(head);
    haft_arena_trim(head);
    haft__asan_unpoison(arena->first.base, (size_t)(arena->first.end - arena->first.base));
    if (size != 0) {
        haft__heap_give(&from, arena, size);
    }
}

/* --- allocation --- */

static bool haft__arena_extent(size_t size, size_t *extent)
{
    if (size > PTRDIFF_MAX / 2) {
        return false;
    }
    if (haft__asan_is_on()) {
        *extent = (size + haft__ASAN_GRANULE - 1) / haft__ASAN_GRANULE * haft__ASAN_GRANULE + haft__ASAN_REDZONE;
    } else {
        *extent = haft__larger(size, 1);
    }
    return true;
}

/* Alignment that is possible, and that suits the sanitizer; 0 if there is none. */
static size_t haft__usable_alignment(size_t alignment)
{
    if ((alignment & (alignment - 1)) != 0 || alignment > HAFT_ARENA_MAX_ALIGNMENT) {
        return 0;
    }
    return haft__asan_is_on() && alignment != 0 ? haft__larger(alignment, haft__ASAN_GRANULE) : alignment;
}

/* From the block in use; NULL if it has no room. */
static char *haft__take_here(struct haft__arena *arena, size_t extent, size_t alignment)
{
    const size_t padding = haft__arena_padding(arena->head.next, alignment);
    const size_t room = (size_t)(arena->block->end - arena->head.next);

    if (padding > room || extent > room - padding) {
        return NULL;
    }
    char *at = arena->head.next + padding;

    haft__arena_set_next(arena, at + extent);
    return at;
}

void *haft_arena_alloc_further(haft_arena *head, size_t size, size_t alignment)
{
    struct haft__arena *arena = haft__arena_of(head);
    const size_t usable = haft__usable_alignment(alignment);
    size_t extent;

    if (usable == 0 || !haft__arena_extent(size, &extent)) {
        return NULL;
    }
    char *at = haft__take_here(arena, extent, usable);

    if (at == NULL) {
        at = haft__arena_take_elsewhere(arena, extent, usable);
    }
    if (at != NULL) {
        haft__asan_unpoison(at, size);
    }
    return at;
}

void *haft_arena_alloc_array(haft_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    return haft__multiply_overflows(count, size, &bytes) ? NULL : haft_arena_alloc(arena, bytes);
}

void *haft_arena_alloc_zeroed(haft_arena *arena, size_t count, size_t size)
{
    void *memory = haft_arena_alloc_array(arena, count, size);

    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

/* --- another size --- */

static bool haft__is_last(const struct haft__arena *arena, const char *memory, size_t extent)
{
    return (uintptr_t)memory + extent == (uintptr_t)arena->head.next;
}

/* Allocation goes on at `next`, further down, or where a mark keeps it. */
static void haft__fall_back(struct haft__arena *arena, char *next)
{
    haft__arena_note_high_water(arena);
    haft__arena_set_next(arena, next > arena->pinned ? next : arena->pinned);
}

/* False if the allocation, which ends where the free bytes begin, cannot get so large there. */
static bool haft__resize_last(struct haft__arena *arena, char *memory, size_t extent)
{
    char *next = arena->head.next;

    if (extent > (size_t)(arena->block->end - memory)) {
        return false;
    }
    if (memory + extent < next) {
        haft__fall_back(arena, memory + extent);
    } else {
        haft__arena_set_next(arena, memory + extent);
    }
    return true;
}

/* Whether it is certain that no mark was set since the allocation, so that no rewind revives it. */
static bool haft__is_behind_marks(const struct haft__arena *arena, const char *memory)
{
    const uintptr_t pinned = (uintptr_t)arena->pinned;

    return !arena->marked || (uintptr_t)memory - pinned < (uintptr_t)arena->head.next - pinned;
}

static void *haft__move(struct haft__arena *arena, void *memory, size_t old_size, size_t new_size,
                  size_t alignment)
{
    const bool has_ended = haft__is_behind_marks(arena, memory);
    void *moved = haft_arena_alloc_aligned(&arena->head, new_size, alignment);

    if (moved != NULL) {
        memcpy(moved, memory, old_size);
    }
    if (moved != NULL && has_ended) {
        haft__asan_poison(memory, old_size);
    }
    return moved;
}

void *haft_arena_resize(haft_arena *head, void *memory, size_t old_size, size_t new_size,
                        size_t alignment)
{
    struct haft__arena *arena = haft__arena_of(head);
    size_t old_extent;
    size_t extent;

    if (memory == NULL) {
        assert(old_size == 0 && "NULL has no bytes");
        return haft_arena_alloc_aligned(head, new_size, alignment);
    }
    if (!haft__arena_extent(old_size, &old_extent) || !haft__arena_extent(new_size, &extent)) {
        return NULL;
    }
    const bool in_place = haft__is_last(arena, memory, old_extent) ? haft__resize_last(arena, memory, extent)
                                                             : new_size <= old_size;
    if (!in_place) {
        return haft__move(arena, memory, old_size, new_size, alignment);
    }
    if (new_size > old_size) {
        haft__asan_unpoison(memory, new_size);
    } else if (haft__is_behind_marks(arena, memory)) {
        haft__asan_poison((char *)memory + new_size, old_size - new_size);
    }
    return memory;
}

void *haft_arena_resize_array(haft_arena *arena, void *memory, size_t old_count, size_t new_count,
                              size_t size, size_t alignment)
{
    size_t bytes;

    if (haft__multiply_overflows(new_count, size, &bytes)) {
        return NULL;
    }
    return haft_arena_resize(arena, memory, old_count * size, bytes, alignment);
}

/* --- marks, resets --- */

/* Runs the functions registered since `until`, and those that they register; newest first. */
static void haft__clean_up_until(struct haft__arena *arena, const struct haft__clean_up *until)
{
    assert(!arena->cleaning && "a clean-up function may not reset, rewind or close");
    arena->cleaning = true;
    while (arena->clean_up != until) {
        const struct haft__clean_up *now = arena->clean_up;

        arena->clean_up = now->before;
        now->function(now->arg);
    }
    arena->cleaning = false;
}

haft_status haft_arena_on_reset(haft_arena *head, void (*clean_up)(void *arg), void *arg)
{
    struct haft__arena *arena = haft__arena_of(head);

    if (clean_up == NULL) {
        return HAFT_OK;
    }
    struct haft__clean_up *note = haft_arena_new(head, struct haft__clean_up);

    if (note == NULL) {
        return HAFT_NO_MEMORY;
    }
    *note = (struct haft__clean_up){arena->clean_up, clean_up, arg};
    arena->clean_up = note;
    return HAFT_OK;
}

haft_mark haft_arena_mark(haft_arena *head)
{
    struct haft__arena *arena = haft__arena_of(head);

    arena->pinned = arena->head.next;
    arena->marked = true;
    return (haft_mark){
        .block = arena->block,
        .next = arena->head.next,
        .own_blocks = arena->own,
        .clean_up = arena->clean_up,
        .elsewhere = arena->elsewhere,
        .round = arena->round,
    };
}

void haft_arena_rewind(haft_arena *head, haft_mark mark)
{
    struct haft__arena *arena = haft__arena_of(head);

    assert(mark.round == arena->round && "a mark holds until the next reset");
    haft__clean_up_until(arena, mark.clean_up);
    haft__arena_note_high_water(arena);
    haft__arena_keep_own(arena, mark.own_blocks);
    arena->block = mark.block;
    arena->elsewhere = mark.elsewhere;
    arena->pinned = mark.next;
    haft__arena_set_next(arena, mark.next);
    haft__arena_poison_from(arena->block, mark.next);
}

void haft_arena_reset(haft_arena *head)
{
    struct haft__arena *arena = haft__arena_of(head);

    haft__clean_up_until(arena, NULL);
    haft__arena_note_high_water(arena);
    haft__arena_keep_all_own(arena);
    arena->block = &arena->first;
    arena->elsewhere = 0;
    arena->pinned = arena->first.base;
    arena->marked = false;
    arena->round++;
    haft__arena_set_next(arena, arena->first.base);
    haft__arena_poison_from(arena->block, arena->first.base);
}

void haft_arena_trim(haft_arena *head)
{
    haft__arena_free_spare(haft__arena_of(head));
}

haft_arena_stats haft_arena_stats_get(const haft_arena *head)
{
    const struct haft__arena *arena = (const struct haft__arena *)(const void *)head;
    const size_t used = haft__arena_used(arena);

    return (haft_arena_stats){used, haft__larger(used, arena->high_water), arena->capacity};
}

/* --- as an allocator --- */

static void *haft__allocator_alloc(void *context, size_t size, size_t alignment)
{
    return haft_arena_alloc_aligned(context, size, alignment);
}

static void *haft__allocator_resize(void *context, void *memory, size_t old_size, size_t new_size,
                              size_t alignment)
{
    return haft_arena_resize(context, memory, old_size, new_size, alignment);
}

static void haft__allocator_free(void *context, void *memory, size_t size)
{
    struct haft__arena *arena = haft__arena_of(context);
    size_t extent;

    if (memory == NULL || !haft__arena_extent(size, &extent)) {
        return;
    }
    haft__asan_poison(memory, size);
    if (haft__is_last(arena, memory, extent)) {
        haft__fall_back(arena, memory);
    }
}

haft_allocator haft_arena_allocator(haft_arena *arena)
{
    return (haft_allocator){haft__allocator_alloc, haft__allocator_resize, haft__allocator_free, arena};
}

/* kit/local/arena/arena_blocks.c */

/* Where an arena's memory comes from, and where it is kept. */

/* In front of a block's bytes. */
#define haft__HEADER                                                                                     \
    ((sizeof(struct haft__block) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

static struct haft__block *haft__block_open(struct haft__arena *arena, size_t bytes)
{
    struct haft__block *block = haft__heap_take(&arena->allocator, haft__HEADER + bytes, HAFT_ARENA_ALIGNMENT);

    if (block == NULL) {
        return NULL;
    }
    block->next = NULL;
    block->base = (char *)block + haft__HEADER;
    block->end = block->base + bytes;
    block->size = haft__HEADER + bytes;
    haft__asan_poison(block->base, bytes);
    arena->capacity += bytes;
    return block;
}

static void haft__block_close(struct haft__arena *arena, struct haft__block *block)
{
    const size_t bytes = (size_t)(block->end - block->base);

    haft__asan_unpoison(block->base, bytes);
    arena->capacity -= bytes;
    haft__heap_give(&arena->allocator, block, block->size);
}

/* Where the bytes would lie in an empty block; NULL if it is too small. */
static char *haft__place_in(const struct haft__block *block, size_t extent, size_t alignment)
{
    const size_t padding = haft__arena_padding(block->base, alignment);
    const size_t room = (size_t)(block->end - block->base);

    return padding <= room && extent <= room - padding ? block->base + padding : NULL;
}

/* Bytes of an empty block that surely takes them: base is aligned to HAFT_ARENA_ALIGNMENT. */
static size_t haft__room_for(size_t extent, size_t alignment)
{
    return alignment <= HAFT_ARENA_ALIGNMENT ? extent : extent + alignment - HAFT_ARENA_ALIGNMENT;
}

/* --- the chain --- */

/* Bytes of the next block that the chain gets: twice the last one's, within bounds. */
static size_t haft__next_size(const struct haft__arena *arena)
{
    const size_t now = (size_t)(arena->block->end - arena->block->base);

    if (arena->block->size == 0) { /* the caller's buffer */
        return arena->block_size;
    }
    return now >= arena->max_block_size / 2 ? arena->max_block_size : 2 * now;
}

/* The block behind the one in use, new if there is none; NULL if the bytes do not fit there. */
static struct haft__block *haft__next_block(struct haft__arena *arena, size_t extent, size_t alignment)
{
    struct haft__block *next = arena->block->next;

    if (next != NULL) {
        return haft__place_in(next, extent, alignment) != NULL ? next : NULL;
    }
    if (haft__room_for(extent, alignment) > haft__next_size(arena)) {
        return NULL;
    }
    next = haft__block_open(arena, haft__next_size(arena));
    arena->block->next = next;
    return next;
}

static char *haft__move_on(struct haft__arena *arena, struct haft__block *next, size_t extent, size_t alignment)
{
    char *at = haft__place_in(next, extent, alignment);

    arena->elsewhere = haft__arena_used(arena);
    arena->block = next;
    arena->pinned = next->base;
    haft__arena_set_next(arena, at + extent);
    return at;
}

/* --- blocks of their own --- */

/* The smallest kept one that will do, off its stack; or NULL. */
static struct haft__block *haft__take_spare(struct haft__arena *arena, size_t extent, size_t alignment)
{
    struct haft__block **best = NULL;

    for (struct haft__block **at = &arena->own_spare; *at != NULL; at = &(*at)->next) {
        if (haft__place_in(*at, extent, alignment) != NULL &&
            (best == NULL || (*at)->end - (*at)->base < (*best)->end - (*best)->base)) {
            best = at;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    struct haft__block *block = *best;

    *best = block->next;
    return block;
}

/* The largest kept one, which is too small, goes as a larger one comes: sizes may grow for ever. */
static void haft__drop_spare(struct haft__arena *arena)
{
    struct haft__block **largest = &arena->own_spare;

    for (struct haft__block **at = largest; *at != NULL; at = &(*at)->next) {
        if ((*at)->end - (*at)->base > (*largest)->end - (*largest)->base) {
            largest = at;
        }
    }
    struct haft__block *block = *largest;

    if (block != NULL) {
        *largest = block->next;
        haft__block_close(arena, block);
    }
}

static char *haft__take_own(struct haft__arena *arena, size_t extent, size_t alignment)
{
    struct haft__block *block = haft__take_spare(arena, extent, alignment);

    if (block == NULL) {
        block = haft__block_open(arena, haft__room_for(extent, alignment));
        if (block == NULL) {
            return NULL;
        }
        haft__drop_spare(arena);
    }
    if (arena->own == NULL) {
        arena->own_oldest = block;
    }
    block->next = arena->own;
    arena->own = block;
    char *at = haft__place_in(block, extent, alignment);

    arena->elsewhere += (size_t)(at - block->base) + extent;
    return at;
}

HAFT_INTERNAL char *haft__arena_take_elsewhere(struct haft__arena *arena, size_t extent, size_t alignment)
{
    if (arena->fixed) {
        return NULL;
    }
    struct haft__block *next = haft__next_block(arena, extent, alignment);

    return next != NULL ? haft__move_on(arena, next, extent, alignment)
                        : haft__take_own(arena, extent, alignment);
}

HAFT_INTERNAL void haft__arena_keep_own(struct haft__arena *arena, const struct haft__block *until)
{
    while (arena->own != until) {
        struct haft__block *block = arena->own;

        assert(block != NULL && "the mark is this arena's");
        arena->own = block->next;
        block->next = arena->own_spare;
        arena->own_spare = block;
        haft__asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

HAFT_INTERNAL void haft__arena_keep_all_own(struct haft__arena *arena)
{
    if (arena->own == NULL) {
        return;
    }
    for (struct haft__block *block = arena->own; haft__asan_is_on() && block != NULL; block = block->next) {
        haft__asan_poison(block->base, (size_t)(block->end - block->base));
    }
    arena->own_oldest->next = arena->own_spare;
    arena->own_spare = arena->own;
    arena->own = NULL;
}

/* --- all blocks --- */

HAFT_INTERNAL void haft__arena_poison_from(struct haft__block *block, char *next)
{
    char *from = next != block->base ? next - haft__ASAN_REDZONE : next;

    haft__asan_poison(from, (size_t)(block->end - from));
    for (block = block->next; haft__asan_is_on() && block != NULL; block = block->next) {
        haft__asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

static void haft__free_list(struct haft__arena *arena, struct haft__block **list)
{
    while (*list != NULL) {
        struct haft__block *block = *list;

        *list = block->next;
        haft__block_close(arena, block);
    }
}

HAFT_INTERNAL void haft__arena_free_spare(struct haft__arena *arena)
{
    haft__free_list(arena, &arena->block->next);
    haft__free_list(arena, &arena->own_spare);
}

/* kit/local/arena/arena_text.c */

/* Copies and formatted strings in an arena. */

void *haft_arena_copy(haft_arena *arena, const void *bytes, size_t size)
{
    void *copy = haft_arena_alloc(arena, size);

    if (copy != NULL && size != 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static char *haft__copy_text(haft_arena *arena, const char *text, size_t haft__length)
{
    char *copy = haft_arena_alloc_aligned(arena, haft__length + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text, haft__length);
        copy[haft__length] = '\0';
    }
    return copy;
}

char *haft_arena_strdup(haft_arena *arena, const char *text)
{
    return haft__copy_text(arena, text, strlen(text));
}

char *haft_arena_strndup(haft_arena *arena, const char *text, size_t most)
{
    const char *end = memchr(text, '\0', most);

    return haft__copy_text(arena, text, end != NULL ? (size_t)(end - text) : most);
}

/* --- formatted --- */

/* Formats into the free bytes of the block in use; the text is not allocated yet. */
static int haft__format_ahead(struct haft__arena *arena, const char *format, va_list arguments)
{
    char *next = arena->head.next;
    const size_t left = (size_t)(arena->block->end - next);
    const size_t room = left < INT_MAX ? left : INT_MAX; /* POSIX lets vsnprintf() refuse more */

    haft__asan_unpoison(next, room);
    const int haft__length = vsnprintf(next, room, format, arguments);

    haft__asan_poison(next, room);
    return haft__length;
}

char *haft_arena_vprintf(haft_arena *head, const char *format, va_list arguments)
{
    struct haft__arena *arena = haft__arena_of(head);
    const char *ahead = arena->head.next;
    va_list again;

    va_copy(again, arguments);
    const int haft__length = haft__format_ahead(arena, format, arguments);
    char *text = haft__length < 0 ? NULL : haft_arena_alloc_aligned(head, (size_t)haft__length + 1, 1);

    if (text != NULL && text != ahead) { /* it had no room there */
        vsnprintf(text, (size_t)haft__length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *haft_arena_printf(haft_arena *arena, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = haft_arena_vprintf(arena, format, arguments);

    va_end(arguments);
    return text;
}

/*
 * kit/shared/commands/state.h - the structs of a command set.
 *
 * No atomics: a recorder is one job's until the program says that the job has ended, and the
 * set's thread has all else.  All changes of the table go through the set's worker.
 */

#define haft__DESTROYS 62 /* ids in a piece, which has 512 bytes */

/* A piece of the list of ids to destroy; in the recorder's arena. */
struct haft__destroys {
    struct haft__destroys *next;
    uint64_t count;
    haft_id ids[haft__DESTROYS];
};

/* One call; in the recorder's arena, the payload behind it, which is aligned as well. */
struct haft__call {
    _Alignas(HAFT_ARENA_ALIGNMENT) struct haft__call *next;
    haft_call *function;
};

struct haft_recorder {
    _Alignas(haft__CACHE_LINE) haft_commands *commands;
    haft_view view;
    uint64_t key;
    bool is_open;
    haft_arena *arena;
    haft_id *ids;       /* that it may create; in the set's arena */
    uint64_t ids_count; /* how many */
    uint64_t created;   /* of them, from the start */
    uint64_t published; /* of those, from the start */
    struct haft__call *calls; /* oldest first */
    struct haft__call **calls_end;
    struct haft__destroys *destroys; /* oldest first */
    struct haft__destroys *destroys_last;
};

struct haft_commands {
    haft_table *table;
    haft_worker *worker;
    haft_allocator allocator;
    size_t block_size;
    haft_arena *arena; /* of one frame: the ids of its recorders */

    haft_recorder **recorders; /* those open, by key; then those kept for later */
    size_t open;
    size_t made;
    size_t room; /* for pointers */

    haft_id *reserved; /* for the next recorder; oldest first, from `reserved_from` on */
    size_t reserved_from;
    size_t reserved_count;
    size_t reserved_room;

    bool applying;
    haft_recorder *calling; /* whose call is being made; NULL: none */
};

/* Between its opening and apply; within apply, while one of its calls is made. */
static inline bool haft__recorder_may_record(const haft_recorder *recorder)
{
    const haft_commands *commands = recorder->commands;

    return recorder->is_open && (!commands->applying || commands->calling == recorder);
}

/*
 * kit/shared/commands/commands_apply.h - the end of a frame.
 */

/* All recorders end, and drop what they have recorded; how many reservations were given up. */
HAFT_INTERNAL uint64_t haft__commands_give_up(haft_commands *commands, const void *caller);

/*
 * kit/shared/commands/commands_record.h - the recorder of one job.
 */

/* Makes the recorder ready for a frame, with nothing recorded. */
HAFT_INTERNAL
void haft__recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count);

/* kit/shared/commands/commands.c */

/*
 * Command sets: opening, recorders, reservations.
 *
 * Recorders stand in order of their keys from the moment they are opened, so a second recorder
 * with the same key is refused at once, and apply has nothing to sort.
 */

#define haft__BLOCK_SIZE 4096
#define haft__ROOM_LEAST 16

/* --- memory --- */

/*
 * `array` with room for `wanted` elements of `size` bytes, moved if need be, and how many fit in
 * `*room`.  NULL, and nothing has changed, if there is no memory.
 */
static void *haft__with_room(const haft_allocator *from, void *array, size_t *room, size_t wanted,
                       size_t size)
{
    size_t grown = *room != 0 ? *room : haft__ROOM_LEAST;

    if (wanted <= *room) {
        return array;
    }
    while (grown < wanted) {
        grown *= 2;
    }
    void *moved = from->resize(from->context, array, *room * size, grown * size, sizeof(void *));

    if (moved != NULL) {
        *room = grown;
    }
    return moved;
}

static haft_status haft__open_arena(const haft_commands *commands, haft_arena **arena)
{
    const haft_arena_options options = {
        .block_size = commands->block_size,
        .allocator = &commands->allocator,
    };
    return haft_arena_open(&options, arena);
}

/* --- the set --- */

static haft_status haft__open_commands(haft_table *table, const haft_commands_options *with,
                                 haft_commands **commands)
{
    const haft_allocator allocator =
        with->allocator != NULL ? *with->allocator : haft_allocator_malloc();
    haft_commands *opened =
        allocator.alloc(allocator.context, sizeof *opened, _Alignof(haft_commands));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = (haft_commands){
        .table = table,
        .allocator = allocator,
        .block_size = with->block_size != 0 ? with->block_size : haft__BLOCK_SIZE,
    };
    haft_status status = haft__open_arena(opened, &opened->arena);

    if (status == HAFT_OK) {
        status = haft_worker_open(table, &opened->worker);
        if (status != HAFT_OK) {
            haft_arena_close(opened->arena);
        }
    }
    if (status != HAFT_OK) {
        allocator.free(allocator.context, opened, sizeof *opened);
        return status;
    }
    opened->worker->is_movable = true;
    *commands = opened;
    return HAFT_OK;
}

haft_status haft_commands_open_sized(haft_table *table, const haft_commands_options *options,
                                     size_t size, haft_commands **commands)
{
    haft_commands_options known;
    const haft_status status = haft__sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? haft__open_commands(table, &known, commands) : status;
}

void haft_commands_close(haft_commands *commands)
{
    const haft_allocator from = commands->allocator;

    assert(!haft__callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    haft__worker_change_thread(commands->worker); /* the set may come from another thread */
    haft__commands_give_up(commands, haft__CALLER);
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_close(commands->recorders[i]->arena);
        from.free(from.context, commands->recorders[i], sizeof(haft_recorder));
    }
    commands->worker->is_movable = false;
    haft_worker_close(commands->worker);
    haft_arena_close(commands->arena);
    from.free(from.context, commands->recorders, commands->room * sizeof *commands->recorders);
    from.free(from.context, commands->reserved,
              commands->reserved_room * sizeof *commands->reserved);
    from.free(from.context, commands, sizeof *commands);
}

haft_worker *haft_commands_worker(const haft_commands *commands)
{
    return commands->worker;
}

haft_table *haft_commands_table(const haft_commands *commands)
{
    return commands->table;
}

/* --- recorders --- */

/* The first place whose recorder has no lower key. */
static size_t haft__find_place(const haft_commands *commands, uint64_t key)
{
    size_t low = 0;
    size_t high = commands->open;

    if (high != 0 && commands->recorders[high - 1]->key < key) {
        return high; /* in ascending order */
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (commands->recorders[middle]->key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* One more recorder behind those there are. */
static haft_status haft__make_recorder(haft_commands *commands)
{
    const haft_allocator *from = &commands->allocator;
    haft_recorder **recorders = haft__with_room(from, commands->recorders, &commands->room,
                                          commands->made + 1, sizeof *commands->recorders);

    if (recorders == NULL) {
        return HAFT_NO_MEMORY;
    }
    commands->recorders = recorders;
    haft_recorder *recorder = from->alloc(from->context, sizeof *recorder, _Alignof(haft_recorder));

    if (recorder == NULL) {
        return HAFT_NO_MEMORY;
    }
    *recorder = (haft_recorder){.commands = commands, .view = haft_table_view(commands->table)};
    const haft_status status = haft__open_arena(commands, &recorder->arena);

    if (status != HAFT_OK) {
        from->free(from->context, recorder, sizeof *recorder);
        return status;
    }
    commands->recorders[commands->made++] = recorder;
    return HAFT_OK;
}

/* Those that a refused recorder left are born where the next one is opened. */
static void haft__note_births(const haft_commands *commands, size_t count, const void *caller)
{
    const struct haft__slots *slots = &commands->table->slots;

    for (size_t i = 0; i < commands->reserved_count && i < count; i++) {
        const haft_id id = commands->reserved[commands->reserved_from + i];

        haft__sites_note_birth(&slots->sites, haft__word_index(&slots->format, id.bits), caller);
    }
}

/* Reservations begin where their memory does. */
static void haft__move_reserved(haft_commands *commands)
{
    if (commands->reserved_from != 0) {
        memmove(commands->reserved, commands->reserved + commands->reserved_from,
                commands->reserved_count * sizeof *commands->reserved);
        commands->reserved_from = 0;
    }
}

/* Reserve until there are `count` reservations; those there are stay if this fails. */
static haft_status haft__reserve_ids(haft_commands *commands, size_t count, const void *caller)
{
    haft__note_births(commands, count, caller);
    if (commands->reserved_count < count) {
        haft__move_reserved(commands);
        haft_id *ids = haft__with_room(&commands->allocator, commands->reserved, &commands->reserved_room,
                                 count, sizeof *commands->reserved);

        if (ids == NULL) {
            return HAFT_NO_MEMORY;
        }
        commands->reserved = ids;
    }
    while (commands->reserved_count < count) {
        haft_id *id = &commands->reserved[commands->reserved_count];
        const haft_status status = haft__worker_reserve(commands->worker, id, NULL, caller);

        if (status != HAFT_OK) {
            return status;
        }
        commands->reserved_count++;
    }
    return HAFT_OK;
}

/* The oldest `count` reservations, which there are, as a recorder's; NULL: no memory. */
static haft_id *haft__take_reserved(haft_commands *commands, size_t count)
{
    haft_id *ids = haft_arena_new_array(commands->arena, haft_id, count);

    if (ids != NULL && count != 0) {
        memcpy(ids, commands->reserved + commands->reserved_from, count * sizeof *ids);
        commands->reserved_from += count;
        commands->reserved_count -= count;
    }
    return ids;
}

haft_status haft_recorder_open(haft_commands *commands, uint64_t key, uint64_t max_creates,
                               haft_recorder **recorder)
{
    const size_t haft__place = haft__find_place(commands, key);

    assert(!haft__callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    haft__worker_change_thread(commands->worker); /* the set may come from another thread */
    if (haft__place < commands->open && commands->recorders[haft__place]->key == key) {
        return haft__kit_status(HAFT_SAME_KEY);
    }
    haft_status status = commands->open < commands->made ? HAFT_OK : haft__make_recorder(commands);

    if (status == HAFT_OK) {
        status = max_creates > commands->table->slots.limit
                     ? HAFT_FULL
                     : haft__reserve_ids(commands, (size_t)max_creates, haft__CALLER);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_id *ids = haft__take_reserved(commands, (size_t)max_creates);

    if (ids == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft_recorder **at = &commands->recorders[haft__place];
    haft_recorder *opened = commands->recorders[commands->open];

    memmove(at + 1, at, (commands->open - haft__place) * sizeof *at);
    *at = opened;
    commands->open++;
    haft__recorder_begin(opened, key, ids, max_creates);
    *recorder = opened;
    return HAFT_OK;
}

/* kit/shared/commands/commands_apply.c */

/*
 * Apply: recorded commands, carried out on one thread, by key and order of recording.
 *
 * Destructions take two walks.  The first drops ids that are not live: they were stale before any
 * of these destructions.  So an id that fails in the second walk was destroyed by the same apply: a
 * duplicate.  The walks need no memory, so apply cannot fail half way.
 */

static void haft__publish_created(haft_recorder *recorder, haft_worker *worker)
{
    while (recorder->published < recorder->created) {
        haft_publish(worker, recorder->ids[recorder->published++]);
    }
}

/* Calls that calls record come behind the others; objects that calls create are live at once. */
static void haft__make_calls(haft_recorder *recorder, haft_commands *commands, haft_applied *applied)
{
    commands->calling = recorder;
    for (struct haft__call *call = recorder->calls; call != NULL; call = call->next) {
        call->function(recorder, call + 1);
        haft__publish_created(recorder, commands->worker);
        applied->calls++;
    }
    commands->calling = NULL;
}

/* As a refused free: a duplicate is one, too. */
static void haft__count_not_live(haft_worker *worker, haft_id id, haft_applied *applied)
{
    const haft_status status = haft_diagnose(worker->table, id);
    const bool was_freed = status == HAFT_STALE || status == HAFT_EXHAUSTED;

    applied->stale += was_freed;
    applied->refused += !was_freed;
    haft__count_up(&worker->counters.refused_frees, 1);
}

/* The first walk: ids that are not live become nil. */
static void haft__drop_not_live(const haft_recorder *recorder, haft_worker *worker, haft_applied *applied)
{
    for (struct haft__destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (!haft_is_live(recorder->view, piece->ids[i])) {
                haft__count_not_live(worker, piece->ids[i], applied);
                piece->ids[i] = HAFT_NIL;
            }
        }
    }
}

/* The second walk. */
static void haft__destroy_live(const haft_recorder *recorder, haft_worker *worker, const void *caller,
                         haft_applied *applied)
{
    for (const struct haft__destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (haft_id_is_nil(piece->ids[i])) {
                continue;
            }
            if (haft__worker_free(worker, piece->ids[i], caller) == HAFT_OK) {
                applied->destroyed++;
            } else {
                applied->duplicates++;
            }
        }
    }
}

static void haft__carry_out(haft_commands *commands, const void *caller, haft_applied *applied)
{
    haft_recorder **recorders = commands->recorders;
    const size_t open = commands->open;

    for (size_t i = 0; i < open; i++) {
        haft__publish_created(recorders[i], commands->worker);
    }
    for (size_t i = 0; i < open; i++) {
        haft__make_calls(recorders[i], commands, applied);
    }
    for (size_t i = 0; i < open; i++) {
        haft__drop_not_live(recorders[i], commands->worker, applied);
    }
    for (size_t i = 0; i < open; i++) {
        haft__destroy_live(recorders[i], commands->worker, caller, applied);
    }
}

HAFT_INTERNAL uint64_t haft__commands_give_up(haft_commands *commands, const void *caller)
{
    uint64_t given_up = commands->reserved_count;

    for (size_t i = 0; i < commands->open; i++) {
        haft_recorder *recorder = commands->recorders[i];

        for (uint64_t unused = recorder->published; unused < recorder->ids_count; unused++) {
            haft__worker_abort(commands->worker, recorder->ids[unused], caller);
        }
        given_up += recorder->ids_count - recorder->published;
        recorder->is_open = false;
    }
    for (size_t i = 0; i < commands->reserved_count; i++) {
        haft__worker_abort(commands->worker, commands->reserved[commands->reserved_from + i], caller);
    }
    commands->open = 0;
    commands->reserved_from = 0;
    commands->reserved_count = 0;
    return given_up;
}

/* The memory of recorders that have been given up, for the next ones. */
static void haft__reset_arenas(haft_commands *commands)
{
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_reset(commands->recorders[i]->arena);
    }
    haft_arena_reset(commands->arena);
}

haft_status haft_commands_apply(haft_commands *commands, haft_applied *applied)
{
    haft_applied counted = {0};

    const haft_status status = haft__domain_check_moment(commands->table->domain);

    if (status != HAFT_OK) {
        return status; /* on_reclaim may ask while the set is applied */
    }
    assert(!commands->applying && "a command's call may not apply");
    const int cancel = haft__os_cancel_off();

    haft__worker_change_thread(commands->worker); /* the set may come from another thread */
    commands->applying = true;
    haft__carry_out(commands, haft__CALLER, &counted);
    for (size_t i = 0; i < commands->open; i++) {
        counted.created += commands->recorders[i]->published;
    }
    counted.unused = haft__commands_give_up(commands, haft__CALLER);
    haft__retire_open(commands->worker);
    haft_worker_quiescent(commands->worker); /* its on_reclaim may look at payloads */
    haft__reset_arenas(commands);
    commands->applying = false;
    haft__os_cancel_restore(cancel);
    if (applied != NULL) {
        *applied = counted;
    }
    return HAFT_OK;
}

/* kit/shared/commands/commands_record.c */

/* Recording: the calls of a job on its recorder. */

HAFT_INTERNAL
void haft__recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count)
{
    recorder->key = key;
    recorder->is_open = true;
    recorder->ids = ids;
    recorder->ids_count = ids_count;
    recorder->created = 0;
    recorder->published = 0;
    recorder->calls = NULL;
    recorder->calls_end = &recorder->calls;
    recorder->destroys = NULL;
    recorder->destroys_last = NULL;
}

haft_status haft_recorder_create(haft_recorder *recorder, haft_id *id, void **haft__object)
{
    assert(haft__recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (recorder->created == recorder->ids_count) {
        return haft__kit_status(HAFT_USED_UP);
    }
    *id = recorder->ids[recorder->created++];
    if (haft__object != NULL) {
        *haft__object = haft__slots_object((haft__atomic_u64 *)(uintptr_t)haft_slot_of(recorder->view, *id));
    }
    return HAFT_OK;
}

/* A further piece at the end of the list; NULL if there is no memory. */
static struct haft__destroys *haft__add_piece(haft_recorder *recorder)
{
    struct haft__destroys *piece = haft_arena_new(recorder->arena, struct haft__destroys);

    if (piece == NULL) {
        return NULL;
    }
    piece->next = NULL;
    piece->count = 0;
    if (recorder->destroys == NULL) {
        recorder->destroys = piece;
    } else {
        recorder->destroys_last->next = piece;
    }
    recorder->destroys_last = piece;
    return piece;
}

haft_status haft_recorder_destroy(haft_recorder *recorder, haft_id id)
{
    struct haft__destroys *piece = recorder->destroys_last;

    assert(haft__recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (piece == NULL || piece->count == haft__DESTROYS) {
        piece = haft__add_piece(recorder);
    }
    if (piece == NULL) {
        return HAFT_NO_MEMORY;
    }
    piece->ids[piece->count++] = id;
    return HAFT_OK;
}

haft_status haft_recorder_call(haft_recorder *recorder, haft_call *function, const void *payload,
                               size_t size)
{
    size_t bytes;

    assert(haft__recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (haft__add_overflows(sizeof(struct haft__call), size, &bytes)) {
        return HAFT_NO_MEMORY;
    }
    struct haft__call *call = haft_arena_alloc(recorder->arena, bytes);

    if (call == NULL) {
        return HAFT_NO_MEMORY;
    }
    call->next = NULL;
    call->function = function;
    if (size != 0) {
        memcpy(call + 1, payload, size);
    }
    *recorder->calls_end = call;
    recorder->calls_end = &call->next;
    return HAFT_OK;
}

haft_commands *haft_recorder_commands(const haft_recorder *recorder)
{
    return recorder->commands;
}

uint64_t haft_recorder_key(const haft_recorder *recorder)
{
    return recorder->key;
}

#ifndef HAFT_WITHOUT_EXPORT
/*
 * kit/shared/export/export_file.h - where the file stands.
 */

#define haft__EXPORT_NAME_SIZE 48

struct haft__export_file {
    int directory;
    char *path;
    size_t directory_length; /* of the path */
    char temporary[haft__EXPORT_NAME_SIZE];
    char locked[haft__EXPORT_NAME_SIZE];
};

/* HAFT_OK, and the names are this process's alone, which has no other such file open; or
 * HAFT_BAD_DIRECTORY, HAFT_NO_FILE or HAFT_NO_MEMORY, and there is nothing to close. */
HAFT_INTERNAL
haft_status haft__export_file_open(struct haft__export_file *file, const char *directory, uint64_t process);

/* Write it anew.  False: the system did not take it, and it is as it was. */
HAFT_INTERNAL
bool haft__export_file_write(const struct haft__export_file *file, const char *text, size_t haft__length);

/* Remove it; in the child of a fork, only forget it. */
HAFT_INTERNAL void haft__export_file_remove(struct haft__export_file *file);
HAFT_INTERNAL void haft__export_file_forget(struct haft__export_file *file);
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/*
 * kit/shared/export/export_text.h - the text of an export's file.
 */

/* The process that writes, as the file says it. */
struct haft__process {
    uint64_t number;
    uint64_t started; /* clock ticks since the machine's start; 0: not known */
    char program[64];
};

/* The calling process. */
HAFT_INTERNAL struct haft__process haft__process_of_this(void);

/* The beginning of the file. */
struct haft__export_head {
    struct haft__process process;
    uint64_t interval_ms;
    uint64_t sequence;
};

/* Under the registry's lock: the file's text, to be freed, and its length; NULL: no memory. */
HAFT_INTERNAL char *haft__export_text(const struct haft__export_head *head, size_t *haft__length);
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* kit/shared/export/export.c */

/*
 * The export: a thread that writes a file every interval.
 *
 * The child of a fork finds no lock held here: a process claims its export with one
 * compare-and-swap, and leaves the one that it inherits alone.
 *
 * No thread waits for the registry's lock while it has the export's, or is to be joined.
 *
 * Edges in this file.
 *   RETRY   a first look, and the claim itself: of the threads that open an export one wins, and
 *           nothing travels with that
 *   OWN     while it is claimed, only the thread that opens or closes the export writes the claim
 */

#define haft__DEFAULT_INTERVAL_MS 1000
#define haft__LEAST_INTERVAL_MS 10
#define haft__MOST_INTERVAL_MS 3600000
#define haft__AGAIN_NS 1000000 /* between two tries for the registry's lock */

struct haft_export {
    uint64_t process; /* the one that opened it: see registry.h */
    struct haft__export_file file;
    struct haft__os_thread thread;
    struct haft__os_mutex lock; /* for the members below, and writing the file */
    struct haft__os_condition stop_wanted;
    bool stopping;
    struct haft__export_head head;
};

static haft__atomic_u64 haft__open_in; /* the process that has an export open, or 0 */

/*
 * Under the export's lock, once there is a thread, and under the registry's, which it gives back
 * before it writes.
 */
static haft_status haft__write_file(haft_export *export)
{
    size_t haft__length;

    export->head.sequence++;
    char *text = haft__export_text(&export->head, &haft__length);

    haft__registry_unlock();
    if (text == NULL) {
        return HAFT_NO_MEMORY;
    }
    const bool written = haft__export_file_write(&export->file, text, haft__length);

    free(text);
    return written ? HAFT_OK : haft__kit_status(HAFT_NO_FILE);
}

/* --- the thread --- */

/* False: it is to stop.  The thread that wants that may have the registry's lock, and join it. */
static bool haft__take_registry_to_write(haft_export *export)
{
    while (!export->stopping && !haft__registry_try_lock()) {
        haft__os_condition_wait(&export->stop_wanted, &export->lock, haft__os_now_ns() + haft__AGAIN_NS);
    }
    return !export->stopping;
}

static void haft__write_until_stopped(void *arg)
{
    haft_export *export = arg;

    haft__os_mutex_lock(&export->lock);
    while (!export->stopping) {
        const uint64_t next = haft__os_now_ns() + export->head.interval_ms * (haft__NS_PER_S / 1000);

        if (!haft__os_condition_wait(&export->stop_wanted, &export->lock, next) &&
            haft__take_registry_to_write(export)) {
            haft__write_file(export); /* if this fails, the next write may succeed */
        }
    }
    haft__os_mutex_unlock(&export->lock);
}

/* --- opening and closing --- */

static haft_status haft__check_export(const haft_export_options *options)
{
    if (options->directory == NULL) {
        return haft__kit_status(HAFT_BAD_DIRECTORY);
    }
    return options->interval_ms == 0 || (options->interval_ms >= haft__LEAST_INTERVAL_MS &&
                                         options->interval_ms <= haft__MOST_INTERVAL_MS)
               ? HAFT_OK
               : haft__kit_status(HAFT_BAD_INTERVAL_MS);
}

static haft_export *haft__new_export(const haft_export_options *options)
{
    haft_export *export = calloc(1, sizeof *export);

    if (export != NULL) {
        export->process = haft__registry_process();
        export->head.process = haft__process_of_this();
        export->head.interval_ms =
            options->interval_ms != 0 ? options->interval_ms : haft__DEFAULT_INTERVAL_MS;
    }
    return export;
}

/* The first file, and the thread that writes the others. */
static haft_status haft__start(haft_export *export)
{
    haft__registry_lock();
    const haft_status status = haft__write_file(export);

    if (status != HAFT_OK) {
        return status;
    }
    haft__os_condition_open(&export->stop_wanted);
    haft__os_mutex_open(&export->lock);
    if (!haft__os_thread_start(&export->thread, haft__write_until_stopped, export)) {
        haft__os_condition_close(&export->stop_wanted);
        haft__os_mutex_close(&export->lock);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static haft_status haft__open_file(haft_export *export, const char *directory)
{
    haft_status status = haft__export_file_open(&export->file, directory, export->head.process.number);

    if (status == HAFT_OK) {
        status = haft__start(export);
        if (status != HAFT_OK) {
            haft__export_file_remove(&export->file);
        }
    }
    return status;
}

/* Whether this process had none open.  Its parent's is not its own. */
static bool haft__claim_process(void)
{
    const uint64_t process = haft__registry_process();
    const uint64_t before = haft__load_relaxed(RETRY, &haft__open_in);

    return before != process && haft__cas_relaxed(RETRY, &haft__open_in, before, process);
}

static void haft__give_up_claim(void)
{
    haft__store_relaxed(OWN, &haft__open_in, 0);
}

static haft_status haft__open_export(const haft_export_options *options, haft_export **opened)
{
    haft_status status = haft__check_export(options);

    if (status != HAFT_OK) {
        return status;
    }
    if (!haft__claim_process()) {
        return HAFT_IN_USE;
    }
    haft_export *export = haft__new_export(options);

    status = export != NULL ? haft__open_file(export, options->directory) : HAFT_NO_MEMORY;
    if (status == HAFT_OK) {
        *opened = export;
        return HAFT_OK;
    }
    free(export);
    haft__give_up_claim();
    return status;
}

haft_status haft_export_open_sized(const haft_export_options *options, size_t size,
                                   haft_export **opened)
{
    haft_export_options known;
    const int cancel = haft__os_cancel_off();
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__open_export(&known, opened) : status;
    haft__os_cancel_restore(cancel);
    return status;
}

/* Not in the child of a fork: the lock and the thread are its parent's. */
static bool haft__is_mine(const haft_export *export)
{
    return export->process == haft__registry_process();
}

/* The thread that has one of the two locks may wait for the other: so it waits with neither. */
static void haft__take_locks_to_write(haft_export *export)
{
    haft__os_mutex_lock(&export->lock);
    while (!haft__registry_try_lock()) {
        haft__os_mutex_unlock(&export->lock);
        haft__registry_lock();
        haft__registry_unlock();
        haft__os_mutex_lock(&export->lock);
    }
}

haft_status haft_export_write(haft_export *opened)
{
    if (!haft__is_mine(opened)) {
        return haft__kit_status(HAFT_NO_FILE);
    }
    const int cancel = haft__os_cancel_off();

    haft__take_locks_to_write(opened);
    const haft_status status = haft__write_file(opened);

    haft__os_mutex_unlock(&opened->lock);
    haft__os_cancel_restore(cancel);
    return status;
}

const char *haft_export_path(const haft_export *opened)
{
    return opened->file.path;
}

void haft_export_close(haft_export *opened)
{
    const int cancel = haft__os_cancel_off();

    if (haft__is_mine(opened)) {
        haft__os_mutex_lock(&opened->lock);
        opened->stopping = true;
        haft__os_condition_wake_all(&opened->stop_wanted);
        haft__os_mutex_unlock(&opened->lock);
        haft__os_thread_join(&opened->thread);
        haft__os_condition_close(&opened->stop_wanted);
        haft__os_mutex_close(&opened->lock);
        haft__export_file_remove(&opened->file);
        haft__give_up_claim();
    } else {
        haft__export_file_forget(&opened->file);
    }
    free(opened);
    haft__os_cancel_restore(cancel);
}
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* kit/shared/export/export_posix.h */

/* The export's functions of POSIX that system headers may hide: see lib/base/os_posix.h. */

#ifdef __linux__
#define haft__OS_AT_EACCESS 0x200

#ifdef O_CLOEXEC
#define haft__OS_O_CLOEXEC O_CLOEXEC
#else
#define haft__OS_O_CLOEXEC __O_CLOEXEC /* glibc has these always */
#endif
#ifdef O_NOFOLLOW
#define haft__OS_O_NOFOLLOW O_NOFOLLOW
#else
#define haft__OS_O_NOFOLLOW __O_NOFOLLOW
#endif
#ifdef O_DIRECTORY
#define haft__OS_O_DIRECTORY O_DIRECTORY
#else
#define haft__OS_O_DIRECTORY __O_DIRECTORY
#endif

int haft__sys_openat(int directory, const char *path, int flags, ...) __asm__("openat");
int haft__sys_faccessat(int directory, const char *path, int mode, int flags) __asm__("faccessat");
int haft__sys_fchmod(int file, mode_t mode) __asm__("fchmod");
int haft__sys_unlinkat(int directory, const char *path, int flags) __asm__("unlinkat");
int haft__sys_renameat(int from, const char *path, int to, const char *new_path) __asm__("renameat");
FILE *haft__sys_open_memstream(char **text, size_t *haft__length) __asm__("open_memstream");

#else
#define haft__OS_AT_EACCESS AT_EACCESS
#define haft__OS_O_CLOEXEC O_CLOEXEC
#define haft__OS_O_NOFOLLOW O_NOFOLLOW
#define haft__OS_O_DIRECTORY O_DIRECTORY

#define haft__sys_openat openat
#define haft__sys_faccessat faccessat
#define haft__sys_fchmod fchmod
#define haft__sys_unlinkat unlinkat
#define haft__sys_renameat renameat
#define haft__sys_open_memstream open_memstream
#endif
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* kit/shared/export/export_file.c */

/*
 * The export's file.
 *
 * Each write makes a new file under another name, which must not exist, and renames it over the
 * old one.  So the file is never half written, never larger or smaller than its text, and never
 * another user's: neither step follows a link.
 *
 * Both names hold the process's number, and processes of one number may share the directory: in
 * containers, or on several machines.  So they are only used under a lock (flock) on a third file,
 * which ends with its process: a process that finds it held goes on to the next names.  Files that
 * a process of that number has left behind are used again.
 *
 * A reader that asks whether the process runs takes a share of the lock for a moment; opening waits
 * for that.  The child of a fork would keep the lock when its parent has ended, so the child closes
 * it first of all, and a new file that was being written.
 */

#define haft__OWNER_ONLY (S_IRUSR | S_IWUSR)
#define haft__MOST_OF_A_NUMBER 100 /* processes of one number in one directory */
#define haft__MOST_TRIES 100       /* for a lock that is removed, or asked for, whenever it is tried */
#define haft__PAUSE_NS 1000000     /* then a reader that asked is done */

/*
 * The locked file of this process's one export, and the new file that is being written; or -1.
 * Each fork takes their lock, so a child knows of each that it has.  A thread that has it takes no
 * other; the thread that forks takes it after the registry's, which openers of exports may have.
 */
static struct haft__os_mutex haft__files_lock;
static int haft__held = -1;
static int haft__being_written = -1;

/* --- names --- */

static void haft__set_names(struct haft__export_file *file, uint64_t process, int turn)
{
    char stem[32];
    const int haft__length = snprintf(stem, sizeof stem, "haft-%" PRIu64, process);

    if (turn > 1) {
        snprintf(stem + haft__length, sizeof stem - (size_t)haft__length, "-%d", turn);
    }
    snprintf(file->path + file->directory_length, haft__EXPORT_NAME_SIZE, "/%s.json", stem);
    snprintf(file->temporary, sizeof file->temporary, ".%s.new", stem);
    snprintf(file->locked, sizeof file->locked, ".%s.lock", stem);
}

static const char *haft__name_of(const struct haft__export_file *file)
{
    return file->path + file->directory_length + 1;
}

/* --- the lock --- */

/* True unless the system found that something was not written. */
static bool haft__release(int *file)
{
    const bool closed = *file < 0 || close(*file) == 0;

    *file = -1;
    return closed;
}

static void haft__lock_files(void)
{
    haft__registry_lock();
    haft__os_mutex_lock(&haft__files_lock);
}

static void haft__unlock_files(void)
{
    haft__os_mutex_unlock(&haft__files_lock);
    haft__registry_unlock();
}

static void haft__forget_files(void)
{
    haft__release(&haft__held);
    haft__release(&haft__being_written);
    haft__unlock_files();
}

/* After the registry's handler, and before the program's: see registry.c. */
haft__AT_START(102, haft__watch_forks_of_files);

static void haft__watch_forks_of_files(void)
{
    haft__os_on_fork(haft__lock_files, haft__unlock_files, haft__forget_files);
}

/* Another process's lock, or something of that name that is no lock. */
static bool haft__is_taken(int error)
{
    return error == EWOULDBLOCK || error == EBUSY || error == EACCES || error == EPERM ||
           error == ELOOP || error == EISDIR || error == ENXIO;
}

/* 0; EBUSY: only readers ask for it; ESTALE: a former owner has removed it. */
static int haft__lock_file(int file)
{
    struct stat found;

    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;

        return error == EWOULDBLOCK && flock(file, LOCK_SH | LOCK_NB) == 0 ? EBUSY : error;
    }
    if (fstat(file, &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode) || found.st_nlink > 1) {
        return EPERM; /* a pipe, or a file that has another name as well */
    }
    return found.st_nlink != 0 ? 0 : ESTALE;
}

static int haft__try_names(const struct haft__export_file *file)
{
    const int flags = O_RDWR | O_CREAT | haft__OS_O_NOFOLLOW | O_NONBLOCK | haft__OS_O_CLOEXEC;

    haft__os_mutex_lock(&haft__files_lock);
    haft__held = haft__sys_openat(file->directory, file->locked, flags, haft__OWNER_ONLY);
    const int error = haft__held < 0 ? errno : haft__lock_file(haft__held);

    if (error != 0) {
        haft__release(&haft__held);
    }
    haft__os_mutex_unlock(&haft__files_lock);
    return error;
}

/* 0, or the error: then the lock's file may be another process's, and stays. */
static int haft__lock_names(const struct haft__export_file *file)
{
    int error = ESTALE;

    for (int i = 0; i < haft__MOST_TRIES && (error == EBUSY || error == ESTALE); i++) {
        error = haft__try_names(file);
        if (error == EBUSY) {
            haft__os_sleep(haft__PAUSE_NS);
        }
    }
    if (error == 0) {
        /* Whatever umask.  Where it fails, the next of this number may need another turn. */
        haft__sys_fchmod(haft__held, haft__OWNER_ONLY);
    }
    return error; /* ESTALE: a file system that counts no names? */
}

/* --- opening and closing --- */

HAFT_INTERNAL void haft__export_file_forget(struct haft__export_file *file)
{
    if (file->directory >= 0) {
        close(file->directory);
    }
    free(file->path);
}

HAFT_INTERNAL
haft_status haft__export_file_open(struct haft__export_file *file, const char *directory, uint64_t process)
{
    int error = EWOULDBLOCK;

    *file = (struct haft__export_file){.directory_length = strlen(directory)};
    file->path = malloc(file->directory_length + haft__EXPORT_NAME_SIZE);
    if (file->path == NULL) {
        return HAFT_NO_MEMORY;
    }
    memcpy(file->path, directory, file->directory_length);
    file->directory = open(directory, O_RDONLY | haft__OS_O_DIRECTORY | haft__OS_O_CLOEXEC);
    if (file->directory < 0 && (errno == EMFILE || errno == ENFILE)) {
        haft__export_file_forget(file);
        return haft__kit_status(HAFT_NO_FILE); /* the directory may be as it should */
    }
    if (file->directory < 0 ||
        haft__sys_faccessat(file->directory, ".", W_OK | X_OK, haft__OS_AT_EACCESS) != 0) {
        haft__export_file_forget(file);
        return haft__kit_status(HAFT_BAD_DIRECTORY);
    }
    for (int turn = 1; turn <= haft__MOST_OF_A_NUMBER && haft__is_taken(error); turn++) {
        haft__set_names(file, process, turn);
        error = haft__lock_names(file);
    }
    if (error != 0) {
        haft__export_file_forget(file);
        return haft__kit_status(HAFT_NO_FILE);
    }
    return HAFT_OK;
}

HAFT_INTERNAL void haft__export_file_remove(struct haft__export_file *file)
{
    haft__sys_unlinkat(file->directory, haft__name_of(file), 0);
    haft__sys_unlinkat(file->directory, file->locked, 0); /* last: the names are others' from now on */
    haft__os_mutex_lock(&haft__files_lock);
    haft__release(&haft__held);
    haft__os_mutex_unlock(&haft__files_lock);
    haft__export_file_forget(file);
}

/* --- writing --- */

static bool haft__write_all(int file, const char *text, size_t haft__length)
{
    while (haft__length > 0) {
        const ssize_t written = write(file, text, haft__length);

        if (written < 0 && errno != EINTR) {
            return false;
        }
        text += written > 0 ? written : 0;
        haft__length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool haft__write_temporary(const struct haft__export_file *file, const char *text, size_t haft__length)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | haft__OS_O_NOFOLLOW | haft__OS_O_CLOEXEC;

    haft__sys_unlinkat(file->directory, file->temporary, 0); /* of a process of this number that died */
    haft__os_mutex_lock(&haft__files_lock);
    const int opened = haft__sys_openat(file->directory, file->temporary, flags, haft__OWNER_ONLY);

    haft__being_written = opened;
    haft__os_mutex_unlock(&haft__files_lock);
    if (opened < 0) {
        return false;
    }
    const bool wrote =
        haft__sys_fchmod(opened, haft__OWNER_ONLY) == 0 && haft__write_all(opened, text, haft__length); /* whatever umask */

    haft__os_mutex_lock(&haft__files_lock);
    const bool closed = haft__release(&haft__being_written);

    haft__os_mutex_unlock(&haft__files_lock);
    return closed && wrote;
}

HAFT_INTERNAL
bool haft__export_file_write(const struct haft__export_file *file, const char *text, size_t haft__length)
{
    const bool written =
        haft__write_temporary(file, text, haft__length) &&
        haft__sys_renameat(file->directory, file->temporary, file->directory, haft__name_of(file)) == 0;

    if (!written) {
        haft__sys_unlinkat(file->directory, file->temporary, 0);
    }
    return written;
}
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* kit/shared/export/export_text.c */

/* The text of an export's file: JSON, one member a line. */

/* --- the process --- */

/* "number (name) state parent ...": the name may hold anything, and the 22nd field is the start. */
static void haft__parse_stat(char *text, struct haft__process *process)
{
    char *name = strchr(text, '(');
    char *end = strrchr(text, ')');

    if (name == NULL || end == NULL || end < name) {
        return;
    }
    *end = '\0';
    snprintf(process->program, sizeof process->program, "%s", name + 1);
    char *field = end + 1;

    for (int spaces = 0; spaces < 19 && field != NULL; spaces++) {
        field = strchr(field + 1, ' ');
    }
    if (field != NULL) {
        process->started = strtoull(field, NULL, 10);
    }
}

HAFT_INTERNAL struct haft__process haft__process_of_this(void)
{
    struct haft__process process = {.number = (uint64_t)getpid()};
    FILE *file = fopen("/proc/self/stat", "re");
    char text[1024];

    if (file != NULL) {
        const size_t haft__length = fread(text, 1, sizeof text - 1, file);

        text[haft__length] = '\0';
        haft__parse_stat(text, &process);
        fclose(file);
    }
    return process;
}

/* --- strings --- */

/* Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none. */
static unsigned haft__sequence_length(const unsigned char *text)
{
    const unsigned haft__length = text[0] < 0x80   ? 1
                            : text[0] < 0xc2 ? 0
                            : text[0] < 0xe0 ? 2
                            : text[0] < 0xf0 ? 3
                            : text[0] < 0xf5 ? 4
                                             : 0;

    for (unsigned i = 1; i < haft__length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool haft__is_wrong = (text[0] == 0xe0 && text[1] < 0xa0) ||  /* written too long */
                          (text[0] == 0xed && text[1] >= 0xa0) || /* half a pair */
                          (text[0] == 0xf0 && text[1] < 0x90) ||
                          (text[0] == 0xf4 && text[1] >= 0x90); /* beyond the last character */
    return haft__is_wrong ? 0 : haft__length;
}

/* Bytes that are no UTF-8 become question marks. */
static void haft__put_string(FILE *out, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;

    fputc('"', out);
    while (*at != '\0') {
        const unsigned haft__length = haft__sequence_length(at);

        if (haft__length == 0) {
            fputc('?', out);
        } else if (*at < 0x20) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fprintf(out, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)haft__length,
                    (const char *)at);
        }
        at += haft__length == 0 ? 1 : haft__length;
    }
    fputc('"', out);
}

/* --- tables --- */

static void haft__put_member(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\n      \"%s\": %" PRIu64, key, value);
}

#define haft__PUT(name, kind, unit, meaning) haft__put_member(out, #name, stats.name);

static void haft__put_table(FILE *out, const haft_table *table)
{
    const haft_table_stats stats = haft_table_stats_get(table);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"name\": ", table->number);
    haft__put_string(out, table->name);
    haft__put_member(out, "domain", table->domain->number);
    haft__put_member(out, "object_size", table->slots.object_size);
    HAFT_TABLE_STATS(haft__PUT)
    fputs("\n    }", out);
}

static void haft__put_domain(FILE *out, const haft_domain *domain)
{
    const haft_domain_stats stats = haft_domain_stats_get(domain);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"clock\": \"%s\"", domain->number,
            domain->clock->name);
    HAFT_DOMAIN_STATS(haft__PUT)
    fputs("\n    }", out);
}

/* Whether no table before this one in the list is on its domain. */
static bool haft__is_first_of_domain(const haft_table *tables, const haft_table *table)
{
    while (tables->domain != table->domain) {
        tables = tables->next_open;
    }
    return tables == table;
}

static void haft__put_domains(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        if (haft__is_first_of_domain(tables, table)) {
            fputs(before, out);
            haft__put_domain(out, table->domain);
            before = ",\n";
        }
    }
}

static void haft__put_tables(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        fputs(before, out);
        haft__put_table(out, table);
        before = ",\n";
    }
}

static void haft__put_one_counted(FILE *out, const haft_counted *table)
{
    const haft_counted_stats stats = haft_counted_stats_get(table);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"name\": ", table->number);
    haft__put_string(out, table->name);
    haft__put_member(out, "object_size", table->object_size);
    HAFT_COUNTED_STATS(haft__PUT)
    fputs("\n    }", out);
}

/* They stay open while the lock is held. */
static void haft__put_counted(FILE *out)
{
    const char *before = "\n";

    haft__open_list_lock();
    for (const haft_counted *table = haft__open_list_first(); table != NULL; table = table->next_open) {
        fputs(before, out);
        haft__put_one_counted(out, table);
        before = ",\n";
    }
    haft__open_list_unlock();
}

/* --- the file --- */

/* The time that all processes of the machine share. */
static uint64_t haft__boot_time_ns(void)
{
    struct timespec now;

    haft__sys_clock_gettime(haft__OS_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * haft__NS_PER_S + (uint64_t)now.tv_nsec;
}

static void haft__put_head(FILE *out, const struct haft__export_head *head)
{
    fprintf(out,
            "{\n  \"haft_export\": 1,\n  \"process\": %" PRIu64 ",\n  \"started\": %" PRIu64
            ",\n  \"program\": ",
            head->process.number, head->process.started);
    haft__put_string(out, head->process.program);
    fprintf(out,
            ",\n  \"written_ns\": %" PRIu64 ",\n  \"interval_ms\": %" PRIu64
            ",\n  \"sequence\": %" PRIu64 ",\n",
            haft__boot_time_ns(), head->interval_ms, head->sequence);
}

HAFT_INTERNAL char *haft__export_text(const struct haft__export_head *head, size_t *haft__length)
{
    char *text = NULL;
    FILE *out = haft__sys_open_memstream(&text, haft__length);

    if (out == NULL) {
        return NULL;
    }
    haft__put_head(out, head);
    const haft_table *tables = haft__first_open_table();

    fputs("  \"domains\": [", out);
    haft__put_domains(out, tables);
    fputs("\n  ],\n  \"tables\": [", out);
    haft__put_tables(out, tables);
    fputs("\n  ],\n  \"counted\": [", out);
    haft__put_counted(out);
    fputs("\n  ]\n}\n", out);
    const bool has_failed = ferror(out) != 0;

    if (fclose(out) != 0 || has_failed) {
        free(text);
        return NULL;
    }
    return text;
}
#endif /* HAFT_WITHOUT_EXPORT */

/* kit/shared/sides/shared_side.c */

/*
 * The sides of a shared table.  Their list is under the registry's lock, as that of the tables: a
 * fork finds it whole.
 */

static void haft__leave_locked(haft_side *side)
{
    haft__registry_lock();
    haft__sides_remove(side);
    haft__registry_unlock();
}

haft_status haft_side_open_sized(haft_table *table, const haft_side_options *options, size_t size,
                                 haft_side **side)
{
    const haft_status status =
        haft__side_open(&table->slots, options, size, true, table->slots.wrapped, side);

    if (status == HAFT_OK) {
        (*side)->leave = haft__leave_locked;
        haft__registry_lock();
        haft__sides_add(&table->attached, *side);
        haft__registry_unlock();
    }
    return status;
}

#pragma pop_macro("slots")

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif /* HAFT_INTERNAL: haft.c has said why not */
