/* haft::table, its workers and sections. */
#include "tests/cpp/counted_shared.hpp"
#include <future>
#include <haft/kit/arena.h>
#include <memory>
#include <thread>
#include <vector>

TestSuite(cpp_table, .timeout = SUITE_SECONDS);

/* --- lives --- */

Test(cpp_table, freed_object_is_destroyed_once_after_the_grace_period)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    const auto id = worker->emplace(7);
    counted *object = numbers.resolve(*id);

    cr_assert_eq(object->number, 7);
    expect_status(worker->free(*id), HAFT_OK);
    worker->flush();
    cr_expect_eq(counted::destroyed, 0);
    cr_expect_eq(object->number, 7);
    cr_expect_null(numbers.resolve(*id));
    expect_status(numbers.diagnose(*id), HAFT_STALE);
    cr_expect(numbers.explain(*id).find(to_string(*id)) != std::string::npos);
    cr_expect(numbers.explain(HAFT_FULL).find("full: capacity ") != std::string::npos);
    cr_expect_not(numbers.is_live(*id));
    cr_expect_not(numbers.view().is_live(*id));
    expect_status(worker->free(*id), HAFT_STALE);
    next_frame<counted>(domain, *worker);
    for (int i = 0; i < 200; i++) {
        cr_assert(worker->emplace(i)); /* a refill reclaims those that have elapsed */
    }
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_table, destructor_waits_for_the_reader_that_found_the_object)
{
    const haft::domain domain = callers();
    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    const auto id = worker->emplace(7);
    std::promise<void> found;
    std::promise<void> done;

    std::thread reader([&] {
        const haft::registered_thread registered(domain);
        const haft::read_section section(domain);
        const counted *object = numbers.resolve(*id);

        found.set_value();
        done.get_future().wait();
        cr_expect_eq(object->number, 7);
        cr_expect_eq(counted::destroyed, 0);
    });
    found.get_future().wait();
    expect_status(worker->free(*id), HAFT_OK);
    worker->flush();
    cr_expect_eq(counted::destroyed, 0);
    done.set_value();
    expect_status(domain.wait(), HAFT_OK);
    reader.join();
    worker->close();
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 1);
}

struct sibling {
    haft::view<sibling> others;
    haft::id<sibling> other;
    int *found;
    ~sibling() { *found += others.resolve(other) != nullptr; }
};

Test(cpp_table, destructors_at_the_end_find_no_object)
{
    const haft::domain domain = frames();
    int found = 0;
    auto siblings = opened<haft::table<sibling>>(domain);
    auto worker = siblings.open_worker();
    const auto first = worker->emplace(siblings.view(), haft::id<sibling>(), &found);
    const auto second = worker->emplace(siblings.view(), *first, &found);

    siblings.resolve(*first)->other = *second;
    worker->close();
    expect_status(siblings.close(), HAFT_OK);
    cr_expect_eq(found, 0);
}

Test(cpp_table, plain_objects_need_no_destructor)
{
    const haft::domain domain = frames();
    haft_table_options options = {};
    int calls = 0;

    options.capacity = 10;
    options.reclaim_arg = &calls;
    options.on_reclaim = [](void *, haft_id, haft_worker *, void *arg) {
        ++*static_cast<int *>(arg);
    };
    auto numbers = haft::table<int>::open(domain, options);
    const auto id = numbers->open_worker()->emplace(7);
    numbers->free(*id);
    expect_status(numbers->close(), HAFT_OK);
    cr_expect_eq(calls, 1);
}

/* --- closing --- */

Test(cpp_table, closing_with_an_open_worker_is_refused_and_nothing_is_destroyed)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    const auto id = worker->emplace(7);

    expect_status(numbers.close(), HAFT_IN_USE);
    cr_expect(numbers);
    cr_expect_eq(numbers.resolve(*id)->number, 7);
    cr_expect_eq(counted::destroyed, 0);
    worker->close();
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_not(numbers);
    expect_status(numbers.close(), HAFT_OK);
}

