/* Statuses of the shared table, in words. */
#include "concurrent/clock/clock.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/stall.h"
#include "concurrent/table/close.h"
#include "concurrent/worker/state.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/os.h"
#include "lib/slots/explain.h"
#include "lib/slots/sites_text.h"
#include <haft/diagnose.h>
#include <inttypes.h>

/* The reason why slots still wait for a grace period. */
static void add_wait(struct text *text, haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited_ns = domain_waited_ns(domain, &ticket);
    haft_stall stall = {.domain = NULL};

    if (domain->clock == &frame_clock) {
        text_add(text, ": the next haft_domain_tick()");
        return;
    }
    if (waited_ns == 0) {
        return;
    }
    text_add(text, ", which has lasted ");
    text_add_time(text, waited_ns);
    domain_blame(domain, &stall);
    if (stall.worker != NULL && stall.thread == os_thread_number()) {
        text_add(text, "; this thread holds it up until its next quiescent point");
    } else if (stall.worker != NULL) {
        text_add(text, "; worker %p of thread %" PRIu64 " holds it up", (void *)stall.worker,
                 stall.thread);
    }
}

static void add_busy(struct text *text, const haft_table *table, const haft_table_stats *stats)
{
    text_add(text, "busy: ");
    if (stats->retired == 0) {
        text_add(text, "free slots are on their way between workers");
        return;
    }
    text_add_counted(text, stats->retired, "slot");
    text_add(text, " %s for ", stats->retired == 1 ? "waits" : "wait");
    text_add(text, table->slots.has_pins ? "pins to go, or for " : "");
    text_add(text, "a grace period");
    add_wait(text, table->domain);
    if (table->waiting_bytes != 0) {
        text_add(text, "; waiting_bytes allows %" PRIu64, table->waiting_slots);
    }
}

static void add_full(struct text *text, const haft_table *table, const haft_table_stats *stats)
{
    const struct use use = {stats->live, stats->reserved, stats->exhausted};

    explain_full(text, table->capacity, &use);
    if (stats->live + stats->reserved + stats->exhausted < table->capacity) {
        text_add(text, "; other workers may hold the rest back");
    }
}

/* What keeps the table from being closed; whether an object is pinned, only a walk would tell. */
static void add_in_use(struct text *text, const haft_table *table)
{
    const uint64_t workers = worker_list_open(table);
    const bool sides = table_has_attached(table);

    text_add(text, "in use: ");
    if (workers != 0) {
        text_add_counted(text, workers, "worker");
        text_add(text, " open%s", sides ? ", and sides" : "");
    } else if (sides) {
        text_add(text, "sides open");
    } else {
        text_add(text, table->slots.has_pins ? "objects pinned, or " : "");
        text_add(text, "a call under way");
    }
}

int haft_table_explain(const haft_table *table, haft_status status, char *line, size_t size)
{
    const haft_table_stats stats = haft_table_stats_get(table);
    struct text text = text_in(line, size);

    text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        add_full(&text, table, &stats);
    } else if (status == HAFT_BUSY) {
        add_busy(&text, table, &stats);
    } else if (status == HAFT_IN_USE) {
        add_in_use(&text, table);
    } else if (status == HAFT_NO_MEMORY) {
        explain_no_memory(&text, &table->slots, stats.high_water);
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size)
{
    return sites_describe(&table->slots, table->name, id, haft_diagnose(table, id), text, size);
}
