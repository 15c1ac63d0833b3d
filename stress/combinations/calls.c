/*
 * The calls of a plan.  Each takes what the state allows, compares the answer with what the model
 * says, and notes what has changed.
 */
#include "stress/combinations/calls.h"
#include "stress/combinations/watch.h"

/* One more call of the library. */
static void count_call(void)
{
    atomic_fetch_add_explicit(&play.operations, 1, memory_order_relaxed);
}

static void expect(haft_status answer, haft_status expected, const char *kind)
{
    if (answer != expected) {
        fail(kind, "%s, not %s", haft_status_name(answer), haft_status_name(expected));
    }
}

/* --- state --- */

bool in_callback(const struct thread *thread)
{
    return thread->seat->reclaims != 0 || thread->seat->fills != 0;
}

bool is_clock(enum plan_clock clock)
{
    return play.plan->options.clock == (uint32_t)clock;
}

bool is_qsbr(void)
{
    return is_clock(PLAN_CALLER_QSBR) || is_clock(PLAN_THREAD_QSBR);
}

static bool is_memb(void)
{
    return is_clock(PLAN_CALLER_MEMB) || is_clock(PLAN_THREAD_MEMB);
}

uint32_t capacity_in_use(void)
{
    const uint32_t all = count_in(&play.live) + count_in(&play.reserved);

    return play.plan->options.exact_capacity ? all : all - count_in(&play.live_restored);
}

/* A thread that ended with its worker open holds the workers clock up until it is closed. */
bool may_not_wait(const struct thread *thread)
{
    return in_callback(thread) || thread->seat->depth != 0 ||
           (play.left != NULL && is_clock(PLAN_WORKERS));
}

/* Whether the calling thread may resolve. */
static bool may_resolve(const struct thread *thread)
{
    return is_memb() ? thread->seat->depth != 0 : !is_clock(PLAN_WORKERS) || thread->seat->workers;
}

void end_sections(struct thread *thread)
{
    let_go(thread->seat);
    while (thread->seat->depth != 0) {
        haft_section_end(play.domain);
        thread->seat->depth--;
    }
}

/* Quiescent points end what was resolved; not with memb, whose sections are marked. */
static void pass_quiescent_point(struct thread *thread)
{
    if (!is_memb()) {
        let_go(thread->seat);
    }
}

/* --- workers --- */

void begin_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        expect(haft_worker_open(play.table, &thread->worker), HAFT_OK, "haft_worker_open");
        thread->is_implicit = false;
        thread->seat->workers++;
    }
}

void end_worker(struct thread *thread)
{
    if (thread->worker == NULL || thread->is_implicit) {
        return;
    }
    pass_quiescent_point(thread);
    expect(haft_worker_close(thread->worker), HAFT_OK, "haft_worker_close");
    thread->worker = NULL;
    thread->seat->workers--;
}

/* One thread of the system has one implicit worker. */
static void current_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        bool is_first = true;

        expect(haft_worker_current(play.table, &thread->worker), HAFT_OK, "haft_worker_current");
        for (uint32_t i = 0; i < play.plan->threads; i++) {
            const struct thread *other = &play.threads[i];

            is_first = is_first && (other == thread || other->worker != thread->worker);
        }
        thread->is_implicit = true;
        thread->seat->workers += is_first;
    }
}

static void quiescent(struct thread *thread, haft_worker *worker)
{
    const bool inside = is_memb() && thread->seat->depth != 0;

    if (worker == NULL || (may_not_wait(thread) && !inside) || in_callback(thread)) {
        return;
    }
    pass_quiescent_point(thread);
    expect(haft_worker_quiescent(worker), inside ? HAFT_IN_SECTION : HAFT_OK,
           "haft_worker_quiescent");
}

static void flush(struct thread *thread, haft_worker *worker)
{
    if (worker != NULL && !in_callback(thread)) {
        expect(haft_worker_flush(worker), HAFT_OK, "haft_worker_flush");
    }
}

