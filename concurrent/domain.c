/*
 * The domain: tickets and grace periods.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release) -> drive (acquire)         frees before the wait
 *   ELAPSED  finish (release)        -> domain_done (acquire)   the wait before reuse
 *   COUNT    statistics, and the number of open tables, checked when nobody else is about
 *   HINT     when a stall began: a wrong answer reports it early, late or twice
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/domain.h"
#include "concurrent/rcu.h"
#include <errno.h>
#include <haft/section.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

static const struct clock *const clocks[HAFT_CLOCK_COUNT] = {
    [HAFT_CLOCK_THREAD] = &thread_clock,
    [HAFT_CLOCK_CALLER] = &caller_clock,
};

static uint64_t now_ns(void)
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

static void init_lock(haft_domain *domain)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&domain->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&domain->driver_finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void destroy(haft_domain *domain)
{
    pthread_cond_destroy(&domain->driver_finished);
    pthread_mutex_destroy(&domain->lock);
    free(domain);
}

haft_status haft_domain_open(const haft_domain_options *options, haft_domain **domain)
{
    if (options->flavour == NULL) {
        return HAFT_BAD_FLAVOUR;
    }
    if ((unsigned)options->clock >= HAFT_CLOCK_COUNT) {
        return HAFT_BAD_CLOCK;
    }
    haft_domain *opened = aligned_alloc(CACHE_LINE, sizeof *opened);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    memset(opened, 0, sizeof *opened);
    opened->flavour = options->flavour;
    opened->clock = clocks[options->clock];
    opened->on_stall = options->on_stall;
    opened->stall_arg = options->stall_arg;
    opened->stall_ns = stall_limit(options->stall_ns);
    init_lock(opened);
    const haft_status status = opened->clock->start(opened);

    if (status != HAFT_OK) {
        destroy(opened);
        return status;
    }
    *domain = opened;
    return HAFT_OK;
}

haft_status haft_domain_close(haft_domain *domain)
{
    if (load_relaxed(COUNT, &domain->tables) != 0) {
        return HAFT_IN_USE;
    }
    if (rcu_in_section(domain->flavour)) {
        return HAFT_IN_SECTION;
    }
    /* The clock's last grace period may wait for this thread. */
    const struct rcu_flavor_struct *flavour = domain->flavour;
    const bool was_online = rcu_pause(flavour);

    domain->clock->stop(domain);
    rcu_resume(flavour, was_online);
    destroy(domain);
    return HAFT_OK;
}

uint64_t domain_ticket(haft_domain *domain)
{
    /* Weakened, a driver could begin its wait before the frees that this ticket stands for. */
    const uint64_t ticket = fetch_add_release(TICKET, &domain->requested, 1) + 1;

    domain->clock->requested(domain, ticket);
    return ticket;
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

void domain_hurry(haft_domain *domain)
{
    domain->clock->hurry(domain);
}

static void count_grace_period(haft_domain *domain, uint64_t ns)
{
    const uint64_t longest = load_relaxed(COUNT, &domain->longest_ns);

    store_relaxed(COUNT, &domain->longest_ns, ns > longest ? ns : longest);
    fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
}

/* Mark the tickets up to `ticket` as done; a driver beside this one may have gone further. */
static void finish(haft_domain *domain, uint64_t ticket)
{
    uint64_t before = load_relaxed(RETRY, &domain->done);

    /* Weakened, a slot could be written again before its last readers' reads. */
    while (before < ticket && !cas_release(ELAPSED, &domain->done, before, ticket)) {
        before = load_relaxed(RETRY, &domain->done);
    }
}

/* One grace period, for all that was requested before.  The caller is the only driver. */
static void drive(haft_domain *domain)
{
    const uint64_t ticket = load_acquire(TICKET, &domain->requested);
    const uint64_t begin = now_ns();

    store_relaxed(HINT, &domain->driven_since, begin);
    rcu_wait(domain->flavour);
    finish(domain, ticket);
    store_relaxed(HINT, &domain->driven_since, 0);
    count_grace_period(domain, now_ns() - begin);
}

bool domain_is_driven(const haft_domain *domain)
{
    return load_relaxed(HINT, &domain->driven_since) != 0;
}

/* Wait until the one that drives has finished, or it is time to look for a stall. */
static void await_driver(haft_domain *domain)
{
    const uint64_t until = now_ns() + domain->stall_ns;
    const struct timespec time = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};

    if (pthread_cond_timedwait(&domain->driver_finished, &domain->lock, &time) == ETIMEDOUT) {
        pthread_mutex_unlock(&domain->lock);
        domain_notice_stall(domain);
        pthread_mutex_lock(&domain->lock);
    }
}

/* Drive, or wait for the one that does.  The caller has the lock. */
static void drive_or_await(haft_domain *domain)
{
    if (domain->has_driver) {
        await_driver(domain);
        return;
    }
    domain->has_driver = true;
    pthread_mutex_unlock(&domain->lock);
    drive(domain);
    pthread_mutex_lock(&domain->lock);
    domain->has_driver = false;
    pthread_cond_broadcast(&domain->driver_finished);
}

void domain_wait_for(haft_domain *domain, uint64_t ticket)
{
    if (domain_done(domain) >= ticket) {
        return;
    }
    const bool was_online = rcu_pause(domain->flavour);

    pthread_mutex_lock(&domain->lock);
    while (domain_done(domain) < ticket) {
        drive_or_await(domain);
    }
    pthread_mutex_unlock(&domain->lock);
    rcu_resume(domain->flavour, was_online);
}

void domain_wait(haft_domain *domain)
{
    domain_wait_for(domain, load_relaxed(COUNT, &domain->requested));
}

void domain_notice_stall(haft_domain *domain)
{
    const uint64_t since = load_relaxed(HINT, &domain->driven_since);

    if (since == 0) {
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
        const haft_stall stall = {domain, now - since, domain_backlog(domain)};

        domain->on_stall(&stall, domain->stall_arg);
    }
}

haft_status haft_domain_wait(haft_domain *domain)
{
    if (rcu_in_section(domain->flavour)) {
        return HAFT_IN_SECTION;
    }
    domain_wait(domain);
    return HAFT_OK;
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

void haft_thread_register(haft_domain *domain)
{
    rcu_register(domain->flavour);
}

void haft_thread_unregister(haft_domain *domain)
{
    rcu_unregister(domain->flavour);
}

void haft_section_begin(haft_domain *domain)
{
    rcu_section_begin(domain->flavour);
}

void haft_section_end(haft_domain *domain)
{
    rcu_section_end(domain->flavour);
}

void haft_thread_offline(haft_domain *domain)
{
    rcu_offline(domain->flavour);
}

void haft_thread_online(haft_domain *domain)
{
    rcu_online(domain->flavour);
}
