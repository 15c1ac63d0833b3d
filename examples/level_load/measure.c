#include "measure.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 65536 };

static uint64_t count_lines(const char *text, size_t length)
{
    const char *end = text + length;
    uint64_t lines = 0;

    while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        lines++;
        text++;
    }
    return lines;
}

static bool read_all(int file, struct measure *measure)
{
    char buffer[BUFFER];
    ssize_t got;

    while ((got = read(file, buffer, sizeof buffer)) != 0) {
        if (got > 0) {
            measure->bytes += (uint64_t)got;
            measure->lines += count_lines(buffer, (size_t)got);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Since the tree was read, a link or a pipe may have taken the file's place. */
struct measure measure_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct measure measure = {0};
    struct stat status;

    if (file >= 0) {
        measure.readable =
            fstat(file, &status) == 0 && S_ISREG(status.st_mode) && read_all(file, &measure);
        close(file);
    }
    return measure.readable ? measure : (struct measure){0};
}
