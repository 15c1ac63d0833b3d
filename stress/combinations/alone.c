/* Calls that one thread makes while all others stand still: what must hold at a quiet moment. */
#include "stress/combinations/backend.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/play.h"
#include "stress/combinations/watch.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 6 /* of quiescent points and grace periods after which nothing waits any more */

/* --- slots that are free can be had --- */

/* The worker that the thread has open, the command set's, and its own in the other table. */
static void by_each_worker(struct thread *thread, haft_status (*call)(haft_worker *worker),
                           const char *name)
{
    haft_worker *workers[] = {thread->worker, worker_of_set(thread), thread->seat->other_worker};

    for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        require_that(workers[i] == NULL || call(workers[i]) == HAFT_OK, name);
    }
}

static void flush_own(struct thread *thread)
{
    by_each_worker(thread, haft_worker_flush, "haft_worker_flush");
}

/* Slots of the restore range that are free, or may be. */
static uint64_t free_aside(void)
{
    uint64_t used = 0;

    for (uint32_t i = 0; i < play.plan->options.restore_range; i++) {
        used += word_in(&play.issued[HAFT_FIRST_INDEX + i]) != 0;
    }
    return used - count_in(&play.live_restored);
}

/* How many more a table of this state must take before it may say that it has none. */
static uint64_t slots_to_be_had(void)
{
    const uint64_t capacity = play.plan->options.capacity;
    const uint64_t used = capacity_in_use();
    const haft_table_stats stats = haft_table_stats_get(play.table);
    const uint64_t aside = free_aside();
    const uint64_t free = stats.free < aside ? 0 : stats.free - aside;
    const uint64_t room = used < capacity ? capacity - used : 0;

    return play.plan->options.exact_capacity && room < free ? room : free;
}

static struct {
    uint32_t wanted;
    uint32_t got;
    uint32_t registers[MOST_REGISTERS];
} drained;

static void insert_all(struct thread *thread)
{
    while (drained.got < drained.wanted) {
        struct reg *reg = find_register(drained.got, REGISTER_EMPTY);

        reg = reg != NULL ? reg : find_register(drained.got, REGISTER_ENDED);
        if (reg == NULL || !insert_one(thread->worker, register_number(reg))) {
            return;
        }
        drained.got++;
    }
}

static void drain(const struct step *step)
{
    if (play.left != NULL) {
        return; /* its worker holds slots back */
    }
    by_each_thread(flush_own);
    const uint64_t callbacks = word_in(&play.callbacks);
    const uint64_t wanted = slots_to_be_had();

    drained.wanted = (uint32_t)wanted;
    drained.got = 0;
    by_thread(step->at % play.plan->threads, insert_all);
    if (drained.got < wanted && callbacks == word_in(&play.callbacks) &&
        find_register(0, REGISTER_EMPTY) != NULL) {
        fail("free slots cannot be had", "%u of %llu", drained.got, (unsigned long long)wanted);
    }
}

/* --- what waits does so for a while only --- */

void pass_grace_period(struct thread *thread)
{
    end_sections(thread);
    const haft_domain_stats before = haft_domain_stats_get(play.domain);

    if (is_clock(PLAN_FRAME)) {
        const struct call_under_way outer = begin_call(CALL_TICK, HAFT_NIL);

        require_that(haft_domain_tick(play.domain) == HAFT_OK, "haft_domain_tick");
        end_call(outer);
    } else {
        require_that(haft_domain_wait(play.domain) == HAFT_OK, "haft_domain_wait");
    }
    check_grace(&before);
}

static void quiescent_own(struct thread *thread)
{
    end_sections(thread);
    by_each_worker(thread, haft_worker_quiescent, "haft_worker_quiescent");
}

/* What drives the clock, besides the quiescent points of all workers. */
enum drive { BY_WAITING, BY_QUIESCENT_POINTS, BY_ITS_THREAD };

static void pass_round(struct thread *thread, enum drive drive)
{
    by_each_thread(quiescent_own);
    if (drive == BY_WAITING) {
        pass_grace_period(thread);
    } else if (drive == BY_ITS_THREAD) {
        go_offline(thread);
        usleep(1000);
        go_online(thread);
    }
}

