#include "world.h"
#include "behave.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOB_AGENTS 512
#define JOB_BIRTHS 48   /* that one job may record in a frame */
#define HUNTER_PART 40  /* one in this many is a hunter at the start */
#define LEAST_HUNTERS 8 /* below, some come from elsewhere */

uint64_t chance_of(uint64_t seed, uint64_t frame, uint64_t who)
{
    uint64_t z = (seed * UINT64_C(0xD1342543DE82EF95) + frame) * UINT64_C(0x9E3779B97F4A7C15) + who;

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* --- the first agents --- */

/* One agent by the set's own worker, live at once. */
static haft_status settle(struct world *world, enum kind kind, uint64_t number)
{
    const uint64_t chance = chance_of(world->seed, world->frame, number);
    const float angle = part(chance_of(chance, 1, 0)) * 6.2831853F;
    const struct place place = {
        .x = part(chance) * world->width,
        .y = part(chance_of(chance, 2, 0)) * world->height,
        .dx = cosf(angle) * 0.1F,
        .dy = sinf(angle) * 0.1F,
    };
    void *object;
    haft_id id;
    const haft_status status = haft_reserve(haft_commands_worker(world->commands), &id, &object);

    if (status != HAFT_OK) {
        return status;
    }
    struct agent *agent = object;

    *agent = (struct agent){
        .places = {place, place},
        .id = id,
        .energy = FIRST_ENERGY + (int32_t)(chance % 64),
        .age = (uint32_t)(chance % 256),
        .kind = (uint8_t)kind,
        .line =
            (uint8_t)((unsigned)(place.x / world->width * 3) * 2 + (place.y > world->height / 2)),
    };
    haft_publish(haft_commands_worker(world->commands), id);
    world->agents[world->count++] = agent;
    world->totals.live[kind]++;
    return HAFT_OK;
}

/* At the frame boundary: too few hunters are made more, for whatever reason. */
static void invite_hunters(haft_recorder *recorder, void *payload)
{
    struct world *world = *(struct world **)payload;

    (void)recorder;
    if (world->totals.live[HUNTER] < LEAST_HUNTERS) {
        for (uint64_t i = 0; i < LEAST_HUNTERS; i++) {
            world->totals.immigrants += settle(world, HUNTER, i) == HAFT_OK;
        }
    }
}

/* --- opening and closing --- */

static bool allocate(struct world *world)
{
    const size_t most = world->room + LEAST_HUNTERS;
    const size_t jobs = most / JOB_AGENTS + 1;

    world->agents = calloc(most + jobs * JOB_BIRTHS, sizeof(struct agent *));
    world->sorted = calloc(most + jobs * JOB_BIRTHS, sizeof(struct agent *));
    world->cells = calloc(world->columns * world->rows + 1, sizeof *world->cells);
    world->jobs = calloc(jobs + jobs * JOB_BIRTHS / JOB_AGENTS + 1, sizeof *world->jobs);
    world->born =
        calloc((jobs + jobs * JOB_BIRTHS / JOB_AGENTS + 1) * JOB_BIRTHS, sizeof(struct agent *));
    return world->agents != NULL && world->sorted != NULL && world->cells != NULL &&
           world->jobs != NULL && world->born != NULL;
}

static haft_status open_table(struct world *world)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options agents = {
        .name = "agents",
        .capacity = world->room * 2 + 65536, /* reservations, and those that wait for the tick */
        .object_size = sizeof(struct agent),
    };
    haft_status status = haft_domain_open(&frames, &world->domain);

    if (status == HAFT_OK) {
        status = haft_table_open(world->domain, &agents, &world->table);
    }
    if (status == HAFT_OK) {
        world->view = haft_table_view(world->table);
        status = haft_commands_open(world->table, &(haft_commands_options){0}, &world->commands);
    }
    return status;
}

haft_status world_open(struct world *world, const struct options *options)
{
    /* One agent has the room of one square on average, whatever their number. */
    const float height = sqrtf((float)options->agents * 9 / 16);

    *world = (struct world){
        .seed = options->seed,
        .room = options->agents * 2 + 1000,
        .rows = height < 5 * CELL ? 5 : (size_t)(height / CELL),
    };
    world->columns = world->rows * 16 / 9;
    world->width = (float)world->columns * CELL;
    world->height = (float)world->rows * CELL;
    world->crew = crew_open(options->workers);
    if (world->crew == NULL) {
        return HAFT_NO_THREAD;
    }
    haft_status status = allocate(world) ? open_table(world) : HAFT_NO_MEMORY;

    for (uint64_t i = 0; i < options->agents && status == HAFT_OK; i++) {
        status = settle(world, i % HUNTER_PART == 0 ? HUNTER : PREY, i + LEAST_HUNTERS);
    }
    return status;
}

