/* Read sections of the domain's foreign clock; without one they last from announcement to
 * announcement, and begin and end do nothing. */
#include "concurrent/clock/callback.h"
#include "concurrent/clock/foreign.h"
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/section_count.h"
#include <assert.h>
#include <haft/domain.h>
#include <stddef.h>

void haft_thread_register(haft_domain *domain)
{
    foreign_register(&domain->foreign);
}

void haft_thread_unregister(haft_domain *domain)
{
    assert((!domain->clock->is_foreign || !domain_has_open_jobs(domain)) && "all jobs have ended");
    foreign_unregister(&domain->foreign);
}

void haft_section_begin(haft_domain *domain)
{
    section_count(domain, 1);
    assert(foreign_thread_is_registered(&domain->foreign) && "haft_thread_register comes first");
    foreign_begin(&domain->foreign);
}

void haft_section_end(haft_domain *domain)
{
    section_count(domain, UINT64_MAX);
    foreign_end(&domain->foreign);
}

void haft_thread_offline(haft_domain *domain)
{
    assert(!callback_is_running() && "not offline in a callback: a job may hold pointers");
    if (domain->clock->offline != NULL && !callback_is_running()) {
        domain->clock->offline(domain);
    }
}

void haft_thread_online(haft_domain *domain)
{
    if (domain->clock->online != NULL) {
        domain->clock->online(domain);
    }
}
