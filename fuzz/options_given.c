/* Options of any value for what lies in memory of the program's own: local, shared, domain. */
#include "fuzz/options.h"
#include <haft/table.h>
#include <haft/urcu.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GIVEN (UINT64_C(1) << 20) /* bytes: sanitizers touch them all */
#define MOST_WORKERS (UINT64_C(1) << 20)
#define GARBAGE 0xa5

/* Exactly `size` bytes at an odd address, behind and before which AddressSanitizer looks. */
struct memory {
    char *block;
    char *at;
    uint64_t size;
};

static struct memory take_memory(uint64_t size)
{
    char *block = malloc((size_t)size + 1);

    must(block != NULL, "memory to give");
    memset(block, GARBAGE, (size_t)size + 1);
    return (struct memory){block, block + 1, size};
}

static bool is_untouched(const struct memory *memory)
{
    for (uint64_t i = 0; i < memory->size; i++) {
        if ((unsigned char)memory->at[i] != GARBAGE) {
            return false;
        }
    }
    return true;
}

/* A byte too few is refused, and not touched. */
#define MUST_NEED_ALL(open, options, memory, opened)                                               \
    do {                                                                                           \
        (options).memory = (memory).at;                                                            \
        (options).memory_size = (memory).size - 1;                                                 \
        must((open) == HAFT_NO_MEMORY && (opened) == NULL, "a byte too few");                      \
        must(is_untouched(&(memory)), "what is too little is not touched");                        \
        (options).memory_size = (memory).size;                                                     \
        must((open) == HAFT_OK, "the footprint is enough");                                        \
    } while (0)

/* --- haft_local --- */

