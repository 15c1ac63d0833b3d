/* level.c - the guide's hand-over: built by one thread, used by all, saved and loaded again. */
#include "must.h"
#include <haft/kit/restore.h>
#include <haft/share.h>
#include <haft/table.h>

struct tree {
    int age;
};

static const haft_local_options options = {
    .capacity = 100, .object_size = sizeof(struct tree), .will_share = true};

struct saved {
    haft_id id;
    bool is_live;
    struct tree tree;
};

struct file { /* in memory, here */
    struct saved slots[100];
    int count;
};

static bool save_slot(haft_id id, void *object, void *arg)
{
    struct file *file = arg;
    struct saved *saved = &file->slots[file->count++];

    *saved = (struct saved){.id = id, .is_live = object != NULL};
    if (object != NULL) {
        saved->tree = *(struct tree *)object;
    }
    return true;
}

static haft_local *load(const struct file *file)
{
    haft_local *trees;

    must(haft_local_open(&options, &trees));
    haft_local_load_begin(trees);
    for (int i = 0; i < file->count; i++) {
        const struct saved *saved = &file->slots[i];

        must(saved->is_live ? haft_local_restore(trees, saved->id, &saved->tree)
                            : haft_local_restore_free(trees, saved->id));
    }
    haft_local_load_end(trees);
    return trees;
}

int main(void)
{
    static struct file file;
    haft_local *trees;
    haft_domain *domain;
    haft_id oak, elm;

    must(haft_local_open(&options, &trees));
    must(haft_local_insert(trees, &(struct tree){.age = 300}, &oak));
    must(haft_local_insert(trees, &(struct tree){.age = 20}, &elm));
    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_WORKERS}, &domain));

    haft_table *table;
    haft_worker *worker;

    must(haft_share(trees, domain, NULL, &table)); /* `trees` is used up; every id holds */
    must(haft_worker_open(table, &worker));        /* on any thread */
    must(haft_free(worker, elm));
    must(haft_worker_close(worker));
    must(haft_unshare(table, &trees)); /* `table` is used up */

    haft_local_for_each_slot(trees, save_slot, &file);
    haft_local_close(trees);
    trees = load(&file);

    const struct tree *found = haft_resolve(haft_local_view(trees), oak);

    printf("the oak is %d years old; the elm: %s\n", found->age,
           haft_status_text(haft_local_diagnose(trees, elm)));
    haft_local_close(trees);
    return haft_domain_close(domain) != HAFT_OK || fflush(stdout) != 0;
}
