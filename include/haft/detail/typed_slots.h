/*
 * haft/detail/typed_slots.h - what typed tables have in common, behind haft/typed.h: a C type, its
 * ids, its slots and its view.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_TYPED_SLOTS_H
#define HAFT_DETAIL_TYPED_SLOTS_H

#include <haft/detail/compiler.h>
#include <haft/status.h>
#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A C type, as tables see it. */
typedef struct haft_type {
    size_t size;
    size_t alignment;
    size_t slot_size; /* of a slot with its word, and pins if any */
    bool has_pins;
} haft_type;

/*
 * haft_type_complete - fill in what the type says of a table's options.
 *
 * Returns   HAFT_OK and the options' values, which were 0 or the same before.  Otherwise nothing
 *           has changed:
 *             HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT   it is another
 *             HAFT_BAD_PINS   the type was not declared by HAFT_TYPED_PINNED
 */
haft_status haft_type_complete(haft_type type, size_t *object_size, size_t *object_alignment,
                               bool *pins);

/*
 * haft_type_fits - whether a local or shared table has objects of the type: by size, alignment,
 * pins, and the distance of its slots.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool has_pins);

#ifdef __cplusplus
}
#endif

/* Static in C++ as well: two files may have typed tables of one name.  Unused, so that no compiler
 * warns of those that a program does not call. */
#define HAFT_TYPED_FUNCTION static inline HAFT_UNUSED

/* A function that is one call: with a result, and without. */
#define HAFT_TYPED_CALL(result, name, parameters, call)                                            \
    HAFT_TYPED_FUNCTION result name parameters                                                     \
    {                                                                                              \
        return call;                                                                               \
    }
#define HAFT_TYPED_DO(name, parameters, call)                                                      \
    HAFT_TYPED_FUNCTION void name parameters                                                       \
    {                                                                                              \
        call;                                                                                      \
    }

