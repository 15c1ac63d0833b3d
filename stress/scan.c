/*
 * stress/scan.c - scans shared by several threads while others insert and free.
 *
 * Invariant  an object that is live from start to end of a scan is visited exactly once, by one of
 *            the threads; no slot is visited twice; what is visited is itself until the section
 *            ends (PUBLISH, GRACE), and in no extent or above the table's bump (EXTENT, ONWARD).
 * Pressure   half of the threads scan: each takes a range, puts its cursor down and takes it up in
 *            separate sections, and sometimes frees what it visits.  The others insert and free,
 *            many at a time, and leave some objects for good, so that the table grows into
 *            fresh slots, at last those of others.  These and the ones from before the first
 *            scan must be visited.
 * Usage      scan [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller]
 *            A round is one scan of the table.
 */
#include "stress/support.h"
#include <haft/scan.h>
#include <haft/table.h>
#include <pthread.h>
#include <stdlib.h>

#define FIRST_STABLE 300  /* objects from before the first scan */
#define MOST_STABLE 19000 /* enough for extents of several batches */
#define PASSING 200       /* objects of one thread that come and go */
#define AT_ONCE 24
#define IN_SECTION 16                                      /* visits in one section, at most */
#define SLOTS (2 * (MOST_STABLE + MOST_THREADS * PASSING)) /* more than the table has */

struct object_of_scan {
    struct object object;
    shared_u64 is_stable;
};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned scanners;
    pthread_barrier_t scanners_meet; /* orders scanners among themselves alone */
    haft_range ranges[MOST_THREADS];

    shared_u64 stable[MOST_STABLE]; /* ids; what is listed was inserted before */
    shared_u64 listed;              /* claimed entries of that */
    uint64_t known;                 /* of them when the scan under way began: the first `known` */
    shared_u64 scan;                /* the one under way, counted from 1 */
    shared_u64 seen[SLOTS];         /* by index: visits in this scan */
    shared_u64 born[SLOTS];         /* by index: the scan it was last inserted in */
    shared_u64 ended[SLOTS];        /* by index: the scan it was last freed in */

    bool is_over; /* for the scanners, by their barrier */
    shared_u64 scanners_left;
    shared_u64 visited;
    shared_u64 new_visited;  /* inserted during the scan that visited them */
    shared_u64 gone_visited; /* freed while they were visited */
    shared_u64 reused;       /* slots freed and filled again within one scan */
    shared_u64 freed_by_scan;
};

static void look(const struct stage *stage, const struct object_of_scan *object, haft_id id)
{
    if (!object_is(&object->object, id)) {
        violation(&stage->run, "id %llx: visited, it is %llx", (unsigned long long)id.bits,
                  (unsigned long long)object->object.id);
    }
}

/* --- scanners --- */

/* A thread's part in the scan under way. */
struct part {
    struct stage *stage;
    haft_worker *worker;
    struct chance *chance;
    haft_cursor cursor;
    uint64_t scan;
};

static void visit(struct part *part, haft_id id, const struct object_of_scan *object)
{
    struct stage *stage = part->stage;
    const uint32_t index = haft_id_index(stage->layout, id);

    look(stage, object, id);
    if (add(&stage->seen[index], 1) != 0) {
        violation(&stage->run, "slot %u was visited twice", (unsigned)index);
    }
    add(&stage->new_visited, peek(&stage->born[index]) == part->scan);
    if (one_in(part->chance, 16)) {
        pause_by_chance(part->chance);
    }
    look(stage, object, id);
    add(&stage->gone_visited, !haft_is_live(stage->view, id));
    add(&stage->visited, 1);
    if (one_in(part->chance, 8) &&
        atomic_load_explicit(&object->is_stable, memory_order_relaxed) == 0 &&
        haft_free(part->worker, id) == HAFT_OK) {
        poke(&stage->ended[index], part->scan);
        add(&stage->freed_by_scan, 1);
        look(stage, object, id);
    }
}

/* False at the end of the part. */
static bool scan_some(struct part *part)
{
    struct stage *stage = part->stage;
    uint64_t visits = 1 + draw_below(part->chance, IN_SECTION);
    haft_id id;
    void *object;
    bool more = true;

    haft_section_begin(stage->domain);
    while (visits != 0 && more) {
        more = haft_cursor_next(&part->cursor, &id, &object);
        if (more) {
            visit(part, id, object);
        }
        visits--;
    }
    haft_section_end(stage->domain);
    haft_worker_quiescent(part->worker);
    return more;
}

