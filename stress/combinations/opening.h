/* stress/combinations/opening.h - the domain and the table of a play, opened and closed. */
#ifndef HAFT_COMBINATIONS_OPENING_H
#define HAFT_COMBINATIONS_OPENING_H

#include "stress/combinations/model.h"

void open_domain(void);
void begin_table(void);

/* The option waiting_bytes, for the plan's number of slots. */
uint64_t waiting_bytes_of_plan(void);

/* haft_table_close() and haft_unshare() of the play's table: refused beside sides, which are closed
 * then.  A table that could not be closed has the plan's side again. */
haft_status play_close_table(void);
haft_status play_unshare_table(haft_local **local);

/* A table has ended: the model begins anew. */
void forget_table(void);

/* on_reclaim must have run for each freed object; then forget_table(). */
void table_has_closed(void);

/* Closes the table at the end of a play. */
void end_table(void);

#endif /* HAFT_COMBINATIONS_OPENING_H */
