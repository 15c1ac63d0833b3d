/*
 * program.c - a program that uses haft as it was installed: a table on a liburcu flavour that
 * it chooses.  The four build files beside it and below say how it is built.
 */
#include <haft/haft.h>
#include <haft/urcu.h>
#include <stdio.h>

static int use(haft_domain *domain)
{
    const haft_table_options options = {.capacity = 1000, .object_size = sizeof(double)};
    const double price = 9.5;
    haft_table *table;
    haft_worker *worker;
    haft_id id;

    if (haft_table_open(domain, &options, &table) || haft_worker_open(table, &worker) ||
        haft_insert(worker, &price, &id)) {
        return 1;
    }
    const double *found = haft_resolve(haft_table_view(table), id);
    int wrong = found == NULL || *found != price;

    wrong |= haft_free(worker, id) != HAFT_OK;
    wrong |= haft_resolve(haft_table_view(table), id) != NULL;
    wrong |= haft_worker_flush(worker) != HAFT_OK;
    wrong |= haft_domain_wait(domain) != HAFT_OK; /* with qsbr, for this thread too */
    return wrong || haft_worker_close(worker) || haft_table_close(table);
}

int main(void)
{
    const haft_domain_options options = {.foreign_clock = haft_urcu_qsbr(),
                                         .clock = HAFT_CLOCK_CALLER};
    haft_domain *domain;

    if (haft_version() != HAFT_VERSION || haft_domain_open(&options, &domain)) {
        return 1;
    }
    haft_thread_register(domain);
    const int wrong = use(domain);

    haft_thread_unregister(domain);
    printf("haft %s: %s\n", haft_version_text(), wrong ? "wrong" : "right");
    return wrong || haft_domain_close(domain);
}
