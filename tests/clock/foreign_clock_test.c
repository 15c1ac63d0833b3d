/* Foreign clocks: what haft passes on, when, and what it makes of callbacks that are not there. */
#include "tests/clock/forking.h"
#include <signal.h>
#include <stdatomic.h>

TestSuite(foreign_clock, .timeout = SUITE_SECONDS);

static const haft_table_options table_options = {.capacity = 100, .object_size = 8};

/* A clock that counts its calls.  It protects nothing: the tests read no objects. */
struct fake {
    haft_foreign_clock clock;
    atomic_uint registers, unregisters, begins, ends, onlines, offlines, quiescents;
    atomic_uint waits, waiting, most_waiting;
};

/* Of the calling thread, in all fakes. */
static _Thread_local unsigned depth;
static _Thread_local bool is_online;

static void count_register(void *ctx)
{
    ((struct fake *)ctx)->registers++;
}

static void count_unregister(void *ctx)
{
    ((struct fake *)ctx)->unregisters++;
}

static void count_begin(void *ctx)
{
    ((struct fake *)ctx)->begins++;
    depth++;
}

static void count_end(void *ctx)
{
    must(depth != 0);
    ((struct fake *)ctx)->ends++;
    depth--;
}

static void count_online(void *ctx)
{
    must(!is_online); /* only changes are passed on */
    ((struct fake *)ctx)->onlines++;
    is_online = true;
}

static void count_offline(void *ctx)
{
    must(is_online);
    ((struct fake *)ctx)->offlines++;
    is_online = false;
}

static void count_quiescent(void *ctx)
{
    must(is_online);
    ((struct fake *)ctx)->quiescents++;
}

static bool is_inside(void *ctx)
{
    return depth != 0 || is_online;
}

/* Long enough for a second driver to come. */
static void count_wait(void *ctx)
{
    struct fake *fake = ctx;
    const unsigned waiting = ++fake->waiting;

    must(depth == 0 && !is_online);
    fake->most_waiting = waiting > fake->most_waiting ? waiting : fake->most_waiting;
    sleep_ms(5);
    fake->waits++;
    fake->waiting--;
}

static void make_sections(struct fake *fake)
{
    *fake = (struct fake){
        .clock = {.ctx = fake,
                  .wait = count_wait,
                  .register_thread = count_register,
                  .unregister_thread = count_unregister,
                  .begin = count_begin,
                  .end = count_end,
                  .inside = is_inside},
    };
}

static void make_online(struct fake *fake)
{
    *fake = (struct fake){
        .clock = {.ctx = fake,
                  .wait = count_wait,
                  .online = count_online,
                  .offline = count_offline,
                  .quiescent = count_quiescent,
                  .inside = is_inside},
    };
}

static struct shared open_with(const struct fake *fake, haft_clock clock)
{
    const haft_domain_options domain = {.foreign_clock = &fake->clock, .clock = clock};

    return open_shared_on(&domain, &table_options);
}

static void free_one(struct shared *shared)
{
    must(haft_free(shared->worker, insert(shared->worker)) == HAFT_OK);
    must(haft_worker_flush(shared->worker) == HAFT_OK);
}

/* --- what is not whole --- */

static haft_status open_status(const haft_foreign_clock *foreign_clock)
{
    const haft_domain_options options = {.foreign_clock = foreign_clock,
                                         .clock = HAFT_CLOCK_CALLER};
    haft_domain *domain = NULL;
    const haft_status status = haft_domain_open(&options, &domain);

    cr_expect(eq(int, domain != NULL, status == HAFT_OK));
    if (domain != NULL) {
        expect_status(haft_domain_close(domain), HAFT_OK);
    }
    return status;
}

