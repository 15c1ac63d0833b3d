/*
 * haft/haft.h - all of haft's C headers at once, and its version; but not haft/urcu.h, nor those of
 * the kit (haft/kit/kit.h).
 *
 * Functions named ..._sized take the size of the options struct as the caller knows it: for
 * programs that cannot include these headers.  Members beyond that size count as 0, and bytes that
 * the library does not know are refused (HAFT_UNKNOWN_OPTION) unless they are 0.
 *
 * Each header can be included alone and says in its first lines what it is for.  C++ programs may
 * take haft/haft.hpp instead.
 *
 * Cancellation: no function is a cancellation point.  Waits, files and callbacks, allocators among
 * them, run with cancellation disabled, and what pthread_cancel() asks for happens at the program's
 * next cancellation point.  Not so in visitors (haft_scan, haft_local_for_each, ...) and in
 * on_bad_access, where a thread may end: nothing is left open.  A thread that ends so keeps its
 * workers open, as any other; and asynchronous cancellation must be off in all of haft.
 *
 * Stacks: a thread with 24 KiB makes every call; what callbacks use comes on top.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_HAFT_H
#define HAFT_HAFT_H

#include <haft/clock.h>
#include <haft/counted.h>
#include <haft/diagnose.h>
#include <haft/domain.h>
#include <haft/id.h>
#include <haft/local.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>
#include <haft/status.h>
#include <haft/table.h>
#include <haft/typed.h>
#include <haft/view.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The one place that states the version; what else must name it is checked against it
 * (tools/prose).  The numbers are those of https://semver.org: a program built with these headers
 * runs with every library of the same major version, and of the same minor version or a later one.
 */
#define HAFT_VERSION_MAJOR 0
#define HAFT_VERSION_MINOR 2
#define HAFT_VERSION_PATCH 0
#define HAFT_VERSION_TEXT "0.2.0"

/* One number, to be compared: 10203 is 1.2.3. */
#define HAFT_VERSION (HAFT_VERSION_MAJOR * 10000u + HAFT_VERSION_MINOR * 100u + HAFT_VERSION_PATCH)

/*
 * haft_version, haft_version_text - the version of the library that the program runs with, where
 * HAFT_VERSION and HAFT_VERSION_TEXT are those of the headers that it was compiled with.
 *
 * Returns   the number; the text, a constant string.
 */
uint32_t haft_version(void);
const char *haft_version_text(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_HAFT_H */
