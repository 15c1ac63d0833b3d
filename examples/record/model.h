/*
 * model.h - processes, their threads and descriptors, as a trace of calls brings them about.
 *
 * An object of the trace is a descriptor in one process, from what opened it to what closed it.
 * Threads share their process's descriptors, a forked child has copies, which are other objects.
 * A descriptor that was open before the recording began is allocated where it is first met.
 * What is open when a process ends is freed there, and what is close-on-exec in execve.
 */
#ifndef RECORD_MODEL_H
#define RECORD_MODEL_H

#include "line.h"
#include <stdio.h>

struct model;

struct totals {
    uint64_t rows, threads, objects;
};

/* Rows go to `out`. */
struct model *model_new(FILE *out);
struct totals model_totals(const struct model *model);
void model_free(struct model *model);

/* Whether the line fits what came before; if not, what is wrong in `mistake`. */
bool model_take(struct model *model, const struct line *line, struct mistake *mistake);

#endif /* RECORD_MODEL_H */
