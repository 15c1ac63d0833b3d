/* A local table in memory of the program's: static, on huge pages, a console's heap. */
#include "tests/support.h"
#include <haft/share.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(given, .timeout = SUITE_SECONDS);

#define FORGED 10000000
#define MOST 2000

static const haft_local_options small = {.name = "given", .capacity = 1000, .object_size = 24};

static haft_footprint footprint_of(const haft_local_options *options)
{
    haft_footprint footprint = {.bytes = 0};

    assert_status(haft_local_footprint(options, &footprint), HAFT_OK);
    return footprint;
}

/* `bytes` of garbage that end with a page which may not be touched, and begin behind another. */
struct guarded {
    char *pages;
    size_t size;
    char *memory;
};

static struct guarded guarded(uint64_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (bytes + page - 1) / page * page;
    struct guarded made = {.size = inner + 2 * page};

    made.pages = mmap(NULL, made.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(made.pages != MAP_FAILED);
    made.memory = made.pages + page + (at_end ? inner - bytes : 0);
    must(mprotect(made.pages + page, inner, PROT_READ | PROT_WRITE) == 0);
    memset(made.memory, 0xff, bytes);
    return made;
}

static haft_local *open_in(const haft_local_options *options, void *memory, uint64_t bytes)
{
    haft_local_options with = *options;
    haft_local *local;

    with.memory = memory;
    with.memory_size = bytes;
    assert_status(haft_local_open(&with, &local), HAFT_OK);
    return local;
}

static void expect_no_forged_id(haft_local *local)
{
    const haft_view view = haft_local_view(local);
    uint64_t seed = 11;

    for (uint64_t i = 0; i < FORGED; i++) {
        const haft_id id = {i % 2 == 0 ? random_next(&seed) : ~(i >> 1)};

        must(haft_resolve(view, id) == NULL && !haft_is_live(view, id));
        must(i % 100 != 0 || haft_local_free(local, id) != HAFT_OK);
    }
}

Test(given, memory_is_all_that_a_table_touches_whatever_id_comes_in)
{
    for (int at_end = 0; at_end < 2; at_end++) {
        const uint64_t bytes = footprint_of(&small).bytes;
        const struct guarded guard = guarded(bytes, at_end);
        haft_local *local = open_in(&small, guard.memory, bytes);

        expect_no_forged_id(local);
        haft_local_close(local);
        munmap(guard.pages, guard.size);
    }
}

Test(given, memory_of_another_table_before_has_no_id_of_it)
{
    const uint64_t bytes = footprint_of(&small).bytes;
    static haft_id ids[1000];
    char *memory = malloc(bytes);
    haft_local *local = open_in(&small, memory, bytes);

    local_insert_each(local, ids, 1000);
    local_free_each(local, ids, 500);
    haft_local_close(local);
    memset(memory, 0xa5, bytes); /* it is the program's again, poisoned no more */
    local = open_in(&small, memory, bytes);
    for (int i = 0; i < 1000; i++) {
        must(haft_resolve(haft_local_view(local), ids[i]) == NULL);
    }
    haft_local_close(local);
    free(memory);
}

/* With a byte less at none of 64 addresses, where nothing is touched; then at each. */
static void open_everywhere(const haft_local_options *options, char *memory, uint64_t bytes)
{
    haft_local_options with = *options;
    haft_local *local = NULL;

    memset(memory, 0xff, bytes + 64);
    with.memory_size = bytes - 1;
    for (size_t from = 0; from < 64; from++) {
        with.memory = memory + from;
        must(haft_local_open(&with, &local) == HAFT_NO_MEMORY && local == NULL);
    }
    for (size_t at = 0; at < bytes + 64; at++) {
        must(memory[at] == (char)0xff);
    }
    for (size_t from = 0; from < 64; from++) {
        haft_local_close(open_in(options, memory + from, bytes));
    }
}

/* 64 GiB: more than a block has where addresses are of 32 bits. */
Test(given, footprint_of_more_than_there_are_addresses_is_no_memory)
{
    const haft_status expected = sizeof(size_t) < sizeof(uint64_t) ? HAFT_NO_MEMORY : HAFT_OK;
    const haft_local_options local = {.capacity = 1 << 20, .object_size = 1 << 16};
    haft_footprint footprint = {.bytes = 0};

    cr_expect(eq(int, haft_local_footprint(&local, &footprint), expected));
    cr_expect(eq(int, footprint.bytes == 0, expected != HAFT_OK));
}

/* Every option that takes memory; `memory` lies at no alignment at all. */
Test(given, footprint_is_enough_wherever_it_begins_and_one_byte_less_is_not)
{
    const haft_local_options all[] = {
        small,
        {.capacity = 1020, .object_size = 24},
        {.capacity = 1, .object_size = 0},
        {.capacity = 77, .object_size = 100, .object_alignment = 64, .pins = true},
        {.capacity = 40, .object_size = 8, .sites = true, .will_share = true},
        {.capacity = 12, .layout = HAFT_LAYOUT_OF(4, 8, 0), .object_size = 9},
        {.capacity = 30, .reuse = HAFT_REUSE_FIFO, .min_free = 20, .object_size = 8},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        haft_local_options filled = all[i];
        const haft_footprint footprint = footprint_of(&all[i]);
        static haft_id ids[MOST];
        char *memory = malloc(footprint.bytes + 64);
        haft_local *local;

        cr_expect(ge(u64, footprint.capacity, all[i].capacity));
        filled.capacity = footprint.capacity;
        cr_expect(eq(u64, footprint_of(&filled).bytes, footprint.bytes));
        filled.capacity++;
        haft_footprint more = footprint;
        cr_expect(haft_local_footprint(&filled, &more) != HAFT_OK || more.bytes > footprint.bytes);
        filled.capacity--;
        open_everywhere(&filled, memory, footprint.bytes);
        local = open_in(&filled, memory + 1, footprint.bytes);
        for (uint64_t n = 0; n < filled.capacity; n++) {
            must(haft_local_insert(local, NULL, &ids[n]) == HAFT_OK);
        }
        must(haft_local_insert(local, NULL, &ids[0]) == HAFT_FULL);
        haft_local_close(local);
        free(memory);
    }
    haft_local_options nowhere = small;
    haft_local *local;

    nowhere.memory_size = 100000;
    expect_status(haft_local_open(&nowhere, &local), HAFT_NO_MEMORY);
}

Test(given, footprint_of_wrong_options_is_what_opening_says)
{
    const haft_local_options wrong = {.capacity = 10, .min_free = 1};
    haft_footprint footprint = {.bytes = 5, .capacity = 6};

    expect_status(haft_local_footprint(NULL, &footprint), HAFT_BAD_CAPACITY);
    expect_status(haft_local_footprint(&wrong, &footprint), HAFT_BAD_MIN_FREE);
    cr_expect(eq(u64, footprint.bytes, 5));
    cr_expect(eq(u64, footprint.capacity, 6));
}

Test(given, trim_gives_nothing_back_of_a_large_table_and_ids_go_on)
{
    const haft_local_options large = {.capacity = 60000, .object_size = 56};
    const uint64_t bytes = footprint_of(&large).bytes;
    char *memory = malloc(bytes);
    haft_local *local = open_in(&large, memory, bytes);
    haft_id *ids = malloc(60000 * sizeof *ids);
    uint64_t released = 1;

    must(haft_local_reserve_capacity(local, 60000) == HAFT_OK);
    local_insert_each(local, ids, 60000);
    local_free_each(local, ids, 60000);
    must(haft_local_trim(local, &released) == HAFT_OK);
    cr_expect(eq(u64, released, 0));
    for (int i = 0; i < 60000; i++) {
        must(haft_resolve(haft_local_view(local), ids[i]) == NULL);
    }
    haft_local_close(local);
    free(ids);
    free(memory);
}

/* What is beside the slots comes from malloc then. */
Test(given, a_table_can_be_shared_and_be_a_local_one_again)
{
    haft_local_options options = small;

    options.will_share = true;
    const uint64_t bytes = footprint_of(&options).bytes;
    char *memory = malloc(bytes);
    haft_local *local = open_in(&options, memory, bytes);
    haft_domain *domain;
    haft_table *table;
    haft_id id;

    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    assert_status(haft_share(local, domain, NULL, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    must(haft_free(worker, id) == HAFT_OK);
    for (int i = 0; i < 900; i++) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 900));
    haft_local_close(local);
    must(haft_domain_close(domain) == HAFT_OK);
    free(memory);
    expect_no_leaks();
}
