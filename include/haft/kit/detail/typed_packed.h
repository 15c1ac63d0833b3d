/*
 * haft/kit/detail/typed_packed.h - haft_packed for one C type; haft/typed.h says what typed tables
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
#ifndef HAFT_DETAIL_TYPED_PACKED_H
#define HAFT_DETAIL_TYPED_PACKED_H

#include <haft/detail/typed_slots.h>
#include <haft/kit/packed.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_packed_open_typed - haft_packed_open() with size and alignment of the type, for what is 0 in
 * `options`.
 *
 * Returns   as haft_packed_open() and haft_type_complete().
 * Threads   as haft_packed_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_packed_open().
 */
HAFT_ONLY_INLINE haft_status haft_packed_open_typed(haft_type type,
                                                    const haft_packed_options *options,
                                                    haft_packed **packed)
{
    haft_packed_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    bool pins = false;
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &pins);

    return status == HAFT_OK ? haft_packed_open(&full, packed) : status;
}

/*
 * haft_type_fits_packed - whether a packed table has objects of the type, by size and alignment.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_type_fits_packed(haft_type type, haft_dense_view view);

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_PACKED_FUNCTIONS(name)                                                          \
    struct name##_packed_comparer {                                                                \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg);                 \
        void *arg;                                                                                 \
    };                                                                                             \
                                                                                                   \
    HAFT_TYPED_FUNCTION haft_dense_view name##_dense_view_untyped(name##_dense_view view)          \
    {                                                                                              \
        haft_dense_view untyped = {view.slot, view.mask,                                           \
                                   HAFT_CAST(char *, HAFT_CAST(void *, view.objects)),             \
                                   sizeof(name##_object)};                                         \
        return untyped;                                                                            \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_adopt(haft_packed *packed, name##_packed *typed) \
    {                                                                                              \
        const haft_dense_view view = haft_packed_view(packed);                                     \
        const haft_status status = haft_type_fits_packed(name##_type(), view);                     \
        if (status == HAFT_OK) {                                                                   \
            typed->packed = packed;                                                                \
            typed->view.slot = view.slot;                                                          \
            typed->view.mask = view.mask;                                                          \
            typed->view.objects = HAFT_CAST(name##_object *, HAFT_CAST(void *, view.objects));     \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_open(const haft_packed_options *options,         \
                                                       name##_packed *typed)                       \
    {                                                                                              \
        haft_packed *packed;                                                                       \
        const haft_status status = haft_packed_open_typed(name##_type(), options, &packed);        \
        return status == HAFT_OK ? name##_packed_adopt(packed, typed) : status;                    \
    }                                                                                              \
    HAFT_TYPED_DO(name##_packed_close, (name##_packed packed), haft_packed_close(packed.packed))   \
    HAFT_TYPED_CALL(                                                                               \
        name##_object *, name##_packed_resolve, (name##_dense_view view, name##_id id),            \
        HAFT_CAST(name##_object *, haft_packed_resolve(name##_dense_view_untyped(view), id.id)))   \
    HAFT_TYPED_CALL(bool, name##_packed_is_live, (name##_dense_view view, name##_id id),           \
                    haft_packed_is_live(name##_dense_view_untyped(view), id.id))                   \
    HAFT_TYPED_CALL(haft_status, name##_packed_diagnose, (name##_packed packed, name##_id id),     \
                    haft_packed_diagnose(packed.packed, id.id))                                    \
    HAFT_TYPED_CALL(haft_status, name##_packed_id_at,                                              \
                    (name##_packed packed, uint64_t index, name##_id * id),                        \
                    haft_packed_id_at(packed.packed, index, &id->id))                              \
    HAFT_TYPED_CALL(haft_packed_life, name##_packed_state, (name##_packed packed, name##_id id),   \
                    haft_packed_state(packed.packed, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_packed_position,                                           \
                    (name##_packed packed, name##_id id, uint64_t * position),                     \
                    haft_packed_position(packed.packed, id.id, position))                          \
    HAFT_TYPED_CALL(name##_object *, name##_packed_require, (name##_packed packed, name##_id id),  \
                    HAFT_CAST(name##_object *,                                                     \
                              haft_packed_require(packed.packed,                                   \
                                                  name##_dense_view_untyped(packed.view), id.id))) \
    HAFT_TYPED_CALL(name##_object *, name##_packed_objects, (name##_packed packed),                \
                    packed.view.objects)                                                           \
    HAFT_TYPED_CALL(                                                                               \
        const name##_id *, name##_packed_ids, (name##_packed packed),                              \
        HAFT_CAST(const name##_id *, HAFT_CAST(const void *, haft_packed_ids(packed.packed))))     \
    HAFT_TYPED_CALL(name##_id, name##_packed_id_in, (name##_packed packed, uint64_t position),     \
                    name##_id_of(haft_packed_id_in(packed.packed, position)))                      \
    HAFT_TYPED_CALL(haft_status, name##_packed_insert,                                             \
                    (name##_packed packed, const name##_object *object, name##_id *id),            \
                    haft_packed_insert(packed.packed, object, &id->id))                            \
    HAFT_TYPED_CALL(haft_status, name##_packed_free, (name##_packed packed, name##_id id),         \
                    haft_packed_free(packed.packed, id.id))                                        \
    HAFT_TYPED_CALL(haft_status, name##_packed_kill, (name##_packed packed, name##_id id),         \
                    haft_packed_kill(packed.packed, id.id))                                        \
    HAFT_TYPED_FUNCTION int name##_packed_compare_untyped(const void *a, const void *b, void *arg) \
    {                                                                                              \
        const struct name##_packed_comparer *comparer =                                            \
            HAFT_CAST(const struct name##_packed_comparer *, arg);                                 \
        return comparer->compare(HAFT_CAST(const name##_object *, a),                              \
                                 HAFT_CAST(const name##_object *, b), comparer->arg);              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_sort_n(                                          \
        name##_packed packed, uint64_t n,                                                          \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg), void *arg)      \
    {                                                                                              \
        struct name##_packed_comparer comparer = {compare, arg};                                   \
        return haft_packed_sort_n(packed.packed, n, name##_packed_compare_untyped, &comparer);     \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_status name##_packed_sort(                                            \
        name##_packed packed,                                                                      \
        int (*compare)(const name##_object *a, const name##_object *b, void *arg), void *arg)      \
    {                                                                                              \
        return name##_packed_sort_n(packed, UINT64_MAX, compare, arg);                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_packed_sort_as,                                            \
                    (name##_packed packed, const name##_id *ids, uint64_t count),                  \
                    haft_packed_sort_as(packed.packed,                                             \
                                        HAFT_CAST(const haft_id *, HAFT_CAST(const void *, ids)),  \
                                        count))                                                    \
    HAFT_TYPED_CALL(haft_status, name##_packed_swap,                                               \
                    (name##_packed packed, name##_id a, name##_id b),                              \
                    haft_packed_swap(packed.packed, a.id, b.id))

#endif /* HAFT_DETAIL_TYPED_PACKED_H */
