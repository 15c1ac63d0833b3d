/*
 * concurrent/clock/rcu.h - what haft asks of liburcu.  rcu.c is the only file that knows it.
 *
 *   GRACE   last read section that could have matched an id -> reuse of its slot
 *
 * is liburcu's own ordering; haft/tsan.h tells ThreadSanitizer about it.
 */
#ifndef HAFT_CONCURRENT_RCU_H
#define HAFT_CONCURRENT_RCU_H

#include <stdbool.h>

struct rcu_flavor_struct;

/* Whether the calling thread is inside a read section; false with qsbr, which cannot tell. */
bool rcu_in_section(const struct rcu_flavor_struct *flavour);

/* With qsbr: the calling thread, if it is online, passes a quiescent state.  Others: nothing. */
void rcu_quiescent(const struct rcu_flavor_struct *flavour);

/* Whether the flavour can forget, in the child of a fork, the threads that are gone: bp alone. */
bool rcu_forgets(const struct rcu_flavor_struct *flavour);

/*
 * Before and after the calling thread blocks.  With qsbr it goes offline, if it is online: a
 * quiescent point.  pause returns what resume is to be given.
 */
bool rcu_pause(const struct rcu_flavor_struct *flavour);
void rcu_resume(const struct rcu_flavor_struct *flavour, bool was_online);

/* Wait for a full grace period, between pause and resume, outside read sections. */
void rcu_wait(const struct rcu_flavor_struct *flavour);

void rcu_register(const struct rcu_flavor_struct *flavour);
void rcu_unregister(const struct rcu_flavor_struct *flavour);
void rcu_section_begin(const struct rcu_flavor_struct *flavour);
void rcu_section_end(const struct rcu_flavor_struct *flavour);
void rcu_offline(const struct rcu_flavor_struct *flavour);
void rcu_online(const struct rcu_flavor_struct *flavour);

#endif /* HAFT_CONCURRENT_RCU_H */