static uint32_t rounds_by(enum drive drive)
{
    return drive == BY_ITS_THREAD ? 5000 : ROUNDS;
}

static uint32_t pinned_and_freed(void)
{
    uint32_t found = 0;

    for (uint32_t i = 0; play.plan->options.pins && i < play.register_count; i++) {
        const struct reg *reg = &play.registers[i];

        found += count_in(&reg->pins) != 0 && count_in(&reg->state) == REGISTER_ENDED &&
                 !is_aside(id_in(reg));
    }
    return found;
}

/* The quiescent points of a worker that was told HAFT_BUSY wait, or have the clock's thread wait,
 * which comes when it comes.  Objects that are pinned excuse HAFT_BUSY, however long it lasts. */
static enum drive choose_drive(const struct step *step)
{
    const bool has_thread =
        is_clock(PLAN_THREAD_MEMB) || is_clock(PLAN_THREAD_QSBR) || is_clock(PLAN_THREAD_CK);

    if (step->count % 2 == 0 || is_clock(PLAN_FRAME) || pinned_and_freed() != 0 ||
        play.threads[step->at % play.plan->threads].worker == NULL) {
        return BY_WAITING;
    }
    if (has_thread) {
        return backend_has_system() && !play.is_forked ? BY_ITS_THREAD : BY_WAITING;
    }
    return play.plan->options.never_wait ? BY_WAITING : BY_QUIESCENT_POINTS;
}

/* What try_insert() was told; HAFT_OK as well where callbacks have taken all registers. */
static haft_status tried;

static void try_insert(struct thread *thread)
{
    haft_id id;
    void *object;
    struct reg *reg = claim_register(0);

    tried = HAFT_OK;
    if (reg == NULL) {
        return;
    }
    tried = thread->worker != NULL ? haft_reserve(thread->worker, &id, &object)
                                   : bare_reserve(play.table, &id, &object);
    if (tried != HAFT_OK) {
        unclaim_register(reg);
        return;
    }
    model_stamp(reg, object);
    model_issued(reg, id, REGISTER_RESERVED);
}

/* The answer is BUSY, round after round: that needs a reason. */
static void check_busy(void)
{
    const uint32_t used = capacity_in_use();
    const uint32_t capacity = play.plan->options.capacity;

    if (tried != HAFT_BUSY || pinned_and_freed() != 0) {
        return;
    }
    if (used < capacity) {
        fail("BUSY for ever, with room", "%u of %u in use", used, capacity);
    }
    fail("BUSY for ever, in a full table", "%u of %u in use", used, capacity);
}

static void try_other(struct thread *thread)
{
    tried = insert_in_other(thread, 0);
}

/* The other table stops being busy after some rounds.  If its threads have no workers, the clock
 * must be driven: no quiescent point answers its shortage. */
static void check_other(struct thread *thread, uint32_t number, enum drive drive)
{
    for (uint32_t i = 0; i < rounds_by(drive); i++) {
        by_thread(number, try_other);
        if (tried != HAFT_BUSY) {
            return;
        }
        pass_round(thread, drive);
    }
    fail("BUSY for ever, in another table", "%u in use", count_in(&play.other.live));
}

static void check_progress(struct thread *thread, const struct step *step)
{
    if (play.left != NULL || find_register(0, REGISTER_EMPTY) == NULL) {
        return;
    }
    const uint32_t number = step->at % play.plan->threads;
    const enum drive drive = choose_drive(step);

    check_other(thread, number, play.plan->options.other_table == 2 ? drive : BY_WAITING);
    for (uint32_t i = 0; drive == BY_WAITING && i < ROUNDS; i++) {
        pass_round(thread, drive);
    }
    uint64_t callbacks;

    for (uint32_t i = 0; i < rounds_by(drive); i++) {
        callbacks = word_in(&play.callbacks);
        const uint32_t before = capacity_in_use();

        by_thread(number, try_insert);
        if (tried != HAFT_BUSY) {
            require_that(tried != HAFT_FULL || may_be_full(before) ||
                             callbacks != word_in(&play.callbacks),
                         "FULL below the capacity");
            return;
        }
        pass_round(thread, drive);
    }
    if (callbacks == word_in(&play.callbacks)) {
        check_busy();
    }
}

