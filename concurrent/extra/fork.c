/*
 * Fork: a child goes on with its parent's tables.
 *
 * The thread that forks has the lock of the lists of tables, domains and implicit workers, so these
 * are whole in the child.  Each clock forgets the other threads in its own way; each table collects
 * the slots that they have left (orphans.c).
 */
#include "concurrent/clock/domain.h"
#include "lib/base/compiler.h"
#include <haft/threads.h>

#include "concurrent/clock/callback.h"
#include "concurrent/clock/clock.h"
#include "concurrent/clock/registry.h"
#include "concurrent/extra/implicit.h"
#include "concurrent/extra/orphans.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/tables.h"
#include <assert.h>

static THREAD_LOCAL unsigned depth;

void haft_before_fork(void)
{
    if (depth++ == 0) {
        registry_lock();
    }
}

void haft_after_fork_parent(void)
{
    if (--depth == 0) {
        registry_unlock();
    }
}

/* A worker that may go from thread to thread names the last: now the one that is left. */
static void take_over_sets(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (worker_state(worker) == WORKER_OPEN && worker->is_movable) {
            roster_hand_over(worker);
        }
    }
}

/* Only the frame clock lets a set change threads, and domain_after_fork() may replace another clock
 * by that one: so this comes first. */
static void take_over_all_sets(void)
{
    for (const haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        if (!table->is_closing && table->domain->clock == &frame_clock) {
            take_over_sets(table);
        }
    }
}

void haft_after_fork_child(void)
{
    if (--depth != 0) {
        return;
    }
    take_over_all_sets();
    for (haft_domain *domain = first_open_domain(); domain != NULL; domain = domain->next_open) {
        domain_after_fork(domain);
    }
    assert(!callback_is_running()); /* it may have slots in hand, which would be found twice */
    for (haft_table *table = first_open_table(), *next; table != NULL && !callback_is_running();
         table = next) {
        next = table->next_open;
        if (table->is_closing) {
            tables_remove(table); /* by a thread that is gone */
            continue;
        }
        orphans_collect(table);
        if (table->attached_after_fork != NULL) {
            table->attached_after_fork(&table->attached);
        }
    }
    implicit_after_fork();
    registry_unlock();
}
