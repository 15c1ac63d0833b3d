/*
 * Prey flocks with its own line, follows a friend, and flees from the last hunter it saw; hunters
 * chase one prey until they have it or it is gone.  Whom they follow, flee and chase they know by
 * id: when resolve says NULL, that one has died meanwhile, and they look for another.
 */
#include "behave.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIGHT CELL       /* how far an agent sees alone */
#define MEMORY 9.0F      /* how far it keeps an eye on one that it knows */
#define REACH 0.6F       /* of a hunter's bite */
#define ELBOW 0.7F       /* room that agents keep around them */
#define PREY_SPEED 0.17F /* at most, in a frame */
#define HUNTER_SPEED 0.21F
#define CROWD 26           /* neighbours among whom no prey is born */
#define PREY_BIRTHS 0.024F /* chance in a frame, alone */
#define OLD_AGE 900        /* frames; then prey may die any time */
#define OLD_DEATHS 0.004F
#define BITE_ENERGY 60
#define DIGESTION 14     /* frames after a bite, or birth, in which a hunter does not hunt */
#define RIVALS 2         /* this many in sight cost a hunter as much as living does */
#define BIRTH_ENERGY 330 /* of a hunter that divides */

struct vector {
    float x, y;
};

/* What an agent sees around it. */
struct sight {
    unsigned neighbours;
    unsigned hunters;      /* of the neighbours */
    unsigned kin;          /* prey of the same line */
    struct vector heading; /* of the kin, summed up */
    struct vector centre;  /* where the kin is, relative and summed up */
    struct vector push;    /* from all that come too close */
    const struct agent *hunter;
    const struct agent *prey;
    const struct agent *kinsman; /* one of the kin, by chance */
    float hunter_distance;
    float prey_distance;
};

/* The world is a torus: the short way from one coordinate to another. */
static float short_way(float from, float to, float size)
{
    const float way = to - from;

    return way > size / 2 ? way - size : way < -size / 2 ? way + size : way;
}

static struct vector way_to(const struct world *world, const struct place *from,
                            const struct agent *to)
{
    const struct place *there = place_of(world, to);

    return (struct vector){short_way(from->x, there->x, world->width),
                           short_way(from->y, there->y, world->height)};
}

static float length(struct vector v)
{
    return sqrtf(v.x * v.x + v.y * v.y);
}

static void add(struct vector *sum, struct vector v, float times)
{
    sum->x += v.x * times;
    sum->y += v.y * times;
}

/* --- seeing --- */

static void see(const struct world *world, const struct agent *self, const struct place *at,
                const struct agent *other, struct sight *sight)
{
    const struct vector way = way_to(world, at, other);
    const float distance = length(way);

    if (other == self || distance > SIGHT) {
        return;
    }
    sight->neighbours++;
    if (other->kind == HUNTER) {
        sight->hunters++;
        if (sight->hunter == NULL || distance < sight->hunter_distance) {
            sight->hunter = other;
            sight->hunter_distance = distance;
        }
    } else if (sight->prey == NULL || distance < sight->prey_distance) {
        sight->prey = other;
        sight->prey_distance = distance;
    }
    if (distance < ELBOW && other->kind == self->kind) {
        add(&sight->push, way, -1 / (distance * distance + 0.05F));
    }
    if (other->kind == PREY && other->line == self->line) {
        const struct place *there = place_of(world, other);

        add(&sight->heading, (struct vector){there->dx, there->dy}, 1);
        add(&sight->centre, way, 1);
        sight->kin++;
        if ((other->id.bits ^ world->frame) % sight->kin == 0) {
            sight->kinsman = other;
        }
    }
}

static struct sight look_around(const struct world *world, const struct agent *self)
{
    const struct place *at = place_of(world, self);
    const size_t here = cell_at(world, at->x, at->y);
    const size_t row = here / world->columns;
    const size_t column = here % world->columns;
    struct sight sight = {0};

    for (size_t y = row + world->rows - 1; y <= row + world->rows + 1; y++) {
        for (size_t x = column + world->columns - 1; x <= column + world->columns + 1; x++) {
            const size_t cell = y % world->rows * world->columns + x % world->columns;

            for (uint32_t i = world->cells[cell]; i < world->cells[cell + 1]; i++) {
                see(world, self, at, world->agents[i], &sight);
            }
        }
    }
    return sight;
}

/*
 * The one that the agent knows by this id; NULL, and forgotten, if it died, which is counted, or
 * is too far away.
 */
static const struct agent *recall(struct job *job, const struct agent *self, haft_id *id)
{
    const struct world *world = job->world;
    const struct agent *known = haft_resolve(world->view, *id);

    if (known == NULL) {
        job->stale += !haft_id_is_nil(*id);
        *id = HAFT_NIL;
    } else if (length(way_to(world, place_of(world, self), known)) > MEMORY) {
        known = NULL;
        *id = HAFT_NIL;
    }
    return known;
}

/* --- births and deaths --- */

static void record(haft_status status)
{
    if (status != HAFT_OK) {
        fprintf(stderr, "boids: %s\n", haft_status_text(status));
        _Exit(EXIT_SYSTEM);
    }
}

