/*
 * White-box: what blocks, under the scheduler: the linker sends calls of lib/base/os.h here
 * (--wrap).
 *
 * A thread waits in the scheduler until the call can go on without waiting; then the real call
 * is made, so that ThreadSanitizer sees the orders that it gives.  Conditions have no real call:
 * they give no order but their mutex's.  Time stands still between points: no wait times out, but
 * that for an address if it is short.
 */
#include "stress/explorer/locks.h"
#include "lib/base/os.h"
#include "stress/explorer/history.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <haft/detail/atomics.h>
#include <stddef.h>

#define MOST_OBJECTS 16

/* A mutex, condition or semaphore. */
struct object {
    const void *address;
    bool is_locked;  /* mutex */
    bool is_tried;   /* mutex: by os_mutex_try_lock, which leaves the real one alone */
    uint64_t rounds; /* condition: how often all were woken */
    uint64_t posts;  /* semaphore: not taken yet */
    struct view view;
};

static struct object objects[MOST_OBJECTS];
static uint32_t object_count;

void __real_os_mutex_open(struct os_mutex *mutex);
void __real_os_mutex_lock(struct os_mutex *mutex);
void __real_os_mutex_unlock(struct os_mutex *mutex);
bool __real_os_semaphore_open(struct os_semaphore *semaphore);
void __real_os_semaphore_wait(struct os_semaphore *semaphore);
void __real_os_semaphore_post(struct os_semaphore *semaphore);

void __wrap_os_mutex_open(struct os_mutex *mutex);
void __wrap_os_mutex_lock(struct os_mutex *mutex);
bool __wrap_os_mutex_try_lock(struct os_mutex *mutex);
void __wrap_os_mutex_unlock(struct os_mutex *mutex);
bool __wrap_os_condition_wait(struct os_condition *condition, struct os_mutex *mutex,
                              uint64_t until_ns);
void __wrap_os_condition_wake_all(struct os_condition *condition);
bool __wrap_os_semaphore_open(struct os_semaphore *semaphore);
void __wrap_os_semaphore_wait(struct os_semaphore *semaphore);
void __wrap_os_semaphore_post(struct os_semaphore *semaphore);
void __wrap_os_yield(void);
void __wrap_os_sleep(uint64_t ns);
uint64_t __wrap_os_now_ns(void);
void __wrap_os_wait_address(const void *word, uint64_t value, uint64_t ns);
void __wrap_os_wake_address(const void *word);
bool __wrap_os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

void locks_reset(void)
{
    object_count = 0;
}

static struct object *object_at(const void *address)
{
    for (uint32_t i = 0; i < object_count; i++) {
        if (objects[i].address == address) {
            return &objects[i];
        }
    }
    if (object_count == MOST_OBJECTS) {
        violation("more than %d mutexes, conditions and semaphores", MOST_OBJECTS);
    }
    struct object *object = &objects[object_count++];

    object->address = address;
    object->is_locked = false;
    object->is_tried = false;
    object->rounds = 0;
    object->posts = 0;
    view_clear(&object->view);
    return object;
}

static void hand_over(struct object *object)
{
    view_join(&object->view, history_view(schedule_self()));
}

static void take_over(const struct object *object)
{
    view_join(history_view(schedule_self()), &object->view);
}

/* --- mutexes and conditions --- */

static bool is_free(const void *object)
{
    return !((const struct object *)object)->is_locked;
}

void __wrap_os_mutex_open(struct os_mutex *mutex)
{
    struct object *object = object_at(mutex);

    object->is_locked = false;
    object->is_tried = false;
    __real_os_mutex_open(mutex);
}

/* After all schedules, as the process ends: a thread that is abandoned may have it for ever. */
static bool is_over(void)
{
    return schedule_self() == NO_THREAD;
}

void __wrap_os_mutex_lock(struct os_mutex *mutex)
{
    if (is_over()) {
        return;
    }
    struct object *object = object_at(mutex);

    schedule_block(is_free, object);
    object->is_locked = true;
    take_over(object);
    __real_os_mutex_lock(mutex);
}

