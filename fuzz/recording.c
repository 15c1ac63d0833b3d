/*
 * Recordings: an input is the history of a world in which bodies and joints come and go.
 *
 * A first world plays it, and the answers to each command are written down: ids, statuses,
 * callbacks, the order of walks.  Then a second world plays the recording.  On the way it is
 * rewound, at times after wrong guesses, saved and loaded, moved to a clone or to new tables that
 * load a file.  Each command must come to the same, and both worlds end the same, bit for bit.
 */
#include "fuzz/recording.h"
#include "fuzz/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COMMANDS 1024
#define MOST_DETOURS 32
#define KEPT 4 /* snapshots, as many as a world keeps */

static bool telling;

void target_tell(void)
{
    telling = true;
}

/* A snapshot: which command comes next, and the mind. */
struct kept {
    size_t at;
    struct mind mind;
};

struct player {
    struct world world;
    struct command commands[MOST_COMMANDS];
    uint64_t recorded[MOST_COMMANDS]; /* what each came to */
    size_t count;
    struct kept kept[KEPT]; /* number n in place n % KEPT */
    uint64_t next;          /* the number of the next snapshot */
    unsigned detours;
    uint64_t played;
};

/* Play command `at`, as it was recorded. */
static void play(struct player *player, size_t at)
{
    const struct command *command = &player->commands[at];
    const uint64_t came_to = world_play(&player->world, command);

    player->played++;
    if (telling) {
        fprintf(stderr, "%zu: %u %u %u: %llx\n", at, command->code % 16u, command->x, command->y,
                (unsigned long long)came_to);
    }
    if (came_to != player->recorded[at]) {
        fprintf(stderr, "command %zu of %zu came to %llx, recorded %llx\n", at, player->count,
                (unsigned long long)came_to, (unsigned long long)player->recorded[at]);
        recording_must(false, "a recording diverges");
    }
}

/* --- detours before command `at` --- */

static size_t stretch_end(const struct player *player, size_t at)
{
    const size_t length = 1 + player->commands[at].x % 16u;

    return player->count - at < length ? player->count : at + length;
}

static uint64_t keep(struct player *player, size_t at)
{
    const uint64_t number = world_keep(&player->world);

    recording_must(number == player->next, "a snapshot's number");
    player->kept[number % KEPT] = (struct kept){at, player->world.mind};
    player->next = number + 1;
    return number;
}

/* To a snapshot; the command that comes next. */
static size_t go_back(struct player *player, uint64_t number)
{
    world_go_back(&player->world, number);
    player->world.mind = player->kept[number % KEPT].mind;
    player->next = number + 1;
    return player->kept[number % KEPT].at;
}

static size_t play_and_rewind(struct player *player, size_t at)
{
    const uint64_t number = keep(player, at);

    for (size_t i = at; i < stretch_end(player, at); i++) {
        play(player, i);
    }
    return go_back(player, number);
}

static size_t guess_and_rewind(struct player *player, size_t at)
{
    const uint64_t number = keep(player, at);

    for (size_t i = at; i < stretch_end(player, at); i++) {
        struct command guess = player->commands[i];

        guess.code = (uint8_t)(guess.code + guess.y);
        guess.x = (uint8_t)(guess.x + 91);
        world_play(&player->world, &guess);
    }
    return go_back(player, number);
}

static size_t play_and_load(struct player *player, size_t at)
{
    const struct mind mind = player->world.mind;
    struct memory_file memory;

    world_save(&player->world, &memory);
    for (size_t i = at; i < stretch_end(player, at); i++) {
        play(player, i);
    }
    world_load(&player->world, &memory);
    player->world.mind = mind;
    free(memory.bytes);
    return at;
}

static size_t go_on_in_clone(struct player *player, size_t at)
{
    world_move_to_clone(&player->world);
    return at;
}

static size_t go_on_in_new(struct player *player, size_t at)
{
    world_move_to_new(&player->world);
    return at;
}

/* Back to the oldest snapshot that is there; and at times forward again, to the newest. */
static size_t rewind_far(struct player *player, size_t at)
{
    const uint64_t newest = player->next - 1;

    if (player->next == 0) {
        return at;
    }
    const size_t next = go_back(player, newest < KEPT ? 0 : newest - KEPT + 1);

    return player->commands[at].y % 2 == 0 ? next : go_back(player, newest);
}

/* The command that comes next. */
static size_t take_detour(struct player *player, size_t at)
{
    static size_t (*const ways[16])(struct player * player, size_t at) = {
        play_and_rewind, guess_and_rewind, play_and_load, go_on_in_clone, go_on_in_new, rewind_far,
    };
    const uint8_t way = player->commands[at].way;

    if (way >= 16 || ways[way] == NULL || player->detours == MOST_DETOURS) {
        return at;
    }
    if (telling) {
        fprintf(stderr, "before %zu: detour %u\n", at, way);
    }
    player->detours++;
    return ways[way](player, at);
}

/* --- a history --- */

static void must_be_same(struct world *world, struct world *other)
{
    struct memory_file one, two;

    world_save(world, &one);
    world_save(other, &two);
    recording_must(one.size == two.size && memcmp(one.bytes, two.bytes, one.size) == 0 &&
                       memcmp(&world->mind, &other->mind, sizeof world->mind) == 0,
                   "the worlds at the end");
    free(one.bytes);
    free(two.bytes);
}

static void replay(struct player *player)
{
    for (size_t at = 0; at < player->count;) {
        const size_t next = take_detour(player, at);

        if (next == at) {
            play(player, at);
            at++;
        } else {
            at = next;
        }
    }
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    static struct player player;
    uint64_t options = 0;

    memset(&player, 0, sizeof player);
    memcpy(&options, data, size < sizeof options ? size : sizeof options);
    for (size_t at = sizeof options; at + 4 <= size && player.count < MOST_COMMANDS; at += 4) {
        memcpy(&player.commands[player.count++], data + at, 4);
    }
    struct world recorded = world_open(options);

    for (size_t at = 0; at < player.count; at++) {
        player.recorded[at] = world_play(&recorded, &player.commands[at]);
    }
    player.world = world_open(options);
    replay(&player);
    must_be_same(&recorded, &player.world);
    world_close(&player.world);
    world_close(&recorded);
    return player.played + 1;
}
