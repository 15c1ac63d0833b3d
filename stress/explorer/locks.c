/*
 * What blocks, under the scheduler: the linker sends the library's calls here (--wrap).
 *
 * A thread waits in the scheduler until the call can go on without waiting; then the real call
 * is made, so that ThreadSanitizer sees the orders that it gives.  Conditions have no real call:
 * they give no order but their mutex's.  Time stands still between points: no wait times out.
 */
#include "stress/explorer/locks.h"
#include "stress/explorer/history.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>

#define MOST_OBJECTS 16

/* A mutex, condition or semaphore. */
struct object {
    const void *address;
    uint32_t owner;  /* mutex */
    uint32_t depth;  /* mutex: times that its owner has locked it */
    bool is_tried;   /* mutex: by trylock, which leaves the real one alone */
    uint64_t rounds; /* condition: broadcasts */
    struct view view;
};

static struct object objects[MOST_OBJECTS];
static uint32_t object_count;

/* Threads that were created in this schedule. */
struct created {
    pthread_t thread;
    void *(*start)(void *arg);
    void *arg;
    uint32_t number;
};

static struct created all_created[MOST_SCHEDULED];

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *arg), void *arg);
int __real_pthread_join(pthread_t thread, void **result);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_sem_wait(sem_t *semaphore);
int __real_sem_post(sem_t *semaphore);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *arg), void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_sem_wait(sem_t *semaphore);
int __wrap_sem_post(sem_t *semaphore);
int __wrap_sched_yield(void);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

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
    object->depth = 0;
    object->is_tried = false;
    object->rounds = 0;
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

/* --- threads --- */

static void *run_created(void *arg)
{
    const struct created *created = arg;

    schedule_enter(created->number);
    void *result = created->start(created->arg);

    schedule_leave();
    return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *arg), void *arg)
{
    const uint32_t number = schedule_add();
    struct created *created = &all_created[number];

    created->start = start;
    created->arg = arg;
    created->number = number;
    view_clear(history_view(number));
    view_join(history_view(number), history_view(schedule_self()));
    const int error = __real_pthread_create(thread, attributes, run_created, created);

    created->thread = *thread;
    return error;
}

static bool has_left(const void *created)
{
    return schedule_has_left(((const struct created *)created)->number);
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    uint32_t number = 1;

    while (!pthread_equal(all_created[number].thread, thread)) {
        number++;
    }
    schedule_block(has_left, &all_created[number]);
    view_join(history_view(schedule_self()), history_view(number));
    return __real_pthread_join(thread, result);
}

/* --- mutexes and conditions --- */

static bool is_free(const void *object)
{
    return ((const struct object *)object)->depth == 0;
}

/* As the mutex was made: the lowest bits of its kind, in glibc (bits/struct_mutex.h). */
static bool is_recursive(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct object *object = object_at(mutex);
    const bool is_own = object->depth != 0 && object->owner == schedule_self();

    if (!is_own || !is_recursive(mutex)) {
        schedule_block(is_free, object);
    }
    object->owner = schedule_self();
    object->depth++;
    take_over(object);
    return __real_pthread_mutex_lock(mutex);
}

/*
 * The real mutex stays free: a thread that is abandoned may have it for ever, and ThreadSanitizer
 * would say so of the mutex that the child of its fork makes in the same place.
 */
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct object *object = object_at(mutex);

    schedule_point();
    if (!is_free(object)) {
        return EBUSY;
    }
    object->owner = schedule_self();
    object->depth = 1;
    object->is_tried = true;
    take_over(object);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct object *object = object_at(mutex);

    hand_over(object);
    object->depth--;
    if (object->is_tried) {
        object->is_tried = false;
        return 0;
    }
    return __real_pthread_mutex_unlock(mutex);
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

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    struct object *object = object_at(condition);
    const struct wait wait = {object, object->rounds};

    (void)until;
    __wrap_pthread_mutex_unlock(mutex);
    schedule_block(was_woken, &wait);
    return __wrap_pthread_mutex_lock(mutex);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    object_at(condition)->rounds++;
    return 0;
}

/* --- semaphores --- */

static bool has_posts(const void *semaphore)
{
    int value = 0;

    sem_getvalue((sem_t *)semaphore, &value);
    return value > 0;
}

int __wrap_sem_wait(sem_t *semaphore)
{
    schedule_block(has_posts, semaphore);
    take_over(object_at(semaphore));
    return __real_sem_wait(semaphore);
}

int __wrap_sem_post(sem_t *semaphore)
{
    schedule_point();
    hand_over(object_at(semaphore));
    return __real_sem_post(semaphore);
}

/* --- time --- */

int __wrap_sched_yield(void)
{
    schedule_yield();
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    time->tv_sec = 1;
    time->tv_nsec = (long)schedule_steps();
    return 0;
}
