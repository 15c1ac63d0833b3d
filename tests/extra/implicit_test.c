/* White-box.  Implicit workers: one for each thread that asks, closed when it ends. */
#include "concurrent/clock/registry.h"
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/threads.h>
#include <limits.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(implicit, .timeout = SUITE_SECONDS);
TestSuite(thread_exit, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 8};

static haft_worker *current(haft_table *table)
{
    haft_worker *worker = NULL;

    must(haft_worker_current(table, &worker) == HAFT_OK);
    return worker;
}

/* Has the registry's lock until told. */
struct holder {
    sem_t held;
    sem_t go_on;
};

static void *hold_lock(void *arg)
{
    struct holder *holder = arg;

    registry_lock();
    sem_post(&holder->held);
    sem_wait(&holder->go_on);
    registry_unlock();
    return NULL;
}

/* A table that no worker is open on. */
static struct shared open_bare(struct setting setting)
{
    struct shared shared = open_shared(setting, &options);

    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    return shared;
}

static void in_thread(void *(*body)(void *), void *arg)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, body, arg) == 0);
    must(pthread_join(thread, NULL) == 0);
}

TEST_ON_EACH_CLOCK(implicit, the_same_worker_each_time_and_another_for_another_table)
{
    struct shared shared = open_bare(*setting);
    haft_table *other;

    must(haft_table_open(shared.domain, &options, &other) == HAFT_OK);
    haft_worker *first = current(shared.table);
    haft_worker *second = current(other);

    cr_expect(ne(ptr, first, second));
    cr_expect(eq(ptr, haft_worker_table(first), shared.table));
    cr_expect(eq(ptr, haft_worker_table(second), other));
    for (int n = 0; n < 10; n++) {
        must(current(shared.table) == first);
        must(current(other) == second);
    }
    must(haft_free(first, insert(first)) == HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    expect_status(haft_table_close(other), HAFT_OK);
    close_shared(&shared);
}

Test(implicit, is_found_without_a_lock)
{
    struct shared shared = open_bare(MEMB_CALLER);
    haft_worker *worker = current(shared.table);
    struct holder holder;
    pthread_t thread;

    sem_init(&holder.held, 0, 0);
    sem_init(&holder.go_on, 0, 0);
    must(pthread_create(&thread, NULL, hold_lock, &holder) == 0);
    sem_wait(&holder.held);
    cr_expect(eq(ptr, current(shared.table), worker));
    sem_post(&holder.go_on);
    pthread_join(thread, NULL);
    close_shared(&shared);
}

struct visit {
    haft_table *table;
    haft_worker *worker;
    haft_id id;
};

static void *insert_one(void *arg)
{
    struct visit *visit = arg;

    visit->worker = current(visit->table);
    must(haft_insert_wait(visit->worker, NULL, &visit->id) == HAFT_OK);
    return NULL;
}

TEST_ON_EACH_CLOCK(implicit, closes_with_its_thread_and_leaves_its_slots_to_others)
{
    struct shared shared = open_bare(*setting);
    struct visit visit = {.table = shared.table};

    in_thread(insert_one, &visit);
    cr_expect(eq(u64, stats_of(shared.table).workers, 0));
    cr_expect(haft_is_live(shared.view, visit.id));
    shared.worker = open_worker(shared.table);
    must(haft_free(shared.worker, visit.id) == HAFT_OK);
    settle(shared.worker);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
}

/* Of each flavour once that many; on its other clocks, with announced sections and where they cost
 * memory, a tenth. */
TEST_ON_EACH_CLOCK(implicit, a_hundred_thousand_short_lived_threads_leave_nothing_behind)
{
    const bool is_fast = !is_emulated() && !under_asan(); /* at creating threads */
    const bool all = setting->clock == HAFT_CLOCK_CALLER && is_fast;
    const int threads = all ? 100000 : 10000;
    struct shared shared = open_bare(*setting);
    struct visit visit = {.table = shared.table};

    shared.worker = open_worker(shared.table);
    for (int n = 0; n < threads; n++) {
        haft_thread_offline(shared.domain); /* the other may have to wait */
        in_thread(insert_one, &visit);
        haft_thread_online(shared.domain);
        must(haft_free(shared.worker, visit.id) == HAFT_OK);
        if (n % 100 == 0) {
            must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        }
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    cr_expect(le(u64, stats_of(shared.table).high_water, 17000));
    close_shared(&shared);
}

struct resident {
    haft_table *table;
    haft_worker *worker;
    sem_t there;
    sem_t go_on;
};

/* Has a worker on the table, waits, and then does something else. */
static void *stay(void *arg)
{
    struct resident *resident = arg;

    resident->worker = current(resident->table);
    must(haft_free(resident->worker, insert(resident->worker)) == HAFT_OK);
    sem_post(&resident->there);
    sem_wait(&resident->go_on);
    if (resident->table != NULL) {
        resident->worker = current(resident->table);
        insert(resident->worker);
    }
    return NULL;
}

static pthread_t move_in(struct resident *resident, haft_table *table)
{
    pthread_t thread;

    resident->table = table;
    sem_init(&resident->there, 0, 0);
    sem_init(&resident->go_on, 0, 0);
    must(pthread_create(&thread, NULL, stay, resident) == 0);
    sem_wait(&resident->there);
    return thread;
}

Test(implicit, of_a_living_thread_does_not_keep_a_table_from_closing)
{
    struct shared shared = open_bare(MEMB_CALLER);
    struct resident resident;
    const pthread_t thread = move_in(&resident, shared.table);

    expect_status(haft_table_close(shared.table), HAFT_OK);
    must(haft_table_open(shared.domain, &options, &shared.table) == HAFT_OK);
    resident.table = shared.table; /* likely where the old one was */
    sem_post(&resident.go_on);
    pthread_join(thread, NULL);
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    cr_expect(eq(u64, stats_of(shared.table).workers, 0));
    close_shared(&shared);
}

Test(implicit, of_a_living_thread_does_not_keep_a_table_from_being_unshared)
{
    struct shared shared = open_bare(MEMB_CALLER);
    struct resident resident;
    const pthread_t thread = move_in(&resident, shared.table);
    haft_local *local;

    insert(current(shared.table));
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    shared.table = NULL;
    resident.table = NULL;
    sem_post(&resident.go_on);
    pthread_join(thread, NULL);
    cr_expect(eq(u64, haft_local_count(local), 1));
    haft_local_close(local);
    close_shared(&shared);
}

/* --- a thread that ends calls nothing back --- */

struct farewell {
    haft_table *table;
    pthread_t thread;
    sem_t there; /* the thread has freed objects */
    sem_t go;    /* it may end */
    unsigned reclaimed;
    unsigned reclaimed_there; /* by the thread */
    haft_worker *opened;
};

static void count_reclaims(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct farewell *farewell = arg;

    (void)object;
    (void)id;
    (void)worker;
    farewell->reclaimed_there += pthread_equal(pthread_self(), farewell->thread) != 0;
    farewell->reclaimed++;
}

/* The first time, the thread ends meanwhile. */
static void see_it_off(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct farewell *farewell = arg;

    count_reclaims(object, id, worker, arg);
    if (farewell->reclaimed == 1) {
        sem_post(&farewell->go);
        pthread_join(farewell->thread, NULL);
    }
}

/* One is handed on; the other stays with the worker. */
static void *free_two_and_end(void *arg)
{
    struct farewell *farewell = arg;
    haft_worker *worker = current(farewell->table);
    const haft_id other = insert(worker);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_free(worker, other) == HAFT_OK);
    sem_post(&farewell->there);
    sem_wait(&farewell->go);
    return NULL;
}

/* On the frame clock, where a worker takes back what the last tick was for. */
static haft_domain *open_farewell(struct farewell *farewell, haft_reclaim *on_reclaim)
{
    const haft_table_options with = {
        .capacity = 1000, .object_size = 8, .on_reclaim = on_reclaim, .reclaim_arg = farewell};
    haft_domain *domain;

    *farewell = (struct farewell){.table = NULL};
    sem_init(&farewell->there, 0, 0);
    sem_init(&farewell->go, 0, 0);
    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain) == HAFT_OK);
    must(haft_table_open(domain, &with, &farewell->table) == HAFT_OK);
    must(pthread_create(&farewell->thread, NULL, free_two_and_end, farewell) == 0);
    sem_wait(&farewell->there);
    must(haft_domain_tick(domain) == HAFT_OK);
    return domain;
}

