/* The shared table: opening, closing, what it tells of itself. */
#include "tests/support.h"
#include <haft/share.h>
#include <signal.h>

TestSuite(table, .timeout = SUITE_SECONDS);
TestSuite(table_close, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.name = "jobs", .capacity = 1000, .object_size = 8};

Test(table, tells_its_layout_name_domain_and_view)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_layout layout = haft_table_info(shared.table).layout;
    const haft_view again = haft_table_view(shared.table);

    cr_expect(eq(int, layout.index_bits, 32));
    cr_expect(eq(int, layout.generation_bits, 32));
    cr_expect(eq(int, layout.tag_bits, 0));
    cr_expect(eq(str, (char *)haft_table_info(shared.table).name, "jobs"));
    cr_expect(eq(ptr, haft_table_info(shared.table).domain, shared.domain));
    cr_expect(eq(ptr, haft_worker_table(shared.worker), shared.table));
    cr_expect(eq(ptr, again.base, shared.view.base));
}

TEST_ON_EACH_CLOCK(table, opens_and_closes_again_and_again)
{
    const haft_domain_options domain_option = domain_options(*setting);
    AT_END(domain_end) haft_domain *domain;
    haft_table *table;

    assert_status(haft_domain_open(&domain_option, &domain), HAFT_OK);
    for (int i = 0; i < 200; i++) {
        assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
        haft_worker *worker = open_worker(table);

        insert(worker);
        haft_free(worker, insert(worker));
        haft_worker_close(worker);
        assert_status(haft_table_close(table), HAFT_OK);
    }
}

static uint64_t grace_periods(const haft_domain *domain)
{
    return haft_domain_stats_get(domain).grace_periods;
}

/* An object that lives, or that waits, may have a reader; in an empty table there is none. */
TEST_ON_EACH_CLOCK(table_close, waits_for_a_grace_period_only_if_an_object_may_have_a_reader)
{
    const haft_domain_options domain_option = domain_options(*setting);
    haft_domain *domain;

    assert_status(haft_domain_open(&domain_option, &domain), HAFT_OK);
    haft_thread_register(domain);
    for (int objects = 0; objects < 3; objects++) { /* none, one that lives, one that waits */
        haft_table *table;

        assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
        haft_worker *worker = open_worker(table);
        const haft_id first = insert(worker);

        must(haft_free(worker, first) == HAFT_OK);
        must(haft_worker_flush(worker) == HAFT_OK);
        must(haft_domain_wait(domain) == HAFT_OK);
        must(haft_worker_flush(worker) == HAFT_OK); /* reclaims it */
        const uint64_t before = grace_periods(domain);

        if (objects != 0) {
            const haft_id id = insert(worker);

            must(objects == 1 || haft_free(worker, id) == HAFT_OK);
        }
        must(haft_worker_close(worker) == HAFT_OK);
        assert_status(haft_table_close(table), HAFT_OK);
        if (objects == 0) {
            cr_expect(eq(u64, grace_periods(domain), before));
        } else {
            cr_expect(lt(u64, before, grace_periods(domain)));
        }
    }
    haft_thread_unregister(domain);
    expect_status(haft_domain_close(domain), HAFT_OK);
    expect_no_leaks();
}

TEST_ON_EACH_CLOCK(table_close, with_an_open_worker_is_in_use_and_does_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_worker *second = open_worker(shared.table);
    const haft_id id = insert(shared.worker);

    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    haft_worker_close(second);
    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    cr_expect(haft_is_live(shared.view, id));
    expect_status(haft_free(shared.worker, id), HAFT_OK);
    insert(shared.worker);
}

/* Whether a section of the calling thread's own can be told: with qsbr and the workers clock begin
 * and end do nothing, and waiting threads are outside. */
static bool sections_are_told(struct setting setting)
{
    return setting.sections == MEMB;
}

