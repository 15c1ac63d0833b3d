/* Jobs that wait for jobs: what an outer job has resolved stays, whatever inner ones call. */
#include "concurrent/clock/jobs_and_parks.h"
#include "concurrent/clock/state.h"
#include "tests/support.h"
#include <signal.h>
#include <string.h>

TestSuite(jobs, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

/* Opened outside of all jobs, and offline: where a thread of a pool is between its jobs. */
static struct shared open_idle(struct setting setting)
{
    const struct shared shared = open_shared(setting, &options);

    haft_thread_offline(shared.domain);
    return shared;
}

static uint64_t backlog(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).backlog;
}

/* Another thread frees one object and waits for its grace period. */
struct other {
    struct shared *shared;
    pthread_t thread;
    sem_t done;
};

static void *free_and_wait(void *arg)
{
    struct other *other = arg;

    haft_thread_register(other->shared->domain);
    haft_worker *worker = open_worker(other->shared->table);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_wait(other->shared->domain) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(other->shared->domain);
    sem_post(&other->done);
    return NULL;
}

static void other_start(struct other *other, struct shared *shared)
{
    other->shared = shared;
    sem_init(&other->done, 0, 0);
    must(pthread_create(&other->thread, NULL, free_and_wait, other) == 0);
}

/* Whether it has ended its wait within `ms`. */
static bool other_is_done(struct other *other, unsigned ms)
{
    for (unsigned n = 0; n < ms; n++) {
        if (sem_trywait(&other->done) == 0) {
            sem_post(&other->done);
            return true;
        }
        sleep_ms(1);
    }
    return false;
}

static void other_join(struct other *other)
{
    pthread_join(other->thread, NULL);
    sem_destroy(&other->done);
}

/* Whether grace periods wait for the calling thread as it is: another one ends within `ms`. */
static bool lets_end(struct shared *shared, unsigned ms)
{
    struct other other;

    other_start(&other, shared);
    const bool ended = other_is_done(&other, ms);
    const haft_job_state parked = haft_thread_park(shared->domain);

    other_join(&other);
    haft_thread_unpark(shared->domain, parked);
    return ended;
}

#define EXPECT_HELD(shared) cr_expect(not(lets_end(shared, 50)))

static const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};

/* --- what grace periods wait for, step by step --- */

/* What has a thread's state: memb's has none outside of sections and jobs. */
enum clocks { EACH, ONLINE_TOLD, MEMB_ALONE, WORKERS_ALONE };

enum start {
    OFFLINE, /* with a worker, between the jobs of a pool */
    ONLINE,  /* with a worker */
    BARE     /* without a worker */
};

/*
 * The thread's steps:
 *   job, end, end_outer    begins a job; ends the latest one, or the one before
 *   park, unpark, on, off  parks, goes online, offline
 *   open, close, oldest    opens a worker; closes the latest, or the oldest
 *   leave                  unregisters
 *   quiet                  a quiescent point by the latest worker
 *   held, free             grace periods wait for the thread as it is; or they do not
 *   waits, inner           haft_domain_wait() is done; or refused as in a section
 */
struct row {
    enum clocks clocks;
    enum start start;
    const char *steps;
};

#define TRANSIENT "open held job held end held close free "

