/*
 * The table's command set: one thread opens it, any threads record, it applies.
 *
 * A thread takes the set, or a recorder, for each call: the program's synchronisation that
 * haft/kit/commands.h asks for.  With the frame clock the set is of the thread that opened, or
 * applied, by it last.
 *
 * The call that is recorded last comes between all other calls and the destructions: there the
 * model does what the library is about to do, and says what haft_commands_apply() must answer.
 * Threads at once may free meanwhile what is to be destroyed.  Such objects are doomed: the model
 * looks at them when all threads stand still, and the numbers of those that ended must agree.
 */
#include "stress/combinations/sets.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/lives.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/refused.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"

enum { FREE, READY, TAKEN }; /* a recording */

/* What haft_recorder_call() copies. */
struct payload {
    struct recording *recording;
    struct step step;
    uint32_t number; /* of the recorder's calls */
};

static struct set *const set = &play.set;

/* --- taking --- */

/* A set is TAKEN or READY, and a thread's; 0: there is none. */
static uint32_t set_of(const struct thread *thread, uint32_t state)
{
    return (thread->number + 1) << 2 | state;
}

static bool turn(_Atomic(uint32_t) *state, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(state, &from, to);
}

/* Threads that take turns are one. */
static bool may_take_set(const struct thread *thread, uint32_t state)
{
    return (state & 3) == READY &&
           (state == set_of(thread, READY) || !play.at_once || is_clock(PLAN_FRAME));
}

bool take_set(const struct thread *thread)
{
    const uint32_t state = atomic_load(&set->state);

    if (!may_take_set(thread, state) || !turn(&set->state, state, set_of(thread, TAKEN))) {
        return false;
    }
    set->before = state;
    return true;
}

/* By haft_recorder_open() or haft_commands_apply(): the set's worker is the thread's. */
static void note_handed_on(const struct thread *thread)
{
    set->before = set_of(thread, READY);
}

bool applies_set(const struct thread *thread)
{
    return atomic_load(&set->applying) != 0 && atomic_load(&set->state) == set_of(thread, TAKEN);
}

void give_set_back(void)
{
    atomic_store(&set->state, set->before);
}

/* One that is open, from that place on; NULL: none. */
static struct recording *take_recording(uint32_t at)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        struct recording *recording = &set->recordings[(at + i) % MOST_RECORDERS];

        if (turn(&recording->state, READY, TAKEN)) {
            return recording;
        }
    }
    return NULL;
}

static void give_back(struct recording *recording)
{
    atomic_store(&recording->state, READY);
}

static void give_all_back(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        turn(&set->recordings[i].state, TAKEN, READY);
    }
}

/* The set and all its recorders; or none, as another thread has one. */
static bool take_whole(const struct thread *thread)
{
    if (!take_set(thread)) {
        return false;
    }
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        struct recording *recording = &set->recordings[i];

        if (atomic_load(&recording->state) != FREE && !turn(&recording->state, READY, TAKEN)) {
            give_all_back(i);
            give_set_back();
            return false;
        }
    }
    return true;
}

/* All recorders have ended. */
static void free_all(void)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        atomic_store(&set->recordings[i].state, FREE);
    }
    set->last = NULL;
    set->is_last_recorded = false;
    atomic_store(&set->recorders, 0);
}

static bool owns_set(const struct thread *thread)
{
    const uint32_t state = atomic_load(&set->state);

    return play.at_once ? state == set_of(thread, READY) : (state & 3) == READY;
}

haft_worker *worker_of_set(const struct thread *thread)
{
    return owns_set(thread) ? haft_commands_worker(set->commands) : NULL;
}

/* --- opening --- */

void step_commands_open(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    const haft_commands_options options = {.block_size = step->at % 2 == 0 ? 0 : 256,
                                           .allocator = heap_of_plan()};

    if (in_callback(thread) || !turn(&set->state, 0, set_of(thread, TAKEN))) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_COMMANDS_OPEN, HAFT_NIL);
    const haft_status status = haft_commands_open(play.table, &options, &set->commands);

    end_call(outer);
    if (is_done(status, "haft_commands_open")) {
        note_handed_on(thread);
        set->lift = note_worker_opened(thread->seat);
        give_set_back();
    } else {
        set->commands = NULL;
        atomic_store(&set->state, 0);
    }
}

