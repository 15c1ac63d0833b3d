/*
 * views.h - a finding for people, for programs, and for Prometheus.
 */
#ifndef TOP_VIEWS_H
#define TOP_VIEWS_H

#include "top/find.h"

/* A copy in which what a terminal could take for a command is a question mark. */
char *harmless(const char *text);

/* A page of text, one line a table. */
void view_page(GString *out, const struct finding *finding);

/* {"processes": [...]}: each file as it is, with its age. */
void view_json(GString *out, const struct finding *finding);

/* Prometheus's text format, version 0.0.4. */
void view_prometheus(GString *out, const struct finding *finding);

#endif /* TOP_VIEWS_H */
