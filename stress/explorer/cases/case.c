/* What cases share.  White-box: the census. */
#include "stress/explorer/cases/case.h"
#include "concurrent/table/census.h"
#include "stress/explorer/foreign.h"
#include "stress/explorer/history.h"
#include "stress/explorer/locks.h"
#include "stress/explorer/report.h"
#include "stress/explorer/run.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>

struct fixture fixture;
struct explored_case *all_cases;

void add_case(struct explored_case *explored)
{
    static struct explored_case **end = &all_cases;

    *end = explored;
    end = &explored->next;
}

static shared_u64 stamps;
static struct view stamped; /* the stores visible where times were read */

void require(bool holds, const char *text)
{
    if (!holds) {
        violation("%s", text);
    }
}

void require_status(haft_status status, haft_status expected, const char *what)
{
    if (status != expected) {
        violation("%s: %s, not %s", what, haft_status_name(status), haft_status_name(expected));
    }
}

static void see_all(void)
{
    for (uint32_t i = 0; i < MOST_SCHEDULED; i++) {
        view_join(history_view(schedule_self()), history_view(i));
    }
}

void settle(void)
{
    schedule_settle();
    see_all();
}

/* A fork comes after all that the other threads have done; told to ThreadSanitizer. */
static shared_u64 forked;

void end_before_fork(void)
{
    atomic_fetch_add_explicit(&forked, 1, memory_order_release);
}

/* The child of a fork loses what other threads had allocated and not put into the table yet. */
static bool has_forked;
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return has_forked;
}

void fork_here(void)
{
    has_forked = true;
    locks_before_fork();
    schedule_abandon(end_before_fork);
    atomic_load_explicit(&forked, memory_order_acquire);
    see_all();
    locks_in_child();
}

uint64_t peek(shared_u64 *word)
{
    schedule_point();
    return atomic_load_explicit(word, memory_order_relaxed);
}

void poke(shared_u64 *word, uint64_t value)
{
    schedule_point();
    atomic_store_explicit(word, value, memory_order_relaxed);
}

uint64_t add(shared_u64 *word, uint64_t value)
{
    schedule_point();
    return atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

void forget_times(void)
{
    view_clear(&stamped);
}

uint64_t stamp_time(void)
{
    const uint64_t time = add(&stamps, 1);

    view_join(&stamped, history_view(schedule_self()));
    view_join(history_view(schedule_self()), &stamped);
    return time;
}

static haft_domain_options domain_options(const struct table_wish *wish)
{
    if (wish->is_workers) {
        return (haft_domain_options){.clock = HAFT_CLOCK_WORKERS,
                                     .on_stall = wish->on_stall,
                                     .stall_ns = wish->on_stall != NULL ? 1 : UINT64_MAX};
    }
    if (wish->is_frame) {
        return (haft_domain_options){.clock = HAFT_CLOCK_FRAME};
    }
    return (haft_domain_options){
        .foreign_clock = wish->is_qsbr   ? &model_online
                         : wish->is_late ? &model_late
                                         : &model_sections,
        .clock = wish->has_thread ? HAFT_CLOCK_THREAD : HAFT_CLOCK_CALLER,
    };
}

void open_table(const struct table_wish *wish)
{
    const haft_domain_options domain = domain_options(wish);
    const uint8_t index_bits = wish->index_bits != 0 ? wish->index_bits : 3;
    const uint8_t generation_bits = wish->generation_bits != 0 ? wish->generation_bits : 2;
    const haft_table_options table = {
        .capacity = wish->capacity,
        .waiting_bytes = wish->waiting_bytes,
        .object_size = wish->object_size != 0 ? wish->object_size : sizeof(struct object),
        .object_alignment = sizeof(uint64_t),
        .layout = {index_bits, generation_bits, 0, 0},
        .on_reclaim = wish->on_reclaim,
        .pins = wish->has_pins,
    };

    forget_times();
    require_status(haft_domain_open(&domain, &fixture.domain), HAFT_OK, "opening the domain");
    require_status(haft_table_open(fixture.domain, &table, &fixture.table), HAFT_OK,
                   "opening the table");
    fixture.view = haft_table_view(fixture.table);
    fixture.layout = table.layout;
}

void open_shared(haft_local *local)
{
    const haft_domain_options domain = {.foreign_clock = &model_sections,
                                        .clock = HAFT_CLOCK_CALLER};

    require_status(haft_domain_open(&domain, &fixture.domain), HAFT_OK, "opening the domain");
    require_status(haft_share(local, fixture.domain, NULL, &fixture.table), HAFT_OK, "sharing");
    fixture.view = haft_table_view(fixture.table);
    fixture.layout = haft_table_info(fixture.table).layout;
}

void require_census(const haft_table *table)
{
    require(census_is_right(table), "the census is wrong");
}

void close_table(void)
{
    require_census(fixture.table);
    require_status(haft_table_close(fixture.table), HAFT_OK, "closing the table");
    require_status(haft_domain_close(fixture.domain), HAFT_OK, "closing the domain");
}

void close_table_in_child(void)
{
    require_status(haft_table_close(fixture.table), HAFT_OK, "closing the table in the child");
    require_status(haft_domain_close(fixture.domain), HAFT_OK, "closing the domain in the child");
}

haft_worker *open_worker(void)
{
    haft_worker *worker;

    require_status(haft_worker_open(fixture.table, &worker), HAFT_OK, "opening a worker");
    return worker;
}

void close_worker(haft_worker *worker)
{
    require_status(haft_worker_close(worker), HAFT_OK, "closing a worker");
}

void stamp(struct object *object, haft_id id)
{
    object->id = id.bits;
    object->canary = ~id.bits;
}

bool is_stamped(const struct object *object, haft_id id)
{
    return object->id == id.bits && object->canary == ~id.bits;
}

haft_id insert_stamped(haft_worker *worker)
{
    void *object;
    haft_id id;

    require_status(haft_reserve_wait(worker, &id, &object), HAFT_OK, "reserving");
    stamp(object, id);
    haft_publish(worker, id);
    return id;
}

haft_id insert_local(haft_local *local)
{
    void *object;
    haft_id id;

    require_status(haft_local_reserve(local, &id, &object), HAFT_OK, "reserving in a local table");
    stamp(object, id);
    haft_local_publish(local, id);
    return id;
}

bool look_at(haft_id id)
{
    haft_section_begin(fixture.domain);
    const struct object *object = haft_resolve(fixture.view, id);

    if (object != NULL) {
        require(is_stamped(object, id), "a resolved object is another id's");
        schedule_point();
        require(is_stamped(object, id), "an object is written again in a section that holds it");
    }
    haft_section_end(fixture.domain);
    return object != NULL;
}

void require_room_for(uint32_t count)
{
    haft_worker *worker = open_worker();
    haft_id ids[4];

    for (uint32_t i = 0; i < count; i++) {
        ids[i] = insert_stamped(worker);
    }
    for (uint32_t i = 0; i < count; i++) {
        require(haft_is_live(fixture.view, ids[i]), "two objects in one slot");
        require_status(haft_free(worker, ids[i]), HAFT_OK, "freeing at the end");
    }
    close_worker(worker);
}
