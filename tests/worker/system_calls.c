/*
 * No system call in the steady state: two threads insert, resolve and free under a filter that lets
 * exit_group pass, and sched_yield and nanosleep, which are counted.  The frame clock needs none of
 * these.
 *
 * Pressure: each thread churns as many objects as it likes at once, with a quiescent point or a
 * frame after each round; the rounds before the filter are the warm-up.
 *
 * Usage: system_calls [millions of operations]   10 by default; both clocks in turn
 *
 * Exits with 0, also where it has to be skipped (sanitizers, emulation, a machine whose clock is a
 * system call), which it says; with 1 after naming the system call.
 */
#include <errno.h>
#include <haft/table.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(ARCHITECTURE) || defined(SANITIZED)
int main(void)
{
    puts("skipped: sanitizers make system calls, and the filter knows x86-64 and aarch64");
    return 0;
}
#else

#define THREADS 2
#define OBJECTS 1000 /* of a thread, at once */
#define WARM_ROUNDS 200

/* --- the filter --- */

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* All other calls raise SIGSYS in the thread that makes them. */
static bool filter_calling_thread(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_sched_yield),
        ALLOW(SYS_nanosleep),
        ALLOW(SYS_clock_nanosleep), /* glibc's nanosleep */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    const struct sock_fprog program = {sizeof steps / sizeof *steps, steps};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static _Atomic(int) trapped; /* the number of a system call that was refused */

/* The thread can do nothing more, not even return from here: that is a system call. */
static void note_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    atomic_store(&trapped, info->si_syscall);
    while (true) {
        sched_yield();
    }
}

/* --- waits, counted --- */

static _Atomic(uint64_t) waits;
static _Thread_local bool is_steady;

void __real_os_yield(void);
void __real_os_sleep(uint64_t ns);
void __wrap_os_yield(void);
void __wrap_os_sleep(uint64_t ns);

void __wrap_os_yield(void)
{
    atomic_fetch_add(&waits, is_steady);
    __real_os_yield();
}

void __wrap_os_sleep(uint64_t ns)
{
    atomic_fetch_add(&waits, is_steady);
    __real_os_sleep(ns);
}

/* --- the threads --- */

struct run {
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    bool has_frames;
    uint64_t rounds;
    _Atomic(uint64_t) arrived; /* at ends of frames, ever */
    _Atomic(uint64_t) frames;
    _Atomic(int) ready, done;
};

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "system_calls: %s\n", what);
        _exit(1);
    }
}

/* The last of the threads to come ends the frame. */
static void end_frame(struct run *run)
{
    const uint64_t frame = atomic_load(&run->frames);

    if (atomic_fetch_add(&run->arrived, 1) % THREADS == THREADS - 1) {
        must(haft_domain_tick(run->domain) == HAFT_OK, "a tick");
        atomic_store(&run->frames, frame + 1);
    }
    while (atomic_load(&run->frames) == frame) {
        sched_yield(); /* the program's */
    }
}

static void play_round(struct run *run, haft_worker *worker, haft_id *ids)
{
    for (uint64_t n = 0; n < OBJECTS; n++) {
        while (haft_insert(worker, &n, &ids[n]) != HAFT_OK) {
            must(!run->has_frames, "room in each frame");
            haft_worker_quiescent(worker);
        }
    }
    for (uint64_t n = 0; n < OBJECTS; n++) {
        const uint64_t *found = haft_resolve(run->view, ids[n]);

        must(found != NULL && *found == n, "the object");
        must(haft_free(worker, ids[n]) == HAFT_OK, "a free");
    }
    must(haft_worker_quiescent(worker) == HAFT_OK, "a quiescent point");
    if (run->has_frames) {
        end_frame(run);
    }
}

static void *play(void *arg)
{
    struct run *run = arg;
    haft_id ids[OBJECTS];
    haft_worker *worker;

    must(haft_worker_open(run->table, &worker) == HAFT_OK, "a worker");
    for (uint64_t n = 0; n < WARM_ROUNDS; n++) {
        play_round(run, worker, ids);
    }
    must(haft_worker_flush(worker) == HAFT_OK, "a flush");
    haft_thread_offline(run->domain);
    atomic_fetch_add(&run->ready, 1);
    while (atomic_load(&run->ready) != THREADS) {
        sched_yield();
    }
    haft_thread_online(run->domain);
    must(filter_calling_thread(), "the filter");
    is_steady = true;
    for (uint64_t n = 0; n < run->rounds; n++) {
        play_round(run, worker, ids);
    }
    is_steady = false;
    haft_thread_offline(run->domain);
    atomic_fetch_add(&run->done, 1);
    while (true) {
        sched_yield(); /* the end of a thread is a system call */
    }
    return NULL;
}

/* A stall's line on stderr would be a system call. */
static void ignore_stall(const haft_stall *stall, void *arg)
{
    (void)stall;
    (void)arg;
}

static void run_on(haft_clock clock, uint64_t millions)
{
    const haft_domain_options domain = {.clock = clock, .on_stall = ignore_stall};
    const haft_table_options table = {.capacity = 100000, .object_size = sizeof(uint64_t)};
    struct run run = {.has_frames = clock == HAFT_CLOCK_FRAME,
                      .rounds = millions * 1000000 / (THREADS * OBJECTS)};
    const struct timespec pause = {0, 1000000};
    pthread_t threads[THREADS];

    must(haft_domain_open(&domain, &run.domain) == HAFT_OK, "a domain");
    must(haft_table_open(run.domain, &table, &run.table) == HAFT_OK, "a table");
    run.view = haft_table_view(run.table);
    for (int n = 0; n < THREADS; n++) {
        must(pthread_create(&threads[n], NULL, play, &run) == 0, "a thread");
    }
    while (atomic_load(&run.done) != THREADS && atomic_load(&trapped) == 0) {
        nanosleep(&pause, NULL);
    }
    if (atomic_load(&trapped) != 0) {
        printf("system_calls: system call %d in the steady state\n", atomic_load(&trapped));
        fflush(stdout);
        _exit(1);
    }
    printf("%s clock: %llu million operations, %llu waits of the library\n",
           run.has_frames ? "frame" : "workers", (unsigned long long)millions,
           (unsigned long long)atomic_load(&waits));
    fflush(stdout);
    _exit(run.has_frames && atomic_load(&waits) != 0);
}

/* In a separate process, whose threads cannot end: 0, or 1. */
static int run_apart(haft_clock clock, uint64_t millions)
{
    int status;

    fflush(stdout);
    const pid_t child = fork();

    if (child == 0) {
        run_on(clock, millions);
    }
    must(waitpid(child, &status, 0) == child, "waiting for a process");
    if (WIFSIGNALED(status)) {
        printf("system_calls: ended by signal %d\n", WTERMSIG(status));
    }
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Whether reading the time is no system call. */
static bool has_quick_clock(void)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        struct timespec now;

        signal(SIGSYS, SIG_DFL);
        if (!filter_calling_thread()) {
            _exit(2);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    const uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    const struct sigaction action = {.sa_sigaction = note_trap, .sa_flags = SA_SIGINFO};

    if (getenv("HAFT_EMULATED") != NULL || !has_quick_clock()) {
        puts("skipped: no filter for system calls here, or the clock is one");
        return 0;
    }
    sigaction(SIGSYS, &action, NULL);
    return run_apart(HAFT_CLOCK_WORKERS, millions) | run_apart(HAFT_CLOCK_FRAME, millions);
}

#endif
