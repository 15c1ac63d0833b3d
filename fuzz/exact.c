/*
 * Exact replay: whatever a table of one thread goes through, the same calls from a state on give
 * the same answers, callbacks and objects, after going back to the state, in a clone of it, and
 * saving and loading it.
 *
 * Frames are played one after the other, and some of them again.  Saved files are damaged, too, and
 * made up with checksums that are right: they are refused, or give a table that is sound.
 */
#include "fuzz/exact.h"
#include "fuzz/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 8

static bool telling;

void target_tell(void)
{
    telling = true;
}

static void tell(const char *what, uint64_t number)
{
    if (telling) {
        fprintf(stderr, "%s %llu\n", what, (unsigned long long)number);
    }
}

/* --- a file in memory --- */

struct memory_file {
    unsigned char *bytes;
    size_t size;
    size_t at;
};

static bool put(const void *bytes, size_t size, void *arg)
{
    struct memory_file *memory = arg;

    memory->bytes = realloc(memory->bytes, memory->size + size);
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    struct memory_file *memory = arg;

    if (memory->size - memory->at < size) {
        return false;
    }
    memcpy(bytes, memory->bytes + memory->at, size);
    memory->at += size;
    return true;
}

static haft_file file_of(struct memory_file *memory)
{
    memory->at = 0;
    return (haft_file){.write = put, .read = get, .arg = memory};
}

static struct memory_file saved_of(struct subject *subject)
{
    struct memory_file memory = {NULL, 0, 0};
    haft_file file = file_of(&memory);

    exact_must(subject_save(subject, &file) == HAFT_OK, "a table is saved");
    exact_must(file.offset == memory.size, "a saved file's size");
    return memory;
}

/* --- frames --- */

struct frame {
    struct mind mind; /* before it */
    uint64_t steps;
    uint64_t input; /* makes other steps of the same mind */
    uint64_t digest;
};

struct timeline {
    struct subject subject;
    haft_history *history;
    struct frame frames[KEEP]; /* number n in place n % KEEP */
    uint64_t next;             /* the number of the next frame */
    uint64_t chance;
    uint64_t compared;
};

/* Play the next frame, whose snapshot is there, from the mind that the subject has. */
static void play_from_here(struct timeline *timeline, uint64_t steps, uint64_t input)
{
    struct frame *frame = &timeline->frames[timeline->next % KEEP];

    frame->mind = timeline->subject.mind;
    frame->steps = steps;
    frame->input = input;
    timeline->subject.mind.chance ^= input;
    frame->digest = subject_play(&timeline->subject, steps);
    timeline->next++;
}

static void play_frame(struct timeline *timeline, uint64_t steps, uint64_t input)
{
    uint64_t number;

    exact_must(subject_snapshot(&timeline->subject, timeline->history, &number) == HAFT_OK,
               "a snapshot");
    exact_must(number == timeline->next, "a snapshot's number");
    play_from_here(timeline, steps, input);
}

static uint64_t oldest(const struct timeline *timeline)
{
    return timeline->next < KEEP ? 0 : timeline->next - KEEP;
}

/* Go back to the start of a frame: the mind too. */
static void go_back(struct timeline *timeline, uint64_t number)
{
    exact_must(subject_rewind(&timeline->subject, timeline->history, number) == HAFT_OK,
               "a rewind");
    timeline->subject.mind = timeline->frames[number % KEEP].mind;
}

/* Go back some frames, and play all of them again; or others in their place. */
static void rewind_and_play(struct timeline *timeline, bool others)
{
    const uint64_t end = timeline->next;
    const uint64_t from =
        oldest(timeline) + exact_draw(&timeline->chance) % (end - oldest(timeline));

    tell("rewind to", from);
    go_back(timeline, from);
    timeline->next = from;
    while (timeline->next < end) {
        const struct frame before = timeline->frames[timeline->next % KEEP];
        const uint64_t input = others ? exact_draw(&timeline->chance) << 20 | 1 : before.input;

        if (timeline->next == from) {
            play_from_here(timeline, before.steps, input);
        } else {
            play_frame(timeline, before.steps, input);
        }
        exact_must(others || timeline->frames[(timeline->next - 1) % KEEP].digest == before.digest,
                   "a frame played again after a rewind");
        timeline->compared++;
    }
}

