/* One thread runs at a time, and hands its turn on: the figures need no lock. */
#include "stress/explorer/calls.h"
#include "stress/explorer/report.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST_FUNCTIONS 8192 /* a power of two, several times as many as there are */
#define MOST_NESTED 128

struct operations {
    uint32_t all;
    uint32_t modifying;
};

struct function {
    uintptr_t address; /* 0: none */
    struct operations most;
};

static struct function functions[MOST_FUNCTIONS];
static bool is_counted;

/* Of the thread: operations ever, and when each function that it is in began. */
static _Thread_local struct operations made;
static _Thread_local struct operations before[MOST_NESTED];
static _Thread_local uint32_t depth;

extern const char __executable_start[];

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void calls_clear(void)
{
    memset(functions, 0, sizeof functions);
}

void calls_note(bool modifies)
{
    made.all++;
    made.modifying += modifies;
}

static struct function *place_of(uintptr_t address)
{
    uint32_t place = (uint32_t)(address >> 4) % MOST_FUNCTIONS;

    for (uint32_t looks = 0; functions[place].address != address; looks++) {
        if (functions[place].address == 0) {
            functions[place].address = address;
        } else {
            place = (place + 1) % MOST_FUNCTIONS;
        }
        if (looks == MOST_FUNCTIONS) {
            violation("more than %d functions", MOST_FUNCTIONS);
        }
    }
    return &functions[place];
}

static void raise_to(uint32_t *most, uint32_t count)
{
    *most = count > *most ? count : *most;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)function;
    (void)caller;
    if (depth == MOST_NESTED) {
        violation("more than %d calls within one another", MOST_NESTED);
    }
    before[depth++] = made;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    const struct operations *begin = &before[--depth];

    if (made.all != begin->all) {
        struct operations *most = &place_of((uintptr_t)function)->most;

        raise_to(&most->all, made.all - begin->all);
        raise_to(&most->modifying, made.modifying - begin->modifying);
        is_counted = true;
    }
}

void calls_print(void)
{
    const char *between = "";

    if (!is_counted) {
        return;
    }
    printf(", \"calls\": {");
    for (int i = 0; i < MOST_FUNCTIONS; i++) {
        const struct function *at = &functions[i];

        if (at->most.all != 0) {
            printf("%s\"%llu\": [%u, %u]", between,
                   (unsigned long long)(at->address - (uintptr_t)__executable_start), at->most.all,
                   at->most.modifying);
            between = ", ";
        }
    }
    printf("}");
}