static const struct row rows[] = {
    /* The outermost job ends offline, and inner ones change nothing. */
    {EACH, OFFLINE, "job held job held end held end free on"},
    /* Parked jobs hold nothing up, and others begin anew. */
    {EACH, OFFLINE, "job job park free job held waits end free unpark held inner end end free on"},
    /* Offline and online, as in a function that blocks, leave a thread parked, */
    {EACH, OFFLINE, "job park off on free job off on held waits end free unpark held end free on"},
    /* also one that was offline, */
    {EACH, OFFLINE, "park off on free unpark free on"},
    /* or online. */
    {ONLINE_TOLD, ONLINE, "park off on free unpark held"},
    {MEMB_ALONE, ONLINE, "park off on free unpark free"},
    /* A park in a job that is offline leaves it so until it is online. */
    {ONLINE_TOLD, OFFLINE, "job off park off on unpark free on held end free on"},
    /* On a thread that is online jobs are inner ones. */
    {ONLINE_TOLD, ONLINE, "job inner end held"},
    {MEMB_ALONE, ONLINE, "job waits end free"},
    /* A worker opened while parked is a section until it is closed; */
    {ONLINE_TOLD, ONLINE,
     "park " TRANSIENT "job park " TRANSIENT "unpark held end free unpark held"},
    /* so is one opened while offline. */
    {ONLINE_TOLD, ONLINE, "off " TRANSIENT "on open close held"},
    /* The first worker may open in an inner job: without one the thread may not resolve. */
    {WORKERS_ALONE, BARE, "job job free open held end held end free"},
    /* The last worker may close in a job, and resolved pointers stay. */
    {WORKERS_ALONE, BARE, "job open close held job open close end held end free"},
    /* Workers opened while parked may close in any order, the one from before the park too, */
    {WORKERS_ALONE, ONLINE,
     "park open open oldest oldest held open oldest held oldest free unpark"
     " open"},
    /* outlast the park, */
    {WORKERS_ALONE, ONLINE, "park open unpark held close held"},
    /* close in a park of their own, which is taken back, */
    {WORKERS_ALONE, ONLINE, "park open park free close unpark free unpark held"},
    /* and in a job begun since. */
    {WORKERS_ALONE, ONLINE, "park open off job close held end free on free unpark"},
    /* One opened while offline in such a park holds until it closes; */
    {WORKERS_ALONE, ONLINE, "park open off free open held close free close free unpark held"},
    /* one opened beside it, or in a park inside, belongs to the same. */
    {ONLINE_TOLD, ONLINE, "park open open close held close free unpark held"},
    {ONLINE_TOLD, ONLINE, "park open park free open held close unpark held close free unpark held"},
    /* Online while a worker is open outlasts the worker, */
    {WORKERS_ALONE, ONLINE, "off open on close held"},
    /* but not the park that it was opened in. */
    {ONLINE_TOLD, ONLINE, "park open on close free unpark held"},
    /* Online in a job without workers holds nothing up. */
    {WORKERS_ALONE, BARE, "job off on free end"},
    /* The first worker after offline in a job is online, */
    {WORKERS_ALONE, BARE, "job off open held end free"},
    /* and the job before is the outer one. */
    {WORKERS_ALONE, BARE, "job off job open inner end held end free"},
    /* So it is after offline, the last close, and online again without a worker, */
    {WORKERS_ALONE, BARE, "job open off close on free open held end free"},
    {WORKERS_ALONE, BARE, "job open off close on job open inner end held end free"},
    /* or without online: offline lasts while the thread has workers. */
    {WORKERS_ALONE, BARE, "job open off free close open held end"},
    /* A thread without workers or jobs may park, go offline and online, and wait. */
    {WORKERS_ALONE, BARE, "park unpark off on waits free"},
    /* A thread is online until its last worker closes. */
    {WORKERS_ALONE, ONLINE, "open close held close free open held"},
    /* An offline thread holds nothing up, also by quiescent points, and an online one does. */
    {ONLINE_TOLD, ONLINE, "off free quiet free on on held"},
};

#define ROWS (sizeof rows / sizeof *rows)
#define DEEPEST 4

struct thread_state {
    struct shared shared;
    haft_job_state jobs[DEEPEST], parks[DEEPEST];
    haft_worker *workers[DEEPEST];
    int job_count, park_count, worker_count;
};

static void close_place(struct thread_state *state, int place)
{
    must(haft_worker_close(state->workers[place]) == HAFT_OK);
    state->worker_count--;
    for (; place < state->worker_count; place++) {
        state->workers[place] = state->workers[place + 1];
    }
}

