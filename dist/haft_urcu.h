/*
 * haft_urcu.h - haft 0.2.0: liburcu's flavours as clocks, over haft.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 */
#ifndef HAFT_HAFT_URCU_H
#define HAFT_HAFT_URCU_H

#include "haft.h"
#include <stddef.h>
#include <stdint.h>
#include <urcu/flavor.h>
#include <urcu/static/urcu-qsbr.h>

/*
 * haft/urcu.h - liburcu's flavours as foreign clocks; of haft's files the only one that knows
 * liburcu.
 *
 *   options.foreign_clock = haft_urcu_memb();
 *   options.clock = HAFT_CLOCK_CALLER;
 *
 * The program links the flavours that it names (-lurcu-memb ...); haft itself links none.  This
 * header declares all flavours, where liburcu's own declare one a source file.
 *
 *   memb, mb, bp   sections from begin to end; with bp threads need not register
 *   qsbr           a thread is online from haft_thread_register() on
 *
 * The layout of liburcu's records of readers is compiled in, so that haft can ask whether a thread
 * is registered: qsbr's in all builds of the program, memb's and mb's in debug builds, for asserts.
 * Nothing of liburcu is inlined.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

#ifndef NDEBUG
#include <urcu/static/urcu-mb.h>
#include <urcu/static/urcu-memb.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern const struct rcu_flavor_struct urcu_memb_flavor;
extern const struct rcu_flavor_struct urcu_mb_flavor;
extern const struct rcu_flavor_struct urcu_qsbr_flavor;
extern const struct rcu_flavor_struct urcu_bp_flavor;

/*
 * haft_urcu_flavour, haft_urcu_wait, haft_urcu_register_thread, haft_urcu_unregister_thread,
 * haft_urcu_begin, haft_urcu_end, haft_urcu_online, haft_urcu_offline, haft_urcu_quiescent,
 * haft_urcu_inside, haft_urcu_memb_is_registered,
 * haft_urcu_mb_is_registered, haft_urcu_qsbr_is_registered - the callbacks of the clocks below,
 * where `ctx` is the flavour.
 *
 * Returns   as haft/clock.h has it.
 * Threads   as haft/clock.h has it.
 * Ordering  liburcu's.
 * Progress  as liburcu's function.
 * Cost      that of liburcu's function.
 */
HAFT_ONLY_INLINE const struct rcu_flavor_struct *haft_urcu_flavour(void *ctx)
{
    return HAFT_CAST(const struct rcu_flavor_struct *, ctx);
}

HAFT_ONLY_INLINE void haft_urcu_wait(void *ctx)
{
    haft_urcu_flavour(ctx)->update_synchronize_rcu();
}

HAFT_ONLY_INLINE void haft_urcu_register_thread(void *ctx)
{
    haft_urcu_flavour(ctx)->register_thread();
}

HAFT_ONLY_INLINE void haft_urcu_unregister_thread(void *ctx)
{
    haft_urcu_flavour(ctx)->unregister_thread();
}

HAFT_ONLY_INLINE void haft_urcu_begin(void *ctx)
{
    haft_urcu_flavour(ctx)->read_lock();
}

HAFT_ONLY_INLINE void haft_urcu_end(void *ctx)
{
    haft_urcu_flavour(ctx)->read_unlock();
}

HAFT_ONLY_INLINE void haft_urcu_online(void *ctx)
{
    haft_urcu_flavour(ctx)->thread_online();
}

HAFT_ONLY_INLINE void haft_urcu_offline(void *ctx)
{
    haft_urcu_flavour(ctx)->thread_offline();
}

HAFT_ONLY_INLINE void haft_urcu_quiescent(void *ctx)
{
    haft_urcu_flavour(ctx)->read_quiescent_state();
}

HAFT_ONLY_INLINE bool haft_urcu_inside(void *ctx)
{
    return haft_urcu_flavour(ctx)->read_ongoing() != 0;
}

HAFT_ONLY_INLINE bool haft_urcu_qsbr_is_registered(void *ctx)
{
    (void)ctx;
    return URCU_TLS(urcu_qsbr_reader).registered;
}

#ifdef NDEBUG
#define HAFT_URCU_REGISTERED(name) NULL
#else
#define HAFT_URCU_REGISTERED(name) haft_urcu_##name##_is_registered

HAFT_ONLY_INLINE bool haft_urcu_memb_is_registered(void *ctx)
{
    (void)ctx;
    return URCU_TLS(urcu_memb_reader).registered;
}

HAFT_ONLY_INLINE bool haft_urcu_mb_is_registered(void *ctx)
{
    (void)ctx;
    return URCU_TLS(urcu_mb_reader).registered;
}
#endif

/* Constant in C, so no designators: C++17 has none. */
#define HAFT_URCU_SECTIONS(name, registered)                                                       \
    {                                                                                              \
        HAFT_BITS(void *, HAFT_BITS(uintptr_t, &urcu_##name##_flavor)), haft_urcu_wait,            \
            haft_urcu_register_thread, haft_urcu_unregister_thread, haft_urcu_begin,               \
            haft_urcu_end, NULL, NULL, NULL, haft_urcu_inside, registered,                         \
        {                                                                                          \
            NULL, NULL, NULL, NULL                                                                 \
        }                                                                                          \
    }

/*
 * haft_urcu_memb, haft_urcu_mb, haft_urcu_qsbr, haft_urcu_bp - the flavour of that name, for the
 * option `foreign_clock` of a domain.
 *
 * Returns   the clock; it is never freed, and each source file has its own of the same identity.
 */
HAFT_ONLY_INLINE const haft_foreign_clock *haft_urcu_memb(void)
{
    static const haft_foreign_clock clock = HAFT_URCU_SECTIONS(memb, HAFT_URCU_REGISTERED(memb));

    return &clock;
}

HAFT_ONLY_INLINE const haft_foreign_clock *haft_urcu_mb(void)
{
    static const haft_foreign_clock clock = HAFT_URCU_SECTIONS(mb, HAFT_URCU_REGISTERED(mb));

    return &clock;
}

HAFT_ONLY_INLINE const haft_foreign_clock *haft_urcu_qsbr(void)
{
    static const haft_foreign_clock clock = {
        HAFT_BITS(void *, HAFT_BITS(uintptr_t, &urcu_qsbr_flavor)),
        haft_urcu_wait,
        haft_urcu_register_thread,
        haft_urcu_unregister_thread,
        NULL,
        NULL,
        haft_urcu_online,
        haft_urcu_offline,
        haft_urcu_quiescent,
        haft_urcu_inside,
        haft_urcu_qsbr_is_registered,
        {NULL, NULL, NULL, NULL},
    };

    return &clock;
}

HAFT_ONLY_INLINE const haft_foreign_clock *haft_urcu_bp(void)
{
    static const haft_foreign_clock clock = HAFT_URCU_SECTIONS(bp, NULL);

    return &clock;
}

#undef HAFT_URCU_REGISTERED
#undef HAFT_URCU_SECTIONS

#ifdef __cplusplus
}
#endif

#endif // HAFT_HAFT_URCU_H
