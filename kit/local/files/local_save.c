/*
 * haft_local: its image in a file.
 *
 * The body: floor and link of each page run, the words of all slots ever used, and the live objects
 * in order of index.  The end and the length of the list of free slots, which the image of some
 * builds has, are 0: loading finds them.
 */
#include "kit/local/files/image_file.h"
#include "kit/local/sides/side.h"
#include "kit/local/snapshots/local_image.h"
#include "lib/base/os.h"
#include "lib/local/local.h"
#include <string.h>

static const char *const number_names[] = {
#define NAME(name, text) text,
    LOCAL_NUMBERS(NAME)
#undef NAME
};

static uint64_t runs_bytes(const uint64_t *numbers)
{
    return numbers[LOCAL_RUNS] * 2 * sizeof(uint64_t);
}

static struct image_slots slots_of(const haft_local *local, const struct image *image)
{
    return (struct image_slots){
        .format = &local->slots.format,
        .base = image->parts[LOCAL_SLOTS].at,
        .stride = local->slots.view.stride,
        .end = image->numbers[LOCAL_USED],
        .at = runs_bytes(image->numbers),
        .may_be_fresh = true,
    };
}

/* All numbers of the body, and objects that are one behind the other. */
static uint64_t body_bytes(const struct image_file *image_file, const uint64_t *numbers)
{
    return runs_bytes(numbers) + (numbers[LOCAL_USED] - HAFT_FIRST_INDEX) * sizeof(uint64_t) +
           numbers[LOCAL_COUNT] * image_file->object_bytes;
}

static bool is_live_in(const struct image_slots *slots, uint64_t index)
{
    return word_index(slots->format, *image_word(slots, index)) == index;
}

/* --- saving --- */

static haft_status write_runs(struct image_file *image_file, const haft_local *local,
                              uint64_t count)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < 2 * count && status == HAFT_OK; i++) {
        const struct runs *runs = &local->slots.runs;
        const uint64_t number = i % 2 == 0 ? runs_floor(runs, i / 2) : runs_link(runs, i / 2);

        status = saved_write_number(image_file->saved, number);
    }
    return status;
}

static haft_status write_objects(struct image_file *image_file, const struct image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        if (is_live_in(slots, index)) {
            status = image_file_write_object(image_file, image_word(slots, index) + 1);
        }
    }
    return status;
}

/* How many records of page runs say anything: all, or none.  The fresh slots' says that its run is
 * in use. */
static uint64_t runs_to_save(const haft_local *local, uint64_t count)
{
    if (local->fresh_at != local->fresh_end) {
        return count;
    }
    for (uint64_t run = 0; run < count; run++) {
        if (runs_floor(&local->slots.runs, run) != 0 ||
            runs_link(&local->slots.runs, run) != RUN_IN_USE) {
            return count;
        }
    }
    return 0;
}

/* Tables that behave alike have the same file. */
static void make_canonical(const haft_local *local, uint64_t *numbers)
{
    numbers[LOCAL_RUNS] = runs_to_save(local, numbers[LOCAL_RUNS]);
    numbers[LOCAL_TAIL] = numbers[LOCAL_QUEUED] = 0;
    if (numbers[LOCAL_FRESH_AT] == numbers[LOCAL_FRESH_END]) {
        numbers[LOCAL_FRESH_AT] = numbers[LOCAL_FRESH_END] = 0;
    }
}

