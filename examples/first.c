/* first.c - one thread holds an object while another frees it. */
#include "haft.h"
#include <pthread.h>
#include <stdio.h>

static haft_table *prices;
static haft_id id;

static void *sell(void *unused)
{
    haft_free_unregistered(prices, id); /* any thread, no set-up */
    return unused;
}

int main(void)
{
    const haft_table_options options = {.capacity = 1000, .object_size = sizeof(double)};
    haft_domain *domain;
    haft_worker *worker; /* a thread that resolves opens one */
    pthread_t seller;

    if (haft_domain_open(NULL, &domain) || haft_table_open(domain, &options, &prices) ||
        haft_worker_open(prices, &worker) || haft_insert(worker, &(double){9.5}, &id)) {
        return 1;
    }
    const double *price = haft_resolve(haft_table_view(prices), id);

    if (price == NULL || pthread_create(&seller, NULL, sell, NULL) != 0) {
        return 1;
    }
    pthread_join(seller, NULL);                /* not parked: that would let go of the price */
    printf("%.1f can still be read;", *price); /* until this thread's quiescent point: */
    haft_worker_quiescent(worker);
    printf(" its id: %s\n", haft_status_text(haft_diagnose(prices, id)));
    haft_worker_close(worker);
    haft_table_close(prices);
    haft_domain_close(domain);
    return fflush(stdout) != 0;
}