/* True if the word is one of them. */
static bool change(struct thread_state *state, const char *word)
{
    haft_domain *domain = state->shared.domain;

    if (strcmp(word, "job") == 0) {
        state->jobs[state->job_count++] = haft_job_begin(domain);
    } else if (strcmp(word, "end") == 0) {
        haft_job_end(domain, state->jobs[--state->job_count]);
    } else if (strcmp(word, "end_outer") == 0) {
        haft_job_end(domain, state->jobs[state->job_count - 2]);
    } else if (strcmp(word, "park") == 0) {
        state->parks[state->park_count++] = haft_thread_park(domain);
    } else if (strcmp(word, "unpark") == 0) {
        haft_thread_unpark(domain, state->parks[--state->park_count]);
    } else if (strcmp(word, "on") == 0) {
        haft_thread_online(domain);
    } else if (strcmp(word, "off") == 0) {
        haft_thread_offline(domain);
    } else if (strcmp(word, "leave") == 0) {
        haft_thread_unregister(domain);
    } else if (strcmp(word, "quiet") == 0) {
        must(haft_worker_quiescent(state->workers[state->worker_count - 1]) == HAFT_OK);
    } else if (strcmp(word, "open") == 0) {
        state->workers[state->worker_count++] = open_worker(state->shared.table);
    } else if (strcmp(word, "close") == 0 || strcmp(word, "oldest") == 0) {
        close_place(state, word[0] == 'c' ? state->worker_count - 1 : 0);
    } else {
        return false;
    }
    return true;
}

static bool holds(struct thread_state *state, const char *word)
{
    if (strcmp(word, "held") == 0) {
        return !lets_end(&state->shared, 50);
    }
    if (strcmp(word, "free") == 0) {
        return lets_end(&state->shared, 20000);
    }
    const haft_status status = haft_domain_wait(state->shared.domain);

    must(strcmp(word, "waits") == 0 || strcmp(word, "inner") == 0);
    return status == (word[0] == 'w' ? HAFT_OK : HAFT_IN_SECTION);
}

static void take_steps(struct thread_state *state, const char *steps)
{
    char words[200];

    must(strlen(steps) < sizeof words);
    for (char *rest = strcpy(words, steps), *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        cr_expect(change(state, word) || holds(state, word), "%s: %s, before '%s'", steps, word,
                  rest);
    }
}

static struct thread_state begin(struct setting setting, enum start start)
{
    struct thread_state state = {.shared = open_shared(setting, &options)};

    state.workers[state.worker_count++] = state.shared.worker;
    if (start == BARE) {
        close_place(&state, 0);
    } else if (start == OFFLINE) {
        haft_thread_offline(state.shared.domain);
    }
    return state;
}

static bool is_on(const struct row *row, struct setting setting)
{
    switch (row->clocks) {
    case ONLINE_TOLD:
        return setting.sections != MEMB;
    case MEMB_ALONE:
        return setting.sections == MEMB;
    case WORKERS_ALONE:
        return setting.sections == ANNOUNCED;
    default:
        return true;
    }
}

struct case_of_row {
    size_t row;
    struct setting setting;
};

ParameterizedTestParameters(jobs, and_workers_hold_grace_periods_up_as_each_row_says)
{
    static struct case_of_row cases[ROWS * SETTINGS];
    size_t count = 0;

    for (size_t i = 0; i < ROWS * SETTINGS; i++) {
        if (is_on(&rows[i / SETTINGS], settings[i % SETTINGS])) {
            cases[count++] = (struct case_of_row){i / SETTINGS, settings[i % SETTINGS]};
        }
    }
    return cr_make_param_array(struct case_of_row, cases, count);
}

ParameterizedTest(struct case_of_row *it, jobs, and_workers_hold_grace_periods_up_as_each_row_says)
{
    const struct row *row = &rows[it->row];
    struct thread_state state = begin(it->setting, row->start);

    take_steps(&state, row->steps);
    must(state.worker_count <= 1 && state.job_count == 0 && state.park_count == 0);
    state.shared.worker = state.worker_count != 0 ? state.workers[0] : NULL;
    close_shared(&state.shared);
}

