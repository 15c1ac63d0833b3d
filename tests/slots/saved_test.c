/* Saved and loaded tables of one thread, and files that are refused. */
#include "tests/support.h"
#include <haft/snapshot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(saved, .timeout = SUITE_SECONDS);

#define CAPACITY 300

static const haft_table_options options = {
    .capacity = CAPACITY, .object_size = 24, .layout = {16, 16, 4, 0}, .tag = 5};

struct bytes {
    unsigned char *at;
    size_t size;
    size_t read;
    size_t most; /* that can be written */
};

static bool put(const void *bytes, size_t size, void *arg)
{
    struct bytes *to = arg;

    if (to->most - to->size < size) {
        return false;
    }
    to->at = realloc(to->at, to->size + size);
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    struct bytes *from = arg;

    if (from->size - from->read < size) {
        return false;
    }
    memcpy(bytes, from->at + from->read, size);
    from->read += size;
    return true;
}

static haft_status save(struct subject *subject, haft_file *file)
{
    return subject->packed != NULL ? haft_packed_save(subject->packed, file)
                                   : haft_local_save(subject->local, file);
}

static haft_status load(struct subject *subject, haft_file *file)
{
    return subject->packed != NULL ? haft_packed_load(subject->packed, file)
                                   : haft_local_load(subject->local, file);
}

static haft_file file_of(struct bytes *bytes)
{
    bytes->read = 0;
    bytes->most = SIZE_MAX;
    return (haft_file){.write = put, .read = get, .arg = bytes};
}

static struct bytes saved_of(struct subject *subject)
{
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    assert_status(save(subject, &file), HAFT_OK);
    cr_assert(eq(u64, file.offset, bytes.size));
    return bytes;
}

/* Objects, holes and dead ids: where `ids` live, their objects hold 7 times their place. */
static void fill(struct subject *subject, haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t object[3] = {(uint64_t)i * 7, 1, 2};

        assert_status(subject_insert(subject, object, &ids[i]), HAFT_OK);
    }
    for (int i = 0; i < count; i += 3) {
        assert_status(subject_free(subject, ids[i]), HAFT_OK);
    }
}

static void expect_filled(const struct subject *subject, const haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t *object = subject_find(subject, ids[i]);

        cr_expect(eq(int, object != NULL, i % 3 != 0));
        cr_expect(object == NULL || object[0] == (uint64_t)i * 7);
    }
}

TEST_ON_EACH_ALONE(saved, a_new_table_that_loads_it_goes_on_as_the_saved_one)
{
    struct subject subject = subject_open(*kind, &options);
    haft_table_options later = options;
    haft_id ids[200];
    haft_id next[250];
    haft_id id;

    later.first_generation = 99; /* the file has its own */
    struct subject other = subject_open(*kind, &later);

    fill(&subject, ids, 200);
    struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    for (int i = 0; i < 150; i++) {
        assert_status(subject_insert(&subject, NULL, &next[i]), HAFT_OK);
    }
    subject_close(&subject);
    assert_status(load(&other, &file), HAFT_OK);
    cr_expect(eq(u64, bytes.read, bytes.size));
    expect_filled(&other, ids, 200);
    for (int i = 0; i < 150; i++) {
        assert_status(subject_insert(&other, NULL, &id), HAFT_OK);
        cr_expect(eq(u64, id.bits, next[i].bits));
    }
    free(bytes.at);
    subject_close(&other);
}

TEST_ON_EACH_ALONE(saved, several_tables_stand_one_behind_the_other_in_a_stream)
{
    struct subject first = subject_open(*kind, &options);
    struct subject second = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    haft_id ids[200];

    fill(&first, ids, 200);
    assert_status(save(&first, &file), HAFT_OK);
    assert_status(save(&second, &file), HAFT_OK);
    assert_status(load(&second, &file), HAFT_OK);
    assert_status(load(&first, &file), HAFT_OK);
    expect_filled(&second, ids, 200);
    cr_expect(eq(u64, subject_live(&first), 0));
    free(bytes.at);
    subject_close(&first);
    subject_close(&second);
}

