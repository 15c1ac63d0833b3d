/* All cases.  A new one: its file here, a line in each of the two lists and in BUILD. */
#include "stress/explorer/cases/case.h"
#include <stddef.h>

/* objects */
extern const struct explored_case resolve_reuse_case, resolve_reuse_qsbr_case,
    resolve_reuse_late_case, double_free_case, publish_case, reclaim_case;
extern const struct explored_case insert_many_case, is_live_case, freed_unread_case;
/* capacity, clock, workers */
extern const struct explored_case last_slot_case, full_case, exhaust_case, ticket_case,
    drivers_case, drivers_late_case, late_case, wake_case, workers_case, adopt_case,
    worker_list_case;
extern const struct explored_case full_many_case, full_table_free_case, returned_case, closing_case,
    given_up_case, clear_case, clear_opening_case;
/* tables that were another thread's before */
extern const struct explored_case share_case, unshare_case, commands_case;
/* beyond sections and foreign clocks */
extern const struct explored_case workers_clock_case, waiter_case, arrive_case, pin_case, trim_case;
extern const struct explored_case offline_case, unpinned_case, last_pin_case;
/* one that is given the waiting of another; whole histories */
extern const struct explored_case done_rises_case, linear_case;
/* jobs inside jobs */
extern const struct explored_case job_inner_case, job_inner_qsbr_case, job_inner_memb_case,
    job_inner_late_case, job_back_case, job_lift_case, job_park_case, job_park_qsbr_case,
    job_park_memb_case, job_flavour_case;
/* white-box */
extern const struct explored_case stall_case;
extern const struct explored_case depot_case, ring_case, full_ring_case, pool_case, block_case,
    commit_case, extent_case;
extern const struct explored_case round_case, two_depots_case, segment_case, ring_cell_case,
    new_segment_case;
/* a fork in the middle of anything */
extern const struct explored_case fork_case, fork_workers_case, fork_lists_case;
/* the bound; frees without a worker */
extern const struct explored_case listed_case, bound_case, double_free_front_case,
    publish_front_case, freed_unread_front_case, bound_drawn_case, full_front_case;
/* counts of slots */
extern const struct explored_case full_exhausted_case, full_given_up_case;
/* callbacks; lists and pins */
extern const struct explored_case two_tables_case, respawn_case, chain_case, list_case, unpin_case;
/* slots handed over */
extern const struct explored_case handed_case, transit_case, transit_list_case;
/* queues */
extern const struct explored_case elapsed_head_case, inverted_case, trimmed_case;
/* liveness on each clock */
extern const struct explored_case live_caller_case, alone_caller_case, live_qsbr_case,
    live_late_case, live_thread_case, alone_thread_case, live_workers_case, alone_workers_case,
    live_frame_case, alone_frame_case;
/* values beside objects */
extern const struct explored_case side_case, side_find_case, side_set_case, side_walk_case,
    side_opened_case, fork_side_case;

/* counted tables */
extern const struct explored_case counted_hold_case, counted_free_case, counted_release_case,
    counted_again_case, counted_is_live_case, counted_require_case, counted_take_case,
    counted_copy_case, counted_copy_word_case, counted_shard_case, counted_full_case,
    counted_full_one_case, counted_full_three_case, counted_full_two_case, counted_full_never_case,
    counted_look_case, counted_queue_case, counted_queue_two_case, counted_worn_case,
    counted_chain_case, counted_respawn_case, counted_signal_case, counted_signal_plain_case,
    counted_signal_queue_case, counted_fork_case, counted_fork_queue_case, counted_close_case,
    counted_close_wait_case, counted_close_queue_case, counted_close_links_case,
    counted_close_looks_case, counted_close_insert_case;

/* One a line. */
/* clang-format off */
const struct explored_case *const all_cases[] = {
    &resolve_reuse_case,
    &resolve_reuse_qsbr_case,
    &resolve_reuse_late_case,
    &double_free_case,
    &publish_case,
    &reclaim_case,
    &last_slot_case,
    &full_case,
    &exhaust_case,
    &ticket_case,
    &drivers_case,
    &drivers_late_case,
    &late_case,
    &wake_case,
    &workers_case,
    &adopt_case,
    &worker_list_case,
    &share_case,
    &unshare_case,
    &commands_case,
    &workers_clock_case,
    &waiter_case,
    &arrive_case,
    &pin_case,
    &done_rises_case,
    &linear_case,
    &trim_case,
    &depot_case,
    &ring_case,
    &full_ring_case,
    &block_case,
    &pool_case,
    &commit_case,
    &extent_case,
    &insert_many_case,
    &is_live_case,
    &freed_unread_case,
    &full_many_case,
    &full_table_free_case,
    &returned_case,
    &closing_case,
    &clear_case,
    &clear_opening_case,
    &round_case,
    &two_depots_case,
    &segment_case,
    &ring_cell_case,
    &new_segment_case,
    &offline_case,
    &given_up_case,
    &unpinned_case,
    &last_pin_case,
    &job_inner_case,
    &job_inner_qsbr_case,
    &job_inner_memb_case,
    &job_inner_late_case,
    &job_back_case,
    &job_lift_case,
    &job_park_case,
    &job_park_qsbr_case,
    &job_park_memb_case,
    &job_flavour_case,
    &stall_case,
    &fork_case,
    &fork_workers_case,
    &fork_lists_case,
    &listed_case,
    &bound_case,
    &double_free_front_case,
    &publish_front_case,
    &freed_unread_front_case,
    &bound_drawn_case,
    &full_front_case,
    &full_exhausted_case,
    &full_given_up_case,
    &two_tables_case,
    &respawn_case,
    &chain_case,
    &list_case,
    &unpin_case,
    &elapsed_head_case,
    &inverted_case,
    &trimmed_case,
    &handed_case,
    &transit_case,
    &transit_list_case,
    &live_caller_case,
    &alone_caller_case,
    &live_qsbr_case,
    &live_late_case,
    &live_thread_case,
    &alone_thread_case,
    &live_workers_case,
    &alone_workers_case,
    &live_frame_case,
    &alone_frame_case,
    &side_case,
    &side_find_case,
    &side_set_case,
    &side_walk_case,
    &side_opened_case,
    &fork_side_case,
    &counted_hold_case,
    &counted_free_case,
    &counted_release_case,
    &counted_again_case,
    &counted_is_live_case,
    &counted_require_case,
    &counted_take_case,
    &counted_copy_case,
    &counted_copy_word_case,
    &counted_shard_case,
    &counted_full_case,
    &counted_full_one_case,
    &counted_full_three_case,
    &counted_full_two_case,
    &counted_full_never_case,
    &counted_look_case,
    &counted_queue_case,
    &counted_queue_two_case,
    &counted_worn_case,
    &counted_chain_case,
    &counted_respawn_case,
    &counted_signal_case,
    &counted_signal_plain_case,
    &counted_signal_queue_case,
    &counted_fork_case,
    &counted_fork_queue_case,
    &counted_close_case,
    &counted_close_wait_case,
    &counted_close_queue_case,
    &counted_close_links_case,
    &counted_close_looks_case,
    &counted_close_insert_case,
    NULL,
};
/* clang-format on */
