/*
 * stress/live_on_free.c - readers hold objects that others free, and slots that others reuse.
 *
 * Invariant  a resolved object stays itself until its reader's section ends (GRACE, TICKET,
 *            ELAPSED), and is complete when found (PUBLISH); no more grace periods end within a
 *            section than the clock allows.
 * Pressure   readers announce what they hold, and writers free exactly that; few slots, so that
 *            a freed one is wanted back at once; pauses by chance in the middle of sections.
 *            With the frame clock writers tick between the sections of all threads.
 * Usage      live_on_free [rounds] [threads] [seed] [memb|qsbr|mb|bp|ck]
 *                         [thread|caller|workers|frame] [mode]
 *            proper          as it should be used
 *            ages            the same, and each look counts the grace periods since its section
 *                            began: 1 may have been under way with a foreign clock; with the
 *                            workers clock each other thread may have an announcement that stands,
 *                            one on its way, and a look at all of them under way, that are older
 *                            than the section, and one more may end
 *            check_then_use  broken on purpose: haft_is_live, then the address, without section
 *            no_grace        broken on purpose: a foreign clock, memb but that wait() returns at
 *                            once; with the frame clock, ticks within sections
 *            unannounced     broken on purpose: workers clock, and readers without a worker
 *            The broken modes must end with a violation, or with ThreadSanitizer's report.
 */
#include "stress/support.h"
#include <pthread.h>
#include <sched.h>

#define HOLDS 3 /* looks at an object within one section */

static const char *const modes[] = {"proper",   "ages",        "check_then_use",
                                    "no_grace", "unannounced", NULL};

struct stage {
    struct held held;
    bool check_then_use;
    bool has_frames;
    bool ticks_inside;
    pthread_rwlock_t frame;     /* sections have it together; a tick has it alone */
    pthread_mutex_t gate;       /* of it: a tick waits for no section that begins later */
    uint64_t ages_allowed;      /* UINT64_MAX: they are not counted, which would order things */
    shared_u64 met[HELD_SLOTS]; /* 1: the slot's object was freed while it was held */
    shared_u64 holds;
    shared_u64 freed_while_held;
    shared_u64 freed_in_own_section;
};

/* --- sections --- */

static _Thread_local uint64_t section_began; /* grace periods that had ended then */

static uint64_t grace_periods(const struct stage *stage)
{
    return haft_domain_stats_get(stage->held.domain).grace_periods;
}

static void begin_section(struct stage *stage)
{
    if (stage->has_frames && !stage->ticks_inside) {
        pthread_mutex_lock(&stage->gate);
        pthread_rwlock_rdlock(&stage->frame);
        pthread_mutex_unlock(&stage->gate);
    }
    if (!stage->ticks_inside) {
        haft_section_begin(stage->held.domain);
    }
    if (stage->ages_allowed != UINT64_MAX) {
        section_began = grace_periods(stage);
    }
}

static void end_section(struct stage *stage)
{
    if (!stage->ticks_inside) {
        haft_section_end(stage->held.domain);
    }
    if (stage->has_frames && !stage->ticks_inside) {
        pthread_rwlock_unlock(&stage->frame);
    }
}

/* Outside sections. */
static void tick(struct stage *stage)
{
    pthread_mutex_lock(&stage->gate);
    pthread_rwlock_wrlock(&stage->frame);
    must(&stage->held.run, haft_domain_tick(stage->held.domain), "a tick");
    pthread_rwlock_unlock(&stage->frame);
    pthread_mutex_unlock(&stage->gate);
}

static uint64_t ages_allowed(const struct run *run)
{
    if (!run_is(run, "ages")) {
        return UINT64_MAX;
    }
    if (run->clock == HAFT_CLOCK_WORKERS) {
        return UINT64_C(3) * (run->threads - 1) + 1;
    }
    return run->clock == HAFT_CLOCK_FRAME ? 0 : 1;
}

/* --- readers --- */

static void look(const struct stage *stage, const struct object *object, haft_id id)
{
    held_look(&stage->held, object, id);
    if (stage->ages_allowed != UINT64_MAX &&
        grace_periods(stage) - section_began > stage->ages_allowed) {
        violation(&stage->held.run, "%llu grace periods ended within one section, %llu may",
                  (unsigned long long)(grace_periods(stage) - section_began),
                  (unsigned long long)stage->ages_allowed);
    }
}

