/*
 * Sections and grace periods under the scheduler.  The second flavour takes the name of
 * liburcu's qsbr, which the library knows by its address; the program does not link liburcu.
 */
#include "stress/explorer/flavour.h"
#include "stress/explorer/history.h"
#include "stress/explorer/hooked.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>
#include <urcu/flavor.h>

extern const struct rcu_flavor_struct urcu_qsbr_flavor;

/* A thread's section, and the grace period that it waits for. */
struct participant {
    uint32_t depth;    /* of nested sections; qsbr: 1 while online */
    uint32_t awaited;  /* threads whose sections its grace period waits for, a bit each */
    struct view after; /* what is visible when the grace period has ended */
};

static struct participant participants[MOST_SCHEDULED];
static struct view begun; /* what was visible where grace periods began */
static struct view ended; /* what was visible where sections ended */

void model_flavour_reset(void)
{
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        participants[i].depth = 0;
        participants[i].awaited = 0;
    }
    view_clear(&begun);
    view_clear(&ended);
}

static struct participant *own(void)
{
    return &participants[schedule_self()];
}

static void begin_section(void)
{
    view_join(history_view(schedule_self()), &begun);
    own()->depth = 1;
}

static void end_section(void)
{
    const struct view *view = history_view(schedule_self());
    const uint32_t bit = UINT32_C(1) << schedule_self();

    own()->depth = 0;
    view_join(&ended, view);
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        if ((participants[i].awaited & bit) != 0) {
            participants[i].awaited &= ~bit;
            view_join(&participants[i].after, view);
        }
    }
}

static bool nothing_awaited(const void *participant)
{
    return ((const struct participant *)participant)->awaited == 0;
}

static void synchronize(void)
{
    struct participant *self = own();

    if (self->depth != 0) {
        violation("a grace period is waited for inside a section");
    }
    schedule_point();
    if (broken == BROKEN_GRACE) {
        return;
    }
    view_join(&begun, history_view(schedule_self()));
    view_clear(&self->after);
    view_join(&self->after, &ended);
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        if (participants[i].depth != 0) {
            self->awaited |= UINT32_C(1) << i;
        }
    }
    schedule_block(nothing_awaited, self);
    view_join(history_view(schedule_self()), &self->after);
}

static int is_inside(void)
{
    return own()->depth != 0;
}

static void nothing(void)
{
}

/* --- as memb --- */

static void lock(void)
{
    schedule_point();
    if (own()->depth != 0) {
        own()->depth++;
    } else {
        begin_section();
    }
}

static void unlock(void)
{
    schedule_point();
    if (own()->depth > 1) {
        own()->depth--;
    } else {
        end_section();
    }
}

const struct rcu_flavor_struct model_flavour = {
    .read_lock = lock,
    .read_unlock = unlock,
    .read_ongoing = is_inside,
    .read_quiescent_state = nothing,
    .update_synchronize_rcu = synchronize,
    .thread_offline = nothing,
    .thread_online = nothing,
    .register_thread = nothing,
    .unregister_thread = nothing,
};

/* --- as qsbr --- */

static void go_online(void)
{
    schedule_point();
    begin_section();
}

static void go_offline(void)
{
    schedule_point();
    end_section();
}

static void pass_quiescent_state(void)
{
    schedule_point();
    end_section();
    begin_section();
}

const struct rcu_flavor_struct urcu_qsbr_flavor = {
    .read_lock = nothing,
    .read_unlock = nothing,
    .read_ongoing = is_inside,
    .read_quiescent_state = pass_quiescent_state,
    .update_synchronize_rcu = synchronize,
    .thread_offline = go_offline,
    .thread_online = go_online,
    .register_thread = go_online,
    .unregister_thread = go_offline,
};
