/* Snapshots: a shadow, and what differs between neighbours. */
#include "kit/local/snapshots/history.h"
#include "kit/local/sides/side_copy.h"
#include "kit/local/status/kit_status.h"
#include "lib/base/compiler.h"
#include "lib/base/sized.h"
#include <string.h>

struct change {
    uint64_t block;
    char bytes[IMAGE_BLOCK];
};

static size_t bytes_of_snapshots(uint64_t keep)
{
    return (size_t)keep * sizeof(struct snapshot);
}

static haft_status open_history(const haft_history_options *options, haft_history **history)
{
    const haft_allocator heap = heap_of(options->allocator);
    haft_history *opened = heap_take_zero(&heap, sizeof *opened, _Alignof(haft_history));
    struct snapshot *snapshots =
        options->keep <= SIZE_MAX / 2 / sizeof *snapshots
            ? heap_take_zero(&heap, bytes_of_snapshots(options->keep), _Alignof(struct snapshot))
            : NULL;

    if (opened == NULL || snapshots == NULL) {
        heap_give(&heap, snapshots, bytes_of_snapshots(options->keep));
        heap_give(&heap, opened, sizeof *opened);
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->snapshots = snapshots;
    opened->keep = options->keep;
    *history = opened;
    return HAFT_OK;
}

haft_status haft_history_open_sized(const haft_history_options *options, size_t size,
                                    haft_history **history)
{
    haft_history_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    if (status != HAFT_OK) {
        return status;
    }
    return known.keep != 0 ? open_history(&known, history) : kit_status(HAFT_BAD_KEEP);
}

/* Bytes of a snapshot's changes, with room for one more: never 0. */
static size_t bytes_of_changes(const struct snapshot *snapshot)
{
    return (size_t)(snapshot->ends[IMAGE_PARTS - 1] + 1) * sizeof(struct change);
}

static struct snapshot *snapshot_of(const haft_history *history, uint64_t number)
{
    return &history->snapshots[number % history->keep];
}

static void forget_changes(const haft_history *history, uint64_t number)
{
    struct snapshot *snapshot = snapshot_of(history, number);

    heap_give(&history->heap, snapshot->changes, bytes_of_changes(snapshot));
    snapshot->changes = NULL;
}

static void forget_snapshot(const haft_history *history, uint64_t number)
{
    struct snapshot *snapshot = snapshot_of(history, number);

    forget_changes(history, number);
    side_copies_free(&history->heap, snapshot->sides);
    snapshot->sides = NULL;
}

static void close_shadow(haft_history *history)
{
    for (int part = 0; part < IMAGE_PARTS; part++) {
        if (history->shadow[part].is_open) {
            reservation_close_array(&history->shadow[part].memory, &history->heap);
            history->shadow[part].is_open = false;
        }
    }
}

void haft_history_close(haft_history *history)
{
    for (uint64_t number = history->oldest; number < history->next; number++) {
        forget_snapshot(history, number);
    }
    close_shadow(history);
    const haft_allocator heap = history->heap;

    heap_give(&heap, history->snapshots, bytes_of_snapshots(history->keep));
    heap_give(&heap, history, sizeof *history);
}

haft_range haft_history_kept(const haft_history *history)
{
    return HAFT_RANGE(history->oldest, history->next);
}

uint64_t haft_history_bytes(const haft_history *history)
{
    uint64_t bytes = sizeof *history + history->keep * sizeof *history->snapshots;

    for (int part = 0; part < IMAGE_PARTS; part++) {
        bytes += history->shadow[part].bytes;
    }
    for (uint64_t number = history->oldest; number < history->next; number++) {
        const struct snapshot *snapshot = snapshot_of(history, number);

        bytes += side_copies_bytes(snapshot->sides);
        if (snapshot->changes != NULL) {
            bytes += snapshot->ends[IMAGE_PARTS - 1] * sizeof *snapshot->changes;
        }
    }
    return bytes;
}

bool history_fits(const haft_history *history, const struct shape *shape)
{
    return history->next == 0 || memcmp(&history->shape, shape, sizeof *shape) == 0;
}

const struct snapshot *history_find(const haft_history *history, uint64_t number)
{
    return number >= history->oldest && number < history->next ? snapshot_of(history, number)
                                                               : NULL;
}

/* --- taking --- */

static uint64_t blocks_of(uint64_t bytes)
{
    return (bytes + IMAGE_BLOCK - 1) / IMAGE_BLOCK;
}

/* Room in the shadow for the whole image, in whole blocks. */
static haft_status make_room(haft_history *history, const struct image *image)
{
    haft_status status = HAFT_OK;

    for (int i = 0; i < IMAGE_PARTS && status == HAFT_OK; i++) {
        const struct image_part *part = &image->parts[i];
        struct shadow_part *shadow = &history->shadow[i];

        if (part->bytes != 0 && !shadow->is_open) {
            status = reservation_open_array(&shadow->memory, blocks_of(part->most) * IMAGE_BLOCK,
                                            IMAGE_BLOCK, &history->heap);
            shadow->is_open = status == HAFT_OK;
        }
        if (part->bytes != 0 && status == HAFT_OK) {
            status = reservation_commit(&shadow->memory, blocks_of(part->bytes) * IMAGE_BLOCK);
        }
    }
    return status;
}

/* Bytes of a part that the shadow has from a snapshot, whatever that was: the rest is new to it. */
static uint64_t known_bytes(const struct shadow_part *shadow, const struct image_part *part)
{
    return part->bytes < shadow->bytes ? part->bytes : shadow->bytes;
}

/*
 * Set the bit of each block of a part that differs from the shadow's: how many.  The last block may
 * be a part of one.
 */
static uint64_t compare_part(const struct shadow_part *shadow, const struct image_part *part,
                             uint64_t *differ)
{
    const uint64_t bytes = known_bytes(shadow, part);
    const uint64_t whole = bytes / IMAGE_BLOCK;
    uint64_t found = 0;

    for (uint64_t first = 0; first < blocks_of(bytes); first += 64) {
        const uint64_t end = first + 64 < whole ? first + 64 : whole;
        uint64_t bits = 0;

        for (uint64_t block = first; block < end; block++) {
            const uint64_t at = block * IMAGE_BLOCK;

            bits |= (uint64_t)image_differs(part->at + at, shadow->memory.base + at)
                    << (block - first);
        }
        differ[first / 64] = bits;
        found += (uint64_t)count_bits(bits);
    }
    if (bytes % IMAGE_BLOCK != 0 &&
        memcmp(part->at + whole * IMAGE_BLOCK, shadow->memory.base + whole * IMAGE_BLOCK,
               (size_t)(bytes % IMAGE_BLOCK)) != 0) {
        differ[whole / 64] |= UINT64_C(1) << whole % 64;
        found++;
    }
    return found;
}

/* Where the bits of a part begin, in words. */
static uint64_t bitmap_of(const haft_history *history, int part)
{
    uint64_t words = 0;

    for (int i = 0; i < part; i++) {
        words += blocks_of(history->shadow[i].bytes) / 64 + 1;
    }
    return words;
}

/* The shadow's bytes go to the change, and the image's to the shadow. */
static void keep_block(char *shadow, const struct image_part *part, uint64_t known, uint64_t block,
                       struct change *change)
{
    const uint64_t at = block * IMAGE_BLOCK;
    const uint64_t left = known - at;

    change->block = block;
    memcpy(change->bytes, shadow + at, IMAGE_BLOCK);
    if (left >= IMAGE_BLOCK) {
        memcpy(shadow + at, part->at + at, IMAGE_BLOCK);
    } else {
        memcpy(shadow + at, part->at + at, (size_t)left);
    }
}

static struct change *keep_blocks(const struct shadow_part *shadow, const struct image_part *part,
                                  const uint64_t *differ, struct change *change)
{
    const uint64_t known = known_bytes(shadow, part);

    for (uint64_t first = 0; first < blocks_of(known); first += 64) {
        for (uint64_t bits = differ[first / 64]; bits != 0; bits &= bits - 1) {
            keep_block(shadow->memory.base, part, known, first + lowest_bit(bits), change++);
        }
    }
    return change;
}

/*
 * Turn the shadow from the current snapshot into the image; the changes are those of the new one,
 * `taken`.  HAFT_OK, or HAFT_NO_MEMORY with nothing changed.
 */
static haft_status exchange_with(haft_history *history, const struct image *image,
                                 struct snapshot *taken)
{
    const size_t bitmap_bytes = (size_t)bitmap_of(history, IMAGE_PARTS) * sizeof(uint64_t);
    uint64_t *differ = heap_take(&history->heap, bitmap_bytes, _Alignof(uint64_t));
    uint64_t found = 0;

    if (differ == NULL) {
        return HAFT_NO_MEMORY;
    }
    for (int i = 0; i < IMAGE_PARTS; i++) {
        found +=
            compare_part(&history->shadow[i], &image->parts[i], &differ[bitmap_of(history, i)]);
        taken->ends[i] = found;
    }
    taken->changes = heap_take(&history->heap, bytes_of_changes(taken), _Alignof(struct change));
    if (taken->changes == NULL) {
        heap_give(&history->heap, differ, bitmap_bytes);
        return HAFT_NO_MEMORY;
    }
    struct change *change = taken->changes;

    for (int i = 0; i < IMAGE_PARTS; i++) {
        change = keep_blocks(&history->shadow[i], &image->parts[i], &differ[bitmap_of(history, i)],
                             change);
    }
    heap_give(&history->heap, differ, bitmap_bytes);
    return HAFT_OK;
}

/* Copy what the shadow does not know, from byte `known` of each part on. */
static void copy_rest(haft_history *history, const struct image *image, bool whole)
{
    for (int i = 0; i < IMAGE_PARTS; i++) {
        const struct image_part *part = &image->parts[i];
        struct shadow_part *shadow = &history->shadow[i];
        const uint64_t known = whole ? 0 : known_bytes(shadow, part);

        if (part->bytes != known) {
            memcpy(shadow->memory.base + known, part->at + known, (size_t)(part->bytes - known));
        }
        shadow->bytes = part->bytes > shadow->bytes ? part->bytes : shadow->bytes;
    }
}

/* The snapshots behind the current one go; and the oldest, if there is no room for one more. */
static void drop(haft_history *history)
{
    while (history->next > history->current + 1) {
        forget_snapshot(history, --history->next);
    }
    if (history->next - history->oldest == history->keep) {
        forget_snapshot(history, history->oldest++);
        if (history->oldest < history->next) {
            forget_changes(history, history->oldest);
        }
    }
}

haft_status history_take(haft_history *history, const struct shape *shape,
                         const struct image *image, struct side_copy *sides, uint64_t *number)
{
    const bool is_alone = history->next == 0 || history->keep == 1;
    struct snapshot taken = {.changes = NULL, .sides = sides};
    haft_status status = make_room(history, image);

    if (status == HAFT_OK && !is_alone) {
        status = exchange_with(history, image, &taken);
    }
    if (status != HAFT_OK) {
        if (history->next == 0) {
            close_shadow(history); /* the next table to come may be of another shape */
        }
        return status;
    }
    copy_rest(history, image, is_alone);
    if (history->next != 0) {
        drop(history);
    }
    memcpy(taken.numbers, image->numbers, sizeof taken.numbers);
    for (int i = 0; i < IMAGE_PARTS; i++) {
        taken.bytes[i] = image->parts[i].bytes;
    }
    history->shape = *shape;
    history->current = history->next++;
    taken.serial = ++history->taken;
    *snapshot_of(history, history->current) = taken;
    if (number != NULL) {
        *number = history->current;
    }
    return HAFT_OK;
}

/* --- going --- */

/* The changes of a snapshot and the shadow exchange their bytes. */
static void exchange(const haft_history *history, const struct snapshot *snapshot)
{
    uint64_t at = 0;

    for (int i = 0; i < IMAGE_PARTS; i++) {
        for (; at < snapshot->ends[i]; at++) {
            struct change *change = &snapshot->changes[at];
            char *block = history->shadow[i].memory.base + change->block * IMAGE_BLOCK;
            char bytes[IMAGE_BLOCK];

            memcpy(bytes, block, IMAGE_BLOCK);
            memcpy(block, change->bytes, IMAGE_BLOCK);
            memcpy(change->bytes, bytes, IMAGE_BLOCK);
        }
    }
}

struct image history_go(haft_history *history, uint64_t number)
{
    struct image image;

    while (history->current > number) {
        exchange(history, snapshot_of(history, history->current--));
    }
    while (history->current < number) {
        exchange(history, snapshot_of(history, ++history->current));
    }
    const struct snapshot *snapshot = snapshot_of(history, number);

    memcpy(image.numbers, snapshot->numbers, sizeof image.numbers);
    for (int i = 0; i < IMAGE_PARTS; i++) {
        image.parts[i] =
            (struct image_part){.at = history->shadow[i].memory.base, .bytes = snapshot->bytes[i]};
    }
    return image;
}
