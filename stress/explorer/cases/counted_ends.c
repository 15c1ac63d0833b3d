/*
 * Ends of counted objects: chains through two tables, signal handlers and forks at every step, and
 * closing beside calls that are under way.
 */
#include "stress/explorer/cases/counted.h"
#include "stress/explorer/watch.h"
#include <stddef.h>

static haft_id ids[4];

static void open_with(haft_counted_options options, uint32_t objects, void (*also)(haft_id id))
{
    open_counted(options, also);
    for (uint32_t i = 0; i < objects; i++) {
        ids[i] = insert_surely();
    }
}

/* --- counted_chain: an end leads to others, in this table and through another one --- */

static haft_counted *other;
static haft_id others[2];
static _Thread_local uint32_t depth; /* of on_destroy: in this table, and in the other one */
static _Thread_local uint32_t other_depth;
static shared_u64 other_ends;

/* 0 frees 1 and, in the other table, 0, which frees 2, which frees 1 there. */
static void end_more(haft_id id)
{
    require(++depth == 1, "on_destroy runs inside on_destroy");
    require_status(haft_counted_close(counted), HAFT_IN_USE, "closing in on_destroy");
    if (id.bits == ids[0].bits) {
        free_counted(ids[1]);
        haft_counted_free(other, others[0]);
    } else if (id.bits == ids[2].bits) {
        haft_counted_free(other, others[1]);
    }
    depth--;
}

static void end_other(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)arg;
    require(++other_depth == 1, "on_destroy runs inside on_destroy");
    add(&other_ends, 1);
    if (id.bits == others[0].bits) {
        free_counted(ids[2]);
    }
    other_depth--;
}

static void set_up_chain(void)
{
    const haft_counted_options options = {
        .capacity = 2, .layout = {3, 5, 0, 0}, .on_destroy = end_other};

    open_with((haft_counted_options){.capacity = 3}, 3, end_more);
    require_status(haft_counted_open(&options, &other), HAFT_OK, "opening");
    for (int i = 0; i < 2; i++) {
        require_status(haft_counted_insert(other, NULL, &others[i]), HAFT_OK, "inserting");
    }
    poke(&other_ends, 0);
}

static void chain_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        if (free_counted(ids[0])) {
            require(ends_of(ids[0]) == 1, "a free returns before the object has ended");
        }
    } else if (hold(ids[2])) {
        free_counted(ids[1]);
        let_go(ids[2]);
    }
    race_end();
}

static void tear_down_chain(void)
{
    require_all_ended();
    require(peek(&other_ends) == 2, "an object of the other table has not ended");
    require_status(haft_counted_close(other), HAFT_OK, "closing");
    close_counted();
}

EXPLORE(counted_chain, 2, set_up_chain, chain_body, tear_down_chain,
        "what ends in an on_destroy ends after it, once, before the outermost call returns");

/* --- counted_respawn: each end begins another life, at the full capacity --- */

static shared_u64 spawned;

static void respawn(haft_id id)
{
    haft_id own;

    (void)id;
    require(++depth == 1, "on_destroy runs inside on_destroy");
    if (add(&spawned, 1) < 3) {
        const haft_status status = insert_counted(&own);

        /* The slot of `id` is not free before this returns; the other one may be. */
        require(status == HAFT_OK || status == HAFT_FULL, "an insertion is told something odd");
        if (status == HAFT_OK) {
            free_counted(own);
            require(ends_of(own) == 0, "an object ends inside an on_destroy");
        }
    }
    depth--;
}

static void set_up_respawn(void)
{
    poke(&spawned, 0);
    open_with((haft_counted_options){.capacity = 2}, 2, respawn);
}

static void respawn_body(uint32_t thread)
{
    haft_id id;

    choose_shard(thread);
    race_begin();
    free_counted(ids[thread]);
    require(ends_of(ids[thread]) == 1, "a free returns before the object has ended");
    if (insert_counted(&id) == HAFT_OK) {
        free_counted(id);
    }
    race_end();
}