Test(implicit, of_a_thread_that_ends_while_the_table_closes_closes_with_one_of_them)
{
    struct farewell farewell;
    haft_domain *domain = open_farewell(&farewell, see_it_off);

    expect_status(haft_table_close(farewell.table), HAFT_OK);
    cr_expect(eq(uint, farewell.reclaimed, 2));
    cr_expect(eq(uint, farewell.reclaimed_there, 0));
    expect_status(haft_domain_close(domain), HAFT_OK);
}

Test(implicit, of_a_thread_that_ends_hands_on_what_it_freed_and_calls_nothing_back)
{
    struct farewell farewell;
    haft_domain *domain = open_farewell(&farewell, count_reclaims);
    uint64_t released;
    haft_worker *worker = open_worker(farewell.table);

    sem_post(&farewell.go);
    pthread_join(farewell.thread, NULL);
    cr_expect(eq(uint, farewell.reclaimed, 0));
    must(haft_domain_tick(domain) == HAFT_OK);
    must(haft_trim(farewell.table, &released) == HAFT_OK); /* it takes all due slots back */
    cr_expect(eq(uint, farewell.reclaimed, 2));
    must(haft_worker_close(worker) == HAFT_OK);
    expect_status(haft_table_close(farewell.table), HAFT_OK);
    expect_status(haft_domain_close(domain), HAFT_OK);
}

