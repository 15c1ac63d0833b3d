/*
 * Target: options of tables of any value.  Opening says HAFT_OK, and the table works; or no memory;
 * or the status of an option whose value is out of range by the contract.
 */
#include "fuzz/options.h"
#include "fuzz/target.h"
#include <haft/kit/packed.h>
#include <haft/share.h>
#include <haft/table.h>
#include <haft/typed.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_ALIGNMENT 4096
#define FLAG_BYTES 7
#define MOST_TOUCHED (UINT64_C(1) << 20) /* bytes of an object: sanitizers touch them all */

enum kind { LOCAL, PACKED, SHARED };

static bool telling;

void target_tell(void)
{
    telling = true;
}

void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

void tell_answer(const char *what, haft_status said)
{
    if (telling) {
        fprintf(stderr, "%s: %s\n", what, haft_status_name(said));
    }
}

/*
 * The next number of an input: eight bytes; or one of them; or a power of two, or a number beside
 * it.  The byte in front of it says which.
 */
static uint64_t next_number(const uint8_t **data)
{
    const uint8_t how = **data & 7;
    uint64_t number;

    memcpy(&number, *data + 1, sizeof number);
    *data += 1 + sizeof number;
    return how == 0   ? number
           : how <= 4 ? number & 0xff
                      : (UINT64_C(1) << number % 33) + (how == 6 ? 1 : 0) - (how == 7 ? 1 : 0);
}

/* The same, or, as often, 0. */
static uint64_t next_option(const uint8_t **data)
{
    const bool is_left_out = **data >= 128;
    const uint64_t number = next_number(data);

    return is_left_out ? 0 : number;
}

/* The numbers, each nine bytes.  What is a size_t is cut to its width, for the contract as well. */
static void read_numbers(const uint8_t *data, struct values *values)
{
    values->capacity = next_number(&data);
    values->object_size = (size_t)next_number(&data);
    values->object_alignment = (size_t)next_option(&data);
    values->tag = next_option(&data);
    values->first_generation = next_option(&data);
    values->min_free = next_option(&data);
    const uint64_t counted = next_option(&data);

    values->wipe = counted & 1;
    values->spread = counted & 2;
    values->allocates = counted & 4;
    next_option(&data); /* of an option that is gone */
    values->block_size = (size_t)next_option(&data);
    values->max_block_size = (size_t)next_option(&data);
    values->buffer_size = (size_t)next_option(&data);
    values->interval_ms = next_option(&data);
}

static struct values values_from(const uint8_t *data)
{
    const uint8_t *flags = data + VALUES_BYTES - FLAG_BYTES;
    struct values values = {
        .reuse = flags[0] & 3,
        .wrap = flags[0] & 4,
        .keep_order = flags[0] & 8,
        .pins = flags[0] & 16,
        .growth_step = flags[0] & 32 ? 0 : flags[1],
        .has_pinned_type = flags[2] & 1,
        .gives_flavour = flags[2] & 8,
        .clock = flags[2] >> 4 & 7,
        .never_wait = flags[2] & 128,
        .gives_buffer = flags[3] & 1,
        .gives_directory = flags[3] & 2,
        .waiting_bytes = flags[3] & 4 ? (flags[3] >> 3) + 1 : 0,
    };

    read_numbers(data, &values);
    if (flags[2] & 4) {
        values.first_generation = HAFT_RANDOM_GENERATION;
    }
    if (flags[0] & 64) {
        values.layout = (haft_layout){flags[4], flags[5], flags[6], 0};
    } else if (flags[0] & 128) {
        values.layout = (haft_layout){flags[4] % 33, flags[5] % 61, flags[6] % 16, 0};
    }
    return values;
}

/* What a table of address space within reason is opened with: the rest is left to the contract. */
static bool is_affordable(const struct values *values)
{
    return values->capacity <= UINT32_MAX && values->object_size <= UINT32_MAX &&
           values->min_free <= UINT32_MAX &&
           (values->capacity + values->min_free) * (values->object_size + 4096) <
               (SIZE_MAX > UINT32_MAX ? UINT64_C(1) << 32 : UINT64_C(1) << 26);
}

static haft_layout layout_of(const struct values *values)
{
    const bool is_default = values->layout.index_bits == 0 && values->layout.generation_bits == 0 &&
                            values->layout.tag_bits == 0;

    return is_default ? HAFT_LAYOUT_32_32 : values->layout;
}

/* Whether tables of the kind have the option that `status` names. */
static bool applies(enum kind kind, haft_status status)
{
    switch (status) {
    case HAFT_BAD_REUSE:
    case HAFT_BAD_MIN_FREE:
        return kind == LOCAL;
    case HAFT_BAD_WAITING_BYTES:
        return kind == SHARED;
    default:
        return status != HAFT_BAD_PINS; /* which only typed tables say */
    }
}