void check_capacity(void)
{
    begin_worker(current);
    for (uint32_t i = 0; i < play.plan->options.capacity; i++) {
        uint32_t rounds = 0;

        for (try_insert(current); tried == HAFT_BUSY && rounds < ROUNDS; try_insert(current)) {
            quiescent_own(current);
            pass_grace_period(current);
            rounds++;
        }
        if (tried == HAFT_FULL && may_be_full(i)) {
            break;
        }
        if (tried != HAFT_OK) {
            fail("slots were lost", "%u of %u can be had: %s", i, play.plan->options.capacity,
                 haft_status_name(tried));
        }
    }
    check_census();
    check_registers();
    end_worker(current);
}

/* --- threads that come and go --- */

struct guest {
    const struct step *step;
    sem_t is_ready; /* to leave */
    sem_t may_leave;
};

static struct {
    pthread_key_t key;
    bool is_made;
    uint32_t rounds;
} late;

/* In the last round of destructors, after the library's own. */
static void ask_late(void *arg)
{
    if (++late.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(late.key, arg);
        return;
    }
    require_that(haft_worker_current(play.table, &play.left) == HAFT_OK, "haft_worker_current");
}

static void stay(void)
{
    if (!late.is_made) { /* after the library's key */
        require_that(pthread_key_create(&late.key, ask_late) == 0, "pthread_key_create");
        late.is_made = true;
    }
    late.rounds = 0;
    pthread_setspecific(late.key, &late);
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) { /* interrupted */
    }
}

#define LOOKS 16        /* while the table closes */
#define MOST_YIELDS 256 /* until it does */

static void await_closing(void)
{
    for (uint32_t i = 0; i < MOST_YIELDS && !play.is_closing; i++) {
        sched_yield();
    }
}

/* An object that lives stays itself until the reader is done, also while its table closes. */
static void look_until_end(const struct reg *reg, const struct stamp *object)
{
    await_closing();
    for (uint32_t i = 0; i < LOOKS; i++) {
        require_that(object == NULL || is_stamp_of(object, reg), "an object changed under a guest");
        sched_yield();
    }
    if (has_sections()) {
        haft_section_end(play.domain);
    }
    haft_thread_unregister(play.domain);
}

static void read_and_leave(struct guest *guest)
{
    struct reg *reg = find_register(guest->step->at, REGISTER_LIVE);

    if (has_sections()) {
        haft_section_begin(play.domain);
    }
    const struct stamp *object = reg != NULL ? haft_resolve(play.view, id_in(reg)) : NULL;

    sem_post(&guest->is_ready);
    await(&guest->may_leave);
    look_until_end(reg, object);
}

static void *visit(void *arg)
{
    struct guest *guest = arg;
    struct step step = *guest->step;
    static struct seat seat; /* static: the thread's destructors may run on_reclaim */
    static struct thread thread;

    seat = (struct seat){.workers = 1, .level = is_clock(PLAN_WORKERS)};
    thread = (struct thread){.seat = &seat, .is_implicit = true};
    current = &thread;
    const bool reads = step.call == CALL_GUEST_LEAVING && (has_sections() || is_qsbr());
    if (reads) {
        haft_thread_register(play.domain);
    }
    require_that(haft_worker_current(play.table, &thread.worker) == HAFT_OK, "haft_worker_current");
    step.call = CALL_INSERT;
    call_step(&thread, thread.worker, &step);
    if (!reads) { /* else its table would wait for the freed ones */
        step.call = CALL_FREE;
        call_step(&thread, thread.worker, &step);
    }
    if (guest->step->call == CALL_GUEST_LATE) {
        stay();
    }
    if (reads) {
        read_and_leave(guest);
        return NULL;
    }
    sem_post(&guest->is_ready);
    await(&guest->may_leave);
    return NULL;
}

