/*
 * Statuses in words.
 *
 * Edges in this file.
 *   HINT   the kit's list is a constant: where it is not seen yet, its statuses have no words yet
 */
#include "lib/base/status.h"
#include "lib/base/atomics.h"
#include <stddef.h>

#define WORDS(status, text) [status] = {#status, text}

static const struct status_words known_statuses[HAFT_STATUS_COUNT] = {
    WORDS(HAFT_OK, "ok"),
    WORDS(HAFT_NO_ID, "the id is nil"),
    WORDS(HAFT_MALFORMED, "no table of this layout issues such an id"),
    WORDS(HAFT_FOREIGN, "the id belongs to another table"),
    WORDS(HAFT_NEVER_ISSUED, "the table has not issued this id"),
    WORDS(HAFT_RESERVED, "the id is reserved and not published yet"),
    WORDS(HAFT_STALE, "the object has been freed"),
    WORDS(HAFT_EXHAUSTED, "the object has been freed and its slot has lived all its generations"),
    WORDS(HAFT_FULL, "the table's capacity is in use"),
    WORDS(HAFT_BUSY,
          "slots wait for a grace period or are with other workers, or a value is being set"),
    WORDS(HAFT_NO_MEMORY, "the system gave no memory or address space, or given memory is used up"),
    WORDS(HAFT_NO_THREAD, "the system gave no thread"),
    WORDS(HAFT_IN_USE, "still in use: a table, worker or side is open, an object is held, pinned "
                       "or reserved, or a callback runs"),
    WORDS(HAFT_IN_SECTION,
          "the call may wait, and a read section or outer job of its thread may hold pointers"),
    WORDS(HAFT_WRONG_CLOCK, "the call is for domains with another clock"),
    WORDS(HAFT_NOT_PINNED, "the object has no pin"),
    WORDS(HAFT_NOT_HELD, "no object with that id is held"),
    WORDS(HAFT_CLOSED, "the table has been cleared, or is being closed"),
    WORDS(HAFT_LOADING, "the table is being loaded"),
    WORDS(HAFT_OUT_OF_RANGE, "beyond the table's slots, or the history's snapshots"),
    WORDS(HAFT_WRONG_TYPE, "object size, alignment or pins of the table do not match the type"),
    WORDS(HAFT_IN_CALLBACK, "the call may not be made from a callback: it waits, announces a "
                            "quiescent point, closes, flushes, trims, shares or moves objects"),
    WORDS(HAFT_FORKED, "it is the parent process's, and the call would wait for its threads"),
    WORDS(HAFT_UNKNOWN_OPTION, "an option is set that this library does not have: the program was "
                               "compiled for a later version, or a reserved member is not 0"),
    WORDS(HAFT_BAD_LAYOUT, "layout: index_bits 3 to 32, generation_bits 1 to 60, at most 64 bits "
                           "together; of a counted table at most 32 generation_bits; reserved 0"),
    WORDS(HAFT_BAD_CAPACITY,
          "capacity: 1 to 2^index_bits - 4, of a counted table at most 2^30 - 4"),
    WORDS(HAFT_BAD_OBJECT_SIZE, "object_size: at most 2^30 bytes, not 0 in a packed table"),
    WORDS(HAFT_BAD_OBJECT_ALIGNMENT, "object_alignment: a power of two, at most 4096, that divides "
                                     "the object_size of a packed table"),
    WORDS(HAFT_BAD_TAG, "tag: does not fit the layout's tag_bits"),
    WORDS(HAFT_BAD_FIRST_GENERATION,
          "first_generation: at most 2^generation_bits - 1, or HAFT_RANDOM_GENERATION"),
    WORDS(HAFT_BAD_REUSE, "reuse: HAFT_REUSE_LIFO or HAFT_REUSE_FIFO"),
    WORDS(HAFT_BAD_MIN_FREE, "min_free: with the capacity at most 2^index_bits - 4, of a counted "
                             "table at most 2^30 - 4; of a local table only with HAFT_REUSE_FIFO"),
    WORDS(HAFT_BAD_PINS, "pins: only for types declared with HAFT_TYPED_PINNED"),
    WORDS(HAFT_BAD_WAITING_BYTES, "waiting_bytes: at least one slot, object and overhead, or 0"),
    WORDS(HAFT_BAD_FOREIGN_CLOCK,
          "foreign_clock: for the thread and the caller clock, with ctx and the callbacks that "
          "haft/clock.h requires; NULL for the workers and the frame clock"),
    WORDS(HAFT_BAD_CLOCK, "clock: one of the HAFT_CLOCK_ names"),
    WORDS(HAFT_BAD_WRAP,
          "wrap: ids of the table repeat, so it has no sides and releases no memory"),
    WORDS(HAFT_BAD_COPIES, "copies: objects of at most 64 bytes, which only an insertion writes"),
};

/* The kit's struct status_list, once it has answered with one of its statuses. */
static atomic_u64 added_list;

void status_list_add(const struct status_list *list)
{
    const uint64_t address = (uintptr_t)list;

    /* Threads that answer often share the line: it is written once. */
    if (load_relaxed(HINT, &added_list) != address) {
        store_relaxed(HINT, &added_list, address);
    }
}

/* NULL: none has that number. */
static const struct status_words *words_of(haft_status status)
{
    const unsigned number = (unsigned)status;
    const struct status_list *added =
        (const struct status_list *)(uintptr_t)load_relaxed(HINT, &added_list);

    if (number < HAFT_STATUS_COUNT) {
        return &known_statuses[number];
    }
    return added != NULL && number - added->first < added->count
               ? &added->words[number - added->first]
               : NULL;
}

const char *haft_status_text(haft_status status)
{
    const struct status_words *words = words_of(status);

    return words != NULL ? words->text : "unknown status";
}

const char *haft_status_name(haft_status status)
{
    const struct status_words *words = words_of(status);

    return words != NULL ? words->name : "HAFT_?";
}
