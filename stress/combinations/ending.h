/* stress/combinations/ending.h - a table that closes, or is a local one in between. */
#ifndef HAFT_COMBINATIONS_ENDING_H
#define HAFT_COMBINATIONS_ENDING_H

#include "stress/combinations/model.h"

/* Nothing keeps the table from ending any more.  The threads whose workers were closed, a bit
 * each, for which they are opened again. */
uint32_t let_table_go(struct thread *thread);
void open_workers_again(uint32_t closed);

/* Before the table is closed: that is refused in a section or an inner job, which then ends. */
void leave_to_close(struct thread *thread);

/* After it: it had a reason not to be, or has ended as it may, and another is opened. */
void go_on_after_close(haft_status status);

void try_close(struct thread *thread, const struct step *step);
void try_unshare(struct thread *thread, const struct step *step);

#endif /* HAFT_COMBINATIONS_ENDING_H */
