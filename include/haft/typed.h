/*
 * haft/typed.h - tables for one C type: ids that cannot be mixed up, pointers without casts, and
 * slots whose size the compiler knows.
 *
 *   HAFT_TYPED_ID(ship);                 ship_id, for objects that hold ids of each other
 *   struct ship { ship_id target; ... };
 *   HAFT_TYPED(ship, struct ship);       ship_view, ship_resolve(), ...
 *   HAFT_TYPED_LOCAL(ship);              ship_local
 *   HAFT_TYPED_TABLE(ship);              ship_table, ship_worker, ship_cursor
 *   HAFT_TYPED_SHARE(ship);              ship_share(), ship_unshare()
 *   HAFT_TYPED_COUNTED(ship);            ship_counted
 *
 * For tables with pins HAFT_TYPED_PINNED() takes the place of HAFT_TYPED().
 *
 * One rule for names: ship_X is haft_X for ships, one call of it, with its contract.  Only the
 * _adopt functions, for tables that were opened untyped, are new.  Objects are `struct ship`, and
 * ids ship_id.  ship_local_insert(), ship_local_free(), ship_insert() and ship_free() are inline.
 * Functions with neither keep their names: haft_table_stats_get(ships.table).  Callbacks in options
 * get untyped ids and objects, for ship_id_of() and a cast.
 *
 * Opening fills in object_size, object_alignment and pins of the options; where they are set, and
 * not the type's, the status is HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT or HAFT_BAD_PINS.
 * A table that is adopted, having been opened elsewhere, is HAFT_WRONG_TYPE, and the result is
 * untouched, if its objects are of another size, less aligned or farther apart than in a table of
 * the type, or only one of the two has pins; of a counted table, of another size or less aligned.
 * Open it with object_alignment = _Alignof(type).
 *
 * A typed table is a small struct, passed by value: the table itself, which is closed once however
 * many copies there are, and its view.  ship_resolve() needs no multiplication: the distance from
 * slot to slot is a constant.
 *
 * In a debugger ships.view.slot[17] is the slot of index 17: its word, and the object as the
 * struct it is.  Each function here has a frame, all on the line of its macro, and a step from
 * there goes on into haft's function.  Set breakpoints in that one: in a function of a single line
 * they may stop before its arguments can be read.
 */
#ifndef HAFT_TYPED_H
#define HAFT_TYPED_H

#include <haft/detail/typed_counted.h>
#include <haft/detail/typed_local.h>
#include <haft/detail/typed_slots.h>
#include <haft/detail/typed_table.h>

/*
 * HAFT_TYPED_ID(name) - the type name_id, and what can be done with an id alone.
 *
 *   name_id_of(id), name_id_untyped(id)   from and to haft_id: the only ways
 *   name_id_nil(), name_id_is_nil(id), name_id_equal(a, b)
 *
 * All: any thread, no ordering, wait-free, O(1).  Zeroed memory is a nil id.  Nothing more is
 * needed for an allocator of ids alone.
 */
#define HAFT_TYPED_ID(name)                                                                        \
    typedef struct name##_id {                                                                     \
        haft_id id;                                                                                \
    } name##_id;                                                                                   \
    HAFT_TYPED_ID_FUNCTIONS(name)                                                                  \
    struct name##_id

/*
 * HAFT_TYPED(name, type) - after HAFT_TYPED_ID(name), with `type` complete: what local and shared
 * tables have in common.  HAFT_TYPED_PINNED(name, type): the same for tables with pins.
 *
 *   name_object    the type
 *   name_view      the view: its slots and the mask
 *   name_ref       haft_ref
 *   name_visit     a visitor, for name_scan() and name_local_for_each()
 *   name_resolve, name_is_live, name_resolve_many
 *   name_ref_of, name_ref_get, name_ref_is_live, name_ref_id
 *
 * The rest is for the other macros: name_type(), name_view_of(), which asks nothing, and
 * name_view_untyped().
 */
#define HAFT_TYPED(name, type) HAFT_TYPED_SLOTS(name, type, 0)
#define HAFT_TYPED_PINNED(name, type) HAFT_TYPED_SLOTS(name, type, 1)