/* White-box: 0 is the number of no lift. */
Test(jobs, the_lift_after_2_to_the_32_has_a_number)
{
    struct nesting nesting = {.lift = UINT32_MAX};

    cr_expect(eq(u32, lift_join(&nesting), 1));
}

/* --- what an outer job has resolved, and calls that wait --- */

/* The object of `id` is where it was, however often slots are looked for. */
static void expect_kept(struct shared *shared, const uint64_t *object, uint64_t contents)
{
    const uint64_t other = ~contents;
    haft_id id;

    for (int n = 0; n < 1000; n++) {
        if (haft_insert(shared->worker, &other, &id) == HAFT_OK) {
            must(haft_free(shared->worker, id) == HAFT_OK);
        }
        must(*object == contents);
    }
}

TEST_ON_EACH_CLOCK(jobs, what_the_outer_one_resolved_stays_through_quiescent_points_of_inner_ones)
{
    const uint64_t contents = 7;
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    haft_id id;
    const haft_job_state outer = haft_job_begin(shared.domain);

    assert_status(haft_insert(shared.worker, &contents, &id), HAFT_OK);
    const uint64_t *object = haft_resolve(shared.view, id);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    for (int n = 0; n < 10; n++) {
        const haft_job_state inner = haft_job_begin(shared.domain);

        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        expect_kept(&shared, object, contents);
        haft_job_end(shared.domain, inner);
        expect_kept(&shared, object, contents);
    }
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, an_inner_quiescent_point_hands_on)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    for (int n = 0; n < 32; n++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    }
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(ge(u64, backlog(&shared), 1));
    haft_job_end(shared.domain, inner);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, in_an_inner_one_what_waits_is_refused)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    expect_status(haft_table_close(shared.table), HAFT_IN_SECTION);
    shared.worker = open_worker(shared.table);
    haft_job_end(shared.domain, inner);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, in_an_inner_one_a_full_table_is_not_waited_for)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    haft_id ids[256];
    uint64_t count = 0;
    void *object;

    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count < 256);
    }
    for (uint64_t i = 0; i < count; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_insert_wait(shared.worker, NULL, &ids[0]), HAFT_IN_SECTION);
    expect_status(haft_reserve_wait(shared.worker, &ids[0], &object), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    expect_status(haft_insert_wait(shared.worker, NULL, &ids[0]), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, a_quiescent_point_of_the_outermost_lets_grace_periods_end)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);
    struct other other;

    other_start(&other, &shared);
    cr_expect(not(other_is_done(&other, 50)));
    for (int n = 0; n < 10000 && !other_is_done(&other, 1); n++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(other_is_done(&other, 1));
    other_join(&other);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, a_section_inside_the_outermost_is_no_quiescent_point)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_job_state outer = haft_job_begin(shared.domain);

    if (setting->sections == MEMB) {
        haft_section_begin(shared.domain);
        expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
        expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
        haft_section_end(shared.domain);
    }
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    haft_job_end(shared.domain, outer);
    haft_thread_online(shared.domain);
}

TEST_ON_EACH_CLOCK(jobs, with_one_open_the_domain_stays)
{
    AT_END(close_shared) struct shared shared = open_idle(*setting);
    const haft_domain_options same = domain_options(*setting);
    haft_domain *domain;

    assert_status(haft_domain_open(&same, &domain), HAFT_OK);
    const haft_job_state job = haft_job_begin(domain);

    expect_status(haft_domain_close(domain), HAFT_IN_SECTION);
    haft_job_end(domain, job);
    expect_status(haft_domain_close(domain), HAFT_OK);
    haft_thread_online(shared.domain);
}

/* --- the workers clock --- */

/* A worker opened and closed by the calling thread, where the thread has no other. */
static struct shared open_without_worker(void)
{
    struct shared shared = open_shared(workers, &options);

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = NULL;
    return shared;
}

