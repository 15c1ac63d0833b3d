/*
 * typed_cc_test.cc - typed tables, refs and required ids as C++17: all macros expand without a
 * warning, and the functions do what they do in C.  Exits with 1 and a line if one does not.
 */
#include "tests/slots/typed.h"
#include <atomic>
#include <cstdio>
#include <new>
#include <type_traits>

/* With members that C does not have. */
struct counter {
    std::atomic<int> count{0};
    ship_id owner{};
};

ALL_TYPED(counter, counter);

/* Typed ids and views are plain values. */
static_assert(std::is_trivially_copyable<ship_id>::value, "ship_id");
static_assert(std::is_standard_layout<ship_view>::value, "ship_view");
static_assert(sizeof(ship_ref) == sizeof(haft_ref), "ship_ref");
static_assert(!std::is_convertible<ship_id, torpedo_id>::value, "ids of two types");
static_assert(!std::is_convertible<haft_id, ship_id>::value, "an id without a type");
static_assert(!std::is_convertible<ship_id, haft_id>::value, "nor back");

static int failures = 0;

static void expect(bool condition, const char *what)
{
    if (!condition) {
        std::printf("not so: %s\n", what);
        failures++;
    }
}

#define EXPECT(condition) expect(condition, #condition)

static void counted_table()
{
    haft_counted_options options = {};
    counter_counted counters = {};
    counter_id id = counter_id_nil();
    struct counter *object = nullptr;

    options.capacity = 5;
    EXPECT(counter_counted_open(&options, &counters) == HAFT_OK);
    EXPECT(counter_counted_reserve(counters, &id, &object) == HAFT_OK);
    new (object) struct counter;
    object->count = 7;
    counter_counted_publish(counters, id);
    EXPECT(counter_counted_acquire(counters, id) == object);
    EXPECT(counter_counted_free(counters, id) == HAFT_OK);
    EXPECT(counter_counted_acquire(counters, id) == nullptr);
    EXPECT(counter_counted_release(counters, id) == HAFT_OK);
    EXPECT(counter_counted_close(counters) == HAFT_OK);
}

static void local_table()
{
    haft_local_options options = {};
    counter_local counters = {};
    counter_id id = counter_id_nil();
    struct counter *object = nullptr;

    options.capacity = 5;
    EXPECT(counter_local_open(&options, &counters) == HAFT_OK);
    EXPECT(counter_local_reserve(counters, &id, &object) == HAFT_OK);
    new (object) struct counter;
    object->count = 7;
    counter_local_publish(counters, id);
    EXPECT(counter_resolve(counters.view, id) == object);
    EXPECT(counter_local_require(counters, id)->count == 7);
    const counter_ref ref = counter_ref_of(counters.view, id);

    EXPECT(counter_ref_get(ref) == object);
    EXPECT(counter_local_free(counters, id) == HAFT_OK);
    EXPECT(counter_ref_get(ref) == nullptr);
    counter_local_close(counters);
}

static bool add(ship_id, struct ship *ship, void *sum)
{
    *static_cast<uint64_t *>(sum) += ship->hull;
    return true;
}

static void packed_table()
{
    haft_packed_options options = {};
    ship_packed ships = {};
    struct ship ship = {};
    ship_id id;

    options.capacity = 5;
    EXPECT(ship_packed_open(&options, &ships) == HAFT_OK);
    ship.hull = 7;
    EXPECT(ship_packed_insert(ships, &ship, &id) == HAFT_OK);
    EXPECT(ship_packed_resolve(ships.view, id)->hull == 7);
    EXPECT(ship_packed_require(ships, id) == ships.view.objects);
    ship_packed_close(ships);
}

static void shared_table()
{
    haft_domain_options clock = {};
    haft_table_options options = {};
    haft_domain *domain = nullptr;
    ship_table ships = {};
    ship_worker worker = {};
    struct ship ship = {};
    uint64_t sum = 0;
    ship_id id;

    clock.clock = HAFT_CLOCK_FRAME;
    options.capacity = 5;
    EXPECT(haft_domain_open(&clock, &domain) == HAFT_OK);
    EXPECT(ship_table_open(domain, &options, &ships) == HAFT_OK);
    EXPECT(ship_worker_open(ships, &worker) == HAFT_OK);
    ship.hull = 7;
    EXPECT(ship_insert(worker, &ship, &id) == HAFT_OK);
    EXPECT(ship_require(ships, id)->hull == 7);
    EXPECT(ship_scan(ships, HAFT_EVERYTHING, add, &sum) == 1 && sum == 7);
    EXPECT(ship_free(worker, id) == HAFT_OK);
    EXPECT(ship_worker_close(worker) == HAFT_OK);
    EXPECT(ship_table_clear(ships) == HAFT_OK);
    EXPECT(ship_worker_open(ships, &worker) == HAFT_CLOSED);
    EXPECT(ship_table_close(ships) == HAFT_OK);
    EXPECT(haft_domain_close(domain) == HAFT_OK);
}

int main()
{
    counted_table();
    local_table();
    packed_table();
    shared_table();
    return failures != 0;
}