static void offline_online(struct thread *thread)
{
    const bool applies = is_qsbr() || (is_clock(PLAN_WORKERS) && thread->seat->workers != 0);

    if (applies && !in_callback(thread)) {
        let_go(thread->seat);
        haft_thread_offline(play.domain);
        haft_thread_online(play.domain);
    }
}

static void wait_for_domain(struct thread *thread)
{
    if (!may_not_wait(thread)) {
        pass_quiescent_point(thread);
        const haft_status status = haft_domain_wait(play.domain);

        require_that(status == HAFT_OK || (status == HAFT_BUSY && is_clock(PLAN_FRAME)),
                     "haft_domain_wait");
    }
}

/* --- insertion --- */

/* What an insertion may answer, where nothing else happened meanwhile. */
static void check_insertion(haft_status status, uint32_t before, uint64_t callbacks)
{
    const struct plan_options *options = &play.plan->options;

    require_that(status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL,
                 "an insertion's answer");
    if (play.at_once || in_callback(current) || callbacks != word_in(&play.callbacks)) {
        return; /* in a callback, the call around it may have a slot in hand */
    }
    if (status == HAFT_FULL && before < options->capacity && count_in(&play.worn) == 0) {
        fail("FULL below the capacity", "%u of %u", before, options->capacity);
    }
    if (options->exact_capacity && before >= options->capacity && status != HAFT_FULL) {
        fail("an exact capacity was exceeded", "%u of %u: %s", before, options->capacity,
             haft_status_name(status));
    }
}

static haft_status reserve(haft_worker *worker, haft_id *id, void **object, bool waits)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    count_call();
    const haft_status status = worker == NULL ? bare_reserve(play.table, id, object)
                               : waits        ? haft_reserve_wait(worker, id, object)
                                              : haft_reserve(worker, id, object);

    check_insertion(status, before, callbacks);
    return status;
}

static void publish(haft_worker *worker, haft_id id)
{
    if (worker == NULL) {
        bare_publish(play.table, id);
    } else {
        haft_publish(worker, id);
    }
}

/* Reserves, and publishes unless `state` is REGISTER_RESERVED.  False: no slot. */
static bool reserve_one(haft_worker *worker, struct reg *reg, enum register_state state, bool waits)
{
    haft_id id = HAFT_NIL;
    void *object = NULL;

    if (reserve(worker, &id, &object, waits) != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    model_stamp(reg, object);
    if (state == REGISTER_LIVE) {
        publish(worker, id);
    }
    model_issued(reg, id, state);
    return true;
}

/* By haft_insert(), which copies the object, so that it is stamped before it has an id. */
static haft_status insert_copy(haft_worker *worker, struct reg *reg, haft_id *id)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    struct stamp bytes[4096 / sizeof(struct stamp)];

    model_stamp(reg, bytes);
    count_call();
    const haft_status status =
        worker == NULL ? bare_insert(play.table, bytes, id) : haft_insert(worker, bytes, id);

    check_insertion(status, before, callbacks);
    return status;
}

bool insert_one(haft_worker *worker, uint32_t at)
{
    struct reg *reg = claim_register(at);
    haft_id id = HAFT_NIL;

    if (reg == NULL) {
        return false;
    }
    if (at % 2 == 0) {
        return reserve_one(worker, reg, REGISTER_LIVE, false);
    }
    if (insert_copy(worker, reg, &id) != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    model_issued(reg, id, REGISTER_LIVE);
    return true;
}

static void insert_some(haft_worker *worker, const struct step *step)
{
    for (uint32_t i = 0; i < step->count && insert_one(worker, step->at + i); i++) {
    }
}

/* Only where the table has room, so that the wait must end. */
static void insert_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const struct plan_options *options = &play.plan->options;
    const bool has_room = capacity_in_use() < options->capacity && count_in(&play.worn) == 0 &&
                          find_pinned(0) == NULL;

    if (worker == NULL || may_not_wait(thread) || is_clock(PLAN_FRAME) || options->pins ||
        (!play.at_once && !has_room)) {
        return;
    }
    struct reg *reg = claim_register(step->at);

    if (reg != NULL) {
        pass_quiescent_point(thread);
        const uint64_t callbacks = word_in(&play.callbacks);
        const bool inserted = reserve_one(worker, reg, REGISTER_LIVE, true);

        require_that(inserted || play.at_once || callbacks != word_in(&play.callbacks),
                     "haft_reserve_wait found no room");
    }
}

