/*
 * haft/detail/typed_table.h - shared tables, workers and scans for one C type; haft/typed.h says
 * what typed tables are.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_TYPED_TABLE_H
#define HAFT_DETAIL_TYPED_TABLE_H

#include <haft/detail/table_front.h>
#include <haft/detail/typed_slots.h>
#include <haft/diagnose.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>
#include <haft/table.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_table_open_typed - haft_table_open() with size, alignment and pins of the type, for what is
 * 0 in `options`.
 *
 * Returns   as haft_table_open() and haft_type_complete().
 * Threads   as haft_table_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_table_open().
 */
HAFT_ONLY_INLINE haft_status haft_table_open_typed(haft_type type, haft_domain *domain,
                                                   const haft_table_options *options,
                                                   haft_table **table)
{
    haft_table_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &full.pins);

    return status == HAFT_OK ? haft_table_open(domain, &full, table) : status;
}

/*
 * haft_table_fits - whether the table's objects are of the type: see haft_type_fits().
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_table_fits(const haft_table *table, haft_type type)
{
    const haft_info info = haft_table_info(table);

    return haft_type_fits(type, haft_table_view(table), info.object_size, info.pins);
}

/*
 * haft_worker_fits - haft_table_fits() of its table, and whether the library is of the version that
 * calls in place are for.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_worker_fits(const haft_worker *worker, haft_type type)
{
    return haft_worker_has_front(worker) ? haft_table_fits(haft_worker_table(worker), type)
                                         : HAFT_WRONG_TYPE;
}

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_WHOLE_TABLE(name)                                                               \
    HAFT_TYPED_ADOPT(name, table, haft_table_view(table))                                          \
    HAFT_TYPED_OPEN(                                                                               \
        name, name##_table_open, table,                                                            \
        (haft_domain * domain, const haft_table_options *options, name##_table *typed),            \
        haft_table_open_typed(name##_type(), domain, options, &table))                             \
    HAFT_TYPED_CALL(haft_status, name##_table_clear, (name##_table table),                         \
                    haft_table_clear(table.table))                                                 \
    HAFT_TYPED_CALL(haft_status, name##_table_close, (name##_table table),                         \
                    haft_table_close(table.table))                                                 \
    HAFT_TYPED_CALL(haft_status, name##_diagnose, (name##_table table, name##_id id),              \
                    haft_diagnose(table.table, id.id))                                             \
    HAFT_TYPED_CALL(haft_status, name##_id_at,                                                     \
                    (name##_table table, uint64_t index, name##_id * id),                          \
                    haft_id_at(table.table, index, &id->id))                                       \
    HAFT_TYPED_CALL(name##_object *, name##_require, (name##_table table, name##_id id),           \
                    HAFT_CAST(name##_object *,                                                     \
                              haft_require(table.table, name##_view_untyped(table.view), id.id)))  \
    HAFT_TYPED_CALL(haft_status, name##_table_free, (name##_table table, name##_id id),            \
                    haft_table_free(table.table, id.id))                                           \
    HAFT_TYPED_CALL(name##_object *, name##_pin, (name##_table table, name##_id id),               \
                    HAFT_CAST(name##_object *, haft_pin(table.table, id.id)))                      \
    HAFT_TYPED_CALL(haft_status, name##_unpin, (name##_table table, name##_id id),                 \
                    haft_unpin(table.table, id.id))                                                \
    HAFT_TYPED_CALL(uint32_t, name##_pins, (name##_table table, name##_id id),                     \
                    haft_pins(table.table, id.id))

#define HAFT_TYPED_WORKER(name)                                                                    \
    HAFT_TYPED_ADOPT(name, worker, haft_table_view(haft_worker_table(worker)))                     \
    HAFT_TYPED_FUNCTION haft_status name##_worker_open(name##_table table, name##_worker *worker)  \
    {                                                                                              \
        haft_worker *opened;                                                                       \
        haft_status status = haft_worker_open(table.table, &opened);                               \
        if (status != HAFT_OK) {                                                                   \
            return status;                                                                         \
        }                                                                                          \
        status = name##_worker_adopt(opened, worker);                                              \
        if (status != HAFT_OK) {                                                                   \
            haft_worker_close(opened);                                                             \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_worker_close, (name##_worker worker),                      \
                    haft_worker_close(worker.worker))                                              \
    HAFT_TYPED_RESERVE(name, name##_reserve, name##_worker worker,                                 \
                       haft_reserve(worker.worker, &id->id, &found))                               \
    HAFT_TYPED_RESERVE(name, name##_reserve_wait, name##_worker worker,                            \
                       haft_reserve_wait(worker.worker, &id->id, &found))                          \
    HAFT_TYPED_DO(name##_publish, (name##_worker worker, name##_id id),                            \
                  haft_publish(worker.worker, id.id))                                              \
    HAFT_TYPED_DO(name##_abort, (name##_worker worker, name##_id id),                              \
                  haft_abort(worker.worker, id.id))                                                \
    HAFT_TYPED_CALL(haft_status, name##_insert,                                                    \
                    (name##_worker worker, const name##_object *object, name##_id *id),            \
                    haft_insert_front(worker.worker, name##_view_untyped(worker.view), object,     \
                                      sizeof(name##_object), &id->id))                             \
    HAFT_TYPED_CALL(haft_status, name##_insert_wait,                                               \
                    (name##_worker worker, const name##_object *object, name##_id *id),            \
                    haft_insert_wait(worker.worker, object, &id->id))                              \
    HAFT_TYPED_CALL(haft_status, name##_free, (name##_worker worker, name##_id id),                \
                    haft_free_front(worker.worker, name##_view_untyped(worker.view), id.id))

#define HAFT_TYPED_MANY(name)                                                                      \
    HAFT_TYPED_CALL(size_t, name##_insert_many,                                                    \
                    (name##_worker worker, const name##_object *objects, name##_id *ids,           \
                     size_t count, haft_status *why),                                              \
                    haft_insert_many(worker.worker, objects, &ids->id, count, why))                \
    HAFT_TYPED_CALL(                                                                               \
        size_t, name##_free_many,                                                                  \
        (name##_worker worker, const name##_id *ids, size_t count, haft_status *statuses),         \
        haft_free_many(worker.worker, &ids->id, count, statuses))

#define HAFT_TYPED_SCAN(name)                                                                      \
    HAFT_TYPED_FUNCTION name##_cursor name##_cursor_over(name##_table table, haft_range range)     \
    {                                                                                              \
        name##_cursor typed = {haft_cursor_over(table.table, range)};                              \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION bool name##_cursor_next(name##_cursor *cursor, name##_id *id,              \
                                                name##_object **object)                            \
    {                                                                                              \
        void *found;                                                                               \
        const bool is_there = haft_cursor_next(&cursor->cursor, &id->id, &found);                  \
        if (is_there && object != NULL) {                                                          \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return is_there;                                                                           \
    }                                                                                              \
    HAFT_TYPED_FUNCTION uint64_t name##_scan(name##_table table, haft_range range,                 \
                                             name##_visit *visit, void *arg)                       \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_scan(table.table, range, name##_visit_untyped, &visitor);                      \
    }

#define HAFT_TYPED_SHARE_FUNCTIONS(name)                                                           \
    HAFT_TYPED_OPEN(name, name##_share, table,                                                     \
                    (name##_local local, haft_domain * domain, const haft_share_options *options,  \
                     name##_table *typed),                                                         \
                    haft_share(local.local, domain, options, &table))                              \
    HAFT_TYPED_OPEN(name, name##_unshare, local, (name##_table table, name##_local * typed),       \
                    haft_unshare(table.table, &local))

#endif /* HAFT_DETAIL_TYPED_TABLE_H */
