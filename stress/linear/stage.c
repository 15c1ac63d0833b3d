#include "stress/linear/stage.h"
#include <stdlib.h>

void stage_take(struct stage *stage, int argc, char **argv)
{
    stage->run = run_from(argc, argv, 4000, 3, NULL);
    run_until(&stage->run, 1000);
    if (stage->run.threads > sizeof stage->parts / sizeof *stage->parts) {
        fprintf(stderr, "%s: at most 4 threads\n", stage->run.program);
        exit(VERDICT_USAGE);
    }
}

uint64_t stage_now(struct stage *stage)
{
    return atomic_fetch_add_explicit(&stage->time, 1, memory_order_acq_rel);
}

uint64_t stage_call(struct actor *actor)
{
    const uint64_t called = stage_now(actor->stage);

    if (one_in(&actor->chance, 8)) {
        pause_by_chance(&actor->chance);
    }
    return called;
}

/* One that was told of, or the next life of its slot; any id of the first life at the beginning. */
static haft_id some_id(struct actor *actor)
{
    const haft_layout layout = STAGE_LAYOUT;
    const haft_id id = {peek(&actor->stage->told[draw_below(&actor->chance, STAGE_TOLD)])};

    if (haft_id_is_nil(id)) {
        return haft_id_pack(layout, HAFT_FIRST_INDEX + draw_below(&actor->chance, 2), 1, 0);
    }
    return !one_in(&actor->chance, 4) ? id
                                      : haft_id_pack(layout, haft_id_index(layout, id),
                                                     haft_id_generation(layout, id) + 1, 0);
}

void stage_act(struct actor *actor, enum linear_kind kind)
{
    struct linear_operation *operation = &actor->part->operations[actor->part->count];

    *operation = (struct linear_operation){.kind = kind, .thread = actor->number};
    if (kind != LINEAR_INSERT) {
        operation->id = some_id(actor);
    }
    actor->stage->acts[kind](actor, operation);
    actor->part->count++;
}

uint64_t stage_note(const struct actor *actor)
{
    return (actor->stage->round << 8 | actor->number << 4 | actor->part->count) + 1;
}

void stage_tell(struct actor *actor, const struct linear_operation *insertion)
{
    const uint64_t place = draw_below(&actor->chance, STAGE_TOLD);

    if (insertion->status == HAFT_OK) {
        poke(&actor->stage->told[place], insertion->id.bits);
    }
}

static void check(struct stage *stage, struct linear_history *history)
{
    for (unsigned i = 0; i < stage->run.threads; i++) {
        for (uint32_t j = 0; j < stage->parts[i].count; j++) {
            history->operations[history->count++] = stage->parts[i].operations[j];
        }
    }
    stage->operations += history->count;
    stage->overlapping += linear_overlaps(history) != 0;
    if (!linear_is_allowed(history, stage->model)) {
        linear_print(stderr, history);
        violation(&stage->run, "round %llu: NOT LINEARIZABLE", (unsigned long long)stage->round);
    }
}

/* Unlike meet(): what one thread has set up, or written down, is there for the others. */
static void wait_for_all(struct stage *stage, pthread_barrier_t *barrier)
{
    if (stage->domain != NULL) {
        haft_thread_offline(stage->domain);
    }
    pthread_barrier_wait(barrier);
    if (stage->domain != NULL) {
        haft_thread_online(stage->domain);
    }
}

static void begin_round(struct stage *stage, uint64_t round, struct chance *chance)
{
    stage->round = round;
    stage->is_over = !run_goes_on(&stage->run, round, stage->overlapping);
    for (int i = 0; i < STAGE_TOLD; i++) {
        poke(&stage->told[i], 0);
    }
    if (!stage->is_over) {
        stage->open(stage, chance);
    }
}

static void play_round(struct actor *actor, uint64_t *begun)
{
    struct stage *stage = actor->stage;

    if (stage->domain != NULL) {
        must(&stage->run, haft_worker_open(stage->table, &actor->worker), "opening a worker");
        meet_offline(stage->domain, &stage->begun, begun);
    } else {
        meet(&stage->begun, begun);
    }
    actor->part->count = 0;
    stage->take_part(actor);
    wait_for_all(stage, &stage->ended);
    if (actor->number == 0) {
        struct linear_history history = {.layout = STAGE_LAYOUT, .capacity = stage->capacity};

        check(stage, &history);
        stage->close(stage, &history);
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct actor actor = {.stage = stage,
                          .part = &stage->parts[number],
                          .number = number,
                          .chance = chance_of(&stage->run, number)};
    uint64_t begun = 0;

    if (stage->domain != NULL) {
        haft_thread_register(stage->domain);
    }
    for (uint64_t round = 0;; round++) {
        if (number == 0) {
            begin_round(stage, round, &actor.chance);
        }
        wait_for_all(stage, &stage->opened);
        if (stage->is_over) {
            break;
        }
        play_round(&actor, &begun);
    }
    if (stage->domain != NULL) {
        haft_thread_unregister(stage->domain);
    }
}

void stage_play(struct stage *stage)
{
    stage->begun.threads = stage->run.threads;
    pthread_barrier_init(&stage->opened, NULL, stage->run.threads);
    pthread_barrier_init(&stage->ended, NULL, stage->run.threads);
    run_threads(stage->run.threads, body, stage);
    if (stage->domain != NULL) {
        must(&stage->run, haft_domain_close(stage->domain), "closing the domain");
    }
    finish(
        &stage->run, stage->overlapping,
        "%llu histories of %.1f operations, all linearizable; %llu had operations on one slot at "
        "once",
        (unsigned long long)stage->round, (double)stage->operations / (double)stage->round,
        (unsigned long long)stage->overlapping);
}
