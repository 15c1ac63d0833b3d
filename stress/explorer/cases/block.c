/*
 * An allocator over a block: its parts have one owner after the other.
 */
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>

#define PART_BYTES 16

static haft_allocator block;

static void set_up(void)
{
    static _Alignas(16) char memory[3 * PART_BYTES]; /* two parts, and the allocator's own bytes */

    block = haft_allocator_block(memory, sizeof memory);
}

static void use_part(uint32_t thread)
{
    char *part = block.alloc(block.context, PART_BYTES, 1);

    if (part != NULL) {
        part[0] = (char)thread;
        require(part[0] == (char)thread, "a part has two owners");
        block.free(block.context, part, PART_BYTES);
    }
}

static void body(uint32_t thread)
{
    race_begin();
    use_part(thread);
    use_part(thread);
    race_end();
}

static void tear_down(void)
{
    void *all = block.alloc(block.context, 2 * PART_BYTES, 1);

    require(all != NULL, "parts that were freed are not free");
}

EXPLORE(block, 3, set_up, body, tear_down,
        "a part of a block has one owner, and is free when that has freed it");
