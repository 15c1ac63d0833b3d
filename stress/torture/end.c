/* The end of a play: nothing may be left over, and nothing lost. */
#include "stress/torture/shares.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>

#define NAP_NS 20000

static void check_counts(struct play *play, struct subject *subject)
{
    const haft_table_stats stats = haft_table_stats_get(subject->table);
    const uint64_t live = peek(&subject->inserted) - peek(&subject->freed);

    if (stats.live != live || stats.reserved != 0 || stats.workers != 0 ||
        stats.high_water > stats.limit ||
        stats.live + stats.retired + stats.free + stats.exhausted + stats.released !=
            stats.high_water) {
        broken(
            play,
            "in the end live %llu (not %llu) reserved %llu retired %llu free %llu exhausted %llu "
            "given back %llu of %llu used of %llu, workers %llu",
            (unsigned long long)stats.live, (unsigned long long)live,
            (unsigned long long)stats.reserved, (unsigned long long)stats.retired,
            (unsigned long long)stats.free, (unsigned long long)stats.exhausted,
            (unsigned long long)stats.released, (unsigned long long)stats.high_water,
            (unsigned long long)stats.limit, (unsigned long long)stats.workers);
    }
}

struct drain {
    struct play *play;
    struct subject *subject;
    haft_worker *worker;
};

static bool free_visited(haft_id id, void *object, void *arg)
{
    struct drain *drain = arg;

    if (!object_is(object, id)) {
        broken(drain->play, "id %llx: the object is %llx in the end", (unsigned long long)id.bits,
               (unsigned long long)((struct object *)object)->id);
    }
    must(&drain->play->run, haft_free(drain->worker, id), "freeing in the end");
    ledger_give(drain->play, drain->subject, id, true);
    add(&drain->subject->freed, 1);
    return true;
}

/* Free all there is. */
static void drain_table(struct drain *drain)
{
    haft_section_begin(drain->play->domain);
    haft_scan(drain->subject->table, HAFT_EVERYTHING, free_visited, drain);
    haft_section_end(drain->play->domain);
    must(&drain->play->run, haft_worker_quiescent(drain->worker), "a quiescent point");
}

static void let_time_pass(const struct drain *drain)
{
    const struct play *play = drain->play;

    if (play->has_frames) {
        must(&play->run, haft_domain_tick(play->domain), "a tick");
    }
    must(&play->run, haft_worker_quiescent(drain->worker), "a quiescent point");
    sleep_ns(NAP_NS);
}

/* One object more; false if the table is full. */
static bool insert(struct drain *drain)
{
    struct play *play = drain->play;
    haft_id id;
    void *object;
    haft_status status = haft_reserve(drain->worker, &id, &object);

    while (status == HAFT_BUSY) {
        let_time_pass(drain);
        status = haft_reserve(drain->worker, &id, &object);
    }
    if (status == HAFT_FULL) {
        return false;
    }
    must(&play->run, status, "reserving in the end");
    ledger_take(play, drain->subject, id);
    object_write(object, id);
    haft_publish(drain->worker, id);
    add(&drain->subject->inserted, 1);
    return true;
}

/* All lives of all slots: the remaining ones are lived here. */
static void exhaust(struct drain *drain)
{
    struct play *play = drain->play;
    struct subject *subject = drain->subject;
    const uint64_t last = haft_field_max(subject->layout.generation_bits);

    while (insert(drain)) {
        drain_table(drain);
    }
    const haft_table_stats stats = haft_table_stats_get(subject->table);

    for (uint64_t i = HAFT_FIRST_INDEX; i < subject->slots; i++) {
        if (peek(&subject->places[i].issued) != last) {
            broken(play, "slot %llu ended at generation %llu of %llu", (unsigned long long)i,
                   (unsigned long long)peek(&subject->places[i].issued), (unsigned long long)last);
        }
    }
    if (stats.exhausted != stats.limit) {
        broken(play, "%llu of %llu slots exhausted", (unsigned long long)stats.exhausted,
               (unsigned long long)stats.limit);
    }
    play->sum.counts[COUNT_EXHAUSTED]++;
}

/* The table must hold its capacity, each object in a separate slot. */
static void fill_up(struct drain *drain)
{
    for (uint64_t i = 0; i < drain->subject->capacity; i++) {
        if (!insert(drain)) {
            broken(drain->play, "%llu objects fit in the end, the capacity is %llu",
                   (unsigned long long)i, (unsigned long long)drain->subject->capacity);
        }
    }
    drain_table(drain);
}

static void end_table(struct play *play, struct subject *subject)
{
    struct drain drain = {.play = play, .subject = subject};

    check_counts(play, subject);
    check_census(&play->run, subject->table);
    if (has_habit(play, SHARES)) {
        unshare_subject(play, subject);
        return;
    }
    must(&play->run, haft_worker_open(subject->table, &drain.worker), "opening a worker");
    drain_table(&drain);
    if (has_habit(play, TRIMS)) {
        must(&play->run, haft_trim(subject->table, NULL), "trimming in the end");
    }
    if (has_habit(play, EXHAUSTS)) {
        exhaust(&drain);
    } else {
        fill_up(&drain);
    }
    must(&play->run, haft_worker_close(drain.worker), "closing a worker");
    check_counts(play, subject);
    close_table(&play->run, subject->table);
    if (has_habit(play, RECLAIMS) && peek(&subject->reclaimed) != peek(&subject->freed)) {
        broken(play, "%llu objects freed, %llu reclaimed",
               (unsigned long long)peek(&subject->freed),
               (unsigned long long)peek(&subject->reclaimed));
    }
}

void play_end(struct play *play)
{
    const haft_id handed = {play->handed};

    haft_thread_register(play->domain);
    if (!haft_id_is_nil(handed)) {
        must(&play->run, haft_unpin(subject_of(play, handed)->table, handed), "unpinning");
    }
    for (unsigned i = 0; i < play->profile->tables; i++) {
        end_table(play, &play->subjects[i]);
    }
    if (has_habit(play, COUNTS)) {
        counts_close(play);
    }
    haft_thread_unregister(play->domain);
}
