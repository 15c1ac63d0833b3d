/*
 * Ends of counted objects: chains through two tables, signal handlers and forks at every step, and
 * closing beside calls that are under way.
 */
#include "stress/explorer/cases/counted.h"
#include "stress/explorer/scheduler.h"
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
    require_status(take_counted(id), HAFT_OK, "taking an object without holders");
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

static uint64_t in_hand[2]; /* slots that a thread may have in its hand: in a call, or reserved */
static haft_id inserted[2]; /* by these threads */
static void (*act)(uint32_t thread);

static void open_to_fork(haft_counted_options options, void (*also)(haft_id id),
                         void (*acted)(uint32_t thread))
{
    open_with(options, 3, also);
    require(hold(ids[1]), "no hold");
    for (int i = 0; i < 2; i++) {
        in_hand[i] = 0;
        inserted[i] = HAFT_NIL;
    }
    act = acted;
}

/* 0 and 1 are freed, 1 by its holder, and others inserted. */
static void free_and_insert(uint32_t thread)
{
    in_hand[thread] = 1;
    free_counted(ids[thread]);
    in_hand[thread] = 0;
    if (thread == 1) {
        in_hand[1] = 1;
        let_go(ids[1]);
        in_hand[1] = 0;
    }
    in_hand[thread] = 1;
    insert_counted(&inserted[thread]);
    in_hand[thread] = 0;
}

static void set_up_fork(void)
{
    open_to_fork((haft_counted_options){.capacity = 4}, NULL, free_and_insert);
}

static void set_up_fork_queue(void)
{
    open_to_fork((haft_counted_options){.capacity = 3, .min_free = 1}, NULL, free_and_insert);
}

/* 0 is taken and another one published; 1, whose holder holds it once more, given back; a
 * reservation given up. */
static void take_and_reserve(uint32_t thread)
{
    in_hand[thread] = 1;
    if (thread == 0) {
        require_status(take_counted(ids[0]), HAFT_OK, "taking an object without holders");
        inserted[0] = reserve_counted();
        haft_counted_publish(counted, inserted[0]);
    } else {
        hold_again(ids[1]);
        let_go(ids[1]);
        abort_counted(reserve_counted());
    }
    in_hand[thread] = 0;
}

static void set_up_fork_take(void)
{
    open_to_fork((haft_counted_options){.capacity = 4}, NULL, take_and_reserve);
}

/* 0 frees 2, which waits in the chain of the call that destroys 0. */
static void end_third(haft_id id)
{
    if (id.bits == ids[0].bits) {
        free_counted(ids[2]);
    }
}

static void free_in_chain(uint32_t thread)
{
    if (thread == 0) {
        in_hand[0] = 2;
        free_counted(ids[0]);
        in_hand[0] = 0;
    } else {
        free_and_insert(1);
    }
}

static void set_up_fork_chain(void)
{
    open_to_fork((haft_counted_options){.capacity = 4}, end_third, free_in_chain);
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
    bool is_released = false;

    while (haft_counted_release(counted, id) == HAFT_OK) {
        is_released = true;
    }
    require(ends_of(id) == before + (is_freed || is_released),
            "an object that is left does not end");
}

/* Each slot that no call had is there. */
static void go_on(void)
{
    const uint64_t lost = in_hand[0] + in_hand[1];
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
    require(slots + lost >= capacity, "the child has lost a slot that no thread had in its hand");
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
    require(status == HAFT_OK || in_hand[0] + in_hand[1] != 0, "a table without calls is in use");
    if (status != HAFT_OK) {
        haft_counted_abandon(counted);
    }
    watch_forget();
}

EXPLORE(counted_fork, 3, set_up_fork, fork_body, close_or_abandon,
        "a call that a fork cuts off costs the slots in its hand, and no more");
EXPLORE(counted_fork_queue, 3, set_up_fork_queue, fork_body, close_or_abandon,
        "the same with min_free");
EXPLORE(counted_fork_take, 3, set_up_fork_take, fork_body, close_or_abandon,
        "a call that takes, reserves, publishes, gives up or holds once more, in place of these");
EXPLORE(counted_fork_chain, 3, set_up_fork_chain, fork_body, close_or_abandon,
        "a call that destroys and is cut off costs its chain as well");

