/* Counts of pairs: see cover.h. */
#include "stress/combinations/cover.h"
#include <jansson.h>
#include <stdatomic.h>

#define TEXT(name, ...) #name,
static const char *const feature_names[FEATURE_COUNT] = {ALL_FEATURES(TEXT)};
static const char *const phase_names[PHASE_COUNT] = {ALL_PHASES(TEXT)};
#undef TEXT

static void add(struct pair *pair, uint64_t by, uint64_t seed)
{
    if (by != 0 && atomic_fetch_add_explicit(&pair->count, by, memory_order_relaxed) == 0) {
        atomic_store_explicit(&pair->seed, seed, memory_order_relaxed);
    }
}

static uint32_t features_of(const struct plan_options *options)
{
    uint32_t features = 0;

#define FEATURE_BIT(name, has) features |= (uint32_t)((has) != 0) << FEATURE_##name;
    ALL_FEATURES(FEATURE_BIT)
#undef FEATURE_BIT
    return features;
}

void cover_play(struct cover *cover, const struct plan *plan, const uint64_t *made)
{
    const uint32_t features = features_of(&plan->options);

    for (uint32_t i = 0; i < FEATURE_COUNT; i++) {
        if ((features >> i & 1) == 0) {
            continue;
        }
        for (uint32_t j = 0; j < FEATURE_COUNT; j++) {
            add(&cover->features[i][j], features >> j & 1, plan->seed);
        }
        for (uint32_t call = 0; call < CALL_COUNT; call++) {
            add(&cover->with[call][i], made[call], plan->seed);
        }
    }
}

void cover_call(struct cover *cover, uint64_t seed, uint32_t call, uint32_t phases)
{
    for (uint32_t i = 0; phases != 0; i++, phases >>= 1) {
        if ((phases & 1) != 0) {
            add(&cover->during[call][i], 1, seed);
        }
    }
}

void cover_overlap(struct cover *cover, uint64_t seed, uint32_t call, uint32_t other)
{
    add(&cover->beside[call][other], 1, seed);
    if (call != other) {
        add(&cover->beside[other][call], 1, seed);
    }
}

/* {row: {column: number}} */
static json_t *table_of(const char *const *rows, uint32_t row_count, const char *const *columns,
                        uint32_t column_count, const struct pair *pairs, bool seeds)
{
    json_t *table = json_object();

    for (uint32_t i = 0; i < row_count; i++) {
        json_t *row = json_object();

        for (uint32_t j = 0; j < column_count; j++, pairs++) {
            json_object_set_new(row, columns[j],
                                json_integer((json_int_t)(seeds ? pairs->seed : pairs->count)));
        }
        json_object_set_new(table, rows[i], row);
    }
    return table;
}

static json_t *tables_of(const struct cover *cover, bool seeds)
{
    json_t *tables = json_object();

    json_object_set_new(tables, "features",
                        table_of(feature_names, FEATURE_COUNT, feature_names, FEATURE_COUNT,
                                 &cover->features[0][0], seeds));
    json_object_set_new(
        tables, "with",
        table_of(call_names, CALL_COUNT, feature_names, FEATURE_COUNT, &cover->with[0][0], seeds));
    json_object_set_new(
        tables, "during",
        table_of(call_names, CALL_COUNT, phase_names, PHASE_COUNT, &cover->during[0][0], seeds));
    json_object_set_new(
        tables, "beside",
        table_of(call_names, CALL_COUNT, call_names, CALL_COUNT, &cover->beside[0][0], seeds));
    return tables;
}

void cover_write(FILE *file, const struct cover *cover)
{
    json_t *all = json_object();

    json_object_set_new(all, "counts", tables_of(cover, false));
    json_object_set_new(all, "seeds", tables_of(cover, true));
    json_dumpf(all, file, JSON_INDENT(1));
    fputc('\n', file);
    json_decref(all);
}
