/*
 * haft/detail/tsan.h - the only file that knows ThreadSanitizer exists.
 *
 * The sanitizer cannot see the grace periods of a foreign clock (haft/clock.h).  These two notes
 * tell it about the edge from the last read section that could have used an object to the reuse of
 * its memory.  It believes the clock of sections that have ended by then.  Without the
 * sanitizer they are nothing.
 *
 * A thread that leaves a read section through haft/domain.h or haft_worker_quiescent() needs
 * nothing of this.  A thread that calls the other library directly in a program built with
 * -fsanitize=thread calls haft_note_reader_left() just before the outermost end of a section (of
 * liburcu: read_unlock) and, with qsbr, before quiescent_state, thread_offline, unregister_thread
 * and a synchronize_rcu of the program's.
 *
 * Cost under the sanitizer: one token serves the whole process, so a reader that began later and
 * left before the grace period was noted is ordered as well; that can hide a race.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_DETAIL_TSAN_H
#define HAFT_DETAIL_TSAN_H

#include <haft/detail/inline.h>

#if defined(__SANITIZE_THREAD__)
#define HAFT_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAFT_UNDER_TSAN 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_note_reader_left, haft_note_grace_elapsed - a read section of the calling thread ends; a
 * grace period has just been waited for, which is noted nowhere else, so that freeing without
 * waiting stays reported.
 *
 * Ordering  none, but in the sanitizer's eyes: release; acquire.
 * Cost      nothing without the sanitizer.
 */
#ifdef HAFT_UNDER_TSAN
/* Weak and visible, so that one of all files' and shared libraries' is kept: a library that is
 * compiled without the sanitizer defines none. */
__attribute__((weak, visibility("default"))) char haft_grace_token;
void __tsan_acquire(void *address);
void __tsan_release(void *address);

HAFT_ONLY_INLINE void haft_note_reader_left(void)
{
    __tsan_release(&haft_grace_token);
}

HAFT_ONLY_INLINE void haft_note_grace_elapsed(void)
{
    __tsan_acquire(&haft_grace_token);
}
#else
HAFT_ONLY_INLINE void haft_note_reader_left(void)
{
}

HAFT_ONLY_INLINE void haft_note_grace_elapsed(void)
{
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* HAFT_DETAIL_TSAN_H */
