/* haft_arena: allocation, marks, clean-up.  The struct and its blocks: kit/local/arena/state.h. */
#include "kit/local/arena/arena_blocks.h"
#include "kit/local/status/kit_status.h"
#include "lib/base/compiler.h"
#include "lib/base/heap.h"
#include "lib/base/sized.h"
#include <assert.h>
#include <string.h>

#define DEFAULT_BLOCK_SIZE ((size_t)1 << 16)
#define DEFAULT_MAX_BLOCK_SIZE ((size_t)1 << 20)
#define LARGEST_BLOCK_SIZE ((size_t)1 << 30)

/* The arena's own bytes, in front of its first block's. */
#define RECORD                                                                                     \
    ((sizeof(struct arena) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

_Static_assert(RECORD + HAFT_ARENA_ALIGNMENT - 1 <= HAFT_ARENA_OVERHEAD, "it fits any buffer");
_Static_assert(_Alignof(max_align_t) <= HAFT_ARENA_ALIGNMENT, "enough for every basic type");

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* --- opening and closing --- */

/* Checks the options and puts them, with their defaults, into `arena`. */
static haft_status take_options(struct arena *arena, const haft_arena_options *options)
{
    const size_t size = options->block_size != 0 ? options->block_size : DEFAULT_BLOCK_SIZE;
    const size_t most = options->max_block_size != 0 ? options->max_block_size
                                                     : larger(size, DEFAULT_MAX_BLOCK_SIZE);

    if (size > LARGEST_BLOCK_SIZE) {
        return kit_status(HAFT_BAD_BLOCK_SIZE);
    }
    if (most < size || most > LARGEST_BLOCK_SIZE) {
        return kit_status(HAFT_BAD_MAX_BLOCK_SIZE);
    }
    if (options->buffer != NULL ? options->buffer_size < HAFT_ARENA_OVERHEAD
                                : options->buffer_size != 0) {
        return kit_status(HAFT_BAD_BUFFER_SIZE);
    }
    *arena = (struct arena){
        .block_size = size,
        .max_block_size = most,
        .fixed = options->fixed,
        .allocator = options->allocator != NULL ? *options->allocator : haft_allocator_malloc(),
    };
    return HAFT_OK;
}

/* The memory of the arena itself and of its first block, which `first` then describes. */
static char *first_memory(const struct arena *arena, const haft_arena_options *options,
                          struct block *first)
{
    char *memory = options->buffer;
    size_t bytes = options->buffer_size;

    if (memory != NULL) {
        const size_t padding = arena_padding(memory, HAFT_ARENA_ALIGNMENT);

        memory += padding;
        bytes -= padding;
    } else {
        bytes = RECORD + arena->block_size;
        first->size = bytes;
        memory = heap_take(&arena->allocator, bytes, HAFT_ARENA_ALIGNMENT);
    }
    if (memory != NULL) {
        first->base = memory + RECORD;
        first->end = memory + bytes;
    }
    return memory;
}

static haft_status new_arena(const haft_arena_options *options, haft_arena **arena)
{
    struct arena made;
    const haft_status status = take_options(&made, options);

    if (status != HAFT_OK) {
        return status;
    }
    struct arena *opened = (struct arena *)(void *)first_memory(&made, options, &made.first);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = made;
    opened->block = &opened->first;
    opened->pinned = opened->first.base;
    opened->capacity = (size_t)(opened->first.end - opened->first.base);
    asan_poison(opened->first.base, opened->capacity);
    arena_set_next(opened, opened->first.base);
    *arena = &opened->head;
    return HAFT_OK;
}

haft_status haft_arena_open_sized(const haft_arena_options *options, size_t size,
                                  haft_arena **arena)
{
    haft_arena_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? new_arena(&known, arena) : status;
}

void haft_arena_close(haft_arena *head)
{
    struct arena *arena = arena_of(head);
    const haft_allocator from = arena->allocator;
    const size_t size = arena->first.size;

    haft_arena_reset(head);
    haft_arena_trim(head);
    asan_unpoison(arena->first.base, (size_t)(arena->first.end - arena->first.base));
    if (size != 0) {
        heap_give(&from, arena, size);
    }
}

/* --- allocation --- */

static bool arena_extent(size_t size, size_t *extent)
{
    if (size > PTRDIFF_MAX / 2) {
        return false;
    }
    if (asan_is_on()) {
        *extent = (size + ASAN_GRANULE - 1) / ASAN_GRANULE * ASAN_GRANULE + ASAN_REDZONE;
    } else {
        *extent = larger(size, 1);
    }
    return true;
}

/* Alignment that is possible, and that suits the sanitizer; 0 if there is none. */
static size_t usable_alignment(size_t alignment)
{
    if ((alignment & (alignment - 1)) != 0 || alignment > HAFT_ARENA_MAX_ALIGNMENT) {
        return 0;
    }
    return asan_is_on() && alignment != 0 ? larger(alignment, ASAN_GRANULE) : alignment;
}

/* From the block in use; NULL if it has no room. */
static char *take_here(struct arena *arena, size_t extent, size_t alignment)
{
    const size_t padding = arena_padding(arena->head.next, alignment);
    const size_t room = (size_t)(arena->block->end - arena->head.next);

    if (padding > room || extent > room - padding) {
        return NULL;
    }
    char *at = arena->head.next + padding;

    arena_set_next(arena, at + extent);
    return at;
}

void *haft_arena_alloc_further(haft_arena *head, size_t size, size_t alignment)
{
    struct arena *arena = arena_of(head);
    const size_t usable = usable_alignment(alignment);
    size_t extent;

    if (usable == 0 || !arena_extent(size, &extent)) {
        return NULL;
    }
    char *at = take_here(arena, extent, usable);

    if (at == NULL) {
        at = arena_take_elsewhere(arena, extent, usable);
    }
    if (at != NULL) {
        asan_unpoison(at, size);
    }
    return at;
}

void *haft_arena_alloc_array(haft_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    return multiply_overflows(count, size, &bytes) ? NULL : haft_arena_alloc(arena, bytes);
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

static bool is_last(const struct arena *arena, const char *memory, size_t extent)
{
    return (uintptr_t)memory + extent == (uintptr_t)arena->head.next;
}

/* Allocation goes on at `next`, further down, or where a mark keeps it. */
static void fall_back(struct arena *arena, char *next)
{
    arena_note_high_water(arena);
    arena_set_next(arena, next > arena->pinned ? next : arena->pinned);
}

/* False if the allocation, which ends where the free bytes begin, cannot get so large there. */
static bool resize_last(struct arena *arena, char *memory, size_t extent)
{
    char *next = arena->head.next;

    if (extent > (size_t)(arena->block->end - memory)) {
        return false;
    }
    if (memory + extent < next) {
        fall_back(arena, memory + extent);
    } else {
        arena_set_next(arena, memory + extent);
    }
    return true;
}

/* Whether it is certain that no mark was set since the allocation, so that no rewind revives it. */
static bool is_behind_marks(const struct arena *arena, const char *memory)
{
    const uintptr_t pinned = (uintptr_t)arena->pinned;

    return !arena->marked || (uintptr_t)memory - pinned < (uintptr_t)arena->head.next - pinned;
}

static void *move(struct arena *arena, void *memory, size_t old_size, size_t new_size,
                  size_t alignment)
{
    const bool has_ended = is_behind_marks(arena, memory);
    void *moved = haft_arena_alloc_aligned(&arena->head, new_size, alignment);

    if (moved != NULL) {
        memcpy(moved, memory, old_size);
    }
    if (moved != NULL && has_ended) {
        asan_poison(memory, old_size);
    }
    return moved;
}

void *haft_arena_resize(haft_arena *head, void *memory, size_t old_size, size_t new_size,
                        size_t alignment)
{
    struct arena *arena = arena_of(head);
    size_t old_extent;
    size_t extent;

    if (memory == NULL) {
        assert(old_size == 0 && "NULL has no bytes");
        return haft_arena_alloc_aligned(head, new_size, alignment);
    }
    if (!arena_extent(old_size, &old_extent) || !arena_extent(new_size, &extent)) {
        return NULL;
    }
    const bool in_place = is_last(arena, memory, old_extent) ? resize_last(arena, memory, extent)
                                                             : new_size <= old_size;
    if (!in_place) {
        return move(arena, memory, old_size, new_size, alignment);
    }
    if (new_size > old_size) {
        asan_unpoison(memory, new_size);
    } else if (is_behind_marks(arena, memory)) {
        asan_poison((char *)memory + new_size, old_size - new_size);
    }
    return memory;
}

void *haft_arena_resize_array(haft_arena *arena, void *memory, size_t old_count, size_t new_count,
                              size_t size, size_t alignment)
{
    size_t bytes;

    if (multiply_overflows(new_count, size, &bytes)) {
        return NULL;
    }
    return haft_arena_resize(arena, memory, old_count * size, bytes, alignment);
}

/* --- marks, resets --- */

/* Runs the functions registered since `until`, and those that they register; newest first. */
static void clean_up_until(struct arena *arena, const struct clean_up *until)
{
    assert(!arena->cleaning && "a clean-up function may not reset, rewind or close");
    arena->cleaning = true;
    while (arena->clean_up != until) {
        const struct clean_up *now = arena->clean_up;

        arena->clean_up = now->before;
        now->function(now->arg);
    }
    arena->cleaning = false;
}

haft_status haft_arena_on_reset(haft_arena *head, void (*clean_up)(void *arg), void *arg)
{
    struct arena *arena = arena_of(head);

    if (clean_up == NULL) {
        return HAFT_OK;
    }
    struct clean_up *note = haft_arena_new(head, struct clean_up);

    if (note == NULL) {
        return HAFT_NO_MEMORY;
    }
    *note = (struct clean_up){arena->clean_up, clean_up, arg};
    arena->clean_up = note;
    return HAFT_OK;
}

haft_mark haft_arena_mark(haft_arena *head)
{
    struct arena *arena = arena_of(head);

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
    struct arena *arena = arena_of(head);

    assert(mark.round == arena->round && "a mark holds until the next reset");
    clean_up_until(arena, mark.clean_up);
    arena_note_high_water(arena);
    arena_keep_own(arena, mark.own_blocks);
    arena->block = mark.block;
    arena->elsewhere = mark.elsewhere;
    arena->pinned = mark.next;
    arena_set_next(arena, mark.next);
    arena_poison_from(arena->block, mark.next);
}

void haft_arena_reset(haft_arena *head)
{
    struct arena *arena = arena_of(head);

    clean_up_until(arena, NULL);
    arena_note_high_water(arena);
    arena_keep_all_own(arena);
    arena->block = &arena->first;
    arena->elsewhere = 0;
    arena->pinned = arena->first.base;
    arena->marked = false;
    arena->round++;
    arena_set_next(arena, arena->first.base);
    arena_poison_from(arena->block, arena->first.base);
}

void haft_arena_trim(haft_arena *head)
{
    arena_free_spare(arena_of(head));
}

haft_arena_stats haft_arena_stats_get(const haft_arena *head)
{
    const struct arena *arena = (const struct arena *)(const void *)head;
    const size_t used = arena_used(arena);

    return (haft_arena_stats){used, larger(used, arena->high_water), arena->capacity};
}

/* --- as an allocator --- */

static void *allocator_alloc(void *context, size_t size, size_t alignment)
{
    return haft_arena_alloc_aligned(context, size, alignment);
}

static void *allocator_resize(void *context, void *memory, size_t old_size, size_t new_size,
                              size_t alignment)
{
    return haft_arena_resize(context, memory, old_size, new_size, alignment);
}

static void allocator_free(void *context, void *memory, size_t size)
{
    struct arena *arena = arena_of(context);
    size_t extent;

    if (memory == NULL || !arena_extent(size, &extent)) {
        return;
    }
    asan_poison(memory, size);
    if (is_last(arena, memory, extent)) {
        fall_back(arena, memory);
    }
}

haft_allocator haft_arena_allocator(haft_arena *arena)
{
    return (haft_allocator){allocator_alloc, allocator_resize, allocator_free, arena};
}
