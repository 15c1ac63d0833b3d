/*
 * Command sets: the same jobs give the same table, byte for byte, on any number of threads.
 *
 * In each frame a dozen jobs look at random objects, some long freed, and create, destroy and call
 * by what they see.  Whatever thread is free takes the next job; the keys are neither dense
 * nor in the order of opening.
 */
#include "tests/commands/commands_support.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

TestSuite(repeat, .timeout = SUITE_SECONDS);

#define FRAMES 400
#define JOBS 12
#define MOST_CREATES 24
#define MOST_KNOWN (FRAMES * JOBS * MOST_CREATES)
#define MOST_THREADS 8
#define CAPACITY 1500
#define WANTED 600 /* live objects: below, jobs create */

struct object {
    uint64_t number;
    haft_id friend;
};

struct world {
    struct stage stage;
    uint64_t seed;
    uint64_t frame;
    haft_recorder *recorders[JOBS];
    atomic_int next_job;
    haft_id created[JOBS][MOST_CREATES]; /* in this frame */
    int created_count[JOBS];
    uint64_t stale[JOBS]; /* ids that a job found stale */
    haft_id *known;       /* all ids there ever were, oldest first */
    uint64_t known_count;
    uint64_t live; /* when the frame began */
    uint64_t log;  /* of the calls, in order */
    haft_applied sum;
};

/* What a run leaves: all words, and the objects of those that are live. */
struct remains {
    uint64_t log;
    uint64_t stale;
    haft_applied sum;
    uint64_t slots;
    uint64_t live;
    struct {
        uint64_t word;
        struct object object;
    } all[2 * CAPACITY];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a ^ b * UINT64_C(0x9E3779B97F4A7C15)) + UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (z ^ z >> 27) | 1;
}

static void write_log(haft_recorder *recorder, void *payload)
{
    struct world **world = payload;

    (*world)->log = mix((*world)->log, haft_recorder_key(recorder));
}

static void create_one(struct world *world, int job, struct object object)
{
    void *bytes;
    haft_id id;

    if (haft_recorder_create(world->recorders[job], &id, &bytes) == HAFT_OK) {
        memcpy(bytes, &object, sizeof object);
        world->created[job][world->created_count[job]++] = id;
    }
}

/* A few steps by what random objects say. */
static void run_job(struct world *world, int job)
{
    uint64_t chance = mix(mix(world->seed, world->frame), (uint64_t)job);
    haft_recorder *recorder = world->recorders[job];
    const uint64_t steps = random_next(&chance) % 40;

    for (uint64_t i = 0; i < steps; i++) {
        const uint64_t back = random_next(&chance) % 4000;
        const haft_id id =
            back < world->known_count ? world->known[world->known_count - 1 - back] : HAFT_NIL;
        const struct object *seen = haft_resolve(world->stage.shared.view, id);

        world->stale[job] += seen == NULL;
        if ((seen == NULL || seen->number % 3 == 0) && world->live < WANTED) {
            const uint64_t number =
                seen == NULL ? random_next(&chance) : mix(seen->number, id.bits);

            create_one(world, job, (struct object){number, id});
        } else if (seen == NULL) {
            must(haft_recorder_destroy(recorder, id) == HAFT_OK);
        } else if (seen->number % 3 != 2) {
            must(haft_recorder_destroy(recorder, id) == HAFT_OK);
            must(haft_recorder_destroy(recorder, seen->friend) == HAFT_OK);
        } else {
            must(haft_recorder_call(recorder, write_log, &world, sizeof world) == HAFT_OK);
        }
    }
}

