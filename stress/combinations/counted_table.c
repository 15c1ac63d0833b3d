/*
 * The counted table, in plans that have one.  Its on_destroy frees an object of the table that is
 * played, whose on_reclaim makes the plan's calls on this one; and an object of the same table.
 *
 * A cell has an object from its insertion until it is destroyed.  `object` is its number and a
 * state; `holders` counts what is surely held: it rises after a call that holds, and falls before
 * the release.  `busy` counts slots that may be in use: it rises before an insertion, and falls
 * after the call that has given a slot back.  In turns the states are exact; of threads at once
 * the answer says which one has freed an object.
 */
#include "stress/combinations/counted_table.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include <inttypes.h>
#include <string.h>

#define INDEX_BITS 5
#define LASTING_BITS 12 /* of generations: more than one play of threads at once uses up */

enum cell_state { CELL_EMPTY, CELL_CLAIMED, CELL_LIVE, CELL_ENDED };

static uint64_t in_state(uint64_t object, enum cell_state state)
{
    return (object & ~UINT64_C(3)) | state;
}

static enum cell_state state_of(uint64_t object)
{
    return (enum cell_state)(object & 3);
}

/* Unless the cell's object has gone on since. */
static bool turn_cell(const struct counted_ref *ref, enum cell_state state)
{
    uint64_t from = ref->object;
    const uint64_t to = state == CELL_EMPTY ? 0 : in_state(from, state);

    return atomic_compare_exchange_strong_explicit(&ref->cell->object, &from, to,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static void add_to(_Atomic(uint64_t) *sum)
{
    atomic_fetch_add_explicit(sum, 1, memory_order_relaxed);
}

/* The cell of an object, by its bytes: its number, and the cell's below it. */
static struct counted_cell *cell_of(const struct stamp *object)
{
    require_that(object->value != 0 && object->canary == object->value * CANARY,
                 "the bytes of a counted object");
    return &play.counted.cells[object->value % MOST_IN_COUNTED];
}

static void require_object(const struct counted_ref *ref, const struct stamp *bytes)
{
    require_that(cell_of(bytes) == ref->cell && bytes->value == ref->object / 4,
                 "the bytes of another counted object");
}

/* The first cell from `at` on in that state, which had that id in it. */
static bool find_cell(uint32_t at, enum cell_state state, struct counted_ref *ref)
{
    for (uint32_t i = 0; i < MOST_IN_COUNTED; i++) {
        ref->cell = &play.counted.cells[(at + i) % MOST_IN_COUNTED];
        ref->object = word_in(&ref->cell->object);
        ref->id = (haft_id){word_in(&ref->cell->id)};
        if (state_of(ref->object) == state && word_in(&ref->cell->object) == ref->object) {
            return true;
        }
    }
    return false;
}

/* --- ends --- */

static bool is_last_counted_life(haft_id id)
{
    const uint64_t last = haft_field_max(play.counted.layout.generation_bits);

    return !play.plan->options.counted_wrap && haft_id_generation(play.counted.layout, id) == last;
}

/* The object's slot is given back before the thread's outermost call returns, unless it is worn. */
static void note_end(haft_id id)
{
    if (is_last_counted_life(id)) {
        count(&play.counted.worn, 1);
    } else {
        current->seat->counted_ended++;
    }
}

static void note_returned(void)
{
    struct seat *seat = current->seat;

    if (!seat->is_destroying) {
        count(&play.counted.busy, -(int)seat->counted_ended);
        seat->counted_ended = 0;
    }
}

/* The object is destroyed: once, held by none, and not before a free or the table's closing. */
static void end_object(struct counted_cell *cell, haft_id id)
{
    struct counted_table *counted = &play.counted;
    const uint64_t object = atomic_exchange_explicit(&cell->object, 0, memory_order_relaxed);
    const bool was_live = state_of(object) == CELL_LIVE;

    require_that(word_in(&cell->id) == id.bits && state_of(object) >= CELL_LIVE,
                 "on_destroy for no object, or twice");
    require_that(count_in(&cell->holders) == 0, "a counted object is destroyed while it is held");
    require_that(counted->is_closing || (play.at_once ? count_in(&cell->frees) != 0 : !was_live),
                 "a counted object is destroyed that was not freed");
    atomic_store_explicit(&cell->frees, 0, memory_order_relaxed);
    if (counted->is_closing && was_live) {
        add_to(&counted->frees);
    }
    add_to(&counted->ends);
    note_end(id);
}

static void destroy_counted(void *object, haft_id id, void *arg)
{
    struct seat *seat = current->seat;
    struct counted_cell *cell = cell_of(object);
    const uint16_t at = (uint16_t)id.bits;
    const struct step step = {.call = CALL_TABLE_FREE, .at = at, .count = 1};
    const struct step step_here = {.call = CALL_COUNTED_FREE, .at = at, .count = at % 2};

    require_that(arg == &play.counted, "on_destroy's argument");
    require_that(!seat->is_destroying, "on_destroy runs within on_destroy");
    require_that(!haft_counted_is_live(play.counted.table, id), "on_destroy for a live id");
    end_object(cell, id);
    seat->is_destroying = true;
    if (!play.at_once) {
        expect(haft_counted_close(play.counted.table), HAFT_IN_USE, "a close in on_destroy");
    }
    if (!play.is_ending) {
        call_step(current, NULL, &step);
        call_step(current, NULL, &step_here); /* it ends after this on_destroy */
    }
    require_that(cell_of(object) == cell, "the bytes of a counted object");
    seat->is_destroying = false;
}

/* In turns: the call that has returned has ended the object, or an on_destroy around it will. */
static void check_ended(const struct counted_ref *ref)
{
    if (play.plan->options.counted_plain) {
        end_object(ref->cell, ref->id);
    }
    require_that(current->seat->is_destroying ||
                     word_in(&ref->cell->object) != in_state(ref->object, CELL_ENDED),
                 "a counted object without holders was not destroyed");
}

/* --- insertions --- */

static void raise_to(_Atomic(uint32_t) *peak, uint32_t value)
{
    uint32_t known = count_in(peak);

    while (known < value && !atomic_compare_exchange_weak_explicit(
                                peak, &known, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

/* `counted_peak` of each seat: the most that were busy since its insertion began, with it. */
static void begin_insertion(struct seat *seat)
{
    atomic_store_explicit(&seat->counted_peak, 0, memory_order_relaxed);
    const uint32_t busy = atomic_fetch_add_explicit(&play.counted.busy, 1, memory_order_relaxed);

    raise_to(&seat->counted_peak, busy + 1);
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        raise_to(&play.seats[i].counted_peak, busy + 1);
    }
}

/* An on_destroy around the call: slots that its outermost call has given back count as busy. */
static void check_counted_insertion(haft_status status)
{
    const struct seat *seat = current->seat;
    const uint32_t peak = count_in(&seat->counted_peak);
    const bool has_room = peak <= play.plan->options.counted;

    if (play.counted.is_closed) {
        expect(status, HAFT_CLOSED, "an insertion into a closed counted table");
    } else if (status == HAFT_OK) {
        require_that(has_room || play.at_once || seat->is_destroying,
                     "a counted table has more objects than its capacity");
    } else if (!lacks_memory(status) && (status != HAFT_FULL || has_room)) {
        fail("an insertion into a counted table", "%s with %u", haft_status_name(status), peak - 1);
    }
}

/* A reservation that is given up has lived, and may have worn its slot out. */
static void give_up(struct seat *seat, haft_id id)
{
    begin_insertion(seat); /* the next one */
    haft_counted_abort(play.counted.table, id);
    if (is_last_counted_life(id)) {
        count(&play.counted.worn, 1);
    } else {
        count(&play.counted.busy, -1);
    }
    if (!play.at_once) { /* the slot was given up before it */
        atomic_store_explicit(&seat->counted_peak, count_in(&play.counted.busy),
                              memory_order_relaxed);
    }
}

/* By one call or by two, and sometimes at the second try. */
static haft_status place(struct seat *seat, const struct stamp *stamp, haft_id *id)
{
    haft_counted *table = play.counted.table;
    const uint64_t number = stamp->value / MOST_IN_COUNTED;
    haft_status status;
    void *object;

    if (play.plan->options.counted_copies || number % 2 == 0) {
        return haft_counted_insert(table, stamp, id);
    }
    status = haft_counted_reserve(table, id, &object);
    if (status == HAFT_OK && number % 4 == 1) {
        give_up(seat, *id);
        return haft_counted_insert(table, stamp, id);
    }
    if (status == HAFT_OK) {
        *(struct stamp *)object = *stamp;
        haft_counted_publish(table, *id);
    }
    return status;
}

static void insert_counted(struct thread *thread, struct counted_ref *ref)
{
    struct counted_table *counted = &play.counted;
    const uint64_t number =
        atomic_fetch_add_explicit(&counted->numbers, 1, memory_order_relaxed) + 1;
    const uint64_t value = number * MOST_IN_COUNTED + (uint64_t)(ref->cell - counted->cells);
    const struct stamp stamp = {value, value * CANARY};

    if (!turn_cell(ref, CELL_CLAIMED)) {
        return;
    }
    begin_insertion(thread->seat);
    const haft_status status = place(thread->seat, &stamp, &ref->id);

    check_counted_insertion(status);
    if (status == HAFT_OK) {
        add_to(&counted->inserts);
        atomic_store_explicit(&ref->cell->id, ref->id.bits, memory_order_relaxed);
    } else {
        count(&counted->busy, -1);
    }
    atomic_store_explicit(&ref->cell->object,
                          status == HAFT_OK ? in_state(value * 4, CELL_LIVE) : 0,
                          memory_order_relaxed);
}

/* --- holding --- */

static void add_hold(struct thread *thread, const struct counted_ref *ref)
{
    count(&ref->cell->holders, 1);
    thread->counted[thread->counted_count++] = *ref;
}

/* The newest hold of the thread: the object's bytes have stayed. */
static void release_counted(struct thread *thread, struct counted_ref *ref)
{
    *ref = thread->counted[--thread->counted_count];
    require_object(ref, ref->bytes);
    count(&ref->cell->holders, -1);
    const bool is_last = !play.at_once && count_in(&ref->cell->holders) == 0 &&
                         state_of(word_in(&ref->cell->object)) == CELL_ENDED;

    expect(haft_counted_release(play.counted.table, ref->id), HAFT_OK, "a release");
    if (is_last) {
        check_ended(ref);
    }
}

/* Held across other steps of the thread, but not those of a callback. */
static void acquire_counted(struct thread *thread, struct counted_ref *ref)
{
    ref->bytes = haft_counted_acquire(play.counted.table, ref->id);
    require_that(ref->bytes != NULL || play.at_once, "a live counted object is not to be had");
    if (ref->bytes != NULL) {
        require_object(ref, ref->bytes);
        add_hold(thread, ref);
        if (in_callback(thread) || thread->seat->is_destroying) {
            release_counted(thread, ref);
        }
    }
}

static void hold_again(struct thread *thread, struct counted_ref *ref)
{
    *ref = thread->counted[0];
    require_that(haft_counted_again(play.counted.table, ref->id), "a held object, once more");
    add_hold(thread, ref);
}

static void copy_counted(struct thread *thread, struct counted_ref *ref)
{
    struct stamp copy = {0};

    (void)thread;
    if (haft_counted_copy(play.counted.table, ref->id, &copy)) {
        require_object(ref, &copy);
    } else {
        require_that(play.at_once, "a live counted object could not be copied");
    }
}

/* --- the way out --- */

static bool is_of_the_dead(haft_status status)
{
    return status == HAFT_STALE || status == HAFT_EXHAUSTED;
}

static void free_counted(struct thread *thread, struct counted_ref *ref)
{
    const bool is_last = !play.at_once && count_in(&ref->cell->holders) == 0;

    (void)thread;
    count(&ref->cell->frees, 1);
    if (!play.at_once) {
        turn_cell(ref, CELL_ENDED);
    }
    const haft_status status = haft_counted_free(play.counted.table, ref->id);

    require_that(status == HAFT_OK || (play.at_once && is_of_the_dead(status)),
                 "a free of a live counted object");
    if (status == HAFT_OK) {
        add_to(&play.counted.frees);
        turn_cell(ref, CELL_ENDED); /* unless it is destroyed */
    }
    if (is_last) {
        check_ended(ref);
    }
}

static void take_counted(struct thread *thread, struct counted_ref *ref)
{
    const bool is_held = count_in(&ref->cell->holders) != 0;
    struct stamp taken = {0};
    const haft_status status = haft_counted_take(play.counted.table, ref->id, &taken);

    (void)thread;
    require_that(play.at_once ? status == HAFT_OK || status == HAFT_IN_USE || is_of_the_dead(status)
                              : status == (is_held ? HAFT_IN_USE : HAFT_OK),
                 "haft_counted_take");
    if (status == HAFT_OK) {
        require_object(ref, &taken);
        require_that(count_in(&ref->cell->holders) == 0, "a held object was taken");
        require_that(turn_cell(ref, CELL_EMPTY), "an object was taken that was freed");
        add_to(&play.counted.frees);
        add_to(&play.counted.ends);
        note_end(ref->id);
    }
}

/* Whether an object that is not over has the id, where ids repeat. */
static bool is_in_a_cell(haft_id id)
{
    for (uint32_t i = 0; i < MOST_IN_COUNTED; i++) {
        const struct counted_cell *cell = &play.counted.cells[i];

        if (state_of(word_in(&cell->object)) >= CELL_LIVE && word_in(&cell->id) == id.bits) {
            return true;
        }
    }
    return false;
}

/* What is said of an object that was freed and is held still, or is no more: it stays so. */
static void refuse_stale(struct thread *thread, struct counted_ref *ref)
{
    haft_counted *table = play.counted.table;
    const bool is_over = state_of(ref->object) == CELL_EMPTY;
    struct stamp copy;

    (void)thread;
    if (ref->id.bits == 0 || (is_over && is_in_a_cell(ref->id))) {
        return;
    }
    require_that(is_of_the_dead(haft_counted_free(table, ref->id)), "a stale id was freed");
    require_that(is_of_the_dead(haft_counted_take(table, ref->id, &copy)), "a stale id was taken");
    require_that(haft_counted_acquire(table, ref->id) == NULL, "a stale id was acquired");
    require_that(!play.plan->options.counted_copies || !haft_counted_copy(table, ref->id, &copy),
                 "a stale id was copied");
    require_that(!is_over || (haft_counted_release(table, ref->id) == HAFT_NOT_HELD &&
                              !haft_counted_again(table, ref->id)),
                 "an object that is no more is held");
}

/* --- looking --- */

static uint32_t count_cells(enum cell_state state, bool with_holders)
{
    uint32_t cells = 0;

    for (uint32_t i = 0; i < MOST_IN_COUNTED; i++) {
        const struct counted_cell *cell = &play.counted.cells[i];

        cells += state_of(word_in(&cell->object)) == state &&
                 (!with_holders || count_in(&cell->holders) != 0);
    }
    return cells;
}

/* A walk comes to each object that is live. */
static void walk_counted(struct thread *thread, struct counted_ref *ref)
{
    haft_counted_cursor cursor = {0};
    uint32_t found = 0;
    void *object;
    haft_id id;

    (void)thread;
    (void)ref;
    while (haft_counted_cursor_next(play.counted.table, &cursor, &id, &object)) {
        const struct counted_cell *cell = cell_of(object);

        require_that(play.at_once || word_in(&cell->id) == id.bits, "the id of another object");
        expect(haft_counted_release(play.counted.table, id), HAFT_OK, "a release in a walk");
        found++;
    }
    require_that(play.at_once || found == count_cells(CELL_LIVE, false),
                 "a walk along a counted table");
}

/* --- calls --- */

static void (*const counted_calls[])(struct thread *thread, struct counted_ref *ref) = {
    insert_counted, acquire_counted, release_counted, hold_again,   copy_counted,
    free_counted,   take_counted,    refuse_stale,    walk_counted,
};

/* Whether there is an object for the call, or room in the thread's hands. */
static bool may_call_on(const struct thread *thread, const struct step *step, uint32_t at,
                        struct counted_ref *ref)
{
    const uint32_t held = thread->counted_count;

    switch (step->call) {
    case CALL_COUNTED_INSERT:
        return find_cell(at, CELL_EMPTY, ref);
    case CALL_COUNTED_STALE:
        return find_cell(at, step->count % 2 == 0 ? CELL_EMPTY : CELL_ENDED, ref);
    case CALL_COUNTED_RELEASE:
        return held != 0;
    case CALL_COUNTED_AGAIN:
        return held != 0 && held < MOST_COUNTED_HELD;
    case CALL_COUNTED_COPY:
        return play.plan->options.counted_copies && find_cell(at, CELL_LIVE, ref);
    default:
        return held < MOST_COUNTED_HELD && find_cell(at, CELL_LIVE, ref);
    }
}

void step_counted(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct counted_ref ref;

    (void)worker;
    if (play.counted.table == NULL || play.counted.is_closing) {
        return; /* while it closes, no callback knows which objects are free already */
    }
    for (uint32_t i = 0;
         i < step->count && i < MOST_IN_COUNTED && may_call_on(thread, step, step->at + i, &ref);
         i++) {
        const struct call_under_way outer = begin_call(step->call, HAFT_NIL);

        counted_calls[step->call - CALL_COUNTED_INSERT](thread, &ref);
        end_call(outer);
        note_returned();
    }
}

void end_counted_holds(struct thread *thread)
{
    step_counted(thread, NULL, &(struct step){.call = CALL_COUNTED_RELEASE, .count = 16});
}

/* --- quiet moments --- */

void check_counted(void)
{
    if (play.counted.table == NULL) {
        return;
    }
    const haft_counted_stats stats = haft_counted_stats_get(play.counted.table);

    require_that(stats.live == count_cells(CELL_LIVE, false) &&
                     stats.held == count_cells(CELL_LIVE, true) &&
                     stats.ended == count_cells(CELL_ENDED, true) && stats.reserved == 0 &&
                     stats.exhausted == count_in(&play.counted.worn) &&
                     stats.live + stats.ended + stats.exhausted == count_in(&play.counted.busy) &&
                     stats.high_water == count_in(&play.counted.busy) + stats.free,
                 "the statistics of the counted table");
}

static void open_counted(void)
{
    const struct plan_options *from = &play.plan->options;
    const bool must_last = play.at_once && from->counted_wrap;
    const uint32_t bits = must_last ? LASTING_BITS : from->generation_bits;
    const haft_counted_options options = {
        .name = "counted",
        .capacity = from->counted,
        .object_size = sizeof(struct stamp),
        .layout = {INDEX_BITS, (uint8_t)bits, (uint8_t)from->tag_bits, 0},
        .tag = from->tag_bits != 0,
        .first_generation = must_last ? 0 : from->first_generation,
        .min_free = from->counted_min_free,
        .wrap = from->counted_wrap,
        .copies = from->counted_copies,
        .spread = from->counted_spread,
        .wipe = from->counted_wipe,
        .on_destroy = from->counted_plain ? NULL : destroy_counted,
        .destroy_arg = &play.counted,
        .allocator = from->heap == 1 ? heap_of_plan() : NULL, /* the block is the played table's */
    };

    memset(&play.counted, 0, sizeof play.counted);
    play.counted.layout = options.layout;
    expect(haft_counted_open(&options, &play.counted.table), HAFT_OK, "haft_counted_open");
}

/* What closing does without an on_destroy: objects that are held are freed; without one, others. */
static void end_cells(void)
{
    struct counted_ref ref;

    while (find_cell(0, CELL_LIVE, &ref)) {
        require_that(turn_cell(&ref, CELL_ENDED), "a call beside the closing of a counted table");
        add_to(&play.counted.frees);
        count(&ref.cell->frees, 1);
        if (count_in(&ref.cell->holders) == 0) {
            require_that(play.plan->options.counted_plain, "closing destroyed not all objects");
            end_object(ref.cell, ref.id);
        }
    }
}

static haft_status close_counted(void)
{
    struct counted_table *counted = &play.counted;

    counted->is_closing = counted->is_closed = true;
    const haft_status status = haft_counted_close(counted->table);

    end_cells();
    note_returned();
    counted->is_closing = false;
    expect(status, count_cells(CELL_ENDED, true) != 0 ? HAFT_IN_USE : HAFT_OK,
           "haft_counted_close");
    require_that(status != HAFT_OK || (word_in(&counted->ends) == word_in(&counted->inserts) &&
                                       word_in(&counted->frees) == word_in(&counted->inserts)),
                 "counted objects did not end once each");
    return status;
}

void try_close_counted(void)
{
    if (play.counted.table == NULL) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_COUNTED_CLOSE, HAFT_NIL);
    const haft_status status = close_counted();

    end_call(outer);
    if (status == HAFT_OK) {
        open_counted();
    }
}

void begin_counted_table(void)
{
    memset(&play.counted, 0, sizeof play.counted);
    if (play.plan->options.counted != 0) {
        open_counted();
    }
}

/* An object that is held keeps it open, and ends with its release. */
void end_counted_table(void)
{
    if (play.counted.table == NULL) {
        return;
    }
    step_counted(current, NULL, &(struct step){.call = CALL_COUNTED_ACQUIRE, .count = 1});
    if (close_counted() == HAFT_IN_USE) {
        step_counted(current, NULL, &(struct step){.call = CALL_COUNTED_INSERT, .count = 1});
        end_counted_holds(current);
        expect(close_counted(), HAFT_OK, "a counted table could not be closed");
    }
    play.counted.table = NULL;
}
