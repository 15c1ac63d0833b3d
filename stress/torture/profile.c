/* The ways in which a table is tortured; see profile.h. */
#include "stress/torture/profile.h"
#include <stddef.h>
#include <string.h>

#define WIDE                                                                                       \
    {                                                                                              \
        32, 32, 0, 0                                                                               \
    }
#define TAGGED                                                                                     \
    {                                                                                              \
        32, 24, 8, 0                                                                               \
    }

const struct profile profiles[PROFILES] = {
    {"plain", "readers and writers", 64, 90, 1, WIDE, RECLAIMS, COUNT_REUSED},
    {"bare", "the same without on_reclaim", 256, 90, 1, WIDE, 0, COUNT_REUSED},
    {"sleep", "readers fall asleep in their sections", 64, 90, 1, WIDE, SLEEPS | RECLAIMS,
     COUNT_OUTLIVED},
    {"stutter", "all threads pause and go on together", 64, 90, 1, WIDE, STUTTERS | RECLAIMS,
     COUNT_STUTTERS},
    {"flood", "thousands of objects freed at a time", 16384, 90, 1, WIDE, FLOODS | RECLAIMS,
     COUNT_FLOODS},
    {"delay", "one reader holds up grace periods", 512, 90, 1, WIDE, DELAYS, COUNT_DELAYS},
    {"churn", "threads come and go, with workers of all kinds", 128, 80, 2, TAGGED,
     COMES | RECLAIMS, COUNT_LIVES},
    {"small", "capacity 3, wanted by all", 3, 100, 1, WIDE, RECLAIMS, COUNT_BUSY},
    {"large", "262,144 slots", 262144, 75, 1, WIDE, 0, COUNT_REUSED},
    {"many", "8 tables on one domain", 32, 80, MOST_TABLES, TAGGED, RECLAIMS, COUNT_REUSED},
    {"pins", "objects pinned for long", 64, 60, 1, WIDE, PINS | RECLAIMS, COUNT_PIN_OUTLIVED},
    {"scan", "scans, and frees of what they visit", 2048, 80, 1, WIDE, SCANS | RECLAIMS,
     COUNT_SCANNED},
    {"batch", "many ids in one call", 1024, 80, 1, WIDE, BATCHES | RECLAIMS, COUNT_REUSED},
    {"exhaust",
     "7 lives a slot, until all are lived",
     60,
     90,
     1,
     {7, 3, 0, 0},
     EXHAUSTS | RECLAIMS,
     COUNT_EXHAUSTED},
    {"trim", "memory given back while others work", 1024, 75, 1, WIDE, TRIMS | FLOODS | RECLAIMS,
     COUNT_TRIMMED},
    {"wrap",
     "3 generations a slot, over and over",
     16,
     90,
     1,
     {32, 2, 0, 0},
     WRAPS | RECLAIMS,
     COUNT_REPEATED},
    {"commands", "recorded commands, and frees beside them", 256, 60, 1, WIDE, COMMANDS | RECLAIMS,
     COUNT_OVERTAKEN},
    {"share", "tables that were local, and are again", 512, 0, 1, WIDE, SHARES | RECLAIMS,
     COUNT_SHARED_OUT},
    {"counted", "a counted table beside, used by threads that come and go", 64, 80, 1, WIDE,
     COUNTS | COMES | RECLAIMS, COUNT_COUNTED_OUTLIVED},
};

const struct profile *profile_named(const char *name)
{
    for (size_t i = 0; i < PROFILES; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            return &profiles[i];
        }
    }
    return NULL;
}