#define expect_refused_without(fake, member)                                                       \
    do {                                                                                           \
        haft_foreign_clock without = (fake).clock;                                                 \
        without.member = NULL;                                                                     \
        cr_expect(eq(int, open_status(&without), HAFT_BAD_FOREIGN_CLOCK), "without " #member);     \
    } while (0)

Test(foreign_clock, without_a_callback_that_is_required_is_refused)
{
    struct fake sections;
    struct fake online;

    make_sections(&sections);
    expect_refused_without(sections, ctx);
    expect_refused_without(sections, wait);
    expect_refused_without(sections, begin);
    expect_refused_without(sections, end);
    for (int i = 0; i < 4; i++) {
        sections.clock.reserved[i] = &sections; /* a callback that this library does not know */
        cr_expect(eq(int, open_status(&sections.clock), HAFT_BAD_FOREIGN_CLOCK), "reserved[%d]", i);
        sections.clock.reserved[i] = NULL;
    }
    make_online(&online);
    expect_refused_without(online, wait);
    expect_refused_without(online, online);
    expect_refused_without(online, offline);
    expect_refused_without(online, quiescent);
    expect_refused_without(online, inside);
    cr_expect(eq(int, open_status(&(haft_foreign_clock){.ctx = &online, .wait = count_wait}),
                 HAFT_BAD_FOREIGN_CLOCK));
}

Test(foreign_clock, needs_no_callback_but_those)
{
    struct fake fake;

    make_sections(&fake);
    fake.clock.register_thread = NULL;
    fake.clock.unregister_thread = NULL;
    fake.clock.inside = NULL;
    cr_expect(eq(int, open_status(&fake.clock), HAFT_OK));
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    free_one(&shared);
    settle(shared.worker);
    close_shared(&shared);
    cr_expect(lt(u32, 0, fake.waits));
}

Test(foreign_clock, may_go_when_the_domain_is_open)
{
    struct fake fake;

    make_sections(&fake);
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    fake.clock = (haft_foreign_clock){.ctx = NULL};
    free_one(&shared);
    settle(shared.worker);
    cr_expect(eq(u32, fake.waits, 1));
    close_shared(&shared);
    cr_expect(eq(u32, fake.registers, 1));
    cr_expect(eq(u32, fake.unregisters, 1));
}

/* --- sections and jobs --- */

Test(foreign_clock, sections_are_passed_on_one_by_one_and_jobs_as_the_outermost)
{
    struct fake fake;

    make_sections(&fake);
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    cr_expect(eq(u32, fake.begins, 2));
    haft_section_end(shared.domain);
    haft_section_end(shared.domain);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    cr_expect(eq(u32, fake.begins, 3));
    const haft_job_state parked = haft_thread_park(shared.domain);

    cr_expect(eq(u32, fake.ends, 3));
    haft_thread_unpark(shared.domain, parked);
    haft_job_end(shared.domain, inner);
    cr_expect(eq(u32, fake.ends, 3));
    haft_job_end(shared.domain, outer);
    cr_expect(eq(u32, fake.begins, 4));
    cr_expect(eq(u32, fake.ends, 4));
    haft_thread_offline(shared.domain); /* nothing to go offline from */
    haft_thread_online(shared.domain);
    close_shared(&shared);
    cr_expect(eq(u32, fake.begins, fake.ends));
}

Test(foreign_clock, online_and_offline_are_passed_on_when_they_change_something)
{
    struct fake fake;

    make_online(&fake);
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    haft_section_begin(shared.domain); /* the clock has none */
    haft_section_end(shared.domain);
    haft_thread_offline(shared.domain);
    haft_thread_online(shared.domain);
    haft_thread_online(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    cr_expect(eq(u32, fake.onlines, 1));
    haft_thread_offline(shared.domain);
    haft_thread_offline(shared.domain);
    cr_expect(eq(u32, fake.offlines, 1));
    const haft_job_state outer = haft_job_begin(shared.domain);

    free_one(&shared);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u32, fake.quiescents, 1));
    haft_job_end(shared.domain, outer);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u32, fake.quiescents, 1));
    close_shared(&shared);
    cr_expect(eq(u32, fake.onlines, fake.offlines));
}