/* Until it is about to leave. */
static pthread_t receive(struct guest *guest, const struct step *step)
{
    pthread_t thread;

    guest->step = step;
    sem_init(&guest->is_ready, 0, 0);
    sem_init(&guest->may_leave, 0, 0);
    require_that(pthread_create(&thread, NULL, visit, guest) == 0, "pthread_create");
    await(&guest->is_ready);
    return thread;
}

static void receive_guest(const struct step *step)
{
    struct guest guest;
    const struct call_under_way outer = begin_call(step->call, HAFT_NIL);
    const pthread_t thread = receive(&guest, step);

    sem_post(&guest.may_leave);
    pthread_join(thread, NULL);
    end_call(outer);
}

static void close_left(void)
{
    if (play.left != NULL) {
        const struct call_under_way outer = begin_call(CALL_CLOSE_LEFT, HAFT_NIL);

        require_that(haft_worker_close(play.left) == HAFT_OK, "haft_worker_close");
        end_call(outer);
        play.left = NULL;
    }
}

void let_crowd_go(struct thread *thread)
{
    while (play.crowd_count != 0) {
        note_worker_closing(thread->seat);
        require_that(haft_worker_close(play.crowd[--play.crowd_count]) == HAFT_OK,
                     "haft_worker_close");
        note_worker_closed(thread->seat);
    }
}

/* Until the workers' budget is spent, or the crowd is large; or it goes again. */
static void let_crowd_come(struct thread *thread)
{
    if (play.at_once) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_CROWD, HAFT_NIL);

    if (play.crowd_count != 0) {
        let_crowd_go(thread);
    } else {
        while (play.crowd_count < MOST_CROWD && !shim_budget_is_spent(play.table)) {
            if (!is_done(haft_worker_open(play.table, &play.crowd[play.crowd_count]),
                         "haft_worker_open")) {
                break;
            }
            play.crowd_count++;
            note_worker_opened(thread->seat);
        }
    }
    end_call(outer);
}

/* --- tables that close, and change hands --- */

static uint32_t open_workers(void)
{
    uint32_t open = ((play.left != NULL || play.has_guest) && is_clock(PLAN_WORKERS)) +
                    play.crowd_count + (play.set.commands != NULL);

    for (uint32_t i = 0; i < play.plan->threads; i++) {
        open += play.threads[i].worker != NULL && !play.threads[i].is_implicit;
    }
    return open;
}

/* Whether the table has ended, as it may; implicit workers end with it. */
static bool check_ending(haft_status status)
{
    const bool is_open = open_workers() != 0;

    if (status == HAFT_OK) {
        require_that(!is_open, "a table was closed with a worker open");
        require_that(find_pinned(0) == NULL, "a table was closed with an object pinned");
        return true;
    }
    require_that(status == HAFT_IN_USE && (is_open || find_pinned(0) != NULL),
                 "a table could not be closed");
    return false;
}

static haft_status close_in_section(void)
{
    return haft_table_close(play.table);
}

static haft_status unshare_in_section(void)
{
    haft_local *local;

    return haft_unshare(play.table, &local);
}

/* Both are refused in a section or an inner job, which then ends. */
static void leave_section(struct thread *thread, haft_status (*call)(void))
{
    if (in_section(thread)) {
        refuse_in_section(call, open_workers() != 0 ? HAFT_IN_USE : HAFT_IN_SECTION);
    }
    end_sections(thread);
}

static void go_on_after_close(haft_status status)
{
    if (check_ending(status)) {
        require_that(!play.plan->options.on_reclaim || play.reclaims == play.frees,
                     "on_reclaim did not run once for each freed object");
        forget_table();
        begin_table();
    }
}

static void give_up_reservations(void)
{
    struct reg *reg;

    while ((reg = claim_reserved(0)) != NULL) {
        model_aborted(reg);
        bare_abort(play.table, id_in(reg));
    }
}

static void unpin_all(void)
{
    struct reg *reg;

    while ((reg = find_pinned(0)) != NULL) {
        reg->pins--;
        expect(haft_unpin(play.table, id_in(reg)), HAFT_OK, "haft_unpin");
    }
}

/* Nothing keeps the table from ending any more.  The threads whose workers were closed, a bit
 * each. */
