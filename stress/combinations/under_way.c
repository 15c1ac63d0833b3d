/* Calls under way: see under_way.h. */
#include "stress/combinations/under_way.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/watch.h"

static uint32_t bit(enum phase phase, bool is_now)
{
    return (uint32_t)is_now << phase;
}

static uint32_t phases_of_jobs(const struct seat *seat)
{
    const bool is_open = seat->job_count != 0;
    const bool is_parked = is_open && seat->jobs[seat->job_count - 1].is_park;

    return bit(PHASE_in_job, is_open && !is_parked && (seat->level == 1 || is_clock(PLAN_FRAME))) |
           bit(PHASE_in_inner_job, is_open && seat->level > 1) | bit(PHASE_parked, is_parked);
}

static uint32_t phases_of(haft_id id)
{
    const struct seat *seat = current->seat;
    const uint32_t capacity = play.plan->options.capacity;
    const uint32_t used = capacity_in_use();

    return bit(PHASE_first_use, used == 0 && word_in(&play.frees) == 0) |
           bit(PHASE_last_slot, used + 1 == capacity) | bit(PHASE_full, used >= capacity) |
           bit(PHASE_last_life, id.bits != 0 && is_last_life(id)) |
           bit(PHASE_exhausted, count_in(&play.exhausted) != 0) |
           bit(PHASE_ids_repeat, count_in(&play.ids_repeat) != 0) |
           bit(PHASE_trimming, count_in(&play.trimming) != 0) |
           bit(PHASE_closing, play.is_closing) | bit(PHASE_shared_again, play.is_shared_again) |
           bit(PHASE_budget_spent, shim_budget_is_spent(play.table)) |
           bit(PHASE_no_memory, play.memory_is_refused) | bit(PHASE_in_section, seat->depth != 0) |
           phases_of_jobs(seat) | bit(PHASE_recorded, count_in(&play.set.recorders) != 0) |
           bit(PHASE_applying, count_in(&play.set.applying) != 0) |
           bit(PHASE_holding, current->counted_count != 0) |
           bit(PHASE_in_on_destroy, seat->is_destroying) |
           bit(PHASE_in_on_reclaim, seat->reclaims != 0);
}

void note_overlaps(uint32_t call, uint32_t slot)
{
    for (uint32_t i = 0; play.at_once && slot != 0 && i < play.plan->threads; i++) {
        const struct thread *other = &play.threads[i];

        const uint64_t under_way = word_in(&other->under_way);

        if (other != current && (uint32_t)under_way == slot) {
            cover_overlap(&watch->cover, play.plan->seed, call, (uint32_t)(under_way >> 32));
        }
    }
}

void move_call(enum call call, haft_id id)
{
    const uint32_t slot = haft_id_index(play.layout, id);

    note_overlaps(call, slot);
    atomic_store_explicit(&current->under_way, (uint64_t)call << 32 | slot, memory_order_relaxed);
}

struct call_under_way begin_call(enum call call, haft_id id)
{
    const struct call_under_way outer = {word_in(&current->under_way)};

    atomic_fetch_add_explicit(&play.made[call], 1, memory_order_relaxed);
    cover_call(&watch->cover, play.plan->seed, call, phases_of(id));
    move_call(call, id);
    return outer;
}

void end_call(struct call_under_way outer)
{
    atomic_store_explicit(&current->under_way, outer.word, memory_order_relaxed);
}
