#include "canvas.h"
#include <math.h>
#include <stdlib.h>

#define FADE 0.86F
#define HUNTER_LIGHT 4.0F

static const float colours[LINES][3] = {
    {0.10F, 0.75F, 0.62F}, /* teal */
    {0.20F, 0.42F, 1.00F}, /* blue */
    {0.58F, 0.34F, 1.00F}, /* violet */
    {0.34F, 0.82F, 0.26F}, /* green */
    {0.16F, 0.70F, 1.00F}, /* sky */
    {0.82F, 0.72F, 0.28F}, /* gold */
};
static const float hunter_colour[3] = {1.00F, 0.16F, 0.08F};
static const float night[3] = {7, 8, 14};

bool canvas_open(struct canvas *canvas, size_t width, size_t height)
{
    *canvas = (struct canvas){.width = width, .height = height};
    canvas->light = calloc(width * height * 3, sizeof *canvas->light);
    canvas->bytes = calloc(width * height, 3);
    return canvas->light != NULL && canvas->bytes != NULL;
}

void canvas_close(struct canvas *canvas)
{
    free(canvas->light);
    free(canvas->bytes);
}

static void add_pixel(struct canvas *canvas, size_t x, size_t y, const float *colour, float light)
{
    float *pixel = &canvas->light[(y % canvas->height * canvas->width + x % canvas->width) * 3];

    for (int i = 0; i < 3; i++) {
        pixel[i] += colour[i] * light;
    }
}

/* One agent's light, spread over the four pixels around its place. */
static void add_agent(struct canvas *canvas, const struct world *world, const struct agent *agent)
{
    const struct place *at = place_of(world, agent);
    const float x = at->x / world->width * (float)canvas->width;
    const float y = at->y / world->height * (float)canvas->height;
    const size_t left = (size_t)x;
    const size_t top = (size_t)y;
    const float right = x - (float)left;
    const float low = y - (float)top;
    const bool hunter = agent->kind == HUNTER;
    const float *colour = hunter ? hunter_colour : colours[agent->line];
    const float light = hunter ? HUNTER_LIGHT : 1;

    add_pixel(canvas, left, top, colour, light * (1 - right) * (1 - low));
    add_pixel(canvas, left + 1, top, colour, light * right * (1 - low));
    add_pixel(canvas, left, top + 1, colour, light * (1 - right) * low);
    add_pixel(canvas, left + 1, top + 1, colour, light * right * low);
}

void canvas_add(struct canvas *canvas, const struct world *world)
{
    const size_t floats = canvas->width * canvas->height * 3;
    const float agents_a_pixel =
        world->width * world->height / (float)(canvas->width * canvas->height);

    for (size_t i = 0; i < floats; i++) {
        canvas->light[i] *= FADE;
    }
    for (size_t i = 0; i < world->count; i++) {
        add_agent(canvas, world, world->agents[i]);
    }
    /* One agent that moves is visible; a crowd in one pixel is not all white. */
    canvas->exposure = fminf(0.9F, 0.1F / agents_a_pixel);
}

void canvas_develop(struct canvas *canvas)
{
    const size_t floats = canvas->width * canvas->height * 3;

    for (size_t i = 0; i < floats; i++) {
        const float dark = expf(-canvas->light[i] * canvas->exposure);

        canvas->bytes[i] = (uint8_t)(night[i % 3] * dark + 255 * (1 - dark));
    }
}