/* malloc, until it has no more. */
static bool is_out_of_memory;

static haft_allocator running_out()
{
    haft_allocator allocator = haft_allocator_malloc();

    allocator.alloc = [](void *, std::size_t size, std::size_t alignment) noexcept -> void * {
        const haft_allocator heap = haft_allocator_malloc();

        return is_out_of_memory ? nullptr : heap.alloc(heap.context, size, alignment);
    };
    return allocator;
}

template <class Table> static Table opened_before_memory_ran_out(const haft::domain &domain)
{
    static const haft_allocator allocator = running_out();
    haft_table_options options = {};

    options.capacity = 100;
    options.allocator = &allocator;
    auto made = Table::open(domain, options);

    cr_assert(made);
    return std::move(*made);
}

Test(cpp_table, closing_without_memory_destroys_each_object_once)
{
    const haft::domain domain = frames();
    auto numbers = opened_before_memory_ran_out<haft::table<counted>>(domain);
    auto worker = numbers.open_worker();
    const auto freed = worker->emplace(2);
    haft_id reserved;

    cr_assert(worker->emplace(1));
    expect_status(worker->free(*freed), HAFT_OK);
    expect_status(haft_reserve(worker->untyped(), &reserved, nullptr), HAFT_OK);
    worker->close();
    is_out_of_memory = true;
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 2);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_table, closing_without_memory_destroys_all_but_an_object_that_is_pinned)
{
    const haft::domain domain = frames();
    auto numbers = opened_before_memory_ran_out<pinned>(domain);
    const auto kept = numbers.open_worker()->emplace(1);
    const auto freed = numbers.open_worker()->emplace(2);
    auto held = numbers.pin(*freed);

    expect_status(numbers.free(*freed), HAFT_OK);
    is_out_of_memory = true;
    expect_status(numbers.close(), HAFT_IN_USE);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_null(numbers.resolve(*kept));
    cr_expect_eq(held->number, 2);
    held.reset();
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 2);
}

/* Its destructor uses the table, which closes: it frees the next one, and would make another. */
struct chained {
    static inline haft::table<chained> *all;
    static inline int destroyed = 0;

    explicit chained(haft::id<chained> its_next = {}) noexcept : next(its_next) {}
    ~chained()
    {
        destroyed++;
        if (next) {
            expect_status(all->free(next), HAFT_STALE);
            expect_status(all->open_worker().status(), HAFT_CLOSED);
        }
    }
    haft::id<chained> next;
};

Test(cpp_table, closing_without_memory_takes_destructors_that_free_and_would_insert)
{
    const haft::domain domain = frames();
    auto all = opened_before_memory_ran_out<haft::table<chained>>(domain);
    auto worker = all.open_worker();
    haft::id<chained> last;

    chained::all = &all;
    for (int i = 0; i < 5; i++) {
        last = *worker->emplace(last);
    }
    expect_status(all.free(last), HAFT_OK);
    worker->close();
    is_out_of_memory = true;
    expect_status(all.close(), HAFT_OK);
    cr_expect_eq(chained::destroyed, 5);
}

/* Each of two tables has objects whose destructors free objects of the other. */
struct city;
struct road {
    haft::table<city> *cities;
    haft::id<city> end;
    ~road();
};
struct city {
    static inline int destroyed = 0;
    haft::table<road> *roads;
    haft::id<road> way;
    ~city()
    {
        destroyed++;
        roads->free(way);
    }
};
static int roads_destroyed;
road::~road()
{
    roads_destroyed++;
    cities->free(end);
}

/* Members end one after the other: so all tables are cleared before. */
struct country {
    explicit country(const haft::domain &domain)
        : cities(opened<haft::table<city>>(domain)), roads(opened<haft::table<road>>(domain))
    {
    }
    ~country()
    {
        expect_status(cities.clear(), HAFT_OK);
        expect_status(roads.clear(), HAFT_OK);
    }
    haft::table<city> cities;
    haft::table<road> roads;
};