static void open_another(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct farewell *farewell = arg;

    count_reclaims(object, id, worker, arg);
    if (farewell->reclaimed == 1) {
        farewell->opened = open_worker(farewell->table);
    }
}

Test(implicit, unshares_not_where_on_reclaim_has_opened_another_worker)
{
    struct farewell farewell;
    haft_domain *domain = open_farewell(&farewell, open_another);
    haft_local *local;

    expect_status(haft_unshare(farewell.table, &local), HAFT_IN_USE);
    cr_expect(eq(uint, farewell.reclaimed, 2));
    expect_status(haft_worker_close(farewell.opened), HAFT_OK);
    sem_post(&farewell.go);
    pthread_join(farewell.thread, NULL);
    expect_status(haft_table_close(farewell.table), HAFT_OK);
    expect_status(haft_domain_close(domain), HAFT_OK);
}

/* --- a thread that ends while its table is closed --- */

static void *insert_and_end(void *arg)
{
    struct visit *visit = arg;

    visit->worker = current(visit->table);
    must(haft_free(visit->worker, insert(visit->worker)) == HAFT_OK);
    return NULL;
}

TEST_ON_EACH_CLOCK(implicit, of_threads_that_end_at_any_moment_let_the_table_close)
{
    struct shared shared = open_bare(*setting);

    for (int n = 0; n < 200; n++) {
        struct visit visits[2] = {{.table = shared.table}, {.table = shared.table}};
        pthread_t threads[2];

        for (int i = 0; i < 2; i++) {
            must(pthread_create(&threads[i], NULL, insert_and_end, &visits[i]) == 0);
        }
        pthread_join(threads[0], NULL);
        while (stats_of(shared.table).freed != 2) {
            sched_yield();
        }
        if (setting->clock == HAFT_CLOCK_WORKERS) { /* with which it counts as open */
            while (haft_table_close(shared.table) != HAFT_OK) {
                sched_yield();
            }
        } else {
            must(haft_table_close(shared.table) == HAFT_OK);
        }
        pthread_join(threads[1], NULL);
        must(haft_table_open(shared.domain, &options, &shared.table) == HAFT_OK);
    }
    close_shared(&shared);
}

Test(implicit, with_the_workers_clock_that_of_another_thread_counts_as_open)
{
    const struct setting workers = {ANNOUNCED, HAFT_CLOCK_WORKERS};
    struct shared shared = open_bare(workers);
    struct resident resident;
    const pthread_t thread = move_in(&resident, shared.table);

    current(shared.table); /* this thread's own does not */
    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    resident.table = NULL;
    sem_post(&resident.go_on);
    pthread_join(thread, NULL);
    close_shared(&shared);
}

/* --- at the end of a thread --- */

static pthread_key_t last_words;

static void use_at_exit(void *arg)
{
    struct visit *visit = arg;
    haft_worker *worker = current(visit->table);

    must(haft_free(worker, visit->id) == HAFT_OK);
    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(stats_of(visit->table).workers == 2); /* opened anew */
    visit->worker = worker;
}

static void *leave_last_words(void *arg)
{
    struct visit *visit = arg;

    visit->id = insert(current(visit->table));
    must(pthread_setspecific(last_words, visit) == 0);
    return NULL;
}

