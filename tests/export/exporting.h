/*
 * tests/export/exporting.h - what the tests of exports share: a directory, and what stands in its
 * files.
 */
#ifndef HAFT_TESTS_EXPORTING_H
#define HAFT_TESTS_EXPORTING_H

#include "tests/support.h"
#include <haft/kit/export.h>
#include <jansson.h>

/* Of a test's own, from make_directory() to remove_directory(). */
extern char directory[64];

void make_directory(void);
void remove_directory(void);
unsigned files_in_directory(void);

/* An interval so long that only haft_export_write() writes. */
#define NEVER 3600000

haft_export *open_export(void);
void export_end(haft_export **opened);

/* Closed again if it opens. */
haft_status try_open(const char *where, uint64_t interval_ms);

json_t *read_file(const haft_export *opened);

/* Written now, and read back. */
json_t *snapshot(haft_export *opened);

uint64_t number_in(const json_t *object, const char *key);

#endif /* HAFT_TESTS_EXPORTING_H */
