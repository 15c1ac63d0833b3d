/*
 * haft/kit/arena.h - memory that is freed all at once: a frame's, a request's, a job's.
 *
 *   haft_arena *arena;
 *   haft_arena_open(&(haft_arena_options){.block_size = 65536}, &arena);
 *   for (;;) {
 *       char *path = haft_arena_printf(arena, "%s/%s", directory, name);
 *       struct node *node = haft_arena_new(arena, struct node);
 *       ...
 *       haft_arena_reset(arena);
 *   }
 *
 * Allocation moves one pointer up.  Blocks of memory come from malloc or the option `allocator`;
 * with `fixed` there is only one, which may be a buffer of the caller's.  Reset keeps them for the
 * next round.
 *
 * No destructors run.  An object's resources outside of the arena leak when the arena is reset,
 * rewound or closed: file descriptors, locks, memory of malloc's.  Register what must be done with
 * haft_arena_on_reset().
 *
 * In builds with AddressSanitizer all bytes that are not allocated are poisoned, and there are
 * poisoned bytes behind each allocation: a pointer kept beyond a reset or rewind is reported.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each arena.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_ARENA_H
#define HAFT_ARENA_H

#include <haft/detail/compiler.h>
#include <haft/detail/inline.h>
#include <haft/kit/status.h>
#include <haft/memory.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What haft_arena_alloc() aligns to: enough for every basic type. */
#define HAFT_ARENA_ALIGNMENT HAFT_CAST(size_t, 16)

/* The largest alignment, a huge page. */
#define HAFT_ARENA_MAX_ALIGNMENT (HAFT_CAST(size_t, 1) << 21)

/* Bytes of a caller's buffer that the arena itself needs, at most. */
#define HAFT_ARENA_OVERHEAD HAFT_CAST(size_t, 256)

/* Only what the inline allocation needs; there is more behind it. */
typedef struct haft_arena {
    char *next;  /* the first byte not allocated in the block in use */
    char *limit; /* where the inline allocation must stop */
} haft_arena;

typedef struct haft_arena_options {
    size_t block_size;     /* bytes of the first block, up to 2^30; 0: 65,536 */
    size_t max_block_size; /* each further block has twice the bytes of the one before, up to
                              this; from block_size to 2^30; 0: 2^20, or block_size if larger */
    bool fixed;            /* never a second block */
    void *buffer;          /* the first block, with the arena itself in it, until it is closed;
                              NULL: from the allocator.  With `fixed`, nothing but the buffer is
                              ever used.  Without, block_size is that of the second block */
    size_t buffer_size;    /* its bytes, at least HAFT_ARENA_OVERHEAD; 0 without a buffer */
    const haft_allocator *allocator; /* of blocks; copied; NULL: malloc */
} haft_arena_options;

typedef struct haft_arena_stats {
    size_t used;       /* bytes allocated, with what alignment (and the sanitizer) adds */
    size_t high_water; /* the most that was ever used at once */
    size_t capacity;   /* bytes of all blocks, those kept for later among them */
} haft_arena_stats;

/* A point in the life of an arena, to rewind to. */
typedef struct haft_mark {
    void *block;
    char *next;
    void *own_blocks;
    void *clean_up;
    size_t elsewhere;
    uint64_t round;
} haft_mark;

/*
 * haft_arena_open, haft_arena_open_sized - a new arena, empty, with its first block.  `options`
 * NULL: all zero.
 *
 * Returns   HAFT_OK and the arena in `*arena`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY.
 * Progress  blocking (malloc); wait-free in a buffer.
 */
haft_status haft_arena_open_sized(const haft_arena_options *options, size_t size,
                                  haft_arena **arena);
HAFT_INLINE haft_status haft_arena_open(const haft_arena_options *options, haft_arena **arena)
{
    return haft_arena_open_sized(options, sizeof *options, arena);
}

