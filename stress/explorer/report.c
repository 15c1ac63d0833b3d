/* Verdicts, with the schedule that leads to them. */
#include "stress/explorer/report.h"
#include "stress/explorer/choice.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_SIZE 65536

static const char *case_name = "?";
static const char *case_options = "";

/* ThreadSanitizer calls this before it ends the process; null where it is not linked. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void print_schedule(void)
{
    static char text[TEXT_SIZE];

    if (case_options == NULL) {
        return;
    }
    choice_text(text, sizeof text);
    fprintf(stderr, "explorer: again with: explorer --case %s%s --replay \"%s\"\n", case_name,
            case_options, text);
}

void report_case(const char *name, const char *options)
{
    case_name = name;
    case_options = options;
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(print_schedule);
    }
}

void violation(const char *text, ...)
{
    va_list values;

    va_start(values, text);
    fprintf(stderr, "explorer: %s: VIOLATION: ", case_name);
    vfprintf(stderr, text, values);
    fprintf(stderr, "\n");
    va_end(values);
    print_schedule();
    _exit(VERDICT_VIOLATION);
}

/* An assert of the library. */
_Noreturn void __wrap___assert_fail(const char *text, const char *file, unsigned line,
                                    const char *function);

void __wrap___assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    violation("%s:%u: %s: assert(%s)", file, line, function, text);
}

int end_output(int verdict)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return verdict;
    }
    fprintf(stderr, "explorer: the output could not be written\n");
    return verdict == VERDICT_HELD ? VERDICT_NO_OUTPUT : verdict;
}

void usage_error(const char *text, const char *what)
{
    fprintf(stderr, "explorer: %s '%s'; --help says more\n", text, what);
    exit(VERDICT_USAGE);
}