TEST_ON_EACH_ALONE(saved, each_bit_that_changes_is_found_and_where)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[40];

    fill(&subject, ids, 40);
    struct bytes bytes = saved_of(&subject);

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
    free(bytes.at);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, what_is_cut_off_is_refused)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[200];

    fill(&subject, ids, 200);
    struct bytes bytes = saved_of(&subject);
    const size_t size = bytes.size;

    for (bytes.size = 0; bytes.size < size; bytes.size++) {
        haft_file file = file_of(&bytes);

        must(load(&subject, &file) == HAFT_DAMAGED);
        must(file.offset <= bytes.size);
    }
    expect_filled(&subject, ids, 200);
    free(bytes.at);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, a_stream_that_takes_no_more_is_told)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[200];

    fill(&subject, ids, 200);
    struct bytes whole = saved_of(&subject);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    bytes.most = whole.size - 1;
    expect_status(save(&subject, &file), HAFT_NO_FILE);
    cr_expect(eq(u64, file.offset, bytes.size));
    free(whole.at);
    free(bytes.at);
    subject_close(&subject);
}

/* Loading what `saved` was saved as into a table with these options. */
static void expect_other(int kind, const haft_table_options *other, const char *what)
{
    struct subject subject = subject_open(kind, &options);
    struct subject wrong = subject_open(kind, other);
    struct bytes bytes = saved_of(&subject);
    haft_file file = file_of(&bytes);

    expect_status(load(&wrong, &file), HAFT_OTHER_TABLE);
    cr_expect(file.what != NULL && strcmp(file.what, what) == 0, "%s, not %s", file.what, what);
    cr_expect(eq(u64, file.offset % 8, 0));
    free(bytes.at);
    subject_close(&subject);
    subject_close(&wrong);
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
    struct subject dense = subject_open(DENSE, &options);
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
    subject_close(&dense);
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
    struct subject subject = subject_open(kind, &wide);
    struct bytes bytes = {.at = NULL};
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
    free(bytes.at);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, objects_are_converted_where_they_are_aligned)
{
    convert_aligned(*kind, 16);
    convert_aligned(*kind, 4096);
}

TEST_ON_EACH_ALONE(saved, objects_of_any_size_in_the_file_need_memory)
{
    struct subject subject = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    file.convert = expect_aligned;
    for (size_t less = 0; less < 2; less++) {
        file.converted_size = SIZE_MAX - less;
        expect_status(save(&subject, &file), HAFT_NO_MEMORY);
        expect_status(load(&subject, &file), HAFT_NO_MEMORY);
    }
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, objects_may_be_converted_on_their_way)
{
    haft_table_options numbers = options;

    numbers.object_size = 8;
    struct subject subject = subject_open(*kind, &numbers);
    struct bytes bytes = {.at = NULL};
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
    for (int i = 0; i < 100; i++) {
        assert_status(subject_free(&subject, ids[i]), HAFT_OK);
    }
    file.convert = to_number;
    assert_status(load(&subject, &file), HAFT_OK);
    cr_expect(eq(int, conversions, 200));
    for (uint64_t i = 0; i < 100; i++) {
        cr_expect(eq(u64, *(uint64_t *)subject_find(&subject, ids[i]), i * i * i));
    }
    file = file_of(&bytes);
    expect_status(load(&subject, &file), HAFT_OTHER_TABLE);
    cr_expect(eq(str, (char *)file.what, "bytes of an object in the file"));
    free(bytes.at);
    subject_close(&subject);
}

Test(saved, what_is_no_such_file_is_told)
{
    struct subject subject = subject_open(LOCAL, &options);
    unsigned char text[400] = "<?xml version=\"1.0\"?> and so on";
    struct bytes bytes = {.at = text, .size = sizeof text};
    haft_file file = file_of(&bytes);

    expect_status(load(&subject, &file), HAFT_DAMAGED);
    cr_expect(eq(str, (char *)file.what, "no saved table begins like this"));
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, an_option_of_a_later_version_is_refused)
{
    struct subject subject = subject_open(*kind, &options);
    struct bytes bytes = {.at = NULL};

    for (int i = 0; i < 2; i++) {
        haft_file file = file_of(&bytes);

        file.reserved[i] = 1;
        expect_status(save(&subject, &file), HAFT_UNKNOWN_OPTION);
        expect_status(load(&subject, &file), HAFT_UNKNOWN_OPTION);
    }
    cr_expect(eq(u64, bytes.size, 0));
    subject_close(&subject);
}

