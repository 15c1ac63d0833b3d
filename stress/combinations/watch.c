/* Processes that play, and the one that watches them: see watch.h. */
#include "stress/combinations/watch.h"
#include "stress/combinations/backend.h"
#include <execinfo.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE 16384
#define MOST_FRAMES 32
#define LONGEST_PAUSE_NS 10000000
#define MOST_OPEN 8 /* directories, to remove others in them */

struct watch *watch;

static volatile sig_atomic_t interrupted;

static void note_interruption(int number)
{
    interrupted = number;
}

int watch_interrupted(void)
{
    return interrupted;
}

/* What the caller ignores stays ignored. */
static void handle_interruptions(void (*handler)(int number))
{
    static const int numbers[] = {SIGINT, SIGTERM};
    const struct sigaction handled = {.sa_handler = handler};
    struct sigaction before;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &handled, NULL);
        }
    }
}

double watch_seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC); /* under the explorer, clock_gettime() is the scheduler's */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

double watch_processor_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

/* --- the directory --- */

static pid_t opened_by;

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Plays that break a rule or are ended leave their files. */
static void remove_directory(void)
{
    if (getpid() == opened_by) {
        nftw(watch->directory, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
    }
}

static void make_directory(void)
{
    const char *parent = getenv("TEST_TMPDIR");

    parent = parent != NULL ? parent : getenv("TMPDIR");
    const int length = snprintf(watch->directory, sizeof watch->directory, "%s/haft-plays-XXXXXX",
                                parent != NULL ? parent : "/tmp");

    if ((size_t)length >= sizeof watch->directory || mkdtemp(watch->directory) == NULL) {
        perror("combinations: a directory for plays");
        exit(2);
    }
    opened_by = getpid();
    atexit(remove_directory);
}

void watch_open(void)
{
    watch = mmap(NULL, sizeof *watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED) {
        perror("combinations: mmap");
        exit(2);
    }
    handle_interruptions(note_interruption);
    make_directory();
    backtrace(&(void *){NULL}, 1); /* loads what it needs: a process that dies may not */
}

void watch_note(const char *kind, const char *detail)
{
    snprintf(watch->kind, sizeof watch->kind, "%s", kind);
    snprintf(watch->detail, sizeof watch->detail, "%s", detail);
}

/* Where the process dies: once, then the signal ends it. */
static void print_frames(int number)
{
    void *frames[MOST_FRAMES];

    backtrace_symbols_fd(frames, backtrace(frames, MOST_FRAMES), STDERR_FILENO);
    raise(number); /* comes when this returns */
}

/* Those that no sanitizer catches. */
static void catch_deaths(void)
{
    static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    const struct sigaction once = {.sa_handler = print_frames, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(numbers[i], &once, NULL);
        }
    }
}

const char *watch_printed(int errors)
{
    static char text[TEXT_SIZE];
    const ssize_t length = pread(errors, text, TEXT_SIZE - 1, 0);

    text[length < 0 ? 0 : length] = '\0';
    return text;
}

/* The rest of the line in which `word` stands first, in what the child printed. */
static bool find_printed(int errors, const char *word, char *found, size_t size)
{
    const char *at = strstr(watch_printed(errors), word);

    if (at != NULL) {
        snprintf(found, size, "%.*s", (int)strcspn(at, "\n"), at);
    }
    return at != NULL;
}

/* The child has ended and noted no rule: the report of a sanitizer or assertion, or its status. */
static void note_death(int status, int errors)
{
    static const char *const words[] = {"Assertion", "ERROR: AddressSanitizer",
                                        "ThreadSanitizer: ", "VIOLATION: "};
    char kind[KIND_SIZE];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (find_printed(errors, words[i], kind, sizeof kind)) {
            char *number = strstr(kind, " (pid"); /* of the process: no other kind for that */

            if (number != NULL) {
                *number = '\0';
            }
            watch_note(kind, "");
            return;
        }
    }
    snprintf(kind, sizeof kind, WIFSIGNALED(status) ? "died of signal %d" : "exit status %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    watch_note(kind, "");
}

/* The longer it has waited, the longer: looks at a long run must cost nothing. */
static void pause_longer(long *ns)
{
    nanosleep(&(struct timespec){0, *ns}, NULL);
    *ns = *ns < LONGEST_PAUSE_NS ? 2 * *ns : LONGEST_PAUSE_NS;
}

/* Waits for the process as long as it goes on and no signal interrupts.  False: it had to be
 * ended. */
static bool await_end(pid_t process, double patience, int *status)
{
    uint64_t plays = 0;
    double since = watch_seconds();
    long pause_ns = 50000;

    while (waitpid(process, status, WNOHANG) == 0) {
        if (atomic_load(&watch->plays) != plays) {
            plays = atomic_load(&watch->plays);
            since = watch_seconds();
        }
        if (interrupted != 0 || watch_seconds() - since > patience) {
            kill(process, SIGKILL);
            waitpid(process, status, 0);
            return false;
        }
        pause_longer(&pause_ns);
    }
    return true;
}

bool watch_run(watched *run, uint64_t from, uint64_t count, double patience, int errors)
{
    int status = 0;

    watch->kind[0] = watch->detail[0] = '\0';
    watch->call = CALL_COUNT;
    if (ftruncate(errors, 0) != 0 || lseek(errors, 0, SEEK_SET) != 0) {
        perror("combinations: ftruncate");
        exit(2);
    }
    const pid_t process = backend_fork();

    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        handle_interruptions(SIG_DFL);
        dup2(errors, STDERR_FILENO);
        catch_deaths();
        run(from, count);
        _exit(0);
    }
    const bool has_ended = await_end(process, patience, &status);

    if (interrupted != 0) {
        watch->kind[0] = '\0';
    } else if (!has_ended) {
        watch_note(ENDLESS, watch->call < CALL_COUNT ? call_names[watch->call] : "at the end");
    } else if (status != 0 && watch->kind[0] == '\0') {
        note_death(status, errors);
    }
    return watch->kind[0] == '\0';
}
