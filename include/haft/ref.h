/*
 * haft/ref.h - an id together with the place it leads to: checked without the table.
 *
 * A ref takes 16 bytes where an id takes 8 (12 with addresses of 32 bits), and spares the reader
 * the table's view.  It goes stale exactly when its id does, and is as safe to keep, but for one
 * thing: it must not be used once its table has been closed.  (An id is still just a number then.)
 * It stays good through haft_share(), haft_unshare() and haft_local_trim(), which leave slots where
 * they are.
 *
 * Refs are made by haft_ref_of() alone.  Zeroed memory is a nil ref.  A ref is not for saving or
 * sending, and one made of bytes from outside may point anywhere: give ids to others.
 *
 * Packed tables have none: their objects move.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_ref_get, haft_ref_is_live (acquire)
 *            object before word
 */
#ifndef HAFT_REF_H
#define HAFT_REF_H

#include <haft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_ref {
    haft_atomic_u64 *word; /* the slot's, with the object behind it; NULL: nil */
    haft_id id;
} haft_ref;

/*
 * haft_ref_of - a ref to the object that an id names.
 *
 * Returns   the ref; a nil one if the id is not live at this moment.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().  For a
 *           haft_local: the table's thread.
 * Ordering  as haft_resolve().
 * Progress  wait-free.
 * Cost      that of haft_resolve().
 */
static inline haft_ref haft_ref_of(haft_view view, haft_id id)
{
    char *object = (char *)haft_resolve(view, id);
    haft_ref ref = {NULL, {0}};

    if (object != NULL) {
        ref.word = (haft_atomic_u64 *)(void *)(object - sizeof(uint64_t));
        ref.id = id;
    }
    return ref;
}

/*
 * haft_ref_is_live - whether the object still lives at this moment.
 *
 * Returns   true or false: a snapshot, as haft_is_live().
 * Threads   any, also outside read sections, alongside any call but haft_table_close().  For a
 *           haft_local: the table's thread.
 * Ordering  acquire when true; none when false.
 * Progress  wait-free.
 * Cost      one load and one comparison, and a test for nil.
 */
static inline bool haft_ref_is_live(haft_ref ref)
{
    return ref.word != NULL && haft_load_acquire(HAFT_EDGE_PUBLISH, ref.word) == ref.id.bits;
}

/*
 * haft_ref_get - the object, or NULL.
 *
 * Returns   what haft_resolve() gives for the ref's id: pointer to the object's bytes, or NULL if
 *           it has been freed, or the ref is nil.
 * Threads   as haft_resolve(): any thread inside a read section of the table's domain, alongside
 *           any call but haft_table_close(); the pointer may be used until the section ends, even
 *           if the object is freed meanwhile.  For a haft_local: the table's thread; the pointer
 *           may be used until the object is freed.
 * Ordering  acquire when non-NULL: all that was written before haft_publish() is visible.
 *           None when NULL.
 * Progress  wait-free.
 * Cost      one load of shared memory and one comparison, and a test of the ref itself for nil.
 */
static inline void *haft_ref_get(haft_ref ref)
{
    return haft_ref_is_live(ref) ? (char *)(void *)ref.word + sizeof(uint64_t) : NULL;
}

/*
 * haft_ref_id, haft_ref_is_nil, haft_ref_equal - the id, HAFT_NIL of a nil ref; whether it is nil;
 * whether two refs name the same object, of the same table.
 *
 * Returns   that, live or not.
 * Threads   any; also after the table has been closed.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1): no slot is touched.
 */
static inline haft_id haft_ref_id(haft_ref ref)
{
    return ref.id;
}

static inline bool haft_ref_is_nil(haft_ref ref)
{
    return ref.word == NULL;
}

static inline bool haft_ref_equal(haft_ref a, haft_ref b)
{
    return a.word == b.word && a.id.bits == b.id.bits;
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_REF_H */
