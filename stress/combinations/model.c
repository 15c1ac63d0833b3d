/* Registers, ownership and what threads hold: see model.h. */
#include "stress/combinations/model.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/sides.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REGISTER_BITS 16

struct play play;
_Thread_local struct thread *current;

void fail(const char *kind, const char *detail, ...)
{
    char text[256];
    va_list values;

    va_start(values, detail);
    vsnprintf(text, sizeof text, detail, values);
    va_end(values);
    backend_fail(kind, text);
}

void require_that(bool holds, const char *kind)
{
    if (!holds) {
        fail(kind, "%s", "");
    }
}

void expect(haft_status answer, haft_status expected, const char *kind)
{
    if (answer != expected) {
        fail(kind, "%s, not %s", haft_status_name(answer), haft_status_name(expected));
    }
}

/* --- registers --- */

static bool turn_to(struct reg *reg, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&reg->state, &from, to, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* With pins: after this store, a thread that is about to pin is seen, or it sees the store. */
static bool turn_before_pins(struct reg *reg, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&reg->state, &from, to);
}

struct reg *find_register(uint32_t at, enum register_state state)
{
    for (uint32_t i = 0; i < play.register_count; i++) {
        struct reg *reg = &play.registers[(at + i) % play.register_count];

        if (count_in(&reg->state) == (uint32_t)state) {
            return reg;
        }
    }
    return NULL;
}

/* A register whose object is pinned, or about to be, keeps its id. */
static bool claim(struct reg *reg, uint32_t from)
{
    if (!play.plan->options.pins) {
        return turn_to(reg, from, REGISTER_CLAIMED);
    }
    if (!turn_before_pins(reg, from, REGISTER_CLAIMED)) {
        return false;
    }
    if (atomic_load(&reg->pins) == 0 && atomic_load(&reg->intents) == 0) {
        return true;
    }
    atomic_store(&reg->state, from);
    return false;
}

struct reg *claim_register(uint32_t at)
{
    for (uint32_t i = 0; i < play.register_count; i++) {
        struct reg *reg = &play.registers[(at + i) % play.register_count];
        const uint32_t state = count_in(&reg->state);

        if ((state == REGISTER_EMPTY || state == REGISTER_ENDED) && claim(reg, state)) {
            return reg;
        }
    }
    return NULL;
}

void unclaim_register(struct reg *reg)
{
    atomic_store_explicit(&reg->state, word_in(&reg->id) == 0 ? REGISTER_EMPTY : REGISTER_ENDED,
                          memory_order_relaxed);
}

struct reg *claim_reserved(uint32_t at)
{
    struct reg *reg = find_register(at, REGISTER_RESERVED);
    uint32_t reserved = REGISTER_RESERVED;

    /* Acquired: the reservation is handed over, as haft_publish() asks. */
    if (reg == NULL ||
        !atomic_compare_exchange_strong_explicit(&reg->state, &reserved, REGISTER_CLAIMED,
                                                 memory_order_acquire, memory_order_relaxed)) {
        return NULL;
    }
    return reg;
}

struct reg *find_pinned(uint32_t at)
{
    for (uint32_t i = 0; i < play.register_count; i++) {
        struct reg *reg = &play.registers[(at + i) % play.register_count];

        if (count_in(&reg->pins) != 0) {
            return reg;
        }
    }
    return NULL;
}

uint32_t register_number(const struct reg *reg)
{
    return (uint32_t)(reg - play.registers);
}

haft_id id_in(const struct reg *reg)
{
    return (haft_id){word_in(&reg->id)};
}

bool is_last_life(haft_id id)
{
    return !play.plan->options.wrap &&
           haft_id_generation(play.layout, id) == haft_field_max(play.layout.generation_bits);
}

uint32_t capacity_in_use(void)
{
    return count_in(&play.live) + count_in(&play.reserved);
}

/* --- lives --- */

#define STAMP_WORDS (sizeof(struct stamp) / sizeof(uint64_t))

static uint32_t object_words(void)
{
    return play.plan->options.object_size / sizeof(uint64_t);
}

#define MOST_REPEATED 32 /* words of an object that repeat its stamp, and the last one */

/* The next of them. */
static uint32_t repeated_after(uint32_t at)
{
    const uint32_t last = object_words() - 1;
    const uint32_t next = at + 1 + object_words() / MOST_REPEATED;

    return at < last && next > last ? last : next;
}

/* What word `at` of an object is, behind the stamp. */
static uint64_t repeated(uint64_t value, uint32_t at)
{
    return value + at;
}

void model_stamp(struct reg *reg, void *object)
{
    const uint64_t serial = atomic_fetch_add_explicit(&play.stamps, 1, memory_order_relaxed);
    const uint64_t value = serial << REGISTER_BITS | register_number(reg);
    struct stamp *stamp = object;

    atomic_store_explicit(&reg->stamp, value, memory_order_relaxed);
    if (play.plan->options.object_size != 0) {
        *stamp = (struct stamp){value, value * CANARY};
        for (uint32_t i = STAMP_WORDS; i < object_words(); i = repeated_after(i)) {
            ((uint64_t *)object)[i] = repeated(value, i);
        }
    }
}

