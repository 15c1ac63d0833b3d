/*
 * stress/torture/shares.h - a play's table was a local one before, and is one again at the end.
 */
#ifndef HAFT_STRESS_TORTURE_SHARES_H
#define HAFT_STRESS_TORTURE_SHARES_H

#include "stress/torture/play.h"
#include <haft/share.h>

/* A local table, filled and half emptied, shared: the subject's. */
void share_subject(struct play *play, struct subject *subject, const haft_share_options *options);

/* The table as a local one: it must hold what the ledger says, and its capacity.  Closes it. */
void unshare_subject(struct play *play, struct subject *subject);

#endif /* HAFT_STRESS_TORTURE_SHARES_H */
