/*
 * The domain: tickets and grace periods.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release)    -> domain_requested (acquire)   frees before the wait
 *   ELAPSED  domain_end_grace (release) -> domain_done (acquire)        the wait before reuse
 *   COUNT    statistics, numbers that are given once, and the number of open tables, checked when
 *            nobody else is about
 *   HINT     when a stall began: a wrong answer reports it early, late or twice
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/clock/callback.h"
#include "concurrent/clock/rcu.h"
#include "concurrent/table/debug.h"
#include "concurrent/table/registry.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

static const struct clock *const clocks[HAFT_CLOCK_COUNT] = {
    [HAFT_CLOCK_THREAD] = &thread_clock,
    [HAFT_CLOCK_CALLER] = &caller_clock,
    [HAFT_CLOCK_WORKERS] = &workers_clock,
    [HAFT_CLOCK_FRAME] = &frame_clock,
};

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The option with its default, and short enough to be added to the time. */
static uint64_t stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return DEFAULT_STALL_NS;
    }
    return stall_ns < MOST_STALL_NS ? stall_ns : MOST_STALL_NS;
}

static uint64_t domain_number(void)
{
    static atomic_u64 given;

    return fetch_add_relaxed(COUNT, &given, 1) + 1;
}

static haft_status check(const haft_domain_options *options)
{
    if ((unsigned)options->clock >= HAFT_CLOCK_COUNT) {
        return HAFT_BAD_CLOCK;
    }
    if (clocks[options->clock]->has_flavour != (options->flavour != NULL)) {
        return HAFT_BAD_FLAVOUR;
    }
    return HAFT_OK;
}

haft_status haft_domain_open(const haft_domain_options *options, haft_domain **domain)
{
    haft_status status = check(options);

    if (status != HAFT_OK) {
        return status;
    }
    haft_domain *opened = aligned_alloc(CACHE_LINE, sizeof *opened);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    memset(opened, 0, sizeof *opened);
    opened->number = domain_number();
    opened->flavour = options->flavour;
    opened->clock = clocks[options->clock];
    opened->on_stall = options->on_stall;
    opened->stall_arg = options->stall_arg;
    opened->stall_ns = stall_limit(options->stall_ns);
    opened->process = getpid();
    status = opened->clock->start(opened);
    if (status != HAFT_OK) {
        free(opened);
        return status;
    }
    registry_add_domain(opened);
    *domain = opened;
    return HAFT_OK;
}

haft_status domain_check_process(const haft_domain *domain)
{
    return domain->process == getpid() ? HAFT_OK : HAFT_FORKED;
}

haft_status haft_domain_close(haft_domain *domain)
{
    if (domain_check_process(domain) != HAFT_OK) {
        return HAFT_FORKED;
    }
    if (load_relaxed(COUNT, &domain->tables) != 0) {
        return HAFT_IN_USE;
    }
    const haft_status status = domain_check_moment(domain);

    if (status != HAFT_OK) {
        return status;
    }
    assert(debug_sections(domain) == 0); /* a section is open */
    registry_remove_domain(domain);
    domain->clock->stop(domain);
    free(domain);
    return HAFT_OK;
}

uint64_t domain_ticket(haft_domain *domain)
{
    /* Weakened, a driver could begin its wait before the frees that this ticket stands for. */
    const uint64_t ticket = fetch_add_release(TICKET, &domain->requested, 1) + 1;

    domain->clock->requested(domain, ticket);
    return ticket;
}

uint64_t domain_requested(const haft_domain *domain)
{
    return load_acquire(TICKET, &domain->requested);
}

uint64_t domain_done(const haft_domain *domain)
{
    /* Weakened, a slot could be written again before its last readers' reads. */
    return load_acquire(ELAPSED, &domain->done);
}

uint64_t domain_backlog(const haft_domain *domain)
{
    /* In this order: `done` never runs ahead of what `requested` is read as. */
    const uint64_t done = load_acquire(ELAPSED, &domain->done);
    const uint64_t requested = load_relaxed(COUNT, &domain->requested);

    return requested > done ? requested - done : 0;
}

bool domain_may_leave(const haft_domain *domain, const struct member *member)
{
    return domain->clock->may_leave(member);
}

void domain_hurry(haft_domain *domain)
{
    domain->clock->hurry(domain);
}

bool domain_in_section(const haft_domain *domain)
{
    return domain->flavour != NULL && rcu_in_section(domain->flavour);
}

/* Mark the tickets up to `ticket` as done; a driver beside this one may have gone further. */
static bool finish(haft_domain *domain, uint64_t ticket)
{
    uint64_t before = load_relaxed(RETRY, &domain->done);

    while (before < ticket) {
        /* Weakened, a slot could be written again before its last readers' reads. */
        if (cas_release(ELAPSED, &domain->done, before, ticket)) {
            return true;
        }
        before = load_relaxed(RETRY, &domain->done);
    }
    return false;
}

void domain_begin_grace(haft_domain *domain)
{
    store_relaxed(HINT, &domain->driven_since, now_ns());
}

void domain_end_grace(haft_domain *domain, uint64_t ticket)
{
    const uint64_t since = load_relaxed(HINT, &domain->driven_since);

    if (!finish(domain, ticket)) {
        return;
    }
    store_relaxed(HINT, &domain->driven_since, 0);
    fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
    const uint64_t now = now_ns();
    const uint64_t lasted = since != 0 && now > since ? now - since : 0;

    if (lasted > load_relaxed(COUNT, &domain->longest_ns)) {
        store_relaxed(COUNT, &domain->longest_ns, lasted);
    }
}

bool domain_is_driven(const haft_domain *domain)
{
    return load_relaxed(HINT, &domain->driven_since) != 0;
}

uint64_t domain_waited_ns(const haft_domain *domain)
{
    const uint64_t since = load_relaxed(HINT, &domain->driven_since);
    const uint64_t now = now_ns();

    return since != 0 && now > since ? now - since : 0;
}

haft_status domain_wait_for(haft_domain *domain, uint64_t ticket)
{
    if (domain_done(domain) >= ticket) {
        return HAFT_OK;
    }
    const haft_status status = domain_check_process(domain);

    return status == HAFT_OK ? domain->clock->wait_for(domain, ticket) : status;
}

haft_status domain_wait(haft_domain *domain)
{
    return domain_wait_for(domain, load_relaxed(COUNT, &domain->requested));
}

void domain_notice_stall(haft_domain *domain)
{
    const uint64_t since = load_relaxed(HINT, &domain->driven_since);

    if (since == 0 || callback_is_running()) {
        return;
    }
    const uint64_t now = now_ns();
    const uint64_t reported = load_relaxed(RETRY, &domain->stall_reported);

    if (now < since || now - since < domain->stall_ns || reported == since ||
        !cas_relaxed(RETRY, &domain->stall_reported, reported, since)) {
        return;
    }
    fetch_add_relaxed(COUNT, &domain->stalls, 1);
    if (domain->on_stall != NULL) {
        haft_stall stall = {.domain = domain, .waited_ns = now - since};

        stall.backlog = domain_backlog(domain);
        domain->clock->blame(domain, &stall);
        callback_begin();
        domain->on_stall(&stall, domain->stall_arg);
        callback_end();
    }
}

haft_status domain_check_moment(const haft_domain *domain)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    return domain_in_section(domain) ? HAFT_IN_SECTION : HAFT_OK;
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
