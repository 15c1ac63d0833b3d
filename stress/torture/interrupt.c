/* A flag for SIGINT; see interrupt.h. */
#include "stress/torture/interrupt.h"
#include <signal.h>
#include <stdatomic.h>

static atomic_bool interrupted; /* any thread may be the one that runs the handler */

static void note(int number)
{
    atomic_store_explicit(&interrupted, true, memory_order_relaxed);
    signal(number, SIG_DFL);
}

void interrupt_expect(void)
{
    signal(SIGINT, note);
}

bool is_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}