TEST_ON_EACH_CLOCK(table_close, inside_a_section_is_refused_and_does_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert(shared.worker);

    haft_worker_close(shared.worker);
    shared.worker = NULL;
    haft_section_begin(shared.domain);
    if (sections_are_told(*setting)) {
        expect_status(haft_table_close(shared.table), HAFT_IN_SECTION);
        cr_expect(ne(ptr, haft_resolve(shared.view, id), NULL));
        haft_section_end(shared.domain);
        shared.worker = open_worker(shared.table);
        expect_status(haft_free(shared.worker, id), HAFT_OK);
    } else {
        expect_status(haft_table_close(shared.table), HAFT_OK); /* and not a hang */
        shared.table = NULL;
        haft_section_end(shared.domain);
    }
}

TEST_ON_EACH_CLOCK(table_close, ends_live_and_reserved_objects_too)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id id;

    for (int i = 0; i < 500; i++) {
        insert(shared.worker);
        assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
    }
}

struct closer {
    haft_table *table;
    haft_status status;
    sem_t done;
};

static void *close_table(void *arg)
{
    struct closer *closer = arg;

    closer->status = haft_table_close(closer->table);
    sem_post(&closer->done);
    return NULL;
}

/* What became of an object that a reader inside its section may have resolved. */
enum fate { LIVES, WAS_FREED, WAS_FREED_WITHOUT_A_WORKER, FATES };

static void expect_close_to_wait(struct setting setting, enum fate fate)
{
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    struct closer closer = {.table = shared.table};
    struct reader reader;
    pthread_t thread;

    sem_init(&closer.done, 0, 0);
    const haft_id id = insert(shared.worker);

    settle(shared.worker);
    reader_enter(&reader, &shared);
    must(fate != WAS_FREED || haft_free(shared.worker, id) == HAFT_OK);
    haft_worker_close(shared.worker);
    must(fate != WAS_FREED_WITHOUT_A_WORKER || haft_table_free(shared.table, id) == HAFT_OK);
    haft_thread_offline(shared.domain);
    cr_assert(zero(int, pthread_create(&thread, NULL, close_table, &closer)));
    sleep_ms(50);
    cr_expect(ne(int, sem_trywait(&closer.done), 0), "closed with a reader inside");
    reader_leave(&reader);
    pthread_join(thread, NULL);
    expect_status(closer.status, HAFT_OK);
    haft_thread_online(shared.domain);
    shared.worker = NULL;
    shared.table = NULL;
}

TEST_ON_EACH_CLOCK(table_close, waits_for_a_reader_whatever_became_of_its_object)
{
    for (int fate = 0; fate < FATES; fate++) {
        expect_close_to_wait(*setting, (enum fate)fate);
    }
}

/* An object of another table of the domain: freed, and a reader may have it. */
TEST_ON_EACH_CLOCK(table_close, waits_for_no_other_tables_freed_objects)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_table *table;
    struct reader reader;

    assert_status(haft_table_open(shared.domain, &options, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);
    const haft_id id = insert(shared.worker);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK); /* its grace period has passed */
    reader_enter(&reader, &shared);
    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    expect_status(haft_table_close(table), HAFT_OK); /* and not a hang */
    reader_leave(&reader);
}

static haft_table *ending;

static haft_status closed_inside;

static void close_again(void *object, haft_id id, haft_worker *worker, void *arg)
{
    closed_inside = haft_table_close(ending);
}

Test(table_close, from_on_reclaim_is_refused)
{
    const haft_table_options reclaims = {.capacity = 10, .on_reclaim = close_again};
    struct shared shared = open_shared(MEMB_CALLER, &reclaims);

    ending = shared.table;
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    close_shared(&shared);
    expect_status(closed_inside, HAFT_IN_CALLBACK);
}

static haft_worker *opened_inside;

static void open_one(void *object, haft_id id, haft_worker *worker, void *arg)
{
    must(haft_worker_open(ending, &opened_inside) == HAFT_OK);
}

Test(table_close, by_unshare_is_refused_where_on_reclaim_has_opened_a_worker)
{
    haft_local *local;
    const haft_table_options reclaims = {.capacity = 10, .on_reclaim = open_one};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &reclaims);

    ending = shared.table;
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    expect_status(haft_unshare(shared.table, &local), HAFT_IN_USE);
    shared.worker = opened_inside;
}
