/* replay - a trace of handle traffic, replayed by many threads through one haft table. */
#include "failure.h"
#include "report.h"
#include <stdio.h>

static int replay(const struct options *options, const struct trace *trace, GError **error)
{
    struct result result;

    if (!run_trace(options, trace, &result, error)) {
        return (*error)->code;
    }
    report_complaints(&result);
    if (options->json) {
        report_print_json(options, &result);
    } else {
        report_print(options, trace, &result);
    }
    const bool right = result.sum.wrong_answers == 0;

    result_clear(&result);
    return right ? EXIT_RIGHT : EXIT_WRONG;
}

int main(int argc, char **argv)
{
    struct options options;
    struct trace *trace = NULL;
    GError *error = NULL;
    int code = EXIT_REFUSED;

    if (options_parse(&options, argc, argv, &error)) {
        trace = trace_read(options.trace_path, &error);
    }
    if (trace != NULL) {
        code = replay(&options, trace, &error);
        trace_free(trace);
    }
    if (error != NULL) {
        fprintf(stderr, "replay: %s\n", error->message);
        g_error_free(error);
    }
    options_clear(&options);
    return code;
}
