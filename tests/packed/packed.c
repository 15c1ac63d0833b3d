/* What the tests of haft_packed share. */
#include "tests/packed/packed.h"

haft_packed *packed_open(const haft_packed_options *options)
{
    haft_packed *packed = NULL;

    assert_status(haft_packed_open(options, &packed), HAFT_OK);
    return packed;
}

haft_packed *packed_open_values(uint64_t capacity, bool keep_order)
{
    const haft_packed_options options = {
        .capacity = capacity, .object_size = sizeof(uint64_t), .keep_order = keep_order};

    return packed_open(&options);
}

haft_id packed_insert_value(haft_packed *packed, uint64_t value)
{
    haft_id id = HAFT_NIL;

    must(haft_packed_insert(packed, &value, &id) == HAFT_OK);
    return id;
}

uint64_t packed_value_at(const haft_packed *packed, uint64_t position)
{
    const uint64_t *values = haft_packed_objects(packed);

    must(position < haft_packed_count(packed));
    return values[position];
}

void packed_fill(haft_packed *packed, haft_id *ids, uint64_t count)
{
    for (uint64_t value = 0; value < count; value++) {
        ids[value] = packed_insert_value(packed, value);
    }
}

bool packed_has(const haft_packed *packed, const uint64_t *values, uint64_t count)
{
    bool same = haft_packed_count(packed) == count;

    for (uint64_t i = 0; same && i < count; i++) {
        same = packed_value_at(packed, i) == values[i];
    }
    return same;
}

void packed_must_be_sound(const haft_packed *packed, size_t object_size)
{
    const haft_dense_view view = haft_packed_view(packed);
    const uint64_t count = haft_packed_count(packed);
    char *objects = haft_packed_objects(packed);
    uint64_t dead = 0;

    for (uint64_t i = 0; i < count; i++) {
        const haft_id id = haft_packed_id_in(packed, i);
        uint64_t position = UINT64_MAX;

        must(haft_packed_ids(packed)[i].bits == id.bits);
        must(haft_packed_is_live(view, id));
        must(haft_packed_resolve(view, id) == objects + i * object_size);
        must(haft_packed_position(packed, id, &position) == HAFT_OK && position == i);
        must(haft_packed_diagnose(packed, id) == HAFT_OK);
        must(haft_packed_state(packed, id) != HAFT_PACKED_UNUSED);
        must(haft_packed_state(packed, id) == haft_packed_state_in(packed, i));
        dead += haft_packed_state_in(packed, i) == HAFT_PACKED_DEAD;
    }
    must(haft_packed_dead_count(packed) == dead);
    must(haft_packed_is_empty(packed) == (count == 0));
    must(haft_packed_id_in(packed, count).bits == 0);
    must(haft_packed_state_in(packed, count) == HAFT_PACKED_UNUSED);
    must(haft_packed_id_in(packed, UINT64_MAX).bits == 0);
    must(haft_packed_available(packed) <= haft_packed_info(packed).capacity - count);
}

void packed_close(haft_packed *packed)
{
    haft_packed_close(packed);
    expect_no_leaks();
}

void packed_end(haft_packed **packed)
{
    packed_close(*packed);
}
