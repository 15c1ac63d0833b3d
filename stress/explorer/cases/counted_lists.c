/*
 * Free slots of counted tables: a slot in one place, HAFT_FULL only of a table that is.  White-box:
 * threads change their shard, as if others went on with what they know; the second look at heads.
 */
#include "concurrent/counted/shards.h"
#include "stress/explorer/cases/counted.h"
#include "stress/explorer/scheduler.h"

#define SLOTS 4 /* at most */

static haft_id ids[SLOTS];
static shared_u64 owners[8]; /* of each slot, by index: threads that may use it alone */

static void fill(haft_counted_options options, uint32_t objects)
{
    open_plain(options);
    for (uint32_t i = 0; i < objects; i++) {
        ids[i] = insert_surely();
    }
    for (int i = 0; i < 8; i++) {
        poke(&owners[i], 0);
    }
}

/* --- counted_shard: slots go round between two threads with one shard --- */

static shared_u64 *owner_of(haft_id id)
{
    return &owners[haft_id_index(haft_counted_info(counted).layout, id)];
}

static haft_id insert_alone(void)
{
    const haft_id id = insert_surely();

    require(add(owner_of(id), 1) == 0, "two objects in one slot");
    return id;
}

static void free_alone(haft_id id)
{
    require(add(owner_of(id), UINT64_MAX) == 1, "a slot has lost its object");
    require(free_counted(id), "another thread has freed an object");
}

static void set_up_shard(void)
{
    fill((haft_counted_options){.capacity = 4}, 4);
    for (int i = 1; i < 4; i++) {
        require(free_counted(ids[i]), "no free");
    }
    poke(owner_of(ids[0]), 1);
}

/* A thread that was second somewhere has moved. */
static haft_id insert_in_first(void)
{
    choose_shard(0);
    return insert_alone();
}

static void free_in_first(haft_id id)
{
    choose_shard(0);
    free_alone(id);
}

static void shard_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        free_in_first(insert_in_first());
    } else {
        const haft_id own = insert_in_first();
        const haft_id other = insert_in_first();

        free_in_first(own);
        free_in_first(other);
    }
    race_end();
}

static void shard_bodies(uint32_t thread)
{
    shard_body(thread);
    if (thread == 1) {
        free_in_first(ids[0]);
    }
}

EXPLORE(counted_shard, 2, set_up_shard, shard_bodies, close_counted,
        "a slot goes from one thread to the next, with its last life over");

/* --- counted_move_*: of two threads at one shard one moves to the next; else none is met --- */

static uint32_t number_at_first(void)
{
    choose_shard(0);
    return shards_thread;
}

static void look_whether_moved(uint32_t number)
{
    if (shards_thread != number) {
        met();
    }
}

static void set_up_move(void)
{
    fill((haft_counted_options){.capacity = 4}, 2);
}

static void move_free_body(uint32_t thread)
{
    const uint32_t number = number_at_first();

    require(free_counted(ids[thread]), "no free");
    look_whether_moved(number);
}

EXPLORE(counted_move_free, 2, set_up_move, move_free_body, close_counted,
        "a thread moves away from where another one was faster to free");

/* Slots are given by the list's own call. */
static void move_abort_body(uint32_t thread)
{
    const haft_id id = reserve_counted();
    const uint32_t number = number_at_first();

    (void)thread;
    abort_counted(id);
    look_whether_moved(number);
}

EXPLORE(counted_move_abort, 2, set_up_move, move_abort_body, close_counted,
        "a thread moves away from where another one was faster to give a slot back");

static void move_reserve_body(uint32_t thread)
{
    const uint32_t number = number_at_first();
    const haft_id id = reserve_counted();

    (void)thread;
    look_whether_moved(number);
    abort_counted(id);
}

EXPLORE(counted_move_reserve, 2, set_up_shard, move_reserve_body, close_counted,
        "a thread moves away from where another one was faster to take a slot");

/* --- counted_full: of two slots one is free at each moment, in one shard or the other --- */

/* White-box: the search that may say HAFT_FULL. */
static void look_for_slot(void)
{
    uint64_t index;

    require_status(shards_take_surely(counted, &index), HAFT_OK, "a search with a slot free");
    require(
        shards_give(counted, index, counted_life(load_relaxed(OWN, counted_at(counted, index)))),
        "a shard is closed");
}

