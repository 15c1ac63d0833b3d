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

#ifdef HAFT_UNDER_TSAN
char haft_grace_token;
#endif

extern const struct rcu_flavor_struct urcu_qsbr_flavor __attribute__((weak));
extern const struct rcu_flavor_struct urcu_bp_flavor __attribute__((weak));

static bool is_qsbr(const struct rcu_flavor_struct *flavour)
{
    return flavour == &urcu_qsbr_flavor;
}

bool rcu_in_section(const struct rcu_flavor_struct *flavour)
{
    return !is_qsbr(flavour) && flavour->read_ongoing();
}

void rcu_quiescent(const struct rcu_flavor_struct *flavour)
{
    if (is_qsbr(flavour) && flavour->read_ongoing()) {
        haft_note_reader_left();
        flavour->read_quiescent_state();
    }
}

bool rcu_forgets(const struct rcu_flavor_struct *flavour)
{
    return flavour == &urcu_bp_flavor;
}

bool rcu_pause(const struct rcu_flavor_struct *flavour)
{
    const bool was_online = is_qsbr(flavour) && flavour->read_ongoing();

    if (was_online) {
        rcu_offline(flavour);
    }
    return was_online;
}

void rcu_resume(const struct rcu_flavor_struct *flavour, bool was_online)
{
    if (was_online) {
        rcu_online(flavour);
    }
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