TEST_ON_EACH_CLOCK(implicit, may_be_used_in_destructors_at_thread_exit)
{
    struct shared shared = open_bare(*setting);
    struct visit visit = {.table = shared.table};

    current(shared.table); /* so that haft's key is made before, and its destructor runs first */
    must(pthread_key_create(&last_words, use_at_exit) == 0);
    in_thread(leave_last_words, &visit);
    cr_expect(ne(ptr, visit.worker, NULL));
    cr_expect(not(haft_is_live(shared.view, visit.id)));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    pthread_key_delete(last_words);
    close_shared(&shared);
}

static size_t memory_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

Test(implicit, many_tables_come_and_go_without_growth)
{
    struct shared shared = open_bare(MEMB_CALLER);
    const size_t before = memory_in_use();

    for (int n = 0; n < 20000; n++) {
        const haft_table_options small = {.capacity = 4};
        haft_table *table;

        must(haft_table_open(shared.domain, &small, &table) == HAFT_OK);
        insert(current(table));
        must(haft_table_close(table) == HAFT_OK);
    }
    cr_expect(lt(sz, memory_in_use(), before + 100000));
    close_shared(&shared);
}

#define TABLES 20

/* A thread has workers of any number of tables, and of those that are closed keeps none in mind. */
static void *use_many_tables(void *arg)
{
    struct shared *shared = arg;
    haft_table *tables[TABLES];
    haft_worker *workers[TABLES];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TABLES; i++) {
            must(haft_table_open(shared->domain, &options, &tables[i]) == HAFT_OK);
            workers[i] = current(tables[i]);
            must(haft_worker_table(workers[i]) == tables[i]);
            must(haft_free(workers[i], insert(workers[i])) == HAFT_OK);
        }
        for (int i = 0; i < TABLES; i++) {
            must(current(tables[i]) == workers[i]);
            must(haft_table_close(tables[i]) == HAFT_OK);
        }
    }
    must(haft_worker_table(current(shared->table)) == shared->table);
    return NULL;
}

Test(implicit, workers_of_many_tables_at_once_and_of_others_in_their_places)
{
    struct shared shared = open_bare(MEMB_CALLER);

    in_thread(use_many_tables, &shared);
    cr_expect(eq(u64, stats_of(shared.table).workers, 0));
    close_shared(&shared);
}

/* Closes its implicit worker by hand, and opens one for longer than the thread lives. */
static void *close_by_hand(void *arg)
{
    struct visit *visit = arg;
    haft_worker *first = current(visit->table);

    must(haft_worker_close(first) == HAFT_OK);
    visit->worker = open_worker(visit->table);
    must(visit->worker == first); /* the same part, under another opening */
    visit->id = insert(visit->worker);
    return NULL;
}

Test(implicit, closed_by_hand_is_not_closed_again_at_the_end_of_its_thread)
{
    struct shared shared = open_bare(MEMB_CALLER);
    struct visit visit = {.table = shared.table};

    in_thread(close_by_hand, &visit);
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    expect_status(haft_worker_close(visit.worker), HAFT_OK);
    close_shared(&shared);
}

static void *ask_again(void *arg)
{
    struct visit *visit = arg;

    must(haft_worker_close(current(visit->table)) == HAFT_OK);
    visit->worker = current(visit->table);
    must(stats_of(visit->table).workers == 1);
    visit->id = insert(visit->worker);
    return NULL;
}

Test(implicit, asked_for_again_once_it_was_closed_by_hand_opens_and_closes_with_its_thread)
{
    struct shared shared = open_bare(MEMB_CALLER);
    struct visit visit = {.table = shared.table};

    in_thread(ask_again, &visit);
    cr_expect(haft_is_live(shared.view, visit.id));
    cr_expect(eq(u64, stats_of(shared.table).workers, 0));
    close_shared(&shared);
}

/* --- in destructors of thread-specific data --- */

/* One key's: an object to be freed, and how often the destructor asks to be run. */
struct last_words {
    struct shared *shared;
    pthread_key_t key;
    int rounds;
    int done;
    haft_id id;
    bool failed;
};

/* Those that were freed may still wait for a grace period. */
static haft_id insert_waiting(haft_worker *worker)
{
    haft_id id;

    must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
    return id;
}

static void *resolve_inside(const struct shared *shared, haft_id id)
{
    haft_thread_register(shared->domain);
    haft_section_begin(shared->domain);
    void *object = haft_resolve(shared->view, id);

    haft_section_end(shared->domain);
    haft_thread_unregister(shared->domain);
    return object;
}