/*
 * haft_arena_close - the end of the arena and of all that was allocated in it.  Clean-up runs as in
 * haft_arena_reset().
 *
 * Threads   one; not from a clean-up function.
 * Progress  blocking (free).
 * Cost      O(blocks), and the clean-up.
 */
void haft_arena_close(haft_arena *arena);

/* Not for programs: what haft_arena_alloc_aligned() calls when the block in use has no room. */
void *haft_arena_alloc_further(haft_arena *arena, size_t size, size_t alignment);

/*
 * haft_arena_alloc_aligned, haft_arena_alloc - `size` bytes at a multiple of `alignment`, or of
 * HAFT_ARENA_ALIGNMENT; contents undefined.  Size 0 takes one byte.
 *
 * What does not fit into the block in use goes to the next one, and the rest of the former lies
 * idle until a reset or rewind.  A size that would not fit there either gets a block of just that
 * size, and the block in use stays in use.  Blocks so made and kept are freed as they become too
 * small.
 *
 * Returns   the bytes.  NULL, and nothing has changed, if there is no memory or no room, or
 *           `alignment` is not a power of two up to HAFT_ARENA_MAX_ALIGNMENT.
 * Progress  wait-free while the block has room; else blocking (malloc).
 * Cost      O(1), inlined while the block has room; for a block of just that size O(such blocks
 *           kept).
 */
HAFT_INLINE void *haft_arena_alloc_aligned(haft_arena *arena, size_t size, size_t alignment)
{
    const size_t padding = -HAFT_BITS(uintptr_t, arena->next) & (alignment - 1);
    const size_t room = HAFT_CAST(size_t, arena->limit - arena->next);

    /* Size 0 is one of the cases for the function: size - 1 is larger than any room. */
    if ((alignment & (alignment - 1)) == 0 && alignment <= HAFT_ARENA_MAX_ALIGNMENT &&
        padding < room && size - 1 < room - padding) {
        char *memory = arena->next + padding;

        arena->next = memory + size;
        return memory;
    }
    return haft_arena_alloc_further(arena, size, alignment);
}

HAFT_INLINE void *haft_arena_alloc(haft_arena *arena, size_t size)
{
    return haft_arena_alloc_aligned(arena, size, HAFT_ARENA_ALIGNMENT);
}

/*
 * haft_arena_alloc_array, haft_arena_alloc_zeroed - `count` times `size` bytes, aligned to
 * HAFT_ARENA_ALIGNMENT; contents undefined, or zeros.  A product larger than a size_t gets NULL.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc(), and the zeros.
 */
void *haft_arena_alloc_array(haft_arena *arena, size_t count, size_t size);
void *haft_arena_alloc_zeroed(haft_arena *arena, size_t count, size_t size);

/* Room for one object of a type, or for `count` of them, as a pointer to it; NULL as above. */
#define haft_arena_new(arena, type)                                                                \
    ((type *)haft_arena_alloc_aligned(arena, sizeof(type), HAFT_ALIGNOF(type)))
#define haft_arena_new_array(arena, type, count)                                                   \
    ((type *)haft_arena_resize_array(arena, NULL, 0, count, sizeof(type), HAFT_ALIGNOF(type)))

/*
 * haft_arena_resize - another size for an allocation.  The last one grows and shrinks in place
 * while the block has room; bytes shrunk off are free again, unless a mark was set behind them.
 * Any other shrinks in place, which frees nothing, and grows by moving.  Arguments are those of a
 * haft_allocator's resize.
 *
 * Returns   the allocation, its first min(old_size, new_size) bytes kept.  NULL as
 *           haft_arena_alloc_aligned(); the allocation is as it was then.
 * Progress  as haft_arena_alloc().
 * Cost      O(1) in place; else as haft_arena_alloc() and the copy.
 */
void *haft_arena_resize(haft_arena *arena, void *memory, size_t old_size, size_t new_size,
                        size_t alignment);