/* --- counted_fork_close: while another thread closes --- */

static void set_up_fork_close(void)
{
    open_with((haft_counted_options){.capacity = 3}, 2, NULL);
    require(hold(ids[0]), "no hold");
}

/* The child's own table, as far as closing has come, until it abandons it. */
static void use_closing(void)
{
    haft_id id;
    const haft_status status = insert_counted(&id);

    require(status == HAFT_OK || status == HAFT_CLOSED, "an insertion is told something odd");
    require(!hold(id) || status == HAFT_OK, "an object is held that was not inserted");
    require(haft_counted_again(counted, ids[0]), "a hold is lost");
    require_status(haft_counted_release(counted, ids[0]), HAFT_OK, "releasing");
}

static void fork_close_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 1) {
        fork_here();
        use_closing();
    } else {
        require_status(haft_counted_close(counted), HAFT_IN_USE, "closing while one is held");
        race_end();
        end_before_fork();
        return;
    }
    race_end();
}

static void abandon(void)
{
    haft_counted_abandon(counted);
    watch_forget();
}

EXPLORE(counted_fork_close, 2, set_up_fork_close, fork_close_body, abandon,
        "the child of a fork that cuts closing off goes on with what it holds");

/* --- counted_close_wait: beside release, insertion, free, and the end of a reservation --- */

static haft_id reserved;
static shared_u64 is_closed;

static void open_to_close(haft_counted_options options)
{
    open_with(options, 2, NULL);
    require(hold(ids[0]), "no hold");
    reserved = reserve_counted();
    poke(&is_closed, false);
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

static void try_to_close(void)
{
    const haft_status status = haft_counted_close(counted);

    require(status == HAFT_OK || status == HAFT_IN_USE, "closing is told something odd");
    poke(&is_closed, status == HAFT_OK);
}

/* Met where a call that gives back has not ended when closing has. */
static void close_body(uint32_t thread)
{
    choose_shard(thread);
    if (thread == 0) {
        try_to_close();
        return;
    }
    if (thread == 1) {
        let_go(ids[0]);
    } else {
        abort_counted(reserved);
    }
    if (peek(&is_closed)) {
        met();
    }
}

static void tear_down_close(void)
{
    if (peek(&is_closed)) {
        tear_down_close_wait();
    } else {
        close_counted();
    }
}

EXPLORE(counted_close, 3, set_up_close, close_body, tear_down_close,
        "a table closes when nothing of it is in use, and may be closed again until then");

/* --- counted_close_seen: beside the insertion whose object another thread has seen --- */

static void set_up_close_seen(void)
{
    open_plain((haft_counted_options){.capacity = 1});
    free_counted(insert_surely());
    ids[0] = haft_id_pack(haft_counted_info(counted).layout, HAFT_FIRST_INDEX, 2, 0);
    poke(&is_closed, false);
}

static void close_seen_body(uint32_t thread)
{
    haft_id id;

    choose_shard(0); /* where the slot is */
    if (thread == 1) {
        while (!haft_counted_is_live(counted, ids[0])) {
            schedule_yield();
        }
        try_to_close();
        require(peek(&is_closed), "an object that was seen keeps its table open");
        return;
    }
    require_status(insert_counted(&id), HAFT_OK, "inserting");
    require(id.bits == ids[0].bits, "the second id is another one");
    if (peek(&is_closed)) {
        met();
    }
}

EXPLORE(counted_close_seen, 2, set_up_close_seen, close_seen_body, tear_down_close,
        "an insertion is over for the table when its object is live");

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

/* Without a queue; what is freed beside closing ends once. */
static void set_up_close_free(void)
{
    open_with((haft_counted_options){.capacity = 3}, 2, NULL);
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

static void close_free_body(uint32_t thread)
{
    if (thread == 2) {
        choose_shard(thread);
        race_begin();
        free_counted(ids[1]);
        require(ends_of(ids[1]) <= 1, "an object ends twice");
        race_end();
    } else {
        close_insert_body(thread);
    }
}

EXPLORE(counted_close_free, 3, set_up_close_free, close_free_body, tear_down_held,
        "an object ends once, whether closing frees it or another thread beside it");