static bool is_whole(const struct stamp *stamp)
{
    for (uint32_t i = STAMP_WORDS; i < object_words(); i = repeated_after(i)) {
        if (((const uint64_t *)stamp)[i] != repeated(stamp->value, i)) {
            return false;
        }
    }
    return stamp->canary == stamp->value * CANARY;
}

bool is_stamp_of(const struct stamp *stamp, const struct reg *reg)
{
    return play.plan->options.object_size == 0 ||
           ((stamp->value & ((1u << REGISTER_BITS) - 1)) == register_number(reg) &&
            is_whole(stamp));
}

void stamp_zeros(struct reg *reg, haft_id id)
{
    uint64_t *words = haft_resolve(play.view, id);

    require_that(words != NULL, "a live object was not found");
    for (uint32_t i = 0; i < object_words(); i++) {
        require_that(words[i] == 0, "an object of no bytes is not zero");
    }
    model_stamp(reg, words);
}

/* --- generations --- */

static uint64_t first_generation(void)
{
    const uint64_t first = play.plan->options.first_generation;

    return first != 0 ? first : 1;
}

uint64_t next_generation(uint32_t index)
{
    const haft_id last = {word_in(&play.issued[index])};
    const uint64_t generation = haft_id_generation(play.layout, last);

    if (last.bits == 0) {
        return first_generation();
    }
    if (generation != haft_field_max(play.layout.generation_bits)) {
        return generation + 1;
    }
    return play.plan->options.wrap ? 1 : 0;
}

/* The next one: but slots whose memory was released skip some. */
static bool may_follow_in_turns(haft_id id)
{
    const uint32_t index = haft_id_index(play.layout, id);
    const uint64_t generation = haft_id_generation(play.layout, id);
    const uint64_t next = next_generation(index);

    return count_in(&play.owned[index]) == 0 && next != 0 &&
           (generation == next || (generation > next && play.has_trimmed));
}

/* Threads at once only wrap where slots have many lives: an id comes again after others. */
static bool may_follow_at_once(haft_id id, haft_id last)
{
    if (play.plan->options.wrap) {
        return id.bits != last.bits;
    }
    return last.bits == 0 || count_in(&play.ids_repeat) != 0 ||
           haft_id_generation(play.layout, id) > haft_id_generation(play.layout, last);
}

/* Ids that no register knows yet may repeat too: a command set's, and those that the call around a
 * callback has in hand. */
bool may_live_again(haft_id id)
{
    const uint32_t index = haft_id_index(play.layout, id);

    if (play.at_once || play.set.commands != NULL || in_callback(current)) {
        return count_in(&play.ids_repeat) != 0;
    }
    return count_in(&play.owned[index]) != 0 && word_in(&play.issued[index]) == id.bits;
}

/* All its slots are in use, exhausted, or may be held back by workers. */
bool may_be_full(uint32_t used)
{
    const uint64_t exhausted = count_in(&play.exhausted);
    const uint64_t slots = haft_table_stats_get(play.table).limit;

    return used >= play.plan->options.capacity ||
           (exhausted != 0 &&
            (play.at_once || used + exhausted + shim_held_back(play.table) >= slots));
}

static void check_issued(haft_id id)
{
    const uint32_t index = haft_id_index(play.layout, id);

    require_that(index >= HAFT_FIRST_INDEX && index < MOST_INDICES, "an id with no such slot");
    const bool may_follow = play.at_once || may_follow_in_turns(id);
    const haft_id last = {
        atomic_exchange_explicit(&play.issued[index], id.bits, memory_order_relaxed)};

    if (!may_follow || (play.at_once && !may_follow_at_once(id, last))) {
        fail("a slot was handed out twice", "id %llx after %llx", (unsigned long long)id.bits,
             (unsigned long long)last.bits);
    }
    atomic_store_explicit(&play.owned[index], 1, memory_order_relaxed);
    atomic_store_explicit(&play.reclaimed[index], 0, memory_order_relaxed);
    if (!play.at_once) {
        forget_values(index);
    }
}

void model_most_used(void)
{
    const uint64_t used = count_in(&play.live) + count_in(&play.reserved);

    if (!play.at_once && used > play.most_used) {
        play.most_used = used;
    }
}

void model_issued(struct reg *reg, haft_id id, enum register_state state)
{
    check_issued(id);
    check_has_no_value(id, "a new object has a value");
    note_overlaps(CALL_INSERT, haft_id_index(play.layout, id));
    atomic_store_explicit(&reg->id, id.bits, memory_order_relaxed);
    if (state != REGISTER_RECORDED) {
        count(state == REGISTER_LIVE ? &play.live : &play.reserved, 1);
    }
    model_most_used();
    if (state == REGISTER_RESERVED) { /* released, to claim_reserved() */
        atomic_store_explicit(&reg->state, state, memory_order_release);
    } else {
        atomic_store_explicit(&reg->state, state, memory_order_relaxed);
    }
}

