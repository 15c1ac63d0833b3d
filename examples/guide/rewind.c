/* rewind.c - the guide's rollback, undo and recording: a table goes back, and the same follows. */
#include "must.h"
#include <haft/kit/snapshot.h>
#include <stdbool.h>

struct car {
    int lap;
};

/* What the game knows beside the table: it goes back with it, ids and all. */
struct mind {
    haft_id leader;
    int crashes;
};

struct game {
    haft_local *cars;
    haft_history *past;
    struct mind mind;
    struct mind minds[8]; /* as they were at the last snapshots */
};

static void open_game(struct game *game)
{
    *game = (struct game){.mind = {.leader = HAFT_NIL}};
    must(haft_local_open(&(haft_local_options){.capacity = 100, .object_size = sizeof(struct car)},
                         &game->cars));
    must(haft_history_open(&(haft_history_options){.keep = 8}, &game->past));
}

static void close_game(struct game *game)
{
    haft_local_close(game->cars);
    haft_history_close(game->past);
}

/* '+': a car comes, and leads; '-': the one that leads crashes. */
static void step(struct game *game, char input)
{
    if (input == '+') {
        must(haft_local_insert(game->cars, &(struct car){0}, &game->mind.leader));
    } else if (input == '-' && haft_local_free(game->cars, game->mind.leader) == HAFT_OK) {
        game->mind.crashes++;
    }
}

/* guide: rollback */
static void keep(struct game *game)
{
    uint64_t frame;

    must(haft_local_snapshot(game->cars, game->past, &frame));
    game->minds[frame % 8] = game->mind;
}

static void go_back(struct game *game, uint64_t frame)
{
    must(haft_local_rewind(game->cars, game->past, frame));
    game->mind = game->minds[frame % 8];
}

/* An input of `frame` has come late: the frames since then are played again with it. */
static void correct(struct game *game, const char *inputs, uint64_t frame, uint64_t now)
{
    go_back(game, frame);
    step(game, inputs[frame]);
    while (++frame < now) {
        keep(game);
        step(game, inputs[frame]);
    }
}
/* end */

static void tell(const char *when, const struct game *game)
{
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(HAFT_LAYOUT_32_32, game->mind.leader, id, sizeof id);
    printf("%s: %d cars, %s leads, %d crashed\n", when, (int)haft_local_count(game->cars), id,
           game->mind.crashes);
}

static void play(struct game *game, const char *inputs, bool keeps)
{
    for (; *inputs != '\0'; inputs++) {
        if (keeps) {
            keep(game);
        }
        step(game, *inputs);
    }
}

static void roll_back(void)
{
    struct game guessing;
    struct game knowing;

    open_game(&guessing);
    open_game(&knowing);
    play(&guessing, "++++++", true);
    tell("guessed", &guessing);
    correct(&guessing, "++-+++", 2, 6);
    tell("corrected", &guessing);
    play(&knowing, "++-+++", false);
    tell("known from the start", &knowing);
    close_game(&guessing);
    close_game(&knowing);
}

static void undo(void)
{
    struct game game;

    open_game(&game);
    keep(&game); /* 0 */
    play(&game, "+++", false);
    keep(&game); /* 1 */
    play(&game, "--", false);
    keep(&game); /* 2 */
    go_back(&game, 1);
    tell("undone", &game);
    go_back(&game, 2);
    tell("redone", &game);
    close_game(&game);
}

static bool write_file(const void *bytes, size_t size, void *arg)
{
    return fwrite(bytes, 1, size, arg) == size;
}

static bool read_file(void *bytes, size_t size, void *arg)
{
    return fread(bytes, 1, size, arg) == size;
}

static void load(struct game *game, FILE *from)
{
    haft_file file = {.read = read_file, .arg = from};
    const haft_status status = haft_local_load(game->cars, &file);

    if (status != HAFT_OK) {
        fprintf(stderr, "byte %llu: %s (%s)\n", (unsigned long long)file.offset, file.what,
                haft_status_text(status));
        exit(1);
    }
}

static void record(void)
{
    struct game game;
    FILE *to = tmpfile();

    if (to == NULL) {
        perror("tmpfile");
        exit(1);
    }
    open_game(&game);
    play(&game, "+++--+", false);
    const struct mind mind = game.mind;

    must(haft_local_save(game.cars, &(haft_file){.write = write_file, .arg = to}));
    play(&game, "-++-", false);
    tell("recorded", &game);
    close_game(&game);

    open_game(&game);
    rewind(to);
    load(&game, to);
    game.mind = mind;
    play(&game, "-++-", false);
    tell("replayed", &game);
    close_game(&game);
    fclose(to);
}

int main(void)
{
    roll_back();
    undo();
    record();
    return fflush(stdout) != 0;
}
