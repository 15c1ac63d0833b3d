/*
 * kit/shared/commands/commands_record.h - the recorder of one job.
 */
#ifndef HAFT_CONCURRENT_COMMANDS_RECORD_H
#define HAFT_CONCURRENT_COMMANDS_RECORD_H

#include "kit/shared/commands/state.h"

/* Makes the recorder ready for a frame, with nothing recorded. */
void recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count);

#endif /* HAFT_CONCURRENT_COMMANDS_RECORD_H */
