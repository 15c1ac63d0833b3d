/* The domain and the table of a play: see opening.h. */
#include "stress/combinations/opening.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/sides.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/workers.h"
#include <string.h>

static haft_clock clock_of_plan(void)
{
    static const haft_clock clocks[PLAN_CLOCK_COUNT] = {
        HAFT_CLOCK_CALLER,  HAFT_CLOCK_CALLER, HAFT_CLOCK_THREAD, HAFT_CLOCK_THREAD,
        HAFT_CLOCK_WORKERS, HAFT_CLOCK_FRAME,  HAFT_CLOCK_CALLER, HAFT_CLOCK_THREAD};

    return clocks[play.plan->options.clock];
}

/* It may come while the domain opens, of a thread that is none of the plan's. */
static void check_stall(const haft_stall *stall, void *arg)
{
    require_that(arg == &play && stall->waited_ns != 0, "on_stall's arguments");
    require_that(current == NULL || !in_callback(current), "on_stall runs within a callback");
    require_that(haft_domain_wait(stall->domain) == HAFT_IN_CALLBACK, "a call in on_stall");
}

static void ignore_leak(const haft_leak *leak, void *arg)
{
    (void)leak;
    (void)arg;
}

void open_domain(void)
{
    haft_domain_options options = {
        .foreign_clock = is_ck()          ? backend_ck()
                         : has_sections() ? backend_memb()
                         : is_qsbr()      ? backend_qsbr()
                                          : NULL,
        .clock = clock_of_plan(),
        .on_stall = check_stall,
        .stall_arg = &play,
        .stall_ns = play.plan->options.stall ? 1 : 0,
        .allocator = heap_of_plan(),
    };

    expect(haft_domain_open(&options, &play.domain), HAFT_OK, "haft_domain_open");
}

/* A slot's. */
static uint64_t slot_bytes(const struct plan_options *from)
{
    const uint64_t words = (from->object_size + 7) / 8 + 1 + from->pins;

    return words * sizeof(uint64_t);
}

uint64_t waiting_bytes_of_plan(void)
{
    return play.plan->options.waiting_slots * slot_bytes(&play.plan->options);
}

void begin_table(void)
{
    const struct plan_options *from = &play.plan->options;
    const haft_layout layout = {(uint8_t)from->index_bits, (uint8_t)from->generation_bits,
                                (uint8_t)from->tag_bits, 0};
    haft_table_options options = {
        .name = TABLE_NAME,
        .capacity = from->capacity,
        .object_size = from->object_size,
        .object_alignment = sizeof(uint64_t),
        .layout = layout,
        .tag = from->tag_bits != 0,
        .first_generation = from->first_generation,
        .wrap = from->wrap,
        .pins = from->pins,
        .on_reclaim = from->on_reclaim ? reclaim_callback : NULL,
        .reclaim_arg = &play,
        .sites = from->sites,
        .on_leak = ignore_leak,
        .waiting_bytes = waiting_bytes_of_plan(),
        .never_wait = from->never_wait,
        .allocator = heap_of_plan(),
    };

    expect(haft_table_open(play.domain, &options, &play.table), HAFT_OK, "haft_table_open");
    play.view = haft_table_view(play.table);
    play.layout = layout;
    play.register_count = 2 * from->capacity + 8;
    atomic_store_explicit(&play.ids_repeat, from->wrap, memory_order_relaxed);
    begin_side();
}

void forget_table(void)
{
    memset(play.registers, 0, play.register_count * sizeof *play.registers);
    memset(play.issued, 0, sizeof *play.issued << play.plan->options.index_bits);
    memset(play.owned, 0, sizeof *play.owned << play.plan->options.index_bits);
    memset(play.reclaimed, 0, sizeof *play.reclaimed << play.plan->options.index_bits);
    play.crowd_count = 0;
    play.has_trimmed = false;
    play.most_used = 0;
    play.exhausted = play.live = play.reserved = 0;
    play.frees = play.reclaims = play.frees_before = 0;
    play.refused_frees = play.refused_before = 0;
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        play.threads[i].worker = NULL;
        forget_workers(&play.seats[i]);
    }
}

void table_has_closed(void)
{
    require_that(!play.plan->options.on_reclaim || play.reclaims == play.frees,
                 "on_reclaim did not run once for each freed object");
    forget_table();
}

static haft_status close_or_unshare(haft_local **local)
{
    return local != NULL ? haft_unshare(play.table, local) : haft_table_close(play.table);
}

/* While nothing but pins can keep objects: it ends all others. */
static void clear_table(void)
{
    if (count_keeping_open() == 0) {
        const haft_status status = haft_table_clear(play.table);

        require_that(status == HAFT_OK || (status == HAFT_IN_USE && find_pinned(0) != NULL),
                     "a table could not be cleared");
    }
}

/* A table that pins alone keep open is cleared, and cannot be used again. */
static haft_status close_with_pins(haft_status status)
{
    if (status == HAFT_IN_USE && count_keeping_open() == 0) {
        unpin_all();
        status = haft_table_close(play.table);
    }
    return status;
}

static haft_status end_with_sides(haft_local **local)
{
    play.is_closing = true;
    play.closing_steps = 0;
    play.ends_all = local == NULL;
    if (play.ends_all && play.live % 2 != 0) {
        clear_table();
    }
    haft_status status = close_or_unshare(local);

    if (has_sides()) {
        require_that(status != HAFT_OK, "a table ended beside a side");
        end_sides();
        status = close_or_unshare(local);
    }
    status = play.ends_all ? close_with_pins(status) : status;
    play.is_closing = play.ends_all = play.is_cleared = false;
    return status;
}

haft_status play_unshare_table(haft_local **local)
{
    return end_with_sides(local);
}

haft_status play_close_table(void)
{
    const haft_status status = end_with_sides(NULL);

    if (status != HAFT_OK) {
        begin_side();
    }
    return status;
}

void end_table(void)
{
    expect(play_close_table(), HAFT_OK, "a table could not be closed");
    table_has_closed();
}