static void set_up_full(void)
{
    fill((haft_counted_options){.capacity = 2}, 2);
}

/* Thread 1 takes the slot that thread 0 has freed, when it has freed the other one. */
static void full_body(uint32_t thread)
{
    choose_shard(thread);
    race_begin();
    require(free_counted(ids[thread]), "no free");
    choose_shard(0);
    if (thread == 0) {
        schedule_yield();
        look_for_slot();
    } else {
        insert_surely();
    }
    race_end();
}

EXPLORE(counted_full, 2, set_up_full, full_body, close_counted,
        "HAFT_FULL is never said where a slot was free all the time");

/* --- counted_look: the same, with the search in the middle of it --- */

/* The object moves from the first shard's slot to the second's and back; the other slot is free. */
static void move_object(void)
{
    haft_id id = ids[0];

    for (uint32_t shard = 1; shard != UINT32_MAX; shard--) {
        choose_shard(shard);
        require(free_counted(id), "no free");
        choose_shard(!shard);
        id = insert_surely();
        schedule_yield();
    }
}

static void set_up_look(void)
{
    fill((haft_counted_options){.capacity = 2}, 2);
    choose_shard(0);
    require(free_counted(ids[1]), "no free");
}

static void look_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        choose_shard(1);
        look_for_slot();
    } else {
        move_object();
    }
    race_end();
}

EXPLORE(counted_look, 2, set_up_look, look_body, close_counted,
        "two looks that find all shards empty, and alike, were of a full table");

/* --- counted_worn: slots that have lived all their lives --- */

#define LIVES 3

static shared_u64 lives;

static void set_up_worn(void)
{
    fill((haft_counted_options){.capacity = 2, .layout = {.generation_bits = 2}}, 0);
    poke(&lives, 0);
}

/* Until no slot is found; the thread that stops last has used them all up. */
static void worn_body(uint32_t thread)
{
    haft_id id;

    choose_shard(thread);
    race_begin();
    while (insert_counted(&id) == HAFT_OK) {
        add(&lives, 1);
        require(add(owner_of(id), 1) == 0, "two objects in one slot");
        free_alone(id);
    }
    race_end();
}

static void tear_down_worn(void)
{
    require(peek(&lives) == 2 * LIVES, "a slot has not lived all its lives, or one more");
    close_counted();
}

EXPLORE(counted_worn, 2, set_up_worn, worn_body, tear_down_worn,
        "each slot lives all its lives, none lives more, and the table closes");

/* --- HAFT_FULL, where threads may fill the table --- */

#define THREADS 3
#define MOST_STAYS 4

/* When a thread's object, or its call on the way to one, may have had a slot. */
static struct stay {
    shared_u64 begin, end; /* 0: it has not ended */
} stays[THREADS][MOST_STAYS];
static uint64_t capacity;
static uint64_t min_free;
static bool stays_long;   /* other threads go on meanwhile, without a preemption */
static shared_u64 births; /* that have begun, without those that were refused */

