/*
 * haft/detail/typed_local.h - haft_local for one C type; haft/typed.h says what typed tables are.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_TYPED_LOCAL_H
#define HAFT_DETAIL_TYPED_LOCAL_H

#include <haft/detail/local_front.h>
#include <haft/detail/typed_slots.h>
#include <haft/diagnose.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_local_open_typed - haft_local_open() with size, alignment and pins of the type, for what is
 * 0 in `options`.
 *
 * Returns   as haft_local_open() and haft_type_complete().
 * Threads   as haft_local_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_local_open().
 */
HAFT_ONLY_INLINE haft_status haft_local_open_typed(haft_type type,
                                                   const haft_local_options *options,
                                                   haft_local **local)
{
    haft_local_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &full.pins);

    return status == HAFT_OK ? haft_local_open(&full, local) : status;
}

/*
 * haft_local_fits - whether the table's objects are of the type: see haft_type_fits().
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_local_fits(const haft_local *local, haft_type type)
{
    const haft_info info = haft_local_info(local);

    return haft_type_fits(type, haft_local_view(local), info.object_size, info.pins);
}

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_LOCAL_FUNCTIONS(name)                                                           \
    HAFT_TYPED_ADOPT(name, local, haft_local_view(local))                                          \
    HAFT_TYPED_OPEN(name, name##_local_open, local,                                                \
                    (const haft_local_options *options, name##_local *typed),                      \
                    haft_local_open_typed(name##_type(), options, &local))                         \
    HAFT_TYPED_DO(name##_local_close, (name##_local local), haft_local_close(local.local))         \
    HAFT_TYPED_RESERVE(name, name##_local_reserve, name##_local local,                             \
                       haft_local_reserve(local.local, &id->id, &found))                           \
    HAFT_TYPED_DO(name##_local_publish, (name##_local local, name##_id id),                        \
                  haft_local_publish(local.local, id.id))                                          \
    HAFT_TYPED_DO(name##_local_abort, (name##_local local, name##_id id),                          \
                  haft_local_abort(local.local, id.id))                                            \
    HAFT_TYPED_CALL(haft_status, name##_local_insert,                                              \
                    (name##_local local, const name##_object *object, name##_id *id),              \
                    haft_local_insert_front(local.local, name##_view_untyped(local.view), object,  \
                                            sizeof(name##_object), &id->id))                       \
    HAFT_TYPED_CALL(haft_status, name##_local_free, (name##_local local, name##_id id),            \
                    haft_local_free_front(local.local, name##_view_untyped(local.view), id.id))    \
    HAFT_TYPED_CALL(haft_status, name##_local_diagnose, (name##_local local, name##_id id),        \
                    haft_local_diagnose(local.local, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_local_id_at,                                               \
                    (name##_local local, uint64_t index, name##_id * id),                          \
                    haft_local_id_at(local.local, index, &id->id))                                 \
    HAFT_TYPED_CALL(                                                                               \
        name##_object *, name##_local_require, (name##_local local, name##_id id),                 \
        HAFT_CAST(name##_object *,                                                                 \
                  haft_local_require(local.local, name##_view_untyped(local.view), id.id)))        \
    HAFT_TYPED_FUNCTION uint64_t name##_local_for_each(name##_local local, name##_visit *visit,    \
                                                       void *arg)                                  \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_local_for_each(local.local, name##_visit_untyped, &visitor);                   \
    }

#endif /* HAFT_DETAIL_TYPED_LOCAL_H */