static void insert_many(haft_worker *worker, const struct step *step)
{
    struct reg *regs[16];
    haft_id ids[16];
    void *objects[16];
    uint32_t wanted = 0;
    haft_status why = HAFT_OK;

    while (wanted < 16 && wanted < step->count &&
           (regs[wanted] = claim_register(step->at + wanted)) != NULL) {
        wanted++;
    }
    const size_t got = haft_reserve_many(worker, ids, objects, wanted, &why);

    require_that(got <= wanted && (got == wanted) == (why == HAFT_OK), "haft_reserve_many");
    for (uint32_t i = 0; i < wanted; i++) {
        if (i < got) {
            model_stamp(regs[i], objects[i]);
        }
    }
    haft_publish_many(worker, ids, got);
    for (uint32_t i = 0; i < wanted; i++) {
        if (i < got) {
            model_issued(regs[i], ids[i], REGISTER_LIVE);
        } else {
            unclaim_register(regs[i]);
        }
    }
}

static void reserve_some(haft_worker *worker, const struct step *step)
{
    struct reg *reg = claim_register(step->at);

    if (reg != NULL) {
        reserve_one(worker, reg, REGISTER_RESERVED, false);
    }
}

static void publish_one(haft_worker *worker, const struct step *step)
{
    struct reg *reg = claim_reserved(step->at);

    if (reg != NULL) {
        publish(worker, id_in(reg));
        model_published(reg);
    }
}

static void abort_one(haft_worker *worker, const struct step *step)
{
    struct reg *reg = claim_reserved(step->at);

    if (reg == NULL) {
        return;
    }
    model_aborted(reg);
    if (worker == NULL) {
        bare_abort(play.table, id_in(reg));
    } else {
        haft_abort(worker, id_in(reg));
    }
}

/* --- ends --- */

static haft_status free_id(haft_worker *worker, haft_id id)
{
    count_call();
    return worker == NULL ? bare_free(play.table, id) : haft_free(worker, id);
}

void free_one(haft_worker *worker, struct reg *reg)
{
    const haft_id id = id_in(reg);
    const haft_status status = free_id(worker, id);

    if (status == HAFT_OK) {
        model_freed(reg, id);
    } else {
        require_that(play.at_once, "a live object could not be freed");
    }
}

static void free_some(haft_worker *worker, const struct step *step)
{
    for (uint32_t i = 0; i < step->count; i++) {
        struct reg *reg = find_register(step->at + i, REGISTER_LIVE);

        if (reg == NULL) {
            return;
        }
        free_one(worker, reg);
    }
}

/* Where ids repeat, one that is stale may be another object's. */
static void free_stale(haft_worker *worker, const struct step *step)
{
    struct reg *reg = find_register(step->at, REGISTER_ENDED);

    if (reg != NULL && count_in(&play.ids_repeat) == 0) {
        const haft_id id = id_in(reg);
        const haft_status status = free_id(worker, id);

        require_that(status == HAFT_STALE || status == HAFT_EXHAUSTED ||
                         (play.at_once && status != HAFT_OK),
                     "a stale id was freed");
    }
}