/* Go to kept states in any order, forwards too. */
static void wander(struct timeline *timeline)
{
    uint64_t digests[KEEP];
    const uint64_t first = oldest(timeline);

    if (timeline->next == 0) {
        return;
    }
    for (uint64_t n = first; n < timeline->next; n++) {
        go_back(timeline, n);
        digests[n % KEEP] = subject_look(&timeline->subject);
    }
    for (int turn = 0; turn < 4; turn++) {
        const uint64_t n = first + exact_draw(&timeline->chance) % (timeline->next - first);

        go_back(timeline, n);
        exact_must(subject_look(&timeline->subject) == digests[n % KEEP], "a state gone to again");
        timeline->compared++;
    }
    go_back(timeline, timeline->next - 1);
    const struct frame last = timeline->frames[(timeline->next - 1) % KEEP];

    timeline->subject.mind.chance ^= last.input;
    exact_must(subject_play(&timeline->subject, last.steps) == last.digest, "the last frame again");
}

/* Save, play a frame, load, play it again. */
static void save_and_load(struct timeline *timeline, uint64_t steps)
{
    struct subject *subject = &timeline->subject;
    struct memory_file memory = saved_of(subject);
    const struct mind mind = subject->mind;
    haft_file file = file_of(&memory);

    tell("save and load, steps", steps);
    play_frame(timeline, steps, 0);
    exact_must(subject_load(subject, &file) == HAFT_OK, "a table is loaded");
    exact_must(memory.at == memory.size, "a file is read to its end, and no further");
    subject->mind = mind;
    struct memory_file again = saved_of(subject);

    exact_must(again.size == memory.size && memcmp(again.bytes, memory.bytes, memory.size) == 0,
               "what is saved again");
    exact_must(subject_play(subject, steps) == timeline->frames[(timeline->next - 1) % KEEP].digest,
               "what follows a load");
    timeline->compared++;
    free(again.bytes);
    free(memory.bytes);
}

/* Clone, and play a frame with both; one of them goes on. */
static void clone_and_play(struct timeline *timeline, uint64_t steps)
{
    struct subject clone = subject_clone(&timeline->subject);
    const uint64_t digest = subject_play(&clone, steps);

    tell("clone, steps", steps);
    play_frame(timeline, steps, 0);
    exact_must(timeline->frames[(timeline->next - 1) % KEEP].digest == digest, "what a clone does");
    timeline->compared++;
    if (exact_draw(&timeline->chance) % 2 == 0) {
        struct subject original = timeline->subject;

        timeline->subject = clone;
        clone = original;
    }
    subject_close(&clone);
}

/* --- files that are wrong --- */

/* The CRC-32 of IEEE 802.3, bit by bit. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t sum = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
        }
    }
    return ~sum;
}

#define HEAD 256 /* bytes; a checksum is behind it, and behind each 4,096 bytes and the last */

static void put_checksum(struct memory_file *memory, size_t begin, size_t end)
{
    const uint32_t sum = checksum(memory->bytes + begin, end - begin);

    for (size_t i = 0; i < 4; i++) {
        memory->bytes[end + i] = (unsigned char)(sum >> 8 * i);
    }
}

static void put_checksums(struct memory_file *memory)
{
    put_checksum(memory, 0, HEAD);
    for (size_t at = HEAD + 4; at < memory->size; at += 4096 + 4) {
        const size_t left = memory->size - at - 4;

        put_checksum(memory, at, at + (left < 4096 ? left : 4096));
    }
}

static void change_bytes(struct timeline *timeline, struct memory_file *memory, size_t from)
{
    for (uint64_t i = 1 + exact_draw(&timeline->chance) % 3; i-- > 0;) {
        const uint64_t drawn = exact_draw(&timeline->chance);
        unsigned char *byte = &memory->bytes[from + drawn % (memory->size - from)];

        *byte = (unsigned char)(drawn >> 40 & 1 ? *byte ^ 1u << (drawn >> 24) % 8
                                                : *byte + (drawn >> 24) % 3 + 1);
    }
}