static uint64_t noted(shared_u64 *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void note_time(shared_u64 *word)
{
    const uint64_t time = stamp_time();

    atomic_store_explicit(word, time + 1, memory_order_relaxed);
}

static void set_up_stays(haft_counted_options options)
{
    capacity = options.capacity;
    min_free = options.min_free;
    stays_long = options.capacity > 1;
    atomic_store_explicit(&births, 0, memory_order_relaxed);
    fill(options, 0);
    for (int thread = 0; thread < THREADS; thread++) {
        for (int i = 0; i < MOST_STAYS; i++) {
            atomic_store_explicit(&stays[thread][i].begin, 0, memory_order_relaxed);
            atomic_store_explicit(&stays[thread][i].end, 0, memory_order_relaxed);
        }
    }
}

static bool had_slot(uint32_t thread, uint64_t time)
{
    for (int i = 0; i < MOST_STAYS; i++) {
        const uint64_t begin = noted(&stays[thread][i].begin);
        const uint64_t end = noted(&stays[thread][i].end);

        if (begin != 0 && begin <= time && (end == 0 || end > time)) {
            return true;
        }
    }
    return false;
}

/* Whether there was a time, from `begin` on, at which others may have had all slots. */
static bool was_full(uint32_t thread, uint64_t begin)
{
    const uint64_t end = stamp_time() + 1;

    for (uint64_t time = begin; time <= end; time++) {
        uint64_t taken = 0;

        for (uint32_t other = 0; other < THREADS; other++) {
            taken += other != thread && had_slot(other, time);
        }
        if (taken >= capacity) {
            return true;
        }
    }
    return false;
}

/* Between two lives of a slot lie min_free others. */
static void require_rest(haft_id id)
{
    const uint64_t number = haft_id_generation(haft_counted_info(counted).layout, id);

    require(noted(&births) > (number - 1) * (min_free + 1), "a slot is used again too soon");
}

/* An object for a while. */
static void stay(uint32_t thread, uint32_t number)
{
    struct stay *own = &stays[thread][number];
    haft_id id;

    note_time(&own->begin);
    atomic_fetch_add_explicit(&births, 1, memory_order_relaxed);
    const haft_status status = insert_counted(&id);

    if (status == HAFT_OK) {
        require_rest(id);
        require(add(owner_of(id), 1) == 0, "two objects in one slot");
        if (stays_long) {
            schedule_yield();
        }
        free_alone(id);
    } else {
        atomic_fetch_sub_explicit(&births, 1, memory_order_relaxed);
        require_status(status, HAFT_FULL, "inserting");
        require(was_full(thread, noted(&own->begin)),
                "HAFT_FULL, and a slot was free all the time");
        met();
    }
    note_time(&own->end);
}

static void stay_body(uint32_t thread)
{
    choose_shard(thread);
    for (uint32_t i = 0; i < 2; i++) {
        stay(thread, i);
    }
}

/* No slot is lost. */
static void tear_down_stays(void)
{
    haft_id id;

    for (uint64_t i = 0; i < capacity; i++) {
        ids[i] = insert_surely();
    }
    require_status(insert_counted(&id), HAFT_FULL, "inserting into a full table");
    close_counted();
}

static void set_up_one(void)
{
    set_up_stays((haft_counted_options){.capacity = 1});
}

EXPLORE(counted_full_one, 2, set_up_one, stay_body, tear_down_stays,
        "a table of one object is full while another thread has the slot, and never else");
EXPLORE(counted_full_three, 3, set_up_one, stay_body, tear_down_stays,
        "a table of one object that three threads use is full while one has the slot");

static void set_up_two(void)
{
    set_up_stays((haft_counted_options){.capacity = 2});
}

EXPLORE(counted_full_two, 3, set_up_two, stay_body, tear_down_stays,
        "a table of two objects is full while two other threads have slots, and never else");

/* --- counted_full_never: a slot for each thread, and they change shards at each free --- */

static void set_up_never(void)
{
    fill((haft_counted_options){.capacity = 2}, 2);
    for (uint32_t i = 0; i < 2; i++) {
        choose_shard(i);
        require(free_counted(ids[i]), "no free");
    }
}

static void never_body(uint32_t thread)
{
    race_begin();
    for (int i = 0; i < 2; i++) {
        choose_shard(thread);
        const haft_id id = insert_alone();

        choose_shard(!thread);
        free_alone(id);
    }
    race_end();
}

EXPLORE(counted_full_never, 2, set_up_never, never_body, close_counted,
        "a table with a slot for each of two threads is never full");

/* --- counted_queue: the same with min_free --- */

static void set_up_queue(void)
{
    set_up_stays((haft_counted_options){.capacity = 1, .min_free = 1});
}

EXPLORE(counted_queue, 2, set_up_queue, stay_body, tear_down_stays,
        "a slot rests until others have been used, and a table is full if it is");
EXPLORE(counted_queue_three, 3, set_up_queue, stay_body, tear_down_stays,
        "the same, and a third thread: full while one has the slot that need not rest");

/* --- counted_queue_two: threads that have a slot each, as the queue goes round --- */

static void set_up_queue_two(void)
{
    set_up_stays((haft_counted_options){.capacity = 2, .min_free = 1});
}

static void queue_two_body(uint32_t thread)
{
    race_begin();
    for (uint32_t i = 0; i < 2 + 2 * thread; i++) {
        free_alone(insert_alone());
    }
    race_end();
}

EXPLORE(counted_queue_two, 2, set_up_queue_two, queue_two_body, tear_down_stays,
        "two threads find a slot each, and a slot that is given back is in the queue");
