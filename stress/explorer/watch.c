/* Released memory and signals: one thread has the turn, so nothing here is atomic. */
#include "stress/explorer/watch.h"
#include "stress/explorer/report.h"
#include <stdint.h>

#define MOST_BLOCKS 8

static struct {
    uintptr_t begin, end;
} released[MOST_BLOCKS];
static uint32_t released_count;

static _Thread_local void (*awaits)(void);
static bool is_raised;

void watch_release(const void *memory, size_t size)
{
    if (released_count == MOST_BLOCKS) {
        violation("more than %d blocks are released", MOST_BLOCKS);
    }
    released[released_count].begin = (uintptr_t)memory;
    released[released_count].end = (uintptr_t)memory + size;
    released_count++;
}

bool watch_is_released(const void *address)
{
    for (uint32_t i = 0; i < released_count; i++) {
        if ((uintptr_t)address >= released[i].begin && (uintptr_t)address < released[i].end) {
            return true;
        }
    }
    return false;
}

void watch_forget(void)
{
    released_count = 0;
}

bool signal_handle(void (*handler)(void))
{
    const bool waits = awaits != NULL;

    awaits = handler;
    is_raised = false;
    return waits;
}

void signal_raise(void)
{
    is_raised = true;
}

bool signal_is_awaited(void)
{
    return awaits != NULL;
}

void (*signal_take(void))(void)
{
    void (*handler)(void) = is_raised ? awaits : NULL;

    if (handler != NULL) {
        awaits = NULL;
    }
    return handler;
}