/* A file with a byte changed, or cut off, is refused; the table stays as it is. */
static void load_damaged(struct timeline *timeline)
{
    struct memory_file memory = saved_of(&timeline->subject);
    const uint64_t drawn = exact_draw(&timeline->chance);
    const uint64_t before = subject_look(&timeline->subject);

    tell("load a damaged file of", memory.size);
    if (drawn % 4 == 0) {
        memory.size = (size_t)(drawn >> 8) % memory.size;
    } else {
        memory.bytes[(drawn >> 8) % memory.size] ^= (unsigned char)(1u << drawn % 8);
    }
    haft_file file = file_of(&memory);

    exact_must(subject_load(&timeline->subject, &file) == HAFT_DAMAGED, "damage is found");
    exact_must(file.what != NULL && file.offset <= memory.size, "damage is found in the file");
    exact_must(subject_look(&timeline->subject) == before, "a failed load changes nothing");
    timeline->compared++;
    free(memory.bytes);
}

/* A file whose checksums are right but not what it says: no table is unsound for it. */
static void load_made_up(struct timeline *timeline, uint64_t steps)
{
    struct memory_file memory = saved_of(&timeline->subject);
    struct subject clone = subject_clone(&timeline->subject);
    const uint64_t before = subject_look(&clone);

    change_bytes(timeline, &memory,
                 memory.size == HEAD + 4 || exact_draw(&timeline->chance) % 2 == 0 ? 8 : HEAD + 4);
    put_checksums(&memory);
    haft_file file = file_of(&memory);
    const haft_status status = subject_load(&clone, &file);

    tell("load what is made up, status", (uint64_t)status);
    if (status == HAFT_OK) {
        subject_play(&clone, steps);
    } else {
        exact_must(status == HAFT_DAMAGED || status == HAFT_OTHER_TABLE, "a status");
        exact_must(file.what != NULL && file.offset <= memory.size, "where a file is wrong");
        exact_must(subject_look(&clone) == before, "a failed load changes nothing");
    }
    timeline->compared++;
    subject_close(&clone);
    free(memory.bytes);
}

/* --- an input --- */

static void carry_out(struct timeline *timeline, uint8_t byte)
{
    const uint64_t steps = 1 + (uint64_t)byte / 16 * 4;

    switch (byte % 16) {
    case 0:
    case 1:
    case 2:
        if (timeline->next != 0) {
            rewind_and_play(timeline, byte % 16 == 2);
        }
        break;
    case 3:
        wander(timeline);
        break;
    case 4:
    case 5:
        save_and_load(timeline, steps);
        break;
    case 6:
        clone_and_play(timeline, steps);
        break;
    case 7:
        load_damaged(timeline);
        break;
    case 8:
        load_made_up(timeline, steps);
        break;
    default:
        tell("frame", timeline->next);
        play_frame(timeline, steps, 0);
    }
}

/* A table's whole life. */
static uint64_t carry_out_all(const uint8_t *data, size_t size)
{
    struct timeline timeline = {.next = 0};
    uint64_t chance = 1;

    for (size_t i = 0; i < 8 && i < size; i++) {
        chance = (chance ^ data[i]) * UINT64_C(0x100000001B3);
    }
    timeline.chance = chance | 1;
    tell("table", chance);
    subject_open(&timeline.subject, exact_draw(&timeline.chance) | 1);
    exact_must(haft_history_open(&(haft_history_options){.keep = KEEP}, &timeline.history) ==
                   HAFT_OK,
               "a history");
    for (size_t i = 8; i < size; i++) {
        carry_out(&timeline, data[i]);
    }
    haft_history_close(timeline.history);
    subject_close(&timeline.subject);
    return timeline.compared;
}

#define LIFE 96 /* bytes of an input */

uint64_t target_run(const uint8_t *data, size_t size)
{
    uint64_t compared = 1; /* an input at least */

    for (size_t at = 0; at < size; at += LIFE) {
        compared += carry_out_all(data + at, size - at < LIFE ? size - at : LIFE);
    }
    return compared;
}
