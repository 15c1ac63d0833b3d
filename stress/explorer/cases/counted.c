/* What cases of counted tables share.  White-box: a thread's shard. */
#include "stress/explorer/cases/counted.h"
#include "concurrent/counted/shards.h"
#include "stress/explorer/scheduler.h"
#include "stress/explorer/watch.h"
#include <stdlib.h>

#define MOST_IDS 256 /* ids are below: 8 bits of index and generation */

haft_counted *counted;

/* Of each id; relaxed. */
static struct {
    shared_u64 number;  /* of its object; 0: it is not issued */
    shared_u64 holders; /* that have not begun to let go */
    shared_u64 frees, ends;
} known[MOST_IDS];

static shared_u64 numbers;
static void (*also_at_end)(haft_id id);
static size_t object_size;
static bool is_plain;    /* no on_destroy tells of ends */
static bool is_constant; /* objects are not written once they are live */

/* The object of a number; of the first word alone where objects have 8 bytes. */
struct numbered {
    uint64_t number, again;
};

static uint64_t note(shared_u64 *word, uint64_t added)
{
    return atomic_fetch_add_explicit(word, added, memory_order_relaxed) + added;
}

static uint64_t noted(shared_u64 *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static bool is_of(const struct numbered *object, haft_id id)
{
    return object->number == noted(&known[id.bits].number) &&
           (object_size == sizeof object->number || object->again == ~object->number);
}

static void issue(haft_id id, uint64_t number)
{
    shared_u64 *word = &known[id.bits].number;

    require(noted(word) == 0 || noted(word) == number, "an id is issued twice");
    atomic_store_explicit(word, number, memory_order_relaxed);
}

/* The end of an object, whose bytes are written as a destructor would. */
static void end_object(void *bytes, haft_id id, void *arg)
{
    struct numbered *object = bytes;

    (void)arg;
    if (noted(&known[id.bits].number) == 0) { /* closing ends it before its insertion returns */
        issue(id, object->number);
    }
    require(is_of(object, id), "on_destroy gets another id's object");
    require(note(&known[id.bits].ends, 1) == 1, "an object ends twice");
    require(noted(&known[id.bits].holders) == 0, "an object ends while it is held");
    if (!is_constant) {
        object->again = 0;
    }
    if (also_at_end != NULL) {
        also_at_end(id);
    }
    /* Last: it orders what comes before it. */
    require(!haft_counted_is_live(counted, id), "on_destroy runs for an id that is live");
}

/* --- the table --- */

static void *take_memory(void *context, size_t size, size_t alignment)
{
    (void)context;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give_memory(void *context, void *memory, size_t size)
{
    (void)context;
    watch_release(memory, size);
    free(memory);
}

static const haft_allocator watched = {.alloc = take_memory, .free = give_memory};

static void forget_all(void)
{
    for (int i = 0; i < MOST_IDS; i++) {
        atomic_store_explicit(&known[i].number, 0, memory_order_relaxed);
        atomic_store_explicit(&known[i].holders, 0, memory_order_relaxed);
        atomic_store_explicit(&known[i].frees, 0, memory_order_relaxed);
        atomic_store_explicit(&known[i].ends, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&numbers, 0, memory_order_relaxed);
}

static void open_with(haft_counted_options options)
{
    forget_all();
    forget_times();
    choose_shard(0);
    options.layout.index_bits = options.layout.index_bits != 0 ? options.layout.index_bits : 3;
    options.layout.generation_bits =
        options.layout.generation_bits != 0 ? options.layout.generation_bits : 5;
    options.object_size = options.object_size != 0 ? options.object_size : sizeof(struct numbered);
    options.allocator = &watched;
    object_size = options.object_size;
    is_constant = options.copies;
    is_plain = options.on_destroy == NULL;
    require_status(haft_counted_open(&options, &counted), HAFT_OK, "opening");
}

void open_counted(haft_counted_options options, void (*also)(haft_id id))
{
    also_at_end = also;
    options.on_destroy = end_object;
    open_with(options);
}

void open_plain(haft_counted_options options)
{
    open_with(options);
}

void require_all_ended(void)
{
    for (int i = 0; i < MOST_IDS && !is_plain; i++) {
        require(noted(&known[i].ends) == (noted(&known[i].number) != 0), "an object has not ended");
    }
}

void close_counted(void)
{
    require_status(haft_counted_close(counted), HAFT_OK, "closing");
    require_all_ended();
    watch_forget();
}

void choose_shard(uint32_t number)
{
    shards_thread = number + COUNTED_MOST_SHARDS; /* 0 would be a thread without a number */
}

/* --- lives --- */

haft_status insert_counted(haft_id *id)
{
    const uint64_t number = note(&numbers, 1);
    const struct numbered object = {number, ~number};
    const haft_status status = haft_counted_insert(counted, &object, id);

    if (status == HAFT_OK) {
        issue(*id, number);
    } else {
        *id = HAFT_NIL;
    }
    return status;
}

haft_id insert_surely(void)
{
    haft_id id;

    require_status(insert_counted(&id), HAFT_OK, "inserting");
    return id;
}

haft_id reserve_counted(void)
{
    const uint64_t number = note(&numbers, 1);
    void *object;
    haft_id id;

    require_status(haft_counted_reserve(counted, &id, &object), HAFT_OK, "reserving");
    *(struct numbered *)object = (struct numbered){number, ~number};
    issue(id, number);
    return id;
}

void abort_counted(haft_id id)
{
    atomic_store_explicit(&known[id.bits].number, 0, memory_order_relaxed);
    haft_counted_abort(counted, id);
}

bool free_counted(haft_id id)
{
    const haft_status status = haft_counted_free(counted, id);

    require(status == HAFT_OK || status == HAFT_STALE, "a free is told something odd");
    if (status == HAFT_OK) {
        require(note(&known[id.bits].frees, 1) == 1, "two threads have ended an object");
    }
    return status == HAFT_OK;
}

haft_status take_counted(haft_id id)
{
    struct numbered object;
    const haft_status status = haft_counted_take(counted, id, &object);

    require(status == HAFT_OK || status == HAFT_STALE || status == HAFT_IN_USE,
            "taking is told something odd");
    if (status == HAFT_OK) {
        require(note(&known[id.bits].frees, 1) == 1, "two threads have ended an object");
        require(note(&known[id.bits].ends, 1) == 1, "an object is taken and destroyed");
        require(noted(&known[id.bits].holders) == 0, "an object is taken while it is held");
        require(is_of(&object, id), "another id's object is taken");
    }
    return status;
}

/* --- holders --- */

bool hold(haft_id id)
{
    const struct numbered *object = haft_counted_acquire(counted, id);

    if (object != NULL) {
        note(&known[id.bits].holders, 1);
        require(is_of(object, id), "another id's object is held");
        schedule_point();
        require(is_of(object, id), "an object changes while it is held");
    }
    return object != NULL;
}

void hold_again(haft_id id)
{
    require(haft_counted_again(counted, id), "a holder cannot hold once more");
    note(&known[id.bits].holders, 1);
}

void let_go(haft_id id)
{
    note(&known[id.bits].holders, UINT64_MAX);
    require_status(haft_counted_release(counted, id), HAFT_OK, "releasing");
}

bool is_held(haft_id id)
{
    return noted(&known[id.bits].holders) != 0;
}

void forget_holders(haft_id id)
{
    atomic_store_explicit(&known[id.bits].holders, 0, memory_order_relaxed);
}

bool copy_counted(haft_id id)
{
    struct numbered object = {0, 0};
    const bool is_copied = haft_counted_copy(counted, id, &object);

    require(!is_copied || is_of(&object, id), "a copy is not the id's object");
    return is_copied;
}

uint64_t ends_of(haft_id id)
{
    return noted(&known[id.bits].ends);
}

void tell(shared_u64 *place, haft_id id)
{
    atomic_store_explicit(place, id.bits, memory_order_relaxed);
}

haft_id told(shared_u64 *place)
{
    return (haft_id){noted(place)};
}
