/* first.c - an object, its id, and what becomes of the id when the object is freed. */
#include <haft/table.h>
#include <stdio.h>
#include <urcu/urcu-memb.h>

int main(int argc, char **argv)
{
    const double price = 9.5;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id id;

    if (argc > 1) {
        fprintf(stderr, "first: takes no arguments, not '%s'\n", argv[1]);
        return 2;
    }
    const haft_domain_options clock = {.flavour = &urcu_memb_flavor, .clock = HAFT_CLOCK_THREAD};
    if (haft_domain_open(&clock, &domain) ||
        haft_table_open(
            domain, &(haft_table_options){.capacity = 1000, .object_size = sizeof price}, &table) ||
        haft_worker_open(table, &worker) || haft_insert(worker, &price, &id)) {
        return 1;
    }
    haft_thread_register(domain);
    haft_section_begin(domain);
    const double *found = haft_resolve(haft_table_view(table), id);
    haft_free(worker, id); /* or any other thread does, at this very moment: */
    int right = found != NULL && *found == price;              /* readable until the section ends */
    right &= haft_resolve(haft_table_view(table), id) == NULL; /* but never found again */
    haft_section_end(domain);
    haft_thread_unregister(domain);

    printf("%s: %s\n", right ? "right" : "wrong", haft_status_text(haft_diagnose(table, id)));
    return !right || haft_worker_close(worker) || haft_table_close(table) ||
           haft_domain_close(domain) || fflush(stdout);
}
