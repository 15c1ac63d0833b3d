/* Options of any value for a haft_local in memory of the program's own. */
#include "fuzz/options.h"
#include <stdlib.h>
#include <string.h>

struct memory take_memory(uint64_t size)
{
    char *block = malloc((size_t)size + 1);

    must(block != NULL, "memory to give");
    memset(block, UNTOUCHED, (size_t)size + 1);
    return (struct memory){block, block + 1, size};
}

bool is_untouched(const struct memory *memory)
{
    for (uint64_t i = 0; i < memory->size; i++) {
        if ((unsigned char)memory->at[i] != UNTOUCHED) {
            return false;
        }
    }
    return true;
}

/* --- haft_local --- */

static haft_local_options local_options(const struct values *values)
{
    return (haft_local_options){
        COMMON_OPTIONS_OF(values),
        .sites = values->never_wait,
        .reuse = (haft_local_reuse)values->reuse,
        .min_free = values->min_free,
        .wrap = values->wrap,
        .pins = values->pins,
        .will_share = values->keep_order,
    };
}

/* The capacity of a footprint needs no more, and one more object does, if it is possible. */
static void check_local_capacity(haft_local_options options, const haft_footprint *footprint)
{
    haft_footprint other;

    must(footprint->capacity >= options.capacity, "the capacity that fills the memory");
    options.capacity = footprint->capacity;
    must(haft_local_footprint(&options, &other) == HAFT_OK && other.bytes == footprint->bytes,
         "the capacity of a footprint");
    options.capacity++;
    must(haft_local_footprint(&options, &other) != HAFT_OK || other.bytes > footprint->bytes,
         "the highest capacity of a footprint");
}

/* As many objects as there is said to be room for. */
static void fill_local(haft_local *local)
{
    haft_id id;

    while (haft_local_available(local) != 0) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK, "insert");
        must(haft_is_live(haft_local_view(local), id), "is_live");
    }
    haft_local_clear(local);
    haft_local_close(local);
}

static void try_given_local(const struct values *values)
{
    haft_local_options options = local_options(values);
    haft_footprint footprint = {.bytes = UNTOUCHED, .capacity = UNTOUCHED};
    haft_local *local = NULL;
    char small[16];
    const haft_status said = haft_local_footprint(&options, &footprint);

    options.memory = small;
    options.memory_size = sizeof small;
    const haft_status opened = haft_local_open(&options, &local);

    tell_answer("local_footprint", said);
    must(opened == (said == HAFT_OK ? HAFT_NO_MEMORY : said) && local == NULL,
         "opening says of an option what the footprint says");
    must(said == HAFT_OK || footprint.bytes == UNTOUCHED, "local_footprint leaves it alone");
    if (said != HAFT_OK) {
        return;
    }
    check_local_capacity(options, &footprint);
    if (footprint.bytes <= MOST_GIVEN) {
        struct memory memory = take_memory(footprint.bytes);

        MUST_NEED_ALL(haft_local_open(&options, &local), options, memory, local);
        fill_local(local);
        free(memory.block);
    }
}

/* A size without memory is none. */
static void try_size_alone(void)
{
    const haft_local_options options = {.capacity = 1, .memory_size = 1 << 20};
    haft_local *local = NULL;

    must(haft_local_open(&options, &local) == HAFT_NO_MEMORY && local == NULL,
         "a size without memory");
}

uint64_t try_given(const struct values *values)
{
    try_given_local(values);
    try_size_alone();
    return 2;
}
