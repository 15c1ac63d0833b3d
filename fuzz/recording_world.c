/* A world of bodies and joints: its tables, and the commands that change it. */
#include "fuzz/recording.h"
#include "fuzz/target.h"
#include <haft/kit/restore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 4
#define LINKS 3
#define MOST_BROKEN 64

/* A body, whose links are joints; or a joint, whose first two are bodies. */
struct thing {
    uint64_t value;
    haft_id links[LINKS];
};

/* The world that a callback is of: a clone has the callbacks of its original. */
static struct world *playing;

void recording_must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

static void note(struct world *world, uint64_t answer)
{
    world->digest = (world->digest ^ answer) * UINT64_C(0x9E3779B97F4A7C15);
    world->digest ^= world->digest >> 29;
}

/* --- a table of either kind --- */

static struct thing *find(const struct world *world, enum kind kind, haft_id id)
{
    const struct table *table = &world->tables[kind];

    return table->local != NULL ? haft_resolve(haft_local_view(table->local), id)
                                : haft_packed_resolve(haft_packed_view(table->packed), id);
}

static haft_id insert(struct world *world, enum kind kind, const struct thing *thing)
{
    const struct table *table = &world->tables[kind];
    haft_id id = HAFT_NIL;

    note(world, table->local != NULL ? haft_local_insert(table->local, thing, &id)
                                     : haft_packed_insert(table->packed, thing, &id));
    note(world, id.bits);
    if (!haft_id_is_nil(id)) {
        world->mind.known[kind][world->mind.next[kind]++ % KNOWN] = id;
    }
    return id;
}

static void end(struct world *world, enum kind kind, haft_id id)
{
    const struct table *table = &world->tables[kind];

    note(world, table->local != NULL ? haft_local_free(table->local, id)
                                     : haft_packed_free(table->packed, id));
}

/* --- callbacks --- */

/* The joints of a body go with it. */
static void body_ends(void *object, haft_id id, void *arg)
{
    const struct thing *body = object;

    (void)arg;
    note(playing, id.bits ^ body->value);
    for (int i = 0; i < LINKS; i++) {
        if (!haft_id_is_nil(body->links[i])) {
            end(playing, JOINTS, body->links[i]);
        }
    }
}

/* The bodies of a joint forget it; a heavy load takes the first one along. */
static void joint_ends(void *object, haft_id id, void *arg)
{
    const struct thing *joint = object;

    (void)arg;
    note(playing, id.bits ^ joint->value << 1);
    for (int side = 0; side < 2; side++) {
        struct thing *body = find(playing, BODIES, joint->links[side]);

        for (int i = 0; i < LINKS && body != NULL; i++) {
            if (haft_id_equal(body->links[i], id)) {
                body->links[i] = HAFT_NIL;
            }
        }
    }
    if (joint->value % 16 == 15) {
        end(playing, BODIES, joint->links[0]);
    }
}

/* --- opening --- */

static struct table open_table(enum kind kind, uint64_t options)
{
    const haft_layout few = {14, 2, 1, 0};
    const haft_layout many = {16, 16, 1, 0};
    const bool is_fifo = options & 1;
    const uint64_t capacity = options >> 8 & 15 ? 1 + (options >> 12) % 40 : 4000;
    const haft_local_options local = {
        .capacity = capacity,
        .object_size = sizeof(struct thing),
        .layout = options & 4 ? few : many,
        .reuse = is_fifo ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
        .min_free = is_fifo ? (options >> 28) % 8 : 0,
        .wrap = options & 8,
        .on_destroy = kind == BODIES ? body_ends : joint_ends,
    };
    const haft_packed_options packed = {
        .capacity = capacity,
        .object_size = sizeof(struct thing),
        .layout = local.layout,
        .keep_order = is_fifo,
        .on_destroy = local.on_destroy,
    };
    struct table table = {NULL, NULL, NULL};
    const haft_status status = options >> 4 & 1 ? haft_packed_open(&packed, &table.packed)
                                                : haft_local_open(&local, &table.local);

    recording_must(status == HAFT_OK, "a table is opened");
    return table;
}

static void open_tables(struct world *world)
{
    for (int kind = 0; kind < KINDS; kind++) {
        world->tables[kind] = open_table((enum kind)kind, world->options >> 32 * kind);
    }
}

