/*
 * Which slot comes next, and how long ids last.
 *
 * Two orders of the literature, each beside a small reference: ours begins at index 4 and, by
 * default, at generation 1.
 */
#include "tests/support.h"
#include <string.h>

TestSuite(order, .timeout = SUITE_SECONDS);
TestSuite(lasting, .timeout = SUITE_SECONDS);

#define FIRST 4 /* our first index */

static haft_local *open_ordered(haft_local_reuse reuse, uint64_t min_free, uint64_t capacity,
                                haft_layout layout)
{
    const haft_local_options options = {
        .capacity = capacity, .layout = layout, .reuse = reuse, .min_free = min_free};
    return local_open(&options);
}

static uint64_t index_of(const haft_local *local, haft_id id)
{
    return haft_id_index(haft_local_info(local).layout, id);
}

static uint64_t generation_of(const haft_local *local, haft_id id)
{
    return haft_id_generation(haft_local_info(local).layout, id);
}

Test(order, fifo_uses_the_slot_freed_first_first_and_fresh_slots_only_when_none_is_free)
{
    AT_END(local_end) haft_local *local = open_ordered(HAFT_REUSE_FIFO, 0, 10, HAFT_LAYOUT_32_32);
    static const int freed[] = {3, 0, 4};
    haft_id ids[5];

    for (int i = 0; i < 5; i++) {
        ids[i] = local_insert_one(local);
    }
    for (int i = 0; i < 3; i++) {
        must(haft_local_free(local, ids[freed[i]]) == HAFT_OK);
    }
    for (int i = 0; i < 3; i++) {
        cr_expect(eq(u64, index_of(local, local_insert_one(local)), FIRST + (uint64_t)freed[i]));
    }
    cr_expect(eq(u64, index_of(local, local_insert_one(local)), FIRST + 5));
}

Test(order, min_free_slots_are_free_before_any_is_reused_and_the_capacity_fits_all_the_same)
{
    AT_END(local_end) haft_local *local = open_ordered(HAFT_REUSE_FIFO, 3, 5, HAFT_LAYOUT_32_32);
    haft_id ids[5];
    haft_id id;

    for (int i = 0; i < 3; i++) { /* 4, 5, 6 wait */
        must(haft_local_free(local, local_insert_one(local)) == HAFT_OK);
    }
    ids[0] = local_insert_one(local);
    cr_expect(eq(u64, index_of(local, ids[0]), 7));
    must(haft_local_free(local, ids[0]) == HAFT_OK); /* the fourth: now the oldest may go */
    for (uint64_t i = 0; i < 5; i++) {
        static const uint64_t expected[] = {4, 8, 9, 10, 11};

        ids[i] = local_insert_one(local);
        cr_expect(eq(u64, index_of(local, ids[i]), expected[i]));
    }
    expect_status(haft_local_insert(local, NULL, &id), HAFT_FULL);
    cr_expect(eq(u64, haft_local_count(local), 5));
}

/* --- orders of the literature --- */

#define OBJECTS 4000
#define STEPS 200000

struct made {
    uint64_t index;
    uint64_t generation;
};

/*
 * Niklas Frykholm, "Building a Data-Oriented Entity System" (Bitsquid blog, 2014): a queue of free
 * indices, of which 1,024 always stay, and an array of generations.
 */
struct frykholm {
    uint64_t generations[OBJECTS + 1025];
    uint64_t queue[STEPS];
    uint64_t count;
    uint64_t head;
    uint64_t tail;
};

static struct made frykholm_create(void *reference)
{
    struct frykholm *f = reference;
    const uint64_t index = f->tail - f->head > 1024 ? f->queue[f->head++] : f->count++;

    return (struct made){index, f->generations[index]};
}

static void frykholm_destroy(void *reference, uint64_t index)
{
    struct frykholm *f = reference;

    f->generations[index]++;
    f->queue[f->tail++] = index;
}

/*
 * Michele Caini (skypjack), "ECS back and forth, part 3" (2019): destroyed entities form a list
 * in the entity array itself, each with its version; the list's head and its length beside it.
 */
struct caini {
    struct made entities[OBJECTS]; /* alive: its own index; destroyed: the next one's */
    uint64_t next;
    uint64_t available;
    uint64_t count;
};

static struct made caini_create(void *reference)
{
    struct caini *c = reference;

    if (c->available == 0) {
        const uint64_t index = c->count++;

        return c->entities[index] = (struct made){index, 0};
    }
    const uint64_t index = c->next;

    c->available--;
    c->next = c->entities[index].index;
    c->entities[index].index = index;
    return c->entities[index];
}

static void caini_destroy(void *reference, uint64_t index)
{
    struct caini *c = reference;

    c->entities[index] = (struct made){c->next, c->entities[index].generation + 1};
    c->next = index;
    c->available++;
}