Test(saved, reservations_and_loading_are_in_the_way)
{
    struct subject subject = subject_open(LOCAL, &options);
    struct bytes bytes = saved_of(&subject);
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
    free(bytes.at);
    subject_close(&subject);
}

/* --- files that are made up, with checksums that are right --- */

#define BODY 260 /* bytes before it */

static uint32_t checksum(const unsigned char *from, size_t size)
{
    uint32_t sum = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        sum ^= from[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
        }
    }
    return ~sum;
}

/* A number at that offset of a file with one block, and the checksums again. */
static void set_number(struct bytes *bytes, size_t offset, uint64_t number)
{
    memcpy(bytes->at + offset, &number, sizeof number);
    const uint32_t body = checksum(bytes->at + BODY, bytes->size - BODY - 4);
    const uint32_t head = checksum(bytes->at, BODY - 4);

    memcpy(bytes->at + BODY - 4, &head, sizeof head);
    memcpy(bytes->at + bytes->size - 4, &body, sizeof body);
}

/* The same in the first of several blocks. */
static void set_in_first_block(struct bytes *bytes, size_t offset, uint64_t number)
{
    memcpy(bytes->at + offset, &number, sizeof number);
    const uint32_t sum = checksum(bytes->at + BODY, 4096);

    memcpy(bytes->at + BODY + 4096, &sum, sizeof sum);
}

static uint64_t number_at(const struct bytes *bytes, size_t offset)
{
    uint64_t number;

    memcpy(&number, bytes->at + offset, sizeof number);
    return number;
}

/* Of the word of the slot with that index, the fourth being the first. */
static size_t word_offset(uint64_t index)
{
    return BODY + (size_t)(index - HAFT_FIRST_INDEX) * 8;
}

static void expect_refused(struct subject *subject, struct bytes *bytes, size_t offset,
                           uint64_t number, const char *what)
{
    const uint64_t before = number_at(bytes, offset);
    haft_file file = file_of(bytes);

    set_number(bytes, offset, number);
    expect_status(load(subject, &file), HAFT_DAMAGED);
    cr_expect(file.what != NULL && strcmp(file.what, what) == 0, "%s, not %s", file.what, what);
    set_number(bytes, offset, before);
    file = file_of(bytes);
    expect_status(load(subject, &file), HAFT_OK);
}

TEST_ON_EACH_ALONE(saved, free_slots_in_a_circle_are_refused)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[30];
    uint64_t last = 0;

    fill(&subject, ids, 30); /* every third is free: 4, 7, 10 and so on */
    struct bytes bytes = saved_of(&subject);

    for (uint64_t index = 4; index < 34; index += 3) {
        last = (number_at(&bytes, word_offset(index)) & 0xffff) == 0 ? index : last;
    }
    cr_assert(ne(u64, last, 0));
    expect_refused(&subject, &bytes, word_offset(last),
                   number_at(&bytes, word_offset(last)) | (last == 4 ? 7 : 4), "a slot's word");
    free(bytes.at);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(saved, words_that_no_slot_can_have_are_refused)
{
    struct subject subject = subject_open(*kind, &options);
    haft_id ids[30];

    fill(&subject, ids, 30);
    struct bytes bytes = saved_of(&subject);
    const uint64_t live = ids[1].bits;

    expect_refused(&subject, &bytes, word_offset(5), live | UINT64_C(1) << 50, "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), live ^ UINT64_C(1) << 32, "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), live & ~UINT64_C(0xffff0000), "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), (live & ~UINT64_C(0xffff)) | 1,
                   "a slot's word");
    expect_refused(&subject, &bytes, word_offset(5), (live & ~UINT64_C(0xffff)) | 60,
                   "a slot's word");
    free(bytes.at);
    subject_close(&subject);
}

