/*
 * Numbers of threads.
 *
 * Edges in this file.
 *   COUNT   each number is given once, in no order with anything else
 */
#include "concurrent/clock/thread.h"
#include "lib/base/atomics.h"
#include "lib/base/compiler.h"

uint64_t thread_number(void)
{
    static atomic_u64 given;
    static THREAD_LOCAL uint64_t number;

    if (number == 0) {
        number = fetch_add_relaxed(COUNT, &given, 1) + 1;
    }
    return number;
}
