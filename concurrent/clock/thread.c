/*
 * Numbers of threads.
 *
 * Edges in this file.
 *   COUNT   each number is assigned once, in no order with anything else
 */
#include "concurrent/clock/thread.h"
#include "lib/base/atomics.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"

static atomic_u64 numbers_given;
static THREAD_LOCAL uint64_t system_number; /* 0: not asked yet */

/* In the child of a fork, written by its one thread: itself, and the last of its parent. */
static uint64_t forking;
static uint64_t last_of_parent;

uint64_t thread_number(void)
{
    static THREAD_LOCAL uint64_t number;

    if (number == 0) {
        number = fetch_add_relaxed(COUNT, &numbers_given, 1) + 1;
    }
    return number;
}

uint64_t thread_system_number(void)
{
    if (system_number == 0) {
        system_number = os_thread_number();
    }
    return system_number;
}

/* The system gives the thread of a child another number than the one that it goes on from. */
void threads_begin_child(void)
{
    system_number = 0;
    forking = thread_number();
    last_of_parent = load_relaxed(COUNT, &numbers_given);
}

bool thread_is_gone(uint64_t number)
{
    return number <= last_of_parent && number != forking;
}
