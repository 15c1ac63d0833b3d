/* Saved and loaded tables of one thread, and streams that end, change or belong elsewhere. */
#include "tests/slots/saving.h"
#include <haft/kit/restore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(saved, .timeout = SUITE_SECONDS);

#define CAPACITY 300

static const haft_table_options options = {
    .capacity = CAPACITY, .object_size = 24, .layout = {16, 16, 4, 0}, .tag = 5};

TEST_ON_EACH_ALONE(saved, a_new_table_that_loads_it_goes_on_as_the_saved_one)
{
    struct subject subject = subject_open(*kind, &options);
    haft_table_options later = options;
    haft_id ids[200];
    haft_id next[250];
    haft_id id;

    later.first_generation = 99; /* the file has its own */
    AT_END(subject_close) struct subject other = subject_open(*kind, &later);

    fill_with_holes(&subject, ids, 200);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    subject_insert_each(&subject, next, 150);
    subject_close(&subject);
    assert_status(load(&other, &file), HAFT_OK);
    cr_expect(eq(u64, bytes.read, bytes.size));
    expect_filled(&other, ids, 200);
    for (int i = 0; i < 150; i++) {
        assert_status(subject_insert(&other, NULL, &id), HAFT_OK);
        cr_expect(eq(u64, id.bits, next[i].bits));
    }
}

TEST_ON_EACH_ALONE(saved, several_tables_stand_one_behind_the_other_in_a_stream)
{
    struct subject first = subject_open(*kind, &options);
    AT_END(subject_close) struct subject second = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    haft_id ids[200];

    fill_with_holes(&first, ids, 200);
    assert_status(save(&first, &file), HAFT_OK);
    assert_status(save(&second, &file), HAFT_OK);
    assert_status(load(&second, &file), HAFT_OK);
    assert_status(load(&first, &file), HAFT_OK);
    expect_filled(&second, ids, 200);
    cr_expect(eq(u64, subject_live(&first), 0));
    free(bytes.at);
    subject_close(&first);
}

TEST_ON_EACH_ALONE(saved, each_bit_that_changes_is_found_and_where)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[40];

    fill_with_holes(&subject, ids, 40);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    for (size_t i = 0; i < bytes.size; i++) {
        haft_file file = file_of(&bytes);

        bytes.at[i] ^= (unsigned char)(1u << i % 8);
        must(load(&subject, &file) == HAFT_DAMAGED);
        must(file.offset == (i < 260 ? 0 : 260));
        must(file.what != NULL);
        bytes.at[i] ^= (unsigned char)(1u << i % 8);
    }
    expect_filled(&subject, ids, 40);
    haft_file file = file_of(&bytes);

    expect_status(load(&subject, &file), HAFT_OK);
}

TEST_ON_EACH_ALONE(saved, what_is_cut_off_is_refused)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    haft_id ids[200];

    fill_with_holes(&subject, ids, 200);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const size_t size = bytes.size;

    for (bytes.size = 0; bytes.size < size; bytes.size++) {
        haft_file file = file_of(&bytes);

        must(load(&subject, &file) == HAFT_DAMAGED);
        must(file.offset <= bytes.size);
    }
    expect_filled(&subject, ids, 200);
}

/* A table whose file has blocks that end amid page runs, words, ids, dead slots and objects. */
static struct subject open_long(int kind)
{
    const bool is_packed = kind == DENSE || kind == KILLED;
    haft_table_options longer = options;
    static haft_id ids[1300];

    longer.capacity = is_packed ? 1300 : 700;
    longer.object_size = is_packed ? 24 : 4088;
    struct subject subject = subject_open(kind, &longer);
    const int count = (int)longer.capacity - 100;

    subject_insert_each(&subject, ids, count);
    for (int i = 0; i < count; i++) {
        if (is_packed) {
            must(i % 2 == 0 || haft_packed_kill(subject.packed, ids[i]) == HAFT_OK);
        } else {
            must(i % 50 == 0 || haft_local_free(subject.local, ids[i]) == HAFT_OK);
        }
    }
    if (!is_packed) {
        assert_status(haft_local_trim(subject.local, NULL), HAFT_OK);
    }
    return subject;
}

