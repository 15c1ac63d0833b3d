/* frame.c - the guide's game loop: commands, a frame's memory, scans. */
#include "must.h"
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/scan.h>

enum { JOBS = 4, FRAMES = 3 };

struct unit {
    int lives;
};

/* guide: visit */
/* A job: each unit of its part of the table loses a life; one without lives goes, another comes. */
static void job(haft_table *units, haft_range part, haft_recorder *recorder)
{
    haft_cursor cursor = haft_cursor_over(units, part);
    haft_id id;
    void *object;

    while (haft_cursor_next(&cursor, &id, &object)) {
        struct unit *unit = object;

        if (--unit->lives == 0) {
            must(haft_recorder_destroy(recorder, id)); /* at the frame's end */
            if (haft_recorder_create(recorder, &id, &object) == HAFT_OK) {
                *(struct unit *)object = (struct unit){.lives = 5};
            }
        }
    }
}
/* end */

/* guide: frame */
static void frame(haft_commands *commands, haft_domain *domain, haft_arena *arena)
{
    haft_table *units = haft_commands_table(commands);
    haft_range *parts = haft_arena_new_array(arena, haft_range, JOBS);
    haft_recorder *recorders[JOBS];
    haft_applied applied;

    haft_scan_ranges(units, parts, JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        must(haft_recorder_open(commands, i, 10, &recorders[i]));
    }
    for (int i = 0; i < JOBS; i++) { /* here one after another; on threads: the same result */
        job(units, parts[i], recorders[i]);
    }
    must(haft_commands_apply(commands, &applied)); /* all jobs have ended */
    must(haft_domain_tick(domain));                /* and no job holds a pointer */
    puts(
        haft_arena_printf(arena, "%d went, %d came", (int)applied.destroyed, (int)applied.created));
    haft_arena_reset(arena);
}
/* end */

int main(void)
{
    haft_domain *domain;
    haft_table *units;
    haft_commands *commands;
    haft_arena *arena;

    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain));
    must(haft_table_open(
        domain, &(haft_table_options){.capacity = 10000, .object_size = sizeof(struct unit)},
        &units));
    must(haft_commands_open(units, &(haft_commands_options){0}, &commands));
    must(haft_arena_open(&(haft_arena_options){.block_size = 4096}, &arena));
    for (int i = 0; i < 30; i++) {
        haft_id id;

        must(haft_insert(haft_commands_worker(commands), &(struct unit){.lives = 1 + i % 3}, &id));
    }
    for (int i = 0; i < FRAMES; i++) {
        frame(commands, domain, arena);
    }
    haft_arena_close(arena);
    haft_commands_close(commands);
    must(haft_table_close(units));
    must(haft_domain_close(domain));
    return fflush(stdout) != 0;
}
