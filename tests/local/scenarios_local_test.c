/* haft_local in situations that broke other tables; docs/scenarios.md lists them all. */
#include "tests/support.h"
#include <haft/view.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(scenarios_local, .timeout = SUITE_SECONDS);

static haft_local *open_local(uint64_t capacity, size_t object_size, haft_layout layout)
{
    const haft_local_options options = {
        .capacity = capacity,
        .object_size = object_size,
        .layout = layout,
        .tag = haft_field_max(layout.tag_bits),
    };
    haft_local *local;

    assert_status(haft_local_open(&options, &local), HAFT_OK);
    return local;
}

/* --- forged ids --- */

#define OBJECTS 60
#define RANDOM_VALUES 10000000

static bool is_among(const haft_id *ids, haft_id id)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_id_equal(ids[i], id)) {
            return true;
        }
    }
    return false;
}

/* Of a full table: every slot holds an object, so that no other id may come to life. */
static void must_be_refused(haft_local *local, const haft_id *live, haft_id id)
{
    const haft_view view = haft_local_view(local);
    const haft_status said = haft_local_diagnose(local, id);
    void *object = local;

    if (is_among(live, id)) {
        return;
    }
    must(said != HAFT_OK);
    must(!haft_is_live(view, id) && haft_resolve(view, id) == NULL);
    must(haft_resolve_many(view, &id, &object, 1) == 0 && object == NULL);
    must(haft_ref_get(haft_ref_of(view, id)) == NULL);
    must(haft_local_free(local, id) == said);
    must(haft_local_restore(local, id, NULL) != HAFT_OK);
    must(haft_local_restore_free(local, id) != HAFT_OK);
}

static void forge(haft_layout layout, uint64_t *seed)
{
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    haft_local *local = open_local(OBJECTS, 8, layout);
    haft_id live[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_insert(local, NULL, &live[i]) == HAFT_OK);
    }
    for (int n = 0; n < RANDOM_VALUES / 4; n++) {
        const uint64_t bits = random_next(seed);

        must_be_refused(local, live, (haft_id){n % 2 == 0 ? bits : bits & haft_field_max(width)});
    }
    for (int i = 0; i < OBJECTS * 64; i++) {
        must_be_refused(local, live, (haft_id){live[i / 64].bits ^ UINT64_C(1) << i % 64});
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_is_live(haft_local_view(local), live[i]));
    }
    must(haft_local_count(local) == OBJECTS);
    haft_local_close(local);
}

Test(scenarios_local, in_a_full_table_ten_million_random_values_and_all_neighbours_are_refused)
{
    static const haft_layout each[] = {{32, 32, 0}, {16, 16, 0}, {7, 6, 0}, {7, 3, 2}};
    uint64_t seed = 83;

    for (int i = 0; i < 4; i++) {
        forge(each[i], &seed);
    }
}

/* --- bits --- */

static void fill_index_range(haft_layout layout)
{
    const uint64_t capacity = haft_field_max(layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    haft_local *local = open_local(capacity, 0, layout);
    static haft_id ids[1 << 20];
    haft_id id = {0x5a};

    for (uint64_t i = 0; i < capacity; i++) {
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
        must(haft_id_index(layout, ids[i]) == HAFT_FIRST_INDEX + i);
        must(haft_id_generation(layout, ids[i]) == 1);
        must(haft_id_tag(layout, ids[i]) == haft_field_max(layout.tag_bits));
    }
    must(haft_local_insert(local, NULL, &id) == HAFT_FULL && id.bits == 0x5a);
    for (uint64_t i = 0; i < capacity; i++) {
        must(haft_is_live(haft_local_view(local), ids[i]));
    }
    haft_local_close(local);
}

Test(scenarios_local, in_every_layout_the_index_after_the_last_is_refused_and_never_spills)
{
    for (int i = 0; i < LAYOUTS; i++) {
        if (layouts[i].index_bits <= 20) {
            fill_index_range(layouts[i]);
        }
    }
}

/* --- walks --- */

static bool visit_none(haft_id id, void *object, void *arg)
{
    (void)object;
    (void)arg;
    cr_fatal("visited %llx", (unsigned long long)id.bits);
    return false;
}

Test(scenarios_local, a_walk_after_all_slots_were_freed_visits_nothing)
{
    haft_local *local = open_local(1000, 8, HAFT_LAYOUT_32_32);
    static haft_id ids[1000];

    for (int i = 0; i < 1000; i++) {
        must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 1000; i++) { /* 37 is prime to 1000 */
        must(haft_local_free(local, ids[i * 37 % 1000]) == HAFT_OK);
    }
    cr_expect(zero(u64, haft_local_for_each(local, visit_none, NULL)));
    haft_local_close(local);
}

/* --- fork --- */

static uint64_t *value_of(haft_local *local, haft_id id)
{
    return haft_resolve(haft_local_view(local), id);
}

static bool change_as_child(haft_local *local, haft_id freed, haft_id kept)
{
    haft_id id = HAFT_NIL;
    const bool right =
        haft_local_free(local, freed) == HAFT_OK && haft_local_insert(local, NULL, &id) == HAFT_OK;

    *value_of(local, kept) = 2;
    return right && value_of(local, id) != NULL && value_of(local, freed) == NULL;
}

Test(scenarios_local, after_a_fork_child_and_parent_each_go_on_with_a_table_of_their_own)
{
    haft_local *local = open_local(10, 8, HAFT_LAYOUT_32_32);
    const uint64_t one = 1;
    haft_id ids[2];
    int status = -1;

    must(haft_local_insert(local, &one, &ids[0]) == HAFT_OK);
    must(haft_local_insert(local, &one, &ids[1]) == HAFT_OK);
    const pid_t child = fork();

    if (child == 0) {
        _exit(change_as_child(local, ids[0], ids[1]) ? 0 : 1);
    }
    cr_assert(gt(int, child, 0));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status));
    cr_expect(ne(ptr, value_of(local, ids[0]), NULL));
    cr_expect(eq(u64, *value_of(local, ids[1]), 1));
    cr_expect(eq(u64, haft_local_count(local), 2));
    expect_status(haft_local_free(local, ids[0]), HAFT_OK);
    haft_local_close(local);
}