/* Both get the same random creations and destructions; how many slots had another life. */
static uint64_t expect_same(haft_local *local, void *reference, struct made (*create)(void *),
                            void (*destroy)(void *, uint64_t))
{
    static haft_id ids[OBJECTS];
    uint64_t count = 0;
    uint64_t again = 0;
    uint64_t seed = 53;

    for (int i = 0; i < STEPS; i++) {
        const uint64_t random = random_next(&seed);

        if (count == 0 || (count < OBJECTS && random % 1000 < (i / 20000 % 2 == 0 ? 600 : 400))) {
            const struct made made = create(reference);
            const haft_id id = local_insert_one(local);

            must(index_of(local, id) == made.index + FIRST);
            must(generation_of(local, id) == made.generation + 1);
            again += generation_of(local, id) > 1;
            ids[count++] = id;
        } else {
            const uint64_t which = random / 1000 % count;
            const haft_id id = ids[which];

            ids[which] = ids[--count];
            must(haft_local_free(local, id) == HAFT_OK);
            destroy(reference, index_of(local, id) - FIRST);
        }
    }
    haft_local_close(local);
    return again;
}

Test(order, fifo_with_min_free_1024_is_frykholms_queue)
{
    static struct frykholm reference;
    haft_local *local = open_ordered(HAFT_REUSE_FIFO, 1024, OBJECTS, HAFT_LAYOUT_32_32);

    cr_expect(lt(u64, 10000, expect_same(local, &reference, frykholm_create, frykholm_destroy)));
}

Test(order, lifo_is_the_implicit_list_of_destroyed_entities)
{
    static struct caini reference;
    haft_local *local = open_ordered(HAFT_REUSE_LIFO, 0, OBJECTS, HAFT_LAYOUT_20_12);

    cr_expect(lt(u64, 10000, expect_same(local, &reference, caini_create, caini_destroy)));
}

/* --- how long ids last --- */

/*
 * One object after another lives alone, which wears slots out fastest.  How many ids are issued
 * until a slot is exhausted by the last one's end, or, with wrap, an id is issued again.
 */
static uint64_t ids_until_worn(const haft_local_options *options)
{
    static bool issued[1 << 12];
    haft_local *local = local_open(options);
    uint64_t count = 0;

    memset(issued, 0, sizeof issued);
    for (;;) {
        const haft_id id = local_insert_one(local);

        must(id.bits < 1 << 12);
        count++;
        if (issued[id.bits]) {
            break;
        }
        issued[id.bits] = true;
        must(haft_local_free(local, id) == HAFT_OK);
        if (haft_local_available(local) < options->capacity) {
            break;
        }
    }
    haft_local_close(local);
    return count;
}

static void expect_formula(uint64_t bits, uint64_t first, uint64_t min_free)
{
    haft_local_options options = {
        .capacity = 12 - min_free,
        .layout = {4, (uint8_t)bits, 0, 0},
        .first_generation = first,
        .reuse = HAFT_REUSE_FIFO,
        .min_free = min_free,
    };
    const uint64_t lives = (UINT64_C(1) << bits) - first;

    cr_expect(eq(u64, ids_until_worn(&options), (lives - 1) * (min_free + 1) + 1));
    options.wrap = true;
    cr_expect(eq(u64, ids_until_worn(&options), ((UINT64_C(1) << bits) - 1) * (min_free + 1) + 1));
}

Test(lasting, the_first_slot_is_exhausted_and_the_first_id_repeats_when_the_formula_says)
{
    for (uint64_t bits = 1; bits <= 6; bits++) {
        for (uint64_t min_free = 0; min_free < 12; min_free++) {
            expect_formula(bits, 1, min_free);
            expect_formula(bits, haft_field_max((unsigned)bits), min_free);
        }
    }
}

Test(lasting, lifo_wears_one_slot_out_at_each_of_its_lives)
{
    haft_local_options options = {.capacity = 12, .layout = {4, 5, 0, 0}};

    cr_expect(eq(u64, ids_until_worn(&options), 31));
    options.wrap = true;
    cr_expect(eq(u64, ids_until_worn(&options), 32));
}

Test(lasting, with_wrap_ids_of_slots_never_used_were_never_issued)
{
    const haft_local_options options = {.capacity = 2, .layout = {3, 1, 0, 0}, .wrap = true};
    AT_END(local_end) haft_local *local = local_open(&options);

    must(haft_local_free(local, local_insert_one(local)) == HAFT_OK); /* wraps */
    expect_status(haft_local_diagnose(local, (haft_id){4 | 1 << 3}), HAFT_STALE);
    expect_status(haft_local_diagnose(local, (haft_id){5 | 1 << 3}), HAFT_NEVER_ISSUED);
}

Test(lasting, with_wrap_reservations_given_up_and_clear_wrap_as_well)
{
    const haft_local_options options = {.capacity = 2, .layout = {3, 2, 0, 0}, .wrap = true};
    AT_END(local_end) haft_local *local = local_open(&options);
    haft_id id;

    for (uint64_t i = 0; i < 12; i++) {
        assert_status(haft_local_reserve(local, &id, NULL), HAFT_OK);
        cr_expect(eq(u64, generation_of(local, id), i % 3 + 1));
        if (i % 2 == 0) {
            haft_local_abort(local, id);
        } else {
            haft_local_publish(local, id);
            haft_local_clear(local);
        }
        expect_status(haft_local_diagnose(local, id), HAFT_STALE);
    }
}
