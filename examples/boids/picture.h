/*
 * picture.h - a canvas as a PNG file.
 */
#ifndef BOIDS_PICTURE_H
#define BOIDS_PICTURE_H

#include "canvas.h"

#define PICTURE_WIDTH 1280
#define PICTURE_HEIGHT 720

/* Writes `folder`/frame_000120.png.  False, with a message printed, if that fails. */
bool picture_write(const struct canvas *canvas, const char *folder, uint64_t frame);

#endif /* BOIDS_PICTURE_H */