Test(cpp_table, tables_whose_destructors_free_each_others_objects_are_cleared_before_they_end)
{
    const haft::domain domain = frames();
    {
        country country(domain);
        auto cities = country.cities.open_worker();
        auto roads = country.roads.open_worker();
        haft::id<road> way;

        for (int i = 0; i < 100; i++) {
            const auto end = cities->emplace(&country.roads, way);

            cr_assert(end);
            way = *roads->emplace(&country.cities, *end);
        }
        expect_status(roads->free(way), HAFT_OK);
        expect_status(cities->close(), HAFT_OK);
        expect_status(roads->close(), HAFT_OK);
    }
    cr_expect_eq(city::destroyed, 100);
    cr_expect_eq(roads_destroyed, 100);
}

struct reporter {
    static inline haft::worker<int> outer;
    static inline haft::table<int> *reports;
    static inline haft_status refused, closed;

    ~reporter()
    {
        haft::worker<int> inner = std::move(*reports->open_worker());

        refused = outer.close();
        closed = inner.close();
    }
};

Test(cpp_table, callback_closes_the_worker_that_it_has_opened_and_keeps_another)
{
    const haft::domain domain = frames();
    auto reports = opened<haft::table<int>>(domain);
    auto reporters = opened<haft::table<reporter>>(domain);
    auto worker = reporters.open_worker();

    reporter::reports = &reports;
    reporter::outer = std::move(*reports.open_worker());
    expect_status(worker->free(*worker->emplace()), HAFT_OK);
    next_frame<reporter>(domain, *worker);
    expect_status(reporter::refused, HAFT_IN_CALLBACK);
    expect_status(reporter::closed, HAFT_OK);
    cr_assert(reporter::outer);
    expect_status(reports.close(), HAFT_IN_USE);
    expect_status(reporter::outer.close(), HAFT_OK);
    cr_expect_not(reporter::outer);
    expect_status(reporter::outer.close(), HAFT_OK);
    expect_status(reports.close(), HAFT_OK);
}

/* --- moving --- */

Test(cpp_table, moved_tables_workers_and_domains_leave_empty_ones)
{
    haft::domain first_domain = frames();
    auto first = opened(first_domain);
    auto opened_worker = first.open_worker();
    haft::worker<counted> first_worker = std::move(*opened_worker);
    const auto id = first_worker.emplace(7);

    const haft::domain domain = std::move(first_domain);
    haft::table<counted> second = std::move(first);
    haft::worker<counted> worker = std::move(first_worker);

    cr_expect_not(first_domain);
    cr_expect_not(first);
    cr_expect_not(first_worker);
    cr_expect_not(*opened_worker);
    cr_expect_eq(second.resolve(*id)->number, 7);
    expect_status(worker.free(*id), HAFT_OK);
    next_frame<counted>(domain, worker);
    first = std::move(second);
    cr_expect_not(second);
    worker = haft::worker<counted>();
    cr_expect_not(worker);
    expect_status(first.close(), HAFT_OK);
}

/* --- options --- */

Test(cpp_table, pins_that_are_not_the_types_and_unknown_clocks_are_refused)
{
    const haft::domain domain = frames();
    haft_table_options options = {};

    options.capacity = 10;
    options.pins = true;
    expect_status(haft::table<counted>::open(domain, options).status(), HAFT_BAD_PINS);
    cr_expect(pinned::open(domain, options));
    expect_status(haft::table<counted>::open(domain, 0).status(), HAFT_BAD_CAPACITY);
    expect_status(haft::domain::open(HAFT_CLOCK_COUNT).status(), HAFT_BAD_CLOCK);
}

/* --- exceptions --- */