/* Resolve and free the objects, and leave one for the next round, except in the last round. */
static void speak(void *arg)
{
    struct last_words *words = arg;
    const struct shared *shared = words->shared;
    haft_worker *worker = current(shared->table);

    words->failed = words->failed || resolve_inside(shared, words->id) == NULL ||
                    haft_free(worker, words->id) != HAFT_OK ||
                    resolve_inside(shared, words->id) != NULL ||
                    haft_worker_quiescent(worker) != HAFT_OK;
    if (++words->done < words->rounds) {
        words->id = insert_waiting(worker);
        must(pthread_setspecific(words->key, words) == 0);
    }
}

static void *leave_words(void *arg)
{
    struct last_words *words = arg;

    for (int i = 0; i < 2; i++) {
        words[i].id = insert_waiting(current(words[i].shared->table));
        words[i].done = 0;
        must(pthread_setspecific(words[i].key, &words[i]) == 0);
    }
    return NULL;
}

/* Many threads one after another; the table has room for few. */
static void expect_nothing_left(struct shared *shared, struct last_words *words)
{
    for (int n = 0; n < 500; n++) {
        pthread_t thread;

        haft_thread_offline(shared->domain);
        must(pthread_create(&thread, NULL, leave_words, words) == 0);
        pthread_join(thread, NULL);
        haft_thread_online(shared->domain);
        must(haft_worker_quiescent(shared->worker) == HAFT_OK);
        for (int i = 0; i < 2; i++) {
            must(!words[i].failed && words[i].done == words[i].rounds);
        }
        must(stats_of(shared->table).live == 0);
        must(stats_of(shared->table).workers == 1);
    }
    cr_expect(le(u64, stats_of(shared->table).high_water, stats_of(shared->table).limit));
}

/* The one before may speak in every round: the library's comes after it in the last one, too. */
TEST_ON_EACH_CLOCK(thread_exit, work_in_destructors_before_and_after_the_librarys_leaves_nothing)
{
    struct shared shared = open_shared(*setting, &options);
    struct last_words words[2] = {
        {.shared = &shared, .rounds = PTHREAD_DESTRUCTOR_ITERATIONS},
        {.shared = &shared, .rounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1},
    };

    must(pthread_key_create(&words[0].key, speak) == 0);
    current(shared.table); /* the first in this process: it makes the library's key */
    must(pthread_key_create(&words[1].key, speak) == 0);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = current(shared.table);
    expect_nothing_left(&shared, words);
    shared.worker = NULL;
    pthread_key_delete(words[0].key);
    pthread_key_delete(words[1].key);
    close_shared(&shared);
    expect_no_leaks();
}

static haft_worker *left_open;

/* In every round; in the last one, the library's destructor has run already. */
static void ask_to_the_last(void *arg)
{
    struct last_words *words = arg;

    left_open = current(words->shared->table);
    if (++words->done < words->rounds) {
        must(pthread_setspecific(words->key, words) == 0);
    }
}

static void *leave_one_word(void *arg)
{
    struct last_words *words = arg;

    current(words->shared->table);
    must(pthread_setspecific(words->key, words) == 0);
    return NULL;
}

TEST_ON_EACH_CLOCK(thread_exit, a_worker_asked_for_after_the_librarys_last_round_stays_open)
{
    struct shared shared = open_shared(*setting, &options);
    struct last_words words = {.shared = &shared, .rounds = PTHREAD_DESTRUCTOR_ITERATIONS};
    pthread_t thread;

    current(shared.table); /* the first in this process: it makes the library's key */
    must(pthread_key_create(&words.key, ask_to_the_last) == 0);
    haft_thread_offline(shared.domain);
    must(pthread_create(&thread, NULL, leave_one_word, &words) == 0);
    pthread_join(thread, NULL);
    haft_thread_online(shared.domain);
    cr_expect(eq(int, words.done, PTHREAD_DESTRUCTOR_ITERATIONS));
    cr_expect(eq(u64, stats_of(shared.table).workers, 3));
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    if (setting->clock == HAFT_CLOCK_WORKERS) {
        expect_status(haft_table_close(shared.table), HAFT_IN_USE);
        expect_status(haft_worker_close(left_open), HAFT_OK);
        cr_expect(eq(u64, stats_of(shared.table).workers, 1));
    }
    pthread_key_delete(words.key);
    expect_status(haft_table_close(shared.table), HAFT_OK);
    shared.table = NULL;
    haft_thread_unregister(shared.domain);
    if (shared.anchor != NULL) {
        expect_status(haft_table_close(shared.anchor), HAFT_OK);
    }
    expect_status(haft_domain_close(shared.domain), HAFT_OK);
}