Test(saved, a_table_whose_trimmed_slots_were_restored_to_loads_its_own_file)
{
    AT_END(subject_close) struct subject subject = open_long(LOCAL);
    uint64_t restored = 0;
    haft_id id;

    for (uint64_t index = 100; index < 600; index += 50) {
        restored += subject_id_at(&subject, index, &id) == HAFT_NEVER_ISSUED &&
                    haft_local_restore(subject.local, id, NULL) == HAFT_OK;
    }
    cr_assert(lt(u64, 2, restored));
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    expect_status(load(&subject, &file), HAFT_OK);
}

/* The stream takes, and has, `size` bytes. */
static void expect_told(struct subject *subject, struct bytes *whole, size_t size)
{
    const size_t all = whole->size;
    const uint64_t live = subject_live(subject);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    bytes.most = size;
    expect_status(save(subject, &file), HAFT_NO_FILE);
    cr_expect(eq(u64, file.offset, size));
    free(bytes.at);
    file = file_of(whole);
    whole->size = size;
    expect_status(load(subject, &file), HAFT_DAMAGED);
    whole->size = all;
    cr_expect(eq(str, (char *)file.what,
                 size == 0 ? "no saved table begins like this" : "the file is cut off in here"));
    cr_expect(eq(u64, file.offset, size));
    cr_expect(eq(u64, subject_live(subject), live));
}

TEST_ON_EACH_ALONE(saved, a_stream_that_ends_with_any_block_is_told_with_where_it_ends)
{
    AT_END(subject_close) struct subject subject = open_long(*kind);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    const size_t blocks = blocks_in(&bytes);

    cr_expect(lt(sz, 10, blocks));
    expect_told(&subject, &bytes, 0);
    expect_told(&subject, &bytes, body_offset(0));
    for (size_t block = 0; block + 1 < blocks; block++) {
        expect_told(&subject, &bytes, block_end(&bytes, block));
    }
    haft_file file = file_of(&bytes);

    expect_status(load(&subject, &file), HAFT_OK);
}

/* Loading what `saved` was saved as into a table with these options. */
static void expect_other(int kind, const haft_table_options *other, const char *what)
{
    struct subject subject = subject_open(kind, &options);
    AT_END(subject_close) struct subject wrong = subject_open(kind, other);
    struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    expect_status(load(&wrong, &file), HAFT_OTHER_TABLE);
    cr_expect(file.what != NULL && strcmp(file.what, what) == 0, "%s, not %s", file.what, what);
    cr_expect(eq(u64, file.offset % 8, 0));
    free(bytes.at);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, a_table_with_other_options_refuses_it_by_the_option_s_name)
{
    haft_table_options other = options;

    other.tag = 6;
    expect_other(*kind, &other, "tag");
    other = options;
    other.layout.generation_bits = 12;
    expect_other(*kind, &other, "layout");
    other = options;
    other.object_size = 32;
    expect_other(*kind, &other, "object_size");
    other = options;
    other.capacity = 1000;
    expect_other(*kind, &other, *kind == DENSE || *kind == KILLED ? "capacity" : "slots");
}

Test(saved, the_order_of_reuse_is_an_option)
{
    struct subject subject = subject_open(LOCAL, &options);
    struct subject fifo = subject_open(FIFO, &options);
    AT_END(subject_close) struct subject dense = subject_open(DENSE, &options);
    struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    expect_status(load(&fifo, &file), HAFT_OTHER_TABLE);
    cr_expect(eq(str, (char *)file.what, "reuse"));
    file = file_of(&bytes);
    expect_status(load(&dense, &file), HAFT_OTHER_TABLE);
    cr_expect(eq(str, (char *)file.what, "kind of table"));
    free(bytes.at);
    subject_close(&subject);
    subject_close(&fifo);
}

