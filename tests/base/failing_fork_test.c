/* Forks while another thread is in the middle of a call, kept there by what it asks the system. */
#include "tests/base/faults.h"
#include <haft/threads.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(fork_in_the_middle_of, .timeout = SUITE_SECONDS);

static sem_t inside;
static sem_t go_on;

static void stay(void)
{
    sem_post(&inside);
    while (sem_wait(&go_on) != 0) {
        /* interrupted */
    }
}

static void *open_and_close(void *table)
{
    must(haft_worker_close(open_worker(table)) == HAFT_OK);
    return NULL;
}

static int close_all(struct shared *shared)
{
    alarm(SUITE_SECONDS); /* then it hangs */
    return haft_worker_close(shared->worker) != HAFT_OK ||
           haft_table_close(shared->table) != HAFT_OK ||
           haft_table_close(shared->anchor) != HAFT_OK ||
           haft_domain_close(shared->domain) != HAFT_OK;
}

/* The part of a worker that the forking thread has had before. */
Test(fork_in_the_middle_of, opening_a_worker_it_does_not_count_as_open_in_the_child)
{
    const haft_domain_options workers = {.clock = HAFT_CLOCK_WORKERS};
    pthread_t thread;
    int status = -1;

    need_forks_beside_threads();
    struct shared shared = open_shared_on(&workers, &(haft_table_options){.capacity = 100});

    must(haft_worker_close(open_worker(shared.table)) == HAFT_OK);
    sem_init(&inside, 0, 0);
    sem_init(&go_on, 0, 0);
    faults.before_alloc_aligned = stay; /* when the clock takes note of a further thread */
    must(pthread_create(&thread, NULL, open_and_close, shared.table) == 0);
    sem_wait(&inside);
    haft_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        haft_after_fork_child();
        _exit(close_all(&shared));
    }
    haft_after_fork_parent();
    sem_post(&go_on);
    must(waitpid(child, &status, 0) == child);
    cr_expect(zero(int, status));
    pthread_join(thread, NULL);
    close_shared(&shared);
}
