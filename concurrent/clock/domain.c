/*
 * The domain: opening, closing, and its calls of the clock.
 *
 * Edges in this file.
 *   COUNT    statistics, numbers that are assigned once, and the number of open tables, checked
 *            when no other thread uses the domain
  */
#include "concurrent/clock/domain.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/foreign.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/measure.h"
#include "concurrent/clock/registry.h"
#include "concurrent/clock/section_count.h"
#include "lib/base/os.h"
#include "lib/base/sized.h"
#include <assert.h>
#include <string.h>

#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

#define NUMBERED(UPPER, lower) [HAFT_CLOCK_##UPPER] = &lower##_clock,
static const struct clock *const clocks[HAFT_CLOCK_COUNT] = {HAFT_CLOCKS(NUMBERED)};

static uint64_t domain_number(void)
{
    static atomic_u64 last;

    return fetch_add_relaxed(COUNT, &last, 1) + 1;
}

static haft_status check_domain_options(const haft_domain_options *options)
{
    if ((unsigned)options->clock >= HAFT_CLOCK_COUNT) {
        return HAFT_BAD_CLOCK;
    }
    const bool is_right =
        clocks[options->clock]->is_foreign
            ? options->foreign_clock != NULL && foreign_is_whole(options->foreign_clock)
            : options->foreign_clock == NULL;

    return is_right ? HAFT_OK : HAFT_BAD_FOREIGN_CLOCK;
}

/* The option with its default, and short enough to be added to the time. */
static uint64_t stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return DEFAULT_STALL_NS;
    }
    return stall_ns < MOST_STALL_NS ? stall_ns : MOST_STALL_NS;
}

haft_status haft_domain_open_sized(const haft_domain_options *options, size_t size,
                                   haft_domain **domain)
{
    haft_domain_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? check_domain_options(&known) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const haft_allocator heap = heap_of(known.allocator);
    haft_domain *opened = heap_take_zero(&heap, sizeof *opened, CACHE_LINE);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->number = domain_number();
    if (known.foreign_clock != NULL) {
        opened->foreign = *known.foreign_clock;
    }
    opened->clock = clocks[known.clock];
    opened->on_stall = known.on_stall;
    opened->stall_arg = known.stall_arg;
    opened->stall_ns = stall_limit(known.stall_ns);
    opened->process = registry_process();
    measure_open(&opened->measure);
    status = opened->clock->start != NULL ? opened->clock->start(opened) : HAFT_OK;
    if (status != HAFT_OK) {
        heap_give(&heap, opened, sizeof *opened);
        return status;
    }
    *domain = opened;
    return HAFT_OK;
}

haft_status domain_check_process(const haft_domain *domain)
{
    return domain->process == registry_process() ? HAFT_OK : HAFT_FORKED;
}

haft_status haft_domain_close(haft_domain *domain)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    haft_status status = load_relaxed(COUNT, &domain->tables) != 0 ? HAFT_IN_USE : HAFT_OK;

    /* Before the moment is checked: that may end what the job has resolved. */
    status = status == HAFT_OK && domain_has_open_jobs(domain) ? HAFT_IN_SECTION : status;
    status = status == HAFT_OK ? domain_check_moment(domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const bool is_parents = domain_check_process(domain) != HAFT_OK;

    assert((is_parents || sections_open(domain) == 0) &&
           "sections end before their domain is closed");
    if (domain->clock->stop != NULL) {
        domain->clock->stop(domain, is_parents);
    }
    heap_give(&domain->heap, domain, sizeof *domain);
    return HAFT_OK;
}

void domain_handed(haft_domain *domain)
{
    if (domain->clock->handed != NULL) {
        domain->clock->handed(domain);
    }
}

void domain_hurry(haft_domain *domain)
{
    if (domain->clock->hurry != NULL) {
        domain->clock->hurry(domain);
    }
}

haft_status domain_join(haft_domain *domain, haft_worker *worker, struct member **member,
                        uint32_t *lift)
{
    *member = NULL;
    *lift = 0;
    return domain->clock->join != NULL ? domain->clock->join(domain, worker, member, lift)
                                       : HAFT_OK;
}

void domain_leave(haft_domain *domain, haft_worker *worker, struct member *member, uint32_t lift)
{
    if (domain->clock->leave != NULL) {
        domain->clock->leave(domain, worker, member, lift);
    }
}

void domain_quiescent(haft_domain *domain, struct member *member, bool eager)
{
    if (domain->clock->quiescent != NULL) {
        domain->clock->quiescent(domain, member, eager);
    }
}

void domain_blame(const haft_domain *domain, haft_stall *stall)
{
    if (domain->clock->blame != NULL) {
        domain->clock->blame(domain, stall);
    }
}

haft_status domain_wait_for(haft_domain *domain, uint64_t ticket)
{
    if (domain_done(domain) >= ticket) {
        return HAFT_OK;
    }
    haft_status status = domain_check_process(domain);

    if (status == HAFT_OK) {
        const int cancel = os_cancel_off(); /* a foreign clock's functions may be such points */

        status = domain->clock->wait_for(domain, ticket);
        os_cancel_restore(cancel);
    }
    return status;
}

haft_status domain_wait(haft_domain *domain)
{
    return domain_wait_for(domain, load_relaxed(COUNT, &domain->requested));
}

haft_status domain_check_moment(const haft_domain *domain)
{
    const struct clock *clock = domain->clock;

    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    return clock->in_section != NULL && clock->in_section(domain) ? HAFT_IN_SECTION : HAFT_OK;
}

bool domain_may_read(const haft_domain *domain)
{
    return domain->clock->may_read == NULL || domain->clock->may_read(domain);
}

haft_status haft_domain_wait(haft_domain *domain)
{
    const haft_status status = domain_check_moment(domain);

    return status == HAFT_OK ? domain_wait(domain) : status;
}

haft_domain_stats haft_domain_stats_get(const haft_domain *domain)
{
    const haft_domain_stats stats = {
        .grace_periods = load_relaxed(COUNT, &domain->grace_periods),
        .longest_grace_period_ns = load_relaxed(COUNT, &domain->longest_ns),
        .backlog = domain_backlog(domain),
        .stalls = load_relaxed(COUNT, &domain->stalls),
    };
    return stats;
}
