/*
 * haft/kit/status.h - what functions of the kit answer beside what those of the core do.
 *
 * They are values of haft_status.  haft_status_text() and haft_status_name() know them from the
 * first one on that the kit has answered.
 */
#ifndef HAFT_KIT_STATUS_H
#define HAFT_KIT_STATUS_H

#include <haft/status.h>

/* The object has been killed before; its id is live until the refresh. */
#define HAFT_DEAD HAFT_KIT_100
/* The system did not take the file. */
#define HAFT_NO_FILE HAFT_KIT_101
/* A recorder has created as many objects as it was opened for. */
#define HAFT_USED_UP HAFT_KIT_102
/* Another recorder of the frame has the key. */
#define HAFT_SAME_KEY HAFT_KIT_103
/* The slot holds an object or a reservation; or the id has a value. */
#define HAFT_OCCUPIED HAFT_KIT_104
/* The file is no saved table, is cut off or has been changed. */
#define HAFT_DAMAGED HAFT_KIT_105
/* The state of a table that was opened with other options, or a file of another version or with
 * objects of another size. */
#define HAFT_OTHER_TABLE HAFT_KIT_106

/* Options out of range: nothing was opened. */
#define HAFT_BAD_BLOCK_SIZE HAFT_KIT_107
#define HAFT_BAD_MAX_BLOCK_SIZE HAFT_KIT_108
#define HAFT_BAD_BUFFER_SIZE HAFT_KIT_109
#define HAFT_BAD_DIRECTORY HAFT_KIT_110
#define HAFT_BAD_INTERVAL_MS HAFT_KIT_111
#define HAFT_BAD_VALUE_SIZE HAFT_KIT_112
#define HAFT_BAD_VALUE_ALIGNMENT HAFT_KIT_113
#define HAFT_BAD_ON_END HAFT_KIT_114
#define HAFT_BAD_KEEP HAFT_KIT_115

#endif /* HAFT_KIT_STATUS_H */
