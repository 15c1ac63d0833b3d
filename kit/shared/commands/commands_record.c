/* Recording: the calls of a job on its recorder. */
#include "kit/shared/commands/commands_record.h"
#include "kit/local/status/kit_status.h"
#include "kit/shared/commands/state.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <string.h>

void recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count)
{
    recorder->key = key;
    recorder->is_open = true;
    recorder->ids = ids;
    recorder->ids_count = ids_count;
    recorder->created = 0;
    recorder->published = 0;
    recorder->calls = NULL;
    recorder->calls_end = &recorder->calls;
    recorder->destroys = NULL;
    recorder->destroys_last = NULL;
}

haft_status haft_recorder_create(haft_recorder *recorder, haft_id *id, void **object)
{
    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (recorder->created == recorder->ids_count) {
        return kit_status(HAFT_USED_UP);
    }
    *id = recorder->ids[recorder->created++];
    if (object != NULL) {
        *object = slots_object((atomic_u64 *)(uintptr_t)haft_slot_of(recorder->view, *id));
    }
    return HAFT_OK;
}

/* A further piece at the end of the list; NULL if there is no memory. */
static struct destroys *add_piece(haft_recorder *recorder)
{
    struct destroys *piece = haft_arena_new(recorder->arena, struct destroys);

    if (piece == NULL) {
        return NULL;
    }
    piece->next = NULL;
    piece->count = 0;
    if (recorder->destroys == NULL) {
        recorder->destroys = piece;
    } else {
        recorder->destroys_last->next = piece;
    }
    recorder->destroys_last = piece;
    return piece;
}

haft_status haft_recorder_destroy(haft_recorder *recorder, haft_id id)
{
    struct destroys *piece = recorder->destroys_last;

    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (piece == NULL || piece->count == DESTROYS) {
        piece = add_piece(recorder);
    }
    if (piece == NULL) {
        return HAFT_NO_MEMORY;
    }
    piece->ids[piece->count++] = id;
    return HAFT_OK;
}

haft_status haft_recorder_call(haft_recorder *recorder, haft_call *function, const void *payload,
                               size_t size)
{
    size_t bytes;

    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (add_overflows(sizeof(struct call), size, &bytes)) {
        return HAFT_NO_MEMORY;
    }
    struct call *call = haft_arena_alloc(recorder->arena, bytes);

    if (call == NULL) {
        return HAFT_NO_MEMORY;
    }
    call->next = NULL;
    call->function = function;
    if (size != 0) {
        memcpy(call + 1, payload, size);
    }
    *recorder->calls_end = call;
    recorder->calls_end = &call->next;
    return HAFT_OK;
}

haft_commands *haft_recorder_commands(const haft_recorder *recorder)
{
    return recorder->commands;
}

uint64_t haft_recorder_key(const haft_recorder *recorder)
{
    return recorder->key;
}
