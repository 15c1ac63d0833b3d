/* A plug-in with its own haft inside.  0: it can be used. */
#ifdef HAFT_TWO_FILES
#include <haft.h>
#else
#include <haft/haft.h>
#endif

__attribute__((visibility("default"))) int use(void);

/* use_table(): each thread-local variable of the library is touched on the way. */
static haft_status use_table(haft_table *table)
{
    haft_worker *worker;
    haft_id id;
    haft_status status = haft_worker_open(table, &worker);
    if (status != HAFT_OK) {
        return status;
    }
    status = haft_insert(worker, NULL, &id);
    if (status == HAFT_OK) {
        status = haft_free(worker, id);
    }
    haft_worker_close(worker);
    return status;
}

int use(void)
{
    haft_domain *domain;
    if (haft_domain_open(NULL, &domain) != HAFT_OK) {
        return 1;
    }
    haft_table *table;
    haft_table_options options = {.capacity = 10, .object_size = 8};
    if (haft_table_open(domain, &options, &table) != HAFT_OK) {
        return 2;
    }
    bool is_used = use_table(table) == HAFT_OK;
    bool is_closed = haft_table_close(table) == HAFT_OK && haft_domain_close(domain) == HAFT_OK;
    return is_used && is_closed ? 0 : 3;
}
