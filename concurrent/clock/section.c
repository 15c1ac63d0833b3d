/* Read sections of the domain's flavour; without a flavour they last from announcement to
 * announcement, and begin and end do nothing. */
#include "concurrent/clock/section.h"
#include "concurrent/clock/callback.h"
#include "concurrent/clock/rcu.h"
#include <assert.h>
#include <haft/domain.h>
#include <stddef.h>

void haft_thread_register(haft_domain *domain)
{
    if (domain->flavour != NULL) {
        rcu_register(domain->flavour);
    }
}

void haft_thread_unregister(haft_domain *domain)
{
    if (domain->flavour != NULL) {
        assert(domain->clock->standing(domain, false)->open == 0); /* a job has not ended */
        rcu_unregister(domain->flavour);
    }
}

void haft_section_begin(haft_domain *domain)
{
    section_count(domain, 1);
    if (domain->flavour != NULL) {
        assert(rcu_is_registered(domain->flavour)); /* the thread: see haft_thread_register() */
        rcu_section_begin(domain->flavour);
    }
}

void haft_section_end(haft_domain *domain)
{
    section_count(domain, UINT64_MAX);
    if (domain->flavour != NULL) {
        rcu_section_end(domain->flavour);
    }
}

void haft_thread_offline(haft_domain *domain)
{
    assert(!callback_is_running()); /* a job may hold pointers, far above the callback */
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