Test(saved, the_alignment_is_an_option)
{
    haft_table_options wide = options;

    wide.object_alignment = 2 * sizeof(uint64_t);
    cr_assert(eq(u64, options.object_size % wide.object_alignment, 8));
    expect_other(LOCAL, &wide, "object_alignment");
}

/* Numbers of 8 bytes become text of 20. */
static void to_text(void *to, const void *from, void *arg)
{
    uint64_t number;
    char text[21];

    memcpy(&number, from, sizeof number);
    snprintf(text, sizeof text, "%020llu", (unsigned long long)number);
    memcpy(to, text, 20);
    ++*(int *)arg;
}

static void to_number(void *to, const void *from, void *arg)
{
    char text[21] = "";

    memcpy(text, from, 20);
    const uint64_t number = strtoull(text, NULL, 10);

    memcpy(to, &number, sizeof number);
    ++*(int *)arg;
}

static void expect_aligned(void *to, const void *from, void *arg)
{
    const uintptr_t *most = arg;

    cr_expect(eq(u64, ((uintptr_t)to | (uintptr_t)from) % *most, 0));
}

/* Both sides of a conversion are as aligned as an object in its table. */
static void convert_aligned(int kind, uintptr_t alignment)
{
    haft_table_options wide = {
        .capacity = 10, .object_size = alignment, .object_alignment = alignment};
    AT_END(subject_close) struct subject subject = subject_open(kind, &wide);
    AT_END(bytes_end) struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    haft_id id;

    for (int i = 0; i < 3; i++) {
        assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
    }
    file.convert = expect_aligned;
    file.convert_arg = &alignment;
    file.converted_size = 24;
    assert_status(save(&subject, &file), HAFT_OK);
    assert_status(load(&subject, &file), HAFT_OK);
}

TEST_ON_EACH_ALONE(saved, objects_are_converted_where_they_are_aligned)
{
    convert_aligned(*kind, 16);
    convert_aligned(*kind, 4096);
}

TEST_ON_EACH_ALONE(saved, objects_of_any_size_in_the_file_need_memory)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    file.convert = expect_aligned;
    for (size_t less = 0; less < 2; less++) {
        file.converted_size = SIZE_MAX - less;
        expect_status(save(&subject, &file), HAFT_NO_MEMORY);
        expect_status(load(&subject, &file), HAFT_NO_MEMORY);
    }
}

TEST_ON_EACH_ALONE(saved, objects_may_be_converted_on_their_way)
{
    haft_table_options numbers = options;

    numbers.object_size = 8;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &numbers);
    AT_END(bytes_end) struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    haft_id ids[100];
    int conversions = 0;

    for (uint64_t i = 0; i < 100; i++) {
        const uint64_t object = i * i * i;

        assert_status(subject_insert(&subject, &object, &ids[i]), HAFT_OK);
    }
    file.convert = to_text;
    file.convert_arg = &conversions;
    file.converted_size = 20;
    assert_status(save(&subject, &file), HAFT_OK);
    cr_expect(eq(int, conversions, 100));
    subject_free_each(&subject, ids, 100);
    file.convert = to_number;
    assert_status(load(&subject, &file), HAFT_OK);
    cr_expect(eq(int, conversions, 200));
    for (uint64_t i = 0; i < 100; i++) {
        cr_expect(eq(u64, *(uint64_t *)subject_find(&subject, ids[i]), i * i * i));
    }
    file = file_of(&bytes);
    expect_status(load(&subject, &file), HAFT_OTHER_TABLE);
    cr_expect(eq(str, (char *)file.what, "bytes of an object in the file"));
}

TEST_ON_EACH_ALONE(saved, an_option_of_a_later_version_is_refused)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};

    for (int i = 0; i < 2; i++) {
        haft_file file = file_of(&bytes);

        file.reserved[i] = 1;
        expect_status(save(&subject, &file), HAFT_UNKNOWN_OPTION);
        expect_status(load(&subject, &file), HAFT_UNKNOWN_OPTION);
    }
    cr_expect(eq(u64, bytes.size, 0));
}

