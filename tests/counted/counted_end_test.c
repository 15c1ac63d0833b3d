/* The ends: on_destroy and what it may do, closing, signals, cancellation. */
#include "tests/support.h"
#include <haft/counted.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(counted_end, .timeout = SUITE_SECONDS);

static haft_counted *table;
static haft_counted *other;
static int destroyed;
static int depth;
static int deepest;

static haft_id insert_into(haft_counted *to, haft_id next)
{
    haft_id id = HAFT_NIL;

    must(haft_counted_insert(to, &next, &id) == HAFT_OK);
    return id;
}

/* --- objects that free others --- */

#define CHAIN 150000

/* Free the object whose id this one has, from whichever table it is in. */
static void free_next(void *object, haft_id id, void *arg)
{
    haft_id next;
    haft_counted *const *of = arg;

    destroyed++;
    deepest = ++depth > deepest ? depth : deepest;
    memcpy(&next, object, sizeof next);
    if (!haft_id_is_nil(next)) {
        must(haft_counted_free(*of, next) == HAFT_OK);
    }
    depth--;
}

static void *free_first(void *arg)
{
    must(haft_counted_free(table, *(haft_id *)arg) == HAFT_OK);
    return NULL;
}

/* In a thread whose stack would not hold a frame for each. */
static void free_on_a_small_stack(haft_id first)
{
    pthread_attr_t attr;
    pthread_t thread;

    must(pthread_attr_init(&attr) == 0);
    must(pthread_attr_setstacksize(&attr, under_asan() ? (size_t)1 << 20 : (size_t)64 << 10) == 0);
    must(pthread_create(&thread, &attr, free_first, &first) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(pthread_attr_destroy(&attr) == 0);
}

Test(counted_end, a_chain_of_objects_is_freed_in_a_loop)
{
    for (uint64_t min_free = 0; min_free < 2; min_free++) {
        haft_id first = HAFT_NIL;

        destroyed = deepest = 0;
        assert_status(haft_counted_open(&(haft_counted_options){.capacity = CHAIN,
                                                                .object_size = sizeof(haft_id),
                                                                .min_free = min_free,
                                                                .on_destroy = free_next,
                                                                .destroy_arg = &table},
                                        &table),
                      HAFT_OK);
        for (int i = 0; i < CHAIN; i++) {
            first = insert_into(table, first);
        }
        free_on_a_small_stack(first);
        cr_expect(eq(int, destroyed, CHAIN));
        cr_expect(eq(int, deepest, 1));
        cr_expect(zero(u64, haft_counted_stats_get(table).live));
        expect_status(haft_counted_close(table), HAFT_OK);
    }
}

Test(counted_end, tables_that_free_each_others_objects_nest_once_for_each)
{
    haft_id id = HAFT_NIL;
    haft_counted_options options = {
        .capacity = CHAIN, .object_size = sizeof(haft_id), .on_destroy = free_next};

    options.destroy_arg = &other;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    options.destroy_arg = &table;
    assert_status(haft_counted_open(&options, &other), HAFT_OK);
    for (int i = 0; i < CHAIN; i++) {
        id = insert_into(other, id);
        id = insert_into(table, id);
    }
    free_on_a_small_stack(id);
    cr_expect(eq(int, destroyed, 2 * CHAIN));
    cr_expect(eq(int, deepest, 2));
    expect_status(haft_counted_close(table), HAFT_OK);
    expect_status(haft_counted_close(other), HAFT_OK);
}

Test(counted_end, closing_frees_objects_that_free_others)
{
    for (uint64_t min_free = 0; min_free < 2; min_free++) {
        haft_id first;
        void *next;

        destroyed = deepest = 0;
        assert_status(haft_counted_open(&(haft_counted_options){.capacity = 100,
                                                                .object_size = sizeof(haft_id),
                                                                .min_free = min_free,
                                                                .on_destroy = free_next,
                                                                .destroy_arg = &table},
                                        &table),
                      HAFT_OK);
        /* The lower slot leads to the higher one, which closing meets after it. */
        assert_status(haft_counted_reserve(table, &first, &next), HAFT_OK);
        const haft_id second = insert_into(table, HAFT_NIL);

        must(haft_id_index(HAFT_LAYOUT_32_32, first) < haft_id_index(HAFT_LAYOUT_32_32, second));
        memcpy(next, &second, sizeof second);
        haft_counted_publish(table, first);
        expect_status(haft_counted_close(table), HAFT_OK);
        cr_expect(eq(int, destroyed, 2));
        cr_expect(eq(int, deepest, 1));
    }
}

/* --- what on_destroy meets --- */

static void look_around(void *object, haft_id id, void *arg)
{
    haft_id inserted;
    void *held;

    destroyed++;
    if (destroyed > 1) {
        return;
    }
    must(*(int *)object == 7);
    must(haft_counted_diagnose(table, id) == HAFT_STALE);
    must(haft_counted_acquire(table, id) == NULL);
    must(haft_counted_free(table, id) == HAFT_STALE);
    must(haft_counted_release(table, id) == HAFT_NOT_HELD);
    must(haft_counted_close(table) == HAFT_IN_USE);
    must(haft_counted_close_wait(table) == HAFT_IN_USE);
    must(haft_counted_stats_get(table).ended == 1);
    must(haft_counted_insert(table, &(int){8}, &inserted) == HAFT_OK);
    must(haft_counted_insert(table, NULL, arg) == HAFT_FULL); /* this slot is not free yet */
    held = haft_counted_acquire(table, inserted);
    must(held != NULL && *(int *)held == 8);
    must(haft_counted_release(table, inserted) == HAFT_OK);
    must(haft_counted_free(table, inserted) == HAFT_OK);
    must(destroyed == 1); /* it ends after this has returned */
    must(*(int *)held == 8);
}

Test(counted_end, on_destroy_may_call_all_and_finds_its_slot_taken)
{
    haft_id id;
    haft_id unused;

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 2,
                                                            .object_size = sizeof(int),
                                                            .on_destroy = look_around,
                                                            .destroy_arg = &unused},
                                    &table),
                  HAFT_OK);
    assert_status(haft_counted_insert(table, &(int){7}, &id), HAFT_OK);
    expect_status(haft_counted_free(table, id), HAFT_OK);
    cr_expect(eq(int, destroyed, 2));
    assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
    assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
    expect_status(haft_counted_close(table), HAFT_OK);
    cr_expect(eq(int, destroyed, 4));
}