/* Of objects in slots, where the option is 0. */
static uint64_t usual_alignment(uint64_t size)
{
    const uint64_t most = _Alignof(max_align_t) > 8 ? _Alignof(max_align_t) : 8;
    const uint64_t power = size & (~size + 1);

    return power < 8 ? 8 : power < most ? power : most;
}

/* Bytes from slot to slot of a shared table. */
static uint64_t stride_of(const struct values *values)
{
    const uint64_t usual = usual_alignment(values->object_size);
    const uint64_t asked = values->object_alignment > 8 ? values->object_alignment : 8;
    const uint64_t alignment = values->object_alignment != 0 ? asked : usual;
    const uint64_t size =
        values->pins ? (values->object_size + 7) / 8 * 8 + 8 : values->object_size;

    return (8 + size + alignment - 1) / alignment * alignment;
}

/* Of the options that only some kinds of table have. */
static bool is_other_to_blame(const struct values *values, haft_status status, uint64_t most)
{
    switch (status) {
    case HAFT_BAD_REUSE:
        return values->reuse > 1;
    case HAFT_BAD_MIN_FREE:
        return values->min_free != 0 &&
               (values->reuse != HAFT_REUSE_FIFO || values->min_free > most - values->capacity);
    case HAFT_BAD_WAITING_BYTES:
        return values->waiting_bytes != 0 && values->waiting_bytes < stride_of(values);
    default:
        return status == HAFT_NO_MEMORY;
    }
}

/* Whether the contract has anything against the option that `status` names. */
static bool is_to_blame(const struct values *values, haft_status status, enum kind kind)
{
    const haft_layout layout = layout_of(values);
    const bool is_valid = haft_layout_is_valid(layout);

    if (!applies(kind, status)) {
        return false;
    }
    if (!is_valid && status != HAFT_BAD_OBJECT_SIZE && status != HAFT_BAD_OBJECT_ALIGNMENT) {
        return status == HAFT_BAD_LAYOUT; /* the widths decide about all else */
    }
    const uint64_t most = !is_valid ? 0 : haft_field_max(layout.index_bits) - 3;
    const uint64_t alignment = values->object_alignment;

    switch (status) {
    case HAFT_BAD_CAPACITY:
        return values->capacity < 1 || values->capacity > most;
    case HAFT_BAD_OBJECT_SIZE:
        return values->object_size > UINT64_C(1) << 30 ||
               (kind == PACKED && values->object_size == 0);
    case HAFT_BAD_OBJECT_ALIGNMENT:
        return alignment != 0 &&
               ((alignment & (alignment - 1)) != 0 || alignment > MOST_ALIGNMENT ||
                (kind == PACKED && values->object_size % alignment != 0));
    case HAFT_BAD_TAG:
        return values->tag > haft_field_max(layout.tag_bits);
    case HAFT_BAD_FIRST_GENERATION:
        return values->first_generation != HAFT_RANDOM_GENERATION &&
               values->first_generation > haft_field_max(layout.generation_bits);
    default:
        return is_other_to_blame(values, status, most);
    }
}

/* Whether any option is out of range. */
static bool is_any_bad(const struct values *values, enum kind kind)
{
    for (haft_status status = HAFT_BAD_LAYOUT; status <= HAFT_BAD_WAITING_BYTES; status++) {
        if (is_to_blame(values, status, kind)) {
            return true;
        }
    }
    return false;
}

static void check_answer(const struct values *values, haft_status said, enum kind kind,
                         const char *what)
{
    tell_answer(what, said);
    must(said == HAFT_OK ? !is_any_bad(values, kind) : is_to_blame(values, said, kind), what);
    must(said != HAFT_NO_MEMORY || !is_affordable(values), "no memory for what is affordable");
}

static uint64_t try_local(const struct values *values)
{
    const haft_local_options options = {
        COMMON_OPTIONS_OF(values), .reuse = (haft_local_reuse)values->reuse,
        .min_free = values->min_free, .wrap = values->wrap, .pins = values->pins};
    haft_local *local = NULL;
    const haft_status said = haft_local_open(&options, &local);
    haft_id id;

    check_answer(values, said, LOCAL, "local_open");
    must((said == HAFT_OK) == (local != NULL), "local_open leaves its argument alone");
    if (local == NULL) {
        return 1;
    }
    for (int i = 0; i < 3 && values->object_size <= MOST_TOUCHED; i++) {
        must(haft_local_available(local) != 0, "available");
        must(haft_local_reserve(local, &id, NULL) == HAFT_OK, "reserve");
        haft_local_publish(local, id);
        must(haft_resolve(haft_local_view(local), id) != NULL, "resolve");
        must(haft_local_free(local, id) == HAFT_OK, "free");
        must(haft_resolve(haft_local_view(local), id) == NULL, "resolve");
        if (haft_local_available(local) == 0) { /* exhausted */
            break;
        }
    }
    haft_local_close(local);
    return 2;
}

