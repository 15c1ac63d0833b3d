/* Sections and grace periods under the scheduler. */
#include "stress/explorer/foreign.h"
#include "stress/explorer/history.h"
#include "stress/explorer/hooked.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>

/* A thread's section, and the grace period that it waits for. */
struct participant {
    bool is_registered;
    uint32_t depth;    /* of nested sections; 1 while online */
    uint32_t awaited;  /* threads whose sections its grace period waits for, a bit each */
    struct view after; /* what is visible when the grace period has ended */
};

static struct participant participants[MOST_SCHEDULED];
static struct view begun; /* all that was visible at calls of wait() */
static struct view ended; /* all that was visible at ends of sections */
static uint32_t waiting;  /* calls of wait_late() */
static bool has_been_late;

void model_foreign_reset(void)
{
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        participants[i].is_registered = false;
        participants[i].depth = 0;
        participants[i].awaited = 0;
    }
    view_clear(&begun);
    view_clear(&ended);
    waiting = 0;
    has_been_late = false;
}

bool model_has_been_late(void)
{
    return has_been_late;
}

static struct participant *own(void)
{
    return &participants[schedule_self()];
}

static void begin_section(void)
{
    view_join(history_view(schedule_self()), &begun);
    own()->depth = 1;
    has_been_late |= waiting != 0;
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

static bool none_inside(const void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        if (participants[i].depth != 0) {
            return false;
        }
    }
    return true;
}

/* False: broken on purpose, the grace period is over. */
static bool begin_wait(void)
{
    if (own()->depth != 0) {
        violation("a grace period is waited for inside a section");
    }
    schedule_point();
    return broken != BROKEN_GRACE;
}

static void wait_early(void *ctx)
{
    struct participant *self = own();

    (void)ctx;
    if (!begin_wait()) {
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

static void wait_late(void *ctx)
{
    (void)ctx;
    if (!begin_wait()) {
        return;
    }
    waiting++;
    schedule_block(none_inside, NULL);
    waiting--;
    view_join(&begun, history_view(schedule_self()));
    view_join(history_view(schedule_self()), &ended);
}

static bool is_inside(void *ctx)
{
    (void)ctx;
    return own()->depth != 0;
}

/* --- sections from begin to end --- */

static void begin(void *ctx)
{
    (void)ctx;
    schedule_point();
    if (own()->depth != 0) {
        own()->depth++;
    } else {
        begin_section();
    }
}

static void end(void *ctx)
{
    (void)ctx;
    schedule_point();
    if (own()->depth > 1) {
        own()->depth--;
    } else {
        end_section();
    }
}

const haft_foreign_clock model_sections = {
    .ctx = &begun,
    .wait = wait_early,
    .begin = begin,
    .end = end,
    .inside = is_inside,
};

const haft_foreign_clock model_late = {
    .ctx = &ended,
    .wait = wait_late,
    .begin = begin,
    .end = end,
    .inside = is_inside,
};

/* --- online and offline --- */

static void go_online(void *ctx)
{
    (void)ctx;
    schedule_point();
    if (own()->depth != 0) {
        violation("a thread comes online that is");
    }
    begin_section();
}

static void go_offline(void *ctx)
{
    (void)ctx;
    schedule_point();
    if (own()->depth == 0) {
        violation("a thread goes offline that is");
    }
    end_section();
}

static void pass_quiescent_point(void *ctx)
{
    (void)ctx;
    schedule_point();
    end_section();
    begin_section();
}

static void register_thread(void *ctx)
{
    own()->is_registered = true;
    go_online(ctx);
}

static void unregister(void *ctx)
{
    if (is_inside(ctx)) {
        go_offline(ctx);
    }
    own()->is_registered = false;
}

bool model_is_registered(void *ctx)
{
    (void)ctx;
    return own()->is_registered;
}

const haft_foreign_clock model_online = {
    .ctx = &participants,
    .wait = wait_early,
    .register_thread = register_thread,
    .unregister_thread = unregister,
    .online = go_online,
    .offline = go_offline,
    .quiescent = pass_quiescent_point,
    .inside = is_inside,
};