Test(foreign_clock, jobs_of_domains_with_one_ctx_are_jobs_of_one_clock)
{
    struct fake fakes[2];

    make_sections(&fakes[0]);
    make_sections(&fakes[1]);
    struct shared a = open_with(&fakes[0], HAFT_CLOCK_CALLER);
    struct shared b = open_with(&fakes[0], HAFT_CLOCK_CALLER);
    AT_END(close_shared) struct shared other = open_with(&fakes[1], HAFT_CLOCK_CALLER);
    const haft_job_state outer = haft_job_begin(a.domain);
    const haft_job_state inner = haft_job_begin(b.domain);

    cr_expect(eq(u32, fakes[0].begins, 1));
    expect_status(haft_domain_wait(b.domain), HAFT_IN_SECTION);
    const haft_job_state beside = haft_job_begin(other.domain);

    cr_expect(eq(u32, fakes[1].begins, 1));
    haft_job_end(other.domain, beside);
    haft_job_end(b.domain, inner);
    haft_job_end(a.domain, outer);
    cr_expect(eq(u32, fakes[0].ends, 1));
    close_shared(&a);
    close_shared(&b);
}

Test(foreign_clock, without_inside_an_inner_job_is_known_and_a_section_is_not)
{
    struct fake fake;

    make_sections(&fake);
    fake.clock.inside = NULL;
    AT_END(close_shared) struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    free_one(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK); /* and the job is left meanwhile */
    haft_job_end(shared.domain, outer);
    haft_section_begin(shared.domain);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK); /* nothing waits */
    haft_section_end(shared.domain);
}

#define MOST_CLOCKS 8 /* see haft_job_begin() */

static struct fake crowd[MOST_CLOCKS + 1];
static haft_domain *domains[MOST_CLOCKS + 1];

static void open_crowd(void)
{
    for (int i = 0; i <= MOST_CLOCKS; i++) {
        make_sections(&crowd[i]);
        const haft_domain_options options = {.foreign_clock = &crowd[i].clock,
                                             .clock = HAFT_CLOCK_CALLER};

        assert_status(haft_domain_open(&options, &domains[i]), HAFT_OK);
    }
}

Test(foreign_clock, a_thread_has_jobs_of_eight_clocks_at_once)
{
    haft_job_state states[MOST_CLOCKS];

    open_crowd();
    for (int round = 0; round <= MOST_CLOCKS; round++) { /* each time of another eight */
        for (int i = 0; i < MOST_CLOCKS; i++) {
            states[i] = haft_job_begin(domains[(round + i) % (MOST_CLOCKS + 1)]);
        }
        for (int i = MOST_CLOCKS; i-- > 0;) {
            haft_job_end(domains[(round + i) % (MOST_CLOCKS + 1)], states[i]);
        }
    }
    for (int i = 0; i <= MOST_CLOCKS; i++) {
        cr_expect(eq(u32, crowd[i].begins, MOST_CLOCKS));
        cr_expect(eq(u32, crowd[i].ends, MOST_CLOCKS));
        expect_status(haft_domain_close(domains[i]), HAFT_OK);
    }
}

Test(foreign_clock, a_job_of_a_ninth_clock_ends_the_process, .signal = SIGABRT)
{
    open_crowd();
    for (int i = 0; i <= MOST_CLOCKS; i++) {
        haft_job_begin(domains[i]);
    }
}

/* Else grace periods would wait for the thread. */
Test(foreign_clock, a_park_from_online_in_a_ninth_clock_ends_the_process, .signal = SIGABRT)
{
    struct fake ninth;

    open_crowd();
    make_online(&ninth);
    struct shared shared = open_with(&ninth, HAFT_CLOCK_CALLER);

    haft_thread_online(shared.domain);
    for (int i = 0; i < MOST_CLOCKS; i++) {
        haft_job_begin(domains[i]);
    }
    haft_thread_park(shared.domain);
}

