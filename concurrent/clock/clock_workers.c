/*
 * The workers clock: each thread with open workers announces its own quiescent points; anyone
 * adds them up.  Quiescent-state-based reclamation by message passing alone.
 *
 * A member is a thread with open workers on the domain.  At a quiescent point it reads `requested`
 * and stores that number.  All frees under tickets up to this number came before, so the member
 * resolves none of these objects from now on, and it has let go of the pointers that it had.  The
 * tickets up to the lowest announcement are done.
 *
 * A member that comes online adds 0 to `requested`.  The read-modify-writes of that word are one
 * sequence: a thread that covers a later ticket has seen the member online, and the member has seen
 * the frees under earlier tickets.  So no fence is needed between coming online and the first
 * resolve, and none between a free and the look at the members.
 *
 * Members stay in the list until the domain closes.  Once its thread has closed all its workers and
 * ended its jobs, a member may be another thread's.
 *
 * A quiescent point counts for the whole thread, so an inner job must not announce one: the
 * pointers that the outer job has resolved would be void.  The level in a member's nesting state
 * tells the two apart (jobs_and_parks.h).
 *
 * Edges in this file.
 *   QUIET   announce, go_away (release) -> reach (acquire)
 *           reads of a section before its end is seen
 *   ARRIVE  come_back (acquire and release) on `requested`, beside TICKET (see domain.c): online
 *           before later tickets, frees under earlier ones before the first resolve
 *   WORKER_LIST  add (release)   -> first_member (acquire)   a member's set-up
 *   ADOPT   release_if_unused (release) -> make_own (acquire)   the last state of a member, to
 *           its next thread
 *   OWN     a thread's own member, or one that no other thread can find: new
 *   HINT    which thread is blamed for a stall; whether any is online, for an assertion
 *   RETRY   a first look; the compare-and-swap decides
 */
#include "concurrent/batches/tagged.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/measure.h"
#include "concurrent/clock/stall.h"
#include "concurrent/clock/thread.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include "lib/base/pause.h"
#include "lib/base/text.h"
#include "lib/base/walk.h"
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define ANNOUNCED_NOTHING 0       /* holds all tickets up: on its way online */
#define ANNOUNCED_AWAY UINT64_MAX /* holds nothing up: offline, or no thread's */

struct member {
    atomic_u64 announced; /* tickets whose frees came before its last quiescent point */
    atomic_u64 thread;    /* thread_number() of its thread; 0: no thread's */
    atomic_u64 worker;    /* address of one of its workers; 0: not known */
    atomic_u64 number;    /* the system's for the thread */
    struct member *next;  /* constant */
    struct nesting nesting;
    uint32_t workers; /* open, of its thread */
};

_Static_assert(sizeof(struct member) <= CACHE_LINE, "members share no cache line");

/*
 * The calling thread's latest member, and the number of its domain: where the thread has left that
 * one, it has none in that domain.
 */
static THREAD_LOCAL struct {
    uint64_t domain;
    struct member *member;
} latest_member;

static struct member *remember_member(const haft_domain *domain, struct member *member)
{
    latest_member.domain = domain->number;
    latest_member.member = member;
    return member;
}

static struct member *first_member(const haft_domain *domain)
{
    return (struct member *)(uintptr_t)load_acquire(WORKER_LIST, &domain->members);
}

/* The calling thread's member, or NULL. */
static struct member *own_member(const haft_domain *domain)
{
    const uint64_t number = thread_number();

    if (latest_member.domain == domain->number) {
        return load_relaxed(OWN, &latest_member.member->thread) == number ? latest_member.member
                                                                          : NULL;
    }
    for (struct member *member = first_member(domain); member != NULL; member = member->next) {
        if (load_relaxed(OWN, &member->thread) == number) {
            return remember_member(domain, member);
        }
    }
    return NULL;
}

/* Whether no other member of the domain is the calling thread's. */
static HAFT_UNUSED bool is_only_own(const haft_domain *domain, const struct member *own)
{
    const struct member *member = first_member(domain);

    while (member != NULL && (member == own || load_relaxed(OWN, &member->thread) !=
                                                   load_relaxed(OWN, &own->thread))) {
        member = member->next;
    }
    return member == NULL;
}

static bool is_away(const struct member *member)
{
    return load_relaxed(OWN, &member->announced) == ANNOUNCED_AWAY;
}

static void come_back(haft_domain *domain, struct member *member)
{
    assert(member->nesting.level > 0 && "offline or parked, a thread stays away");
    store_relaxed(OWN, &member->announced, ANNOUNCED_NOTHING);
    /* Weakened, a later ticket could be covered by a thread that saw the member away. */
    const uint64_t requested = fetch_add_acq_rel(ARRIVE, &domain->requested, 0);

    store_release(QUIET, &member->announced, requested);
}

static void go_away(struct member *member)
{
    /* Weakened, a slot could be written again before this thread's reads. */
    store_release(QUIET, &member->announced, ANNOUNCED_AWAY);
}

