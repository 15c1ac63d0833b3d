/*
 * live.h - the page on the terminal, again and again.
 */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "top/find.h"
#include "top/options.h"

/* Until a key or a signal ends it.  False, with `error` set, if the directory cannot be read any
 * more. */
bool show_live(const struct options *options, struct finding *finding, GError **error);

#endif /* TOP_LIVE_H */