static void tear_down_respawn(void)
{
    require_all_ended();
    insert_surely();
    insert_surely();
    close_counted();
}

EXPLORE(counted_respawn, 2, set_up_respawn, respawn_body, tear_down_respawn,
        "an on_destroy inserts and frees at the full capacity, and no slot is lost");

/* --- counted_signal: a handler frees, releases and acquires at every step of an end --- */

static void end_with_child(haft_id id)
{
    require(++depth == 1, "on_destroy runs inside on_destroy");
    if (id.bits == ids[0].bits) {
        free_counted(ids[1]);
    }
    depth--;
}

/* 2 is live, 3 freed and held. */
static void end_others(void)
{
    if (hold(ids[0])) {
        let_go(ids[0]);
    }
    free_counted(ids[2]);
    let_go(ids[3]);
}

static void handle_signal(void)
{
    met();
    end_others();
}

static void set_up_signal(void)
{
    open_with((haft_counted_options){.capacity = 4}, 4, end_with_child);
    require(hold(ids[3]), "no hold");
    free_counted(ids[3]);
}

/* Thread 1 is the signal. */
static void signal_body(uint32_t thread)
{
    if (thread == 1) {
        signal_raise();
        return;
    }
    signal_handle(handle_signal);
    free_counted(ids[0]);
    require(ends_of(ids[0]) == 1 && ends_of(ids[1]) == 1, "a free returns before the end");
    require(ends_of(ids[2]) == ends_of(ids[3]), "a handler's object is lost");
    const haft_id id = insert_surely();

    free_counted(id);
    if (signal_handle(NULL)) {
        end_others();
    }
    require_all_ended();
}

EXPLORE(counted_signal, 2, set_up_signal, signal_body, close_counted,
        "what a signal handler ends has ended when the call that it interrupts returns");

/* --- counted_signal_plain: the same without on_destroy, where nothing is deferred --- */

static void open_plain_and_hold(haft_counted_options options)
{
    open_plain(options);
    for (uint32_t i = 0; i < 4; i++) {
        ids[i] = insert_surely();
    }
    require(hold(ids[3]), "no hold");
    free_counted(ids[3]);
}

static void set_up_signal_plain(void)
{
    open_plain_and_hold((haft_counted_options){.capacity = 4});
}

static void set_up_signal_queue(void)
{
    open_plain_and_hold(
        (haft_counted_options){.capacity = 4, .min_free = 1, .layout = {4, 4, 0, 0}});
}

/* Thread 1 is the signal; 1 stays live. */
static void signal_plain_body(uint32_t thread)
{
    if (thread == 1) {
        signal_raise();
        return;
    }
    signal_handle(handle_signal);
    free_counted(ids[0]);
    const haft_id id = insert_surely();

    require(hold(id), "no hold");
    let_go(id);
    require(take_counted(id), "an object without holders is not taken");
    if (signal_handle(NULL)) {
        end_others();
    }
    for (int i = 0; i < 3; i++) {
        insert_surely();
    }
}

EXPLORE(counted_signal_plain, 2, set_up_signal_plain, signal_plain_body, close_counted,
        "no slot is lost to a signal handler or to the call that it interrupts");
EXPLORE(counted_signal_queue, 2, set_up_signal_queue, signal_plain_body, close_counted,
        "the same with min_free: a handler waits for no step of the call");

/* --- counted_fork: the child goes on with what calls that are cut off leave --- */

#define FORKER 2

static bool calls[2];       /* threads that are in a call, and may have a slot in their hand */
static haft_id inserted[2]; /* by these threads */

static void set_up_fork(void)
{
    open_with((haft_counted_options){.capacity = 4}, 3, NULL);
    require(hold(ids[1]), "no hold");
    inserted[0] = HAFT_NIL;
    inserted[1] = HAFT_NIL;
}

