/* stress/combinations/other_table.h - another table of the domain, in plans that have one. */
#ifndef HAFT_COMBINATIONS_OTHER_TABLE_H
#define HAFT_COMBINATIONS_OTHER_TABLE_H

#include "stress/combinations/model.h"

void begin_other_table(void);
void end_other_table(void);
void end_other_worker(struct seat *seat);

/* What the insertion answers; HAFT_OK too where there is no such table, or no room for the id. */
haft_status insert_in_other(struct thread *thread, uint32_t at);

#endif /* HAFT_COMBINATIONS_OTHER_TABLE_H */
