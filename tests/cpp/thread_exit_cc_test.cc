/*
 * thread_exit_cc_test.cc - implicit workers in destructors of thread_local objects, made before and
 * after the thread's worker.  Exits with 1 and a line if something is left.
 */
#include <cstdio>
#include <haft/domain.h>
#include <haft/threads.h>
#include <haft/urcu.h>
#include <initializer_list>
#include <thread>

extern "C" {
}

static int failures = 0; /* threads run one at a time */

static void expect(bool condition, const char *what)
{
    if (!condition) {
        std::printf("not so: %s\n", what);
        failures++;
    }
}

#define EXPECT(condition) expect(condition, #condition)

/* At its thread's end it frees its object, and inserts and frees another. */
struct guest {
    haft_table *table = nullptr;
    haft_id id{};

    void move_in(haft_table *into)
    {
        haft_worker *worker = nullptr;

        table = into;
        EXPECT(haft_worker_current(table, &worker) == HAFT_OK);
        EXPECT(haft_insert_wait(worker, nullptr, &id) == HAFT_OK);
    }

    ~guest()
    {
        const haft_view view = haft_table_view(table);
        haft_worker *worker = nullptr;
        haft_id other{};

        EXPECT(haft_worker_current(table, &worker) == HAFT_OK);
        EXPECT(haft_is_live(view, id));
        EXPECT(haft_free(worker, id) == HAFT_OK);
        EXPECT(!haft_is_live(view, id));
        EXPECT(haft_insert_wait(worker, nullptr, &other) == HAFT_OK);
        EXPECT(haft_free(worker, other) == HAFT_OK);
    }
};

static thread_local guest before;
static thread_local guest after;

static void visit(haft_table *table)
{
    guest *first = &before; /* made here, and so gone last */
    haft_worker *worker = nullptr;

    EXPECT(haft_worker_current(table, &worker) == HAFT_OK);
    after.move_in(table);
    first->move_in(table);
}

static void expect_nothing_left(const haft_domain_options &with)
{
    haft_table_options options{};
    haft_domain *domain = nullptr;
    haft_table *table = nullptr;

    options.capacity = 100;
    EXPECT(haft_domain_open(&with, &domain) == HAFT_OK);
    EXPECT(haft_table_open(domain, &options, &table) == HAFT_OK);
    for (int n = 0; n < 500 && failures == 0; n++) {
        std::thread(visit, table).join();
        const haft_table_stats stats = haft_table_stats_get(table);

        EXPECT(stats.live == 0);
        EXPECT(stats.reserved == 0);
        EXPECT(stats.workers == 0);
    }
    EXPECT(haft_table_close(table) == HAFT_OK);
    EXPECT(haft_domain_close(domain) == HAFT_OK);
}

int main()
{
    haft_domain_options with{};

    for (const haft_clock clock : {HAFT_CLOCK_CALLER, HAFT_CLOCK_THREAD}) {
        with.clock = clock;
        with.foreign_clock = haft_urcu_memb();
        expect_nothing_left(with);
        with.foreign_clock = haft_urcu_qsbr();
        expect_nothing_left(with);
    }
    with.clock = HAFT_CLOCK_WORKERS;
    with.foreign_clock = nullptr;
    expect_nothing_left(with);
    return failures == 0 ? 0 : 1;
}
