/*
 * screen.h - the world on a terminal, redrawn in place.
 *
 * Each character shows two pixels: an upper half block in one colour on a ground of another.
 * Without colours (NO_COLOR is set, or TERM is dumb) one of " .:-=+*#%@", by brightness.
 */
#ifndef BOIDS_SCREEN_H
#define BOIDS_SCREEN_H

#include "canvas.h"

struct screen {
    struct canvas canvas;
    bool colours;
    bool drawn; /* once at least: the cursor goes back up */
    int64_t last_us;
    uint64_t last_frame;
    double frames_a_second;
};

/* False if standard output is no terminal, or too small a one: then there is nothing to close. */
bool screen_open(struct screen *screen);

/* The picture stays; the cursor is below it. */
void screen_close(struct screen *screen);

/* Draws the world, unless it was drawn less than a twentieth of a second ago. */
void screen_show(struct screen *screen, const struct world *world, uint64_t frames);

#endif /* BOIDS_SCREEN_H */
