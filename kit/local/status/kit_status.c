/* The kit's statuses in words. */
#include "kit/local/status/kit_status.h"
#include "lib/base/status.h"
#include <assert.h>

static const struct status_words kit_words[] = {
    {"HAFT_DEAD", "the object has been killed and waits for the refresh"},
    {"HAFT_NO_FILE", "the system did not take the file"},
    {"HAFT_USED_UP", "the recorder has created as many objects as it was opened for"},
    {"HAFT_SAME_KEY", "another recorder of the frame has the key"},
    {"HAFT_OCCUPIED", "the id's slot holds an object, a reservation or a value"},
    {"HAFT_DAMAGED", "the file is no saved table, is cut off or has been changed"},
    {"HAFT_OTHER_TABLE", "the state is that of a table that was opened with other options"},
    {"HAFT_BAD_BLOCK_SIZE", "block_size: at most 2^30 bytes"},
    {"HAFT_BAD_MAX_BLOCK_SIZE", "max_block_size: from block_size to 2^30 bytes"},
    {"HAFT_BAD_BUFFER_SIZE", "buffer_size: with a buffer at least HAFT_ARENA_OVERHEAD bytes, "
                             "without one 0"},
    {"HAFT_BAD_DIRECTORY", "directory: one that exists and that this process may write to"},
    {"HAFT_BAD_INTERVAL_MS", "interval_ms: 10 to 3600000, or 0 for 1000"},
    {"HAFT_BAD_VALUE_SIZE", "value_size: at most 2^30 bytes"},
    {"HAFT_BAD_VALUE_ALIGNMENT", "value_alignment: a power of two, at most 4096"},
    {"HAFT_BAD_ON_END", "on_end: only sides of local tables have one"},
    {"HAFT_BAD_KEEP", "keep: 1 or more snapshots"},
};

static const struct status_list kit_statuses = {HAFT_KIT_100,
                                                sizeof kit_words / sizeof kit_words[0], kit_words};

haft_status kit_status(haft_status status)
{
    assert(status >= HAFT_KIT_100 && status <= HAFT_KIT_115);
    status_list_add(&kit_statuses);
    return status;
}
