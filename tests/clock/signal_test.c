/* Resolving in a signal handler, which interrupts its own thread in the middle of anything. */
#include "tests/clock/forking.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

TestSuite(signals, .timeout = SUITE_SECONDS);

#define IDS 64
#define SIGNAL_US 500
#define LEAST_HITS 200 /* handlers that resolved something */

struct object {
    _Atomic uint64_t check; /* as the id that it lives under; 0 once it is reclaimed */
};

static struct shared shared;
static _Atomic uint64_t ids[IDS];
static atomic_uint hits;
static atomic_uint misses; /* stale by then */
static atomic_uint wrong;  /* reclaimed under the handler's eyes */
static atomic_bool came;   /* a signal, since the last one was asked for */

static void unmake(void *object, haft_id id, haft_worker *worker, void *arg)
{
    atomic_store(&((struct object *)object)->check, 0);
}

static void resolve_some(int signal)
{
    static unsigned next;
    const haft_id id = {atomic_load(&ids[next++ % IDS])};

    haft_section_begin(shared.domain);
    const struct object *object = haft_resolve(shared.view, id);

    for (int n = 0; object != NULL && n < 20000; n++) {
        atomic_fetch_add(&wrong, atomic_load(&object->check) != id.bits);
    }
    atomic_fetch_add(object != NULL ? &hits : &misses, 1);
    haft_section_end(shared.domain);
    haft_diagnose(shared.table, id);
    haft_is_live(shared.view, id);
    atomic_store(&came, true);
}

/* Once: however slow the handler is, its thread goes on in between. */
static void set_timer(long microseconds)
{
    const struct itimerval once = {{0, 0}, {0, microseconds}};

    must(setitimer(ITIMER_REAL, &once, NULL) == 0);
}

/* The signal comes to the thread that has not blocked it. */
static void block(int how)
{
    sigset_t alarms;

    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(how, &alarms, NULL);
}

static void put(haft_worker *worker, unsigned place)
{
    haft_id id;
    void *object;

    if (haft_reserve(worker, &id, &object) == HAFT_OK) {
        atomic_store(&((struct object *)object)->check, id.bits);
        haft_publish(worker, id);
        const haft_id before = {atomic_exchange(&ids[place % IDS], id.bits)};

        haft_free(worker, before);
    }
}

struct churner {
    pthread_t thread;
    atomic_bool stop;
};

static void *churn(void *arg)
{
    struct churner *churner = arg;

    block(SIG_BLOCK);
    haft_thread_register(shared.domain);
    haft_worker *worker = open_worker(shared.table);

    for (unsigned n = 0; !atomic_load(&churner->stop); n++) {
        put(worker, n * 7);
        if (n % 16 == 0) {
            haft_worker_quiescent(worker);
        }
    }
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(shared.domain);
    return NULL;
}

/* Without sections of their own, quiescent points and ticks are not for handlers to interrupt. */
static bool has_sections(int row)
{
    return row < QSBR_CALLS || row == BP_CALLS || row == BP_THREAD;
}

static void churn_under_signals(int row)
{
    for (unsigned n = 0; atomic_load(&hits) < LEAST_HITS; n++) {
        if (atomic_exchange(&came, false)) {
            set_timer(SIGNAL_US);
        }
        put(shared.worker, n);
        if (n % 16 == 0) {
            block(has_sections(row) ? SIG_UNBLOCK : SIG_BLOCK);
            must(haft_worker_quiescent(shared.worker) == HAFT_OK);
            if (row != FRAME && n % 1024 == 0) {
                must(haft_worker_flush(shared.worker) == HAFT_OK);
                must(haft_domain_wait(shared.domain) == HAFT_OK);
            }
            haft_domain_tick(shared.domain); /* of a frame clock */
            block(SIG_UNBLOCK);
        }
    }
}

TEST_ON_EACH_ROW(signals, a_handler_resolves_whatever_its_thread_was_doing)
{
    const haft_table_options options = {
        .capacity = 2000, .object_size = sizeof(struct object), .on_reclaim = unmake};
    const struct sigaction action = {.sa_handler = resolve_some, .sa_flags = SA_RESTART};
    struct churner churner = {.stop = false};

    shared = open_shared_row(*row, &options);
    block(SIG_BLOCK);
    must(sigaction(SIGALRM, &action, NULL) == 0);
    if (*row != FRAME) { /* the other's jobs would have to end before each tick */
        must(pthread_create(&churner.thread, NULL, churn, &churner) == 0);
    }
    set_timer(SIGNAL_US);
    churn_under_signals(*row);
    set_timer(0);
    block(SIG_BLOCK);
    atomic_store(&churner.stop, true);
    if (*row != FRAME) {
        haft_thread_offline(shared.domain);
        pthread_join(churner.thread, NULL);
        haft_thread_online(shared.domain);
    }
    cr_expect(ge(u32, hits, LEAST_HITS));
    cr_expect(eq(u32, wrong, 0));
    close_shared(&shared);
}
