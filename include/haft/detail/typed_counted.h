/*
 * haft/detail/typed_counted.h - haft_counted for one C type; haft/typed.h says what typed tables
 * are.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_TYPED_COUNTED_H
#define HAFT_DETAIL_TYPED_COUNTED_H

#include <haft/counted.h>
#include <haft/detail/typed_slots.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_counted_open_typed - haft_counted_open() with size and alignment of the type, for what is 0
 * in `options`.
 *
 * Returns   as haft_counted_open() and haft_type_complete().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_counted_open().
 */
HAFT_ONLY_INLINE haft_status haft_counted_open_typed(haft_type type,
                                                     const haft_counted_options *options,
                                                     haft_counted **table)
{
    haft_counted_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    bool pins = false;
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &pins);

    return status == HAFT_OK ? haft_counted_open(&full, table) : status;
}

/*
 * haft_counted_fits - whether the table's objects are of the type, by size and alignment.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_counted_fits(const haft_counted *table, haft_type type);

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_COUNTED_WHOLE(name)                                                             \
    HAFT_TYPED_FUNCTION haft_status name##_counted_adopt(haft_counted *counted,                    \
                                                         name##_counted *typed)                    \
    {                                                                                              \
        const haft_status status = haft_counted_fits(counted, name##_type());                      \
        if (status == HAFT_OK) {                                                                   \
            typed->counted = counted;                                                              \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_counted_open,                                              \
                    (const haft_counted_options *options, name##_counted *typed),                  \
                    haft_counted_open_typed(name##_type(), options, &typed->counted))              \
    HAFT_TYPED_CALL(haft_status, name##_counted_close, (name##_counted table),                     \
                    haft_counted_close(table.counted))                                             \
    HAFT_TYPED_CALL(haft_status, name##_counted_close_wait, (name##_counted table),                \
                    haft_counted_close_wait(table.counted))                                        \
    HAFT_TYPED_DO(name##_counted_abandon, (name##_counted table),                                  \
                  haft_counted_abandon(table.counted))

#define HAFT_TYPED_COUNTED_LIVES(name)                                                             \
    HAFT_TYPED_CALL(haft_status, name##_counted_insert,                                            \
                    (name##_counted table, const name##_object *object, name##_id *id),            \
                    haft_counted_insert(table.counted, object, &id->id))                           \
    HAFT_TYPED_RESERVE(name, name##_counted_reserve, name##_counted table,                         \
                       haft_counted_reserve(table.counted, &id->id, &found))                       \
    HAFT_TYPED_DO(name##_counted_publish, (name##_counted table, name##_id id),                    \
                  haft_counted_publish(table.counted, id.id))                                      \
    HAFT_TYPED_DO(name##_counted_abort, (name##_counted table, name##_id id),                      \
                  haft_counted_abort(table.counted, id.id))                                        \
    HAFT_TYPED_CALL(haft_status, name##_counted_free, (name##_counted table, name##_id id),        \
                    haft_counted_free(table.counted, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_counted_take,                                              \
                    (name##_counted table, name##_id id, name##_object * object),                  \
                    haft_counted_take(table.counted, id.id, object))

#define HAFT_TYPED_COUNTED_HOLDS(name)                                                             \
    HAFT_TYPED_CALL(name##_object *, name##_counted_acquire, (name##_counted table, name##_id id), \
                    HAFT_CAST(name##_object *, haft_counted_acquire(table.counted, id.id)))        \
    HAFT_TYPED_CALL(name##_object *, name##_counted_require, (name##_counted table, name##_id id), \
                    HAFT_CAST(name##_object *, haft_counted_require(table.counted, id.id)))        \
    HAFT_TYPED_CALL(bool, name##_counted_again, (name##_counted table, name##_id id),              \
                    haft_counted_again(table.counted, id.id))                                      \
    HAFT_TYPED_CALL(haft_status, name##_counted_release, (name##_counted table, name##_id id),     \
                    haft_counted_release(table.counted, id.id))                                    \
    HAFT_TYPED_CALL(bool, name##_counted_copy,                                                     \
                    (name##_counted table, name##_id id, name##_object * object),                  \
                    haft_counted_copy(table.counted, id.id, object))

#define HAFT_TYPED_COUNTED_LOOKS(name)                                                             \
    HAFT_TYPED_CALL(bool, name##_counted_is_live, (name##_counted table, name##_id id),            \
                    haft_counted_is_live(table.counted, id.id))                                    \
    HAFT_TYPED_CALL(haft_status, name##_counted_diagnose, (name##_counted table, name##_id id),    \
                    haft_counted_diagnose(table.counted, id.id))                                   \
    HAFT_TYPED_CALL(haft_status, name##_counted_id_at,                                             \
                    (name##_counted table, uint64_t index, name##_id * id),                        \
                    haft_counted_id_at(table.counted, index, &id->id))                             \
    HAFT_TYPED_FUNCTION bool name##_counted_cursor_next(                                           \
        name##_counted table, haft_counted_cursor *cursor, name##_id *id, name##_object **object)  \
    {                                                                                              \
        void *found;                                                                               \
        const bool is_found = haft_counted_cursor_next(table.counted, cursor, &id->id, &found);    \
        if (is_found) {                                                                            \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return is_found;                                                                           \
    }

#endif /* HAFT_DETAIL_TYPED_COUNTED_H */
