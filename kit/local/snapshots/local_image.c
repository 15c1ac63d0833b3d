/*
 * The image of a table of one thread, and how the table becomes another.
 *
 * Edges in this file.
 *   OWN    one thread uses the table
 */
#include "kit/local/snapshots/local_image.h"
#include "kit/local/sides/side.h"
#include "lib/local/local.h"
#include "lib/local/local_list.h"
#include "lib/slots/object.h"

_Static_assert(LOCAL_NUMBERS_END <= IMAGE_NUMBERS, "an image has room for the numbers");

const char *const local_shape_names[SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag",  "object_size", "object_alignment",
    "slots",         "reuse",  "wrap", "pins",        "memory that can be released"};

struct shape local_shape(const haft_local *local)
{
    const struct slots *slots = &local->slots;
    const haft_layout layout = slots->format.layout;

    return (struct shape){{
        1,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){slots->format.tag}),
        slots->object_size,
        slots_alignment(slots),
        slots->view.mask + 1,
        local->is_fifo,
        local->wraps,
        slots->has_pins,
        !slots->runs.stay,
    }};
}

haft_status local_end_values(haft_local *local, void (*end)(const atomic_u64 *list))
{
    local->in_callback = true;
    end(&local->attached);
    local->in_callback = false;
    return local_check_moment(local); /* on_end may have reserved a slot */
}

/* Records of the page runs that have been used. */
static uint64_t run_count(const haft_local *local)
{
    return local->slots.runs.records != NULL ? runs_of(&local->slots.runs, local->used - 1) + 1 : 0;
}

struct image local_begin_image(const haft_local *local)
{
    const struct slots *slots = &local->slots;
    const uint64_t runs = run_count(local);

    slots_unpoison_all(slots, local->used);
    return (struct image){
        .numbers =
            {
                [LOCAL_CAPACITY] = local->capacity,
                [LOCAL_MIN_FREE] = local->min_free,
                [LOCAL_LIMIT] = slots->limit,
                [LOCAL_FIRST] = slots->format.first,
                [LOCAL_USED] = local->used,
                [LOCAL_COUNT] = local->front.count,
                [LOCAL_EXHAUSTED] = local->exhausted,
                [LOCAL_HEAD] = local->is_in_place ? local->front.head : local->listed_head,
                [LOCAL_TAIL] = local->queue_tail,
                [LOCAL_QUEUED] = local_listed(local), /* one in place too: not so in each table */
                [LOCAL_FRESH_AT] = local->fresh_at,
                [LOCAL_FRESH_END] = local->fresh_end,
                [LOCAL_FRESH_SLOTS] = local->fresh_slots,
                [LOCAL_FIRST_RUN] = slots->runs.first,
                [LOCAL_RUNS] = runs,
                [LOCAL_WRAPPED] = slots->wrapped,
            },
        .parts =
            {
                [LOCAL_SLOTS] = {slots->view.base, local->used * slots->view.stride,
                                 (slots->view.mask + 1) * slots->view.stride},
                [LOCAL_RUN_RECORDS] = {(char *)slots->runs.records, runs * sizeof(struct run),
                                       slots->runs.count * sizeof(struct run)},
            },
    };
}

/* AddressSanitizer is to report accesses to slots in which no object is. */
static void poison_free_slots(const haft_local *local)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const atomic_u64 *at = slots_word(&local->slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        if (word != 0 && word_index(&local->slots.format, word) != index) {
            slots_poison(&local->slots, at);
        }
    }
}

void local_end_image(const haft_local *local)
{
    if (asan_is_on()) {
        poison_free_slots(local);
    }
}

haft_status local_prepare(haft_local *local, const uint64_t *numbers)
{
    const uint64_t used = numbers[LOCAL_USED] > local->used ? numbers[LOCAL_USED] : local->used;
    struct runs *runs = &local->slots.runs;
    const haft_status status = slots_commit(&local->slots, used);

    /* Records that were only reserved, for a shared table, are cleared as others are. */
    return status == HAFT_OK && (numbers[LOCAL_RUNS] != 0 || runs->records != NULL)
               ? runs_prepare(runs, used)
               : status;
}

/* Slots and records as in the image, and as new behind it. */
static void become_parts(const haft_local *local, const struct image *image)
{
    const struct image_part own[] = {
        [LOCAL_SLOTS] = {local->slots.view.base, local->used * local->slots.view.stride, 0},
        [LOCAL_RUN_RECORDS] = {(char *)local->slots.runs.records,
                               run_count(local) * sizeof(struct run), 0},
    };

    for (int i = LOCAL_SLOTS; i <= LOCAL_RUN_RECORDS; i++) {
        const struct image_part *part = &image->parts[i];

        image_put(own[i].at, part->at, part->bytes);
        if (own[i].bytes > part->bytes) {
            image_clear(own[i].at + part->bytes, own[i].bytes - part->bytes);
        }
    }
}

static void become_slots(struct slots *slots, const uint64_t *numbers)
{
    slots->limit = numbers[LOCAL_LIMIT];
    slots->format.first = numbers[LOCAL_FIRST];
    slots->runs.first = numbers[LOCAL_FIRST_RUN];
    slots->wrapped = numbers[LOCAL_WRAPPED] != 0;
}

void local_become(haft_local *local, const struct image *image)
{
    const uint64_t *numbers = image->numbers;
    const uint64_t used = numbers[LOCAL_USED];

    slots_unpoison_all(&local->slots, used > local->used ? used : local->used);
    sites_forget(&local->slots.sites, HAFT_FIRST_INDEX, local->used);
    become_parts(local, image);
    become_slots(&local->slots, numbers);
    local->capacity = numbers[LOCAL_CAPACITY];
    local->min_free = numbers[LOCAL_MIN_FREE];
    local->used = used;
    local->exhausted = numbers[LOCAL_EXHAUSTED];
    local->fresh_at = numbers[LOCAL_FRESH_AT];
    local->fresh_end = numbers[LOCAL_FRESH_END];
    local->fresh_slots = numbers[LOCAL_FRESH_SLOTS];
    local->front.count = (uint32_t)numbers[LOCAL_COUNT];
    local->is_crowded = local_crowds(local);
    local_begin_list(local);
    *local_head(local) = (uint32_t)numbers[LOCAL_HEAD];
    local->queue_tail = numbers[LOCAL_TAIL];
    local->queue_count = local->is_in_place ? 0 : numbers[LOCAL_QUEUED];
    local_end_image(local);
}
