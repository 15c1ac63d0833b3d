/* stress/combinations/states.h - states of a table that is a local one for the moment. */
#ifndef HAFT_COMBINATIONS_STATES_H
#define HAFT_COMBINATIONS_STATES_H

#include "stress/combinations/model.h"

void states_rewind(haft_local *local);
void states_load(haft_local *local);
haft_local *states_clone(haft_local *local); /* it takes the table's place */

#endif /* HAFT_COMBINATIONS_STATES_H */