/* Closing and opening again inside a job would let go of what it has resolved. */
Test(jobs, a_worker_that_opens_again_in_one_announces_nothing)
{
    const uint64_t contents = 7;
    AT_END(close_shared) struct shared shared = open_without_worker();
    haft_id id;
    const haft_job_state job = haft_job_begin(shared.domain);

    shared.worker = open_worker(shared.table);
    assert_status(haft_insert(shared.worker, &contents, &id), HAFT_OK);
    const uint64_t *object = haft_resolve(shared.view, id);

    assert_status(haft_free(shared.worker, id), HAFT_OK);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
    expect_kept(&shared, object, contents);
    haft_job_end(shared.domain, job);
}

static void *end_in_a_job(void *arg)
{
    struct shared *shared = arg;

    haft_job_begin(shared->domain);
    shared->worker = open_worker(shared->table);
    return NULL;
}

Test(jobs, closing_the_worker_of_a_thread_that_ended_in_one_ends_the_job)
{
    AT_END(close_shared) struct shared shared = open_without_worker();

    in_another_thread(end_in_a_job, &shared);
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    settle(shared.worker);
    cr_expect(eq(u64, backlog(&shared), 0));
}

/* --- qsbr: jobs belong to the flavour --- */

Test(jobs, with_qsbr_one_of_another_domain_inside_is_an_inner_one)
{
    const struct setting qsbr = {QSBR, HAFT_CLOCK_CALLER};
    AT_END(close_shared) struct shared shared = open_idle(qsbr);
    const haft_domain_options same = domain_options(qsbr);
    haft_domain *other;

    assert_status(haft_domain_open(&same, &other), HAFT_OK);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(other);

    expect_status(haft_domain_wait(other), HAFT_IN_SECTION);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(other, inner);
    EXPECT_HELD(&shared);
    haft_job_end(shared.domain, outer);
    expect_status(haft_domain_close(other), HAFT_OK);
    haft_thread_online(shared.domain);
}

/* --- the frame clock --- */

Test(jobs, with_the_frame_clock_nest_and_change_nothing)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &options);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_BUSY);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    haft_job_end(shared.domain, inner);
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_thread_unpark(shared.domain, parked);
    haft_job_end(shared.domain, outer);
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
    cr_expect(eq(u64, backlog(&shared), 0));
}

/* --- misuse --- */

#ifndef NDEBUG
static struct {
    haft_domain *domain;
    haft_job_state state;
} elsewhere;

static void *end_elsewhere(void *arg)
{
    haft_job_end(elsewhere.domain, elsewhere.state);
    return NULL;
}

Test(jobs, ended_on_another_thread_are_noticed, .signal = SIGABRT)
{
    struct shared shared = open_idle(workers);

    elsewhere.domain = shared.domain;
    elsewhere.state = haft_job_begin(shared.domain);
    in_another_thread(end_elsewhere, NULL);
}

static const struct misuse {
    struct setting setting;
    const char *steps; /* the last is noticed */
} misuses[] = {
    {{ANNOUNCED, HAFT_CLOCK_WORKERS}, "job job end_outer"},
    {{MEMB, HAFT_CLOCK_CALLER}, "job park job unpark"},
    {{ANNOUNCED, HAFT_CLOCK_WORKERS}, "job job off"},
    {{QSBR, HAFT_CLOCK_CALLER}, "job leave"},
};

#define MISUSES (sizeof misuses / sizeof *misuses)

ParameterizedTestParameters(jobs, out_of_order_are_noticed)
{
    static size_t all[MISUSES];

    for (size_t i = 0; i < MISUSES; i++) {
        all[i] = i;
    }
    return cr_make_param_array(size_t, all, MISUSES);
}

ParameterizedTest(size_t *number, jobs, out_of_order_are_noticed, .signal = SIGABRT)
{
    const struct misuse *misuse = &misuses[*number];
    struct thread_state state = begin(misuse->setting, OFFLINE);

    take_steps(&state, misuse->steps);
}

Test(jobs, a_tick_inside_one_is_noticed, .signal = SIGABRT)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    struct shared shared = open_shared_on(&frames, &options);

    haft_job_begin(shared.domain);
    haft_domain_tick(shared.domain);
}
#endif