static void set_up_fork_queue(void)
{
    open_with((haft_counted_options){.capacity = 3, .min_free = 1}, 3, NULL);
    require(hold(ids[1]), "no hold");
    inserted[0] = HAFT_NIL;
    inserted[1] = HAFT_NIL;
}

static void act(uint32_t thread)
{
    calls[thread] = true;
    free_counted(ids[thread]);
    calls[thread] = false;
    if (thread == 1) {
        calls[1] = true;
        let_go(ids[1]);
        calls[1] = false;
    }
    calls[thread] = true;
    insert_counted(&inserted[thread]);
    calls[thread] = false;
}

/* An object that the others have left live, or freed and held; or none any more. */
static void end_left(haft_id id)
{
    if (id.bits == 0) {
        return;
    }
    const uint64_t before = ends_of(id);

    forget_holders(id);
    const bool is_freed = haft_counted_free(counted, id) == HAFT_OK;
    const bool is_released = haft_counted_release(counted, id) == HAFT_OK;

    require(ends_of(id) == before + (is_freed || is_released),
            "an object that is left does not end");
}

/* Each slot that no call had is there. */
static void go_on(void)
{
    const uint64_t calls_cut_off = (uint64_t)calls[0] + calls[1];
    const uint64_t capacity = haft_counted_stats_get(counted).capacity;
    uint64_t slots = 0;
    haft_id id;

    for (int i = 0; i < 3; i++) {
        end_left(ids[i]);
    }
    end_left(inserted[0]);
    end_left(inserted[1]);
    while (slots < capacity && insert_counted(&id) == HAFT_OK) {
        slots++;
        require(hold(id), "the child's own object is not there");
        let_go(id);
    }
    require(slots + calls_cut_off >= capacity, "the child has lost a slot that no call had");
}

static void fork_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == FORKER) {
        fork_here();
        go_on();
    } else {
        act(thread);
        race_end();
        end_before_fork();
        return;
    }
    race_end();
}

/* Slots that are lost keep the table from being closed. */
static void close_or_abandon(void)
{
    const haft_status status = haft_counted_close(counted);

    require(status == HAFT_OK || status == HAFT_IN_USE, "closing is told something odd");
    require(status == HAFT_OK || calls[0] || calls[1], "a table without calls is in use");
    if (status != HAFT_OK) {
        haft_counted_abandon(counted);
    }
    watch_forget();
}

EXPLORE(counted_fork, 3, set_up_fork, fork_body, close_or_abandon,
        "a call that a fork cuts off costs the slots in its hand, and no more");
EXPLORE(counted_fork_queue, 3, set_up_fork_queue, fork_body, close_or_abandon,
        "the same with min_free");

/* --- counted_close_wait: beside release, insertion, free, and the end of a reservation --- */

static haft_id reserved;
static bool is_closed;

static void open_to_close(haft_counted_options options)
{
    open_with(options, 2, NULL);
    require(hold(ids[0]), "no hold");
    reserved = reserve_counted();
    is_closed = false;
}

static void set_up_close(void)
{
    open_to_close((haft_counted_options){.capacity = 4});
}

static void set_up_close_queue(void)
{
    open_to_close((haft_counted_options){.capacity = 3, .min_free = 1});
}

/* A hold and a reservation, which the table counts, are given back last. */
static void give_back(uint32_t thread)
{
    haft_id id;

    if (thread == 1) {
        const haft_status status = insert_counted(&id);

        require(status == HAFT_OK || status == HAFT_CLOSED || status == HAFT_FULL,
                "an insertion is told something odd");
        free_counted(ids[1]);
        let_go(ids[0]);
    } else {
        free_counted(ids[1]);
        haft_counted_publish(counted, reserved);
    }
}

static void close_wait_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        require_status(haft_counted_close_wait(counted), HAFT_OK, "closing");
    } else {
        give_back(thread);
    }
    race_end();
}