/* Hold an object for a while; the writers are told. */
static void hold(struct stage *stage, unsigned number, const struct object *object, haft_id id,
                 struct chance *chance)
{
    struct held *held = &stage->held;

    poke(&held->announced[number], id.bits);
    look(stage, object, id);
    for (int i = 0; i < HOLDS; i++) {
        pause_by_chance(chance);
        look(stage, object, id);
    }
    poke(&held->announced[number], 0);
    add(&stage->holds, 1);
    if (!haft_is_live(held->view, id)) {
        add(&stage->freed_while_held, 1);
        poke(&stage->met[haft_id_index(held->layout, id)], 1);
    }
}

static void read_once(struct held *held, unsigned number, haft_worker *worker, haft_id id,
                      struct chance *chance)
{
    struct stage *stage = (struct stage *)held;
    const struct object *object;

    if (stage->check_then_use) {
        if (haft_is_live(held->view, id)) {
            object = (const void *)(haft_slot_of(held->view, id) + 1);
            hold(stage, number, object, id, chance);
        }
        return;
    }
    begin_section(stage);
    object = haft_resolve(held->view, id);
    if (object != NULL) {
        hold(stage, number, object, id, chance);
    }
    end_section(stage);
    if (one_in(chance, 4) || object != NULL) { /* qsbr, workers: where the section ends */
        pass_quiescent_point(held->table, worker, chance);
    }
}

/* --- writers --- */

static bool free_one(struct held *held, haft_worker *worker, haft_id id, struct chance *chance)
{
    struct stage *stage = (struct stage *)held;
    const struct object *object = NULL;

    begin_section(stage);
    if (one_in(chance, 4)) {
        object = haft_resolve(held->view, id);
    }
    const bool freed = haft_free(worker, id) == HAFT_OK;

    if (object != NULL) {
        look(stage, object, id);
        add(&stage->freed_in_own_section, freed);
    }
    end_section(stage);
    return freed;
}

static haft_id reserve_ticking(struct held *held, haft_worker *worker, void **object)
{
    haft_status status;
    haft_id id;

    while ((status = haft_reserve(worker, &id, object)) == HAFT_BUSY) {
        haft_worker_quiescent(worker);
        tick((struct stage *)held);
        sched_yield(); /* or a writer alone would have all the frames */
    }
    must(&held->run, status, "reserving");
    return id;
}

/* Slots that are used again, after their object was freed while held. */
static void note_reuse(struct held *held, haft_id id, struct chance *chance)
{
    (void)chance;
    add(&held->met, swap(&((struct stage *)held)->met[haft_id_index(held->layout, id)], 0));
}

/* --- the play --- */

static void open_stage(struct stage *stage)
{
    struct held *held = &stage->held;
    struct run *run = &held->run;

    if (run_is(run, "no_grace") && run->foreign_clock != NULL) {
        run->foreign_clock = clock_without_grace();
    }
    stage->has_frames = run->clock == HAFT_CLOCK_FRAME;
    stage->ticks_inside = stage->has_frames && run_is(run, "no_grace");
    stage->ages_allowed = ages_allowed(run);
    stage->check_then_use = run_is(run, "check_then_use");
    pthread_rwlock_init(&stage->frame, NULL);
    pthread_mutex_init(&stage->gate, NULL);
    held->is_unannounced = run_is(run, "unannounced");
    held->reserve = stage->has_frames ? reserve_ticking : NULL;
    held_open(held, (haft_table_options){.capacity = 0});
}

int main(int argc, char **argv)
{
    static struct stage stage = {
        .held = {.read = read_once, .free = free_one, .furnish = note_reuse}};
    struct held *held = &stage.held;

    held->run = run_from(argc, argv, 50000, 4, modes);
    run_until(&held->run, held->run.clock == HAFT_CLOCK_FRAME ? 300 : 3000);
    open_stage(&stage);
    held_play(held);
    close_with_domain(&held->run, held->table);
    finish(&held->run, held->met,
           "held %llu, freed while held %llu, of these reused %llu, freed in own section %llu",
           (unsigned long long)stage.holds, (unsigned long long)stage.freed_while_held,
           (unsigned long long)held->met, (unsigned long long)stage.freed_in_own_section);
}
