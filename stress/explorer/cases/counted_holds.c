/* One counted object, which threads hold, copy and end at once. */
#include "stress/explorer/cases/counted.h"

static haft_id first;
static shared_u64 next;

/* The first object, and whichever has come after it. */
static void hold_both(void)
{
    if (hold(first)) {
        let_go(first);
    }
    const haft_id id = told(&next);

    if (id.bits != 0 && hold(id)) {
        let_go(id);
    }
}

static void insert_next(void)
{
    haft_id id;

    insert_counted(&id);
    tell(&next, id);
}

static void insert_first(void)
{
    first = insert_surely();
    tell(&next, HAFT_NIL);
}

static void open_with_one(haft_counted_options options)
{
    options.capacity = 1;
    open_counted(options, NULL);
    insert_first();
}

/* --- counted_hold: acquire against free, the end, and the slot's next life --- */

static void set_up_hold(void)
{
    open_with_one((haft_counted_options){0});
}

/* Met where another thread holds it: its release ends the object. */
static void free_first(void)
{
    if (free_counted(first) && is_held(first)) {
        met();
    }
}

static void hold_body(uint32_t thread)
{
    choose_shard(thread);
    if (thread == 0) {
        hold_both();
    } else if (thread == 1) {
        free_first();
    } else {
        if (hold(first)) {
            let_go(first);
        }
        free_first();
        insert_next();
    }
}

EXPLORE(counted_hold, 3, set_up_hold, hold_body, close_counted,
        "one thread ends an object, once, and none while it is held");

static void set_up_free(void)
{
    open_plain((haft_counted_options){.capacity = 1});
    insert_first();
}

EXPLORE(counted_free, 3, set_up_free, hold_body, close_counted,
        "a slot without on_destroy is free when its object ends, and not while it is held");

/* --- counted_release: one release too many, also while the object ends, and after --- */

static shared_u64 releases;

static void set_up_release(void)
{
    open_with_one((haft_counted_options){0});
    poke(&releases, 0);
    require(haft_counted_acquire(counted, first) != NULL, "no hold");
}

/* The object has one holder, and two threads release it: the one that is told HAFT_OK was it. */
static void release_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 2) {
        free_counted(first);
        insert_next();
        if (told(&next).bits != 0 && hold(told(&next))) {
            let_go(told(&next));
        }
    } else {
        const haft_status status = haft_counted_release(counted, first);

        require(status == HAFT_OK || status == HAFT_NOT_HELD, "a release is told something odd");
        require(status != HAFT_OK || add(&releases, 1) == 0, "one hold is released twice");
    }
    race_end();
}

static void tear_down_release(void)
{
    require(peek(&releases) == 1, "a hold is not released");
    close_counted();
}

EXPLORE(counted_release, 3, set_up_release, release_body, tear_down_release,
        "a release too many changes nothing, in this life or the next");

/* --- counted_again: a holder holds once more, whether the object was freed or not --- */

static uint64_t said_before; /* plain: by the thread that frees */

static void hear_at_end(haft_id id)
{
    (void)id;
    require(said_before == 1, "on_destroy runs before what the thread did that freed");
}

static void set_up_again(void)
{
    said_before = 0;
    open_counted((haft_counted_options){.capacity = 1}, hear_at_end);
    insert_first();
}

static void again_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 1) {
        said_before = 1;
        free_counted(first);
    } else if (hold(first)) {
        hold_again(first);
        let_go(first);
        require(ends_of(first) == 0, "an object ends before its last release");
        let_go(first);
    }
    race_end();
}

EXPLORE(counted_again, 2, set_up_again, again_body, close_counted,
        "a holder holds an object once more, and it ends with the last release");

/* --- counted_is_live: a thread that is told of an id sees what came before it --- */

static haft_id asked(uint32_t thread)
{
    const haft_id id = told(&next);
    haft_id found = HAFT_NIL;

    if (thread == 1) {
        return haft_counted_is_live(counted, id) ? id : HAFT_NIL;
    } else if (thread == 2) {
        return haft_counted_diagnose(counted, id) == HAFT_OK ? id : HAFT_NIL;
    }
    return haft_counted_id_at(counted, HAFT_FIRST_INDEX, &found) == HAFT_OK ? found : HAFT_NIL;
}

static void set_up_is_live(void)
{
    said_before = 0;
    open_plain((haft_counted_options){.capacity = 1});
    tell(&next, HAFT_NIL);
}

static void is_live_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        said_before = 1;
        insert_next();
    } else if (asked(thread).bits != 0) {
        require(said_before == 1, "an id is live before what its thread did");
    }
    race_end();
}

EXPLORE(counted_is_live, 4, set_up_is_live, is_live_body, close_counted,
        "a thread that is told that an id is live sees what came before it was");

/* --- counted_require: what an id is reported as, that comes to life and ends meanwhile --- */

static haft_status reported;

static void report(const haft_bad_access *access, void *arg)
{
    (void)arg;
    reported = access->status;
}

static void set_up_require(void)
{
    open_plain((haft_counted_options){.capacity = 1, .on_bad_access = report});
}

/* The id is the first that the table issues. */
static void require_body(uint32_t thread)
{
    const haft_id id = haft_id_pack(haft_counted_info(counted).layout, HAFT_FIRST_INDEX, 1, 0);

    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        haft_counted_publish(counted, reserve_counted());
        free_counted(id);
    } else if (haft_counted_require(counted, id) != NULL) {
        require_status(haft_counted_release(counted, id), HAFT_OK, "releasing");
    } else {
        require(reported == HAFT_NEVER_ISSUED || reported == HAFT_RESERVED ||
                    reported == HAFT_STALE,
                "an id is reported as what it never was");
    }
    race_end();
}

EXPLORE(counted_require, 2, set_up_require, require_body, close_counted,
        "an id that is required is held, or reported as what it was at some moment");

/* --- counted_take: the value goes out to one thread, and to none while it is held --- */

static void take_body(uint32_t thread)
{
    choose_shard(thread);
    if (thread == 0) {
        if (take_counted(first) == HAFT_IN_USE) {
            met();
        }
        insert_next();
    } else if (thread == 1) {
        hold_both();
    } else {
        free_counted(first);
    }
}

EXPLORE(counted_take, 3, set_up_hold, take_body, close_counted,
        "an object is taken by one thread, unheld and not destroyed, or freed by one");

/* --- counted_copy: copies against free, wiping and the slot's next life --- */

static void set_up_copy(void)
{
    open_with_one((haft_counted_options){.copies = true, .wipe = true});
}

static void set_up_copy_word(void)
{
    open_with_one((haft_counted_options){.copies = true, .object_size = sizeof(uint64_t)});
}

static void copy_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    if (thread == 0) {
        copy_counted(first);
        const haft_id id = told(&next);

        require(id.bits == 0 || !copy_counted(first), "a dead object is copied");
        if (id.bits != 0) {
            copy_counted(id);
        }
    } else {
        free_counted(first);
        insert_next();
        free_counted(told(&next));
        insert_next();
    }
    race_end();
}

EXPLORE(counted_copy, 2, set_up_copy, copy_body, close_counted,
        "a copy has the words of one object, which was live");
EXPLORE(counted_copy_word, 2, set_up_copy_word, copy_body, close_counted,
        "a copy of 8 bytes is the object's, which was live");
