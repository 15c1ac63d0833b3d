/*
 * haft_local: the table of one thread, its objects' lives.  Free slots are local_list.c's.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#include "lib/local/local.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include "lib/local/local_list.h"
#include "lib/local/state.h"
#include "lib/slots/diagnose.h"
#include "lib/slots/leaks.h"
#include "lib/slots/object.h"
#include <assert.h>
#include <string.h>

OPTIONS_BEGIN_WITH_COMMON(haft_local_options);

/* The options of this kind of table alone; the capacity is at most `most`. */
static haft_status check(const haft_local_options *options, uint64_t most)
{
    if (options->reuse != HAFT_REUSE_LIFO && options->reuse != HAFT_REUSE_FIFO) {
        return HAFT_BAD_REUSE;
    }
    if (options->min_free != 0 &&
        (options->reuse != HAFT_REUSE_FIFO || options->min_free > most - options->capacity)) {
        return HAFT_BAD_MIN_FREE;
    }
    return HAFT_OK;
}

/* What slots are asked for, and the highest capacity; HAFT_OK, or why the options are wrong. */
static haft_status local_slots_wanted(const haft_local_options *options,
                                      struct slots_options *wanted, uint64_t *most)
{
    *wanted = (struct slots_options){
        .extra = options->min_free,
        .spare = options->will_share ? geometry_spare(options->capacity) : 0,
        .pins = options->pins,
        .huge_pages = options->huge_pages,
    };
    const haft_status status = options_check(options, IN_SLOTS, &wanted->common, most);

    return status == HAFT_OK ? check(options, *most) : status;
}

static void fill_in(haft_local *local, const haft_local_options *options)
{
    local->is_fifo = options->reuse == HAFT_REUSE_FIFO;
    local->wraps = options->wrap;
    local->min_free = options->min_free;
    local->used = HAFT_FIRST_INDEX;
    local->capacity = options->capacity;
    local->on_destroy = options->on_destroy;
    local->destroy_arg = options->destroy_arg;
    local->is_crowded = local_crowds(local);
    local_begin_list(local);
}

haft_local *local_new(const char *name, struct given *given, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_local), name);
    char *block = given != NULL ? given_take(given, size, _Alignof(haft_local))
                                : heap_take(heap, size, _Alignof(haft_local));

    if (block == NULL) {
        return NULL;
    }
    memcpy(block + sizeof(haft_local), name, size - sizeof(haft_local));
    haft_local *local = local_make_in(block, given != NULL, block + sizeof(haft_local));

    local->slots.heap = *heap;
    return local;
}

haft_local *local_make_in(void *block, bool is_given, const char *name)
{
    haft_local *local = memset(block, 0, sizeof(haft_local));

    local->is_given = is_given;
    local->name = name;
    asan_poison(local + 1, (size_t)(name - (char *)(local + 1)));
    return local;
}

size_t local_block_size(const haft_local *local)
{
    return size_with_name((size_t)(local->name - (const char *)local), local->name);
}

void local_free(haft_local *local)
{
    if (local == NULL) {
        return;
    }
    const size_t size = local_block_size(local);

    asan_unpoison(local, size);
    if (!local->is_given) {
        heap_give(&local->slots.heap, local, size);
    }
}

haft_status local_check_moment(const haft_local *local)
{
    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    return local->held == 0 && !local->in_callback ? HAFT_OK : HAFT_IN_USE;
}

static const char *local_name_of(const haft_local_options *options)
{
    return options->name != NULL ? options->name : "local table";
}

/* The bytes that local_new() and slots_open() take, wherever they begin. */
static uint64_t measure_local(const haft_local_options *options, struct slots_options wanted)
{
    struct given given = given_to_measure();

    wanted.given = &given;
    given_take(&given, size_with_name(sizeof(haft_local), local_name_of(options)),
               _Alignof(haft_local));
    geometry_measure(&wanted);
    return given.measured;
}

haft_status haft_local_open_sized(const haft_local_options *options, size_t size,
                                  haft_local **local)
{
    haft_local_options known;
    struct slots_options wanted;
    uint64_t most;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? local_slots_wanted(&known, &wanted, &most) : status;
    if (status != HAFT_OK) {
        return status;
    }
    struct given given = given_of(known.memory, known.memory_size);

    if (!given_suffices(&given, measure_local(&known, wanted))) {
        return HAFT_NO_MEMORY;
    }
    wanted.given = known.memory != NULL ? &given : NULL;
    const haft_allocator heap = heap_of(known.allocator);
    haft_local *opened = local_new(local_name_of(&known), wanted.given, &heap);

    status = opened != NULL ? slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        local_free(opened);
        return status;
    }
    fill_in(opened, &known);
    *local = opened;
    return HAFT_OK;
}

/* The highest capacity for which slots take no more address space. */
static uint64_t capacity_that_fills(haft_local_options options, uint64_t most)
{
    struct slots_options wanted;
    uint64_t above = most - options.min_free + 1;

    local_slots_wanted(&options, &wanted, &most);
    const uint64_t count = geometry_of(&wanted).count;
    uint64_t fits = options.capacity;

    while (above - fits > 1) {
        options.capacity = fits + (above - fits) / 2;
        local_slots_wanted(&options, &wanted, &most);
        if (geometry_of(&wanted).count == count) {
            fits = options.capacity;
        } else {
            above = options.capacity;
        }
    }
    return fits;
}