static void free_many(haft_worker *worker, const struct step *step)
{
    struct reg *regs[16];
    haft_id ids[16];
    haft_status statuses[16];
    uint32_t wanted = 0;

    while (wanted < 16 && wanted < step->count &&
           (regs[wanted] = find_register(step->at + wanted, REGISTER_LIVE)) != NULL) {
        ids[wanted] = id_in(regs[wanted]);
        wanted++;
    }
    haft_free_many(worker, ids, wanted, statuses);
    for (uint32_t i = 0; i < wanted; i++) {
        if (statuses[i] == HAFT_OK) {
            model_freed(regs[i], ids[i]);
        }
    }
}

/* --- the rest --- */

/* Its own slot's next life, or a later one. */
static haft_id restored_id(const struct step *step)
{
    const uint32_t index = HAFT_FIRST_INDEX + step->at % play.plan->options.restore_range;
    const haft_id last = {word_in(&play.issued[index])};
    const uint64_t generation = haft_id_generation(play.layout, last) + step->count;
    const uint64_t least = play.plan->options.first_generation;

    return haft_id_pack(play.layout, index, generation < least ? least : generation,
                        play.plan->options.tag_bits != 0);
}

static void restore(haft_worker *worker, const struct step *step)
{
    const haft_id id = play.plan->options.restore_range != 0 ? restored_id(step) : HAFT_NIL;
    struct reg *reg = id.bits != 0 && worker != NULL ? claim_register(step->at) : NULL;
    struct stamp bytes[4096 / sizeof(struct stamp)];

    if (reg == NULL) {
        return;
    }
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);

    model_stamp(reg, bytes);
    const haft_status status = haft_restore(worker, id, bytes);

    if (status == HAFT_OK) {
        if (play.plan->options.exact_capacity) {
            check_insertion(status, before, callbacks);
        }
        model_issued(reg, id, REGISTER_LIVE);
    } else {
        unclaim_register(reg);
    }
}

static void begin_section(struct thread *thread)
{
    if (thread->seat->is_registered && !in_callback(thread)) {
        haft_section_begin(play.domain);
        thread->seat->depth += is_memb();
        if (!is_memb()) {
            haft_section_end(play.domain);
        }
    }
}

static void end_section(struct thread *thread)
{
    if (thread->seat->depth != 0 && !in_callback(thread)) {
        if (thread->seat->depth == 1) {
            let_go(thread->seat);
        }
        haft_section_end(play.domain);
        thread->seat->depth--;
    }
}

/* What a live register's id leads to is its object, as long as the register is not another's. */
static void check_found(const struct reg *reg, haft_id id, const void *object)
{
    if (!play.at_once && count_in(&reg->state) == REGISTER_LIVE) {
        require_that(object != NULL, "a live object was not found");
    }
    if (!play.at_once && count_in(&reg->state) == REGISTER_ENDED &&
        count_in(&play.ids_repeat) == 0) {
        require_that(object == NULL, "a stale id was found");
    }
    if (object != NULL && count_in(&play.ids_repeat) == 0 && id.bits == id_in(reg).bits) {
        require_that(is_stamp_of(object, reg), "an id led to another object");
    }
}

static void resolve(struct thread *thread, const struct step *step)
{
    struct reg *reg = &play.registers[step->at % play.register_count];
    const haft_id id = id_in(reg);

    if (id.bits == 0 || !may_resolve(thread)) {
        return;
    }
    count_call();
    const struct stamp *object = haft_resolve(play.view, id);

    check_found(reg, id, object);
    if (object != NULL && !in_callback(thread)) {
        hold(thread, object, object->value);
    }
}

static void pin(struct thread *thread, const struct step *step)
{
    struct reg *reg = find_register(step->at, REGISTER_LIVE);

    if (reg == NULL || !play.plan->options.pins || !may_resolve(thread)) {
        return;
    }
    atomic_fetch_add(&reg->intents, 1);
    if (atomic_load(&reg->state) == REGISTER_LIVE) {
        const void *object = haft_pin(play.table, id_in(reg));

        check_found(reg, id_in(reg), object);
        if (object != NULL) {
            atomic_fetch_add(&reg->pins, 1);
        }
    }
    atomic_fetch_sub(&reg->intents, 1);
}