static void announce(const haft_domain *domain, struct member *member)
{
    const uint64_t requested = domain_requested(domain);

    if (load_relaxed(OWN, &member->announced) != requested) {
        /* Weakened, a slot could be written again before this thread's reads. */
        store_release(QUIET, &member->announced, requested);
    }
}

/* All members have announced the tickets up to the result; `requested` was read before. */
static uint64_t reach(const haft_domain *domain, uint64_t requested)
{
    uint64_t lowest = requested;

    for (const struct member *member = first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = load_acquire(QUIET, &member->announced);

        lowest = announced < lowest ? announced : lowest;
    }
    return lowest;
}

/* Mark the tickets that all members have announced as done. */
static void advance(haft_domain *domain)
{
    const uint64_t requested = domain_requested(domain);
    const uint64_t done = domain_done(domain);

    if (done >= requested) {
        return;
    }
    const uint64_t reached = reach(domain, requested);

    assert(reached <= requested);
    if (reached > done) {
        domain_end_grace(domain, reached);
    } else {
        measure_begin(&domain->measure, done); /* if not now, then at the next look */
    }
}

static haft_status workers_start(haft_domain *domain)
{
    store_relaxed(OWN, &domain->members, 0);
    return HAFT_OK;
}

static void workers_stop(haft_domain *domain, bool is_forked)
{
    (void)is_forked;
    for (struct member *member = first_member(domain), *next; member != NULL; member = next) {
        next = member->next;
        heap_give(&domain->heap, member, CACHE_LINE);
    }
}

static haft_status workers_wait_for(haft_domain *domain, uint64_t ticket)
{
    struct member *own = own_member(domain);
    const bool was_online = own != NULL && !is_away(own);

    assert(own == NULL || own->nesting.level <= 1); /* else an outer job's pointers are void */
    if (was_online) {
        go_away(own);
    }
    advance(domain);
    for (uint64_t turn = 0; domain_done(domain) < ticket; turn++) {
        pause_in_turn(turn);
        domain_notice_stall(domain);
        advance(domain);
    }
    if (was_online) {
        come_back(domain, own);
    }
    return HAFT_OK;
}

/* Make a member that no thread has the calling thread's. */
static bool make_own(struct member *member)
{
    return load_relaxed(RETRY, &member->thread) == 0 &&
           cas_acquire(ADOPT, &member->thread, 0, thread_number());
}

/* The member that the thread had before, or any that its thread has left; NULL: there is none. */
static struct member *claim_member(const haft_domain *domain)
{
    if (latest_member.domain == domain->number && make_own(latest_member.member)) {
        return latest_member.member;
    }
    for (struct member *member = first_member(domain); member != NULL; member = member->next) {
        if (make_own(member)) {
            return member;
        }
    }
    return NULL;
}

static struct member *add_member(haft_domain *domain)
{
    struct member *member = heap_take(&domain->heap, CACHE_LINE, CACHE_LINE);

    if (member == NULL) {
        return NULL;
    }
    memset(member, 0, sizeof *member);
    store_relaxed(OWN, &member->announced, ANNOUNCED_AWAY);
    store_relaxed(OWN, &member->thread, thread_number());
    do {
        member->next = first_member(domain);
    } while (!cas_release(WORKER_LIST, &domain->members, (uint64_t)(uintptr_t)member->next,
                          (uint64_t)(uintptr_t)member));
    return member;
}

/* The calling thread's member; a new one if need be; NULL if there is no memory for one. */
static struct member *need_member(haft_domain *domain)
{
    struct member *own = own_member(domain);

    if (own != NULL) {
        return own;
    }
    own = claim_member(domain);
    own = own != NULL ? own : add_member(domain);
    assert_walk(own == NULL || is_only_own(domain, own));
    return own != NULL ? remember_member(domain, own) : NULL;
}

/* Release a member whose thread has neither workers nor jobs to the next thread. */
static void release_if_unused(struct member *member)
{
    if (member->workers == 0 && member->nesting.open == 0) {
        member->nesting.level = 0;
        member->nesting.is_lifted = false;
        go_away(member);
        /* Weakened, the next thread could find the member in the state before. */
        store_release(ADOPT, &member->thread, 0);
    }
}

/* A job that has begun goes on as it was.  Else the thread is online while the worker is open. */
static haft_status join(haft_domain *domain, haft_worker *worker, struct member **member,
                        uint32_t *lift)
{
    struct member *own = need_member(domain);

    if (own == NULL) {
        return HAFT_NO_MEMORY;
    }
    if (own->workers == 0 && job_is_forgotten()) {
        release_if_unused(own);
        return HAFT_NO_MEMORY;
    }
    const bool is_idle = own->workers == 0 && own->nesting.open == 0;

    if (own->workers++ == 0) {
        store_relaxed(HINT, &own->number, thread_system_number());
    }
    if (is_idle) {
        own->nesting.level = 1; /* until its last worker is closed */
    } else {
        *lift = lift_join(&own->nesting);
    }
    if (is_away(own)) {
        come_back(domain, own);
    }
    store_relaxed(HINT, &own->worker, (uint64_t)(uintptr_t)worker);
    *member = own;
    return HAFT_OK;
}