Test(saved, reservations_and_loading_are_in_the_way)
{
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);
    haft_id id;

    assert_status(haft_local_reserve(subject.local, &id, NULL), HAFT_OK);
    expect_status(haft_local_save(subject.local, &file), HAFT_IN_USE);
    expect_status(haft_local_load(subject.local, &file), HAFT_IN_USE);
    haft_local_abort(subject.local, id);
    haft_local_load_begin(subject.local);
    expect_status(haft_local_save(subject.local, &file), HAFT_LOADING);
    expect_status(haft_local_load(subject.local, &file), HAFT_LOADING);
    haft_local_load_end(subject.local);
    cr_expect(eq(u64, bytes.read, 0));
    expect_status(haft_local_load(subject.local, &file), HAFT_OK);
}

/* The file's form is for good: these bytes were written when it was made. */
Test(saved, the_form_of_the_file)
{
    static const unsigned char begin[16] = {0x89, 'h', 'a', 'f', 't', '\r', '\n', 0x1a, 1};
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);
    const uint64_t object[3] = {0x0102030405060708, 0, 0};
    haft_id id;

    assert_status(subject_insert(&subject, object, &id), HAFT_OK);
    AT_END(bytes_end) struct bytes bytes = saved_of(&subject);

    cr_assert(eq(u64, bytes.size, 256 + 4 + 8 + 24 + 4));
    cr_expect(zero(int, memcmp(bytes.at, begin, sizeof begin)));
    cr_expect(eq(int, bytes.at[16], 1));  /* haft_local */
    cr_expect(eq(int, bytes.at[24], 16)); /* index bits */
    cr_expect(eq(int, bytes.at[32], 5));  /* tag */
    cr_expect(eq(int, bytes.at[260], 4)); /* the slot's word: the id */
    cr_expect(eq(int, bytes.at[262], 1));
    cr_expect(eq(int, bytes.at[264], 5));
}

/* Their records are unlike those of released runs: they begin at the first generation. */
Test(saved, page_runs_that_a_restored_object_has_skipped_are_fresh_again)
{
    const haft_table_options large = {.capacity = 60000, .object_size = 24};
    const haft_id far = {UINT64_C(7) << 32 | 50000};
    struct subject subject = subject_open(LOCAL, &large);
    AT_END(subject_close) struct subject other = subject_open(LOCAL, &large);
    haft_id ids[2];

    haft_local_load_begin(subject.local);
    assert_status(haft_local_restore(subject.local, far, NULL), HAFT_OK);
    haft_local_load_end(subject.local);
    struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    assert_status(load(&other, &file), HAFT_OK);
    cr_expect(haft_is_live(haft_local_view(other.local), far));
    for (int i = 0; i < 59999; i++) {
        must(subject_insert(&subject, NULL, &ids[0]) == HAFT_OK);
        must(subject_insert(&other, NULL, &ids[1]) == HAFT_OK);
        must(ids[0].bits == ids[1].bits);
    }
    free(bytes.at);
    subject_close(&subject);
}

/* The last of these runs has been begun: its record alone says so. */
Test(saved, a_skipped_page_run_that_is_partly_used_goes_on_as_it_was)
{
    const haft_table_options large = {.capacity = 4000, .object_size = 56};
    const haft_id far = {UINT64_C(1) << 32 | 130};
    struct subject subject = subject_open(LOCAL, &large);
    AT_END(subject_close) struct subject other = subject_open(LOCAL, &large);
    haft_id ids[2];

    haft_local_load_begin(subject.local);
    assert_status(haft_local_restore(subject.local, far, NULL), HAFT_OK);
    haft_local_load_end(subject.local);
    for (int i = 0; i < 200; i++) {
        AT_END(bytes_end) struct bytes bytes = saved_of(&subject);
        haft_file file = file_of(&bytes);

        assert_status(load(&other, &file), HAFT_OK);
        must(subject_insert(&subject, NULL, &ids[0]) == HAFT_OK);
        must(subject_insert(&other, NULL, &ids[1]) == HAFT_OK);
        must(ids[0].bits == ids[1].bits);
    }
    subject_close(&subject);
}
