/*
 * canvas.h - light that agents leave behind: added up, fading from frame to frame, so that what
 * moves draws a trail.  Each line of prey has a cool colour, hunters glow red.
 */
#ifndef BOIDS_CANVAS_H
#define BOIDS_CANVAS_H

#include "world.h"

struct canvas {
    size_t width;
    size_t height;
    float *light;   /* red, green, blue of each pixel */
    uint8_t *bytes; /* the same, as canvas_develop() left it */
    float exposure;
};

/* False if there is no memory.  To be closed in any case. */
bool canvas_open(struct canvas *canvas, size_t width, size_t height);
void canvas_close(struct canvas *canvas);

/* Fades the light that is there, and adds all agents. */
void canvas_add(struct canvas *canvas, const struct world *world);

/* Light into bytes: bright spots saturate as on film. */
void canvas_develop(struct canvas *canvas);

#endif /* BOIDS_CANVAS_H */
