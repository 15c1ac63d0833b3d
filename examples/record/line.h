/*
 * line.h - a line of strace's output, taken apart.
 *
 *   1234  openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3       a call
 *   1234  read(3,  <unfinished ...>                           its beginning
 *   1234  <... read resumed>"root:x"..., 512) = 512           its end
 *   1234  +++ exited with 0 +++                               the thread's end
 *   1234  --- SIGCHLD {si_signo=SIGCHLD, ...} ---             nothing that matters here
 *
 * The number may be missing, stand as "[pid 1234]", and be followed by a time (-t, -tt, -ttt, -r).
 */
#ifndef RECORD_LINE_H
#define RECORD_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum kind { LINE_NOTHING, LINE_CALL, LINE_BEGUN, LINE_RESUMED, LINE_ENDED };

enum { MOST_ARGUMENTS = 8 };

/* Pieces point into the text that was parsed. */
struct line {
    enum kind kind;
    uint64_t thread; /* as the system numbers it; 0: the output has no numbers */
    const char *name;
    size_t name_length;
    const char *call; /* LINE_BEGUN: all of it, to be completed; LINE_RESUMED: what completes it */
    size_t call_length;
    unsigned argument_count; /* LINE_CALL, LINE_BEGUN; only the first ones are kept */
    const char *arguments[MOST_ARGUMENTS];
    size_t argument_lengths[MOST_ARGUMENTS];
    const char *result; /* LINE_CALL: what follows the '=' */
};

/* The domain of record's GErrors. */
#define RECORD_FAILURE record_failure_quark()
GQuark record_failure_quark(void);

/* Where in a text something is wrong. */
struct mistake {
    const char *at;
    const char *what;
};

/* False, with `mistake` set, if the text is no line of strace's. */
bool line_parse(const char *text, struct line *line, struct mistake *mistake);

/* A whole call, put together from its beginning and its end.  LINE_CALL. */
bool line_parse_call(const char *text, struct line *line, struct mistake *mistake);

bool line_is(const struct line *line, const char *name);

/* Whether argument `i` is there and contains the text. */
bool line_has(const struct line *line, unsigned i, const char *text);

/* The descriptor that argument `i` is, "3" or "3</etc/passwd>"; -1: it is none. */
int64_t line_descriptor(const struct line *line, unsigned i);

/* Two descriptors in argument `i`, "[3, 4]". */
bool line_pair(const struct line *line, unsigned i, int64_t pair[2]);

/* What the call returned; -1: it failed, or never returned. */
int64_t line_result(const struct line *line);

#endif /* RECORD_LINE_H */
