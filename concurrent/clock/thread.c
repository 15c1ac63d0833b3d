/*
 * Numbers of threads.
 *
 * Edges in this file.
 *   COUNT   each number is given once, in no order with anything else
 */
#include "concurrent/clock/thread.h"
#include "concurrent/clock/registry.h"
#include "lib/base/atomics.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"

uint64_t thread_number(void)
{
    static atomic_u64 given;
    static THREAD_LOCAL uint64_t number;

    if (number == 0) {
        number = fetch_add_relaxed(COUNT, &given, 1) + 1;
    }
    return number;
}

/* The thread of a fork's child has another number than the one that it goes on from. */
uint64_t thread_system_number(void)
{
    static THREAD_LOCAL uint64_t process;
    static THREAD_LOCAL uint64_t number;

    if (process != registry_process()) {
        number = os_thread_number();
        process = registry_process();
    }
    return number;
}
