/*
 * haft/require.h - resolving ids that must be live: a pointer, or the table's on_bad_access.
 *
 * For code that would only have to check for NULL and give up.  An id that may be stale in a
 * program that is right is resolved, not required: in a shared table that is every id that another
 * thread may free.
 *
 * `view` is the table's own, as haft_local_view() and its kin gave it: to be kept beside the table,
 * so that an id that is live costs no call.
 */
#ifndef HAFT_REQUIRE_H
#define HAFT_REQUIRE_H

#include <haft/local.h>
#include <haft/packed.h>
#include <haft/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Not for programs: what the functions below call when an id does not resolve, apart and out of the
 * way.  `slots` is where the view has its slots; debug builds look whether the table has them, too.
 */
__attribute__((cold)) void *haft_require_failed(const haft_table *table, haft_id id,
                                                const void *slots);
__attribute__((cold)) void *haft_local_require_failed(const haft_local *local, haft_id id,
                                                      const void *slots);
__attribute__((cold)) void *haft_packed_require_failed(const haft_packed *packed, haft_id id,
                                                       const void *slots);

/*
 * haft_require - the object an id names; else the table's on_bad_access, with what haft_diagnose()
 * says of the id.  An id that is published while that is being found out resolves after all.
 *
 * Returns   pointer to the object's bytes, as haft_resolve().  NULL after on_bad_access has
 *           returned; without one the program is aborted.
 * Threads   as haft_resolve(): any thread inside a read section of the table's domain.
 * Ordering  as haft_resolve().
 * Progress  wait-free where the id is live; else lock-free but for on_bad_access.
 * Cost      that of haft_resolve(); the rest only for an id that is not live.
 */
static inline void *haft_require(const haft_table *table, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return __builtin_expect(object != NULL, 1) ? object : haft_require_failed(table, id, view.base);
}

/*
 * haft_local_require, haft_packed_require - the same for the tables of one thread.
 *
 * Returns   as haft_resolve() and haft_packed_resolve(): what is dead in a packed table resolves.
 *           NULL after on_bad_access has returned; without one the program is aborted.
 * Threads   as haft_resolve() of a local table, and as haft_packed_resolve().
 * Ordering  none.
 * Progress  wait-free but for on_bad_access.
 * Cost      as haft_require().
 */
static inline void *haft_local_require(const haft_local *local, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return __builtin_expect(object != NULL, 1) ? object
                                               : haft_local_require_failed(local, id, view.base);
}

static inline void *haft_packed_require(const haft_packed *packed, haft_packed_view view,
                                        haft_id id)
{
    void *object = haft_packed_resolve(view, id);

    return __builtin_expect(object != NULL, 1) ? object
                                               : haft_packed_require_failed(packed, id, view.slots);
}

#ifdef __cplusplus
}
#endif

#endif /* HAFT_REQUIRE_H */
