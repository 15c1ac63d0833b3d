/*
 * Command sets: opening, recorders, reservations.
 *
 * Recorders stand in order of their keys from the moment they are opened, so a second recorder
 * with the same key is refused at once, and apply has nothing to sort.
 */
#include "concurrent/clock/callback.h"
#include "concurrent/worker/allocate.h"
#include "concurrent/worker/worker_list.h"
#include "kit/local/status/kit_status.h"
#include "kit/shared/commands/commands_apply.h"
#include "kit/shared/commands/commands_record.h"
#include "kit/shared/commands/state.h"
#include "lib/base/sized.h"
#include <assert.h>
#include <string.h>

#define BLOCK_SIZE 4096
#define ROOM_LEAST 16

/* --- memory --- */

/*
 * `array` with room for `wanted` elements of `size` bytes, moved if need be, and how many fit in
 * `*room`.  NULL, and nothing has changed, if there is no memory.
 */
static void *with_room(const haft_allocator *from, void *array, size_t *room, size_t wanted,
                       size_t size)
{
    size_t grown = *room != 0 ? *room : ROOM_LEAST;

    if (wanted <= *room) {
        return array;
    }
    while (grown < wanted) {
        grown *= 2;
    }
    void *moved = from->resize(from->context, array, *room * size, grown * size, sizeof(void *));

    if (moved != NULL) {
        *room = grown;
    }
    return moved;
}

static haft_status open_arena(const haft_commands *commands, haft_arena **arena)
{
    const haft_arena_options options = {
        .block_size = commands->block_size,
        .allocator = &commands->allocator,
    };
    return haft_arena_open(&options, arena);
}

/* --- the set --- */

static haft_status open_commands(haft_table *table, const haft_commands_options *with,
                                 haft_commands **commands)
{
    const haft_allocator allocator =
        with->allocator != NULL ? *with->allocator : haft_allocator_malloc();
    haft_commands *opened =
        allocator.alloc(allocator.context, sizeof *opened, _Alignof(haft_commands));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = (haft_commands){
        .table = table,
        .allocator = allocator,
        .block_size = with->block_size != 0 ? with->block_size : BLOCK_SIZE,
    };
    haft_status status = open_arena(opened, &opened->arena);

    if (status == HAFT_OK) {
        status = haft_worker_open(table, &opened->worker);
        if (status != HAFT_OK) {
            haft_arena_close(opened->arena);
        }
    }
    if (status != HAFT_OK) {
        allocator.free(allocator.context, opened, sizeof *opened);
        return status;
    }
    opened->worker->is_movable = true;
    *commands = opened;
    return HAFT_OK;
}

haft_status haft_commands_open_sized(haft_table *table, const haft_commands_options *options,
                                     size_t size, haft_commands **commands)
{
    haft_commands_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_commands(table, &known, commands) : status;
}

void haft_commands_close(haft_commands *commands)
{
    const haft_allocator from = commands->allocator;

    assert(!callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    worker_change_thread(commands->worker); /* the set may come from another thread */
    commands_give_up(commands, CALLER);
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_close(commands->recorders[i]->arena);
        from.free(from.context, commands->recorders[i], sizeof(haft_recorder));
    }
    commands->worker->is_movable = false;
    haft_worker_close(commands->worker);
    haft_arena_close(commands->arena);
    from.free(from.context, commands->recorders, commands->room * sizeof *commands->recorders);
    from.free(from.context, commands->reserved,
              commands->reserved_room * sizeof *commands->reserved);
    from.free(from.context, commands, sizeof *commands);
}

haft_worker *haft_commands_worker(const haft_commands *commands)
{
    return commands->worker;
}

haft_table *haft_commands_table(const haft_commands *commands)
{
    return commands->table;
}

/* --- recorders --- */