static uint32_t let_table_go(struct thread *thread)
{
    uint32_t closed = 0;

    end_sections(thread);
    end_set(thread);
    let_crowd_go(thread);
    close_left();
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        if (play.threads[i].worker != NULL && !play.threads[i].is_implicit) {
            end_worker(&play.threads[i]);
            closed |= UINT32_C(1) << i;
        }
    }
    give_up_reservations();
    unpin_all();
    return closed;
}

static void open_workers_again(uint32_t closed)
{
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        if ((closed >> i & 1) != 0) {
            begin_worker(&play.threads[i]);
        }
    }
}

static void try_close(struct thread *thread, const struct step *step)
{
    if (play.at_once) {
        return;
    }
    const uint32_t closed = step->at % 2 == 0 ? let_table_go(thread) : 0;
    const struct call_under_way outer = begin_call(CALL_TABLE_CLOSE, HAFT_NIL);

    leave_section(thread, close_in_section);
    const haft_status status = play_close_table();

    end_call(outer);
    go_on_after_close(status);
    open_workers_again(closed);
}

/* With the workers clock a guest that is still there keeps the table open. */
static haft_status close_beside(struct guest *guest, pthread_t thread)
{
    sem_post(&guest->may_leave);
    for (volatile uint32_t n = guest->step->at % 32 * 256; n != 0; n--) {
    }
    const haft_status status = play_close_table();

    pthread_join(thread, NULL);
    return status == HAFT_IN_USE && is_clock(PLAN_WORKERS) ? play_close_table() : status;
}

/* A guest ends while the table closes. */
static void try_close_beside_guest(struct thread *thread, const struct step *step)
{
    struct guest guest;
    uint32_t closed = 0;

    if (step->at % 2 == 0) {
        closed = let_table_go(thread);
        pass_grace_period(thread);
    }
    const struct call_under_way outer = begin_call(CALL_GUEST_LEAVING, HAFT_NIL);
    const pthread_t leaving = receive(&guest, step);

    play.has_guest = true;
    leave_section(thread, close_in_section);
    const haft_status status = close_beside(&guest, leaving);

    play.has_guest = false;
    end_call(outer);
    go_on_after_close(status);
    open_workers_again(closed);
}

static void have_guest(struct thread *thread, const struct step *step)
{
    if (play.at_once || play.left != NULL) {
        return;
    }
    if (step->call == CALL_GUEST_LEAVING) {
        try_close_beside_guest(thread, step);
    } else {
        receive_guest(step);
    }
}

static void tick(struct thread *thread)
{
    if (is_clock(PLAN_FRAME)) {
        pass_grace_period(thread);
    }
}

static void share_again(haft_local *local)
{
    const haft_share_options options = {
        .on_reclaim = play.plan->options.on_reclaim ? reclaim_callback : NULL,
        .reclaim_arg = &play,
        .waiting_bytes = waiting_bytes_of_plan(),
        .never_wait = play.plan->options.never_wait,
    };
    const haft_status status = haft_share(local, play.domain, &options, &play.table);

    if (status != HAFT_OK) {
        fail("haft_share", "%s", haft_status_name(status));
    }
}

/* What the table goes through while no thread has it. */
static haft_local *change(haft_local *local, uint32_t call)
{
    switch (call) {
    case CALL_REWIND:
        states_rewind(local);
        return local;
    case CALL_SAVE_LOAD:
        states_load(local);
        return local;
    case CALL_CLONE:
        return states_clone(local);
    default:
        return local;
    }
}

static void try_unshare(struct thread *thread, const struct step *step)
{
    haft_local *local;

    if (play.at_once || play.plan->options.restore_range != 0 ||
        play.plan->options.exact_capacity || play.plan->options.warn_at != 0) {
        return; /* shared again, the table would not be the plan's */
    }
    const uint32_t closed = step->at % 2 == 0 ? let_table_go(thread) : 0;

    if (count_in(&play.reserved) != 0) {
        open_workers_again(closed);
        return;
    }
    const struct call_under_way outer = begin_call(step->call, HAFT_NIL);

    leave_section(thread, unshare_in_section);
    const haft_status status = play_unshare_table(&local);

    end_call(outer);
    if (check_ending(status)) {
        play.is_shared_again = true;
        for (uint32_t i = 0; i < MOST_THREADS; i++) { /* implicit workers end with the table */
            play.threads[i].worker = NULL;
            forget_workers(&play.seats[i]);
        }
        play.left = NULL;
        play.frees_before = word_in(&play.frees);
        play.refused_before = word_in(&play.refused_frees);
        share_again(change(local, step->call));
        play.view = haft_table_view(play.table);
    }
    begin_side();
    open_workers_again(closed);
}

