/*
 * Target: options of any value.  Opening says HAFT_OK, and the table works; or no memory; or the
 * status of an option whose value is out of range by the contract.
 */
#include "fuzz/target.h"
#include <haft/local.h>
#include <haft/packed.h>
#include <haft/worker.h>
#include <stdio.h>
#include <string.h>

#define BYTES 40
#define MOST_ALIGNMENT 4096

static bool telling;

void target_tell(void)
{
    telling = true;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

struct values {
    uint64_t capacity, object_size, object_alignment, tag, first_generation, min_free;
    haft_layout layout;
    unsigned reuse;
    bool wrap, keep_order, pins;
    uint64_t growth_step;
};

/* Eight bytes; or few bits of them, or all but few. */
static uint64_t number_from(const uint8_t *data, uint8_t how)
{
    uint64_t number;

    memcpy(&number, data, sizeof number);
    return how % 4 == 0 ? number : how % 4 == 3 ? UINT64_C(1) << number % 33 : number >> 56;
}

static struct values values_from(const uint8_t *data)
{
    struct values values = {
        .capacity = number_from(data, data[32]),
        .object_size = number_from(data + 4, data[33]),
        .object_alignment = data[34] & 1 ? 0 : number_from(data + 8, data[34]),
        .tag = number_from(data + 12, data[35]),
        .first_generation = data[36] & 1 ? 0 : number_from(data + 16, data[36]),
        .min_free = data[37] & 1 ? 0 : number_from(data + 20, data[37]),
        .reuse = data[38] & 3,
        .wrap = data[38] & 4,
        .keep_order = data[38] & 8,
        .pins = data[38] & 16,
        .growth_step = data[38] & 32 ? 0 : data[39],
    };
    if (data[38] & 64) {
        values.layout = (haft_layout){data[28], data[29], data[30]};
    } else if (data[38] & 128) {
        values.layout = (haft_layout){data[28] % 33, data[29] % 61, data[30] % 16};
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

/* Whether the contract has anything against the option that `status` names. */
static bool is_to_blame(const struct values *values, haft_status status, bool is_packed)
{
    const haft_layout layout = layout_of(values);
    const bool is_valid = haft_layout_is_valid(layout);

    if (!is_valid && status != HAFT_BAD_OBJECT_SIZE && status != HAFT_BAD_OBJECT_ALIGNMENT) {
        return status == HAFT_BAD_LAYOUT; /* the widths decide about all else */
    }
    const uint64_t most = !is_valid ? 0 : haft_field_max(layout.index_bits) - 3;
    const uint64_t alignment = values->object_alignment;

    switch (status) {
    case HAFT_BAD_CAPACITY:
        return values->capacity < 1 || values->capacity > most;
    case HAFT_BAD_OBJECT_SIZE:
        return values->object_size > UINT64_C(1) << 30 || (is_packed && values->object_size == 0);
    case HAFT_BAD_OBJECT_ALIGNMENT:
        return (alignment & (alignment - 1)) != 0 || alignment > MOST_ALIGNMENT ||
               (is_packed && values->object_size % alignment != 0);
    case HAFT_BAD_TAG:
        return values->tag > haft_field_max(layout.tag_bits);
    case HAFT_BAD_FIRST_GENERATION:
        return values->first_generation > haft_field_max(layout.generation_bits);
    case HAFT_BAD_REUSE:
        return values->reuse > 1;
    case HAFT_BAD_MIN_FREE:
        return values->min_free != 0 &&
               (values->reuse != HAFT_REUSE_FIFO || values->min_free > most - values->capacity);
    default:
        return status == HAFT_NO_MEMORY;
    }
}

/* Whether any option is out of range. */
static bool is_any_bad(const struct values *values, bool is_packed, haft_status last)
{
    for (haft_status status = HAFT_BAD_LAYOUT; status <= last; status++) {
        const bool applies = status != HAFT_BAD_OBJECT_ALIGNMENT || values->object_alignment != 0;

        if (applies && is_to_blame(values, status, is_packed)) {
            return true;
        }
    }
    return false;
}

static void check_answer(const struct values *values, haft_status said, bool is_packed,
                         haft_status last, const char *what)
{
    if (telling) {
        fprintf(stderr, "%s: %s\n", what, haft_status_name(said));
    }
    must(said == HAFT_OK ? !is_any_bad(values, is_packed, last)
                         : is_to_blame(values, said, is_packed),
         what);
    must(said != HAFT_NO_MEMORY || !is_affordable(values), "no memory for what is affordable");
}

static uint64_t try_local(const struct values *values)
{
    const haft_local_options options = {
        .capacity = values->capacity,
        .object_size = (size_t)values->object_size,
        .object_alignment = (size_t)values->object_alignment,
        .layout = values->layout,
        .tag = values->tag,
        .first_generation = values->first_generation,
        .reuse = (haft_local_reuse)values->reuse,
        .min_free = values->min_free,
        .wrap = values->wrap,
        .pins = values->pins,
    };
    haft_local *local = NULL;
    const haft_status said = haft_local_open(&options, &local);
    haft_id id;

    check_answer(values, said, false, HAFT_BAD_MIN_FREE, "local_open");
    must((said == HAFT_OK) == (local != NULL), "local_open leaves its argument alone");
    if (local == NULL) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
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
        .capacity = values->capacity,
        .object_size = (size_t)values->object_size,
        .object_alignment = (size_t)values->object_alignment,
        .layout = values->layout,
        .tag = values->tag,
        .first_generation = values->first_generation,
        .keep_order = values->keep_order,
        .growth_step = is_affordable(values) ? values->growth_step : 0,
    };
    haft_packed *packed = NULL;
    const haft_status said = haft_packed_open(&options, &packed);
    haft_id id;

    check_answer(values, said, true, HAFT_BAD_FIRST_GENERATION, "packed_open");
    must((said == HAFT_OK) == (packed != NULL), "packed_open leaves its argument alone");
    if (packed == NULL) {
        return 1;
    }
    if (values->object_size <= 1 << 20) {
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK, "insert");
        must(haft_packed_resolve(haft_packed_view_get(packed), id) != NULL, "resolve");
        must(haft_packed_free(packed, id) == HAFT_OK, "free");
    }
    haft_packed_close(packed);
    return 2;
}

static uint64_t try_shared(const struct values *values, haft_domain *domain)
{
    const haft_table_options options = {
        .capacity = values->capacity,
        .object_size = (size_t)values->object_size,
        .object_alignment = (size_t)values->object_alignment,
        .layout = values->layout,
        .tag = values->tag,
        .first_generation = values->first_generation,
        .pins = values->pins,
    };
    haft_table *table = NULL;
    const haft_status said = haft_table_open(domain, &options, &table);
    haft_worker *worker;
    haft_id id;

    check_answer(values, said, false, HAFT_BAD_FIRST_GENERATION, "table_open");
    must((said == HAFT_OK) == (table != NULL), "table_open leaves its argument alone");
    if (table == NULL) {
        return 1;
    }
    must(haft_worker_open(table, &worker) == HAFT_OK, "worker_open");
    must(haft_reserve(worker, &id, NULL) == HAFT_OK, "reserve");
    haft_publish(worker, id);
    must(haft_resolve(haft_table_view(table), id) != NULL, "resolve");
    must(haft_free(worker, id) == HAFT_OK, "free");
    must(haft_worker_close(worker) == HAFT_OK, "worker_close");
    must(haft_table_close(table) == HAFT_OK, "table_close");
    return 2;
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    const haft_domain_options domain_options = {.clock = HAFT_CLOCK_FRAME};
    haft_domain *domain;
    uint64_t operations = 1;

    must(haft_domain_open(&domain_options, &domain) == HAFT_OK, "domain_open");
    for (size_t at = 0; at + BYTES <= size; at += BYTES) {
        const struct values values = values_from(data + at);

        operations += try_local(&values) + try_packed(&values) + try_shared(&values, domain);
    }
    must(haft_domain_close(domain) == HAFT_OK, "domain_close");
    return operations;
}