/* A child beside its parent, in the next frame.  None if the job may have no more. */
static void give_birth(struct job *job, const struct agent *parent)
{
    const struct world *world = job->world;
    void *object;
    haft_id id;

    if (haft_recorder_create(job->recorder, &id, &object) != HAFT_OK) {
        return;
    }
    struct agent *child = object;

    *child = *parent;
    child->id = id;
    child->age = 0;
    child->other = parent->kind == PREY ? parent->id : HAFT_NIL;
    child->fear = HAFT_NIL;
    child->places[(world->frame + 1) % 2] = *place_of(world, parent);
    job->born[job->born_count++] = child;
}

/* --- moving --- */

static float wrap(float coordinate, float size)
{
    const float wrapped = coordinate < 0       ? coordinate + size
                          : coordinate >= size ? coordinate - size
                                               : coordinate;

    return wrapped < size ? wrapped : 0; /* rounded up to the edge */
}

/* Turns by `force`, keeps to `speed`, and writes the place of the next frame. */
static void move(const struct world *world, struct agent *self, struct vector force, float speed)
{
    const struct place *at = place_of(world, self);
    struct vector way = {at->dx + force.x, at->dy + force.y};
    const float now = length(way);
    const float wanted = now > speed ? speed : now < speed / 2 ? speed / 2 : now;

    if (now > 0) {
        way = (struct vector){way.x * wanted / now, way.y * wanted / now};
    }
    self->places[(world->frame + 1) % 2] = (struct place){
        .x = wrap(at->x + way.x, world->width),
        .y = wrap(at->y + way.y, world->height),
        .dx = way.x,
        .dy = way.y,
    };
}

static struct vector wander(uint64_t chance)
{
    return (struct vector){part(chance) - 0.5F, part(chance << 24) - 0.5F};
}

/* Away from a hunter: the closer, the faster. */
static void flee(struct job *job, struct agent *self, const struct sight *sight,
                 struct vector *force)
{
    if (sight->hunter != NULL) {
        self->fear = sight->hunter->id;
    }
    const struct agent *hunter = recall(job, self, &self->fear);

    if (hunter != NULL) {
        const struct vector way = way_to(job->world, place_of(job->world, self), hunter);
        const float distance = length(way);

        add(force, way, -0.16F / (distance * distance + 0.3F));
    }
}

static void follow(struct job *job, struct agent *self, const struct sight *sight,
                   struct vector *force)
{
    const struct agent *friend = recall(job, self, &self->other);

    if (friend == NULL && sight->kinsman != NULL) {
        self->other = sight->kinsman->id;
    } else if (friend != NULL) {
        add(force, way_to(job->world, place_of(job->world, self), friend), 0.003F);
    }
}

static void behave_as_prey(struct job *job, struct agent *self, uint64_t chance)
{
    const struct sight sight = look_around(job->world, self);
    struct vector force = {0, 0};

    add(&force, wander(chance), 0.02F);
    add(&force, sight.push, 0.012F);
    if (sight.kin != 0) {
        add(&force, sight.heading, 0.26F / (float)sight.kin);
        add(&force, sight.centre, 0.014F / (float)sight.kin);
    }
    follow(job, self, &sight, &force);
    flee(job, self, &sight, &force);
    move(job->world, self, force, PREY_SPEED);
    const float room = 1 - (float)sight.neighbours / CROWD;

    if (part(chance_of(chance, 1, 0)) < PREY_BIRTHS * room) {
        give_birth(job, self);
    }
    if (self->age > OLD_AGE && part(chance_of(chance, 2, 0)) < OLD_DEATHS) {
        record(haft_recorder_destroy(job->recorder, self->id));
    }
}

/* Several hunters may bite one prey in the same frame: it dies once, and feeds them all. */
static void chase(struct job *job, struct agent *self, const struct sight *sight,
                  struct vector *force)
{
    const struct agent *prey = recall(job, self, &self->other);

    if (prey == NULL && sight->prey != NULL && self->age > DIGESTION) {
        prey = sight->prey;
        self->other = prey->id;
    }
    if (prey == NULL) {
        return;
    }
    const struct vector way = way_to(job->world, place_of(job->world, self), prey);
    const float distance = length(way);

    if (distance < REACH) {
        record(haft_recorder_destroy(job->recorder, prey->id));
        self->energy += BITE_ENERGY;
        self->other = HAFT_NIL;
        self->age = 0;
    } else {
        add(force, way, 0.05F / distance);
    }
}

static void behave_as_hunter(struct job *job, struct agent *self, uint64_t chance)
{
    const struct sight sight = look_around(job->world, self);
    struct vector force = {0, 0};

    add(&force, wander(chance), 0.03F);
    add(&force, sight.push, 0.01F);
    chase(job, self, &sight, &force);
    move(job->world, self, force, HUNTER_SPEED);
    self->energy -= 1 + (int32_t)(sight.hunters / RIVALS);
    if (self->energy > BIRTH_ENERGY) {
        self->energy /= 2;
        give_birth(job, self);
    }
    if (self->energy <= 0) {
        record(haft_recorder_destroy(job->recorder, self->id)); /* starved */
    }
}

void behave(struct job *job, struct agent *agent)
{
    const uint64_t chance = chance_of(job->world->seed, job->world->frame, agent->id.bits);

    agent->age++;
    if (agent->kind == PREY) {
        behave_as_prey(job, agent, chance);
    } else {
        behave_as_hunter(job, agent, chance);
    }
}