/* An object whose end closes another table, objects of which free the next of this one. */
static void close_other(void *object, haft_id id, void *arg)
{
    must(++depth == 1);
    destroyed++;
    if (other != NULL) {
        expect_status(haft_counted_close(other), HAFT_OK);
        other = NULL;
    }
    depth--;
}

static void free_in_table(void *object, haft_id id, void *arg)
{
    haft_id next;

    memcpy(&next, object, sizeof next);
    expect_status(haft_counted_free(table, next), HAFT_OK);
    expect_status(haft_counted_close(table), HAFT_IN_USE);
    expect_status(haft_counted_close(other), HAFT_IN_USE);
}

Test(counted_end, on_destroy_may_close_another_table_that_frees_objects_of_its_own)
{
    haft_counted_options options = {.capacity = 4, .object_size = sizeof(haft_id)};
    haft_id ids[3];

    options.on_destroy = close_other;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    options.on_destroy = free_in_table;
    assert_status(haft_counted_open(&options, &other), HAFT_OK);
    for (int i = 0; i < 3; i++) {
        ids[i] = insert_into(table, HAFT_NIL);
    }
    insert_into(other, ids[1]);
    insert_into(other, ids[2]);
    expect_status(haft_counted_free(table, ids[0]), HAFT_OK);
    cr_expect(eq(int, destroyed, 3));
    cr_expect(zero(ptr, other));
    expect_status(haft_counted_close(table), HAFT_OK);
    expect_no_leaks();
}

/* --- fork --- */

static pid_t child; /* of the on_destroy that forks; 0: in the child */

/* Fork while the next object is deferred to this on_destroy's end. */
static void fork_and_free_next(void *object, haft_id id, void *arg)
{
    const int before = destroyed;

    if (before == 0) {
        child = fork();
        must(child >= 0);
    }
    free_next(object, id, arg);
    must(destroyed == before + 1);
}

/* As far as the child's table is its own: objects end and begin, and it closes. */
static void go_on_in_the_child(void)
{
    haft_id id;

    must(destroyed == 2 && haft_counted_insert(table, NULL, &id) == HAFT_OK);
    must(haft_counted_insert(table, NULL, &id) == HAFT_OK);
    must(haft_counted_insert(table, NULL, &id) == HAFT_FULL);
    must(haft_counted_close(table) == HAFT_OK && destroyed == 4);
    _exit(0);
}

Test(counted_end, after_a_fork_inside_on_destroy_both_processes_go_on)
{
    int status;

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 2,
                                                            .object_size = sizeof(haft_id),
                                                            .on_destroy = fork_and_free_next,
                                                            .destroy_arg = &table},
                                    &table),
                  HAFT_OK);
    const haft_id second = insert_into(table, HAFT_NIL);
    const haft_id first = insert_into(table, second);

    expect_status(haft_counted_free(table, first), HAFT_OK);
    if (child == 0) {
        go_on_in_the_child();
    }
    cr_expect(eq(int, destroyed, 2));
    must(waitpid(child, &status, 0) == child);
    cr_expect(zero(int, status), "the child");
    expect_status(haft_counted_close(table), HAFT_OK);
}

