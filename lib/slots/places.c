/*
 * Where slots were allocated and freed, and what is told of it.
 *
 * Edges in this file.
 *   HINT   a place that is read too early or too late makes a line of text say less
 *   OWN    the table is being closed: nobody else uses it
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "lib/slots/places.h"
#include "lib/base/text.h"
#include "lib/slots/slots.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUPS 256 /* places of leaks that are told apart */

haft_status places_open(struct places *places, uint64_t slots)
{
    const haft_status status = reservation_open(&places->memory, slots * sizeof places->records[0]);

    if (status == HAFT_OK) {
        places->records = (struct place *)(void *)places->memory.base;
    }
    return status;
}

void places_close(struct places *places)
{
    if (places->records != NULL) {
        reservation_close(&places->memory);
    }
}

haft_status places_commit(struct places *places, uint64_t end)
{
    return places->records == NULL
               ? HAFT_OK
               : reservation_commit(&places->memory, end * sizeof places->records[0]);
}

/* --- a place in words --- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* What addr2line calls the address: its offset, in a library or program that may lie anywhere. */
static uintptr_t offset_in(const Dl_info *found, uintptr_t address)
{
    const ElfW(Ehdr) *header = found->dli_fbase;

    return header->e_type == ET_EXEC ? address : address - (uintptr_t)found->dli_fbase;
}

static void add_place(struct text *text, const void *place)
{
    const uintptr_t address = (uintptr_t)place - 1; /* within the call that returns to `place` */
    Dl_info found;

    if (place == NULL) {
        text_add(text, "somewhere");
    } else if (dladdr((void *)address, &found) == 0 || found.dli_fname == NULL) {
        text_add(text, "%#jx", (uintmax_t)address);
    } else if (found.dli_sname == NULL) {
        text_add(text, "%s+%#jx", file_name(found.dli_fname),
                 (uintmax_t)offset_in(&found, address));
    } else {
        text_add(text, "%s+%#jx (%s+%#jx)", found.dli_sname,
                 (uintmax_t)(address - (uintptr_t)found.dli_saddr), file_name(found.dli_fname),
                 (uintmax_t)offset_in(&found, address));
    }
}

int haft_place_format(const void *place, char *text, size_t size)
{
    struct text line = text_in(text, size);

    add_place(&line, place);
    return text_length(&line);
}

/* --- an id --- */

static const void *place_of(const atomic_u64 *word)
{
    return (const void *)(uintptr_t)load_relaxed(HINT, word);
}

/* Whether the slot's last life that has ended is that of `id`; `word` is the slot's. */
static bool ended_last(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = word_generation(format, word_next_life(format, id.bits, 0));
    const uint64_t now = word_generation(format, word);

    return word != 0 &&
           (now == next || (next == 0 && slots->wrapped && now == format->generation_one));
}

static void tell_dead(struct text *text, const struct slots *slots, haft_id id, uint64_t word)
{
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t field = word_index(&slots->format, word);
    const struct place *place = &slots->places.records[index];
    const void *died = place_of(&place->died);
    const void *born = place_of(&place->born);

    if (!ended_last(slots, id, word)) {
        text_add(text, "; its slot has been used since");
        return;
    }
    if (died != NULL) {
        text_add(text, ", at ");
        add_place(text, died);
    }
    if (born != NULL && field != index && field != MARK_RESERVED) {
        text_add(text, "; allocated at ");
        add_place(text, born);
    }
}

static void tell_here(struct text *text, const struct place *place, haft_status status)
{
    if (status == HAFT_DEAD) {
        text_add(text, ", at ");
        add_place(text, place_of(&place->died));
    }
    text_add(text, "; %s at ", status == HAFT_RESERVED ? "reserved" : "allocated");
    add_place(text, place_of(&place->born));
}

void places_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (slots->places.records == NULL) {
        return;
    }
    if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        tell_dead(text, slots, id, load_relaxed(HINT, slots_word(slots, index)));
    } else if (status == HAFT_OK || status == HAFT_RESERVED || status == HAFT_DEAD) {
        tell_here(text, &slots->places.records[index], status);
    }
}

int places_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                    char *line, size_t size)
{
    struct text text = text_in(line, size);
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(slots->format.layout, id, id_text, sizeof id_text);
    text_add(&text, "%s: %s: %s (%s)", table, id_text,
             status == HAFT_OK ? "live" : haft_status_text(status), haft_status_name(status));
    places_tell(&text, slots, id, status);
    return text_length(&text);
}

/* --- leaks --- */

int haft_leak_format(const haft_leak *leak, char *text, size_t size)
{
    struct text line = text_in(text, size);
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(leak->layout, leak->first, id, sizeof id);
    text_add(&line, "%s: ", leak->table);
    text_add_counted(&line, leak->count, "object");
    text_add(&line, " %s live at closing, allocated ", leak->count == 1 ? "is" : "are");
    text_add(&line, leak->place == NULL ? "" : "at ");
    add_place(&line, leak->place);
    text_add(&line, leak->count == 1 ? ": %s" : ", such as %s", id);
    return text_length(&line);
}

static void print_leak(const haft_leak *leak, void *arg)
{
    char text[512]; /* a longer name cuts the text */

    (void)arg;
    haft_leak_format(leak, text, sizeof text);
    fprintf(stderr, "haft: %s\n", text);
}

struct groups {
    haft_leak leaks[GROUPS]; /* the last one is for all places beyond */
    size_t count;
};

static haft_leak *group_of(struct groups *groups, const void *place)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->leaks[i].place == place) {
            return &groups->leaks[i];
        }
    }
    if (groups->count == GROUPS - 1) {
        return &groups->leaks[GROUPS - 1];
    }
    groups->leaks[groups->count].place = place;
    return &groups->leaks[groups->count++];
}

static void gather(struct groups *groups, const struct slots *slots, uint64_t end)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const haft_id id = {load_relaxed(OWN, slots_word(slots, index))};

        if (word_index(&slots->format, id.bits) == index) {
            haft_leak *leak = group_of(groups, place_of(&slots->places.records[index].born));

            leak->first = leak->count++ == 0 ? id : leak->first;
        }
    }
}

static int more_first(const void *a, const void *b)
{
    const haft_leak *left = a;
    const haft_leak *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

void places_report(const struct slots *slots, const char *table, uint64_t end)
{
    haft_on_leak *on_leak = slots->places.on_leak != NULL ? slots->places.on_leak : print_leak;
    struct groups groups = {.count = 0};

    if (slots->places.records == NULL) {
        return;
    }
    gather(&groups, slots, end);
    qsort(groups.leaks, GROUPS, sizeof groups.leaks[0], more_first);
    for (size_t i = 0; i < GROUPS && groups.leaks[i].count != 0; i++) {
        groups.leaks[i].table = table;
        groups.leaks[i].layout = slots->format.layout;
        on_leak(&groups.leaks[i], slots->places.leak_arg);
    }
}