static uint64_t try_packed(const struct values *values)
{
    const haft_packed_options options = {
        COMMON_OPTIONS_OF(values),
        .keep_order = values->keep_order,
        .growth_step = is_affordable(values) ? values->growth_step : 0,
    };
    haft_packed *packed = NULL;
    const haft_status said = haft_packed_open(&options, &packed);
    haft_id id;

    check_answer(values, said, PACKED, "packed_open");
    must((said == HAFT_OK) == (packed != NULL), "packed_open leaves its argument alone");
    if (packed == NULL) {
        return 1;
    }
    if (values->object_size <= MOST_TOUCHED) {
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK, "insert");
        must(haft_packed_resolve(haft_packed_view(packed), id) != NULL, "resolve");
        must(haft_packed_free(packed, id) == HAFT_OK, "free");
    }
    haft_packed_close(packed);
    return 2;
}

static void use_shared(haft_table *table)
{
    haft_worker *worker;
    haft_id id;

    must(haft_worker_open(table, &worker) == HAFT_OK, "worker_open");
    must(haft_reserve(worker, &id, NULL) == HAFT_OK, "reserve");
    haft_publish(worker, id);
    must(haft_resolve(haft_table_view(table), id) != NULL, "resolve");
    must(haft_free(worker, id) == HAFT_OK, "free");
    must(haft_worker_close(worker) == HAFT_OK, "worker_close");
}

/* What is said of an option, in both; and the capacity of a footprint needs no more for slots. */
static void check_table_footprint(const haft_table_options *options, haft_status opened)
{
    haft_table_options other = *options;
    haft_footprint footprint;
    haft_footprint of_other;
    const haft_status said = haft_table_footprint(options, &footprint);

    must(said == opened || said == HAFT_NO_MEMORY || opened == HAFT_NO_MEMORY,
         "a footprint's status");
    if (said == HAFT_OK) {
        must(footprint.committed <= footprint.bytes && footprint.capacity >= options->capacity,
             "a footprint");
        other.capacity = footprint.capacity;
        must(haft_table_footprint(&other, &of_other) == HAFT_OK &&
                 of_other.capacity == footprint.capacity,
             "the highest capacity");
    }
}

static uint64_t try_shared(const struct values *values, haft_domain *domain)
{
    const haft_table_options options = {
        COMMON_OPTIONS_OF(values),
        .wrap = values->wrap,
        .pins = values->pins,
        .waiting_bytes = values->waiting_bytes,
        .never_wait = values->never_wait,
    };
    haft_table *table = NULL;
    const haft_status said = haft_table_open(domain, &options, &table);

    check_answer(values, said, SHARED, "table_open");
    must((said == HAFT_OK) == (table != NULL), "table_open leaves its argument alone");
    check_table_footprint(&options, said);
    if (table == NULL) {
        return 1;
    }
    if (values->object_size <= MOST_TOUCHED) {
        use_shared(table);
    }
    must(haft_table_close(table) == HAFT_OK, "table_close");
    return 2;
}

/* A type of 24 bytes for the options of a table that is opened for it. */
static uint64_t try_type(const struct values *values)
{
    const bool has_pins = values->has_pinned_type;
    const haft_type type = {24, 8, has_pins ? 40 : 32, has_pins};
    size_t object_size = (size_t)values->object_size;
    size_t object_alignment = (size_t)values->object_alignment;
    bool pins = values->pins;
    const bool is_other_size = object_size != 0 && object_size != 24;
    const bool is_other_alignment = object_alignment != 0 && object_alignment != 8;
    const haft_status said = haft_type_complete(type, &object_size, &object_alignment, &pins);

    tell_answer("type_complete", said);
    must(said == HAFT_BAD_OBJECT_SIZE        ? is_other_size
         : said == HAFT_BAD_OBJECT_ALIGNMENT ? is_other_alignment
         : said == HAFT_BAD_PINS
             ? values->pins && !has_pins
             : said == HAFT_OK && object_size == 24 && object_alignment == 8 && pins == has_pins,
         "type_complete");
    must(said != HAFT_OK || !(is_other_size || is_other_alignment || (values->pins && !has_pins)),
         "another type's options");
    return 1;
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    const haft_domain_options domain_options = {.clock = HAFT_CLOCK_FRAME};
    haft_domain *domain;
    uint64_t operations = 1;

    must(haft_domain_open(&domain_options, &domain) == HAFT_OK, "domain_open");
    for (size_t at = 0; at + VALUES_BYTES <= size; at += VALUES_BYTES) {
        const struct values values = values_from(data + at);

        operations += try_local(&values) + try_packed(&values) + try_shared(&values, domain);
        operations += try_type(&values) + try_others(&values);
        operations += try_counted(&values) + try_given(&values);
    }
    must(haft_domain_close(domain) == HAFT_OK, "domain_close");
    return operations;
}
