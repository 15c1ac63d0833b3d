/*
 * boids - prey and hunters in one haft table, through command sets and the frame clock.
 *
 * How a frame goes (world.c):
 *   1. one thread sorts the agents by place and opens a recorder for each job of 512 of them,
 *      with the ids that its newborn will have;
 *   2. the jobs move their agents (behave.c), on any threads in any order, and record births
 *      and deaths;
 *   3. apply carries that out in the order of the jobs' keys, the list of agents is renewed, and
 *      the tick lets the slots of the dead be used again.
 * Chance is a function of seed, frame and agent.  So nothing depends on which thread ran what, and
 * the checksum is the same for any number of workers.
 */
#include "examples/screen/output.h"
#include "picture.h"
#include "report.h"
#include "screen.h"
#include <glib.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Where the world is drawn; not all of them are open. */
struct outputs {
    struct screen screen;
    struct canvas picture;
    bool on_screen;
    bool in_pictures;
};

static bool open_outputs(struct outputs *outputs, const struct options *options)
{
    *outputs = (struct outputs){.in_pictures = options->png != NULL};
    outputs->on_screen = !options->json && screen_open(&outputs->screen);
    return !outputs->in_pictures || canvas_open(&outputs->picture, PICTURE_WIDTH, PICTURE_HEIGHT);
}

static void close_outputs(struct outputs *outputs)
{
    if (outputs->on_screen) {
        screen_close(&outputs->screen);
    }
    canvas_close(&outputs->picture);
}

/* False if a picture could not be written. */
static bool show(struct outputs *outputs, const struct options *options, const struct world *world)
{
    if (outputs->on_screen) {
        screen_show(&outputs->screen, world, options->frames);
    }
    if (!outputs->in_pictures) {
        return true;
    }
    canvas_add(&outputs->picture, world);
    if (world->frame % options->png_every != 0) {
        return true;
    }
    canvas_develop(&outputs->picture);
    return picture_write(&outputs->picture, options->png, world->frame);
}

/* Sleeps until the frame's time has come, counted from `start_us`. */
static void keep_pace(const struct options *options, uint64_t frame, int64_t start_us)
{
    const int64_t due_us =
        start_us + (options->fps == 0 ? 0 : (int64_t)(frame * 1000000 / options->fps));
    const int64_t now_us = g_get_monotonic_time();

    if (due_us > now_us) {
        g_usleep((gulong)(due_us - now_us));
    }
}

static int run(const struct options *options, struct world *world, struct outputs *outputs)
{
    const int64_t start_us = g_get_monotonic_time();

    while (world->frame < options->frames && interrupted == 0) {
        const haft_status status = world_step(world);

        if (status != HAFT_OK) {
            fprintf(stderr, "boids: %s\n", haft_status_text(status));
            return EXIT_SYSTEM;
        }
        if (!show(outputs, options, world)) {
            return EXIT_SYSTEM;
        }
        if (outputs->on_screen) {
            keep_pace(options, world->frame, start_us);
        }
    }
    return EXIT_RIGHT;
}

static int run_and_report(const struct options *options, struct world *world)
{
    struct outputs outputs;
    const int64_t start_us = g_get_monotonic_time();
    int code = EXIT_SYSTEM;

    if (open_outputs(&outputs, options)) {
        signal(SIGINT, interrupt);
        code = run(options, world, &outputs);
    }
    close_outputs(&outputs);
    if (code != EXIT_RIGHT) {
        return code;
    }
    if (options->json) {
        report_print_json(options, world);
    } else {
        report_print(options, world, g_get_monotonic_time() - start_us);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct world world;
    GError *error = NULL;
    int code = EXIT_REFUSED;

    if (!options_parse(&options, argc, argv, &error)) {
        fprintf(stderr, "boids: %s\n", error->message);
        g_error_free(error);
    } else {
        const haft_status status = world_open(&world, &options);

        if (status == HAFT_OK) {
            code = run_and_report(&options, &world);
        } else {
            fprintf(stderr, "boids: %s\n", haft_status_text(status));
            code = EXIT_SYSTEM;
        }
        world_close(&world);
    }
    options_clear(&options);
    return end_output("boids", code, EXIT_SYSTEM);
}