/* One of the pins that are there becomes the caller's to give back. */
static bool take_pin(struct reg *reg)
{
    uint32_t pins = count_in(&reg->pins);

    while (pins != 0) {
        if (atomic_compare_exchange_weak(&reg->pins, &pins, pins - 1)) {
            return true;
        }
    }
    return false;
}

static void unpin(const struct step *step)
{
    struct reg *reg = find_pinned(step->at);

    if (reg == NULL) {
        return;
    }
    atomic_fetch_add(&reg->intents, 1); /* so that the register keeps its id */
    if (take_pin(reg)) {
        expect(haft_unpin(play.table, id_in(reg)), HAFT_OK, "haft_unpin");
    }
    atomic_fetch_sub(&reg->intents, 1);
}

static bool count_visit(haft_id id, void *object, void *arg)
{
    (void)id;
    (void)object;
    ++*(uint32_t *)arg;
    return true;
}

static void scan(struct thread *thread)
{
    uint32_t visited = 0;

    if (may_resolve(thread)) {
        haft_scan(play.table, HAFT_EVERYTHING, count_visit, &visited);
        require_that(play.at_once || visited == count_in(&play.live), "a scan's visits");
    }
}

static haft_status expected_diagnosis(const struct reg *reg)
{
    switch (count_in(&reg->state)) {
    case REGISTER_EMPTY:
        return HAFT_NO_ID;
    case REGISTER_LIVE:
        return HAFT_OK;
    case REGISTER_RESERVED:
        return HAFT_RESERVED;
    default:
        return HAFT_STALE;
    }
}

static void diagnose(const struct step *step)
{
    const struct reg *reg = &play.registers[step->at % play.register_count];
    const haft_status expected = expected_diagnosis(reg);
    const haft_status status = haft_diagnose(play.table, id_in(reg));

    if (play.at_once || count_in(&play.ids_repeat) != 0 ||
        count_in(&reg->state) == REGISTER_CLAIMED) {
        return;
    }
    if (!(expected == HAFT_STALE && status == HAFT_EXHAUSTED)) {
        expect(status, expected, "haft_diagnose");
    }
}

static void trim(struct thread *thread)
{
    if (!in_callback(thread)) {
        const haft_status status = haft_trim(play.table, NULL);

        require_that(status == HAFT_OK || (status == HAFT_BUSY && play.at_once), "haft_trim");
    }
}

static void recycle(struct thread *thread)
{
    if (!in_callback(thread)) {
        atomic_store_explicit(&play.ids_repeat, 1, memory_order_relaxed);
        const haft_status status = haft_recycle_exhausted(play.table, NULL);

        require_that(status == HAFT_OK || (status == HAFT_BUSY && play.at_once),
                     "haft_recycle_exhausted");
    }
}

/* --- dispatch --- */

/* Calls that need no worker of the thread's, or do without one.  False: it is another call. */
static bool call_of_thread(struct thread *thread, haft_worker *worker, const struct step *step)
{
    switch (step->call) {
    case CALL_WORKER_OPEN:
        in_callback(thread) ? (void)0 : begin_worker(thread);
        return true;
    case CALL_WORKER_CLOSE:
        in_callback(thread) ? (void)0 : end_worker(thread);
        return true;
    case CALL_WORKER_CURRENT:
        in_callback(thread) || play.at_once ? (void)0 : current_worker(thread);
        return true;
    case CALL_QUIESCENT:
        quiescent(thread, worker);
        return true;
    case CALL_FLUSH:
        flush(thread, worker);
        return true;
    case CALL_OFFLINE_ONLINE:
        offline_online(thread);
        return true;
    case CALL_INSERT_WAIT:
        insert_wait(thread, worker, step);
        return true;
    case CALL_SECTION_BEGIN:
        begin_section(thread);
        return true;
    case CALL_SECTION_END:
        end_section(thread);
        return true;
    case CALL_RESOLVE:
        resolve(thread, step);
        return true;
    case CALL_PIN:
        pin(thread, step);
        return true;
    case CALL_UNPIN:
        unpin(step);
        return true;
    case CALL_SCAN:
        scan(thread);
        return true;
    case CALL_DIAGNOSE:
        diagnose(step);
        return true;
    case CALL_TRIM:
        trim(thread);
        return true;
    case CALL_RECYCLE:
        recycle(thread);
        return true;
    case CALL_WAIT:
        wait_for_domain(thread);
        return true;
    default:
        return false;
    }
}

