/*
 * report.h - the result of a run, for people and for programs.
 */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "run.h"

void report_print(const struct options *options, const struct trace *trace,
                  const struct result *result);
void report_print_json(const struct options *options, const struct result *result);

/* The first wrong answers, on stderr. */
void report_complaints(const struct result *result);

#endif /* REPLAY_REPORT_H */
