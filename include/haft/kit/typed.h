/*
 * haft/kit/typed.h - more for one C type, as haft/typed.h.
 *
 *   HAFT_TYPED_PACKED(ship);    ship_packed
 *   HAFT_TYPED_RESTORE(ship);   ship_local_restore(), ...
 */
#ifndef HAFT_KIT_TYPED_H
#define HAFT_KIT_TYPED_H

#include <haft/kit/detail/typed_packed.h>
#include <haft/kit/detail/typed_restore.h>
#include <haft/typed.h>

/*
 * HAFT_TYPED_PACKED(name) - after HAFT_TYPED(name, type).
 *
 *   name_packed { packed, view }, name_dense_view { slot, mask, objects }
 *   name_packed_open(options, &ships), name_packed_adopt(packed, &ships), name_packed_close(ships)
 *   name_packed_resolve(view, id), name_packed_is_live(view, id)
 *   name_packed_diagnose, _id_at, _state, _position, _require, _objects, _ids, _id_in, _insert,
 *   _free, _kill, _sort, _sort_n, _sort_as, _swap
 *
 *   for (uint64_t i = 0; i < haft_packed_count(ships.packed); i++) {
 *       ships.view.objects[i].x += 1;
 *   }
 */
#define HAFT_TYPED_PACKED(name)                                                                    \
    typedef struct name##_dense_view {                                                             \
        const haft_packed_slot *slot;                                                              \
        uint64_t mask;                                                                             \
        name##_object *objects;                                                                    \
    } name##_dense_view;                                                                           \
    typedef struct name##_packed {                                                                 \
        haft_packed *packed;                                                                       \
        name##_dense_view view;                                                                    \
    } name##_packed;                                                                               \
    HAFT_TYPED_PACKED_FUNCTIONS(name)                                                              \
    struct name##_packed

/*
 * HAFT_TYPED_RESTORE(name) - after HAFT_TYPED_LOCAL(name): haft/kit/restore.h.
 *
 *   name_local_restore, _reserve_at, _restore_free, _for_each_slot
 */
#define HAFT_TYPED_RESTORE(name)                                                                   \
    HAFT_TYPED_RESTORE_FUNCTIONS(name)                                                             \
    struct name##_local

#endif /* HAFT_KIT_TYPED_H */
