/*
 * haft/section.h - read sections: the span in which a resolved pointer stays valid.
 *
 * With the thread and the caller clock these functions call the flavour that the domain was
 * opened with, and tell ThreadSanitizer (haft/tsan.h).  Readers that want liburcu's inlined read
 * lock call it directly instead; haft's headers never define _LGPL_SOURCE.
 *
 *   memb, mb, bp   a section lasts from haft_section_begin() to haft_section_end(); sections of
 *                  one thread nest
 *   qsbr           begin and end cost nothing and do nothing: a section lasts from one quiescent
 *                  point (haft_worker_quiescent, haft_thread_offline) to the next
 *
 *   no flavour     the workers clock works as qsbr does: a section lasts from one quiescent point
 *                  of a thread with open workers to the next, whichever of its workers on the
 *                  domain it is; register, begin and end do nothing.  With the frame clock all of
 *                  them do nothing: a section lasts from tick to tick (debug builds count them).
 *
 * Sections belong to the flavour, not to one domain: with qsbr a quiescent point for one domain is
 * one for all.  Calls that wait are made outside the sections of every domain and flavour; a
 * thread that waits for one inside a section of another can wait for itself by way of a third.
 * So a thread that is online in several (with qsbr, or with open workers on domains with the
 * workers clock) goes offline in the others before it calls what waits for one, and
 * haft_worker_quiescent() is such a call: two threads, each waiting in another domain, would wait
 * for one another for ever.
 *
 * In a signal handler (on its thread's own stack) these are allowed: haft_section_begin,
 * haft_section_end, haft_resolve and its kin, haft_is_live, haft_diagnose.  Nothing that allocates,
 * frees, pins for good or waits: the handler could interrupt the same call.
 *
 *   memb, mb, bp   at any time on a registered thread, inside a section of the handler's own
 *   qsbr, workers  while the thread is online.  The signal is blocked around its quiescent points,
 *                  its time offline, and all that waits, and pointers do not outlive the handler
 *   frame          the handler is one of the frame's jobs: the signal is blocked during the tick
 *
 * A thread is registered before its first section and unregistered after its last, once for
 * each flavour, not for each domain.  With qsbr, a thread that sleeps or blocks goes offline
 * first: while it is online, every grace period waits for its next quiescent point.
 */
#ifndef HAFT_SECTION_H
#define HAFT_SECTION_H

#include <haft/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_thread_register, haft_thread_unregister - the calling thread begins or ends to have read
 * sections of the domain's flavour.  With qsbr it is online from register to unregister.
 *
 * Returns   nothing.
 * Threads   the calling thread, in turn, outside read sections.  A thread that liburcu's own
 *           call registered is not registered again.
 * Ordering  unregister: release towards grace periods.
 * Progress  blocking (liburcu's registry lock).
 * Cost      O(1).
 */
void haft_thread_register(haft_domain *domain);
void haft_thread_unregister(haft_domain *domain);

/*
 * haft_section_begin, haft_section_end - a read section of the calling thread.
 *
 * Returns   nothing.
 * Threads   a registered thread.
 * Ordering  end: release towards grace periods.
 * Progress  wait-free (mb, bp: a full fence).
 * Cost      a call through a pointer and the flavour's read lock.
 */
void haft_section_begin(haft_domain *domain);
void haft_section_end(haft_domain *domain);

/*
 * haft_thread_offline, haft_thread_online - with qsbr and the workers clock: no grace period waits
 * for the calling thread while it is offline, and it may not resolve.  Others: nothing happens.
 *
 * Returns   nothing.
 * Threads   a registered thread; in turn.  Workers clock: a thread with an open worker (else
 *           nothing happens).
 * Ordering  offline: release towards grace periods.
 * Progress  wait-free, but for waking a thread that waits for this one.
 * Cost      a full fence; workers clock: O(threads with workers), and one shared operation.
 */
void haft_thread_offline(haft_domain *domain);
void haft_thread_online(haft_domain *domain);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_SECTION_H */
