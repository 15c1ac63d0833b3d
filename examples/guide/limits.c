/* limits.c - the guide's limits: full, busy, exhausted, and where a slot begins anew. */
#include "must.h"
#include <haft/local.h>
#include <haft/table.h>

static void say(const char *what, haft_status status)
{
    printf("%-9s %s: %s\n", what, haft_status_name(status), haft_status_text(status));
}

/* A slot with two bits of generation lives three times, or begins anew. */
static void wear_out(bool wrap)
{
    haft_local *table;
    haft_id id, first = HAFT_NIL;

    must(haft_local_open(
        &(haft_local_options){.capacity = 1, .layout = HAFT_LAYOUT_OF(16, 2, 0), .wrap = wrap},
        &table));
    for (int i = 0; i < 4 && haft_local_insert(table, NULL, &id) == HAFT_OK; i++) {
        first = i == 0 ? id : first;
        must(haft_local_free(table, id));
    }
    say(wrap ? "wrapped" : "exhausted", haft_local_insert(table, NULL, &id));
    haft_local_close(table);
}

int main(void)
{
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id ids[28], id;
    int count = 0;

    haft_status full, busy, free_again;

    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain));
    must(haft_table_open(
        domain,
        &(haft_table_options){.capacity = 28, .object_size = 8, .layout = HAFT_LAYOUT_OF(5, 32, 0)},
        &table)); /* of 32 indices 4 are not used */
    must(haft_worker_open(table, &worker));

    while (count < 28 && haft_insert(worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    full = haft_insert(worker, NULL, &id);
    must(haft_free(worker, ids[0])); /* a reader may still hold it ... */
    busy = haft_insert(worker, NULL, &id);
    must(haft_domain_tick(domain)); /* ... now none does */
    free_again = haft_insert(worker, NULL, &id);
    say("all live", full);
    say("one freed", busy);
    say("one tick", free_again);

    /* guide: stats */
    const haft_table_stats stats = haft_table_stats_get(table);

    printf("%d live of %d, %d wait, %d grace periods\n", (int)stats.live, (int)stats.capacity,
           (int)stats.retired, (int)stats.clock.grace_periods);
    /* end */
    must(haft_worker_close(worker));
    must(haft_table_close(table));
    must(haft_domain_close(domain));
    wear_out(false);
    wear_out(true);
    return full != HAFT_FULL || busy != HAFT_BUSY || free_again != HAFT_OK || fflush(stdout) != 0;
}