static struct recording *find_key(uint64_t key)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        struct recording *recording = &set->recordings[i];

        if (atomic_load(&recording->state) != FREE && recording->key == key) {
            return recording;
        }
    }
    return NULL;
}

static struct recording *find_free(void)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        if (atomic_load(&set->recordings[i].state) == FREE) {
            return &set->recordings[i];
        }
    }
    return NULL;
}

/* As many reservations as need be, by the set's worker, which is the thread's from then on; what
 * could be had stays for the next recorder. */
static haft_status open_recorder(uint64_t key, uint64_t creations, haft_recorder **recorder)
{
    const uint32_t before = capacity_in_use();
    const uint64_t kept = shim_reserved(set->commands);
    const uint64_t callbacks = word_in(&play.callbacks);
    const haft_status status = haft_recorder_open(set->commands, key, creations, recorder);
    const uint64_t taken = status == HAFT_OK ? creations : 0;
    const uint64_t made = shim_reserved(set->commands) + taken - kept;

    count(&play.reserved, (int)made);
    model_most_used();
    if (status == HAFT_SAME_KEY || (status == HAFT_OK && made == 0)) {
        return status;
    }
    check_insertion(status, false, before + (uint32_t)made - (status == HAFT_OK), callbacks);
    return status;
}

static void begin_recording(struct recording *recording, uint64_t key, uint64_t creations)
{
    recording->key = key;
    recording->unused = creations;
    recording->created_count = recording->destroyed_count = 0;
    recording->calls = recording->call = 0;
    atomic_fetch_add(&set->recorders, 1);
    give_back(recording);
}

void step_recorder_open(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    const uint64_t creations = (step->at + step->count) % 4;

    if (in_callback(thread) || !take_set(thread)) {
        return;
    }
    struct recording *recording = find_free();
    const bool has_key = find_key(step->at) != NULL;

    if (recording != NULL) {
        const struct call_under_way outer = begin_call(CALL_RECORDER_OPEN, HAFT_NIL);
        const haft_status status = open_recorder(step->at, creations, &recording->recorder);

        end_call(outer);
        note_handed_on(thread);
        require_that(has_key == (status == HAFT_SAME_KEY), "the key of a recorder");
        if (status == HAFT_OK) {
            begin_recording(recording, step->at, creations);
        }
    }
    give_set_back();
}

/* --- recording --- */

/* False: there is no register, or the recorder is used up. */
static bool record_create(struct recording *recording, uint32_t at)
{
    struct reg *reg = recording->created_count < MOST_RECORDED ? claim_register(at) : NULL;
    haft_id id = HAFT_NIL;
    void *object = NULL;

    if (reg == NULL) {
        return false;
    }
    const struct call_under_way outer = begin_call(CALL_RECORD_CREATE, HAFT_NIL);
    const haft_status status = haft_recorder_create(recording->recorder, &id, &object);

    end_call(outer);
    expect(status, recording->unused != 0 ? HAFT_OK : HAFT_USED_UP, "haft_recorder_create");
    if (status != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    recording->unused--;
    model_stamp(reg, object);
    model_issued(reg, id, REGISTER_RECORDED);
    recording->created[recording->created_count++] = reg;
    return true;
}

/* Whether the id cannot be another thread's to change meanwhile. */
static bool may_be_destroyed(const struct reg *reg, haft_id id)
{
    const uint32_t state = count_in(&reg->state);

    if (state == REGISTER_LIVE || !play.at_once) {
        return true; /* live objects have many that free them */
    }
    return state == REGISTER_ENDED && count_in(&play.ids_repeat) == 0 && id.bits != 0;
}

/* A live object, or whatever the register has. */
static void record_destroy(struct recording *recording, uint32_t at)
{
    struct reg *reg = at % 3 != 0 ? find_register(at, REGISTER_LIVE) : NULL;

    reg = reg != NULL ? reg : &play.registers[at % play.register_count];
    const haft_id id = id_in(reg);

    if (recording->destroyed_count == MOST_RECORDED || !may_be_destroyed(reg, id)) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_RECORD_DESTROY, id);
    const haft_status status = haft_recorder_destroy(recording->recorder, id);

    end_call(outer);
    if (is_done(status, "haft_recorder_destroy")) {
        recording->destroyed[recording->destroyed_count++] =
            (struct recorded){.reg = reg, .id = id};
    }
}

