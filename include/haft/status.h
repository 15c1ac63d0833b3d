/*
 * haft/status.h - what haft's functions answer.
 *
 * One type for all of haft.  A stale id is an answer, not an error; misuse that is not listed here
 * (a worker used by two threads, say) is an assert in debug builds.  No function looks for NULL in
 * place of a table, a worker or a domain.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_STATUS_H
#define HAFT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum haft_status {
    HAFT_OK = 0,

    /* What is wrong with an id: haft_diagnose() and its kin. */
    HAFT_NO_ID,        /* HAFT_NIL, which never names an object */
    HAFT_MALFORMED,    /* bits above the table's layout, or an index no table issues */
    HAFT_FOREIGN,      /* the tag is another table's */
    HAFT_NEVER_ISSUED, /* this table has not issued the id (yet) */
    HAFT_RESERVED,     /* reserved, and not published yet */
    HAFT_STALE,        /* the object was freed, or the reservation given up */
    HAFT_EXHAUSTED,    /* stale, and the slot has lived all its generations */

    /* Why the call got no slot, memory, thread or file. */
    HAFT_FULL,      /* the table's capacity is in use */
    HAFT_BUSY,      /* slots wait for a grace period or are with other workers; or a value is being
                       set */
    HAFT_NO_MEMORY, /* the system, the allocator or given memory has no more; or no address space */
    HAFT_NO_THREAD, /* the system gave no thread */

    /* Calls at the wrong moment: nothing was done. */
    HAFT_IN_USE,      /* something is still open, held, pinned or reserved, or on_destroy runs */
    HAFT_IN_SECTION,  /* a call that may wait, made inside a read section or an inner job */
    HAFT_WRONG_CLOCK, /* the domain has another clock than the call is for */
    HAFT_NOT_PINNED,  /* the object has no pin */
    HAFT_NOT_HELD,    /* no object with that id is held */
    HAFT_CLOSED,      /* the table has been cleared, or is being closed */
    HAFT_LOADING,     /* between haft_local_load_begin() and haft_local_load_end() */
    HAFT_WRONG_TYPE,  /* the table's objects are not what the typed table is declared for */
    HAFT_IN_CALLBACK, /* made from a callback: a call that waits, announces a quiescent point,
                         closes, flushes, trims, shares or moves objects */
    HAFT_FORKED,      /* in the child of a fork: it would wait for threads of the parent */

    HAFT_OUT_OF_RANGE, /* an index beyond the table's slots, or the history's snapshots */

    /* Options out of range: nothing was opened. */
    HAFT_UNKNOWN_OPTION, /* set, but this library has no such option */
    HAFT_BAD_LAYOUT,
    HAFT_BAD_CAPACITY,
    HAFT_BAD_OBJECT_SIZE,
    HAFT_BAD_OBJECT_ALIGNMENT,
    HAFT_BAD_TAG,
    HAFT_BAD_FIRST_GENERATION,
    HAFT_BAD_REUSE,
    HAFT_BAD_MIN_FREE,
    HAFT_BAD_PINS,
    HAFT_BAD_WAITING_BYTES,
    HAFT_BAD_FOREIGN_CLOCK,
    HAFT_BAD_CLOCK,
    HAFT_BAD_WRAP,
    HAFT_BAD_COPIES,

    HAFT_STATUS_COUNT, /* how many there are; never returned */

    /* The kit's: haft/kit/status.h has their names. */
    HAFT_KIT_100 = 100,
    HAFT_KIT_101,
    HAFT_KIT_102,
    HAFT_KIT_103,
    HAFT_KIT_104,
    HAFT_KIT_105,
    HAFT_KIT_106,
    HAFT_KIT_107,
    HAFT_KIT_108,
    HAFT_KIT_109,
    HAFT_KIT_110,
    HAFT_KIT_111,
    HAFT_KIT_112,
    HAFT_KIT_113,
    HAFT_KIT_114,
    HAFT_KIT_115
} haft_status;

/*
 * haft_status_text - a status in words.
 *
 * Returns   a constant string, one sentence without a full stop; for the HAFT_BAD_ statuses it
 *           begins with the option's name.  "unknown status" for other numbers, and for the kit's
 *           before one of its functions has returned one.
 */
const char *haft_status_text(haft_status status);

/*
 * haft_status_name - a status as it stands in the source, such as "HAFT_STALE".
 *
 * Returns   a constant string; "HAFT_?" for other numbers.
 */
const char *haft_status_name(haft_status status);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_STATUS_H */
