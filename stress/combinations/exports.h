/* stress/combinations/exports.h - the export of the process. */
#ifndef HAFT_COMBINATIONS_EXPORTS_H
#define HAFT_COMBINATIONS_EXPORTS_H

#include "stress/combinations/model.h"

void end_export(void);

#endif /* HAFT_COMBINATIONS_EXPORTS_H */
