/*
 * kit/shared/commands/commands_apply.h - the end of a frame.
 */
#ifndef HAFT_CONCURRENT_COMMANDS_APPLY_H
#define HAFT_CONCURRENT_COMMANDS_APPLY_H

#include "kit/shared/commands/state.h"

/* All recorders end, and drop what they have recorded; how many reservations were given up. */
uint64_t commands_give_up(haft_commands *commands, const void *caller);

#endif /* HAFT_CONCURRENT_COMMANDS_APPLY_H */
