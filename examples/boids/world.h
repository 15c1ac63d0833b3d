/*
 * world.h - the agents and their places.
 *
 * An agent is an object of one haft table, and knows others by their ids.  Its place is stored
 * twice: in each frame all jobs read the place of this frame, of any agent, and write that of the
 * next, of their own agents.  So there are no races, and the order of moves does not matter.
 *
 * No agent is born or dies in the middle of a frame: each job records that with its recorder, and
 * it is carried out when all have ended.  So every pointer into the table is good for
 * the whole frame, and with the frame clock resolving an id is one comparison and nothing else.
 */
#ifndef BOIDS_WORLD_H
#define BOIDS_WORLD_H

#include "crew.h"
#include "options.h"
#include <haft/kit/commands.h>

enum kind { PREY, HUNTER, KINDS };

#define LINES 6 /* families of prey, each with its colour */

struct place {
    float x, y, dx, dy;
};

struct agent {
    struct place places[2]; /* of frames with even and odd numbers */
    haft_id id;
    haft_id other; /* prey: whom it follows; hunter: whom it hunts */
    haft_id fear;  /* prey: the hunter that it saw last */
    int32_t energy;
    uint32_t age; /* frames since birth, or since a hunter's last bite */
    uint8_t kind;
    uint8_t line;
};

/* A range of neighbouring agents, moved by one thread. */
struct job {
    struct world *world;
    haft_recorder *recorder;
    size_t first;
    size_t end;
    uint64_t stale; /* ids that named no agent any more */
    size_t born_count;
    struct agent **born;
};

struct totals {
    uint64_t births;
    uint64_t deaths;
    uint64_t bitten_twice; /* agents that two hunters killed in one frame: deaths counted once */
    uint64_t stale;
    uint64_t immigrants;
    uint64_t live[KINDS];
    uint64_t most_live;
};

struct world {
    haft_domain *domain;
    haft_table *table;
    haft_commands *commands;
    haft_view view;
    struct crew *crew;
    uint64_t seed;
    uint64_t frame;
    uint64_t room; /* agents at which births stop */
    float width;
    float height;
    struct totals totals;

    struct agent **agents; /* by cell of the grid */
    struct agent **sorted; /* the same, being made */
    size_t count;
    size_t columns;
    size_t rows;
    uint32_t *cells; /* where each cell's agents begin, and one more */

    struct job *jobs;
    size_t job_count;
    struct agent **born; /* room for those of all jobs */
};

/* HAFT_OK, or why there is no world; `*world` is to be freed either way. */
haft_status world_open(struct world *world, const struct options *options);
void world_close(struct world *world);

/* One frame on.  HAFT_OK, or what went wrong: memory. */
haft_status world_step(struct world *world);

/* Of every agent's state, in order; the same for any number of workers. */
uint64_t world_checksum(const struct world *world);

static inline const struct place *place_of(const struct world *world, const struct agent *agent)
{
    return &agent->places[world->frame % 2];
}

/* The cell of the grid that a place lies in. */
#define CELL 2.5F
static inline size_t cell_at(const struct world *world, float x, float y)
{
    const size_t column = (size_t)(x / CELL);
    const size_t row = (size_t)(y / CELL);

    return (row < world->rows ? row : world->rows - 1) * world->columns +
           (column < world->columns ? column : world->columns - 1);
}

/* Numbers by chance that depend on nothing but their arguments. */
uint64_t chance_of(uint64_t seed, uint64_t frame, uint64_t who);

/* 0 to 1. */
static inline float part(uint64_t chance)
{
    return (float)(chance >> 40) / (float)(1 << 24);
}

#endif /* BOIDS_WORLD_H */