haft_status haft_local_footprint_sized(const haft_local_options *options, size_t size,
                                       haft_footprint *footprint)
{
    haft_local_options known;
    struct slots_options wanted;
    uint64_t most;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? local_slots_wanted(&known, &wanted, &most) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = measure_local(&known, wanted);

    if (!given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = capacity_that_fills(known, most),
        .committed = bytes,
    };
    return HAFT_OK;
}

haft_view haft_local_view(const haft_local *local)
{
    return local->slots.view;
}

haft_info haft_local_info(const haft_local *local)
{
    return slots_info(&local->slots, local->name, local->capacity);
}

uint64_t haft_local_count(const haft_local *local)
{
    return local->front.count;
}

uint64_t haft_local_available(const haft_local *local)
{
    return local_available(local);
}

/* --- the way in --- */

/* The next slot to use: its own word still says that it is free. */
static haft_status take_slot(haft_local *local, uint64_t *index)
{
    const struct slots *slots = &local->slots;

    if (local->front.head == MARK_END) {
        return local_take(local, index);
    }
    *index = local->front.head;
    local->front.head =
        (uint32_t)word_index(&slots->format, load_relaxed(OWN, slots_word(slots, *index)));
    return HAFT_OK;
}

static haft_status reserve(haft_local *local, haft_id *id, void **object, const void *caller)
{
    const struct word_format *format = &local->slots.format;
    uint64_t index;
    const haft_status status = take_slot(local, &index);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t word = slots_begin_at(&local->slots, index, load_relaxed(OWN, at));

    slots_unpoison(&local->slots, at);
    sites_note_birth(&local->slots.sites, index, caller);
    store_relaxed(OWN, at, word_with_index(format, word, MARK_RESERVED));
    local->held++;
    id->bits = word_with_index(format, word, index);
    *object = slots_object(at);
    return HAFT_OK;
}

haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object)
{
    void *bytes;
    const haft_status status = reserve(local, id, &bytes, CALLER);

    if (status == HAFT_OK && object != NULL) {
        *object = bytes;
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static atomic_u64 *reserved_word(haft_local *local, haft_id id)
{
    atomic_u64 *at = slots_word(&local->slots, word_index(&local->slots.format, id.bits));

    assert(load_relaxed(OWN, at) == word_with_index(&local->slots.format, id.bits, MARK_RESERVED));
    return at;
}

void haft_local_publish(haft_local *local, haft_id id)
{
    store_relaxed(OWN, reserved_word(local, id), id.bits);
    local->held--;
    local->front.count++;
}

/* haft_local_insert() of any object, into any slot: apart, so that the common way stays short. */
static NOINLINE haft_status insert_any(haft_local *local, const void *object, haft_id *id,
                                       const void *caller)
{
    haft_id inserted; /* `id` may lie in `object` */
    void *bytes;
    const haft_status status = reserve(local, &inserted, &bytes, caller);

    if (status == HAFT_OK) {
        slots_fill(&local->slots, bytes, object);
        haft_local_publish(local, inserted);
        *id = inserted;
    }
    return status;
}

haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id)
{
    const struct slots *slots = &local->slots;
    const bool is_common = object != NULL && object_is_words(slots->object_size);
    atomic_u64 *at = is_common ? haft_local_front_take(local, slots->view, id) : NULL;

    if (at == NULL) {
        return insert_any(local, object, id, CALLER);
    }
    object_copy_words(slots_object(at), object, slots->object_size);
    store_relaxed(OWN, at, id->bits);
    return HAFT_OK;
}

/* --- the way out --- */

uint64_t local_next_life(const haft_local *local, uint64_t word)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t next = word_next_life(format, word, MARK_END);

    return word_generation(format, next) == 0 && local->wraps ? next | format->generation_one
                                                              : next;
}

/* A life has ended, `next` comes after it: generation 1 only if generations begin again. */
static void note_wrap(haft_local *local, uint64_t next)
{
    const struct word_format *format = &local->slots.format;

    local->slots.wrapped |= word_generation(format, next) == format->generation_one;
}

/* Slot `index` has ended a life: onto the free list, or out of use after its last. */
static void settle(haft_local *local, uint64_t index, uint64_t next)
{
    const struct word_format *format = &local->slots.format;

    slots_poison(&local->slots, slots_word(&local->slots, index));
    if (word_generation(format, next) == 0) {
        store_relaxed(OWN, slots_word(&local->slots, index),
                      word_with_index(format, next, MARK_EXHAUSTED));
        local->exhausted++;
        return;
    }
    local_push(local, index, next);
}

/* Slot `index` waits for its destructor: on a stack through the slots' words, FREE at its end. */
static void push_ending(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t link = local->ending != MARK_END ? local->ending : MARK_FREE;

    assert(local->retired <= local->held && link != index);
    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, next, link));
    local->ending = index;
    local->held++;
    local->retired++;
}