/* A reservation from `from`: `call` puts the object into `found`. */
#define HAFT_TYPED_RESERVE(name, function, from, call)                                             \
    HAFT_TYPED_FUNCTION haft_status function(from, name##_id *id, name##_object **object)          \
    {                                                                                              \
        void *found;                                                                               \
        const haft_status status = call;                                                           \
        if (status == HAFT_OK && object != NULL) {                                                 \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return status;                                                                             \
    }

/* name_kind_adopt(): a table or worker opened elsewhere, whose view is `untyped`. */
#define HAFT_TYPED_ADOPT(name, kind, untyped)                                                      \
    HAFT_TYPED_FUNCTION haft_status name##_##kind##_adopt(haft_##kind *kind, name##_##kind *typed) \
    {                                                                                              \
        const haft_status status = haft_##kind##_fits(kind, name##_type());                        \
        if (status == HAFT_OK) {                                                                   \
            typed->kind = kind;                                                                    \
            typed->view = name##_view_of(untyped);                                                 \
        }                                                                                          \
        return status;                                                                             \
    }

/* name_kind_open(): `call` opens `kind`. */
#define HAFT_TYPED_OPEN(name, function, kind, parameters, call)                                    \
    HAFT_TYPED_FUNCTION haft_status function parameters                                            \
    {                                                                                              \
        haft_##kind *kind;                                                                         \
        const haft_status status = call;                                                           \
        return status == HAFT_OK ? name##_##kind##_adopt(kind, typed) : status;                    \
    }

#define HAFT_TYPED_ID_FUNCTIONS(name)                                                              \
    HAFT_TYPED_FUNCTION name##_id name##_id_of(haft_id id)                                         \
    {                                                                                              \
        name##_id typed = {id};                                                                    \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_id, name##_id_untyped, (name##_id id), id.id)                             \
    HAFT_TYPED_CALL(name##_id, name##_id_nil, (void), name##_id_of(HAFT_NIL))                      \
    HAFT_TYPED_CALL(bool, name##_id_is_nil, (name##_id id), haft_id_is_nil(id.id))                 \
    HAFT_TYPED_CALL(bool, name##_id_equal, (name##_id a, name##_id b), haft_id_equal(a.id, b.id))

/*
 * What lies before an object, in words: the slot's own word, last, and what fills up to the
 * alignment.  The pins of the slot before lie there as well, so the slots of a table are an array
 * of these structs in any case.
 */
#define HAFT_TYPED_WORDS(type, pinned)                                                             \
    (HAFT_ALIGNOF(type) > 8 ? HAFT_ALIGNOF(type) / 8 : HAFT_CAST(size_t, 1 + (pinned)))

#define HAFT_TYPED_SLOTS(name, type, pinned)                                                       \
    typedef type name##_object;                                                                    \
    typedef struct name##_slot {                                                                   \
        HAFT_ALIGNED(8) uint64_t word[HAFT_TYPED_WORDS(type, pinned)];                             \
        name##_object object;                                                                      \
    } name##_slot;                                                                                 \
    typedef struct name##_view {                                                                   \
        name##_slot *slot;                                                                         \
        uint64_t mask;                                                                             \
    } name##_view;                                                                                 \
    typedef struct name##_ref {                                                                    \
        haft_ref ref;                                                                              \
    } name##_ref;                                                                                  \
    typedef bool name##_visit(name##_id id, name##_object *object, void *arg);                     \
                                                                                                   \
    HAFT_TYPED_FUNCTION haft_type name##_type(void)                                                \
    {                                                                                              \
        haft_type self = {sizeof(type), HAFT_ALIGNOF(type), sizeof(name##_slot), (pinned) != 0};   \
        return self;                                                                               \
    }                                                                                              \
    HAFT_TYPED_FUNCTION name##_view name##_view_of(haft_view view)                                 \
    {                                                                                              \
        char *first = view.base - 8 * (HAFT_TYPED_WORDS(type, pinned) - 1);                        \
        name##_view typed = {HAFT_CAST(name##_slot *, HAFT_CAST(void *, first)), view.mask};       \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_view name##_view_untyped(name##_view view)                            \
    {                                                                                              \
        char *first = HAFT_CAST(char *, HAFT_CAST(void *, view.slot));                             \
        haft_view untyped = {first + 8 * (HAFT_TYPED_WORDS(type, pinned) - 1), view.mask,          \
                             sizeof(name##_slot)};                                                 \
        return untyped;                                                                            \
    }                                                                                              \
    HAFT_TYPED_CALL(name##_object *, name##_resolve, (name##_view view, name##_id id),             \
                    HAFT_CAST(name##_object *, haft_resolve(name##_view_untyped(view), id.id)))    \
    HAFT_TYPED_CALL(bool, name##_is_live, (name##_view view, name##_id id),                        \
                    haft_is_live(name##_view_untyped(view), id.id))                                \
    HAFT_TYPED_CALL(                                                                               \
        size_t, name##_resolve_many,                                                               \
        (name##_view view, const name##_id *ids, name##_object **objects, size_t count),           \
        haft_resolve_many(name##_view_untyped(view), &ids->id,                                     \
                          HAFT_CAST(void **, HAFT_CAST(void *, objects)), count))                  \
    HAFT_TYPED_FUNCTION name##_ref name##_ref_of(name##_view view, name##_id id)                   \
    {                                                                                              \
        name##_ref typed = {haft_ref_of(name##_view_untyped(view), id.id)};                        \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_CALL(name##_object *, name##_ref_get, (name##_ref ref),                             \
                    HAFT_CAST(name##_object *, haft_ref_get(ref.ref)))                             \
    HAFT_TYPED_CALL(bool, name##_ref_is_live, (name##_ref ref), haft_ref_is_live(ref.ref))         \
    HAFT_TYPED_CALL(name##_id, name##_ref_id, (name##_ref ref),                                    \
                    name##_id_of(haft_ref_id(ref.ref)))                                            \
    HAFT_TYPED_VISITOR(name)                                                                       \
    struct name##_slot

/* How a typed visitor is called by what knows untyped ones only. */
#define HAFT_TYPED_VISITOR(name)                                                                   \
    struct name##_visitor {                                                                        \
        name##_visit *visit;                                                                       \
        void *arg;                                                                                 \
    };                                                                                             \
    HAFT_TYPED_FUNCTION bool name##_visit_untyped(haft_id id, void *object, void *arg)             \
    {                                                                                              \
        const struct name##_visitor *visitor = HAFT_CAST(const struct name##_visitor *, arg);      \
        return visitor->visit(name##_id_of(id), HAFT_CAST(name##_object *, object), visitor->arg); \
    }

#endif /* HAFT_DETAIL_TYPED_SLOTS_H */