static void tear_down_close_wait(void)
{
    require_all_ended();
    watch_forget();
}

EXPLORE(counted_close_wait, 3, set_up_close, close_wait_body, tear_down_close_wait,
        "closing waits for all that is in use, and releases memory that no call touches");
EXPLORE(counted_close_queue, 3, set_up_close_queue, close_wait_body, tear_down_close_wait,
        "the same with min_free");

/* --- counted_close_links: the queue goes round while it is closed --- */

static void set_up_close_links(void)
{
    open_with((haft_counted_options){.capacity = 3, .min_free = 1}, 3, NULL);
    require(hold(ids[2]), "no hold");
}

/* The first slot comes back behind the second. */
static void close_links_body(uint32_t thread)
{
    haft_id again[2] = {HAFT_NIL, HAFT_NIL};

    race_begin();
    if (thread == 0) {
        require_status(haft_counted_close_wait(counted), HAFT_OK, "closing");
    } else {
        free_counted(ids[0]);
        free_counted(ids[1]);
        insert_counted(&again[0]);
        insert_counted(&again[1]);
        if (again[1].bits != 0) {
            free_counted(again[1]);
        }
        let_go(ids[2]);
    }
    race_end();
}

EXPLORE(counted_close_links, 2, set_up_close_links, close_links_body, tear_down_close_wait,
        "closing counts each slot of the queue once, as it goes round");

/* --- counted_close: may be refused, and called again --- */

static void close_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        const haft_status status = haft_counted_close(counted);

        require(status == HAFT_OK || status == HAFT_IN_USE, "closing is told something odd");
        is_closed = status == HAFT_OK;
    } else if (thread == 1) {
        let_go(ids[0]);
    } else {
        abort_counted(reserved);
    }
    race_end();
}

static void tear_down_close(void)
{
    if (is_closed) {
        tear_down_close_wait();
    } else {
        close_counted();
    }
}

EXPLORE(counted_close, 3, set_up_close, close_body, tear_down_close,
        "a table closes when nothing of it is in use, and may be closed again until then");

/* --- counted_close_looks: beside looks, which go on where the table stays --- */

static void set_up_close_looks(void)
{
    open_with((haft_counted_options){.capacity = 4}, 2, NULL);
    require(hold(ids[0]), "no hold");
}

/* The end of the walk is that of the slots ever used. */
static void look(void)
{
    haft_counted_cursor cursor = {0};
    haft_id id;
    void *object;

    while (haft_counted_cursor_next(counted, &cursor, &id, &object)) {
        require_status(haft_counted_release(counted, id), HAFT_OK, "releasing");
    }
    require(cursor.passed == 2, "a walk goes on beyond the slots ever used");
    require(haft_counted_stats_get(counted).high_water == 2, "the high water is not exact");
}

static void close_looks_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        require_status(haft_counted_close(counted), HAFT_IN_USE, "closing while one is held");
    } else {
        look();
    }
    race_end();
}

static void tear_down_held(void)
{
    let_go(ids[0]);
    close_counted();
}

EXPLORE(counted_close_looks, 2, set_up_close_looks, close_looks_body, tear_down_held,
        "closing hides from no walk how many slots were used");

/* --- counted_close_insert: an insertion beside closing finds a slot, or the table closed --- */

static void set_up_close_insert(void)
{
    open_with((haft_counted_options){.capacity = 3, .min_free = 1}, 1, NULL);
    require(hold(ids[0]), "no hold");
}

static void close_insert_body(uint32_t thread)
{
    haft_id id;

    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        require_status(haft_counted_close(counted), HAFT_IN_USE, "closing while one is held");
    } else {
        const haft_status status = insert_counted(&id);

        require(status == HAFT_OK || status == HAFT_CLOSED, "a table with free slots is full");
    }
    race_end();
}

EXPLORE(counted_close_insert, 2, set_up_close_insert, close_insert_body, tear_down_held,
        "a table that is being closed is closed, and not full");
