#include "picture.h"
#include <glib.h>
#include <inttypes.h>
#include <png.h>
#include <stdio.h>

bool picture_write(const struct canvas *canvas, const char *folder, uint64_t frame)
{
    char *path = g_strdup_printf("%s/frame_%06" PRIu64 ".png", folder, frame);
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)canvas->width,
        .height = (png_uint_32)canvas->height,
        .format = PNG_FORMAT_RGB,
    };
    const bool written = png_image_write_to_file(&image, path, 0, canvas->bytes, 0, NULL) != 0;

    if (!written) {
        fprintf(stderr, "boids: %s: %s\n", path, image.message);
    }
    g_free(path);
    return written;
}