void model_published(struct reg *reg)
{
    count(&play.reserved, -1);
    count(&play.live, 1);
    atomic_store_explicit(&reg->state, REGISTER_LIVE, memory_order_relaxed);
}

static void note_end(haft_id id)
{
    atomic_store_explicit(&play.owned[haft_id_index(play.layout, id)], 0, memory_order_relaxed);
    if (is_last_life(id)) {
        count(&play.exhausted, 1);
    }
}

void model_freed(struct reg *reg, haft_id id)
{
    count(&play.live, -1);
    atomic_fetch_add_explicit(&play.frees, 1, memory_order_relaxed);
    if (turn_to(reg, REGISTER_LIVE, REGISTER_ENDED)) {
        note_end(id);
    } else if (count_in(&reg->state) == REGISTER_DOOMED) { /* until all threads stand still */
        atomic_fetch_add(&play.set.freed_otherwise, 1);
    } else {
        fail("an object was freed twice", "id %llx", (unsigned long long)id.bits);
    }
}

void model_cleared(void)
{
    play.is_cleared = true;
    for (uint32_t i = 0; i < play.register_count; i++) {
        struct reg *reg = &play.registers[i];

        if (count_in(&reg->state) == REGISTER_LIVE) {
            model_freed(reg, id_in(reg));
        }
    }
}

bool model_doom(struct reg *reg, haft_id id)
{
    return word_in(&reg->id) == id.bits && turn_to(reg, REGISTER_LIVE, REGISTER_DOOMED);
}

void model_end_doomed(struct reg *reg, bool is_live)
{
    if (!is_live) {
        note_end(id_in(reg));
    }
    atomic_store(&reg->state, is_live ? REGISTER_LIVE : REGISTER_ENDED);
}

void model_aborted(struct reg *reg)
{
    note_end(id_in(reg));
    count(&play.reserved, -1);
    atomic_store_explicit(&reg->state, REGISTER_ENDED, memory_order_relaxed);
}

void model_refused(uint64_t frees)
{
    atomic_fetch_add_explicit(&play.refused_frees, frees, memory_order_relaxed);
}

void model_given_up(haft_id id)
{
    check_issued(id);
    note_end(id);
    count(&play.reserved, -1);
}

static void check_reclaimed_object(haft_id id, const struct stamp *object)
{
    struct reg *reg = &play.registers[object->value & ((1u << REGISTER_BITS) - 1)];

    require_that(register_number(reg) < play.register_count && is_stamp_of(object, reg),
                 "on_reclaim was given another object's bytes");
    if (word_in(&reg->stamp) != object->value || word_in(&reg->id) != id.bits) {
        return; /* the register has gone on to another object */
    }
    require_that(atomic_load(&reg->pins) == 0, "on_reclaim for a pinned object");
    require_that(play.at_once || count_in(&reg->state) == REGISTER_ENDED ||
                     count_in(&reg->state) == REGISTER_CLAIMED, /* for the next object */
                 "on_reclaim for an object that was not freed");
}

void model_reclaimed(haft_id id, struct stamp *object)
{
    const uint32_t index = haft_id_index(play.layout, id);
    const uint64_t last =
        atomic_exchange_explicit(&play.reclaimed[index], id.bits, memory_order_relaxed);

    require_that(last != id.bits, "on_reclaim twice for one object");
    atomic_fetch_add_explicit(&play.reclaims, 1, memory_order_relaxed);
    if (play.plan->options.object_size != 0) {
        check_reclaimed_object(id, object);
        memset(object, 0xdd, play.plan->options.object_size);
    }
}

/* --- what a thread holds --- */

static void hold_words(struct seat *seat, const struct stamp *stamp, uint32_t words)
{
    if (seat->held_count < MOST_HELD) {
        seat->held[seat->held_count++] = (struct held){stamp, stamp->value, words};
    }
}

void hold_value(struct thread *thread, const struct stamp *value)
{
    hold_words(thread->seat, value, STAMP_WORDS);
}

void hold(struct thread *thread, const struct stamp *object)
{
    if (play.plan->options.object_size != 0) {
        hold_words(thread->seat, object, object_words());
    }
}

void value_stamp(struct stamp *value, haft_id id)
{
    *value = (struct stamp){id.bits, id.bits * CANARY};
}

bool is_value_stamp(const struct stamp *value, haft_id id)
{
    return value->value == id.bits && value->canary == id.bits * CANARY;
}

void check_held(const struct seat *seat)
{
    for (uint32_t i = 0; i < seat->held_count; i++) {
        const struct held *held = &seat->held[i];
        const uint32_t last = held->words - 1;

        require_that(held->object->value == held->value &&
                         held->object->canary == held->value * CANARY &&
                         (last < STAMP_WORDS ||
                          ((const uint64_t *)held->object)[last] == repeated(held->value, last)),
                     "an object changed under its reader");
    }
}

void release_held(struct seat *seat)
{
    check_held(seat);
    seat->held_count = 0;
}
