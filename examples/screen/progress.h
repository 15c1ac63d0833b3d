/*
 * progress.h - a bar on stderr while a long run lasts, no wider than the terminal; nothing if
 * stderr is none.
 */
#ifndef EXAMPLES_SCREEN_PROGRESS_H
#define EXAMPLES_SCREEN_PROGRESS_H

#include <stdint.h>

/* Draws the bar, ten times a second at most, unless the run may end before anybody has read it.
 * `what` is done, in the plural; a `total` of 0 means an unknown number. */
void progress_show(const char *what, uint64_t done, uint64_t total, uint64_t elapsed_ns);

/* Takes it away again. */
void progress_end(void);

#endif /* EXAMPLES_SCREEN_PROGRESS_H */
