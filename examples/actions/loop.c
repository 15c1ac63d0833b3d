#include "loop.h"
#include "examples/screen/progress.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *const kind_names[KINDS] = {"created", "changed", "grown", "renamed", "removed"};

struct event {
    enum kind kind;
    const char *folder;
    const char *name;
    unsigned number; /* of the file, as names repeat */
};

struct action {
    struct action *next;
    enum kind kind;
    const char *command;
};

struct loop {
    haft_arena *arena;
    uint64_t random;
    struct result *result;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- events --- */

/* Below `bound`: splitmix64. */
static unsigned random_below(uint64_t *state, unsigned bound)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)((mixed ^ mixed >> 31) % bound);
}

static struct event next_event(uint64_t *random)
{
    static const char *const folders[] = {"/srv/spool", "/srv/photos", "/srv/old mail"};
    static const char *const names[] = {"report", "beach day", "it's late", "queue", "notes"};

    /* One statement each: a list of initialisers is evaluated in any order. */
    struct event event = {.kind = (enum kind)random_below(random, KINDS)};

    event.folder = folders[random_below(random, 3)];
    event.name = names[random_below(random, 5)];
    event.number = random_below(random, 1000);
    return event;
}

/* --- strings, all in the arena; NULL if it has no memory --- */

/* In single quotes; a quote inside becomes '\''.  Grows where it stands: it is the last. */
static const char *quoted(haft_arena *arena, const char *text)
{
    size_t room = strlen(text) + 3;
    size_t length = 0;
    char *copy = haft_arena_alloc_aligned(arena, room, 1);

    if (copy != NULL) {
        copy[length++] = '\'';
    }
    for (; copy != NULL && *text != '\0'; text++) {
        if (*text != '\'') {
            copy[length++] = *text;
            continue;
        }
        copy = haft_arena_resize(arena, copy, room, room + 3, 1);
        if (copy != NULL) {
            memcpy(copy + length, "'\\''", 4);
            length += 4;
            room += 3;
        }
    }
    if (copy != NULL) {
        memcpy(copy + length, "'", 2);
    }
    return copy;
}

static const char *path_of(haft_arena *arena, const struct event *event, const char *suffix)
{
    const char *path =
        haft_arena_printf(arena, "%s/%s %u%s", event->folder, event->name, event->number, suffix);

    return path != NULL ? quoted(arena, path) : NULL;
}

static const char *command_of(haft_arena *arena, const struct event *event)
{
    const char *path = path_of(arena, event, "");
    const char *other = event->kind == RENAMED ? path_of(arena, event, ".new") : "";

    if (path == NULL || other == NULL) {
        return NULL;
    }
    switch (event->kind) {
    case CREATED:
        return haft_arena_printf(arena, "chmod 640 %s", path);
    case CHANGED:
        return haft_arena_printf(arena, "cp --update %s /srv/backup/", path);
    case GROWN:
        return haft_arena_printf(arena, "gzip --keep %s", path);
    case RENAMED:
        return haft_arena_printf(arena, "mv --no-clobber %s %s", path, other);
    default:
        return haft_arena_printf(arena, "rm --force %s", path);
    }
}

/* --- a round --- */

/* The actions that the round's events ask for, in order; false without memory. */
static bool collect(struct loop *loop, struct action **actions)
{
    const unsigned events = 1 + random_below(&loop->random, 8);
    struct action **end = actions;

    for (unsigned i = 0; i < events; i++) {
        const struct event event = next_event(&loop->random);
        struct action *action = haft_arena_new(loop->arena, struct action);
        const char *command = command_of(loop->arena, &event);

        if (action == NULL || command == NULL) {
            return false;
        }
        *action = (struct action){NULL, event.kind, command};
        *end = action;
        end = &action->next;
    }
    return true;
}

/* Where a real program would run the command. */
static void describe(struct result *result, const struct action *action)
{
    if (result->actions < SAMPLE) {
        snprintf(result->sample[result->actions], SAMPLE_SIZE, "%s", action->command);
    }
    result->actions++;
    result->events[action->kind]++;
    for (const char *at = action->command; *at != '\0'; at++) { /* FNV-1a */
        result->digest = (result->digest ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
        result->bytes++;
    }
}

/* A program with files or locks of the round would close them here. */
static void round_ended(void *arg)
{
    struct result *result = arg;

    result->cleaned_up++;
}

static bool run_round(struct loop *loop)
{
    struct action *actions = NULL;
    const bool collected = haft_arena_on_reset(loop->arena, round_ended, loop->result) == HAFT_OK &&
                           collect(loop, &actions);

    for (const struct action *action = actions; collected && action != NULL;
         action = action->next) {
        describe(loop->result, action);
    }
    haft_arena_reset(loop->arena);
    loop->result->leaked |= haft_arena_stats_get(loop->arena).used != 0;
    return collected;
}

haft_status run_loop(const struct options *options, struct result *result)
{
    struct loop loop = {.random = options->seed, .result = result};
    haft_status status = haft_arena_open(&(haft_arena_options){.block_size = 4096}, &loop.arena);

    if (status != HAFT_OK) {
        return status;
    }
    *result = (struct result){.digest = UINT64_C(0xCBF29CE484222325)};
    const uint64_t start = now_ns();

    for (uint64_t round = 0; round < options->rounds && status == HAFT_OK; round++) {
        status = run_round(&loop) ? HAFT_OK : HAFT_NO_MEMORY;
        if (round % 65536 == 65535) {
            progress_show("rounds", round, options->rounds, now_ns() - start);
        }
    }
    progress_end();
    result->elapsed_ns = now_ns() - start;
    result->arena = haft_arena_stats_get(loop.arena);
    result->leaked |= result->cleaned_up != options->rounds;
    haft_arena_close(loop.arena);
    return status;
}
