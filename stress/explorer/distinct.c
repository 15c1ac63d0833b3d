/* A set of fingerprints: open addressing, twice as large when half full. */
#include "stress/explorer/distinct.h"
#include "stress/explorer/report.h"
#include <stdlib.h>

#define FIRST_PLACES 4096

static uint64_t *places; /* 0: empty */
static uint64_t place_count;
static uint64_t used;

void distinct_clear(void)
{
    free(places);
    place_count = FIRST_PLACES;
    places = calloc(place_count, sizeof *places);
    used = 0;
    if (places == NULL) {
        violation("no memory for the set of schedules");
    }
}

static bool put(uint64_t fingerprint)
{
    const uint64_t key = fingerprint != 0 ? fingerprint : 1;
    uint64_t place = key * UINT64_C(0x9E3779B97F4A7C15) % place_count;

    while (places[place] != 0 && places[place] != key) {
        place = (place + 1) % place_count;
    }
    const bool is_new = places[place] == 0;

    places[place] = key;
    used += is_new;
    return is_new;
}

static void grow(void)
{
    uint64_t *before = places;
    const uint64_t before_count = place_count;

    place_count *= 2;
    used = 0;
    places = calloc(place_count, sizeof *places);
    if (places == NULL) {
        violation("no memory for the set of schedules");
    }
    for (uint64_t i = 0; i < before_count; i++) {
        if (before[i] != 0) {
            put(before[i]);
        }
    }
    free(before);
}

bool distinct_is_new(uint64_t fingerprint)
{
    if (2 * used >= place_count) {
        grow();
    }
    return put(fingerprint);
}
