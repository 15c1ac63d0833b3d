/*
 * views.h - a finding for programs, and for Prometheus.
 */
#ifndef TOP_VIEWS_H
#define TOP_VIEWS_H

#include "top/find.h"

/* {"processes": [...]}: each file as it is, with its age. */
void view_json(GString *out, const struct finding *finding);

/* Prometheus's text format, version 0.0.4. */
void view_prometheus(GString *out, const struct finding *finding);

#endif /* TOP_VIEWS_H */
