/* What a pool thread has of its own: a haft worker, a random generator, counters. */
#include "failure.h"
#include "run.h"

static GPrivate current = G_PRIVATE_INIT(member_leave);

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
    struct member *member = g_new0(struct member, 1);

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
    g_private_set(&current, member);
    return member;
}

/* Its counters and the ids it kept stay, for main. */
void member_leave(gpointer data)
{
    struct member *member = data;
    struct run *run = member->run;

    haft_worker_close(member->worker);
    haft_thread_unregister(run->domain);
    g_mutex_lock(&run->lock);
    run->left++;
    g_cond_signal(&run->changed);
    g_mutex_unlock(&run->lock);
}

struct member *member_of_callback(void)
{
    return g_private_get(&current);
}

struct member *member_of_thread(struct run *run)
{
    struct member *member = g_private_get(&current);

    if (member == NULL) {
        return member_join(run);
    }
    haft_thread_online(run->domain);
    return member;
}

void members_free(struct run *run)
{
    g_private_set(&current, NULL);
    for (unsigned i = 0; i < atomic_load(&run->joined); i++) {
        g_free(run->members[i]);
    }
    g_free(run->members);
}
