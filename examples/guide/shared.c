/* shared.c - the guide's shared table: jobs on four threads, with the workers clock. */
#include "must.h"
#include <haft/table.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100000, KEPT = 64 };

struct message {
    int sender;
    int number;
};

static haft_table *messages;

/* guide: job */
/* Sends one message, in the place of the one that it sent KEPT jobs ago. */
static void job(haft_worker *worker, haft_id *sent, int sender, int number)
{
    haft_id *mine = &sent[number % KEPT];

    haft_free(worker, *mine); /* nil the first time: an answer, not an error */
    must(haft_insert_wait(worker, &(struct message){sender, number}, mine));

    const struct message *found = haft_resolve(haft_table_view(messages), *mine);

    if (found == NULL || found->number != number) {
        abort();
    }
}
/* end */

/* guide: thread */
static void *thread(void *arg)
{
    haft_id sent[KEPT] = {HAFT_NIL};
    haft_worker *worker;

    must(haft_worker_open(messages, &worker));
    for (int i = 0; i < ROUNDS; i++) {
        job(worker, sent, *(int *)arg, i);
        must(haft_worker_quiescent(worker)); /* no pointer from before is used after this */
    }
    must(haft_worker_close(worker));
    return NULL;
}
/* end */

int main(void)
{
    haft_domain *domain;

    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_WORKERS}, &domain));
    must(haft_table_open(domain,
                         &(haft_table_options){.name = "messages",
                                               .capacity = 100000,
                                               .object_size = sizeof(struct message)},
                         &messages));

    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, thread, &numbers[i])) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    const haft_table_stats stats = haft_table_stats_get(messages);

    printf("%d live, %d workers\n", (int)stats.live, (int)stats.workers);
    must(haft_table_close(messages)); /* HAFT_IN_USE if a worker were open */
    must(haft_domain_close(domain));
    return stats.live != THREADS * KEPT || fflush(stdout) != 0;
}