Test(saved, a_packed_table_s_positions_have_each_object_once)
{
    struct subject subject = subject_open(DENSE, &options);
    haft_id ids[30];

    fill(&subject, ids, 30);
    must(haft_packed_kill(subject.packed, ids[1]) == HAFT_OK);
    must(haft_packed_kill(subject.packed, ids[2]) == HAFT_OK);
    struct bytes bytes = saved_of(&subject);
    const size_t positions = BODY + 30 * 8;

    for (size_t i = 1; i < 20; i++) {
        expect_refused(&subject, &bytes, positions + i * 8, number_at(&bytes, positions),
                       "an object's id");
    }
    expect_refused(&subject, &bytes, positions + 24, number_at(&bytes, positions + 16),
                   "an object's id");
    expect_refused(&subject, &bytes, positions, ids[0].bits, "an object's id");
    const size_t dead = positions + 20 * 8;

    expect_refused(&subject, &bytes, dead + 8, number_at(&bytes, dead), "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 4, "a dead object's slot");
    expect_refused(&subject, &bytes, dead, 99, "a dead object's slot");
    free(bytes.at);
    subject_close(&subject);
}

Test(saved, page_runs_that_overlap_are_refused)
{
    haft_local *local;
    static haft_id ids[6000];
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    int refused = 0;

    assert_status(
        haft_local_open(&(haft_local_options){.capacity = 6000, .object_size = 24}, &local),
        HAFT_OK);
    for (int i = 0; i < 6000; i++) {
        assert_status(haft_local_insert(local, NULL, &ids[i]), HAFT_OK);
    }
    for (int i = 0; i < 6000; i++) {
        assert_status(haft_local_free(local, ids[i]), HAFT_OK);
    }
    assert_status(haft_local_trim(local, NULL), HAFT_OK);
    assert_status(haft_local_save(local, &file), HAFT_OK);
    const uint64_t runs = number_at(&bytes, 8 + 8 * (13 + 14));

    cr_assert(lt(u64, 20, runs));
    for (uint64_t run = 0; run + 1 < runs; run++) { /* each names another as the next */
        const size_t at = BODY + (size_t)run * 16 + 8;
        const uint64_t before = number_at(&bytes, at);

        set_in_first_block(&bytes, at, before == 5 ? 6 : 5);
        file = file_of(&bytes);
        refused += haft_local_load(local, &file) == HAFT_DAMAGED;
        set_in_first_block(&bytes, at, before);
    }
    cr_expect(eq(int, refused, (int)runs - 1));
    file = file_of(&bytes);
    expect_status(haft_local_load(local, &file), HAFT_OK);
    free(bytes.at);
    haft_local_close(local);
}

/* The file's form is for good: these bytes were written when it was made. */
Test(saved, the_form_of_the_file)
{
    static const unsigned char begin[16] = {0x89, 'h', 'a', 'f', 't', '\r', '\n', 0x1a, 1};
    struct subject subject = subject_open(LOCAL, &options);
    const uint64_t object[3] = {0x0102030405060708, 0, 0};
    haft_id id;

    assert_status(subject_insert(&subject, object, &id), HAFT_OK);
    struct bytes bytes = saved_of(&subject);

    cr_assert(eq(u64, bytes.size, 256 + 4 + 8 + 24 + 4));
    cr_expect(zero(int, memcmp(bytes.at, begin, sizeof begin)));
    cr_expect(eq(int, bytes.at[16], 1));  /* haft_local */
    cr_expect(eq(int, bytes.at[24], 16)); /* index bits */
    cr_expect(eq(int, bytes.at[32], 5));  /* tag */
    cr_expect(eq(int, bytes.at[260], 4)); /* the slot's word: the id */
    cr_expect(eq(int, bytes.at[262], 1));
    cr_expect(eq(int, bytes.at[264], 5));
    free(bytes.at);
    subject_close(&subject);
}
