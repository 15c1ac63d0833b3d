/*
 * Implicit workers in destructors of thread-specific data, whose keys were made before and after
 * the library's own: the system runs destructors in order of keys, round after round.
 */
#include "tests/support.h"
#include <haft/threads.h>
#include <limits.h>

TestSuite(thread_exit, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 8};

/* One key's: an object to be freed, and how often the destructor asks to be run. */
struct last_words {
    struct shared *shared;
    pthread_key_t key;
    int rounds;
    int done;
    haft_id id;
    bool failed;
};

static haft_worker *current(haft_table *table)
{
    haft_worker *worker = NULL;

    must(haft_worker_current(table, &worker) == HAFT_OK);
    return worker;
}

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

/* Resolve and free what is there, and leave an object for the next round, but for the last. */
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
