/*
 * arena_stale.c - uses arena memory wrongly in the way that is named; AddressSanitizer must
 * report it.  Without the sanitizer each of these touches memory that is the arena's still.
 *
 * Usage: arena_stale [<way>]; without one it lists them
 */
#include <haft/kit/arena.h>
#include <stdio.h>
#include <string.h>

#define SIZE 20 /* no multiple of a granule */

/* The last byte of an allocation that is too large for the chain's blocks. */
static const char *in_own_block(haft_arena *arena, const char *way)
{
    const haft_mark mark = haft_arena_mark(arena);
    const char *bytes = haft_arena_alloc_zeroed(arena, 1, 100000);

    if (strcmp(way, "own") == 0) {
        haft_arena_rewind(arena, mark);
    } else if (strcmp(way, "own_reset") == 0) {
        haft_arena_reset(arena);
    } else {
        return NULL;
    }
    return bytes + 99999;
}

/* Some address that may not be read any more; NULL for unknown words. */
static const char *wrong_address(haft_arena *arena, const char *way)
{
    const haft_allocator from = haft_arena_allocator(arena);
    const haft_mark mark = haft_arena_mark(arena);
    char *bytes = haft_arena_alloc(arena, SIZE);

    memset(bytes, 1, SIZE);
    if (strcmp(way, "reset") == 0) {
        haft_arena_reset(arena);
    } else if (strcmp(way, "rewind") == 0) {
        haft_arena_rewind(arena, mark);
    } else if (strcmp(way, "behind") == 0) {
        haft_arena_alloc(arena, SIZE);
        return bytes + SIZE;
    } else if (strcmp(way, "shrunk") == 0) {
        haft_arena_resize(arena, bytes, SIZE, SIZE / 2, HAFT_ARENA_ALIGNMENT);
        return bytes + SIZE / 2;
    } else if (strcmp(way, "freed") == 0) {
        haft_arena_alloc(arena, SIZE);
        from.free(arena, bytes, SIZE);
    } else if (strcmp(way, "moved") == 0) {
        haft_arena_alloc(arena, SIZE);
        haft_arena_resize(arena, bytes, SIZE, 2 * SIZE, HAFT_ARENA_ALIGNMENT);
    } else if (strcmp(way, "cut") == 0) { /* to its old size, by a rewind */
        const haft_mark behind = haft_arena_mark(arena);

        haft_arena_resize(arena, bytes, SIZE, 10 * SIZE, HAFT_ARENA_ALIGNMENT);
        haft_arena_rewind(arena, behind);
        return bytes + 24; /* a granule's begin */
    } else if (strncmp(way, "own", 3) == 0) {
        return in_own_block(arena, way);
    } else if (strcmp(way, "block") == 0) { /* the second one */
        bytes = haft_arena_alloc_zeroed(arena, 1, 1500);
        haft_arena_reset(arena);
    } else if (strcmp(way, "text") == 0) {
        const char *text = haft_arena_printf(arena, "%s", "twenty-one characters");

        return text + strlen(text) + 1;
    } else {
        return NULL;
    }
    return bytes;
}

int main(int argc, char **argv)
{
    const haft_arena_options options = {.block_size = 1024, .max_block_size = 2048};
    haft_arena *arena;

    if (argc == 1) {
        puts("reset rewind behind shrunk freed moved cut own own_reset block text");
        return 0;
    }
    if (haft_arena_open(&options, &arena) != HAFT_OK) {
        return 2;
    }
    const char *address = wrong_address(arena, argv[1]);

    if (address == NULL) {
        return 2;
    }
    printf("read %d\n", *address);
    haft_arena_close(arena);
    return 0;
}
