/*
 * liburcu, any flavour.
 *
 * qsbr differs from the others: "read ongoing" is true for as long as the thread is online, so
 * it cannot tell a section, and who waits while online waits for itself.  The weak symbols are
 * null in programs that do not link these flavours, and then equal none that could be passed.
 */
#include "concurrent/clock/rcu.h"
#include <haft/detail/tsan.h>
#include <urcu/flavor.h>
#if !defined(NDEBUG) && !defined(HAFT_HOOKED)
#include <urcu/static/urcu-mb.h>
#include <urcu/static/urcu-memb.h>
#include <urcu/static/urcu-qsbr.h>
#endif

#ifdef HAFT_UNDER_TSAN
char haft_grace_token;
#endif

extern const struct rcu_flavor_struct urcu_memb_flavor __attribute__((weak));
extern const struct rcu_flavor_struct urcu_mb_flavor __attribute__((weak));
extern const struct rcu_flavor_struct urcu_qsbr_flavor __attribute__((weak));
extern const struct rcu_flavor_struct urcu_bp_flavor __attribute__((weak));

uint32_t rcu_number(const struct rcu_flavor_struct *flavour)
{
    const struct rcu_flavor_struct *const known[RCU_FLAVOURS - 1] = {
        &urcu_memb_flavor, &urcu_mb_flavor, &urcu_qsbr_flavor, &urcu_bp_flavor};
    uint32_t number = 0;

    while (number < RCU_FLAVOURS - 1 && known[number] != flavour) {
        number++;
    }
    return number;
}

bool rcu_is_qsbr(const struct rcu_flavor_struct *flavour)
{
    return flavour == &urcu_qsbr_flavor;
}

bool rcu_is_inside(const struct rcu_flavor_struct *flavour)
{
    return flavour->read_ongoing();
}

#if defined(NDEBUG) || defined(HAFT_HOOKED)
bool rcu_is_registered(const struct rcu_flavor_struct *flavour)
{
    (void)flavour;
    return true;
}
#else
/*
 * liburcu keeps this for its own assertions, in records of the thread.  A record is there if its
 * flavour is: both are the same library's.
 */
extern DECLARE_URCU_TLS(struct urcu_reader, urcu_memb_reader) __attribute__((weak));
extern DECLARE_URCU_TLS(struct urcu_reader, urcu_mb_reader) __attribute__((weak));
extern DECLARE_URCU_TLS(struct urcu_qsbr_reader, urcu_qsbr_reader) __attribute__((weak));

bool rcu_is_registered(const struct rcu_flavor_struct *flavour)
{
    if (flavour == &urcu_memb_flavor) {
        return URCU_TLS(urcu_memb_reader).registered;
    }
    if (flavour == &urcu_mb_flavor) {
        return URCU_TLS(urcu_mb_reader).registered;
    }
    return flavour != &urcu_qsbr_flavor || URCU_TLS(urcu_qsbr_reader).registered;
}
#endif

void rcu_quiescent(const struct rcu_flavor_struct *flavour)
{
    if (rcu_is_qsbr(flavour) && flavour->read_ongoing()) {
        haft_note_reader_left();
        flavour->read_quiescent_state();
    }
}

bool rcu_forgets(const struct rcu_flavor_struct *flavour)
{
    return flavour == &urcu_bp_flavor;
}

void rcu_wait(const struct rcu_flavor_struct *flavour)
{
    flavour->update_synchronize_rcu();
    haft_note_grace_elapsed();
}

void rcu_register(const struct rcu_flavor_struct *flavour)
{
    flavour->register_thread();
}

void rcu_unregister(const struct rcu_flavor_struct *flavour)
{
    haft_note_reader_left();
    flavour->unregister_thread();
}

void rcu_section_begin(const struct rcu_flavor_struct *flavour)
{
    flavour->read_lock();
}

void rcu_section_end(const struct rcu_flavor_struct *flavour)
{
    haft_note_reader_left();
    flavour->read_unlock();
}

void rcu_offline(const struct rcu_flavor_struct *flavour)
{
    haft_note_reader_left();
    flavour->thread_offline();
}

void rcu_online(const struct rcu_flavor_struct *flavour)
{
    flavour->thread_online();
}
