/*
 * haft/clock.h - a grace period that the program brings: a foreign clock.
 *
 * A domain with HAFT_CLOCK_THREAD or HAFT_CLOCK_CALLER is given the read sections of another
 * library, and its way to wait for them, as a struct of callbacks.  haft/urcu.h has it for liburcu,
 * docs/job-systems.md a page on other ones.
 *
 *     section   the span in which a thread may use what it resolved: from begin() to the end() that
 *               matches it; or, of a clock with online() and offline(), from online(), or from one
 *               quiescent() to the next, or to offline()
 *
 * haft promises
 *
 *   - to call wait() outside sections and offline, by one thread at a time for each domain; but
 *     two domains may call it at once, and so may the program itself;
 *   - to pass on what changes: of the jobs of a thread the outermost one's beginning and end, as
 *     begin() and end() or as online() and offline(); online() only while inside() says false,
 *     offline() and quiescent() only while it says true;
 *   - to hold none of its locks around a callback;
 *   - to tell ThreadSanitizer where sections end and grace periods have passed.  Readers that call
 *     the other library directly make these notes themselves (haft/detail/tsan.h).
 *
 * ThreadSanitizer believes wait(): it misses one that returns too early or orders too little.  So a
 * clock is tried with objects that would show it, as in stress/live_on_free.
 */
#ifndef HAFT_CLOCK_H
#define HAFT_CLOCK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The callbacks are given `ctx`.  None calls haft, and none fails.  A callback whose comment does
 * not say "NULL" is required.
 */
typedef struct haft_foreign_clock {
    /*
     * The clock's identity; not NULL.  Two domains whose clocks have the same ctx have the same
     * sections and jobs, and a thread registers once for both.
     */
    void *ctx;

    /*
     * Wait for a full grace period.  For every section, of threads that began one at any time:
     * either the section's end happens before the return, or all that was sequenced before the call
     * happens before the section's first access.  (Happens before: as in C11, also for plain data.)
     * Called from any thread, also from one that is not registered: a background thread of haft's,
     * or a thread that closes a table.  What the other library needs of such a thread, a record
     * perhaps, the callback provides.
     */
    void (*wait)(void *ctx);

    /* Before the calling thread's first section, and after its last.  NULL: needs no telling. */
    void (*register_thread)(void *ctx);
    void (*unregister_thread)(void *ctx);

    /*
     * A section of the calling thread; sections nest.  NULL, both: the clock has online() and
     * offline() alone.
     */
    void (*begin)(void *ctx);
    void (*end)(void *ctx);

    /*
     * For clocks whose threads are in a section all the time while they are online.  online(): the
     * calling thread comes online; offline(): it goes offline; quiescent(): it stays online, and
     * holds no resolved pointer at this moment.  With these, inside() is required.
     * NULL, all three: the clock has begin() and end() alone.
     */
    void (*online)(void *ctx);
    void (*offline)(void *ctx);
    void (*quiescent)(void *ctx);

    /*
     * Whether the calling thread, registered or not, is inside a section; with online(): whether it
     * is online.  NULL: calls that wait inside a section are not refused with HAFT_IN_SECTION, and
     * wait for themselves; but those inside an inner job are refused.
     */
    bool (*inside)(void *ctx);

    /*
     * Whether the calling thread may begin a section, or come online; debug builds assert it.
     * NULL: not asked, and haft_worker_open() brings no thread online.
     */
    bool (*is_registered)(void *ctx);

    void *reserved[4]; /* NULL: for later callbacks */
} haft_foreign_clock;

#ifdef __cplusplus
}
#endif

#endif /* HAFT_CLOCK_H */
