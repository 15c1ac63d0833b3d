/* Workers without threads: see crowd.h. */
#include "stress/combinations/crowd.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"

void close_crowd(struct thread *thread)
{
    while (play.crowd_count != 0) {
        const uint32_t lift = play.crowd_lifts[--play.crowd_count];

        note_worker_closing(thread->seat, lift);
        require_that(haft_worker_close(play.crowd[play.crowd_count]) == HAFT_OK,
                     "haft_worker_close");
        note_worker_closed(thread->seat, lift);
    }
}

void toggle_crowd(struct thread *thread)
{
    const struct call_under_way outer = begin_call(CALL_CROWD, HAFT_NIL);

    if (play.crowd_count != 0) {
        close_crowd(thread);
    } else {
        while (play.crowd_count < MOST_CROWD && !shim_budget_is_spent(play.table)) {
            if (!is_done(haft_worker_open(play.table, &play.crowd[play.crowd_count]),
                         "haft_worker_open")) {
                break;
            }
            shim_draw_budget(play.crowd[play.crowd_count]);
            play.crowd_lifts[play.crowd_count++] = note_worker_opened(thread->seat);
        }
    }
    end_call(outer);
}
