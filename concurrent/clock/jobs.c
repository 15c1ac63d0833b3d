/*
 * Jobs that wait for jobs.
 *
 * A level counts what is begun; a state is the level before.  Going from 0 or PARKED to 1 and back
 * is the clock's: it comes online or goes offline, or begins or ends a read section.  Inner jobs
 * change only the count, so they cost no store that another thread reads.
 */
#include "concurrent/clock/jobs.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/foreign.h"
#include "concurrent/clock/section_count.h"
#include "concurrent/clock/thread.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <stddef.h>

/* In place of a state's number of open jobs. */
#define OPEN_UNKNOWN UINT32_MAX       /* the thread had no standing, and got none */
#define OPEN_COUNTED (UINT32_MAX - 1) /* the clock has none; debug builds count sections */

static THREAD_LOCAL uint32_t forgotten;

bool job_is_forgotten(void)
{
    return forgotten != 0;
}

/* The calling thread's present standing; NULL if it has none. */
static struct standing *present(haft_domain *domain)
{
    return domain->clock->standing != NULL ? domain->clock->standing(domain, false) : NULL;
}

bool domain_has_open_jobs(haft_domain *domain)
{
    const struct standing *standing = present(domain);

    return standing != NULL && standing->open != 0;
}

bool domain_in_inner_job(haft_domain *domain)
{
    const struct standing *standing = present(domain);

    return standing != NULL && standing->level > 1;
}

/* --- lifts --- */

/* In a job or park inside the lift: there is one lift at a time. */
static bool is_inside_lift(const struct standing *standing)
{
    return standing->is_lifted && standing->open > standing->lift_open;
}

uint32_t lift_join(struct standing *standing)
{
    if (standing->level <= 0 && !is_inside_lift(standing)) {
        standing->was_parked = standing->level == PARKED;
        standing->is_lifted = true;
        standing->lift += standing->lift == UINT32_MAX ? 2 : 1; /* never 0 */
        standing->lift_open = standing->open & LIFT_OPEN_MOST;
        standing->lift_workers = 0;
    }
    standing->level = standing->level <= 0 ? 1 : standing->level;
    standing->lift_workers += standing->is_lifted;
    return standing->is_lifted ? standing->lift : 0;
}

/* Take it back, if its workers are closed; not in a job or a park that began since. */
static void end_if_over(struct standing *standing)
{
    if (standing->is_lifted && standing->lift_workers == 0 &&
        standing->open == standing->lift_open) {
        assert(standing->level == 0 || standing->level == 1);
        standing->is_lifted = false;
        standing->level = standing->was_parked ? PARKED : 0;
    }
}

void lift_leave(struct standing *standing, uint32_t lift)
{
    if (standing->is_lifted && standing->lift == lift) {
        assert(standing->lift_workers != 0);
        standing->lift_workers--;
        end_if_over(standing);
    }
}

/* The level has changed otherwise: the lift may have ended. */
static void lift_review(struct standing *standing)
{
    if (standing->is_lifted && standing->open < standing->lift_open) {
        standing->is_lifted = false;
    }
    end_if_over(standing);
}

void lift_keep(struct standing *standing)
{
    if (standing->level == 1 && !standing->was_parked) {
        standing->is_lifted = false;
    }
}

/* --- jobs and parks --- */

static void set_level(haft_domain *domain, struct standing *standing, int32_t level)
{
    const int32_t before = standing->level;

    standing->level = level;
    lift_review(standing);
    domain->clock->settle(domain, standing, before);
}

/* The level in a job that begins at `level`. */
static int32_t level_inside(int32_t level)
{
    return level > 0 ? level + 1 : 1;
}

static haft_job_state state_of(const struct standing *standing)
{
    return (haft_job_state){thread_number(), (uint32_t)standing->level, standing->open};
}

static int32_t level_of(haft_job_state state)
{
    return (int32_t)state.level;
}

static haft_job_state unkept(uint32_t open)
{
    return (haft_job_state){thread_number(), 0, open};
}

/* The standing that a state is of; NULL: none was kept. */
static struct standing *kept(haft_domain *domain, haft_job_state state)
{
    assert(state.thread == thread_number() && "a job or park ends on the thread where it began");
    if (state.open >= OPEN_COUNTED || domain->clock->standing == NULL) {
        return NULL;
    }
    struct standing *standing = present(domain);

    assert(standing != NULL && standing->open == state.open + 1 && "the last one ends first");
    return standing;
}

haft_job_state haft_job_begin(haft_domain *domain)
{
    if (domain->clock->standing == NULL) {
        section_count(domain, 1);
        return unkept(OPEN_COUNTED);
    }
    struct standing *standing = domain->clock->standing(domain, true);

    if (standing == NULL) {
        forgotten++;
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(standing);

    standing->open++;
    set_level(domain, standing, level_inside(level_of(state)));
    return state;
}

void haft_job_end(haft_domain *domain, haft_job_state state)
{
    struct standing *standing = kept(domain, state);

    if (standing != NULL) {
        assert(standing->level == level_inside(level_of(state)) || standing->level == 0);
        standing->open = state.open;
        set_level(domain, standing, level_of(state));
    } else if (state.open == OPEN_UNKNOWN) {
        forgotten--;
    } else if (state.open == OPEN_COUNTED) {
        section_count(domain, UINT64_MAX);
    }
}

/*
 * The calling thread's standing for a park: without jobs, too, it may be online.  NULL: it is
 * offline, and has none; or nothing but a job can bring it online.
 */
static struct standing *parked(haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const bool is_online = foreign_has_online(foreign) && foreign_is_inside(foreign);
    struct standing *standing = is_online ? domain->clock->standing(domain, true) : present(domain);
    const bool has_sections = domain->clock->is_foreign && !foreign_has_online(foreign);

    return standing != NULL && standing->open == 0 && has_sections ? NULL : standing;
}

haft_job_state haft_thread_park(haft_domain *domain)
{
    struct standing *standing = parked(domain);

    assert(!callback_is_running() && "no park in a callback: a job may hold pointers");
    if (standing == NULL || callback_is_running()) {
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(standing);

    standing->open++;
    set_level(domain, standing, PARKED);
    return state;
}

void haft_thread_unpark(haft_domain *domain, haft_job_state state)
{
    struct standing *standing = kept(domain, state);

    if (standing != NULL) {
        assert(standing->level <= 1 && "jobs begun since the park end before unpark");
        standing->open = state.open;
        set_level(domain, standing, level_of(state));
    }
}
