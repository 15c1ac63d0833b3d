/* reader.c - the guide's threads that only read: a flavour of liburcu, read sections, pins. */
#include "must.h"
#include <haft/domain.h>
#include <haft/pin.h>
#include <haft/table.h>
#include <haft/urcu.h>
#include <pthread.h>

struct page {
    char text[56];
};

static haft_domain *domain;
static haft_table *pages;
static haft_id front_page;

/* guide: section */
static void *read_pages(void *arg)
{
    int *found = arg;

    haft_thread_register(domain);
    for (int i = 0; i < 1000; i++) {
        haft_section_begin(domain);
        const struct page *page = haft_resolve(haft_table_view(pages), front_page);

        *found += page != NULL && page->text[0] == 'W'; /* good until the section ends */
        haft_section_end(domain);
    }
    haft_thread_unregister(domain);
    return NULL;
}
/* end */

/* guide: pin */
/* For calls that block: a read section would hold up every grace period. */
static struct page *take(haft_id id)
{
    haft_section_begin(domain);
    struct page *page = haft_pin(pages, id); /* NULL if the id is stale */
    haft_section_end(domain);
    return page;
}
/* end */

int main(void)
{
    haft_worker *worker;
    pthread_t reader;
    int found = 0;

    must(haft_domain_open(
        &(haft_domain_options){.foreign_clock = haft_urcu_memb(), .clock = HAFT_CLOCK_CALLER},
        &domain));
    must(haft_table_open(
        domain,
        &(haft_table_options){.capacity = 100, .object_size = sizeof(struct page), .pins = true},
        &pages));
    must(haft_worker_open(pages, &worker));
    must(haft_insert(worker, &(struct page){"Welcome"}, &front_page));
    if (pthread_create(&reader, NULL, read_pages, &found)) {
        return 1;
    }
    haft_thread_register(domain);
    pthread_join(reader, NULL);

    const struct page *page = take(front_page);

    must(haft_free(worker, front_page)); /* no thread resolves it from now on */
    must(haft_worker_flush(worker));     /* else a wait leaves out the slots that it holds back */
    must(haft_domain_wait(domain));      /* a grace period passes: the pin keeps the memory */
    printf("%s, %s\n", page->text, haft_status_text(haft_diagnose(pages, front_page)));
    must(haft_unpin(pages, front_page)); /* the slot may be used again */

    haft_thread_unregister(domain);
    must(haft_worker_close(worker));
    must(haft_table_close(pages));
    must(haft_domain_close(domain));
    return found != 1000 || fflush(stdout) != 0;
}
