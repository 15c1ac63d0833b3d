/*
 * The lock of opening and closing, and the number of the process.
 *
 * Every fork takes the lock, so that the child finds the lists whole, and can take it, too.  Where
 * the system has no memory for that handler, the child may find the lock held.  Other handlers take
 * it as well, before this one: hence a thread's count.
 *
 * Locks are to be taken in one order.  A program opens tables while it holds its locks, and this
 * one is held while memory is allocated (export_text.c); the handler given to os_on_fork last runs
 * first before a fork.  So the library gives its handler after the allocator's, and before the
 * program's.
 */
#include "concurrent/clock/registry.h"
#include "concurrent/clock/thread.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include <haft/memory.h>
#include <stddef.h>

static struct os_mutex domains_lock;
static THREAD_LOCAL unsigned times_taken;
static uint32_t forks; /* from the first process to this; written where there is one thread */
static uint64_t process_number; /* this one's number, as forks; 0: the handler does not keep it */

void registry_lock(void)
{
    if (times_taken++ == 0) {
        os_mutex_lock(&domains_lock);
    }
}

bool registry_try_lock(void)
{
    if (times_taken == 0 && !os_mutex_try_lock(&domains_lock)) {
        return false;
    }
    times_taken++;
    return true;
}

void registry_unlock(void)
{
    if (--times_taken == 0) {
        os_mutex_unlock(&domains_lock);
    }
}

static uint64_t number_now(void)
{
    return (uint64_t)forks << 32 | (uint32_t)os_process_number();
}

static void begin_child(void)
{
    forks++;
    process_number = number_now();
    threads_begin_child();
    registry_unlock();
}

/* Before main, and before other constructors except those of the same priority; in Mach-O (macOS),
 * which has none, in the order of the link. */
AT_START(101, watch_forks);

static void watch_forks(void)
{
    const haft_allocator first = haft_allocator_malloc(); /* malloc may do the same when called */

    first.free(first.context, first.alloc(first.context, 1, 1), 1);
    if (os_on_fork(registry_lock, registry_unlock, begin_child)) {
        process_number = number_now();
    }
}

uint64_t registry_process(void)
{
    return process_number != 0 ? process_number : number_now(); /* the latter is a system call */
}
