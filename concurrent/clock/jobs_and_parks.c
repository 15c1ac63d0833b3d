/*
 * Jobs that wait for jobs, and parks.
 *
 * A level counts what is begun; a state is the level before.  Going from 0 or PARKED to 1 and back
 * is the clock's: it comes online or goes offline, or begins or ends a read section.  Inner jobs
 * change only the count, so they cost no store that another thread reads.
 */
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/foreign.h"
#include "concurrent/clock/section_count.h"
#include "concurrent/clock/thread.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <stddef.h>

/* In place of a state's number of open jobs. */
#define OPEN_UNKNOWN UINT32_MAX       /* the thread had no nesting state, and got none */
#define OPEN_COUNTED (UINT32_MAX - 1) /* the clock has none; debug builds count sections */

static THREAD_LOCAL uint32_t forgotten;

bool job_is_forgotten(void)
{
    return forgotten != 0;
}

/* The calling thread's present nesting state; NULL if it has none. */
static struct nesting *present(haft_domain *domain)
{
    return domain->clock->nesting != NULL ? domain->clock->nesting(domain, false) : NULL;
}

bool domain_has_open_jobs(haft_domain *domain)
{
    const struct nesting *nesting = present(domain);

    return nesting != NULL && nesting->open != 0;
}

bool domain_in_inner_job(haft_domain *domain)
{
    const struct nesting *nesting = present(domain);

    return nesting != NULL && nesting->level > 1;
}

/* --- lifts --- */

/* In a job or park inside the lift: there is one lift at a time. */
static bool is_inside_lift(const struct nesting *nesting)
{
    return nesting->is_lifted && nesting->open > nesting->lift_open;
}

uint32_t lift_join(struct nesting *nesting)
{
    if (nesting->level <= 0 && !is_inside_lift(nesting)) {
        nesting->was_parked = nesting->level == PARKED;
        nesting->is_lifted = true;
        nesting->lift += nesting->lift == UINT32_MAX ? 2 : 1; /* never 0 */
        nesting->lift_open = nesting->open & LIFT_OPEN_MOST;
        nesting->lift_workers = 0;
    }
    nesting->level = nesting->level <= 0 ? 1 : nesting->level;
    nesting->lift_workers += nesting->is_lifted;
    return nesting->is_lifted ? nesting->lift : 0;
}

/* Take it back, if its workers are closed; not in a job or a park that began since. */
static void end_if_over(struct nesting *nesting)
{
    if (nesting->is_lifted && nesting->lift_workers == 0 && nesting->open == nesting->lift_open) {
        assert(nesting->level == 0 || nesting->level == 1);
        nesting->is_lifted = false;
        nesting->level = nesting->was_parked ? PARKED : 0;
    }
}

void lift_leave(struct nesting *nesting, uint32_t lift)
{
    if (nesting->is_lifted && nesting->lift == lift) {
        assert(nesting->lift_workers != 0);
        nesting->lift_workers--;
        end_if_over(nesting);
    }
}

/* The level has changed otherwise: the lift may have ended. */
static void lift_review(struct nesting *nesting)
{
    if (nesting->is_lifted && nesting->open < nesting->lift_open) {
        nesting->is_lifted = false;
    }
    end_if_over(nesting);
}

void lift_keep(struct nesting *nesting)
{
    if (nesting->level == 1 && !nesting->was_parked) {
        nesting->is_lifted = false;
    }
}

/* --- jobs and parks --- */

static void set_level(haft_domain *domain, struct nesting *nesting, int32_t level)
{
    const int32_t before = nesting->level;

    nesting->level = level;
    lift_review(nesting);
    domain->clock->settle(domain, nesting, before);
}

/* The level in a job that begins at `level`. */
static int32_t level_inside(int32_t level)
{
    return level > 0 ? level + 1 : 1;
}

static haft_job_state state_of(const struct nesting *nesting)
{
    return (haft_job_state){thread_number(), (uint32_t)nesting->level, nesting->open};
}

static int32_t level_of(haft_job_state state)
{
    return (int32_t)state.level;
}

static haft_job_state unkept(uint32_t open)
{
    return (haft_job_state){thread_number(), 0, open};
}

/* The nesting state that a state is of; NULL: none was kept. */
static struct nesting *kept(haft_domain *domain, haft_job_state state)
{
    assert(state.thread == thread_number() && "a job or park ends on the thread where it began");
    if (state.open >= OPEN_COUNTED) {
        return NULL;
    }
    struct nesting *nesting = present(domain);

    assert(nesting != NULL && nesting->open == state.open + 1 && "the last one ends first");
    return nesting;
}

haft_job_state haft_job_begin(haft_domain *domain)
{
    if (domain->clock->nesting == NULL) {
        section_count(domain, 1);
        return unkept(OPEN_COUNTED);
    }
    struct nesting *nesting = domain->clock->nesting(domain, true);

    if (nesting == NULL) {
        forgotten++;
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(nesting);

    nesting->open++;
    set_level(domain, nesting, level_inside(level_of(state)));
    return state;
}

void haft_job_end(haft_domain *domain, haft_job_state state)
{
    struct nesting *nesting = kept(domain, state);

    if (nesting != NULL) {
        assert(nesting->level == level_inside(level_of(state)) || nesting->level == 0);
        nesting->open = state.open;
        set_level(domain, nesting, level_of(state));
    } else if (state.open == OPEN_UNKNOWN) {
        forgotten--;
    } else {
        assert(state.open == OPEN_COUNTED && "a job that was kept has its nesting state");
        section_count(domain, UINT64_MAX);
    }
}

/*
 * The calling thread's nesting state for a park: without jobs, too, it may be online.  NULL: it is
 * offline, and has none; or nothing but a job can bring it online.
 */
static struct nesting *parked(haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const bool is_online = foreign_has_online(foreign) && foreign_is_inside(foreign);
    struct nesting *nesting = is_online ? domain->clock->nesting(domain, true) : present(domain);
    const bool has_sections = domain->clock->is_foreign && !foreign_has_online(foreign);

    return nesting != NULL && nesting->open == 0 && has_sections ? NULL : nesting;
}

haft_job_state haft_thread_park(haft_domain *domain)
{
    struct nesting *nesting = parked(domain);

    assert(!callback_is_running() && "no park in a callback: a job may hold pointers");
    if (nesting == NULL || callback_is_running()) {
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(nesting);

    nesting->open++;
    set_level(domain, nesting, PARKED);
    return state;
}

void haft_thread_unpark(haft_domain *domain, haft_job_state state)
{
    struct nesting *nesting = kept(domain, state);

    if (nesting != NULL) {
        assert(nesting->level <= 1 && "jobs begun since the park end before unpark");
        nesting->open = state.open;
        set_level(domain, nesting, level_of(state));
    }
}
