/*
 * Runs all tests and prints a table: a line for each test, a column for each circumstance.
 *
 *   cc -I dist -D HAFT_TWO_FILES tests/portable/<all>.c dist/haft_kit.c && ./a.out
 *   ./a.out --json       the sums as one line of JSON
 *
 * Exits with 1 if a check failed.
 */
#include "portable.h"
#include <stdio.h>
#include <string.h>

#define FAILURES_KEPT 20

enum outcome { NOT_RUN, PASSED, SKIPPED, FAILED };

static const char *const columns[CIRCUMSTANCES] = {"alone",  ".memory", "workers", "frame",
                                                   "thread", "caller",  "w.block", "f.block"};

static const struct test *const groups[] = {
    value_tests, local_tests,  counted_tests, packed_tests, state_tests,
    side_tests,  arena_tests,  typed_tests,   table_tests,  feature_tests,
    frame_tests, memory_tests, system_tests,  stress_tests};

static atomic_ulong checks;
static atomic_ulong failures;
static atomic_flag keeping = ATOMIC_FLAG_INIT;
static char failed[FAILURES_KEPT][160]; /* each once */
static unsigned long kept;
static const struct test *current;
static enum circumstance current_circumstance;
static bool is_skipped;   /* the current test */
static char reasons[200]; /* each once */
static uint64_t meetings;
static unsigned sums[FAILED + 1];

static void keep(const char *what, const char *file, int line)
{
    const char *name = strrchr(file, '/');
    char text[sizeof *failed];
    unsigned long i = 0;

    snprintf(text, sizeof text, "%s:%d: %s: %s: %s", name != NULL ? name + 1 : file, line,
             current->name, columns[current_circumstance], what);
    while (atomic_flag_test_and_set(&keeping)) {
        thread_yield();
    }
    while (i < kept && strcmp(failed[i], text) != 0) {
        i++;
    }
    if (i == kept && kept < FAILURES_KEPT) {
        memcpy(failed[kept++], text, sizeof text);
    }
    atomic_flag_clear(&keeping);
}

bool check(bool holds, const char *what, const char *file, int line)
{
    atomic_fetch_add(&checks, 1);
    if (!holds) {
        atomic_fetch_add(&failures, 1);
        keep(what, file, line);
    }
    return holds;
}

void skip(const char *why)
{
    const size_t length = strlen(reasons);

    is_skipped = true;
    if (strstr(reasons, why) == NULL) {
        snprintf(reasons + length, sizeof reasons - length, "%s%s", length != 0 ? ", " : "", why);
    }
}

void met(uint64_t times)
{
    meetings += times;
}

static enum outcome run(const struct test *test, enum circumstance circumstance)
{
    const unsigned long before = atomic_load(&failures);

    if ((test->runs_in & BIT(circumstance)) == 0) {
        return NOT_RUN;
    }
    current = test;
    current_circumstance = circumstance;
    is_skipped = false;
    test->run(circumstance);
    if (atomic_load(&failures) != before) {
        return FAILED;
    }
    return is_skipped ? SKIPPED : PASSED;
}

/* The columns of circumstances in which no test ran stay. */
static void print_line(const struct test *test, const enum outcome *outcomes)
{
    static const char *const words[] = {"", "ok", "skipped", "FAILED"};
    char line[64];

    snprintf(line, sizeof line, "%s: %s", test->subject, test->name);
    printf("%-42s", line);
    for (int i = 0; i < CIRCUMSTANCES; i++) {
        printf(" %-8s", words[outcomes[i]]);
    }
    if (meetings != 0) {
        printf(" %llu meetings", (unsigned long long)meetings);
    }
    printf("\n");
    fflush(stdout);
}

static void run_all(const struct test *test, bool prints)
{
    enum outcome outcomes[CIRCUMSTANCES];

    meetings = 0;
    for (int i = 0; i < CIRCUMSTANCES; i++) {
        outcomes[i] = run(test, (enum circumstance)i);
        sums[outcomes[i]]++;
    }
    if (prints) {
        print_line(test, outcomes);
    }
}

static void print_head(void)
{
    const union {
        uint16_t number;
        uint8_t bytes[2];
    } order = {1};

    printf("haft %s, %s, %s, %u-bit pointers, %s-endian, %s build\n\n", haft_version_text(),
#ifdef HAFT_TWO_FILES
           "the two files",
#else
           "the library",
#endif
#ifdef __clang__
           "clang " __clang_version__,
#elif defined(__GNUC__)
           "gcc " __VERSION__,
#else
           "another compiler",
#endif
           (unsigned)sizeof(void *) * 8, order.bytes[0] == 1 ? "little" : "big",
#ifdef NDEBUG
           "release"
#else
           "debug"
#endif
    );
    printf("%-42s", "");
    for (int i = 0; i < CIRCUMSTANCES; i++) {
        printf(" %-8s", columns[i]);
    }
    printf("\n");
}

static void print_sums(void)
{
    for (unsigned long i = 0; i < kept; i++) {
        printf("%s%s\n", i == 0 ? "\n" : "", failed[i]);
    }
    printf("\n%u passed, %u failed, %u skipped%s%s%s; %lu checks\n", sums[PASSED], sums[FAILED],
           sums[SKIPPED], sums[SKIPPED] != 0 ? " (" : "", reasons, sums[SKIPPED] != 0 ? ")" : "",
           (unsigned long)atomic_load(&checks));
}

int main(int argc, char **argv)
{
    const bool in_json = argc == 2 && strcmp(argv[1], "--json") == 0;

    if (argc > 1 && !in_json) {
        fprintf(stderr, "usage: %s [--json]\n", argv[0]);
        return 2;
    }
    if (!in_json) {
        print_head();
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (const struct test *test = groups[i]; test->name != NULL; test++) {
            run_all(test, !in_json);
        }
    }
    if (in_json) {
        printf(
            "{\"passed\": %u, \"failed\": %u, \"skipped\": %u, \"checks\": %lu, \"why\": \"%s\"}\n",
            sums[PASSED], sums[FAILED], sums[SKIPPED], (unsigned long)atomic_load(&checks),
            reasons);
    } else {
        print_sums();
    }
    return atomic_load(&failures) != 0 || fflush(stdout) != 0;
}