/* A job keeps the member: the objects that it has resolved stay until the job ends. */
static void leave(haft_domain *domain, haft_worker *worker, struct member *member, uint32_t lift)
{
    (void)domain;
    if (load_relaxed(HINT, &member->worker) == (uint64_t)(uintptr_t)worker) {
        store_relaxed(HINT, &member->worker, 0);
    }
    if (load_relaxed(OWN, &member->thread) == thread_number()) {
        lift_leave(&member->nesting, lift);
    } else {
        member->nesting.open = 0; /* its thread has ended, and its jobs with it */
    }
    assert(member->workers != 0 && "a worker leaves the member that it joined");
    member->workers--;
    if (member->nesting.level <= 0 && !is_away(member)) {
        go_away(member);
    }
    release_if_unused(member);
}

/* A thread that is away has nothing to announce, but its slots may wait all the same. */
static void quiescent(haft_domain *domain, struct member *member, bool eager)
{
    if (!is_away(member)) {
        announce(domain, member);
    }
    if (eager) {
        advance(domain);
    }
}

/* Offline, whatever jobs have begun; parked, or without a worker, the thread is not online. */
static void offline(haft_domain *domain)
{
    struct member *own = own_member(domain);

    if (own != NULL && own->workers != 0 && own->nesting.level > 0) {
        assert(own->nesting.level == 1 &&
               "an inner job parks: offline voids the outer job's pointers");
        own->nesting.level = 0;
        go_away(own);
    }
}

/* Without a worker only the level changes: the jobs that begin now are inner ones. */
static void online(haft_domain *domain)
{
    struct member *own = own_member(domain);

    if (own == NULL) {
        return;
    }
    lift_keep(&own->nesting);
    if (own->nesting.level == 0) {
        own->nesting.level = 1;
        if (own->workers != 0) {
            come_back(domain, own);
        }
    }
}

static struct nesting *nesting(haft_domain *domain, bool wanted)
{
    struct member *own = wanted ? need_member(domain) : own_member(domain);

    return own != NULL ? &own->nesting : NULL;
}

/* A thread without workers may not resolve, so it stays away. */
static void settle_member(haft_domain *domain, struct nesting *of, int32_t before)
{
    struct member *own = (struct member *)((char *)of - offsetof(struct member, nesting));

    if (before <= 0 && of->level > 0 && own->workers != 0) {
        come_back(domain, own);
    } else if (before > 0 && of->level <= 0) {
        go_away(own);
    }
    release_if_unused(own);
}

static bool in_section(const haft_domain *domain)
{
    const struct member *own = own_member(domain);

    return own != NULL && own->nesting.level > 1;
}

static bool all_are_away(const haft_domain *domain)
{
    const struct member *member = first_member(domain);

    while (member != NULL && load_relaxed(HINT, &member->announced) == ANNOUNCED_AWAY) {
        member = member->next;
    }
    return member == NULL;
}

/* Without any worker no slot is reused: a program may look before it opens workers, and when all
 * are closed. */
static bool may_read(const haft_domain *domain)
{
    const struct member *own = own_member(domain);

    return own != NULL && own->workers != 0 ? !is_away(own) : all_are_away(domain);
}

static void blame(const haft_domain *domain, haft_stall *stall)
{
    uint64_t lowest = domain_done(domain) + 1;

    for (const struct member *member = first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = load_acquire(QUIET, &member->announced);

        if (announced < lowest) {
            lowest = announced;
            stall->worker = (haft_worker *)(uintptr_t)load_relaxed(HINT, &member->worker);
            stall->thread = load_relaxed(HINT, &member->number);
        }
    }
}

static void advise(const haft_domain *domain, const haft_stall *stall, struct text *text)
{
    (void)domain;
    if (stall->thread != 0 && os_thread_has_ended(stall->thread)) {
        text_add(text, "thread %" PRIu64 " has ended with worker %p open", stall->thread,
                 (void *)stall->worker);
        text_add(text, " (haft_worker_close comes before a thread's end; a thread that has joined "
                       "it may close the worker)");
    } else if (stall->thread != 0) {
        text_add(text, "thread %" PRIu64 " is online, ", stall->thread);
        if (stall->worker != NULL) {
            text_add(text, "has worker %p open ", (void *)stall->worker);
        }
        text_add(text, "and passes no quiescent point (haft_worker_quiescent, or haft_thread_park "
                       "before it waits in a barrier or blocks)");
    } else {
        text_add(text, "all threads have passed a quiescent point since");
    }
}

const struct clock workers_clock = {
    .name = "workers",
    .is_foreign = false,
    .start = workers_start,
    .stop = workers_stop,
    .hurry = advance,
    .wait_for = workers_wait_for,
    .join = join,
    .leave = leave,
    .quiescent = quiescent,
    .offline = offline,
    .online = online,
    .nesting = nesting,
    .settle = settle_member,
    .in_section = in_section,
    .may_read = may_read,
    .blame = blame,
    .advise = advise,
};