static haft_status write_image(struct image_file *image_file, const haft_local *local)
{
    const struct shape shape = local_shape(local);
    struct image image = local_begin_image(local);

    local_end_image(local);
    make_canonical(local, image.numbers);
    const struct image_slots slots = slots_of(local, &image);
    haft_status status = image_file_begin_write(image_file, &shape, image.numbers,
                                                body_bytes(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = write_runs(image_file, local, image.numbers[LOCAL_RUNS]);
    }
    if (status == HAFT_OK) {
        status = image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? write_objects(image_file, &slots) : status;
}

static haft_status save_local(const haft_local *local, haft_file *file)
{
    struct image_file image_file;
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = image_file_open(&image_file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status == HAFT_OK) {
        status = write_image(&image_file, local);
        image_file_close(&image_file);
    }
    return status;
}

haft_status haft_local_save(const haft_local *local, haft_file *file)
{
    const int cancel = os_cancel_off();
    const haft_status status = save_local(local, file);

    os_cancel_restore(cancel);
    return status;
}

/* --- loading --- */

struct loading {
    const haft_local *local;
    struct image_file file;
    struct image image; /* its parts are this call's */
    struct image_slots slots;
};

static haft_status wrong(const struct loading *loading, enum local_number number)
{
    return image_file_wrong_number(&loading->file, number, number_names[number]);
}

/* The first number that no table like this can have; LOCAL_NUMBERS_END: there is none. */
static enum local_number find_wrong_number(const haft_local *local, const uint64_t *numbers)
{
    const struct slots *slots = &local->slots;
    const uint64_t limit = numbers[LOCAL_LIMIT];
    const uint64_t used = numbers[LOCAL_USED];
    const uint64_t capacity = numbers[LOCAL_CAPACITY];

    if (limit > slots->view.mask + 1 || limit <= HAFT_FIRST_INDEX) {
        return LOCAL_LIMIT;
    }
    if (capacity == 0 || capacity > limit - HAFT_FIRST_INDEX) {
        return LOCAL_CAPACITY;
    }
    if (numbers[LOCAL_MIN_FREE] > limit - HAFT_FIRST_INDEX - capacity ||
        (numbers[LOCAL_MIN_FREE] != 0 && !local->is_fifo)) {
        return LOCAL_MIN_FREE;
    }
    if (!image_is_beginning(&slots->format, numbers[LOCAL_FIRST])) {
        return LOCAL_FIRST;
    }
    if (used < HAFT_FIRST_INDEX || used > limit) {
        return LOCAL_USED;
    }
    if (numbers[LOCAL_COUNT] > capacity) {
        return LOCAL_COUNT;
    }
    if (numbers[LOCAL_EXHAUSTED] > capacity - numbers[LOCAL_COUNT]) {
        return LOCAL_EXHAUSTED;
    }
    if (numbers[LOCAL_RUNS] != 0 &&
        (slots->runs.stay || numbers[LOCAL_RUNS] != runs_of(&slots->runs, used - 1) + 1)) {
        return LOCAL_RUNS;
    }
    return LOCAL_NUMBERS_END;
}

/* The first mark that no table like this can have. */
static enum local_number find_wrong_mark(const haft_local *local, const uint64_t *numbers)
{
    if (numbers[LOCAL_WRAPPED] > (local->wraps ? 1 : 0)) {
        return LOCAL_WRAPPED;
    }
    if (numbers[LOCAL_TAIL] != 0) {
        return LOCAL_TAIL;
    }
    return numbers[LOCAL_QUEUED] != 0 ? LOCAL_QUEUED : LOCAL_NUMBERS_END;
}

static haft_status read_head(struct loading *loading)
{
    const struct shape shape = local_shape(loading->local);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        image_file_read_head(&loading->file, &shape, local_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum local_number number = find_wrong_number(loading->local, numbers);

    if (number == LOCAL_NUMBERS_END) {
        number = find_wrong_mark(loading->local, numbers);
    }
    if (number == LOCAL_NUMBERS_END && body != body_bytes(&loading->file, numbers)) {
        number = LOCAL_COUNT;
    }
    saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == LOCAL_NUMBERS_END ? HAFT_OK : wrong(loading, number);
}

/* Memory for the image, which haft_local_load() frees. */
static haft_status get_memory(struct loading *loading)
{
    struct image *image = &loading->image;
    const uint64_t bytes[] = {
        [LOCAL_SLOTS] = image->numbers[LOCAL_USED] * loading->local->slots.view.stride,
        [LOCAL_RUN_RECORDS] = image->numbers[LOCAL_RUNS] * sizeof(struct run),
    };

    for (int part = LOCAL_SLOTS; part <= LOCAL_RUN_RECORDS; part++) {
        image->parts[part].bytes = bytes[part];
        image->parts[part].at = heap_take_zero(&loading->local->slots.heap, (size_t)bytes[part] + 1,
                                               _Alignof(max_align_t));
        if (image->parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = slots_of(loading->local, image);
    *image_word(&loading->slots, 0) = MARK_RESERVED;
    return HAFT_OK;
}

static haft_status read_runs(struct loading *loading)
{
    uint64_t *numbers = (uint64_t *)(void *)loading->image.parts[LOCAL_RUN_RECORDS].at;
    const uint64_t count = loading->image.numbers[LOCAL_RUNS];

    for (uint64_t i = 0; i < 2 * count; i++) {
        const haft_status status =
            saved_read_number(loading->file.saved, &numbers[i], "a page run");

        if (status != HAFT_OK) {
            return status;
        }
        if (i % 2 == 0 && numbers[i] != 0 &&
            !image_is_beginning(&loading->local->slots.format, numbers[i])) {
            return saved_fault(loading->file.file, HAFT_DAMAGED,
                               saved_offset_of_byte(i * sizeof(uint64_t)), "a page run's floor");
        }
    }
    return HAFT_OK;
}

static uint64_t link_of(const struct loading *loading, uint64_t run)
{
    return (
        (const uint64_t *)(const void *)loading->image.parts[LOCAL_RUN_RECORDS].at)[2 * run + 1];
}

/* Whether all slots from `first` on, below `end`, are there and fresh. */
static bool are_fresh(const struct loading *loading, uint64_t first, uint64_t end)
{
    if (first < HAFT_FIRST_INDEX || end > loading->slots.end) {
        return false;
    }
    while (first < end && *image_word(&loading->slots, first) == 0) {
        first++;
    }
    return first >= end;
}

/* The slots of all runs in the list of fresh ones; UINT64_MAX: that is no list of such runs. */
static uint64_t count_in_fresh_runs(const struct loading *loading)
{
    const struct runs *runs = &loading->local->slots.runs;
    const uint64_t count = loading->image.numbers[LOCAL_RUNS];
    uint64_t linked = 0;
    uint64_t slots = 0;

    for (uint64_t run = 0; run < count; run++) {
        linked += link_of(loading, run) != RUN_IN_USE;
    }
    for (uint64_t run = loading->image.numbers[LOCAL_FIRST_RUN]; run != RUN_LAST;
         run = link_of(loading, run)) {
        if (linked-- == 0 || run >= count ||
            !are_fresh(loading, runs_first(runs, run), runs_end(runs, run))) {
            return UINT64_MAX;
        }
        slots += runs_end(runs, run) - runs_first(runs, run);
    }
    return linked == 0 ? slots : UINT64_MAX;
}

/* Whether the rest of the run in use is there: of a run that is in no list. */
static bool is_run_in_use(const struct loading *loading, uint64_t first, uint64_t end)
{
    const struct runs *runs = &loading->local->slots.runs;

    return first < end && are_fresh(loading, first, end) &&
           loading->image.numbers[LOCAL_RUNS] != 0 && end == runs_end(runs, runs_of(runs, first)) &&
           link_of(loading, runs_of(runs, first)) == RUN_IN_USE;
}

/* Each fresh slot is in one run, in the list or in use. */
static haft_status check_runs(struct loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const uint64_t listed = count_in_fresh_runs(loading);
    const uint64_t first = numbers[LOCAL_FRESH_AT];
    const uint64_t end = numbers[LOCAL_FRESH_END];

    if (listed == UINT64_MAX) {
        return wrong(loading, LOCAL_FIRST_RUN);
    }
    if (first != end && !is_run_in_use(loading, first, end)) {
        return wrong(loading, LOCAL_FRESH_AT);
    }
    if (numbers[LOCAL_FRESH_SLOTS] != loading->slots.fresh ||
        numbers[LOCAL_FRESH_SLOTS] != listed + (end - first)) {
        return wrong(loading, LOCAL_FRESH_SLOTS);
    }
    return HAFT_OK;
}

/* The words that were read agree with the numbers. */
static haft_status check_slots(struct loading *loading)
{
    uint64_t *numbers = loading->image.numbers;
    haft_status status = HAFT_OK;

    if (loading->slots.live != numbers[LOCAL_COUNT]) {
        return wrong(loading, LOCAL_COUNT);
    }
    if (loading->slots.exhausted != numbers[LOCAL_EXHAUSTED]) {
        return wrong(loading, LOCAL_EXHAUSTED);
    }
    status = image_file_check_list(&loading->file, &loading->slots, numbers[LOCAL_HEAD], LOCAL_HEAD,
                                   number_names[LOCAL_HEAD]);
    numbers[LOCAL_TAIL] = loading->slots.tail;
    numbers[LOCAL_QUEUED] = loading->slots.free;
    return status == HAFT_OK ? check_runs(loading) : status;
}

static haft_status read_objects(struct loading *loading)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < loading->slots.end && status == HAFT_OK;
         index++) {
        if (is_live_in(&loading->slots, index)) {
            status = image_file_read_object(&loading->file, image_word(&loading->slots, index) + 1);
        }
    }
    return status;
}

static haft_status read_image(struct loading *loading)
{
    haft_status (*const steps[])(struct loading *) = {read_head, get_memory, read_runs};
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    if (status == HAFT_OK) {
        status = image_file_read_words(&loading->file, &loading->slots);
    }
    if (status == HAFT_OK) {
        status = check_slots(loading);
    }
    return status == HAFT_OK ? read_objects(loading) : status;
}

static haft_status load_local(haft_local *local, haft_file *file)
{
    struct loading loading = {.local = local};
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = image_file_open(&loading.file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = read_image(&loading);
    if (status == HAFT_OK) {
        status = local_prepare(local, loading.image.numbers);
    }
    status = status == HAFT_OK ? local_end_values(local, sides_forget_all) : status;
    /* on_end may have inserted. */
    status = status == HAFT_OK ? local_prepare(local, loading.image.numbers) : status;
    if (status == HAFT_OK) {
        local_become(local, &loading.image);
    }
    for (int part = LOCAL_SLOTS; part <= LOCAL_RUN_RECORDS; part++) {
        heap_give(&local->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    image_file_close(&loading.file);
    return status;
}

haft_status haft_local_load(haft_local *local, haft_file *file)
{
    const int cancel = os_cancel_off();
    const haft_status status = load_local(local, file);

    os_cancel_restore(cancel);
    return status;
}
