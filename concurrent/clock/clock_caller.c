/* The caller clock: driven by the threads that wait. */
#include "concurrent/clock/clock.h"
#include "concurrent/clock/clock_foreign.h"

const struct clock caller_clock = {
    .name = "caller",
    .is_foreign = true,
    .start = foreign_clock_start,
    .stop = foreign_clock_stop,
    .wait_for = foreign_clock_wait_for,
    .join = foreign_clock_join,
    .leave = foreign_clock_leave,
    .quiescent = foreign_clock_quiescent,
    .offline = foreign_clock_offline,
    .online = foreign_clock_online,
    .nesting = foreign_clock_nesting,
    .settle = foreign_clock_settle,
    .in_section = foreign_clock_in_section,
    .advise = foreign_clock_advise,
};