static void scanners_meet(struct stage *stage)
{
    haft_thread_offline(stage->domain);
    pthread_barrier_wait(&stage->scanners_meet);
    haft_thread_online(stage->domain);
}

/* Objects that are listed, in order, without a gap: their insertions are known with them. */
static uint64_t count_listed(struct stage *stage)
{
    uint64_t count = 0;

    while (count < MOST_STABLE &&
           atomic_load_explicit(&stage->stable[count], memory_order_acquire) != 0) {
        count++;
    }
    return count;
}

static void begin_scan(struct stage *stage, struct chance *chance)
{
    add(&stage->scan, 1);
    for (uint64_t i = 0; i < SLOTS; i++) {
        poke(&stage->seen[i], 0);
    }
    stage->known = count_listed(stage);
    if (one_in(chance, 2)) {
        haft_scan_ranges(stage->table, stage->ranges, stage->scanners);
        return;
    }
    for (unsigned i = 0; i < stage->scanners; i++) { /* anywhere, the last without an end */
        stage->ranges[i].from = i == 0 ? 0 : stage->ranges[i - 1].to;
        stage->ranges[i].to =
            i + 1 == stage->scanners
                ? UINT64_MAX
                : stage->ranges[i].from + draw_below(chance, SLOTS / stage->scanners / 4);
    }
}

static void end_scan(struct stage *stage)
{
    for (uint64_t i = 0; i < stage->known; i++) {
        const haft_id id = {peek(&stage->stable[i])};
        const uint32_t index = haft_id_index(stage->layout, id);

        if (peek(&stage->seen[index]) != 1) {
            violation(&stage->run, "slot %u, stable object %llu of %llu, was not visited",
                      (unsigned)index, (unsigned long long)i, (unsigned long long)stage->known);
        }
    }
}

/* Objects freed while they were visited, once all the others have happened too. */
static uint64_t meetings(struct stage *stage)
{
    const uint64_t stable = stage->run.enough != 0 ? MOST_STABLE : FIRST_STABLE + 1;
    const bool all = peek(&stage->new_visited) != 0 && peek(&stage->reused) != 0 &&
                     peek(&stage->listed) >= stable;

    return all ? peek(&stage->gone_visited) : 0;
}

static void scan_until_done(struct stage *stage, unsigned number, haft_worker *worker,
                            struct chance *chance)
{
    struct part part = {.stage = stage, .worker = worker, .chance = chance};

    for (uint64_t round = 0;; round++) {
        if (number == 0) {
            stage->is_over = !run_goes_on(&stage->run, round, meetings(stage));
            begin_scan(stage, chance);
        }
        scanners_meet(stage);
        if (stage->is_over) {
            break;
        }
        part.scan = peek(&stage->scan);
        part.cursor = haft_cursor_over(stage->table, stage->ranges[number]);
        while (scan_some(&part)) {
        }
        scanners_meet(stage);
        if (number == 0) {
            end_scan(stage);
        }
    }
    add(&stage->scanners_left, UINT64_MAX);
}

/* --- the others --- */

/* One thread's objects that come and go. */
struct passing {
    struct stage *stage;
    haft_worker *worker;
    struct chance *chance;
    haft_id ids[PASSING];
    size_t count;
};

static void prepare(struct stage *stage, haft_id id, struct object_of_scan *object, bool stable)
{
    const uint32_t index = haft_id_index(stage->layout, id);
    const uint64_t now = peek(&stage->scan);

    object_write(&object->object, id);
    atomic_store_explicit(&object->is_stable, stable, memory_order_relaxed);
    add(&stage->reused, now != 0 && peek(&stage->ended[index]) == now);
    poke(&stage->born[index], now);
}

static void insert_some(struct passing *passing)
{
    const size_t room = PASSING - passing->count;
    const size_t wanted = 1 + (size_t)draw_below(passing->chance, AT_ONCE);
    haft_id *ids = passing->ids + passing->count;
    const size_t most = wanted < room ? wanted : room;
    size_t count = 0;
    void *object;

    while (count < most && haft_reserve(passing->worker, &ids[count], &object) == HAFT_OK) {
        prepare(passing->stage, ids[count], object, false);
        haft_publish(passing->worker, ids[count++]);
    }
    passing->count += count;
}

