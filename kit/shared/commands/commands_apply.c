/*
 * Apply: recorded commands, carried out on one thread, by key and order of recording.
 *
 * Destructions take two walks.  The first drops ids that are not live: they were stale before any
 * of these destructions.  So an id that fails in the second walk was destroyed by the same apply: a
 * duplicate.  The walks need no memory, so apply cannot fail half way.
 */
#include "kit/shared/commands/commands_apply.h"
#include "concurrent/clock/domain.h"
#include "concurrent/worker/retire.h"
#include "concurrent/worker/worker_list.h"
#include "kit/shared/commands/state.h"
#include "lib/base/os.h"
#include <assert.h>

static void publish_created(haft_recorder *recorder, haft_worker *worker)
{
    while (recorder->published < recorder->created) {
        haft_publish(worker, recorder->ids[recorder->published++]);
    }
}

/* Calls that calls record come behind the others; objects that calls create are live at once. */
static void make_calls(haft_recorder *recorder, haft_commands *commands, haft_applied *applied)
{
    commands->calling = recorder;
    for (struct call *call = recorder->calls; call != NULL; call = call->next) {
        call->function(recorder, call + 1);
        publish_created(recorder, commands->worker);
        applied->calls++;
    }
    commands->calling = NULL;
}

/* As a refused free: a duplicate is one, too. */
static void count_not_live(haft_worker *worker, haft_id id, haft_applied *applied)
{
    const haft_status status = haft_diagnose(worker->table, id);
    const bool was_freed = status == HAFT_STALE || status == HAFT_EXHAUSTED;

    applied->stale += was_freed;
    applied->refused += !was_freed;
    count_up(&worker->counters.refused_frees, 1);
}

/* The first walk: ids that are not live become nil. */
static void drop_not_live(const haft_recorder *recorder, haft_worker *worker, haft_applied *applied)
{
    for (struct destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (!haft_is_live(recorder->view, piece->ids[i])) {
                count_not_live(worker, piece->ids[i], applied);
                piece->ids[i] = HAFT_NIL;
            }
        }
    }
}

/* The second walk. */
static void destroy_live(const haft_recorder *recorder, haft_worker *worker, const void *caller,
                         haft_applied *applied)
{
    for (const struct destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (haft_id_is_nil(piece->ids[i])) {
                continue;
            }
            if (worker_free(worker, piece->ids[i], caller) == HAFT_OK) {
                applied->destroyed++;
            } else {
                applied->duplicates++;
            }
        }
    }
}

static void carry_out(haft_commands *commands, const void *caller, haft_applied *applied)
{
    haft_recorder **recorders = commands->recorders;
    const size_t open = commands->open;

    for (size_t i = 0; i < open; i++) {
        publish_created(recorders[i], commands->worker);
    }
    for (size_t i = 0; i < open; i++) {
        make_calls(recorders[i], commands, applied);
    }
    for (size_t i = 0; i < open; i++) {
        drop_not_live(recorders[i], commands->worker, applied);
    }
    for (size_t i = 0; i < open; i++) {
        destroy_live(recorders[i], commands->worker, caller, applied);
    }
}

uint64_t commands_give_up(haft_commands *commands, const void *caller)
{
    uint64_t given_up = commands->reserved_count;

    for (size_t i = 0; i < commands->open; i++) {
        haft_recorder *recorder = commands->recorders[i];

        for (uint64_t unused = recorder->published; unused < recorder->ids_count; unused++) {
            worker_abort(commands->worker, recorder->ids[unused], caller);
        }
        given_up += recorder->ids_count - recorder->published;
        recorder->is_open = false;
    }
    for (size_t i = 0; i < commands->reserved_count; i++) {
        worker_abort(commands->worker, commands->reserved[commands->reserved_from + i], caller);
    }
    commands->open = 0;
    commands->reserved_from = 0;
    commands->reserved_count = 0;
    return given_up;
}

/* The memory of recorders that have been given up, for the next ones. */
static void reset_arenas(haft_commands *commands)
{
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_reset(commands->recorders[i]->arena);
    }
    haft_arena_reset(commands->arena);
}

haft_status haft_commands_apply(haft_commands *commands, haft_applied *applied)
{
    haft_applied counted = {0};

    const haft_status status = domain_check_moment(commands->table->domain);

    if (status != HAFT_OK) {
        return status; /* on_reclaim may ask while the set is applied */
    }
    assert(!commands->applying && "a command's call may not apply");
    const int cancel = os_cancel_off();

    worker_change_thread(commands->worker); /* the set may come from another thread */
    commands->applying = true;
    carry_out(commands, CALLER, &counted);
    for (size_t i = 0; i < commands->open; i++) {
        counted.created += commands->recorders[i]->published;
    }
    counted.unused = commands_give_up(commands, CALLER);
    retire_open(commands->worker);
    haft_worker_quiescent(commands->worker); /* its on_reclaim may look at payloads */
    reset_arenas(commands);
    commands->applying = false;
    os_cancel_restore(cancel);
    if (applied != NULL) {
        *applied = counted;
    }
    return HAFT_OK;
}
