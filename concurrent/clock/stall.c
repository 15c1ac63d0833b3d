/*
 * Stalls: the report of a grace period that lasts too long.
 *
 * Edges in this file.
 *   HINT    a first look at the measure, and whether its grace period has ended
 *   RETRY   a first look; the compare-and-swap decides.  A read-modify-write that adds 0 reads the
 *           newest `done`
 *   COUNT   stalls
 */
#include "concurrent/clock/stall.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "concurrent/clock/measure.h"
#include "lib/base/os.h"
#include "lib/base/text.h"
#include <inttypes.h>

bool domain_is_driven(const haft_domain *domain)
{
    return load_relaxed(HINT, &domain->measure.ticket) == domain_done(domain) + 1;
}

uint64_t domain_waited_ns(haft_domain *domain, uint64_t *ticket)
{
    uint64_t since = 0;

    *ticket = measure_read(&domain->measure, &since);
    const uint64_t now = os_now_ns();

    /*
     * `since` may be that of a later grace period: then `done` shows that the one of `ticket` has
     * ended.  A wait that ended a moment ago may count still; is_to_report() looks again.
     */
    return *ticket == load_relaxed(HINT, &domain->done) + 1 ? now - since : 0;
}

/* True to one thread, if the wait for `ticket` has not ended and was not reported. */
static bool is_to_report(haft_domain *domain, uint64_t ticket)
{
    uint64_t reported = load_relaxed(RETRY, &domain->measure.reported);

    return reported != ticket && fetch_add_relaxed(RETRY, &domain->done, 0) + 1 == ticket &&
           cas_relaxed(RETRY, &domain->measure.reported, reported, ticket);
}

static void say(const haft_stall *stall)
{
    const haft_domain *domain = stall->domain;
    char line[400];
    struct text text = text_in(line, sizeof line);

    text_add(&text, "no grace period has ended for ");
    text_add_time(&text, stall->waited_ns);
    text_add(&text, " on domain %" PRIu64 " (%s clock), and ", domain->number, domain->clock->name);
    text_add_count(&text, stall->backlog);
    text_add(&text, stall->backlog == 1 ? " batch of freed slots waits: "
                                        : " batches of freed slots wait: ");
    domain->clock->advise(domain, stall, &text);
    os_print(line);
}

static void report(haft_domain *domain, uint64_t waited)
{
    haft_stall stall = {.domain = domain, .waited_ns = waited};

    stall.backlog = domain_backlog(domain);
    domain_blame(domain, &stall);
    if (domain->on_stall != NULL) {
        const int cancel = os_cancel_off();

        callback_begin();
        domain->on_stall(&stall, domain->stall_arg);
        callback_end();
        os_cancel_restore(cancel);
    } else {
        say(&stall);
    }
}

void domain_notice_stall(haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited = domain_waited_ns(domain, &ticket);

    if (callback_is_running()) {
        return; /* a later call notices it */
    }
    if (waited >= domain->stall_ns && domain_check_process(domain) == HAFT_OK &&
        is_to_report(domain, ticket)) {
        fetch_add_relaxed(COUNT, &domain->stalls, 1);
        report(domain, waited);
    }
}
