/* Whether a callback runs: a mark of the thread. */
#include "concurrent/clock/callback.h"
#include "lib/base/compiler.h"
#include <assert.h>

static THREAD_LOCAL uint64_t callbacks_begun;  /* callbacks of the thread, ever */
static THREAD_LOCAL uint64_t callback_running; /* the number of the one that runs; 0: none */
static THREAD_LOCAL uint64_t frees;            /* without a worker, in callbacks */

bool callback_is_running(void)
{
    return callback_running != 0;
}

uint64_t callback_number(void)
{
    return callback_running;
}

void callback_note_free(void)
{
    frees += callback_running != 0;
}

uint64_t callback_frees(void)
{
    return frees;
}

void callback_begin(void)
{
    assert(callback_running == 0);
    callback_running = ++callbacks_begun;
}

void callback_end(void)
{
    assert(callback_running != 0);
    callback_running = 0;
}
