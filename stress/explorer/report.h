/*
 * stress/explorer/report.h - verdicts: what is wrong, and the schedule that shows it.
 */
#ifndef HAFT_STRESS_REPORT_H
#define HAFT_STRESS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* What the program exits with; 66 is ThreadSanitizer's. */
enum verdict {
    VERDICT_HELD = 0,
    VERDICT_NOT_MET = 1,
    VERDICT_USAGE = 2,
    VERDICT_VIOLATION = 3,
    VERDICT_NO_OUTPUT = 4
};

/* What a schedule belongs to, for the replay that a violation prints.  `options` NULL: it prints
 * none. */
void report_case(const char *name, const char *options);

/* An invariant is broken: print it with the schedule, and end the process at once. */
_Noreturn void violation(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Flushes stdout.  Returns `verdict`, or VERDICT_NO_OUTPUT if all held and that failed. */
int end_output(int verdict);

_Noreturn void usage_error(const char *text, const char *what);

#endif /* HAFT_STRESS_REPORT_H */
