/* sides.c - the guide's component stores: values of several types under the ids of one table. */
#include "must.h"
#include <haft/kit/side.h>
#include <haft/urcu.h>

struct position {
    float x, y;
};

struct velocity {
    float x, y;
};

/* guide: move */
static bool move(haft_id id, void *object, void *value, void *arg)
{
    const haft_entries *positions = arg;
    struct position *position = haft_side_get(*positions, id);
    const struct velocity *velocity = value;

    (void)object; /* of no bytes: the table only gives out ids */
    if (position != NULL) {
        position->x += velocity->x;
        position->y += velocity->y;
    }
    return true;
}
/* end */

static void play(void)
{
    haft_local *things;
    haft_side *positions, *velocities;

    must(haft_local_open(&(haft_local_options){.capacity = 1000}, &things));
    must(haft_side_open_local(things, &(haft_side_options){.value_size = sizeof(struct position)},
                              &positions));
    must(haft_side_open_local(things, &(haft_side_options){.value_size = sizeof(struct velocity)},
                              &velocities));

    /* guide: set */
    haft_id ball, tree;

    must(haft_local_insert(things, NULL, &ball));
    must(haft_side_set(positions, ball, &(struct position){1, 1}, NULL));
    must(haft_side_set(velocities, ball, &(struct velocity){2, 3}, NULL));
    must(haft_local_insert(things, NULL, &tree));
    must(haft_side_set(positions, tree, &(struct position){5, 5}, NULL));
    /* end */

    haft_entries all = haft_side_entries(positions);
    const uint64_t moved = haft_side_for_each(velocities, move, &all);
    const struct position *at = haft_side_get(all, ball);

    printf("%d of 2 moved; the ball is at %g, %g\n", (int)moved, (double)at->x, (double)at->y);

    must(haft_local_free(things, ball));
    const int left = (int)haft_side_for_each(velocities, move, &all); /* its values are not met */
    const int ended = (int)haft_side_sweep(positions) + (int)haft_side_sweep(velocities);

    haft_side_remove(positions, tree); /* a thing loses a component */
    haft_side_close(velocities);
    haft_side_close(positions); /* before the table */
    haft_local_close(things);
    printf("%d moves on; %d values went with the ball\n", left, ended);
}

struct health {
    _Atomic(int) points; /* threads that write to one value must agree among themselves */
};

static int points_of(haft_domain *domain, haft_view things, haft_entries healths, haft_id id)
{
    haft_section_begin(domain);
    struct health *health = haft_side_find(healths, things, id, NULL); /* resolves the id, too */
    const int points = health != NULL ? health->points : 0;

    haft_section_end(domain);
    return points;
}

static void play_shared(void)
{
    haft_domain *domain;
    haft_table *things;
    haft_worker *worker;
    haft_side *healths;
    haft_id id;

    must(haft_domain_open(
        &(haft_domain_options){.foreign_clock = haft_urcu_memb(), .clock = HAFT_CLOCK_CALLER},
        &domain));
    must(haft_table_open(domain, &(haft_table_options){.capacity = 1000}, &things));
    haft_thread_register(domain);
    must(haft_worker_open(things, &worker));

    must(haft_side_open(things, &(haft_side_options){.value_size = sizeof(struct health)},
                        &healths));
    must(haft_reserve(worker, &id, NULL));
    must(haft_side_set(healths, id, &(struct health){7}, NULL)); /* no thread has the id yet */
    haft_publish(worker, id);
    printf("%d points", points_of(domain, haft_table_view(things), haft_side_entries(healths), id));
    must(haft_free(worker, id));
    printf(", then %d\n",
           points_of(domain, haft_table_view(things), haft_side_entries(healths), id));

    haft_side_close(healths);
    must(haft_worker_close(worker));
    haft_thread_unregister(domain);
    must(haft_table_close(things));
    must(haft_domain_close(domain));
}

int main(void)
{
    play();
    play_shared();
    return fflush(stdout) != 0;
}
