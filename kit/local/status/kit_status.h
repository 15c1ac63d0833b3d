/*
 * kit/local/status/kit_status.h - answering with a status of the kit.
 */
#ifndef HAFT_KIT_LOCAL_KIT_STATUS_H
#define HAFT_KIT_LOCAL_KIT_STATUS_H

#include <haft/kit/status.h>

/* The status, which haft_status_text() and haft_status_name() know from now on. */
haft_status kit_status(haft_status status);

#endif /* HAFT_KIT_LOCAL_KIT_STATUS_H */
