/*
 * haft/kit/export.h - statistics of all open tables in a file, for haft-top and other programs.
 *
 * Off until a program opens an export.  A thread of the export then writes the file anew every
 * interval; tables and workers know nothing of it and pay nothing.
 *
 * The file is `directory`/haft-PROCESS.json, readable and writable by its owner only.  It is
 * written under another name and renamed, so a reader finds it whole; closing removes it.  Where
 * processes of one number share the directory, as in containers, the second one writes
 * haft-PROCESS-2.json, and so on: each holds a lock (flock) on .haft-PROCESS.lock beside its file.
 * A program that ends without closing leaves both behind, and the next one of that number takes
 * them over.  A reader that then finds the lock free, or no such file, knows that the process has
 * ended or closed its export, also where it has children; a lock taken with LOCK_SH and released at
 * once disturbs no process.  A directory in memory, such as /run/user/UID, suits it best.
 *
 *   haft_export   the layout's version, 1
 *   process       its number; "started": in clock ticks since the machine's start (/proc), or 0;
 *                 "program": its name
 *   written_ns    CLOCK_BOOTTIME, or CLOCK_MONOTONIC where there is none; "interval_ms": until the
 *                 next time; "sequence": from 1
 *   domains       of the shared tables: "number", "clock" and what is in haft_domain_stats
 *   tables        the shared ones: "number", "name", the "domain"'s number, "object_size", and what
 *                 is in haft_table_stats
 *   counted       the counted tables: "number", "name", "object_size", and what is in
 *                 haft_counted_stats
 *
 * Systems without fork have no export: on Windows, and with HAFT_OS_BARE, these functions are not
 * there.
 *
 * Members may be added within a version.  Numbers of tables, domains and counted tables, each
 * counted apart, are not used again within a process.  Tables of one thread (haft_local,
 * haft_packed) are not in it: their counters are their thread's alone.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_EXPORT_H
#define HAFT_EXPORT_H

#include <haft/detail/inline.h>
#include <haft/kit/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_export haft_export;

typedef struct haft_export_options {
    const char *directory; /* there already; only trusted users may write to it; copied */
    uint64_t interval_ms;  /* 10 to 3,600,000; 0: 1,000 */
} haft_export_options;

/*
 * haft_export_open, haft_export_open_sized - write the file now and every interval from now on.
 * `options` may be NULL: none is set, so the directory is refused.
 *
 * Returns   HAFT_OK and the export in `*opened`; or
 *             HAFT_UNKNOWN_OPTION, HAFT_BAD_INTERVAL_MS   the option of that name
 *             HAFT_BAD_DIRECTORY   no directory, or none that files can be written to
 *             HAFT_IN_USE          this process has one open
 *             HAFT_NO_FILE         the system refused the file or its lock, or 100 other processes
 *                                  of this number export to the directory
 *             HAFT_NO_MEMORY, HAFT_NO_THREAD
 * Threads   any; also in the child of a fork, whatever the other threads were doing.
 * Progress  blocking (files, malloc, a lock; starts a thread, which blocks all signals).
 * Cost      that of writing the file.
 */
haft_status haft_export_open_sized(const haft_export_options *options, size_t size,
                                   haft_export **opened);
#ifndef HAFT_WITHOUT_EXPORT
HAFT_INLINE haft_status haft_export_open(const haft_export_options *options, haft_export **opened)
{
    return haft_export_open_sized(options, sizeof *options, opened);
}
#endif

/*
 * haft_export_write - write the file now, whatever the interval.  What the calling thread has done
 * with tables before is in it.
 *
 * Returns   HAFT_OK; else the file is as it was: HAFT_NO_MEMORY; HAFT_NO_FILE, the system did not
 *           take it, or the export is of the parent of a fork.
 * Progress  blocking (a lock, files, malloc).
 * Cost      O(open tables and their workers, and slots ever used of counted tables).  The export's
 *           thread does the same each interval; opening and closing of tables waits for that.
 */
haft_status haft_export_write(haft_export *opened);

/*
 * haft_export_path - the path of the file, beginning with `directory` as given; owned by the
 * export.
 */
const char *haft_export_path(const haft_export *opened);

/*
 * haft_export_close - the end of the export and of its file.  In the child of a fork the file,
 * which is the parent's, stays.
 *
 * Threads   one thread, when no other uses the export.  Tables may be open.
 * Progress  blocking: waits for the export's thread.
 */
void haft_export_close(haft_export *opened);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_EXPORT_H */