static void close_tables(struct world *world)
{
    playing = world;
    for (int kind = 0; kind < KINDS; kind++) {
        if (world->tables[kind].local != NULL) {
            haft_local_clear(world->tables[kind].local);
        } else {
            haft_packed_clear(world->tables[kind].packed);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (world->tables[kind].local != NULL) {
            haft_local_close(world->tables[kind].local);
        } else {
            haft_packed_close(world->tables[kind].packed);
        }
    }
}

struct world world_open(uint64_t options)
{
    struct world world = {.options = options};

    open_tables(&world);
    for (int kind = 0; kind < KINDS; kind++) {
        recording_must(haft_history_open(&(haft_history_options){.keep = KEEP},
                                         &world.tables[kind].past) == HAFT_OK,
                       "a history");
    }
    return world;
}

void world_close(struct world *world)
{
    close_tables(world);
    for (int kind = 0; kind < KINDS; kind++) {
        haft_history_close(world->tables[kind].past);
    }
}

/* --- commands --- */

static haft_id known(const struct world *world, enum kind kind, uint8_t which)
{
    return world->mind.known[kind][which % KNOWN];
}

static void spawn(struct world *world, const struct command *command)
{
    insert(world, BODIES, &(struct thing){.value = command->x});
}

static haft_id *free_link(struct thing *body)
{
    for (int i = 0; body != NULL && i < LINKS; i++) {
        if (haft_id_is_nil(body->links[i])) {
            return &body->links[i];
        }
    }
    return NULL;
}

static void join(struct world *world, const struct command *command)
{
    const haft_id ids[2] = {known(world, BODIES, command->x), known(world, BODIES, command->y)};
    haft_id *first = free_link(find(world, BODIES, ids[0]));
    haft_id *second = free_link(find(world, BODIES, ids[1]));

    note(world, (uint64_t)(first != NULL) << 1 | (second != NULL));
    if (first != NULL && second != NULL && first != second) {
        *first = insert(world, JOINTS, &(struct thing){command->y, {ids[0], ids[1], HAFT_NIL}});
        *second = *first;
    }
}

static void destroy(struct world *world, const struct command *command)
{
    end(world, BODIES, known(world, BODIES, command->x));
}

static void unjoin(struct world *world, const struct command *command)
{
    end(world, JOINTS, known(world, JOINTS, command->x));
}

/* Each joint's load goes on, in the order in which the table has them: some are too much. */
static void strain(struct world *world, haft_id id, struct thing *joint, haft_id *broken,
                   uint64_t *count)
{
    const struct thing *a = find(world, BODIES, joint->links[0]);
    const struct thing *b = find(world, BODIES, joint->links[1]);

    joint->value =
        (joint->value * 5 + (a != NULL ? a->value : 1) + (b != NULL ? b->value : 2)) & 255;
    note(world, id.bits ^ joint->value);
    if (joint->value > 240 && *count < MOST_BROKEN) {
        broken[(*count)++] = id;
    }
}

static uint64_t strain_all(struct world *world, haft_id *broken)
{
    const struct table *joints = &world->tables[JOINTS];
    uint64_t count = 0;

    if (joints->local != NULL) {
        haft_run run =
            haft_run_over(haft_local_view(joints->local), haft_local_used_range(joints->local));
        haft_id id;
        void *joint;

        while (haft_run_next(&run, &id, &joint)) {
            strain(world, id, joint, broken, &count);
        }
        return count;
    }
    struct thing *all = haft_packed_objects(joints->packed);

    for (uint64_t i = 0; i < haft_packed_count(joints->packed); i++) {
        strain(world, haft_packed_id_in(joints->packed, i), &all[i], broken, &count);
    }
    return count;
}

static void step(struct world *world, const struct command *command)
{
    haft_id broken[MOST_BROKEN];
    const uint64_t count = strain_all(world, broken);

    (void)command;
    for (uint64_t i = 0; i < count; i++) {
        end(world, JOINTS, broken[i]);
        world->mind.breaks++;
    }
}

static int by_value(const void *a, const void *b, void *arg)
{
    const struct thing *x = a;
    const struct thing *y = b;

    (void)arg;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void tidy_packed(struct world *world, enum kind kind, const struct command *command)
{
    haft_packed *packed = world->tables[kind].packed;

    switch (command->y % 4) {
    case 0:
        note(world, haft_packed_sort(packed, by_value, NULL));
        break;
    case 1:
        note(world, haft_packed_swap(packed, known(world, kind, command->x),
                                     known(world, kind, command->y)));
        break;
    case 2:
        note(world, haft_packed_kill(packed, known(world, kind, command->x)));
        break;
    default:
        note(world, haft_packed_refresh(packed));
    }
}

static void tidy_local(struct world *world, enum kind kind, const struct command *command)
{
    haft_local *local = world->tables[kind].local;
    const struct thing thing = {.value = command->x};
    uint64_t released = 0;
    haft_id id = HAFT_NIL;

    switch (command->y % 4) {
    case 0:
        note(world, haft_local_trim(local, &released));
        note(world, released);
        break;
    case 1:
    case 2: /* the next life of some slot, ahead of its turn */
        note(world, haft_local_id_at(local, HAFT_FIRST_INDEX + command->x % 48, &id));
        note(world, haft_local_restore(local, id, &thing));
        note(world, id.bits);
        break;
    default:
        note(world, haft_local_reserve_capacity(local, command->x % 8));
    }
}

static void tidy(struct world *world, const struct command *command)
{
    const enum kind kind = command->x >> 7 ? JOINTS : BODIES;

    if (world->tables[kind].local != NULL) {
        tidy_local(world, kind, command);
    } else {
        tidy_packed(world, kind, command);
    }
}

static void clear(struct world *world, const struct command *command)
{
    const struct table *table = &world->tables[command->x >> 7];

    if (command->y < 16 && table->local != NULL) {
        note(world, haft_local_clear(table->local));
    } else if (command->y < 16) {
        note(world, haft_packed_clear(table->packed));
    }
}

static void count(struct world *world, enum kind kind)
{
    const struct table *table = &world->tables[kind];

    note(world,
         table->local != NULL
             ? haft_local_count(table->local) << 32 ^ haft_local_available(table->local)
             : haft_packed_count(table->packed) << 32 ^ haft_packed_available(table->packed));
}

uint64_t world_play(struct world *world, const struct command *command)
{
    static void (*const commands[16])(struct world * world, const struct command *command) = {
        spawn,   spawn,   spawn,   spawn,  spawn,  join, join, join,
        destroy, destroy, destroy, unjoin, unjoin, step, tidy, clear,
    };

    playing = world;
    world->digest = command->code;
    commands[command->code % 16](world, command);
    count(world, BODIES);
    count(world, JOINTS);
    return world->digest ^ world->mind.breaks;
}

/* --- the state as a whole --- */

uint64_t world_keep(struct world *world)
{
    uint64_t numbers[KINDS];

    for (int kind = 0; kind < KINDS; kind++) {
        const struct table *table = &world->tables[kind];

        recording_must((table->local != NULL
                            ? haft_local_snapshot(table->local, table->past, &numbers[kind])
                            : haft_packed_snapshot(table->packed, table->past, &numbers[kind])) ==
                           HAFT_OK,
                       "a snapshot");
    }
    recording_must(numbers[BODIES] == numbers[JOINTS], "a snapshot's number");
    return numbers[BODIES];
}

void world_go_back(struct world *world, uint64_t number)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct table *table = &world->tables[kind];

        recording_must((table->local != NULL
                            ? haft_local_rewind(table->local, table->past, number)
                            : haft_packed_rewind(table->packed, table->past, number)) == HAFT_OK,
                       "a rewind");
    }
}

