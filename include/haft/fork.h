/*
 * haft/fork.h - going on with domains and tables in the child of a fork.
 *
 * The child has the memory of one instant and one thread of many.  The others stand still for ever,
 * perhaps with a lock held, perhaps inside a read section, perhaps with slots in hand.
 *
 * A program that does not call the functions below: the child may do what is wait-free or lock-free
 * with what the forking thread has open: resolve, diagnose, look at statistics, insert and free
 * with its own workers.  What would wait, and closing, says HAFT_FORKED and does nothing.  All else
 * may find a lock held that no thread releases.  A child that calls exec or _exit needs nothing.
 *
 * A program that calls them around each fork: in the child
 *
 *   - each object is live that was live at the fork, and pinned or reserved if it was so then;
 *   - the forking thread's workers go on; it opens and closes workers, tables and domains as ever,
 *     and may start threads that do;
 *   - the workers of the other threads are closed.  Every slot that is neither live, reserved,
 *     exhausted nor kept by a pin is free or waits for a grace period, wherever it was at the fork:
 *     with a worker, between two, or in the middle of a call.  The statistics are right again,
 *     but count as freed those free slots of a local table that was shared which a thread had
 *     taken and not used;
 *   - on_reclaim runs for objects that were freed, as in the parent; but not for the one object
 *     that each other thread may have had in hand: for which it had begun, or whose slot the thread
 *     was moving into or out of a list;
 *   - a reservation that another thread was about to publish or give up stays reserved, and a table
 *     or domain that another thread was opening or closing is lost;
 *   - the clocks go on without the other threads:
 *
 *       workers clock                    as before
 *       frame clock                      as before
 *       thread or caller clock, by what after_fork() of the foreign clock says (haft/clock.h):
 *         true (bp)                      the caller clock: no background thread
 *         false (liburcu's others)       the frame clock: haft_domain_tick() ends grace periods,
 *                                        and what would wait says HAFT_BUSY.  It calls the foreign
 *                                        clock no more, which would wait for threads that are gone
 *         NULL                           the domain cannot wait: HAFT_FORKED, as without the calls
 *
 *   Nothing waits for a thread that is gone, so nothing hangs: closing least of all.
 *
 * Either way the export (haft/export.h) is the parent's, and the child may open its own; and so it
 * may open domains and tables, and close these.
 *
 * To have them called around every fork:
 *
 *   pthread_atfork(haft_before_fork, haft_after_fork_parent, haft_after_fork_child);
 *
 * With bp the program calls liburcu's own as well, around these: urcu_bp_before_fork() first, and
 * urcu_bp_after_fork_parent() or urcu_bp_after_fork_child() last.  (With pthread_atfork: those are
 * handed over after these.)  Without them what waits in the child may wait for ever.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_FORK_H
#define HAFT_FORK_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_before_fork - take the locks of the lists of tables and domains, and of implicit workers.
 * Until haft_after_fork_parent() other threads wait in what takes these: opening and closing tables
 * and domains, writing an export, opening and closing implicit workers.  Nothing else waits, and no
 * callback is waited for.
 *
 * Threads   the one that forks next, outside read sections (between haft_section_begin and _end),
 *           not from a callback.  Called again before the fork, it counts: so do the others.
 * Progress  blocking: two locks, each held for short moments.
 */
void haft_before_fork(void);

/*
 * haft_after_fork_parent - the parent's other threads go on.  Also to be called if fork failed.
 *
 * Threads   the one that called haft_before_fork().
 * Progress  wait-free, except for waking threads.
 */
void haft_after_fork_parent(void);

/*
 * haft_after_fork_child - the child's one thread is the only one from now on.  It collects the free
 * slots of all tables.  Inside a callback, which the contract of haft_before_fork() excludes, debug
 * builds assert; others leave the slots of the tables where they are.
 *
 * Threads   the child's one thread, before it calls anything else of haft.
 * Cost      O(slots ever used, of all open tables): it writes to the words of free slots, so pages
 *           that the child shared with its parent are copied.
 */
void haft_after_fork_child(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_FORK_H */
