/* What a counted table allows; see counted.h. */
#include "stress/linear/counted.h"

/* What the operations of a set have done to one id. */
struct state {
    bool is_issued;
    bool is_freed;
    uint32_t holds;
    uint64_t note;
};

static bool is_insertion(const struct linear_operation *operation)
{
    return operation->kind == LINEAR_INSERT && operation->status == HAFT_OK;
}

/* Frees and takes: where no thread holds the object, it ends there. */
static bool is_end(const struct linear_operation *operation)
{
    return (operation->kind == LINEAR_FREE || operation->kind == LINEAR_TAKE) &&
           operation->status == HAFT_OK;
}

static void add_to(struct state *state, const struct linear_operation *done)
{
    if (is_insertion(done)) {
        state->is_issued = true;
        state->note = done->note;
    } else if (is_end(done)) {
        state->is_freed = true;
    } else if (done->kind == LINEAR_ACQUIRE || done->kind == LINEAR_AGAIN) {
        state->holds += done->found;
    } else if (done->kind == LINEAR_RELEASE && done->status == HAFT_OK) {
        state->holds--;
    }
}

static struct state state_of(const struct linear_history *history, uint64_t set, haft_id id)
{
    struct state state = {0};

    for (uint32_t i = 0; i < history->count; i++) {
        if ((set >> i & 1) != 0 && haft_id_equal(history->operations[i].id, id)) {
            add_to(&state, &history->operations[i]);
        }
    }
    return state;
}

static bool is_live(const struct state *state)
{
    return state->is_issued && !state->is_freed;
}

static bool slot_is_taken(const struct linear_history *history, uint64_t set, haft_id id)
{
    const uint64_t index = haft_id_index(history->layout, id);

    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *done = &history->operations[i];

        if ((set >> i & 1) != 0 && is_insertion(done) &&
            haft_id_index(history->layout, done->id) == index) {
            const struct state state = state_of(history, set, done->id);

            if (is_live(&state) || state.holds != 0) {
                return true;
            }
        }
    }
    return false;
}

/* When the id's slot was free again at the latest: what ended the object had returned. */
static uint64_t end_of(const struct linear_history *history, haft_id id)
{
    const struct state state = state_of(history, UINT64_MAX, id);
    uint64_t end = 0;

    if (is_live(&state) || state.holds != 0) {
        return UINT64_MAX;
    }
    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *done = &history->operations[i];

        if (haft_id_equal(done->id, id) && (is_end(done) || done->kind == LINEAR_RELEASE) &&
            done->returned > end) {
            end = done->returned;
        }
    }
    return end;
}

/* Slots that may have been taken at that time. */
static uint64_t taken_at(const struct linear_history *history, uint64_t time)
{
    uint64_t slots = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        const struct linear_operation *done = &history->operations[i];

        if (is_insertion(done) && done->called <= time && end_of(history, done->id) >= time) {
            slots |= UINT64_C(1) << haft_id_index(history->layout, done->id);
        }
    }
    return (uint64_t)__builtin_popcountll(slots);
}

static bool may_be_full(const struct linear_history *history,
                        const struct linear_operation *operation)
{
    for (uint64_t time = operation->called; time <= operation->returned; time++) {
        if (taken_at(history, time) >= history->capacity) {
            return true;
        }
    }
    return false;
}

static bool allows_insert(const struct linear_history *history, uint64_t set,
                          const struct linear_operation *operation)
{
    if (operation->status == HAFT_FULL) {
        return may_be_full(history, operation);
    }
    return operation->status == HAFT_OK && !state_of(history, set, operation->id).is_issued &&
           !slot_is_taken(history, set, operation->id);
}

static bool allows_end(const struct state *state, const struct linear_operation *operation)
{
    const bool takes = operation->kind == LINEAR_TAKE;

    switch (operation->status) {
    case HAFT_OK:
        return is_live(state) && (!takes || (state->holds == 0 && operation->note == state->note));
    case HAFT_IN_USE:
        return takes && is_live(state) && state->holds != 0;
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

bool linear_counted_allows(const struct linear_history *history, uint64_t set,
                           const struct linear_operation *operation)
{
    const struct state state = state_of(history, set, operation->id);

    switch (operation->kind) {
    case LINEAR_INSERT:
        return allows_insert(history, set, operation);
    case LINEAR_FREE:
    case LINEAR_TAKE:
        return allows_end(&state, operation);
    case LINEAR_AGAIN:
        return operation->found == (state.holds != 0);
    case LINEAR_RELEASE:
        return operation->status == (state.holds != 0 ? HAFT_OK : HAFT_NOT_HELD);
    case LINEAR_IS_LIVE:
        return operation->found == is_live(&state);
    default:
        return operation->found ? is_live(&state) && operation->note == state.note
                                : !is_live(&state);
    }
}