static bool put(const void *bytes, size_t size, void *arg)
{
    struct memory_file *memory = arg;

    memory->bytes = realloc(memory->bytes, memory->size + size);
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    struct memory_file *memory = arg;

    if (memory->size - memory->at < size) {
        return false;
    }
    memcpy(bytes, memory->bytes + memory->at, size);
    memory->at += size;
    return true;
}

/* One file after the other. */
void world_save(struct world *world, struct memory_file *memory)
{
    *memory = (struct memory_file){NULL, 0, 0};
    for (int kind = 0; kind < KINDS; kind++) {
        const struct table *table = &world->tables[kind];
        haft_file file = {.write = put, .arg = memory};

        recording_must((table->local != NULL ? haft_local_save(table->local, &file)
                                             : haft_packed_save(table->packed, &file)) == HAFT_OK,
                       "a table is saved");
    }
}

void world_load(struct world *world, struct memory_file *memory)
{
    memory->at = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct table *table = &world->tables[kind];
        haft_file file = {.read = get, .arg = memory};

        recording_must((table->local != NULL ? haft_local_load(table->local, &file)
                                             : haft_packed_load(table->packed, &file)) == HAFT_OK,
                       "a table is loaded");
    }
    recording_must(memory->at == memory->size, "files are read to their end");
}

/* The world has other tables now. */
static void move(struct world *world, struct world other)
{
    for (int kind = 0; kind < KINDS; kind++) {
        other.tables[kind].past = world->tables[kind].past;
    }
    close_tables(world);
    *world = other;
}

void world_move_to_clone(struct world *world)
{
    struct world other = *world;

    for (int kind = 0; kind < KINDS; kind++) {
        const struct table *table = &world->tables[kind];

        recording_must((table->local != NULL
                            ? haft_local_clone(table->local, &other.tables[kind].local)
                            : haft_packed_clone(table->packed, &other.tables[kind].packed)) ==
                           HAFT_OK,
                       "a clone");
    }
    move(world, other);
}

void world_move_to_new(struct world *world)
{
    struct world other = *world;
    struct memory_file memory;

    world_save(world, &memory);
    open_tables(&other);
    world_load(&other, &memory);
    free(memory.bytes);
    move(world, other);
}
