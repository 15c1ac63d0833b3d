/* A pool thread's part: a haft worker, a random generator, counters. */
#include "failure.h"
#include "run.h"
#include <stdlib.h>

static _Thread_local struct member *current;

/* splitmix64: any seed is good, and neighbouring seeds have nothing in common. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

unsigned member_random(struct member *member, unsigned bound)
{
    return (unsigned)((next_random(&member->random) >> 32) * bound >> 32);
}

struct member *member_join(struct run *run)
{
    struct member *member = replay_allocate(1, sizeof *member);

    member->run = run;
    member->number = atomic_fetch_add(&run->joined, 1);
    member->random = run->options->seed ^ (uint64_t)member->number << 48;
    member->until_sample = 1;
    member->until_check = 1;
    run->members[member->number] = member;
    haft_thread_register(run->domain);
    const haft_status status = haft_worker_open(run->table, &member->worker);

    if (status != HAFT_OK) {
        replay_give_up("no worker for thread %u: %s", member->number, haft_status_text(status));
    }
    current = member;
    return member;
}

void member_leave(struct member *member)
{
    haft_worker_close(member->worker);
    haft_thread_unregister(member->run->domain);
}

struct member *member_of_callback(void)
{
    return current;
}

void members_free(struct run *run)
{
    current = NULL;
    for (unsigned i = 0; i < atomic_load(&run->joined); i++) {
        free(run->members[i]);
    }
    free(run->members);
}