static uint64_t pop_ending(haft_local *local)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = local->ending;
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    const uint64_t link = word_index(format, word);

    assert(index >= HAFT_FIRST_INDEX && index < local->used && local->retired != 0);
    local->ending = link != MARK_FREE ? link : MARK_END;
    store_relaxed(OWN, at, word_with_index(format, word, MARK_FREE));
    return index;
}

/* The id whose life came before `next` in slot `index`: generation 0, which is none, is skipped. */
static haft_id ended_life(const struct word_format *format, uint64_t next, uint64_t index)
{
    haft_id id = word_last_life(format, next, index);

    if (word_generation(format, id.bits) == 0) {
        id.bits |= format->generation_mask;
    }
    return id;
}

/* While its destructor runs, a slot is in no list. */
static void run_destructor(haft_local *local)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = pop_ending(local);
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t next = load_relaxed(OWN, at);

    local->on_destroy(slots_object(at), ended_life(format, next, index), local->destroy_arg);
    assert(load_relaxed(OWN, at) == next && "a slot whose destructor runs is no other's");
    local->retired--;
    local->held--;
    settle(local, index, next);
}

/* Run destructors that are due, and become due meanwhile: in a loop, as chains may be long. */
static void run_destructors(haft_local *local)
{
    const int cancel = os_cancel_off();
    const bool outer = local->in_callback;

    local->in_callback = true;
    while (local->ending != MARK_END) {
        run_destructor(local);
    }
    local->in_callback = outer;
    os_cancel_restore(cancel);
}

/* End the live object `id`. */
static void destroy(haft_local *local, haft_id id, const void *caller)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    const uint64_t next = local_next_life(local, id.bits);
    const bool is_nested = local->retired != 0;

    assert(local->front.count != 0 && index < local->used);
    local->front.count--;
    note_wrap(local, next);
    sites_note_death(&local->slots.sites, index, caller);
    if (local->on_destroy == NULL) {
        settle(local, index, next);
        return;
    }
    push_ending(local, index, next);
    if (!is_nested) {
        run_destructors(local);
    }
}

void haft_local_abort(haft_local *local, haft_id id)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    const uint64_t next = local_next_life(local, load_relaxed(OWN, reserved_word(local, id)));

    local->held--;
    note_wrap(local, next);
    sites_note_death(&local->slots.sites, index, CALLER);
    settle(local, index, next);
}

haft_status haft_local_free(haft_local *local, haft_id id)
{
    if (haft_local_front_put(local, local->slots.view, id)) {
        return HAFT_OK;
    }
    if (!haft_is_live(local->slots.view, id)) {
        return haft_local_diagnose(local, id);
    }
    destroy(local, id, CALLER);
    return HAFT_OK;
}

static void clear(haft_local *local, const void *caller)
{
    const int cancel = os_cancel_off(); /* once: each destructor finds it off */

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));

        if (word_index(&local->slots.format, word) == index) {
            destroy(local, (haft_id){word}, caller);
        }
    }
    os_cancel_restore(cancel);
}

void haft_local_set_destroy(haft_local *local, haft_local_destroy *on_destroy, void *destroy_arg)
{
    assert(local->retired == 0 && "not from on_destroy");
    local->on_destroy = on_destroy;
    local->destroy_arg = destroy_arg;
    local->front.generation_mask = local_mask_in_place(local);
}

haft_status haft_local_clear(haft_local *local)
{
    assert(local->held >= local->retired);
    if (local->held != local->retired) {
        return HAFT_IN_USE; /* a constructor may be writing to a reserved slot */
    }
    clear(local, CALLER);
    return HAFT_OK;
}

void haft_local_close(haft_local *local)
{
    assert(!local->in_callback && "a callback may not close its table");
    assert(load_relaxed(OWN, &local->attached) == 0 && "sides are closed before their table");
    local->mode = LOCAL_CLOSING;
    local_begin_list(local);
    leaks_report(&local->slots, local->name, local->used);
    while (local->on_destroy != NULL && local->front.count != 0) {
        clear(local, CALLER); /* once more for reservations that a destructor has published */
    }
    slots_unpoison_all(&local->slots, local->used);
    slots_close(&local->slots);
    local_free(local);
}

/* --- looking --- */

haft_status haft_local_diagnose(const haft_local *local, haft_id id)
{
    return slots_diagnose(&local->slots, id);
}

haft_status haft_local_id_at(const haft_local *local, uint64_t index, haft_id *id)
{
    return slots_id_at(&local->slots, index, id);
}

haft_range haft_local_used_range(const haft_local *local)
{
    return HAFT_RANGE(HAFT_FIRST_INDEX, local->used);
}

uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg)
{
    struct slots *slots = &local->slots;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(slots, index);
        const haft_id id = {load_relaxed(OWN, at)};

        if (word_index(&slots->format, id.bits) != index) {
            continue;
        }
        calls++;
        if (!visit(id, slots_object(at), arg)) {
            break;
        }
    }
    return calls;
}
