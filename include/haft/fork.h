/*
 * haft/fork.h - going on with domains and tables in the child of a fork.
 *
 * The child has the memory of one instant and one thread of many.  The others stand still for
 * ever, perhaps with a lock held, perhaps inside a read section.
 *
 * A program that does not call the functions below: the child may do what is wait-free or lock-free
 * with what the forking thread has open: resolve, diagnose, look at statistics, insert and free
 * with its own workers.  What would wait, and closing, says HAFT_FORKED and does nothing.  All else
 * may find a lock held that nobody will give back.  A child that calls exec or _exit needs nothing.
 *
 * A program that calls them around each fork: in the child
 *
 *   - each object is live that was live at the fork, and pinned or reserved if it was so then;
 *   - the forking thread's workers go on; it opens and closes workers, tables and domains as ever,
 *     and may start threads that do;
 *   - the workers of the other threads are gone and do not count as open.  Lost with each are the
 *     slots that it held back, which the capacity allows for, and what its thread was in the middle
 *     of: at the most a batch of slots, the counts of one call, and a table or domain that it was
 *     opening or closing;
 *   - the clocks go on without the other threads:
 *
 *       workers clock                    as before
 *       frame clock                      as before
 *       thread or caller clock, bp       the caller clock: no background thread
 *       the same, any other flavour      the frame clock: haft_domain_tick() ends grace periods,
 *                                        and what would wait says HAFT_BUSY.  It calls liburcu no
 *                                        more, which would wait for the threads that are gone.
 *
 *   Nothing waits for a thread that is gone, so nothing hangs: closing least of all.
 *
 * Either way the export (haft/export.h) is the parent's, and the child may open its own; and so it
 * may open domains and tables of its own, and close these.
 *
 * To have them called around every fork:
 *
 *   pthread_atfork(haft_before_fork, haft_after_fork_parent, haft_after_fork_child);
 *
 * With bp the program calls liburcu's own as well, around these: urcu_bp_before_fork() first, and
 * urcu_bp_after_fork_parent() or urcu_bp_after_fork_child() last.  (With pthread_atfork: those are
 * handed over after these.)  Without them what waits in the child may wait for ever.
 */
#ifndef HAFT_FORK_H
#define HAFT_FORK_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_before_fork - bring all domains and tables of the process into a state in which they can be
 * copied.  Until haft_after_fork_parent() other threads wait in what locks: opening and closing,
 * writing an export, implicit workers opened and closed, inserting and freeing without a worker
 * (haft/threads.h), the last unpin of a freed object; and haft_trim() and haft_recycle_exhausted()
 * tell them HAFT_BUSY.
 *
 * Returns   nothing.
 * Threads   the one that forks next, outside read sections (between haft_section_begin and _end)
 *           and not from on_reclaim.  Called again before the fork, it counts: so do the others.
 * Ordering  none.
 * Progress  blocking: locks; an on_reclaim that runs in a thread without a worker ends first, and
 *           so do haft_trim() and haft_recycle_exhausted().
 * Cost      O(open domains and tables).
 */
void haft_before_fork(void);

/*
 * haft_after_fork_parent - the parent's other threads go on.  Also to be called if fork failed.
 *
 * Returns   nothing.
 * Threads   the one that called haft_before_fork().
 * Ordering  none.
 * Progress  wait-free, but for waking threads.
 * Cost      O(open tables).
 */
void haft_after_fork_parent(void);

/*
 * haft_after_fork_child - the child's one thread is the only one from now on.
 *
 * Returns   nothing.
 * Threads   the child's one thread, before it calls anything else of haft.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(open domains and tables, and the workers of these).
 */
void haft_after_fork_child(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_FORK_H */