Test(foreign_clock, a_park_outside_of_jobs_is_none_of_the_eight)
{
    haft_job_state states[MOST_CLOCKS];

    open_crowd();
    for (int i = 0; i < MOST_CLOCKS; i++) {
        states[i] = haft_thread_park(domains[i]);
    }
    expect_status(haft_domain_close(domains[0]), HAFT_OK); /* it knows of no park */
    const haft_job_state job = haft_job_begin(domains[MOST_CLOCKS]);

    haft_job_end(domains[MOST_CLOCKS], job);
    for (int i = MOST_CLOCKS; i-- > 1;) {
        haft_thread_unpark(domains[i], states[i]);
    }
    for (int i = 1; i <= MOST_CLOCKS; i++) {
        expect_status(haft_domain_close(domains[i]), HAFT_OK);
    }
}

static bool says_online(void *ctx)
{
    return is_online;
}

/* Eight jobs, and a ninth clock whose threads are online or offline. */
static struct shared open_beside_eight_jobs(struct fake *ninth, haft_job_state *states)
{
    open_crowd();
    make_online(ninth);
    ninth->clock.inside = says_online; /* whatever sections of the others have begun */
    const struct shared shared = open_with(ninth, HAFT_CLOCK_CALLER);

    haft_thread_offline(shared.domain);
    for (int i = 0; i < MOST_CLOCKS; i++) {
        states[i] = haft_job_begin(domains[i]);
    }
    return shared;
}

static void close_beside_eight_jobs(struct shared *shared, const haft_job_state *states)
{
    for (int i = MOST_CLOCKS; i-- > 0;) {
        haft_job_end(domains[i], states[i]);
    }
    for (int i = 0; i <= MOST_CLOCKS; i++) {
        expect_status(haft_domain_close(domains[i]), HAFT_OK);
    }
    close_shared(shared);
}

Test(foreign_clock, offline_a_ninth_one_works_without_jobs)
{
    struct fake ninth;
    haft_job_state states[MOST_CLOCKS];
    haft_domain *other;
    struct shared shared = open_beside_eight_jobs(&ninth, states);
    const haft_domain_options same = {.foreign_clock = &ninth.clock, .clock = HAFT_CLOCK_CALLER};
    const haft_job_state parked = haft_thread_park(shared.domain);

    haft_thread_unpark(shared.domain, parked);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    assert_status(haft_domain_open(&same, &other), HAFT_OK);
    expect_status(haft_domain_close(other), HAFT_OK);
    cr_expect(zero(u32, ninth.onlines));
    close_beside_eight_jobs(&shared, states);
}

Test(foreign_clock, a_thread_comes_online_in_a_ninth_one_without_jobs)
{
    struct fake ninth;
    haft_job_state states[MOST_CLOCKS];
    struct shared shared = open_beside_eight_jobs(&ninth, states);

    haft_thread_online(shared.domain);
    cr_expect(eq(u32, ninth.onlines, 1));
    haft_thread_offline(shared.domain);
    close_beside_eight_jobs(&shared, states);
    cr_expect(eq(u32, ninth.offlines, 1));
}

static bool is_registered(void *ctx)
{
    return true;
}

/* What is known of it is kept while jobs of other clocks begin. */
Test(foreign_clock, a_worker_that_brought_its_thread_online_takes_it_offline)
{
    struct fake fake;
    haft_job_state states[MOST_CLOCKS - 1];

    open_crowd();
    make_online(&fake);
    fake.clock.inside = says_online;
    fake.clock.is_registered = is_registered;
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    haft_thread_offline(shared.domain);
    haft_worker *worker = open_worker(shared.table);

    cr_assert(is_online);
    for (int i = 0; i < MOST_CLOCKS - 1; i++) {
        states[i] = haft_job_begin(domains[i]);
    }
    expect_status(haft_worker_close(worker), HAFT_OK);
    cr_expect(not(is_online));
    for (int i = MOST_CLOCKS - 1; i-- > 0;) {
        haft_job_end(domains[i], states[i]);
    }
    for (int i = 0; i <= MOST_CLOCKS; i++) {
        expect_status(haft_domain_close(domains[i]), HAFT_OK);
    }
    close_shared(&shared);
}

