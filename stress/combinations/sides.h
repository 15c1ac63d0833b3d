/* stress/combinations/sides.h - sides of the table. */
#ifndef HAFT_COMBINATIONS_SIDES_H
#define HAFT_COMBINATIONS_SIDES_H

#include "stress/combinations/model.h"

void begin_side(void); /* the plan's, if it has one */
void end_sides(void);
bool has_sides(void);

/* An id that no other thread has set a value for; on_reclaim was given one. */
void check_has_no_value(haft_id id, const char *kind);
void check_values_at_end(haft_id id);

/* In turns: the slot has another id. */
void forget_values(uint32_t index);

#endif /* HAFT_COMBINATIONS_SIDES_H */