static void free_some(struct passing *passing)
{
    const size_t wanted = 1 + (size_t)draw_below(passing->chance, AT_ONCE);
    const size_t count = wanted < passing->count ? wanted : passing->count;
    haft_status statuses[AT_ONCE];

    passing->count -= count;
    const haft_id *ids = passing->ids + passing->count;

    for (size_t i = 0; i < count; i++) { /* before: the slot may be reused at once */
        poke(&passing->stage->ended[haft_id_index(passing->stage->layout, ids[i])],
             peek(&passing->stage->scan));
    }
    haft_free_many(passing->worker, ids, count, statuses);
    for (size_t i = 0; i < count; i++) {
        if (statuses[i] != HAFT_OK && statuses[i] != HAFT_STALE) { /* a scanner was first */
            must(&passing->stage->run, statuses[i], "freeing");
        }
    }
}

/* One object for good; listed when it is live. */
static void insert_stable(struct stage *stage, haft_worker *worker)
{
    void *object;
    haft_id id;

    if (peek(&stage->listed) >= MOST_STABLE || haft_reserve(worker, &id, &object) != HAFT_OK) {
        return;
    }
    prepare(stage, id, object, true);
    haft_publish(worker, id);
    const uint64_t place = add(&stage->listed, 1);

    if (place < MOST_STABLE) {
        atomic_store_explicit(&stage->stable[place], id.bits, memory_order_release);
    } else {
        must(&stage->run, haft_free(worker, id), "freeing");
    }
}

static void churn_until_done(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    struct passing passing = {.stage = stage, .worker = worker, .chance = chance};

    while (peek(&stage->scanners_left) != 0) {
        if (one_in(chance, 2)) {
            insert_some(&passing);
        } else {
            free_some(&passing);
        }
        if (one_in(chance, 16)) {
            insert_stable(stage, worker);
        }
        if (one_in(chance, 4)) {
            haft_worker_quiescent(worker);
            pause_by_chance(chance);
        }
    }
    while (passing.count != 0) {
        free_some(&passing);
    }
}

/* --- the play --- */

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    if (number < stage->scanners) {
        scan_until_done(stage, number, worker, &chance);
    } else {
        churn_until_done(stage, worker, &chance);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

static void open_stage(struct stage *stage)
{
    const haft_table_options options = {
        .capacity = MOST_STABLE + stage->run.threads * PASSING,
        .object_size = sizeof(struct object_of_scan),
    };
    haft_worker *worker;

    stage->scanners = stage->run.threads / 2;
    poke(&stage->scanners_left, stage->scanners);
    pthread_barrier_init(&stage->scanners_meet, NULL, stage->scanners);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->view = haft_table_view(stage->table);
    stage->layout = haft_table_info(stage->table).layout;
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (int i = 0; i < FIRST_STABLE; i++) {
        insert_stable(stage, worker);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

static bool free_it(haft_id id, void *object, void *worker)
{
    (void)object;
    return haft_free(worker, id) == HAFT_OK;
}

/* The stable objects remain, and a scan frees them all. */
static void clear(struct stage *stage)
{
    const uint64_t listed = count_listed(stage);
    haft_worker *worker;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    haft_section_begin(stage->domain);
    if (haft_scan(stage->table, HAFT_EVERYTHING, free_it, worker) != listed) {
        violation(&stage->run, "at the end there were not %llu objects",
                  (unsigned long long)listed);
    }
    haft_section_end(stage->domain);
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(stage->domain);
    check_nothing_lost(&stage->run, stage->table);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 300, 4, NULL);
    run_until(&stage.run, 60);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);

    const uint64_t stable = count_listed(&stage);

    clear(&stage);
    close_with_domain(&stage.run, stage.table);
    pthread_barrier_destroy(&stage.scanners_meet);
    finish(&stage.run, meetings(&stage),
           "visited %llu, of these inserted meanwhile %llu, freed meanwhile %llu, then by the "
           "scan %llu; slots reused during a scan %llu, stable %llu",
           (unsigned long long)stage.visited, (unsigned long long)stage.new_visited,
           (unsigned long long)stage.gone_visited, (unsigned long long)stage.freed_by_scan,
           (unsigned long long)stage.reused, (unsigned long long)stable);
}
