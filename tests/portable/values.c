/* Ids, statuses and the version: values alone. */
#include "portable.h"
#include <string.h>

static void test_version(enum circumstance circumstance)
{
    (void)circumstance;
    CHECK(haft_version() == HAFT_VERSION);
    CHECK(strcmp(haft_version_text(), HAFT_VERSION_TEXT) == 0);
}

static void test_statuses(enum circumstance circumstance)
{
    (void)circumstance;
    for (int status = 0; status < HAFT_STATUS_COUNT; status++) {
        CHECK(strncmp(haft_status_name((haft_status)status), "HAFT_", 5) == 0);
        CHECK(strcmp(haft_status_name((haft_status)status), "HAFT_?") != 0);
        CHECK(strcmp(haft_status_text((haft_status)status), "unknown status") != 0);
    }
    CHECK(strcmp(haft_status_text(HAFT_STATUS_COUNT), "unknown status") == 0);
    CHECK(strcmp(haft_status_name(HAFT_STATUS_COUNT), "HAFT_?") == 0);
}

static void check_fields(haft_layout layout, uint64_t index, uint64_t generation, uint64_t tag)
{
    const haft_id id = haft_id_pack(layout, index, generation, tag);

    CHECK(haft_layout_is_valid(layout));
    CHECK(!haft_id_is_nil(id));
    CHECK(haft_id_index(layout, id) == index);
    CHECK(haft_id_generation(layout, id) == generation);
    CHECK(haft_id_tag(layout, id) == tag);
}

static void test_fields(enum circumstance circumstance)
{
    (void)circumstance;
    check_fields(HAFT_LAYOUT_32_32, 4, 1, 0);
    check_fields(HAFT_LAYOUT_32_32, UINT32_MAX, UINT32_MAX, 0);
    check_fields(HAFT_LAYOUT_32_24_8, 77, 0xffffff, 255);
    check_fields(HAFT_LAYOUT_20_12, 0xfffff, 4095, 0);
    check_fields(HAFT_LAYOUT_16_16, 9, 65535, 0);
    CHECK(haft_id_is_nil(haft_id_pack(HAFT_LAYOUT_16_16, 65536, 1, 0)));
    CHECK(haft_id_is_nil(haft_id_pack(HAFT_LAYOUT_16_16, 9, 65536, 0)));
    CHECK(!haft_layout_is_valid(HAFT_LAYOUT_OF(32, 32, 1)));
    CHECK(haft_field_max(0) == 0 && haft_field_max(3) == 7 && haft_field_max(64) == UINT64_MAX);
    CHECK(haft_field_get((haft_id){0xab00}, 8, 8) == 0xab);
}

static void test_small(enum circumstance circumstance)
{
    const haft_layout layout = HAFT_LAYOUT_20_12;
    const haft_id id = haft_id_pack(layout, 77, 5, 0);

    (void)circumstance;
    CHECK(haft_id_equal(haft_id_from_u32(haft_id_to_u32(layout, id)), id));
    CHECK(haft_id_to_u32(HAFT_LAYOUT_32_32, id) == 0);
    CHECK(haft_id_to_u32(layout, (haft_id){UINT64_C(1) << 32}) == 0);
    CHECK(!haft_id_equal(id, HAFT_NIL));
}

static void test_text(enum circumstance circumstance)
{
    const haft_layout layout = HAFT_LAYOUT_32_24_8;
    const haft_id id = haft_id_pack(layout, 17, 3, 5);
    char text[HAFT_ID_TEXT_SIZE];
    haft_id parsed = HAFT_NIL;

    (void)circumstance;
    CHECK(haft_id_format(layout, id, text, sizeof text) == 6);
    CHECK(strcmp(text, "17v3t5") == 0);
    CHECK(haft_id_parse(layout, text, &parsed) && haft_id_equal(parsed, id));
    CHECK(!haft_id_parse(layout, "17v3t256", &parsed));
    CHECK(!haft_id_parse(layout, "17v", &parsed));
    CHECK(haft_id_equal(parsed, id));
    CHECK(haft_id_format(layout, HAFT_NIL, text, 2) == 3 && strcmp(text, "n") == 0);
}

const struct test value_tests[] = {
    {"haft", "version of headers and library", IN_SINGLE, test_version},
    {"status", "names and texts", IN_SINGLE, test_statuses},
    {"id", "fields of each layout", IN_SINGLE, test_fields},
    {"id", "32 bits", IN_SINGLE, test_small},
    {"id", "text and back", IN_SINGLE, test_text},
    {NULL, NULL, 0, NULL},
};
