/*
 * fuzz/run.c - a fuzz target without a fuzzer: replays files, then a fixed number of pseudo-random
 * inputs.  See usage() below.
 */
#include "examples/screen/output.h"
#include "examples/screen/progress.h"
#include "examples/screen/text.h"
#include "fuzz/target.h"
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES 4096
#define EXIT_USAGE 2
#define EXIT_DIFFERENCE 3
#define SECONDS_OF_AN_INPUT 60 /* an input that takes longer hangs */

struct settings {
    uint64_t seed;
    uint64_t operations;
    uint64_t inputs;  /* 0: until there are the operations */
    const char *keep; /* where the bytes of a difference go */
};

static struct settings settings = {1, 200000, 0, "fuzz-difference.bin"};
static uint8_t bytes[MOST_BYTES];
static size_t input_size;
static uint64_t input_seed; /* 0: the input is a file */
static uint64_t operations_done;

static void usage(FILE *to)
{
    fputs("Usage: run [options] [file or folder...]\n"
          "\n"
          "Carries the files out, each an input, then pseudo-random inputs; compares the tables\n"
          "with a model.  Exits with 3 if they differ, after printing the operations.\n"
          "\n"
          "  -n, --operations N   pseudo-random operations at least (200000; 0: files only)\n"
          "  -i, --inputs N       pseudo-random inputs, exactly, instead\n"
          "  -s, --seed N         of the first pseudo-random input (1); each takes the next\n"
          "  -t, --tell           print each operation\n"
          "  -k, --keep FILE      where the input goes that shows a difference\n"
          "                       (fuzz-difference.bin)\n"
          "\n"
          "Examples:\n"
          "  run --operations 10000000 fuzz/corpus/operations\n"
          "  run --operations 0 --tell fuzz-difference.bin\n"
          "  run --inputs 1 --seed 4711\n"
          "  run --inputs 1000000\n",
          to);
}

/* Called from crashes as well, so nothing here allocates. */
static void keep_input(void)
{
    const int file = open(settings.keep, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    dprintf(STDERR_FILENO, "seed %llu, after %llu operation%s in other inputs\n",
            (unsigned long long)input_seed, (unsigned long long)operations_done,
            plural(operations_done));
    if (file >= 0 && write(file, bytes, input_size) == (ssize_t)input_size) {
        dprintf(STDERR_FILENO, "replay: --operations 0 --tell %s\n", settings.keep);
    }
    if (file >= 0) {
        close(file);
    }
}

void target_differs(void)
{
    keep_input();
    _exit(EXIT_DIFFERENCE);
}

/* An assert, a sanitizer, an address out of bounds, or no end. */
static void on_crash(int number)
{
    dprintf(STDERR_FILENO, "ended by signal %d\n", number);
    target_differs();
}

/* So that sanitizers come by on_crash(). */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1:handle_abort=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

/* --- inputs --- */

static uint64_t carry_out(void)
{
    /* A copy of the right size, so that reading beyond it is noticed. */
    uint8_t *input = malloc(input_size + 1);

    memcpy(input, bytes, input_size);
    alarm(SECONDS_OF_AN_INPUT);
    const uint64_t operations = target_run(input, input_size);

    alarm(0);
    operations_done += operations;
    free(input);
    return operations;
}

static uint64_t replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        perror(path);
        exit(EXIT_USAGE);
    }
    input_size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    input_seed = 0;
    return carry_out();
}

/* A file, or all files of a folder, in any order: they do not depend on each other. */
static uint64_t replay(const char *path, uint64_t *files)
{
    DIR *folder = opendir(path);
    uint64_t operations = 0;

    if (folder == NULL) {
        ++*files;
        return replay_file(path);
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[4096];

        if (entry->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            ++*files;
            operations += replay_file(name);
        }
    }
    closedir(folder);
    return operations;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Of any length, the short ones as often as the long ones. */
static uint64_t carry_out_seed(uint64_t seed)
{
    uint64_t state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);

    input_seed = seed;
    input_size = 64 + (size_t)(random_next(&state) >> 32) % (sizeof bytes - 64);
    if (random_next(&state) >> 63 != 0) {
        input_size = 64 + input_size % 400;
    }
    for (size_t i = 0; i < input_size; i++) {
        bytes[i] = (uint8_t)(random_next(&state) >> 32);
    }
    return carry_out();
}

static uint64_t time_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The inputs wanted; or the operations, and a few more.  How many inputs, and what they came to. */
static uint64_t draw_inputs(uint64_t *done)
{
    const uint64_t began = time_ns();
    const bool counts = settings.inputs != 0;
    const uint64_t wanted = counts ? settings.inputs : settings.operations;
    uint64_t inputs = 0;

    for (*done = 0; (counts ? inputs : *done) < wanted; inputs++) {
        progress_show(counts ? "inputs" : "operations", counts ? inputs : *done, wanted,
                      time_ns() - began);
        *done += carry_out_seed(settings.seed + inputs);
    }
    progress_end();
    return inputs;
}

/* --- arguments --- */

static uint64_t number_from(const char *text)
{
    char *end;
    const uint64_t number = strtoull(text, &end, 0);

    if (*text == '\0' || *end != '\0') {
        fprintf(stderr, "run: not a number: %s\n", text);
        exit(EXIT_USAGE);
    }
    return number;
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"operations", required_argument, NULL, 'n'},
        {"inputs", required_argument, NULL, 'i'},
        {"seed", required_argument, NULL, 's'},
        {"tell", no_argument, NULL, 't'},
        {"keep", required_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    while ((letter = getopt_long(argc, argv, "n:i:s:tk:h", options, NULL)) != -1) {
        switch (letter) {
        case 'n':
            settings.operations = number_from(optarg);
            settings.inputs = 0;
            break;
        case 'i':
            settings.inputs = number_from(optarg);
            break;
        case 's':
            settings.seed = number_from(optarg);
            break;
        case 't':
            target_tell();
            break;
        case 'k':
            settings.keep = optarg;
            break;
        default:
            usage(letter == 'h' ? stdout : stderr);
            exit(letter == 'h' ? end_output("run", 0, EXIT_USAGE) : EXIT_USAGE);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t files = 0;
    uint64_t replayed = 0;
    uint64_t done;

    read_options(argc, argv);
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    signal(SIGBUS, on_crash);
    signal(SIGALRM, on_crash);
    for (int i = optind; i < argc; i++) {
        replayed += replay(argv[i], &files);
    }
    const uint64_t inputs = draw_inputs(&done);

    printf("%llu file%s, %llu operation%s; %llu pseudo-random input%s from seed %llu, %llu "
           "operation%s; no difference\n",
           (unsigned long long)files, plural(files), (unsigned long long)replayed, plural(replayed),
           (unsigned long long)inputs, plural(inputs), (unsigned long long)settings.seed,
           (unsigned long long)done, plural(done));
    return end_output("run", 0, EXIT_USAGE);
}
