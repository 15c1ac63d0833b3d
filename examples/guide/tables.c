/* tables.c - README's two shared tables, side by side. */
#include "must.h"
#include <haft/counted.h>
#include <haft/table.h>

static double held(void)
{
    haft_counted *prices;
    haft_id id;

    /* guide: counted */
    haft_counted_options options = {.capacity = 1000, .object_size = sizeof(double)};
    must(haft_counted_open(&options, &prices));
    must(haft_counted_insert(prices, &(double){9.5}, &id));

    double *price = haft_counted_acquire(prices, id); /* any thread; NULL: the id is stale */
    must(haft_counted_free(prices, id));              /* any thread: one caller wins, ... */
    double sold = *price;                             /* ... and the object stays */
    must(haft_counted_release(prices, id));           /* until the last holder lets go */

    must(haft_counted_close(prices));
    /* end */
    return sold;
}

static double resolved(void)
{
    haft_domain *domain;
    haft_table *prices;
    haft_worker *worker;
    haft_id id;

    /* guide: table */
    haft_table_options options = {.capacity = 1000, .object_size = sizeof(double)};
    must(haft_domain_open(NULL, &domain));
    must(haft_table_open(domain, &options, &prices));
    must(haft_worker_open(prices, &worker)); /* each thread one */
    must(haft_insert(worker, &(double){9.5}, &id));

    double *price = haft_resolve(haft_table_view(prices), id); /* a load; NULL: the id is stale */
    must(haft_free(worker, id));                               /* one caller wins, ... */
    double sold = *price;                                      /* ... and the object stays */
    must(haft_worker_quiescent(worker)); /* until each thread has said that it holds no pointer */
    /* end */
    must(haft_worker_close(worker));
    must(haft_table_close(prices));
    must(haft_domain_close(domain));
    return sold;
}

int main(void)
{
    printf("%.1f %.1f\n", held(), resolved());
    return fflush(stdout) != 0;
}