static void note_cancel_state(void *object, haft_id id, void *arg)
{
    int *state = arg;

    must(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, state) == 0);
    must(pthread_setcancelstate(*state, NULL) == 0);
}

Test(counted_end, cancellation_is_off_in_on_destroy_and_as_before_after_it)
{
    int inside = -1;
    int after;
    haft_id id;

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 2,
                                                            .on_destroy = note_cancel_state,
                                                            .destroy_arg = &inside},
                                    &table),
                  HAFT_OK);
    for (int way = 0; way < 3; way++) {
        assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
        inside = -1;
        if (way == 0) {
            expect_status(haft_counted_free(table, id), HAFT_OK);
        } else if (way == 1) {
            must(haft_counted_acquire(table, id) != NULL);
            expect_status(haft_counted_free(table, id), HAFT_OK);
            expect_status(haft_counted_release(table, id), HAFT_OK);
        } else {
            expect_status(haft_counted_close(table), HAFT_OK);
        }
        cr_expect(eq(int, inside, PTHREAD_CANCEL_DISABLE));
        must(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &after) == 0);
        cr_expect(eq(int, after, PTHREAD_CANCEL_ENABLE));
    }
}

/* --- closing --- */

static void count_end(void *object, haft_id id, void *arg)
{
    ++*(int *)arg;
}

static const haft_counted_options counting = {
    .capacity = 10, .object_size = 8, .on_destroy = count_end, .destroy_arg = &destroyed};

/* `arg` has the index of the object that ended before. */
static void end_in_order(void *object, haft_id id, void *arg)
{
    uint64_t *last = arg;

    must(haft_id_index(HAFT_LAYOUT_32_32, id) > *last);
    *last = haft_id_index(HAFT_LAYOUT_32_32, id);
    destroyed++;
}

Test(counted_end, close_frees_all_objects_in_order_of_index)
{
    uint64_t last = 0;
    haft_counted_options options = counting;

    options.on_destroy = end_in_order;
    options.destroy_arg = &last;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    for (int i = 0; i < 7; i++) {
        insert_into(table, HAFT_NIL);
    }
    expect_status(haft_counted_close(table), HAFT_OK);
    cr_expect(eq(int, destroyed, 7));
    expect_no_leaks();
}

Test(counted_end, close_answers_in_use_until_holds_and_reservations_are_given_back)
{
    for (uint64_t min_free = 0; min_free < 3; min_free++) {
        haft_counted_options options = counting;
        char line[200];
        haft_id reserved[2];

        destroyed = 0;
        options.min_free = min_free;
        assert_status(haft_counted_open(&options, &table), HAFT_OK);
        const haft_id held = insert_into(table, HAFT_NIL);

        insert_into(table, HAFT_NIL);
        assert_status(haft_counted_reserve(table, &reserved[0], NULL), HAFT_OK);
        assert_status(haft_counted_reserve(table, &reserved[1], NULL), HAFT_OK);
        must(haft_counted_acquire(table, held) != NULL);
        expect_status(haft_counted_close(table), HAFT_IN_USE);
        cr_expect(eq(int, destroyed, 1));
        haft_counted_explain(table, HAFT_IN_USE, line, sizeof line);
        cr_expect(eq(str, strchr(line, ':'),
                     ": in use: 2 slots reserved, 1 object freed and still held or being "
                     "destroyed"));
        cr_expect(zero(ptr, haft_counted_acquire(table, held)));
        expect_status(haft_counted_insert(table, NULL, &(haft_id){0}), HAFT_CLOSED);
        expect_status(haft_counted_reserve(table, &(haft_id){0}, NULL), HAFT_CLOSED);
        expect_status(haft_counted_release(table, held), HAFT_OK);
        cr_expect(eq(int, destroyed, 2));
        expect_status(haft_counted_close(table), HAFT_IN_USE);
        haft_counted_abort(table, reserved[0]);
        expect_status(haft_counted_close(table), HAFT_IN_USE);
        haft_counted_publish(table, reserved[1]); /* it lives until the next look */
        cr_expect(haft_counted_is_live(table, reserved[1]));
        expect_status(haft_counted_close(table), HAFT_OK);
        cr_expect(eq(int, destroyed, 3));
    }
    expect_no_leaks();
}

static haft_id held_by_other;
static sem_t go;

static void *release_later(void *arg)
{
    must(haft_counted_acquire(table, held_by_other) != NULL);
    must(sem_post(&go) == 0);
    sleep_ms(50);
    must(haft_counted_release(table, held_by_other) == HAFT_OK);
    return arg;
}