/*
 * haft_arena_resize_array - haft_arena_resize() from `old_count` to `new_count` times `size`.  A
 * product larger than a size_t gets NULL.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_resize().
 */
void *haft_arena_resize_array(haft_arena *arena, void *memory, size_t old_count, size_t new_count,
                              size_t size, size_t alignment);

/*
 * haft_arena_copy, haft_arena_strdup, haft_arena_strndup - a copy in the arena, or NULL: of `size`
 * bytes, aligned to HAFT_ARENA_ALIGNMENT; of a string; of at most the first `most` bytes of a
 * string, with a zero behind them.  `bytes` may be NULL if `size` is 0.
 *
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc(), and the copy.
 */
void *haft_arena_copy(haft_arena *arena, const void *bytes, size_t size);
char *haft_arena_strdup(haft_arena *arena, const char *text);
char *haft_arena_strndup(haft_arena *arena, const char *text, size_t most);

/*
 * haft_arena_printf, haft_arena_vprintf - a formatted string in the arena, or NULL, also if printf
 * refuses the format or an argument.  Arguments may lie in the arena themselves.
 *
 * Progress  as haft_arena_alloc().
 * Cost      formatting; twice only if the block in use has no room.
 */
char *haft_arena_printf(haft_arena *arena, const char *format, ...) HAFT_PRINTF(2, 3);
char *haft_arena_vprintf(haft_arena *arena, const char *format, va_list arguments)
    HAFT_PRINTF(2, 0);

/*
 * haft_arena_mark - this moment, for haft_arena_rewind(): good until the arena is reset, closed or
 * rewound to an earlier mark.  Marks nest, and need not be used.
 */
haft_mark haft_arena_mark(haft_arena *arena);

/*
 * haft_arena_rewind - free all that was allocated since the mark, after the clean-up registered
 * since then.  An earlier allocation that has grown since has its old place and size again.  The
 * mark may be used again.
 *
 * Threads   one; not from a clean-up function.
 * Progress  wait-free except for the clean-up.
 * Cost      O(1 + blocks of one allocation each that are freed), and the clean-up.
 */
void haft_arena_rewind(haft_arena *arena, haft_mark mark);

/*
 * haft_arena_reset - free all allocations, after the clean-up.  All blocks are kept, and used again
 * in the same order.
 *
 * Threads   one; not from a clean-up function.
 * Progress  wait-free except for the clean-up.
 * Cost      O(1), and the clean-up; with AddressSanitizer O(bytes).
 */
void haft_arena_reset(haft_arena *arena);

/*
 * haft_arena_on_reset - call `clean_up(arg)` (NULL: nothing) once, when the arena is reset, closed,
 * or rewound to a mark set before this call.  The function registered last runs first, while all
 * earlier allocations are there.  It may allocate and register; it may not reset, rewind or close
 * this arena.
 *
 * Returns   HAFT_OK, or HAFT_NO_MEMORY: no room for the note, which lies in the arena.
 * Progress  as haft_arena_alloc().
 * Cost      as haft_arena_alloc() of three pointers.
 */
haft_status haft_arena_on_reset(haft_arena *arena, void (*clean_up)(void *arg), void *arg);

/*
 * haft_arena_trim - free all empty blocks except the first, the one in use and those before it.
 *
 * Progress  blocking (free).
 * Cost      O(blocks freed).
 */
void haft_arena_trim(haft_arena *arena);

/* haft_arena_stats_get - bytes in use, the most ever in use, and those of all blocks. */
haft_arena_stats haft_arena_stats_get(const haft_arena *arena);

/*
 * haft_arena_allocator - the arena as a haft_allocator, until it is closed.  Its resize is
 * haft_arena_resize(); its free frees the last allocation, unless a mark was set behind it, while
 * any other waits for a reset or rewind.
 *
 * Progress  wait-free; its functions as haft_arena_alloc().
 */
haft_allocator haft_arena_allocator(haft_arena *arena);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_ARENA_H */
