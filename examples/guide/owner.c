/* owner.c - the guide's everything of one owner at once: many ids, of which some are stale. */
#include "must.h"
#include <haft/local.h>
#include <haft/table.h>

enum { MOST = 64 };

struct player {
    haft_id shots[MOST]; /* all that the player has fired; some may have hit meanwhile */
    size_t count;
};

static void fire(haft_local *shots, struct player *player, int count)
{
    while (count-- > 0) {
        must(haft_local_insert(shots, NULL, &player->shots[player->count++]));
    }
}

static int leave(haft_local *shots, struct player *player)
{
    int freed = 0;

    for (size_t i = 0; i < player->count; i++) {
        freed += haft_local_free(shots, player->shots[i]) == HAFT_OK; /* else HAFT_STALE */
    }
    player->count = 0;
    return freed;
}

static void play_alone(void)
{
    struct player ann = {.count = 0}, bob = {.count = 0};
    haft_local *shots;

    must(haft_local_open(&(haft_local_options){.capacity = 100}, &shots));
    fire(shots, &ann, 5);
    must(haft_local_free(shots, ann.shots[1])); /* two hit */
    must(haft_local_free(shots, ann.shots[3]));
    fire(shots, &bob, 4); /* into their slots, too */
    const int freed = leave(shots, &ann);

    printf("%d of 5 freed; %d of bob's 4 fly on\n", freed, (int)haft_local_count(shots));
    haft_local_close(shots);
}

static void play_shared(void)
{
    struct player ann = {.count = 5};
    haft_domain *domain;
    haft_table *shots;
    haft_worker *worker;

    must(haft_domain_open(NULL, &domain));
    must(haft_table_open(domain, &(haft_table_options){.capacity = 100}, &shots));
    must(haft_worker_open(shots, &worker));
    must(haft_insert_many(worker, NULL, ann.shots, 5, NULL) == 5 ? HAFT_OK : HAFT_FULL);
    must(haft_free(worker, ann.shots[1]));
    haft_status statuses[MOST]; /* NULL, if only the number matters */
    const size_t freed = haft_free_many(worker, ann.shots, ann.count, statuses);
    printf("%d of 5 freed; one: %s\n", (int)freed, haft_status_text(statuses[1]));
    must(haft_worker_close(worker));
    must(haft_table_close(shots));
    must(haft_domain_close(domain));
}

int main(void)
{
    play_alone();
    play_shared();
    return fflush(stdout) != 0;
}
