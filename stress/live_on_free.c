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

#define SLOTS 256 /* more than any table here has */
#define HOLDS 3   /* looks at an object within one section */

static const char *const modes[] = {"proper",   "ages",        "check_then_use",
                                    "no_grace", "unannounced", NULL};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned readers;
    uint64_t slots; /* that are ever used, from index 0 */
    bool check_then_use;
    bool unannounced;
    bool has_frames;
    bool ticks_inside;
    pthread_rwlock_t frame;  /* sections have it together; a tick has it alone */
    pthread_mutex_t gate;    /* of it: a tick waits for no section that begins later */
    uint64_t ages_allowed;   /* UINT64_MAX: they are not counted, which would order things */
    shared_u64 board[SLOTS]; /* ids by index, for readers to find */
    shared_u64 announced[MOST_THREADS]; /* ids that readers hold */
    shared_u64 met[SLOTS];              /* 1: the slot's object was freed while it was held */
    shared_u64 writers_left;
    shared_u64 held;
    shared_u64 freed_while_held;
    shared_u64 freed_in_own_section;
    shared_u64 reused; /* slots, after their object was freed while held */
};

/* --- sections --- */

static _Thread_local uint64_t section_began; /* grace periods that had ended then */

static uint64_t grace_periods(const struct stage *stage)
{
    return haft_domain_stats_get(stage->domain).grace_periods;
}

static void begin_section(struct stage *stage)
{
    if (stage->has_frames && !stage->ticks_inside) {
        pthread_mutex_lock(&stage->gate);
        pthread_rwlock_rdlock(&stage->frame);
        pthread_mutex_unlock(&stage->gate);
    }
    if (!stage->ticks_inside) {
        haft_section_begin(stage->domain);
    }
    if (stage->ages_allowed != UINT64_MAX) {
        section_began = grace_periods(stage);
    }
}

static void end_section(struct stage *stage)
{
    if (!stage->ticks_inside) {
        haft_section_end(stage->domain);
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
    must(&stage->run, haft_domain_tick(stage->domain), "a tick");
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
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx: the object became %llx while it was held",
                  (unsigned long long)id.bits, (unsigned long long)object->id);
    }
    if (stage->ages_allowed != UINT64_MAX &&
        grace_periods(stage) - section_began > stage->ages_allowed) {
        violation(&stage->run, "%llu grace periods ended within one section, %llu may",
                  (unsigned long long)(grace_periods(stage) - section_began),
                  (unsigned long long)stage->ages_allowed);
    }
}

/* Hold an object for a while; the writers are told. */
static void hold(struct stage *stage, unsigned number, const struct object *object, haft_id id,
                 struct chance *chance)
{
    poke(&stage->announced[number], id.bits);
    look(stage, object, id);
    for (int i = 0; i < HOLDS; i++) {
        pause_by_chance(chance);
        look(stage, object, id);
    }
    poke(&stage->announced[number], 0);
    add(&stage->held, 1);
    if (!haft_is_live(stage->view, id)) {
        add(&stage->freed_while_held, 1);
        poke(&stage->met[haft_id_index(stage->layout, id)], 1);
    }
}

static void read_once(struct stage *stage, unsigned number, haft_worker *worker,
                      struct chance *chance)
{
    const haft_id id = {peek(&stage->board[draw_below(chance, stage->slots)])};
    const struct object *object;

    if (stage->check_then_use) {
        if (haft_is_live(stage->view, id)) {
            object = (const void *)(haft_slot_of(stage->view, id) + 1);
            hold(stage, number, object, id, chance);
        }
        return;
    }
    begin_section(stage);
    object = haft_resolve(stage->view, id);
    if (object != NULL) {
        hold(stage, number, object, id, chance);
    }
    end_section(stage);
    if (one_in(chance, 4) || object != NULL) { /* qsbr, workers: where the section ends */
        pass_quiescent_point(stage->table, worker, chance);
    }
}

/* --- writers --- */

/* An id to free: one that a reader holds, or any. */
static haft_id victim(struct stage *stage, struct chance *chance)
{
    haft_id id = {peek(&stage->announced[draw_below(chance, stage->readers)])};

    if (id.bits == 0 || one_in(chance, 8)) {
        id.bits = peek(&stage->board[draw_below(chance, stage->slots)]);
    }
    return id;
}