static haft_call make_call;

static void record_call(struct recording *recording, const struct step *step)
{
    const struct payload payload = {recording, *step, recording->calls};
    const struct call_under_way outer = begin_call(CALL_RECORD_CALL, HAFT_NIL);
    const haft_status status =
        haft_recorder_call(recording->recorder, make_call, &payload, sizeof payload);

    end_call(outer);
    recording->calls += is_done(status, "haft_recorder_call");
}

static void record(const struct thread *thread, const struct step *step)
{
    struct recording *recording = in_callback(thread) ? NULL : take_recording(step->at);

    if (recording == NULL) {
        return;
    }
    for (uint32_t i = 0; i < step->count && i < 8; i++) {
        if (step->call == CALL_RECORD_DESTROY) {
            record_destroy(recording, step->at + i / 2); /* some of them twice */
        } else if (step->call == CALL_RECORD_CALL) {
            record_call(recording, step);
        } else if (!record_create(recording, step->at + i)) {
            break;
        }
    }
    give_back(recording);
}

void step_record_create(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    record(thread, step);
}

void step_record_destroy(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    record(thread, step);
}

void step_record_call(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    record(thread, step);
}

/* --- what apply does, as the model has it --- */

static bool is_taken(const struct recording *recording)
{
    return atomic_load(&recording->state) == TAKEN;
}

/* Also those that a call has created, once it has returned. */
static void publish_recorded(void)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        struct recording *recording = &set->recordings[i];

        for (uint32_t j = 0; is_taken(recording) && j < recording->created_count; j++) {
            if (count_in(&recording->created[j]->state) == REGISTER_RECORDED) {
                model_published(recording->created[j]);
            }
        }
        if (is_taken(recording)) {
            set->applied.created += recording->created_count;
            recording->created_count = 0;
        }
    }
}

/* By key, and in order of recording. */
static void check_order(const haft_recorder *recorder, const struct payload *payload)
{
    const uint64_t key = haft_recorder_key(recorder);

    require_that(set->key <= key && payload->recording->key == key, "the order of recorders");
    require_that(payload->number == payload->recording->call++, "the order of calls");
    set->key = key;
}

/* What it may do: record with its recorder, and use the set's worker. */
static void make_call(haft_recorder *recorder, void *arg)
{
    const struct payload *payload = arg;
    struct step step = payload->step;
    struct thread *thread = current;

    publish_recorded();
    check_order(recorder, payload);
    set->applied.calls++;
    switch (step.at % 5) {
    case 0:
        record_create(payload->recording, step.at);
        break;
    case 1:
        record_destroy(payload->recording, step.at);
        break;
    case 2:
        step.call = CALL_INSERT;
        call_step(thread, haft_commands_worker(set->commands), &step);
        break;
    case 3:
        step.call = CALL_FREE;
        call_step(thread, haft_commands_worker(set->commands), &step);
        break;
    default:
        if (step.count > 1) {
            step.count /= 2;
            record_call(payload->recording, &step);
        }
    }
}

/* The live object with that id: another register's, where ids repeat. */
static struct reg *find_live(const struct recorded *recorded)
{
    for (uint32_t i = 0; i <= play.register_count; i++) {
        struct reg *reg = i == 0 ? recorded->reg : &play.registers[i - 1];

        if (id_in(reg).bits == recorded->id.bits && count_in(&reg->state) == REGISTER_LIVE) {
            return reg;
        }
        if (count_in(&play.ids_repeat) == 0) {
            return NULL;
        }
    }
    return NULL;
}