static haft_local_options local_options(const struct values *values)
{
    return (haft_local_options){
        .capacity = values->capacity,
        .object_size = (size_t)values->object_size,
        .object_alignment = (size_t)values->object_alignment,
        .layout = values->layout,
        .tag = values->tag,
        .first_generation = values->first_generation,
        .random_first_generation = values->random_first_generation,
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
    haft_footprint footprint = {.bytes = GARBAGE, .capacity = GARBAGE};
    haft_local *local = NULL;
    char small[16];
    const haft_status said = haft_local_footprint(&options, &footprint);

    options.memory = small;
    options.memory_size = sizeof small;
    const haft_status opened = haft_local_open(&options, &local);

    tell_answer("local_footprint", said);
    must(opened == (said == HAFT_OK ? HAFT_NO_MEMORY : said) && local == NULL,
         "opening says of an option what the footprint says");
    must(said == HAFT_OK || footprint.bytes == GARBAGE, "local_footprint leaves it alone");
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

/* --- haft_table --- */

static haft_table_options table_options(const struct values *values)
{
    return (haft_table_options){
        .capacity = values->capacity,
        .object_size = (size_t)values->object_size,
        .object_alignment = (size_t)values->object_alignment,
        .layout = values->layout,
        .tag = values->tag,
        .first_generation = values->first_generation,
        .random_first_generation = values->random_first_generation,
        .sites = values->keep_order,
        .wrap = values->wrap,
        .pins = values->pins,
        .waiting_bytes = values->waiting_bytes,
        .never_wait = values->never_wait,
        .workers = values->workers,
        .hold_back = values->hold_back,
    };
}

/* All declared workers, of a few: each has a slot, or is told that there is none. */
static void use_given_table(haft_table *table, uint64_t workers)
{
    haft_worker *opened[8];
    const uint64_t count = workers == 0 ? 1 : workers < 8 ? workers : 8;
    haft_id id;

    for (uint64_t i = 0; i < count; i++) {
        must(haft_worker_open(table, &opened[i]) == HAFT_OK, "worker_open");
        const haft_status said = haft_insert(opened[i], NULL, &id);

        must(said == HAFT_OK || said == HAFT_FULL || said == HAFT_BUSY, "insert");
        must(said != HAFT_OK || haft_free(opened[i], id) == HAFT_OK, "free");
    }
    haft_worker *more = NULL;

    must(workers > 8 || (haft_worker_open(table, &more) == HAFT_NO_MEMORY && more == NULL),
         "a worker more than declared");
    for (uint64_t i = 0; i < count; i++) {
        must(haft_worker_close(opened[i]) == HAFT_OK, "worker_close");
    }
    must(haft_table_close(table) == HAFT_OK, "table_close");
}

/* The capacity of a footprint needs no more, with the same slots to hold back. */
static void check_table_capacity(haft_table_options options, const haft_footprint *footprint)
{
    haft_footprint other;

    must(footprint->capacity >= options.capacity, "the capacity that fills the memory");
    options.capacity = footprint->capacity;
    must(haft_table_footprint(&options, &other) == HAFT_OK && other.bytes == footprint->bytes,
         "the capacity of a footprint");
}

static void try_given_table(const struct values *values)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    haft_table_options options = table_options(values);
    haft_footprint footprint = {.bytes = GARBAGE, .capacity = GARBAGE};
    haft_domain *domain;
    haft_table *table = NULL;
    char small[16];
    const haft_status said = haft_table_footprint(&options, &footprint);

    must(haft_domain_open(&frames, &domain) == HAFT_OK, "domain_open");
    options.memory = small;
    options.memory_size = sizeof small;
    const haft_status opened = haft_table_open(domain, &options, &table);

    tell_answer("table_footprint", said);
    must(opened == (said == HAFT_OK ? HAFT_NO_MEMORY : said) && table == NULL,
         "opening says of an option what the footprint says");
    must(said == HAFT_OK || footprint.bytes == GARBAGE, "table_footprint leaves it alone");
    must(said != HAFT_OK || values->workers <= MOST_WORKERS, "workers beyond the most");
    if (said == HAFT_OK) {
        check_table_capacity(options, &footprint);
    }
    if (said == HAFT_OK && footprint.bytes <= MOST_GIVEN) {
        struct memory memory = take_memory(footprint.bytes);

        MUST_NEED_ALL(haft_table_open(domain, &options, &table), options, memory, table);
        use_given_table(table, values->workers);
        free(memory.block);
    }
    must(haft_domain_close(domain) == HAFT_OK, "domain_close");
}

/* --- haft_domain --- */

static void try_given_domain(const struct values *values)
{
    haft_domain_options options = {
        .foreign_clock = values->gives_flavour ? haft_urcu_memb() : NULL,
        .clock = (haft_clock)values->clock,
        .threads = values->threads,
    };
    const bool is_foreign =
        values->clock == HAFT_CLOCK_THREAD || values->clock == HAFT_CLOCK_CALLER;
    const haft_status expected = values->clock >= HAFT_CLOCK_COUNT     ? HAFT_BAD_CLOCK
                                 : is_foreign != values->gives_flavour ? HAFT_BAD_FOREIGN_CLOCK
                                 : is_foreign                          ? HAFT_BAD_CLOCK
                                                                       : HAFT_OK;
    haft_footprint footprint = {.bytes = GARBAGE, .capacity = GARBAGE};
    haft_domain *domain = NULL;
    const haft_status said = haft_domain_footprint(&options, &footprint);

    tell_answer("domain_footprint", said);
    must(said == expected || (said == HAFT_NO_MEMORY && values->threads > SIZE_MAX / 128),
         "domain_footprint");
    must(said == HAFT_OK || footprint.bytes == GARBAGE, "domain_footprint leaves it alone");
    if (said == HAFT_OK && footprint.bytes <= MOST_GIVEN) {
        struct memory memory = take_memory(footprint.bytes);

        MUST_NEED_ALL(haft_domain_open(&options, &domain), options, memory, domain);
        must(haft_domain_close(domain) == HAFT_OK, "domain_close");
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
    try_given_table(values);
    try_given_domain(values);
    try_size_alone();
    return 4;
}
