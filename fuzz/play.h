/*
 * fuzz/play.h - one sequence of operations, on a table and on the model beside it.
 *
 * The input's first bytes are the setup: which table, with which options.  Each four bytes after
 * them are an operation.  Any input is a sequence; operations that do not apply do nothing.
 */
#ifndef HAFT_FUZZ_PLAY_H
#define HAFT_FUZZ_PLAY_H

#include "fuzz/model.h"
#include <haft/kit/packed.h>
#include <haft/share.h>
#include <haft/table.h>

#define SETUP_BYTES 12
#define OPERATION_BYTES 4

enum kind { LOCAL, PACKED, SHARED, KINDS };

struct setup {
    enum kind kind;
    haft_clock clock; /* of the domain, for tables that are shared or come to be */
    haft_layout layout;
    uint64_t tag;
    uint64_t first_generation;
    uint64_t capacity;
    size_t object_size;
    size_t object_alignment;
    haft_local_reuse reuse;
    uint64_t min_free;
    uint64_t growth_step;
    bool wrap;
    bool destroys; /* on_destroy, on_reclaim are given */
    bool keep_order;
    bool pins;      /* local, shared */
    uint8_t nested; /* what callbacks do; 0: look only */
};

struct operation {
    uint8_t code;
    uint8_t x;
    uint16_t y;
};

#define MOST_WORKERS 2

struct play {
    struct setup setup;
    struct model model;
    struct operation now;
    uint64_t number; /* of the operation */
    enum kind kind;  /* of the table at present */

    haft_local *local;
    haft_packed *packed;
    haft_domain *domain;
    haft_table *table;
    haft_worker *workers[MOST_WORKERS];
    haft_worker *reclaimer; /* in on_reclaim: whose call it is in, or NULL */
    uint64_t quiet_at;      /* shared: the moment up to which ends of lives are surely past */
    haft_view view;         /* of local and table */
    bool was_local;         /* the shared table was a local one before */
    bool has_trimmed; /* it has given runs back: which of them workers draw is not known, so */
    bool is_over;     /* when it is local again, the model cannot say which slot is next */
    bool in_section;
    unsigned depth;      /* of callbacks */
    unsigned budget;     /* operations that callbacks may still do, in this operation */
    unsigned destroying; /* on_destroy of a local table that runs */
    haft_id at_hand;     /* what the call around a callback is about; nil: any */
    struct sides *sides; /* sides.c: what a local table has beside it */
    bool closing;        /* of the table: what may be reclaimed, all may be */
    bool clears;         /* closing ends all objects, too */

    /* local: haft_local_clear() or _close() under way */
    bool clearing;
    uint64_t cleared_to;

    /* packed: removal under way */
    haft_id removed;  /* by haft_packed_free(); nil: all that is dead, in the order of the kills */
    bool is_clearing; /* and then all that has come meanwhile */
    uint64_t done;    /* of the dead */
    uint64_t sort_key;
};

/*
 * Carry the sequence out.  Returns the number of operations; does not return if the table and the
 * model differ.
 */
uint64_t play(const uint8_t *data, size_t size);

/* Print each operation and answer from now on. */
void play_tell(void);

/* --- for the files of one table each --- */

/* One operation on the table at hand. */
void local_step(struct play *play);
void packed_step(struct play *play);
void shared_step(struct play *play);

void local_open(struct play *play);
void packed_open(struct play *play);
void shared_open(struct play *play);

/* Everything there is to be compared. */
void local_check(struct play *play);
void packed_check(struct play *play);
void shared_check(struct play *play);

void local_close(struct play *play);
void packed_close(struct play *play);
void shared_close(struct play *play);

/* sides.c: one operation on a local table's sides and states, and the rest as above. */
void sides_open(struct play *play);
void sides_step(struct play *play);
void sides_check(struct play *play);
void sides_close(struct play *play);
void sides_end(struct play *play); /* without a table */
bool sides_are_open(const struct play *play);

/* From local to shared and back: local.c and shared.c each do their own half. */
void local_share(struct play *play);
void shared_unshare(struct play *play);

/* shared.c, for shared_life.c. */
void shared_close_worker(struct play *play, haft_worker **place);
void shared_section(struct play *play);
uint64_t shared_horizon(const struct play *play);
bool shared_enter(struct play *play);
void shared_leave(struct play *play, bool entered);

/* shared_life.c, for shared.c. */
void shared_look(struct play *play);
void shared_check_stats(struct play *play);
void shared_trim(struct play *play);

/* shared_count.c: slots that count towards the capacity; those from `from` on that are worn. */
uint64_t shared_taken(const struct model *model);
uint64_t shared_worn(const struct model *model, uint64_t from);

/* Whether HAFT_FULL may be said, with `more` slots than the model has taken. */
bool shared_is_full(const struct model *model, uint64_t more);

/* A refusal, when no callback came in between. */
void shared_check_refusal(struct play *play, haft_status said, bool waited);

/* shared_pin.c: pins; what is to be done about them before a table can be closed. */
void shared_pin(struct play *play);
void shared_unpin(struct play *play);
uint64_t shared_pinned(const struct model *model);
void shared_let_go(struct play *play);

/* shared_many.c: many ids in one call, and scans. */
void shared_insert_many(struct play *play);
void shared_free_many(struct play *play);
void shared_scan(struct play *play);

/* A worker of the table, opened if there is none; in on_reclaim the one given, or NULL. */
haft_worker *shared_worker(struct play *play);

/* The table has taken a slot for `id`; the object is there; its life ends. */
void shared_took(struct play *play, haft_id id);
void shared_came_to_life(struct play *play, haft_id id, uint64_t value);
void shared_retire(struct play *play, haft_id id, bool given_up);

/* The callbacks of both. */
void on_destroy(void *object, haft_id id, void *arg);
void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg);

/* A callback's own operation, where the setup asks for one. */
void play_nested(struct play *play);

/* An id of the kind that operation asks for: live, stale, forged. */
haft_id play_id(struct play *play);

/* What a call says of an id that is not live, or of one that is. */
void play_must_diagnose(struct play *play, haft_id id, haft_status said, const char *call);

/* All ids that were ever issued: live exactly if the model says so, and why not. */
void play_check_ids(struct play *play);

/* --- objects --- */

#define MOST_OBJECT 5000

/* The bytes of an object of value `value`; valid until the next call. */
const void *object_bytes(const struct play *play, uint64_t value);
bool object_is(const struct play *play, const void *object, uint64_t value);

/* What is resolved, NULL included, is what the model has. */
void play_check_object(struct play *play, haft_id id, const void *object);

/* --- calls that were made, and what is wrong --- */

void tell(const struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));
void must_be(bool holds, const char *what);
void must_answer(haft_status status, haft_status expected, const char *call);
void must_equal(uint64_t is, uint64_t expected, const char *what);

#endif /* HAFT_FUZZ_PLAY_H */