void world_close(struct world *world)
{
    if (world->crew != NULL) {
        crew_close(world->crew);
    }
    if (world->commands != NULL) {
        haft_commands_close(world->commands);
    }
    if (world->table != NULL) {
        haft_table_close(world->table);
    }
    if (world->domain != NULL) {
        haft_domain_close(world->domain);
    }
    free(world->agents);
    free(world->sorted);
    free(world->cells);
    free(world->jobs);
    free(world->born);
}

/* --- a frame --- */

/* Sorts the agents by the cell they are in, those of one cell in their order before. */
static void sort_into_cells(struct world *world)
{
    const size_t cells = world->columns * world->rows;
    struct agent **unsorted = world->agents;

    memset(world->cells, 0, (cells + 1) * sizeof *world->cells);
    for (size_t i = 0; i < world->count; i++) {
        const struct place *at = place_of(world, unsorted[i]);

        world->cells[cell_at(world, at->x, at->y)]++;
    }
    for (size_t cell = 0, sum = 0; cell <= cells; cell++) {
        sum += world->cells[cell];
        world->cells[cell] = (uint32_t)sum; /* where it ends */
    }
    for (size_t i = world->count; i-- != 0;) {
        const struct place *at = place_of(world, unsorted[i]);

        world->sorted[--world->cells[cell_at(world, at->x, at->y)]] = unsorted[i];
    }
    world->agents = world->sorted;
    world->sorted = unsorted;
}

/* Jobs follow the work, not the threads: so the frame is the same for any crew. */
static haft_status open_jobs(struct world *world)
{
    const uint64_t births = world->count < world->room ? JOB_BIRTHS : 0;

    world->job_count = (world->count + JOB_AGENTS - 1) / JOB_AGENTS;
    for (size_t key = 0; key < world->job_count; key++) {
        struct job *job = &world->jobs[key];
        const size_t end = (key + 1) * JOB_AGENTS;

        *job = (struct job){
            .world = world,
            .first = key * JOB_AGENTS,
            .end = end < world->count ? end : world->count,
            .born = &world->born[key * JOB_BIRTHS],
        };
        const haft_status status = haft_recorder_open(world->commands, key, births, &job->recorder);

        if (status != HAFT_OK) {
            return status;
        }
    }
    return world->job_count == 0
               ? HAFT_OK
               : haft_recorder_call(world->jobs[0].recorder, invite_hunters, &world, sizeof world);
}

static void run_job(void *data)
{
    struct job *job = data;

    for (size_t i = job->first; i < job->end; i++) {
        behave(job, job->world->agents[i]);
    }
}

/* The dead leave the list, the newborn join it; what apply's calls have settled is there. */
static void renew_list(struct world *world)
{
    size_t kept = 0;

    world->totals.live[PREY] = 0;
    world->totals.live[HUNTER] = 0;
    for (size_t key = 0; key < world->job_count; key++) {
        for (size_t i = 0; i < world->jobs[key].born_count; i++) {
            world->agents[world->count++] = world->jobs[key].born[i];
        }
        world->totals.stale += world->jobs[key].stale;
    }
    for (size_t i = 0; i < world->count; i++) {
        struct agent *agent = world->agents[i];

        if (haft_is_live(world->view, agent->id)) { /* until the tick its bytes stay in place */
            world->agents[kept++] = agent;
            world->totals.live[agent->kind]++;
        }
    }
    world->count = kept;
    if (world->totals.most_live < kept) {
        world->totals.most_live = kept;
    }
}

haft_status world_step(struct world *world)
{
    haft_applied applied;

    sort_into_cells(world);
    haft_status status = open_jobs(world);

    if (status != HAFT_OK) {
        return status;
    }
    crew_run(world->crew, run_job, world->jobs, world->job_count, sizeof *world->jobs);
    status = haft_commands_apply(world->commands, &applied);
    if (status != HAFT_OK) {
        return status;
    }
    renew_list(world);
    world->totals.births += applied.created;
    world->totals.deaths += applied.destroyed;
    world->totals.bitten_twice += applied.duplicates;
    world->frame++;
    return haft_domain_tick(world->domain);
}

uint64_t world_checksum(const struct world *world)
{
    uint64_t sum = chance_of(world->totals.births, world->totals.deaths, world->totals.stale);

    for (size_t i = 0; i < world->count; i++) {
        const struct agent *agent = world->agents[i];
        uint64_t words[sizeof(struct place) / sizeof(uint64_t)];

        memcpy(words, place_of(world, agent), sizeof words);
        sum = chance_of(sum, agent->id.bits, words[0] ^ agent->other.bits);
        sum = chance_of(sum, agent->fear.bits, words[1] ^ (uint32_t)agent->energy);
    }
    return sum;
}