static bool was_live(const struct recorded *recorded)
{
    const uint32_t state = count_in(&recorded->reg->state);
    const bool is_same = id_in(recorded->reg).bits == recorded->id.bits;

    return recorded->id.bits != 0 && !(is_same && state == REGISTER_RESERVED);
}

static void count_not_live(const struct recorded *recorded)
{
    if (was_live(recorded)) {
        set->applied.stale++;
    } else {
        set->applied.refused++;
    }
}

/* Threads at once: it may end by others as well.  The call is on one slot, for the pairs. */
static void doom(struct recorded *recorded)
{
    if (model_doom(recorded->reg, recorded->id)) {
        atomic_fetch_add(&set->doomed, 1);
        move_call(CALL_APPLY, recorded->id);
    }
}

static void destroy(struct recorded *recorded)
{
    struct reg *reg = recorded->is_live ? find_live(recorded) : NULL;

    if (reg != NULL) {
        model_freed(reg, recorded->id);
        set->applied.destroyed++;
    } else if (recorded->is_live) {
        set->applied.duplicates++;
    } else {
        count_not_live(recorded);
    }
}

static void note_live(struct recorded *recorded)
{
    recorded->is_live = find_live(recorded) != NULL;
}

static void each_destruction(void (*call)(struct recorded *recorded))
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        struct recording *recording = &set->recordings[i];

        for (uint32_t j = 0; is_taken(recording) && j < recording->destroyed_count; j++) {
            call(&recording->destroyed[j]);
        }
    }
}

/* The last call: the destructions come next. */
static void make_last_call(haft_recorder *recorder, void *payload)
{
    uint64_t unused = shim_reserved(set->commands);

    (void)payload;
    publish_recorded();
    require_that(set->key <= haft_recorder_key(recorder), "the order of recorders");
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        const struct recording *recording = &set->recordings[i];

        if (is_taken(recording)) {
            unused += recording->unused;
            require_that(recording->call == recording->calls, "a recorded call was not made");
        }
    }
    set->applied.calls++;
    set->applied.unused = shim_each_unused(set->commands, model_given_up);
    require_that(set->applied.unused == unused, "the unused reservations");
    if (play.at_once) {
        each_destruction(doom);
    } else {
        each_destruction(note_live);
        each_destruction(destroy);
    }
}

static uint64_t recorded_destructions(void)
{
    uint64_t recorded = 0;

    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        recorded += is_taken(&set->recordings[i]) ? set->recordings[i].destroyed_count : 0;
    }
    return recorded;
}

/* Of ids that repeat, a stale one may be another reservation's, or be issued no more. */
static void check_applied(const haft_applied *answer)
{
    const haft_applied *model = &set->applied;
    const uint64_t not_live = answer->stale + answer->refused;

    require_that(answer->created == model->created && answer->calls == model->calls &&
                     answer->unused == model->unused,
                 "haft_applied: creations and calls");
    require_that(answer->destroyed + answer->duplicates + not_live == recorded_destructions(),
                 "haft_applied: each destruction counts once");
    if (play.at_once) {
        return;
    }
    require_that(answer->destroyed == model->destroyed && answer->duplicates == model->duplicates &&
                     not_live == model->stale + model->refused &&
                     (answer->stale == model->stale || count_in(&play.ids_repeat) != 0),
                 "haft_applied: destructions");
}

/* Threads at once: which objects these were is known when all stand still. */
static void note_destroyed(uint64_t destroyed)
{
    if (play.at_once) {
        count(&play.live, -(int)destroyed);
        atomic_fetch_add(&play.frees, destroyed);
        atomic_fetch_add(&set->destroyed, destroyed);
    }
}