/* The first place whose recorder has no lower key. */
static size_t find_place(const haft_commands *commands, uint64_t key)
{
    size_t low = 0;
    size_t high = commands->open;

    if (high != 0 && commands->recorders[high - 1]->key < key) {
        return high; /* in ascending order */
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (commands->recorders[middle]->key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* One more recorder behind those there are. */
static haft_status make_recorder(haft_commands *commands)
{
    const haft_allocator *from = &commands->allocator;
    haft_recorder **recorders = with_room(from, commands->recorders, &commands->room,
                                          commands->made + 1, sizeof *commands->recorders);

    if (recorders == NULL) {
        return HAFT_NO_MEMORY;
    }
    commands->recorders = recorders;
    haft_recorder *recorder = from->alloc(from->context, sizeof *recorder, _Alignof(haft_recorder));

    if (recorder == NULL) {
        return HAFT_NO_MEMORY;
    }
    *recorder = (haft_recorder){.commands = commands, .view = haft_table_view(commands->table)};
    const haft_status status = open_arena(commands, &recorder->arena);

    if (status != HAFT_OK) {
        from->free(from->context, recorder, sizeof *recorder);
        return status;
    }
    commands->recorders[commands->made++] = recorder;
    return HAFT_OK;
}

/* Those that a refused recorder left are born where the next one is opened. */
static void note_births(const haft_commands *commands, size_t count, const void *caller)
{
    const struct slots *slots = &commands->table->slots;

    for (size_t i = 0; i < commands->reserved_count && i < count; i++) {
        const haft_id id = commands->reserved[commands->reserved_from + i];

        sites_note_birth(&slots->sites, word_index(&slots->format, id.bits), caller);
    }
}

/* Reservations begin where their memory does. */
static void move_reserved(haft_commands *commands)
{
    if (commands->reserved_from != 0) {
        memmove(commands->reserved, commands->reserved + commands->reserved_from,
                commands->reserved_count * sizeof *commands->reserved);
        commands->reserved_from = 0;
    }
}

/* Reserve until there are `count` reservations; those there are stay if this fails. */
static haft_status reserve_ids(haft_commands *commands, size_t count, const void *caller)
{
    note_births(commands, count, caller);
    if (commands->reserved_count < count) {
        move_reserved(commands);
        haft_id *ids = with_room(&commands->allocator, commands->reserved, &commands->reserved_room,
                                 count, sizeof *commands->reserved);

        if (ids == NULL) {
            return HAFT_NO_MEMORY;
        }
        commands->reserved = ids;
    }
    while (commands->reserved_count < count) {
        haft_id *id = &commands->reserved[commands->reserved_count];
        const haft_status status = worker_reserve(commands->worker, id, NULL, caller);

        if (status != HAFT_OK) {
            return status;
        }
        commands->reserved_count++;
    }
    return HAFT_OK;
}

/* The oldest `count` reservations, which there are, as a recorder's; NULL: no memory. */
static haft_id *take_reserved(haft_commands *commands, size_t count)
{
    haft_id *ids = haft_arena_new_array(commands->arena, haft_id, count);

    if (ids != NULL && count != 0) {
        memcpy(ids, commands->reserved + commands->reserved_from, count * sizeof *ids);
        commands->reserved_from += count;
        commands->reserved_count -= count;
    }
    return ids;
}

haft_status haft_recorder_open(haft_commands *commands, uint64_t key, uint64_t max_creates,
                               haft_recorder **recorder)
{
    const size_t place = find_place(commands, key);

    assert(!callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    worker_change_thread(commands->worker); /* the set may come from another thread */
    if (place < commands->open && commands->recorders[place]->key == key) {
        return kit_status(HAFT_SAME_KEY);
    }
    haft_status status = commands->open < commands->made ? HAFT_OK : make_recorder(commands);

    if (status == HAFT_OK) {
        status = max_creates > commands->table->slots.limit
                     ? HAFT_FULL
                     : reserve_ids(commands, (size_t)max_creates, CALLER);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_id *ids = take_reserved(commands, (size_t)max_creates);

    if (ids == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft_recorder **at = &commands->recorders[place];
    haft_recorder *opened = commands->recorders[commands->open];

    memmove(at + 1, at, (commands->open - place) * sizeof *at);
    *at = opened;
    commands->open++;
    recorder_begin(opened, key, ids, max_creates);
    *recorder = opened;
    return HAFT_OK;
}
