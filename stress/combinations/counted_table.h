/* stress/combinations/counted_table.h - a counted table beside the others. */
#ifndef HAFT_COMBINATIONS_COUNTED_TABLE_H
#define HAFT_COMBINATIONS_COUNTED_TABLE_H

#include "stress/combinations/model.h"

void begin_counted_table(void);
void end_counted_table(void);

/* The thread holds no counted object any more. */
void end_counted_holds(struct thread *thread);

/* All threads stand still: its statistics say what the model knows; and it is closed, if it may. */
void check_counted(void);
void try_close_counted(void);

#endif /* HAFT_COMBINATIONS_COUNTED_TABLE_H */