static void *run_jobs(void *arg)
{
    struct world *world = arg;

    for (int job = 0; (job = atomic_fetch_add(&world->next_job, 1)) < JOBS;) {
        run_job(world, job);
        if (world->frame % 3 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

static void open_recorders(struct world *world)
{
    for (int i = 0; i < JOBS; i++) {
        const int job = i * 5 % JOBS;
        const haft_status status = haft_recorder_open(world->stage.commands, (uint64_t)job * 1000,
                                                      MOST_CREATES, &world->recorders[job]);

        assert_status(status, HAFT_OK);
        world->created_count[job] = 0;
    }
}

static void run_frame(struct world *world, int threads)
{
    pthread_t all[MOST_THREADS];

    open_recorders(world);
    world->live = stats_of(world->stage.shared.table).live;
    atomic_store(&world->next_job, 0);
    for (int i = 0; i < threads; i++) {
        cr_assert(zero(int, pthread_create(&all[i], NULL, run_jobs, world)));
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i], NULL);
    }
    const haft_applied applied = end_frame(&world->stage);

    world->sum.created += applied.created;
    world->sum.destroyed += applied.destroyed;
    world->sum.duplicates += applied.duplicates;
    world->sum.stale += applied.stale;
    world->sum.refused += applied.refused;
    world->sum.calls += applied.calls;
    world->sum.unused += applied.unused;
    for (int job = 0; job < JOBS; job++) {
        for (int i = 0; i < world->created_count[job]; i++) {
            world->known[world->known_count++] = world->created[job][i];
        }
    }
}

static struct remains *take_remains(struct world *world)
{
    struct remains *remains = calloc(1, sizeof *remains);
    const haft_view view = world->stage.shared.view;

    remains->log = world->log;
    remains->sum = world->sum;
    remains->slots = stats_of(world->stage.shared.table).high_water;
    must(remains->slots + HAFT_FIRST_INDEX < 2 * CAPACITY);
    for (int job = 0; job < JOBS; job++) {
        remains->stale += world->stale[job];
    }
    for (uint64_t i = 0; i < remains->slots + HAFT_FIRST_INDEX; i++) {
        const haft_atomic_u64 *word = haft_slot_of(view, (haft_id){i});

        remains->all[i].word = haft_load_acquire(HAFT_EDGE_PUBLISH, word);
        const struct object *object = haft_resolve(view, (haft_id){remains->all[i].word});

        if (object != NULL) {
            remains->all[i].object = *object;
            remains->live++;
        }
    }
    return remains;
}

static struct remains *run_world(int threads, uint64_t seed)
{
    static const haft_table_options options = {.capacity = CAPACITY,
                                               .object_size = sizeof(struct object)};
    struct world *world = calloc(1, sizeof *world);

    world->seed = seed;
    world->known = calloc(MOST_KNOWN, sizeof *world->known);
    stage_open(&world->stage, &options);
    haft_commands_close(world->stage.commands); /* its allocator is for one thread */
    assert_status(haft_commands_open(world->stage.shared.table, &(haft_commands_options){0},
                                     &world->stage.commands),
                  HAFT_OK);
    while (world->frame < FRAMES) {
        run_frame(world, threads);
        world->frame++;
    }
    struct remains *remains = take_remains(world);

    stage_close(&world->stage);
    free(world->known);
    free(world);
    return remains;
}

Test(repeat, the_same_jobs_on_1_2_4_and_8_threads_leave_the_same_table_byte_for_byte)
{
    static const int threads[] = {2, 4, 8, 1};
    struct remains *first = run_world(1, 7);

    for (int i = 0; i < 4; i++) {
        struct remains *again = run_world(threads[i], 7);

        cr_expect(zero(int, memcmp(first, again, sizeof *first)), "%d threads", threads[i]);
        free(again);
    }
    /* The runs had everything in them. */
    cr_expect(lt(u64, 1000, first->sum.created));
    cr_expect(lt(u64, 1000, first->sum.destroyed));
    cr_expect(lt(u64, 10, first->sum.duplicates));
    cr_expect(lt(u64, 100, first->sum.stale));
    cr_expect(lt(u64, 1000, first->sum.calls));
    cr_expect(lt(u64, 1000, first->sum.unused));
    cr_expect(lt(u64, 1000, first->stale));
    cr_expect(eq(u64, first->live, first->sum.created - first->sum.destroyed));
    free(first);
}

Test(repeat, another_seed_leaves_another_table)
{
    struct remains *first = run_world(1, 7);
    struct remains *other = run_world(1, 8);

    cr_expect(ne(int, memcmp(first, other, sizeof *first), 0));
    free(first);
    free(other);
}
