/*
 * stress/torture/profile.h - the ways in which a table is tortured.
 */
#ifndef HAFT_STRESS_TORTURE_PROFILE_H
#define HAFT_STRESS_TORTURE_PROFILE_H

#include "stress/torture/tally.h"
#include <haft/id.h>

/* What its threads do beside holding, freeing and inserting. */
enum habit {
    SLEEPS = 1 << 0,    /* readers fall asleep in their sections */
    STUTTERS = 1 << 1,  /* all pause together, and go on together */
    FLOODS = 1 << 2,    /* writers free thousands at a time, then insert as many */
    DELAYS = 1 << 3,    /* one reader holds grace periods up */
    COMES = 1 << 4,     /* threads come and go, with workers of all kinds */
    PINS = 1 << 5,      /* readers pin, hold for long, and let others unpin */
    SCANS = 1 << 6,     /* readers scan, and free some of what they visit */
    BATCHES = 1 << 7,   /* writers use the calls for many ids */
    EXHAUSTS = 1 << 9,  /* few generations: a play ends when all lives have been lived */
    RECLAIMS = 1 << 10, /* the table has an on_reclaim, which spoils the object */
    TRIMS = 1 << 11,    /* memory is given back while others work; objects are large */
    WRAPS = 1 << 13,    /* after its last generation a slot goes on at 1: ids repeat */
    COMMANDS = 1 << 14, /* destructions and creations are recorded, and applied by one thread */
    COUNTS = 1 << 8,    /* a counted table beside: its objects are held from step to step */
    SHARES = 1 << 15,   /* a play's table was a local one before, and is again at its end */
};

struct profile {
    const char *name;
    const char *what;
    uint64_t capacity; /* of each table */
    unsigned fill;     /* percent of it that live */
    unsigned tables;   /* on one domain */
    haft_layout layout;
    unsigned habits;
    enum count met; /* what a run must meet, beside objects freed while they are held */
};

#define PROFILES 19
#define MOST_TABLES 8

extern const struct profile profiles[PROFILES];

/* NULL: there is none. */
const struct profile *profile_named(const char *name);

#endif /* HAFT_STRESS_TORTURE_PROFILE_H */