Test(counted_end, close_wait_waits_for_what_other_threads_hold)
{
    pthread_t thread;

    must(sem_init(&go, 0, 0) == 0);
    for (int i = 0; i < 5; i++) {
        destroyed = 0;
        assert_status(haft_counted_open(&counting, &table), HAFT_OK);
        held_by_other = insert_into(table, HAFT_NIL);
        must(pthread_create(&thread, NULL, release_later, NULL) == 0);
        must(sem_wait(&go) == 0);
        expect_status(haft_counted_close_wait(table), HAFT_OK);
        cr_expect(eq(int, destroyed, 1));
        must(pthread_join(thread, NULL) == 0);
    }
    expect_no_leaks();
}

Test(counted_end, a_worn_out_slot_does_not_keep_a_table_open)
{
    haft_counted_options options = counting;
    haft_id id;

    options.layout = (haft_layout){8, 1, 0, 0};
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    for (int i = 0; i < 10; i++) {
        id = insert_into(table, HAFT_NIL);
        must(haft_counted_free(table, id) == HAFT_OK);
    }
    expect_status(haft_counted_close(table), HAFT_OK);
}

Test(counted_end, abandon_releases_memory_and_calls_nothing)
{
    assert_status(haft_counted_open(&counting, &table), HAFT_OK);
    must(haft_counted_acquire(table, insert_into(table, HAFT_NIL)) != NULL);
    assert_status(haft_counted_reserve(table, &(haft_id){0}, NULL), HAFT_OK);
    haft_counted_abandon(table);
    cr_expect(zero(int, destroyed));
    expect_no_leaks();
}

static void leave_the_table_to_the_parent(void)
{
    must(haft_counted_close(table) == HAFT_IN_USE);
    haft_counted_abandon(table);
    must(destroyed == 0);
    must(haft_counted_open(&counting, &table) == HAFT_OK);
    insert_into(table, HAFT_NIL);
    must(haft_counted_close(table) == HAFT_OK && destroyed == 1);
    _exit(0);
}

Test(counted_end, the_child_of_a_fork_abandons_what_others_hold_and_opens_a_table_of_its_own)
{
    int status;

    assert_status(haft_counted_open(&counting, &table), HAFT_OK);
    const haft_id id = insert_into(table, HAFT_NIL);

    must(haft_counted_acquire(table, id) != NULL);
    const pid_t forked = fork();

    must(forked >= 0);
    if (forked == 0) {
        leave_the_table_to_the_parent();
    }
    must(waitpid(forked, &status, 0) == forked);
    cr_expect(zero(int, status), "the child");
    expect_status(haft_counted_release(table, id), HAFT_OK);
    expect_status(haft_counted_close(table), HAFT_OK);
    cr_expect(eq(int, destroyed, 1));
}

/* --- signals --- */

static haft_id for_handler;
static volatile sig_atomic_t interrupted;

/* In a handler: acquire and copy, and release, as this on_destroy may be called there. */
static void use_in_handler(int number)
{
    uint64_t value;

    interrupted++;
    if (haft_counted_acquire(table, for_handler) != NULL) {
        must(haft_counted_copy(table, for_handler, &value) && value == 7);
        must(haft_counted_release(table, for_handler) == HAFT_OK);
    }
}

static _Atomic(bool) is_done;

static void *interrupt(void *thread)
{
    while (!is_done) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        sleep_ms(1);
    }
    return NULL;
}

Test(counted_end, a_signal_handler_may_acquire_copy_and_release_at_any_moment)
{
    haft_counted_options options = counting;
    pthread_t self = pthread_self();
    pthread_t thread;
    int rounds = 0;

    options.copies = true;
    assert_status(haft_counted_open(&options, &table), HAFT_OK);
    must(haft_counted_insert(table, &(uint64_t){7}, &for_handler) == HAFT_OK);
    must(signal(SIGUSR1, use_in_handler) != SIG_ERR);
    must(pthread_create(&thread, NULL, interrupt, &self) == 0);
    while (interrupted < 50) {
        haft_id id = insert_into(table, (haft_id){1});

        must(haft_counted_acquire(table, for_handler) != NULL);
        must(haft_counted_acquire(table, id) != NULL);
        must(haft_counted_free(table, id) == HAFT_OK);
        must(haft_counted_release(table, id) == HAFT_OK);
        must(haft_counted_release(table, for_handler) == HAFT_OK);
        rounds++;
    }
    is_done = true;
    must(pthread_join(thread, NULL) == 0);
    cr_expect(eq(int, destroyed, rounds));
    expect_status(haft_counted_take(table, for_handler, &(uint64_t){0}), HAFT_OK);
    expect_status(haft_counted_close(table), HAFT_OK);
}
