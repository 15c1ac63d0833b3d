/* The library as it is. */
#include "stress/linear/broken.h"
#include <stddef.h>

const char *const linear_modes[] = {"sound", NULL};

void linear_break(const char *mode, haft_layout layout)
{
    (void)mode;
    (void)layout;
}