/*
 * The real mutex stays free: a thread that is abandoned may have it for ever, and ThreadSanitizer
 * would say so of the mutex that the child of its fork makes in the same place.
 */
bool __wrap_os_mutex_try_lock(struct os_mutex *mutex)
{
    struct object *object = object_at(mutex);

    schedule_point();
    if (!is_free(object)) {
        return false;
    }
    object->is_locked = true;
    object->is_tried = true;
    take_over(object);
    return true;
}

void __wrap_os_mutex_unlock(struct os_mutex *mutex)
{
    if (is_over()) {
        return;
    }
    struct object *object = object_at(mutex);

    if (!object->is_locked) {
        violation("a mutex is unlocked that is not locked");
    }
    hand_over(object);
    object->is_locked = false;
    if (object->is_tried) {
        object->is_tried = false;
        return;
    }
    __real_os_mutex_unlock(mutex);
}

struct wait {
    const struct object *condition;
    uint64_t rounds; /* when it began */
};

static bool was_woken(const void *wait)
{
    const struct wait *at = wait;

    return at->condition->rounds != at->rounds;
}

bool __wrap_os_condition_wait(struct os_condition *condition, struct os_mutex *mutex,
                              uint64_t until_ns)
{
    struct object *object = object_at(condition);
    const struct wait wait = {object, object->rounds};

    (void)until_ns;
    __wrap_os_mutex_unlock(mutex);
    schedule_block(was_woken, &wait);
    __wrap_os_mutex_lock(mutex);
    return true;
}

void __wrap_os_condition_wake_all(struct os_condition *condition)
{
    object_at(condition)->rounds++;
}

/* --- semaphores --- */

static bool has_posts(const void *object)
{
    return ((const struct object *)object)->posts != 0;
}

bool __wrap_os_semaphore_open(struct os_semaphore *semaphore)
{
    object_at(semaphore)->posts = 0;
    return __real_os_semaphore_open(semaphore);
}

void __wrap_os_semaphore_wait(struct os_semaphore *semaphore)
{
    struct object *object = object_at(semaphore);

    schedule_block(has_posts, object);
    object->posts--;
    take_over(object);
    __real_os_semaphore_wait(semaphore);
}

void __wrap_os_semaphore_post(struct os_semaphore *semaphore)
{
    struct object *object = object_at(semaphore);

    schedule_point();
    hand_over(object);
    object->posts++;
    __real_os_semaphore_post(semaphore);
}

/* --- addresses --- */

#define LONG_NS UINT64_C(1000000000) /* what waits for less may time out at any moment */

void __wrap_os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    struct object *object = object_at(word);
    const struct wait wait = {object, object->rounds};

    if (ns < LONG_NS) {
        schedule_yield();
    } else if ((uint32_t)atomic_load_explicit((const haft_atomic_u64 *)word,
                                              memory_order_relaxed) == (uint32_t)value) {
        schedule_block(was_woken, &wait);
    }
}

/* The word itself may be gone. */
void __wrap_os_wake_address(const void *word)
{
    schedule_point();
    object_at(word)->rounds++;
}

/* --- time --- */

void __wrap_os_yield(void)
{
    schedule_yield();
}

void __wrap_os_sleep(uint64_t ns)
{
    (void)ns;
    schedule_yield();
}

uint64_t __wrap_os_now_ns(void)
{
    return UINT64_C(1000000000) + schedule_steps();
}

/* --- forks --- */

#define MOST_HANDLERS 8

static struct {
    void (*before)(void);
    void (*in_child)(void);
} handlers[MOST_HANDLERS];
static uint32_t handler_count;

/* Before main: the process itself forks nowhere. */
bool __wrap_os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)in_parent;
    if (handler_count == MOST_HANDLERS) {
        return false;
    }
    handlers[handler_count].before = before;
    handlers[handler_count++].in_child = in_child;
    return true;
}

void locks_before_fork(void)
{
    for (uint32_t i = handler_count; i-- > 0;) {
        handlers[i].before();
    }
}

void locks_in_child(void)
{
    for (uint32_t i = 0; i < handler_count; i++) {
        handlers[i].in_child();
    }
}
