/* The search for a sequence; see history.h. */
#include "stress/linear/history.h"
#include <stdlib.h>
#include <string.h>

#define PLACES (1u << 16) /* of the sets that were tried */

struct search {
    const struct linear_history *history;
    linear_model *allows;
    uint64_t all;           /* a bit for each operation */
    uint64_t tried[PLACES]; /* sets of operations; 0: none here */
    uint32_t tried_count;
};

/* What the operations of a set have done to one id and to its slot. */
struct state {
    bool is_issued;
    bool is_freed;
    bool slot_is_taken; /* by a live object, or a pinned one */
    uint32_t pins;
    uint64_t note;
};

static uint64_t bit(uint32_t operation)
{
    return UINT64_C(1) << operation;
}

static bool is_live(const struct state *state)
{
    return state->is_issued && !state->is_freed;
}

static void add_to(struct state *state, const struct linear_operation *done)
{
    if (done->kind == LINEAR_INSERT && done->status == HAFT_OK) {
        state->is_issued = true;
        state->note = done->note;
    } else if (done->kind == LINEAR_FREE && done->status == HAFT_OK) {
        state->is_freed = true;
    } else if (done->kind == LINEAR_PIN && done->found) {
        state->pins++;
    } else if (done->kind == LINEAR_UNPIN && done->status == HAFT_OK) {
        state->pins--;
    }
}

/* Of one id, without its slot. */
static struct state state_of(const struct linear_history *history, uint64_t set, haft_id id)
{
    struct state state = {0};

    for (uint32_t i = 0; i < history->count; i++) {
        if ((set & bit(i)) != 0 && haft_id_equal(history->operations[i].id, id)) {
            add_to(&state, &history->operations[i]);
        }
    }
    return state;
}

static bool slot_is_taken(const struct linear_history *history, uint64_t set, haft_id id)
{
    const uint64_t index = haft_id_index(history->layout, id);

    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *done = &history->operations[i];

        if ((set & bit(i)) != 0 && done->kind == LINEAR_INSERT && done->status == HAFT_OK &&
            haft_id_index(history->layout, done->id) == index) {
            const struct state state = state_of(history, set, done->id);

            if (is_live(&state) || state.pins != 0) {
                return true;
            }
        }
    }
    return false;
}

/* Objects that a thread may have counted during `operation`. */
static uint64_t most_live(const struct linear_history *history,
                          const struct linear_operation *operation)
{
    uint64_t begun = 0;
    uint64_t ended = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *other = &history->operations[i];

        if (other->status == HAFT_OK) {
            begun += other->kind == LINEAR_INSERT && other->called < operation->returned;
            ended += other->kind == LINEAR_FREE && other->returned < operation->called;
        }
    }
    return begun - ended;
}

/* Whether a slot may have waited, or been on its way to another thread, during `operation`. */
static bool may_be_busy(const struct linear_history *history,
                        const struct linear_operation *operation)
{
    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *other = &history->operations[i];

        if (other->status != HAFT_OK || other->called >= operation->returned) {
            continue;
        }
        if (other->kind == LINEAR_FREE ||
            (other->kind == LINEAR_INSERT && other->returned > operation->called)) {
            return true;
        }
    }
    return false;
}

static bool allows_insert(const struct linear_history *history, uint64_t set,
                          const struct linear_operation *operation)
{
    switch (operation->status) {
    case HAFT_OK:
        return !state_of(history, set, operation->id).is_issued &&
               !slot_is_taken(history, set, operation->id);
    case HAFT_FULL:
        return most_live(history, operation) >= history->capacity;
    case HAFT_BUSY:
        return may_be_busy(history, operation);
    default:
        return false;
    }
}

static bool allows_free(const struct state *state, haft_status status)
{
    switch (status) {
    case HAFT_OK:
        return is_live(state);
    case HAFT_STALE:
    case HAFT_EXHAUSTED:
        return state->is_freed;
    case HAFT_RESERVED:
    case HAFT_NEVER_ISSUED:
        return !state->is_issued;
    default:
        return false;
    }
}

bool linear_allows(const struct linear_history *history, uint64_t set,
                   const struct linear_operation *operation)
{
    const struct state state = state_of(history, set, operation->id);

    switch (operation->kind) {
    case LINEAR_INSERT:
        return allows_insert(history, set, operation);
    case LINEAR_FREE:
        return allows_free(&state, operation->status);
    case LINEAR_UNPIN:
        return (operation->status == HAFT_OK) == (state.pins != 0);
    case LINEAR_IS_LIVE:
        return operation->found == is_live(&state);
    default:
        return operation->found ? is_live(&state) && operation->note == state.note
                                : !is_live(&state);
    }
}

