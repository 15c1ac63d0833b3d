/* stress/combinations/ending.h - a table that closes, or is a local one in between. */
#ifndef HAFT_COMBINATIONS_ENDING_H
#define HAFT_COMBINATIONS_ENDING_H

#include "stress/combinations/model.h"

/* Ends what keeps the table open: sections, command set, crowd, workers, reservations and pins.
 * Returns the threads whose workers it has closed, a bit each, for open_workers_again(). */
uint32_t clear_for_closing(struct thread *thread);
void open_workers_again(uint32_t closed);

/* How many workers keep the table from being closed, or may. */
uint32_t count_keeping_open(void);

void give_up_reservations(struct thread *thread);
void unpin_all(void);

/* Tries to close in the thread's section or inner job, which must be refused, and ends that. */
void leave_to_close(struct thread *thread);

/* Checks what a close has answered.  If the table has closed, opens the next one. */
void go_on_after_close(haft_status status);

void try_close(struct thread *thread, const struct step *step);
void try_unshare(struct thread *thread, const struct step *step);

#endif /* HAFT_COMBINATIONS_ENDING_H */
