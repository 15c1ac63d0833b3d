/* Many objects by one call. */
#include "stress/combinations/lives.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"

#define MOST_AT_ONCE 16
#define MOST_OBJECT 4096

/* --- beginnings --- */

struct many {
    struct reg *regs[MOST_AT_ONCE];
    haft_id ids[MOST_AT_ONCE];
    uint32_t wanted;
};

static void claim_many(struct many *many, const struct step *step)
{
    many->wanted = 0;
    while (many->wanted < MOST_AT_ONCE && many->wanted < step->count &&
           (many->regs[many->wanted] = claim_register(step->at + many->wanted)) != NULL) {
        many->ids[many->wanted++] = HAFT_NIL;
    }
}

static size_t insert_many(haft_worker *worker, struct many *many, haft_status *why)
{
    /* A callback of the call may insert too. */
    static _Thread_local uint64_t copied[2][MOST_AT_ONCE * MOST_OBJECT / sizeof(uint64_t)];
    char *objects = (char *)copied[in_callback(current)];

    for (uint32_t i = 0; i < many->wanted; i++) {
        model_stamp(many->regs[i], objects + i * play.plan->options.object_size);
    }
    return haft_insert_many(worker, objects, many->ids, many->wanted, why);
}

static size_t insert_zeros(haft_worker *worker, struct many *many, haft_status *why)
{
    const size_t got = haft_insert_many(worker, NULL, many->ids, many->wanted, why);

    for (uint32_t i = 0; i < got; i++) {
        stamp_zeros(many->regs[i], many->ids[i]);
    }
    return got;
}

void step_insert_many(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct many many;
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    haft_status why = HAFT_STALE;

    claim_many(&many, step);
    const struct call_under_way outer = begin_call(CALL_INSERT_MANY, HAFT_NIL);
    const size_t got = step->at % 4 == 1 && may_stamp_zeros(thread)
                           ? insert_zeros(worker, &many, &why)
                           : insert_many(worker, &many, &why);

    end_call(outer);
    require_that(got <= many.wanted && (got == many.wanted) == (why == HAFT_OK),
                 "how many came of many");
    if (many.wanted != 0) {
        check_insertion(why, false, before + (uint32_t)got - (why == HAFT_OK), callbacks);
    }
    for (uint32_t i = 0; i < many.wanted; i++) {
        if (i < got) {
            model_issued(many.regs[i], many.ids[i], REGISTER_LIVE);
        } else {
            require_that(many.ids[i].bits == 0, "an id of no object");
            unclaim_register(many.regs[i]);
        }
    }
}

/* --- ends --- */

/* Live ones, some of them twice, and a stale one where it is sure to be stale. */
static void choose_many(struct many *many, const struct step *step)
{
    struct reg *reg = step->at % 4 == 1 ? find_register(step->at, REGISTER_ENDED) : NULL;

    many->wanted = 0;
    if (reg != NULL && !may_live_again(id_in(reg))) {
        many->ids[0] = id_in(reg);
        many->regs[0] = NULL;
        many->wanted = count_in(&reg->state) == REGISTER_ENDED; /* else another thread's by now */
    }
    while (many->wanted < MOST_AT_ONCE && many->wanted < step->count &&
           (reg = find_register(step->at + many->wanted, REGISTER_LIVE)) != NULL) {
        many->regs[many->wanted] = reg;
        many->ids[many->wanted++] = id_in(reg);
    }
}

static bool stands_before(const struct many *many, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (many->ids[i].bits == many->ids[at].bits) {
            return true;
        }
    }
    return false;
}

/* Threads at once free the same ones: only those that are stale from the beginning are known. */
static void check_freed(const struct many *many, uint32_t at, haft_status status)
{
    const bool is_stale = many->regs[at] == NULL || (!play.at_once && stands_before(many, at));

    if (is_stale) {
        require_that(status == HAFT_STALE || status == HAFT_EXHAUSTED ||
                         (play.at_once && status != HAFT_OK),
                     "a stale id among many was freed");
    } else if (!play.at_once) {
        expect(status, HAFT_OK, "haft_free_many");
    }
}

void step_free_many(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct many many;
    haft_status statuses[MOST_AT_ONCE];
    size_t freed = 0;

    choose_many(&many, step);
    const struct call_under_way outer =
        begin_call(CALL_FREE_MANY, many.wanted != 0 ? many.ids[0] : HAFT_NIL);
    const size_t answer = haft_free_many(worker, many.ids, many.wanted, statuses);

    end_call(outer);
    for (uint32_t i = 0; i < many.wanted; i++) {
        check_freed(&many, i, statuses[i]);
        freed += statuses[i] == HAFT_OK;
        if (statuses[i] == HAFT_OK) {
            model_freed(many.regs[i], many.ids[i]);
        }
    }
    model_refused(many.wanted - freed);
    require_that(answer == freed, "haft_free_many returned a wrong count");
}
