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

static void on_destroy(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    ++*(int *)arg;
}

static bool use_counted(void)
{
    int destroyed = 0;
    haft_counted_options options = {
        .capacity = 10, .object_size = 8, .on_destroy = on_destroy, .destroy_arg = &destroyed};
    haft_counted *counted;
    haft_id id;

    if (haft_counted_open(&options, &counted) != HAFT_OK) {
        return false;
    }
    bool is_used = haft_counted_insert(counted, NULL, &id) == HAFT_OK &&
                   haft_counted_acquire(counted, id) != NULL &&
                   haft_counted_free(counted, id) == HAFT_OK &&
                   haft_counted_release(counted, id) == HAFT_OK && destroyed == 1;
    return haft_counted_close(counted) == HAFT_OK && is_used;
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
    if (!is_used || !is_closed) {
        return 3;
    }
    return use_counted() ? 0 : 4;
}
