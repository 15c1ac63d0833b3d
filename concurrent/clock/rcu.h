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
#include <stdint.h>

struct rcu_flavor_struct;

/* Each of liburcu's flavours has a number of its own; all others have the last one. */
#define RCU_FLAVOURS 5

uint32_t rcu_number(const struct rcu_flavor_struct *flavour);
bool rcu_is_qsbr(const struct rcu_flavor_struct *flavour);

/* Whether the calling thread is inside a read section; with qsbr: whether it is online. */
bool rcu_is_inside(const struct rcu_flavor_struct *flavour);

/* False if the calling thread is known not to be registered: debug builds with memb, mb, qsbr. */
bool rcu_is_registered(const struct rcu_flavor_struct *flavour);

/* With qsbr: the calling thread, if it is online, passes a quiescent state.  Others: nothing. */
void rcu_quiescent(const struct rcu_flavor_struct *flavour);

/* Whether the flavour can forget, in the child of a fork, the threads that are gone: bp alone. */
bool rcu_forgets(const struct rcu_flavor_struct *flavour);

/* Wait for a full grace period, outside read sections; with qsbr, offline. */
void rcu_wait(const struct rcu_flavor_struct *flavour);

void rcu_register(const struct rcu_flavor_struct *flavour);
void rcu_unregister(const struct rcu_flavor_struct *flavour);
void rcu_section_begin(const struct rcu_flavor_struct *flavour);
void rcu_section_end(const struct rcu_flavor_struct *flavour);
void rcu_offline(const struct rcu_flavor_struct *flavour);
void rcu_online(const struct rcu_flavor_struct *flavour);

#endif /* HAFT_CONCURRENT_RCU_H */
