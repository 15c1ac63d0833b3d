/*
 * haft/kit/detail/typed_restore.h - ids chosen elsewhere for one C type; haft/kit/typed.h says what
 * there is.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_KIT_DETAIL_TYPED_RESTORE_H
#define HAFT_KIT_DETAIL_TYPED_RESTORE_H

#include <haft/detail/typed_local.h>
#include <haft/kit/restore.h>

#define HAFT_TYPED_RESTORE_FUNCTIONS(name)                                                         \
    HAFT_TYPED_CALL(haft_status, name##_local_restore,                                             \
                    (name##_local local, name##_id id, const name##_object *object),               \
                    haft_local_restore(local.local, id.id, object))                                \
    HAFT_TYPED_FUNCTION haft_status name##_local_reserve_at(name##_local local, name##_id id,      \
                                                            name##_object **object)                \
    {                                                                                              \
        void *found = NULL;                                                                        \
        const haft_status status = haft_local_reserve_at(local.local, id.id, &found);              \
        if (status == HAFT_OK && object != NULL) {                                                 \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_local_restore_free, (name##_local local, name##_id next),  \
                    haft_local_restore_free(local.local, next.id))                                 \
    HAFT_TYPED_FUNCTION uint64_t name##_local_for_each_slot(name##_local local,                    \
                                                            name##_visit *visit, void *arg)        \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_local_for_each_slot(local.local, name##_visit_untyped, &visitor);              \
    }

#endif /* HAFT_KIT_DETAIL_TYPED_RESTORE_H */