/* True if this thread was the one that freed it. */
static bool free_one(struct stage *stage, haft_worker *worker, haft_id id, bool inside)
{
    const struct object *object = NULL;

    begin_section(stage);
    if (inside) {
        object = haft_resolve(stage->view, id);
    }
    const bool freed = haft_free(worker, id) == HAFT_OK;

    if (object != NULL) {
        look(stage, object, id);
        add(&stage->freed_in_own_section, freed);
    }
    end_section(stage);
    if (freed) {
        replace(&stage->board[haft_id_index(stage->layout, id)], id.bits, 0);
    }
    return freed;
}

static haft_id reserve_ticking(struct stage *stage, haft_worker *worker, void **object)
{
    haft_status status;
    haft_id id;

    while ((status = haft_reserve(worker, &id, object)) == HAFT_BUSY) {
        haft_worker_quiescent(worker);
        tick(stage);
        sched_yield(); /* or a writer alone would have all the frames */
    }
    must(&stage->run, status, "reserving");
    return id;
}

static void insert_one(struct stage *stage, haft_worker *worker)
{
    void *object;
    const haft_id id = stage->has_frames ? reserve_ticking(stage, worker, &object)
                                         : reserve_waiting(&stage->run, worker, &object);
    const uint32_t index = haft_id_index(stage->layout, id);

    add(&stage->reused, swap(&stage->met[index], 0));
    object_write(object, id);
    haft_publish(worker, id);
    poke(&stage->board[index], id.bits);
}

static void write_until_done(struct stage *stage, struct chance *chance)
{
    haft_worker *worker;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->reused));) {
        const haft_id id = victim(stage, chance);

        if (id.bits != 0 && free_one(stage, worker, id, one_in(chance, 4))) {
            insert_one(stage, worker);
            i++;
        }
        haft_worker_quiescent(worker);
    }
    haft_worker_close(worker);
}

/* --- the play --- */

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);

    if (number >= stage->readers) {
        haft_thread_register(stage->domain);
        write_until_done(stage, &chance);
        add(&stage->writers_left, UINT64_MAX);
        haft_thread_unregister(stage->domain);
        return;
    }
    /* Broken on purpose: a reader that the workers clock does not know of. */
    haft_worker *worker = stage->unannounced ? NULL : enter_as_reader(&stage->run, stage->table);

    while (peek(&stage->writers_left) != 0) {
        read_once(stage, number, worker, &chance);
    }
    leave_as_reader(stage->table, worker);
}

static void open_stage(struct stage *stage)
{
    const uint64_t capacity = UINT64_C(8) << stage->run.seed % 4;
    const haft_table_options options = {.capacity = capacity, .object_size = sizeof(struct object)};
    haft_worker *worker;

    if (run_is(&stage->run, "no_grace") && stage->run.foreign_clock != NULL) {
        stage->run.foreign_clock = clock_without_grace();
    }
    stage->has_frames = stage->run.clock == HAFT_CLOCK_FRAME;
    stage->ticks_inside = stage->has_frames && run_is(&stage->run, "no_grace");
    stage->ages_allowed = ages_allowed(&stage->run);
    pthread_rwlock_init(&stage->frame, NULL);
    pthread_mutex_init(&stage->gate, NULL);
    stage->unannounced = run_is(&stage->run, "unannounced");
    stage->check_then_use = run_is(&stage->run, "check_then_use");
    stage->readers = stage->run.threads / 2;
    poke(&stage->writers_left, stage->run.threads - stage->readers);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->view = haft_table_view(stage->table);
    stage->layout = haft_table_layout(stage->table);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < capacity; i++) {
        insert_one(stage, worker);
    }
    haft_worker_close(worker);
    stage->slots = HAFT_FIRST_INDEX + haft_table_stats_get(stage->table).limit;
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 50000, 4, modes);
    run_until(&stage.run, stage.run.clock == HAFT_CLOCK_FRAME ? 300 : 3000);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);

    close_with_domain(&stage.run, stage.table);
    finish(&stage.run, stage.reused,
           "held %llu, freed while held %llu, of these reused %llu, freed in own section %llu",
           (unsigned long long)stage.held, (unsigned long long)stage.freed_while_held,
           (unsigned long long)stage.reused, (unsigned long long)stage.freed_in_own_section);
}