void settle_doomed(void)
{
    uint64_t ended = 0;

    for (uint32_t i = 0; count_in(&set->doomed) != 0 && i < play.register_count; i++) {
        struct reg *reg = &play.registers[i];

        if (count_in(&reg->state) == REGISTER_DOOMED) {
            const bool is_live = haft_is_live(play.view, id_in(reg));

            model_end_doomed(reg, is_live);
            ended += !is_live;
        }
    }
    if (ended != word_in(&set->destroyed) + word_in(&set->freed_otherwise)) {
        fail("objects of a command set did not end once each",
             "%llu ended, not %llu and %llu otherwise", (unsigned long long)ended,
             (unsigned long long)set->destroyed, (unsigned long long)set->freed_otherwise);
    }
    set->doomed = 0;
    set->destroyed = set->freed_otherwise = 0;
}

/* --- applying, and closing --- */

static haft_status apply_now(void)
{
    return haft_commands_apply(set->commands, NULL);
}

/* Whether there is the recorder of the last call. */
static bool open_last(const struct thread *thread)
{
    if (set->last != NULL) {
        return true;
    }
    const haft_status status = haft_recorder_open(set->commands, UINT64_MAX, 0, &set->last);

    note_handed_on(thread);
    return is_done(status, "haft_recorder_open");
}

/* Whether the last call is recorded: there may be no memory for it. */
static bool record_last(const struct thread *thread)
{
    if (!open_last(thread)) {
        return false;
    }
    set->is_last_recorded =
        set->is_last_recorded ||
        is_done(haft_recorder_call(set->last, make_last_call, NULL, 0), "haft_recorder_call");
    return set->is_last_recorded;
}

static void apply(struct thread *thread)
{
    haft_applied answer;

    set->applied = (haft_applied){0};
    set->key = 0;
    expire_pointers(thread);
    const struct call_under_way outer = begin_call(CALL_APPLY, HAFT_NIL);

    count(&set->applying, 1);
    expect(haft_commands_apply(set->commands, &answer), HAFT_OK, "haft_commands_apply");
    count(&set->applying, -1);
    note_handed_on(thread);
    end_call(outer);
    check_applied(&answer);
    note_destroyed(answer.destroyed);
    model_refused(answer.duplicates + answer.stale + answer.refused);
    free_all();
}

void step_apply(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    const bool inside = waits_are_refused(thread);

    if ((must_not_wait(thread) && !inside) || !take_whole(thread)) {
        return;
    }
    if (inside) {
        const struct call_under_way outer = begin_call(CALL_APPLY, HAFT_NIL);

        refuse_in_section(apply_now, HAFT_IN_SECTION);
        end_call(outer);
    } else if (record_last(thread)) {
        apply(thread);
    }
    give_all_back(MOST_RECORDERS);
    give_set_back();
}

/* The recorded commands are forgotten. */
static void close_set(struct thread *thread)
{
    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        const struct recording *recording = &set->recordings[i];

        for (uint32_t j = 0; is_taken(recording) && j < recording->created_count; j++) {
            model_aborted(recording->created[j]);
        }
    }
    shim_each_unused(set->commands, model_given_up);
    note_worker_closing(thread->seat, set->lift);
    const struct call_under_way outer = begin_call(CALL_COMMANDS_CLOSE, HAFT_NIL);

    haft_commands_close(set->commands);
    note_worker_closed(thread->seat, set->lift);
    end_call(outer);
    set->commands = NULL;
    free_all();
    atomic_store(&set->state, 0);
}

void step_commands_close(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (!in_callback(thread) && take_whole(thread)) {
        close_set(thread);
    }
}

static bool is_to_be_had(const void *thread)
{
    const uint32_t state = atomic_load(&set->state);

    for (uint32_t i = 0; i < MOST_RECORDERS; i++) {
        if (is_taken(&set->recordings[i])) {
            return false;
        }
    }
    return state != set_of(thread, TAKEN);
}

void end_set(struct thread *thread)
{
    while (owns_set(thread)) {
        if (take_whole(thread)) {
            close_set(thread);
        } else {
            backend_await(is_to_be_had, thread);
        }
    }
}