/* Calls on slots, through a worker or without one. */
static void call_on_slots(haft_worker *worker, uint32_t call, const struct step *step)
{
    switch (call) {
    case CALL_INSERT:
        insert_some(worker, step);
        break;
    case CALL_RESERVE:
        reserve_some(worker, step);
        break;
    case CALL_PUBLISH:
        publish_one(worker, step);
        break;
    case CALL_ABORT:
        abort_one(worker, step);
        break;
    case CALL_FREE:
        free_some(worker, step);
        break;
    case CALL_FREE_STALE:
        free_stale(worker, step);
        break;
    case CALL_INSERT_MANY:
        insert_many(worker, step);
        break;
    case CALL_FREE_MANY:
        free_many(worker, step);
        break;
    default:
        restore(worker, step);
        break;
    }
}

static uint32_t without_bare(uint32_t call)
{
    switch (call) {
    case CALL_BARE_INSERT:
        return CALL_INSERT;
    case CALL_BARE_RESERVE:
        return CALL_RESERVE;
    case CALL_BARE_PUBLISH:
        return CALL_PUBLISH;
    case CALL_BARE_ABORT:
        return CALL_ABORT;
    case CALL_BARE_FREE:
        return CALL_FREE;
    default:
        return call;
    }
}

void call_step(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const uint32_t call = without_bare(step->call);

    watch->call = step->call;
    if (!call_of_thread(thread, worker, step)) {
        if (call != step->call) {
            call_on_slots(NULL, call, step);
        } else if (worker != NULL) {
            call_on_slots(worker, call, step);
        }
    }
    check_held(thread->seat);
}

/* --- callbacks --- */

/* The plan's next step for a callback; none if it has none. */
static void call_next(const struct step *steps, uint32_t step_count, _Atomic(uint32_t) *next,
                      haft_worker *worker)
{
    if (step_count != 0) {
        const uint32_t at = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
        const struct step *step = &steps[at % step_count];

        if (worker != NULL || step->call == CALL_UNPIN || step->call == CALL_DIAGNOSE) {
            call_step(current, worker, step);
        }
    }
}

void reclaim_callback(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct seat *seat = current->seat;

    (void)arg;
    atomic_fetch_add_explicit(&play.callbacks, 1, memory_order_relaxed);
    require_that(seat->reclaims == 0, "on_reclaim runs within on_reclaim");
    model_reclaimed(id, object);
    seat->reclaims++;
    call_next(play.plan->on_reclaim, play.plan->reclaim_count, &play.reclaim_step, worker);
    seat->reclaims--;
}

void fill_callback(const haft_fill *fill, void *arg)
{
    struct seat *seat = current->seat;

    (void)arg;
    atomic_fetch_add_explicit(&play.callbacks, 1, memory_order_relaxed);
    require_that(seat->fills == 0, "on_fill runs within on_fill");
    require_that(fill->in_use >= play.plan->options.warn_at, "on_fill comes too early");
    seat->fills++;
    for (uint32_t i = 0; i < play.plan->fill_count; i++) {
        call_next(play.plan->on_fill, play.plan->fill_count, &play.fill_step, current->worker);
    }
    seat->fills--;
}
