/*
 * haft_kit.c as a part of another source, as in unity builds: here behind the system's headers,
 * which strict C has hide what is not C, and among plain names.
 */
#ifdef __unix__
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#endif
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 0macro
#define PUT(a, b) 0macro

enum colour { WAITING, DEAD, PACKED_COUNT };

typedef int given;

struct batch {
    given own;
};

static given insert(struct batch *in)
{
    return in->own;
}

#include "haft_kit.c"

static given sort(struct batch *of)
{
    return insert(of) + DEAD;
}

static haft_status use_shared(void)
{
    const haft_table_options options = {.capacity = 1000, .object_size = sizeof(int)};
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id id;

    haft_status status = haft_domain_open(NULL, &domain);

    if (status == HAFT_OK) {
        status = haft_table_open(domain, &options, &table);
    }
    if (status == HAFT_OK) {
        status = haft_worker_open(table, &worker);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = haft_insert(worker, &(int){7}, &id);
    if (status == HAFT_OK) {
        status = haft_free(worker, id);
    }
    haft_worker_close(worker);
    haft_table_close(table);
    haft_domain_close(domain);
    return status;
}

int main(void)
{
    const haft_status status = use_shared();
    struct batch batch = {1};

    printf("%s\n", haft_status_name(status));
    return status != HAFT_OK || sort(&batch) < WAITING;
}