/* --- what the system does --- */

static void begin_refusing(void)
{
    if (!play.at_once && backend_has_system()) {
        turn_memory_off(true);
        end_call(begin_call(CALL_REFUSE_MEMORY, HAFT_NIL));
    }
}

/* Foreign clocks would wait for threads that are gone: their domains have the frame clock now. */
static void go_on_forked(void)
{
    static struct plan forked;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forked = *play.plan;
    if (has_sections() || is_qsbr()) {
        forked.options.clock = PLAN_FRAME;
    }
    play.plan = &forked;
    play.is_forked = true;
    forget_export();
    play.left = NULL; /* its thread has ended: it is closed */
    play.seats[0].is_registered = false;
    let_go(&play.seats[0]);
    memset(play.made, 0, sizeof play.made);
    if (play.is_shared_again) { /* slots that the local table left may count as freed */
        const uint64_t freed = haft_table_stats_get(play.table).freed;
        const uint64_t since = word_in(&play.frees) - play.frees_before;

        play.frees_before -= freed > since ? freed - since : 0;
    }
}

static void await_child(pid_t child)
{
    int status = 0;

    require_that(child > 0 && waitpid(child, &status, 0) == child, "fork");
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && watch->kind[0] != '\0') {
        _exit(WEXITSTATUS(status)); /* the child has said which rule it broke */
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail("the child of a fork died", "status %#x", (unsigned)status);
    }
}

/* Once in a play: the child plays the rest, then the parent does. */
static void try_fork(struct thread *thread)
{
    if (play.at_once || play.has_forked || !backend_has_system() || is_ck()) {
        return;
    }
    play.has_forked = true;
    if (thread->seat->depth != 0) {
        end_sections(thread);
    }
    const struct call_under_way outer = begin_call(CALL_FORK, HAFT_NIL);

    haft_before_fork();
    const pid_t child = backend_fork();

    if (child == 0) {
        haft_after_fork_child();
        end_call(outer);
        go_on_forked();
        check_census();
        check_registers();
        return;
    }
    haft_after_fork_parent();
    end_call(outer);
    await_child(child);
}

/* No call of the library's alone: it counts as one. */
static void look_over(struct thread *thread, const struct step *step)
{
    end_call(begin_call(step->call, HAFT_NIL));
    if (step->call == CALL_CENSUS) {
        check_census();
        check_registers();
    } else if (step->call == CALL_DRAIN) {
        drain(step);
    } else {
        check_progress(thread, step);
    }
}

void call_alone(struct thread *thread, const struct step *step)
{
    watch->call = step->call;
    turn_memory_off(false);
    check_census();
    switch (step->call) {
    case CALL_GUEST:
    case CALL_GUEST_LATE:
    case CALL_GUEST_LEAVING:
        have_guest(thread, step);
        break;
    case CALL_CLOSE_LEFT:
        close_left();
        break;
    case CALL_TICK:
        tick(thread);
        break;
    case CALL_CENSUS:
    case CALL_DRAIN:
    case CALL_PROGRESS:
        look_over(thread, step);
        break;
    case CALL_UNSHARE_SHARE:
    case CALL_REWIND:
    case CALL_SAVE_LOAD:
    case CALL_CLONE:
        try_unshare(thread, step);
        break;
    case CALL_TABLE_CLOSE:
        try_close(thread, step);
        break;
    case CALL_CROWD:
        let_crowd_come(thread);
        break;
    case CALL_FORK:
        try_fork(thread);
        break;
    case CALL_REFUSE_MEMORY:
        begin_refusing();
        break;
    default:
        fail("no such call", "%u", step->call);
    }
}
