#include "examples/screen/text.h"
#include <inttypes.h>
#include <stdio.h>

const char *grouped(uint64_t number)
{
    static char texts[8][32];
    static unsigned turn;
    char *text = texts[turn++ % 8];
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *to = text;

    for (int i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* Three digits in the unit that reads best, of those up to `last`. */
static const char *scaled(char text[32], uint64_t number, const char *const *units, unsigned last)
{
    double value = (double)number;
    unsigned unit = 0;

    while (value >= 999.5 && unit < last) {
        value /= 1000;
        unit++;
    }
    snprintf(text, 32, "%.*f %s",
             unit == 0 || value >= 99.95 ? 0
             : value < 9.995             ? 2
                                         : 1,
             value, units[unit]);
    return text;
}

const char *byte_count(uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static char texts[8][32];
    static unsigned turn;

    return scaled(texts[turn++ % 8], bytes, units, 6);
}

const char *duration(uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    static char texts[8][32];
    static unsigned turn;

    return scaled(texts[turn++ % 8], ns, units, 3);
}
