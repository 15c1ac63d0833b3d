/* What a play has done and met; see tally.h. */
#include "stress/torture/tally.h"

const char *const count_names[COUNT_KINDS] = {
    [COUNT_INSERTED] = "inserted",
    [COUNT_ABORTED] = "aborted",
    [COUNT_FREED] = "freed",
    [COUNT_HELD] = "held",
    [COUNT_VISITED] = "visited",
    [COUNT_PINNED] = "pinned",
    [COUNT_STALE] = "stale_ids_tried",
    [COUNT_LIVES] = "threads",
    [COUNT_TICKS] = "ticks",
    [COUNT_APPLIED] = "frames_applied",
    [COUNT_TOO_LATE] = "resolved_too_late",
    [COUNT_OUTLIVED] = "freed_while_held",
    [COUNT_REUSED] = "reused_after_that",
    [COUNT_LOST_FREE] = "frees_lost",
    [COUNT_PIN_OUTLIVED] = "freed_while_pinned",
    [COUNT_FULL] = "full",
    [COUNT_BUSY] = "busy",
    [COUNT_EXHAUSTED] = "tables_exhausted",
    [COUNT_SCANNED] = "scans",
    [COUNT_FLOODS] = "floods",
    [COUNT_DELAYS] = "delays",
    [COUNT_STUTTERS] = "stutters",
    [COUNT_TRIMMED] = "trims_beside_others",
    [COUNT_REPEATED] = "ids_repeated",
    [COUNT_OVERTAKEN] = "destructions_overtaken",
    [COUNT_COUNTED_OUTLIVED] = "counted_freed_while_held",
    [COUNT_SHARED_OUT] = "tables_shared_out",
};

const char *const count_texts[COUNT_KINDS] = {
    [COUNT_INSERTED] = "objects inserted",
    [COUNT_ABORTED] = "reservations given up",
    [COUNT_FREED] = "objects freed",
    [COUNT_HELD] = "objects held by readers, all themselves to the end",
    [COUNT_VISITED] = "objects visited by scans",
    [COUNT_PINNED] = "pins",
    [COUNT_STALE] = "ids of freed objects tried again, none live too early",
    [COUNT_LIVES] = "threads that came and went",
    [COUNT_TICKS] = "ticks",
    [COUNT_APPLIED] = "frames of commands applied",
    [COUNT_TOO_LATE] = "resolves that came too late, or too early",
    [COUNT_OUTLIVED] = "objects freed while they were held",
    [COUNT_REUSED] = "slots of these that were reused",
    [COUNT_LOST_FREE] = "frees that another thread won",
    [COUNT_PIN_OUTLIVED] = "objects freed while they were pinned",
    [COUNT_FULL] = "times that a table was full",
    [COUNT_BUSY] = "times that slots waited for a grace period",
    [COUNT_EXHAUSTED] = "tables with all lives lived",
    [COUNT_SCANNED] = "whole scans",
    [COUNT_FLOODS] = "floods of frees",
    [COUNT_DELAYS] = "delayed grace periods",
    [COUNT_STUTTERS] = "pauses of all threads",
    [COUNT_TRIMMED] = "times that memory was given back while others worked",
    [COUNT_REPEATED] = "ids that were live again, after all generations of their slot",
    [COUNT_OVERTAKEN] = "recorded destructions that another thread's free overtook",
    [COUNT_COUNTED_OUTLIVED] = "counted objects freed while they were held",
    [COUNT_SHARED_OUT] = "local tables whose free slots went to several threads",
};

void tally_add(struct tally *sum, const struct tally *more)
{
    for (int i = 0; i < COUNT_KINDS; i++) {
        sum->counts[i] += more->counts[i];
    }
    for (int i = 0; i < AGES; i++) {
        sum->ages[i] += more->ages[i];
    }
    for (int i = 0; i < FREE_AGES; i++) {
        sum->free_ages[i] += more->free_ages[i];
    }
}

void tally_age(struct tally *tally, uint64_t grace_periods, uint64_t frees)
{
    unsigned place = 0;

    while (frees != 0 && place < FREE_AGES - 1) {
        frees /= 2;
        place++;
    }
    tally->free_ages[place]++;
    tally->ages[grace_periods < AGES ? grace_periods : AGES - 1]++;
}