/*
 * HAFT_TYPED_LOCAL(name) - after HAFT_TYPED(name, type).
 *
 *   name_local { local, view }
 *   name_local_open(options, &ships), name_local_adopt(local, &ships), name_local_close(ships)
 *   name_local_reserve, _publish, _abort, _insert, _free, _diagnose, _id_at, _require, _for_each
 *
 * Objects are resolved by name_resolve(ships.view, id).
 */
#define HAFT_TYPED_LOCAL(name)                                                                     \
    typedef struct name##_local {                                                                  \
        haft_local *local;                                                                         \
        name##_view view;                                                                          \
    } name##_local;                                                                                \
    HAFT_TYPED_LOCAL_FUNCTIONS(name)                                                               \
    struct name##_local

/*
 * HAFT_TYPED_TABLE(name) - after HAFT_TYPED(name, type).
 *
 *   name_table { table, view }
 *   name_table_open(domain, options, &ships), name_table_adopt(table, &ships),
 *   name_table_close(ships)
 *   name_diagnose, name_id_at, name_require
 *
 *   name_worker { worker, view }
 *   name_worker_open(ships, &worker)
 *   name_worker_adopt(worker, &typed)   one opened elsewhere, or that on_reclaim gets;
 *                                       HAFT_WRONG_TYPE also if the library is not of the headers'
 *                                       version
 *   name_worker_close(worker)
 *   name_reserve, name_publish, name_abort, name_insert, name_reserve_wait, name_insert_wait,
 *   name_free; name_insert_many, name_free_many
 *
 *   name_cursor { cursor }: name_cursor_over, name_cursor_next; name_scan
 *   name_table_free: without a worker
 *   name_pin, name_unpin, name_pins: after HAFT_TYPED_PINNED
 *
 * Objects are resolved by name_resolve(ships.view, id).
 */
#define HAFT_TYPED_TABLE(name)                                                                     \
    typedef struct name##_table {                                                                  \
        haft_table *table;                                                                         \
        name##_view view;                                                                          \
    } name##_table;                                                                                \
    typedef struct name##_worker {                                                                 \
        haft_worker *worker;                                                                       \
        name##_view view;                                                                          \
    } name##_worker;                                                                               \
    typedef struct name##_cursor {                                                                 \
        haft_cursor cursor;                                                                        \
    } name##_cursor;                                                                               \
                                                                                                   \
    HAFT_TYPED_WHOLE_TABLE(name)                                                                   \
    HAFT_TYPED_WORKER(name)                                                                        \
    HAFT_TYPED_MANY(name)                                                                          \
    HAFT_TYPED_SCAN(name)                                                                          \
    struct name##_table

/*
 * HAFT_TYPED_SHARE(name) - after HAFT_TYPED_LOCAL(name) and HAFT_TYPED_TABLE(name): haft/share.h.
 *
 *   name_share(local, domain, options, &table), name_unshare(table, &local)
 */
#define HAFT_TYPED_SHARE(name)                                                                     \
    HAFT_TYPED_SHARE_FUNCTIONS(name)                                                               \
    struct name##_local

/*
 * HAFT_TYPED_COUNTED(name) - after HAFT_TYPED(name, type).
 *
 *   name_counted { counted }
 *   name_counted_open(options, &ships), name_counted_adopt(counted, &ships)
 *   name_counted_close(ships), _close_wait, _abandon
 *   name_counted_insert, _reserve, _publish, _abort, _free, _take, _acquire, _require, _again,
 *   _release, _copy, _is_live, _diagnose, _id_at, _cursor_next
 */
#define HAFT_TYPED_COUNTED(name)                                                                   \
    typedef struct name##_counted {                                                                \
        haft_counted *counted;                                                                     \
    } name##_counted;                                                                              \
                                                                                                   \
    HAFT_TYPED_COUNTED_WHOLE(name)                                                                 \
    HAFT_TYPED_COUNTED_LIVES(name)                                                                 \
    HAFT_TYPED_COUNTED_HOLDS(name)                                                                 \
    HAFT_TYPED_COUNTED_LOOKS(name)                                                                 \
    struct name##_counted

#endif /* HAFT_TYPED_H */
