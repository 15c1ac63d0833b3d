/* replay - a trace of handle traffic, replayed by many threads through one haft table. */
#include "examples/screen/output.h"
#include "failure.h"
#include "report.h"
#include <stdio.h>

static int replay(const struct options *options, const struct trace *trace, struct failure *failure)
{
    struct result result;

    if (!run_trace(options, trace, &result, failure)) {
        return failure->code;
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
    struct failure failure = {.message = NULL};
    struct trace *trace = NULL;
    int code = EXIT_REFUSED;

    if (options_parse(&options, argc, argv, &failure)) {
        trace = trace_read(options.trace_path, &failure);
    }
    if (trace != NULL) {
        code = replay(&options, trace, &failure);
        trace_free(trace);
    }
    if (failure.message != NULL) {
        fprintf(stderr, "replay: %s\n", failure.message);
        failure_clear(&failure);
    }
    return end_output("replay", code, EXIT_SYSTEM);
}