/* Whether no operation outside `set` had returned when this one was called. */
static bool may_be_next(const struct linear_history *history, uint64_t set, uint32_t operation)
{
    const uint64_t called = history->operations[operation].called;

    for (uint32_t i = 0; i < history->count; i++) {
        if ((set & bit(i)) == 0 && history->operations[i].returned < called) {
            return false;
        }
    }
    return true;
}

/* True if the set is a new one; where there is no room left it is not remembered. */
static bool try_set(struct search *search, uint64_t set)
{
    uint32_t place = (uint32_t)(set * UINT64_C(0x9E3779B97F4A7C15) >> 48) % PLACES;

    while (search->tried[place] != 0) {
        if (search->tried[place] == set) {
            return false;
        }
        place = (place + 1) % PLACES;
    }
    if (search->tried_count < PLACES / 2) {
        search->tried[place] = set;
        search->tried_count++;
    }
    return true;
}

/* Whether the operations outside `set` can follow those in it. */
static bool can_go_on(struct search *search, uint64_t set)
{
    const struct linear_history *history = search->history;

    if (set == search->all) {
        return true;
    }
    if (set != 0 && !try_set(search, set)) {
        return false;
    }
    for (uint32_t i = 0; i < history->count; i++) {
        if ((set & bit(i)) == 0 && may_be_next(history, set, i) &&
            search->allows(history, set, &history->operations[i]) &&
            can_go_on(search, set | bit(i))) {
            return true;
        }
    }
    return false;
}

bool linear_is_allowed(const struct linear_history *history, linear_model *model)
{
    static struct search search;

    memset(&search, 0, sizeof search);
    search.history = history;
    search.allows = model;
    search.all = bit(history->count) - 1;
    return can_go_on(&search, 0);
}

uint32_t linear_overlaps(const struct linear_history *history)
{
    uint32_t pairs = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct linear_operation *a = &history->operations[i];
            const struct linear_operation *b = &history->operations[j];

            /* Inserts that failed have no slot. */
            pairs += !haft_id_is_nil(a->id) && a->thread != b->thread && a->called < b->returned &&
                     b->called < a->returned &&
                     haft_id_index(history->layout, a->id) == haft_id_index(history->layout, b->id);
        }
    }
    return pairs;
}

/* --- printing --- */

static int by_call(const void *a, const void *b)
{
    const struct linear_operation *first = a;
    const struct linear_operation *second = b;

    return first->called < second->called ? -1 : first->called > second->called;
}

static void print_answer(FILE *file, const struct linear_operation *operation)
{
    static const bool looks[] = {
        [LINEAR_RESOLVE] = true, [LINEAR_IS_LIVE] = true, [LINEAR_PIN] = true,
        [LINEAR_ACQUIRE] = true, [LINEAR_AGAIN] = true,   [LINEAR_COPY] = true,
        [LINEAR_TAKE] = false};

    if (looks[operation->kind]) {
        fprintf(file, "%s", operation->found ? "found" : "not found");
    } else {
        fprintf(file, "%s", haft_status_name(operation->status));
    }
    if (operation->note != 0) {
        fprintf(file, ", object %llx", (unsigned long long)operation->note);
    }
    fprintf(file, "\n");
}

void linear_print(FILE *file, const struct linear_history *history)
{
    static const char *const names[] = {"insert",  "free",  "resolve", "is_live", "pin", "unpin",
                                        "acquire", "again", "release", "copy",    "take"};
    struct linear_history sorted = *history;

    qsort(sorted.operations, sorted.count, sizeof sorted.operations[0], by_call);
    fprintf(file, "capacity %llu; time of call and return, thread, operation (slot.generation)\n",
            (unsigned long long)history->capacity);
    for (uint32_t i = 0; i < sorted.count; i++) {
        const struct linear_operation *operation = &sorted.operations[i];

        fprintf(file, "  %4llu %4llu  thread %u  %-7s %llu.%-3llu  ",
                (unsigned long long)operation->called, (unsigned long long)operation->returned,
                operation->thread, names[operation->kind],
                (unsigned long long)haft_id_index(history->layout, operation->id),
                (unsigned long long)haft_id_generation(history->layout, operation->id));
        print_answer(file, operation);
    }
}