Test(cpp_table, constructor_that_throws_gives_the_reservation_back)
{
    const haft::domain domain = frames();
    auto throwers = opened<haft::table<thrower>>(domain);
    auto worker = throwers.open_worker();

    cr_expect_throw((void)worker->emplace(true), int);
    cr_expect_throw((void)worker->emplace_wait(true), int);
    cr_expect_eq(throwers.stats().reserved, 0);
    cr_expect_eq(throwers.stats().live, 0);
    cr_expect_eq(counted::live(), 0);
    next_frame<thrower>(domain, *worker);
    cr_expect(worker->emplace(false));
    worker->close();
    expect_status(throwers.close(), HAFT_OK);
    cr_expect_eq(counted::live(), 0);
}

/* --- workers --- */

Test(cpp_table, emplace_wait_waits_where_emplace_is_busy)
{
    const haft::domain domain = callers();
    auto numbers = opened(domain, 28);
    auto worker = numbers.open_worker();
    std::vector<haft::id<counted>> ids;
    std::promise<void> is_reading;
    std::promise<void> done;

    for (auto id = worker->emplace(1); id; id = worker->emplace(1)) {
        ids.push_back(*id);
    }
    std::thread reader([&] {
        const haft::registered_thread registered(domain);
        const haft::read_section section(domain);

        is_reading.set_value();
        done.get_future().wait();
    });
    is_reading.get_future().wait();
    worker->free_many(ids.data(), ids.size());
    const haft_status status = worker->emplace(2).status();
    expect_status(status, HAFT_BUSY);
    done.set_value();
    cr_expect(worker->emplace_wait(2));
    reader.join();
}

Test(cpp_table, threads_without_a_worker_free)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    const auto id = numbers.open_worker()->emplace(7);

    cr_expect_eq(numbers.require(*id)->number, 7);
    expect_status(numbers.free(*id), HAFT_OK);
    expect_status(numbers.free(*id), HAFT_STALE);
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_table, many_are_resolved_and_freed_as_one_by_one)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    std::vector<haft::id<counted>> ids;
    counted *objects[100];
    haft_status statuses[100];

    for (int i = 0; i < 100; i++) {
        ids.push_back(*worker->emplace(i));
    }
    worker->free(ids[50]);
    cr_expect_eq(numbers.view().resolve_many(ids.data(), objects, 100), 99);
    cr_expect_null(objects[50]);
    cr_expect_eq(objects[99]->number, 99);
    cr_expect_eq(worker->free_many(ids.data(), 100, statuses), 99);
    expect_status(statuses[50], HAFT_STALE);
    expect_status(statuses[51], HAFT_OK);
    cr_expect_eq(worker->free_many(ids.data(), 100), 0);
}

/* --- a thread that is cancelled --- */

namespace
{

/* Its destructor is a cancellation point; a thread that ended there would end the program. */
struct interruptible {
    explicit interruptible(uint64_t) noexcept {}
    ~interruptible()
    {
        pthread_testcancel();
        destroyed++;
    }

    static inline int destroyed;
};

void *use_cancelled(void *arg)
{
    pthread_cancel(pthread_self());
    {
        const haft::domain domain = callers();

        const haft::registered_thread registered(domain);
        auto all = opened<haft::table<interruptible>>(domain);
        auto worker = all.open_worker();

        cr_assert(worker->free(*worker->emplace(1)) == HAFT_OK);
        cr_assert(worker->emplace(2));
        cr_assert(worker->flush() == HAFT_OK);
        cr_assert(domain.wait() == HAFT_OK);
    }
    {
        auto local = haft::local<interruptible>::open(10);

        cr_assert(local->free(*local->emplace(3)) == HAFT_OK);
        cr_assert(local->emplace(4));
    }
    *static_cast<bool *>(arg) = true;
    pthread_testcancel();
    return nullptr;
}

} // namespace

Test(cpp_table, a_cancelled_thread_ends_behind_all_calls)
{
    bool came_back = false;
    pthread_t thread;
    void *end = nullptr;

    cr_assert(pthread_create(&thread, nullptr, use_cancelled, &came_back) == 0);
    cr_assert(pthread_join(thread, &end) == 0);
    cr_expect(came_back);
    cr_expect(end == PTHREAD_CANCELED);
    cr_expect(interruptible::destroyed >= 4);
}
