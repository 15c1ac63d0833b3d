/* Whether a callback runs: a mark of the thread. */
#include "concurrent/clock/callback.h"
#include "lib/base/compiler.h"
#include <assert.h>

static THREAD_LOCAL bool is_running;
static THREAD_LOCAL uint64_t frees;

bool callback_is_running(void)
{
    return is_running;
}

void callback_note_free(void)
{
    frees += is_running;
}

uint64_t callback_frees(void)
{
    return frees;
}

void callback_begin(void)
{
    assert(!is_running);
    is_running = true;
}

void callback_end(void)
{
    assert(is_running);
    is_running = false;
}
