/* From a local table to a shared one and back; see shares.h. */
#include "stress/torture/shares.h"
#include <stdlib.h>

/* --- sharing --- */

static void fill_local(const struct play *play, haft_local *local, haft_id *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        void *object;

        must(&play->run, haft_local_reserve(local, &ids[i], &object), "reserving in a local table");
        object_write(object, ids[i]);
        haft_local_publish(local, ids[i]);
    }
}

/* Most of it is freed by chance: those ids become HAFT_NIL.  Now and then memory is given back. */
static void empty_local(const struct play *play, haft_local *local, haft_id *ids, uint64_t count,
                        uint64_t *indices)
{
    struct chance chance = chance_of(&play->run, 4 * MOST_THREADS);
    const uint64_t keep = draw_below(&chance, 6);

    for (uint64_t i = 0; i < count; i++) {
        indices[i] = haft_id_index(play->profile->layout, ids[i]);
        if (draw_below(&chance, 10) >= keep) {
            must(&play->run, haft_local_free(local, ids[i]), "freeing in a local table");
            ids[i] = HAFT_NIL;
        }
    }
    if (one_in(&chance, 2)) {
        must(&play->run, haft_local_trim(local, NULL), "trimming a local table");
    }
}

/* What the ledger knows of the table when the threads begin. */
static void enter(struct play *play, struct subject *subject, const haft_id *ids,
                  const uint64_t *indices)
{
    for (uint64_t i = 0; i < subject->capacity; i++) {
        if (haft_id_is_nil(ids[i])) {
            poke(&subject->places[indices[i]].issued, 1);
            poke(&subject->places[indices[i]].is_inherited, 1);
        } else {
            poke(&ledger_take(play, subject, ids[i])->board, ids[i].bits);
            add(&subject->inserted, 1);
            add(&subject->live, 1);
        }
    }
}

void share_subject(struct play *play, struct subject *subject, const haft_share_options *options)
{
    const struct profile *profile = play->profile;
    const haft_local_options local_options = {
        .capacity = profile->capacity,
        .object_size = LARGE, /* so that it has runs to give back */
        .layout = profile->layout,
        .will_share = true,
        .reuse = play->run.seed % 2 != 0 ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
    };
    haft_id *ids = calloc(profile->capacity, sizeof *ids);
    uint64_t *indices = calloc(profile->capacity, sizeof *indices);
    haft_local *local;

    if (ids == NULL || indices == NULL) {
        broken(play, "no memory for a local table's ids");
    }
    must(&play->run, haft_local_open(&local_options, &local), "opening a local table");
    fill_local(play, local, ids, profile->capacity);
    empty_local(play, local, ids, profile->capacity, indices);
    must(&play->run, haft_share(local, play->domain, options, &subject->table), "sharing");
    subject_describe(play, subject);
    enter(play, subject, ids, indices);
    /* All threads begin by taking what is free. */
    for (unsigned i = 0; i < play->run.threads; i++) {
        play->debts[i] = (subject->capacity - peek(&subject->inserted)) / play->run.threads;
    }
    free(ids);
    free(indices);
}

/* --- and back --- */

struct walk {
    struct play *play;
    struct subject *subject;
    haft_local *local;
};

static bool free_walked(haft_id id, void *object, void *arg)
{
    struct walk *walk = arg;

    if (!object_is(object, id)) {
        broken(walk->play, "id %llx: the object is %llx in the local table",
               (unsigned long long)id.bits, (unsigned long long)((struct object *)object)->id);
    }
    ledger_give(walk->play, walk->subject, id, true);
    must(&walk->play->run, haft_local_free(walk->local, id), "freeing in the local table");
    return true;
}

/* The capacity, each object in a separate slot, at that slot's generation. */
static void fill_again(struct walk *walk)
{
    for (uint64_t i = 0; i < walk->subject->capacity; i++) {
        haft_id id;
        void *object;

        must(&walk->play->run, haft_local_reserve(walk->local, &id, &object),
             "reserving in the local table");
        ledger_take(walk->play, walk->subject, id);
        object_write(object, id);
        haft_local_publish(walk->local, id);
    }
}

static void count_takers(struct play *play)
{
    uint64_t takers = 0;

    for (unsigned i = 0; i < play->run.threads; i++) {
        takers += peek(&play->took_over[i]);
    }
    play->coordinated.counts[COUNT_SHARED_OUT] += takers > 1;
}

void unshare_subject(struct play *play, struct subject *subject)
{
    struct walk walk = {.play = play, .subject = subject};
    const uint64_t live = peek(&subject->inserted) - peek(&subject->freed);

    must(&play->run, haft_unshare(subject->table, &walk.local), "unsharing");
    if (peek(&subject->reclaimed) != peek(&subject->freed)) {
        broken(play, "%llu objects freed, %llu reclaimed when the table was a local one again",
               (unsigned long long)peek(&subject->freed),
               (unsigned long long)peek(&subject->reclaimed));
    }
    const uint64_t visited = haft_local_for_each(walk.local, free_walked, &walk);

    if (visited != live || !haft_local_is_empty(walk.local)) {
        broken(play, "%llu live in the local table, not %llu", (unsigned long long)visited,
               (unsigned long long)live);
    }
    fill_again(&walk);
    haft_local_close(walk.local);
    count_takers(play);
}