Test(foreign_clock, a_section_of_a_ninth_one_is_no_quiescent_point)
{
    struct fake ninth;
    haft_job_state states[MOST_CLOCKS];

    open_crowd();
    make_sections(&ninth);
    struct shared shared = open_with(&ninth, HAFT_CLOCK_CALLER);

    for (int i = 0; i < MOST_CLOCKS; i++) {
        states[i] = haft_job_begin(domains[i]);
    }
    haft_section_begin(shared.domain);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    close_beside_eight_jobs(&shared, states);
}

/* By the clock's own call, as with rcu_thread_offline() of liburcu. */
Test(foreign_clock, a_thread_taken_offline_elsewhere_is_in_no_section)
{
    struct fake fake;

    make_online(&fake);
    AT_END(close_shared) struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);
    const haft_job_state outer = haft_job_begin(shared.domain);
    const haft_job_state inner = haft_job_begin(shared.domain);

    count_offline(&fake);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    count_online(&fake);
    expect_status(haft_domain_wait(shared.domain), HAFT_IN_SECTION);
    haft_job_end(shared.domain, inner);
    haft_job_end(shared.domain, outer);
}

#ifndef NDEBUG
static bool is_not_registered(void *ctx)
{
    return false;
}

Test(foreign_clock, a_section_of_a_thread_that_is_not_registered_is_noticed, .signal = SIGABRT)
{
    struct fake fake;

    make_sections(&fake);
    fake.clock.is_registered = is_not_registered;
    struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);

    haft_section_begin(shared.domain);
}
#endif

/* --- waiting --- */

static void *wait_for_domain(void *domain)
{
    for (int i = 0; i < 5; i++) {
        must(haft_domain_wait(domain) == HAFT_OK);
    }
    return NULL;
}

/* The thread clock calls it too, from a thread that is not registered. */
static void expect_one_driver(haft_clock clock)
{
    struct fake fake;
    pthread_t threads[4];

    make_sections(&fake);
    AT_END(close_shared) struct shared shared = open_with(&fake, clock);

    for (int round = 0; round < 5; round++) {
        free_one(&shared);
        for (int i = 0; i < 4; i++) {
            cr_assert(zero(int, pthread_create(&threads[i], NULL, wait_for_domain, shared.domain)));
        }
        free_one(&shared);
        settle(shared.worker);
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    cr_expect(lt(u32, 0, fake.waits));
    cr_expect(eq(u32, fake.most_waiting, 1));
}

Test(foreign_clock, wait_is_called_by_one_thread_at_a_time)
{
    expect_one_driver(HAFT_CLOCK_CALLER);
    expect_one_driver(HAFT_CLOCK_THREAD);
}

Test(foreign_clock, wait_is_called_outside_of_an_outermost_job)
{
    struct fake fake;

    make_online(&fake);
    AT_END(close_shared) struct shared shared = open_with(&fake, HAFT_CLOCK_CALLER);
    const haft_job_state job = haft_job_begin(shared.domain);

    free_one(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK); /* count_wait() looks */
    cr_expect(is_online);
    haft_job_end(shared.domain, job);
}

/* A close that asked the clock whether a section is open would end the job's own for a moment. */
Test(foreign_clock, a_refused_close_leaves_the_jobs_section_as_it_is)
{
    struct fake fake;
    AT_END(domain_end) haft_domain *domain;

    make_sections(&fake);
    const haft_domain_options with = {.foreign_clock = &fake.clock, .clock = HAFT_CLOCK_CALLER};

    assert_status(haft_domain_open(&with, &domain), HAFT_OK);
    const haft_job_state job = haft_job_begin(domain);

    expect_status(haft_domain_close(domain), HAFT_IN_SECTION);
    cr_expect(eq(uint, fake.ends, 0));
    haft_job_end(domain, job);
}
