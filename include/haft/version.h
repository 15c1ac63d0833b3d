/*
 * haft/version.h - which haft this is.
 *
 * The one place that states the version; what else must name it is checked against it
 * (tools/version).  The numbers are those of https://semver.org: a program built with these headers
 * runs with every library of the same major version, and of the same minor version or a later one.
 */
#ifndef HAFT_VERSION_H
#define HAFT_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAFT_VERSION_MAJOR 0
#define HAFT_VERSION_MINOR 1
#define HAFT_VERSION_PATCH 0
#define HAFT_VERSION_TEXT "0.1.0"

/* One number, to be compared: 10203 is 1.2.3. */
#define HAFT_VERSION (HAFT_VERSION_MAJOR * 10000u + HAFT_VERSION_MINOR * 100u + HAFT_VERSION_PATCH)

/*
 * haft_version, haft_version_text - the version of the library that the program runs with, where
 * HAFT_VERSION and HAFT_VERSION_TEXT are those of the headers that it was compiled with.
 *
 * Returns   the number; the text, a constant string.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
uint32_t haft_version(void);
const char *haft_version_text(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_VERSION_H */
