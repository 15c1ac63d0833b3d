/*
 * fuzz/model.h - what a table should be: one array of slots, and a list of the free ones.
 *
 * It knows nothing of words, batches or pages, except the size of the page runs that trimming
 * releases.  Where a table may choose (the slot of a shared table's next id), the model only says
 * whether the choice was allowed.
 */
#ifndef HAFT_FUZZ_MODEL_H
#define HAFT_FUZZ_MODEL_H

#include <haft/id.h>
#include <haft/kit/restore.h>
#include <haft/status.h>

#define MOST_SLOTS 2048
#define MOST_ISSUED 4096

enum slot_state {
    UNUSED,  /* never used */
    FRESH,   /* passed over, or given back: `next` is its floor */
    FREE,    /* in the list, or wherever a shared table has it */
    TAKEN,   /* reserved */
    LIVE,    /* an object */
    ENDING,  /* its destructor runs */
    RETIRED, /* shared: freed or given up, not known to be reclaimed */
    WORN     /* exhausted */
};

struct slot {
    enum slot_state state;
    uint64_t generation; /* of the life it has, or else of the next; 0: none is left */
    uint64_t value;      /* of the object */
    uint64_t ended;      /* moment of the last end, 0: none */
    uint32_t pins;
    bool given_up; /* RETIRED without a life */
    bool dead;     /* packed: killed */
};

struct model {
    haft_layout layout;
    uint64_t tag;
    uint64_t first; /* generation */
    uint64_t capacity;
    uint64_t limit;   /* first index that is never issued */
    bool wraps;       /* after the last generation comes 1 */
    bool wrapped;     /* it has come */
    bool wears_early; /* packed: exhausted is said while the last life's destructor runs */
    uint64_t moment;

    /* shared */
    uint64_t pins; /* of all objects */

    struct slot slots[MOST_SLOTS];
    uint64_t used;             /* local: all from here on are UNUSED */
    uint64_t counts[WORN + 1]; /* slots by state */

    /* local: the list of free slots, the oldest first */
    bool is_fifo;
    bool is_loading;
    uint64_t min_free;
    uint32_t list[MOST_SLOTS];
    uint64_t listed;
    unsigned run_shift;
    uint64_t bytes_before; /* in front of slot 0, in its page */
    uint64_t stride;
    bool stays; /* the slots are too few to be in pages: none are given back */

    /* packed: objects by position, and the dead in the order of their kills */
    haft_id order[MOST_SLOTS];
    uint64_t count;
    haft_id dead[MOST_SLOTS];
    uint64_t dead_count;

    /* ids that were issued, the latest of them */
    haft_id issued[MOST_ISSUED];
    uint64_t issues;

    uint64_t next_value;
};

/* --- ids --- */

haft_id model_id(const struct model *model, uint64_t index, uint64_t generation);
struct slot *model_slot(struct model *model, haft_id id); /* NULL if no slot of the model */
bool model_is_live(struct model *model, haft_id id);
haft_status model_diagnose(struct model *model, haft_id id);
void model_issue(struct model *model, haft_id id);

/* The generation after; 0 for none.  And the one before, of a slot that has lived. */
uint64_t model_next(const struct model *model, uint64_t generation);
uint64_t model_last(const struct model *model, uint64_t generation);

/* The slot whose object `id` names, or named until it was freed; NULL if it has been reclaimed. */
struct slot *model_pinnable(struct model *model, haft_id id);

/* --- states --- */

void model_set(struct model *model, uint64_t index, enum slot_state state);

const char *model_state_name(enum slot_state state);

/* The live slot at or after `from`, round the end; 0 if there is none. */
uint64_t model_find(const struct model *model, enum slot_state state, uint64_t from);

/* --- local: whose next slot is known --- */

uint64_t model_available(const struct model *model);

/* What reserving should answer; whether `index` is the slot it should take. */
haft_status model_take_status(const struct model *model, bool closing);
bool model_may_take(const struct model *model, uint64_t index);

/* The slot is taken out of wherever it is, as reserving does. */
void model_take(struct model *model, uint64_t index);

/* A life in slot `index` has ended: the generation goes on.  After the last reader the slot is free
 * or exhausted. */
void model_end(struct model *model, uint64_t index);
void model_settle(struct model *model, uint64_t index);

/* What the fields of an id say, in a table that restores below index `end`: of a free slot's next
 * one, which may have no generation left, and of one for an object. */
haft_status model_restore_fields(const struct model *model, haft_id id, uint64_t end);
haft_status model_chosen_fields(const struct model *model, haft_id id, uint64_t end);

/* Of the slot of `id`, whose fields are in order; `fills` if it will not be free afterwards. */
haft_status model_restore_status(struct model *model, haft_id id, bool fills, bool closing);

/* The slot of `id` is taken out of the list for haft_local_restore() or _restore_free(). */
void model_claim(struct model *model, uint64_t index);
void model_push(struct model *model, uint64_t index);

/* Of objects in slots, where the option is 0. */
size_t model_usual_alignment(uint64_t object_size);

void model_run_setup(struct model *model, size_t object_size, size_t alignment, bool pins);
uint64_t model_trim(struct model *model);              /* the bytes that it should give back */
void model_slots(struct model *model, uint64_t slots); /* that the table has room for */
void model_rebuild(struct model *model);

#endif /* HAFT_FUZZ_MODEL_H */
