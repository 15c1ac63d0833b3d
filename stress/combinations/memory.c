/*
 * Memory of a play: the allocators that it may give the library, and what the system refuses.
 */
#include "stress/combinations/memory.h"
#include <haft/kit/arena.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* --- an allocator that checks sizes and counts blocks, which are dirty before and after --- */

#define REFUSED_IN 3 /* while the system refuses memory, every third block is not to be had */

static struct {
    _Atomic(uint64_t) taken; /* blocks, in this play */
    _Atomic(uint64_t) back;
    uint32_t asked; /* while the system refuses memory */
} heap_blocks;

static size_t heap_lead(size_t alignment)
{
    return alignment > sizeof(uint64_t) * 2 ? alignment : sizeof(uint64_t) * 2;
}

/* The size and the lead stand before the block. */
static void *heap_alloc(void *context, size_t size, size_t alignment)
{
    const haft_allocator from = haft_allocator_malloc();
    const size_t lead = heap_lead(alignment);

    (void)context;
    if (play.memory_is_refused && heap_blocks.asked++ % REFUSED_IN == 0) {
        return NULL;
    }
    char *whole = from.alloc(from.context, lead + size, lead);

    if (whole == NULL) {
        return NULL;
    }
    atomic_fetch_add_explicit(&heap_blocks.taken, 1, memory_order_relaxed);
    memset(whole, 0xff, lead + size);
    ((uint64_t *)(void *)(whole + lead))[-1] = size;
    ((uint64_t *)(void *)(whole + lead))[-2] = lead;
    return whole + lead;
}

static void heap_free(void *context, void *block, size_t size)
{
    const haft_allocator from = haft_allocator_malloc();

    (void)context;
    if (block == NULL) {
        return;
    }
    const uint64_t kept = ((uint64_t *)block)[-1];
    const size_t lead = (size_t)((uint64_t *)block)[-2];

    if (kept != size) {
        fail("allocator", "a block of %" PRIu64 " bytes is freed as %zu", kept, size);
    }
    atomic_fetch_add_explicit(&heap_blocks.back, 1, memory_order_relaxed);
    memset(block, 0xff, size);
    from.free(from.context, (char *)block - lead, lead + size);
}

static void *heap_resize(void *context, void *block, size_t size, size_t new_size, size_t alignment)
{
    void *moved = heap_alloc(context, new_size, alignment);

    if (moved != NULL && block != NULL) {
        memcpy(moved, block, size < new_size ? size : new_size);
        heap_free(context, block, size);
    }
    return moved;
}

static const haft_allocator heap = {.alloc = heap_alloc, .resize = heap_resize, .free = heap_free};

/*
 * --- a block, which is as earlier plays have left it ---
 *
 * Room for each table that a play opens, one behind the other: while the domain is open, a closed
 * table's memory may not come back.  Plans with a block have no large objects.
 */

#define BLOCK_BYTES ((size_t)1 << 30)

static haft_allocator block_of_play;

static void begin_block(void)
{
    static void *memory;

    if (memory == NULL) {
        memory = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        require_that(memory != MAP_FAILED, "mmap");
    }
    block_of_play = haft_allocator_block(memory, BLOCK_BYTES);
}

static void end_block(void)
{
    if (block_of_play.alloc(block_of_play.context, BLOCK_BYTES - 64, 1) == NULL) {
        fail("blocks were not given back", "not all of the play's block is free");
    }
}

const haft_allocator *heap_of_plan(void)
{
    return play.plan->options.heap == 0   ? NULL
           : play.plan->options.heap == 1 ? &heap
                                          : &block_of_play;
}

/* --- the play --- */

void begin_memory(void)
{
    memset(&heap_blocks, 0, sizeof heap_blocks);
    begin_block();
}

void end_memory(void)
{
    end_block();
    if (word_in(&heap_blocks.taken) != word_in(&heap_blocks.back)) {
        fail("blocks were not given back", "%" PRIu64 " of %" PRIu64,
             word_in(&heap_blocks.taken) - word_in(&heap_blocks.back), word_in(&heap_blocks.taken));
    }
}

/* --- the system --- */

/* A limit of 1 and not of 0, with which Linux grants what the hard limit allows. */
void set_memory_refused(bool refused)
{
    static rlim_t most;
    struct rlimit limit;

    if (refused == play.memory_is_refused) {
        return;
    }
    require_that(getrlimit(RLIMIT_DATA, &limit) == 0, "getrlimit");
    most = refused ? limit.rlim_cur : most;
    limit.rlim_cur = refused ? 1 : most;
    require_that(setrlimit(RLIMIT_DATA, &limit) == 0, "setrlimit");
    play.memory_is_refused = refused;
}

bool lacks_memory(haft_status status)
{
    return status == HAFT_NO_MEMORY && play.memory_is_refused;
}
