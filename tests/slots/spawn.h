/*
 * tests/slots/spawn.h - functions whose names stand in texts about places.  Programs that use them
 * are linked with -rdynamic.
 */
#ifndef HAFT_TESTS_SPAWN_H
#define HAFT_TESTS_SPAWN_H

#include "tests/support.h"
#include <haft/kit/commands.h>

haft_id spawn(struct subject *subject);
haft_id spawn_reserved(struct subject *subject);
haft_recorder *spawn_later(haft_commands *commands);
void carry_out(haft_commands *commands);
void sink(struct subject *subject, haft_id id);

/* A table of 10 objects with places. */
haft_table_options with_places(void);
struct subject open_with_places(int kind);

/* The first line on stderr of a process that does `act`, in `line`. */
void line_of(void (*act)(struct subject *subject), struct subject *subject, char *line, int size);

#define expect_in(text, part) cr_expect(strstr(text, part) != NULL, "%s", text)
#define expect_not_in(text, part) cr_expect(strstr(text, part) == NULL, "%s", text)

#endif /* HAFT_TESTS_SPAWN_H */
