/* Snapshots, rewinding and clones, in every kind of table of one thread. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/kit/restore.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <string.h>

TestSuite(snapshot, .timeout = SUITE_SECONDS);

#define CAPACITY 500
#define MOST 5000 /* ids of a run */

static const haft_table_options options = {
    .capacity = CAPACITY, .object_size = 24, .layout = {16, 6, 0, 0}};

static haft_status take(struct subject *subject, haft_history *history, uint64_t *number)
{
    return subject->packed != NULL ? haft_packed_snapshot(subject->packed, history, number)
                                   : haft_local_snapshot(subject->local, history, number);
}

static haft_status go(struct subject *subject, haft_history *history, uint64_t number)
{
    return subject->packed != NULL ? haft_packed_rewind(subject->packed, history, number)
                                   : haft_local_rewind(subject->local, history, number);
}

static struct subject clone_of(const struct subject *subject)
{
    struct subject clone = {.kind = subject->kind};

    if (subject->packed != NULL) {
        assert_status(haft_packed_clone(subject->packed, &clone.packed), HAFT_OK);
    } else {
        assert_status(haft_local_clone(subject->local, &clone.local), HAFT_OK);
        clone.view = haft_local_view(clone.local);
    }
    return clone;
}

/* What a run of the same operations gives: ids, or statuses where there was none. */
struct trail {
    uint64_t seed;
    uint64_t answers[MOST];
    size_t count;
    haft_id ids[CAPACITY];
    size_t live;
};

static void spawn_or_destroy(struct subject *subject, struct trail *trail)
{
    const uint64_t drawn = random_next(&trail->seed);
    const uint64_t object[3] = {drawn, ~drawn, 1};
    haft_id id = HAFT_NIL;
    haft_status status;

    if (drawn % 9 < 5 && trail->live < CAPACITY) {
        status = subject_insert(subject, object, &id);
        if (status == HAFT_OK) {
            trail->ids[trail->live++] = id;
        }
    } else if (trail->live != 0) {
        const size_t at = drawn / 9 % trail->live;

        id = trail->ids[at];
        status = subject_free(subject, id);
        trail->ids[at] = trail->ids[--trail->live];
    } else {
        return;
    }
    trail->answers[trail->count++] = id.bits ^ (uint64_t)status << 56;
}

static void play(struct subject *subject, struct trail *trail, int steps)
{
    for (int i = 0; i < steps; i++) {
        spawn_or_destroy(subject, trail);
    }
}

static void must_be_alike(const struct trail *a, const struct trail *b)
{
    must(a->count == b->count);
    must(memcmp(a->answers, b->answers, a->count * sizeof a->answers[0]) == 0);
}

TEST_ON_EACH_ALONE(snapshot, what_follows_a_rewind_is_what_followed_the_snapshot)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    static struct trail before, first, again;
    AT_END(history_end) haft_history *history;
    uint64_t number;

    before.seed = 7;
    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    play(&subject, &before, 2000);
    assert_status(take(&subject, history, &number), HAFT_OK);
    cr_expect(eq(u64, number, 0));
    first = before;
    play(&subject, &first, 2000);
    assert_status(go(&subject, history, number), HAFT_OK);
    again = before;
    play(&subject, &again, 2000);
    must_be_alike(&first, &again);
}

#define FRAMES 40

TEST_ON_EACH_ALONE(snapshot, each_of_those_kept_can_be_gone_to_in_any_order)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    static struct trail frames[FRAMES + 1], again;
    AT_END(history_end) haft_history *history;
    uint64_t number;
    uint64_t drawn = 5;

    frames[0].seed = 3;
    assert_status(haft_history_open(&(haft_history_options){.keep = 8}, &history), HAFT_OK);
    for (int frame = 0; frame < FRAMES; frame++) {
        assert_status(take(&subject, history, &number), HAFT_OK);
        must(number == (uint64_t)frame);
        frames[frame + 1] = frames[frame];
        play(&subject, &frames[frame + 1], 100);
    }
    const haft_range kept = haft_history_kept(history);

    cr_expect(eq(u64, kept.from, FRAMES - 8));
    cr_expect(eq(u64, kept.to, FRAMES));
    for (int turn = 0; turn < 100; turn++) {
        const uint64_t frame = kept.from + random_next(&drawn) % 8;

        must(go(&subject, history, frame) == HAFT_OK);
        must(subject_live(&subject) == frames[frame].live);
        again = frames[frame];
        play(&subject, &again, 100);
        must_be_alike(&again, &frames[frame + 1]);
    }
    expect_status(go(&subject, history, kept.from - 1), HAFT_OUT_OF_RANGE);
    expect_status(go(&subject, history, kept.to), HAFT_OUT_OF_RANGE);
}

TEST_ON_EACH_ALONE(snapshot, after_a_rewind_the_next_takes_the_place_of_what_came_after)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    static struct trail trail;
    AT_END(history_end) haft_history *history;
    uint64_t number;

    trail.seed = 3;
    assert_status(haft_history_open(&(haft_history_options){.keep = 8}, &history), HAFT_OK);
    for (int frame = 0; frame < 6; frame++) {
        assert_status(take(&subject, history, NULL), HAFT_OK);
        play(&subject, &trail, 50);
    }
    assert_status(go(&subject, history, 2), HAFT_OK);
    assert_status(take(&subject, history, &number), HAFT_OK);
    cr_expect(eq(u64, number, 3));
    cr_expect(eq(u64, haft_history_kept(history).to, 4));
    assert_status(go(&subject, history, 0), HAFT_OK);
    cr_expect(eq(u64, subject_live(&subject), 0));
}

TEST_ON_EACH_ALONE(snapshot, slots_used_later_are_as_new_after_the_rewind)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    AT_END(history_end) haft_history *history;
    haft_id ids[CAPACITY];
    haft_id id;

    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    assert_status(take(&subject, history, NULL), HAFT_OK);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CAPACITY; i++) {
            assert_status(subject_insert(&subject, NULL, &ids[i]), HAFT_OK);
        }
        subject_free_each(&subject, ids, CAPACITY);
    }
    assert_status(go(&subject, history, 0), HAFT_OK);
    for (uint64_t index = HAFT_FIRST_INDEX; index < HAFT_FIRST_INDEX + CAPACITY; index++) {
        expect_status(subject_id_at(&subject, index, &id), HAFT_NEVER_ISSUED);
        cr_expect(eq(u64, haft_id_generation(options.layout, id), 1));
    }
}

TEST_ON_EACH_ALONE(snapshot, a_clone_goes_on_as_its_original)
{
    struct subject subject = subject_open(*kind, &options);
    static struct trail before, one, other;

    before.seed = 11;
    play(&subject, &before, 2000);
    AT_END(subject_close) struct subject clone = clone_of(&subject);

    cr_expect(eq(str, (char *)subject_info(&clone).name, (char *)subject_info(&subject).name));
    one = before;
    other = before;
    play(&subject, &one, 1000);
    subject_close(&subject);
    play(&clone, &other, 1000);
    must_be_alike(&one, &other);
}

/* Calls of each callback; of on_leak the objects. */
struct heard {
    uint64_t bad_accesses, leaks;
};

static void hear_bad_access(const haft_bad_access *access, void *arg)
{
    ((struct heard *)arg)->bad_accesses++;
}

static void hear_leak(const haft_leak *leak, void *arg)
{
    ((struct heard *)arg)->leaks += leak->count;
}

static void *require(const struct subject *subject, haft_id id)
{
    return subject->packed != NULL
               ? haft_packed_require(subject->packed, haft_packed_view(subject->packed), id)
               : haft_local_require(subject->local, subject->view, id);
}

TEST_ON_EACH_ALONE(snapshot, a_clone_has_the_tag_the_sites_and_the_callbacks_of_its_original)
{
    struct heard heard = {0, 0};
    haft_table_options each = options;
    haft_id id;

    each.layout = (haft_layout){16, 6, 8, 0};
    each.tag = 5;
    each.sites = true;
    each.on_leak = hear_leak;
    each.on_bad_access = hear_bad_access;
    each.report_arg = &heard;
    struct subject subject = subject_open(*kind, &each);
    struct subject clone = clone_of(&subject);

    subject_close(&subject);
    for (int i = 0; i < 3; i++) {
        assert_status(subject_insert(&clone, NULL, &id), HAFT_OK);
        cr_expect(eq(u64, haft_id_tag(each.layout, id), 5));
    }
    cr_expect(require(&clone, HAFT_NIL) == NULL);
    subject_close(&clone);
    cr_expect(eq(u64, heard.bad_accesses, 1));
    cr_expect(eq(u64, heard.leaks, 3));
}

Test(snapshot, after_a_rewind_no_object_is_said_to_come_from_another_s_site)
{
    const haft_local_options with_sites = {.capacity = 10, .sites = true};
    haft_history *history;
    AT_END(local_end) haft_local *local = local_open(&with_sites);
    haft_id id;
    char text[512];

    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    haft_local_diagnose_format(local, id, text, sizeof text);
    cr_expect(ne(ptr, strstr(text, "allocated at snapshot_"), NULL), "%s", text);
    assert_status(haft_local_rewind(local, history, 0), HAFT_OK);
    haft_local_diagnose_format(local, id, text, sizeof text);
    cr_expect(ne(ptr, strstr(text, ": live (HAFT_OK)"), NULL), "%s", text);
    cr_expect(eq(ptr, strstr(text, "allocated"), NULL), "%s", text);
    haft_history_close(history);
}

TEST_ON_EACH_ALONE(snapshot, a_history_is_of_one_kind_of_table)
{
    struct subject subject = subject_open(*kind, &options);
    haft_table_options larger = options;
    haft_history *history;

    larger.capacity = 5 * CAPACITY;
    AT_END(subject_close) struct subject other = subject_open(*kind, &larger);

    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    assert_status(take(&subject, history, NULL), HAFT_OK);
    expect_status(take(&other, history, NULL), HAFT_OTHER_TABLE);
    expect_status(go(&other, history, 0), HAFT_OTHER_TABLE);
    haft_history_close(history);
    subject_close(&subject);
}

TEST_ON_EACH_ALONE(snapshot, changes_alone_are_kept)
{
    haft_table_options large = options;
    uint64_t state = 1;
    haft_history *history;

    large.capacity = 60000;
    large.layout = HAFT_LAYOUT_32_32;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &large);
    static haft_id ids[60000];

    subject_insert_each(&subject, ids, 60000);
    assert_status(haft_history_open(&(haft_history_options){.keep = 8}, &history), HAFT_OK);
    assert_status(take(&subject, history, NULL), HAFT_OK);
    const uint64_t copy = haft_history_bytes(history);

    for (int frame = 0; frame < 20; frame++) {
        for (int i = 0; i < 600; i++) {
            ((uint64_t *)subject_find(&subject, ids[random_next(&state) % 60000]))[1]++;
        }
        assert_status(take(&subject, history, NULL), HAFT_OK);
    }
    cr_expect(lt(u64, haft_history_bytes(history), copy + copy * 4 / 10));
    haft_history_close(history);
}

TEST_ON_EACH_ALONE(snapshot, a_history_of_one_keeps_the_last)
{
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    static struct trail frames[6], again;
    AT_END(history_end) haft_history *history;

    frames[0].seed = 11;
    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    for (uint64_t frame = 0; frame < 5; frame++) {
        frames[frame + 1] = frames[frame];
        assert_status(take(&subject, history, NULL), HAFT_OK);
        cr_expect(eq(u64, haft_history_kept(history).from, frame));
        cr_expect(eq(u64, haft_history_kept(history).to, frame + 1));
        play(&subject, &frames[frame + 1], 300);
        assert_status(go(&subject, history, frame), HAFT_OK);
        again = frames[frame];
        play(&subject, &again, 300);
        must_be_alike(&again, &frames[frame + 1]);
        expect_status(go(&subject, history, frame - 1), HAFT_OUT_OF_RANGE);
    }
    assert_status(take(&subject, history, NULL), HAFT_OK);
    const uint64_t copy = haft_history_bytes(history);

    ((uint64_t *)subject_find(&subject, again.ids[0]))[1]++;
    assert_status(take(&subject, history, NULL), HAFT_OK);
    cr_expect(eq(u64, haft_history_bytes(history), copy)); /* no changes to an older one */
}

/* --- a table of one thread with holes --- */

Test(snapshot, reservations_and_loading_are_in_the_way)
{
    AT_END(local_end) haft_local *local = local_open(&(haft_local_options){.capacity = 10});
    haft_local *clone = NULL;
    AT_END(history_end) haft_history *history;
    haft_id id;

    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    assert_status(haft_local_reserve(local, &id, NULL), HAFT_OK);
    expect_status(haft_local_snapshot(local, history, NULL), HAFT_IN_USE);
    expect_status(haft_local_rewind(local, history, 0), HAFT_IN_USE);
    expect_status(haft_local_clone(local, &clone), HAFT_IN_USE);
    haft_local_abort(local, id);
    expect_status(haft_local_rewind(local, history, 0), HAFT_OK);
    haft_local_load_begin(local);
    expect_status(haft_local_snapshot(local, history, NULL), HAFT_LOADING);
    haft_local_load_end(local);
    expect_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
}

struct callback {
    haft_local *local;
    haft_history *history;
    int calls;
};

static void try_inside(void *object, haft_id id, void *arg)
{
    struct callback *callback = arg;
    haft_local *clone;

    callback->calls++;
    expect_status(haft_local_snapshot(callback->local, callback->history, NULL), HAFT_IN_USE);
    expect_status(haft_local_rewind(callback->local, callback->history, 0), HAFT_IN_USE);
    expect_status(haft_local_clone(callback->local, &clone), HAFT_IN_USE);
}

Test(snapshot, callbacks_neither_take_one_nor_run_in_a_rewind)
{
    struct callback callback = {.calls = 0};
    haft_id id;

    callback.local = local_open(
        &(haft_local_options){.capacity = 10, .on_destroy = try_inside, .destroy_arg = &callback});
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &callback.history),
                  HAFT_OK);
    assert_status(haft_local_snapshot(callback.local, callback.history, NULL), HAFT_OK);
    assert_status(haft_local_insert(callback.local, NULL, &id), HAFT_OK);
    assert_status(haft_local_free(callback.local, id), HAFT_OK);
    assert_status(haft_local_insert(callback.local, NULL, &id), HAFT_OK);
    cr_expect(eq(int, callback.calls, 1));
    assert_status(haft_local_rewind(callback.local, callback.history, 0), HAFT_OK);
    cr_expect(eq(int, callback.calls, 1));
    cr_expect(eq(u64, haft_local_count(callback.local), 0));
    haft_local_close(callback.local);
    haft_history_close(callback.history);
}

struct packed_callback {
    haft_packed *packed;
    haft_history *history;
    int calls;
};

static void try_inside_packed(void *object, haft_id id, void *arg)
{
    struct packed_callback *callback = arg;
    haft_file file = {.offset = 0}; /* without functions: no byte is written or read */
    haft_packed *clone;

    callback->calls++;
    expect_status(haft_packed_snapshot(callback->packed, callback->history, NULL), HAFT_IN_USE);
    expect_status(haft_packed_rewind(callback->packed, callback->history, 0), HAFT_IN_USE);
    expect_status(haft_packed_clone(callback->packed, &clone), HAFT_IN_USE);
    expect_status(haft_packed_save(callback->packed, &file), HAFT_IN_USE);
    expect_status(haft_packed_load(callback->packed, &file), HAFT_IN_USE);
}

Test(snapshot, callbacks_of_a_packed_table_take_none)
{
    struct packed_callback callback = {.calls = 0};
    const haft_packed_options packed = {.capacity = 10,
                                        .object_size = 8,
                                        .on_destroy = try_inside_packed,
                                        .destroy_arg = &callback};
    haft_id id;

    assert_status(haft_packed_open(&packed, &callback.packed), HAFT_OK);
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &callback.history),
                  HAFT_OK);
    assert_status(haft_packed_snapshot(callback.packed, callback.history, NULL), HAFT_OK);
    assert_status(haft_packed_insert(callback.packed, NULL, &id), HAFT_OK);
    assert_status(haft_packed_free(callback.packed, id), HAFT_OK);
    cr_expect(eq(int, callback.calls, 1));
    cr_expect(eq(u64, haft_history_kept(callback.history).to, 1));
    haft_packed_close(callback.packed);
    haft_history_close(callback.history);
}

/* An on_end that takes a snapshot of another table, in place of the one to go to. */
struct intruder {
    haft_local *other;
    haft_history *history;
};

static void take_number_again(void *value, haft_id id, void *arg)
{
    struct intruder *intruder = arg;
    uint64_t number;

    assert_status(haft_local_snapshot(intruder->other, intruder->history, &number), HAFT_OK);
    cr_expect(eq(u64, number, 1));
}

Test(snapshot, that_an_on_end_has_replaced_by_another_table_s_is_not_gone_to)
{
    const haft_local_options both = {.capacity = 10, .object_size = 8};
    haft_local *local = local_open(&both);
    struct intruder intruder = {.other = local_open(&both)};
    const haft_side_options side_options = {
        .value_size = 8, .on_end = take_number_again, .end_arg = &intruder};
    haft_side *side;
    haft_id id;

    assert_status(haft_history_open(&(haft_history_options){.keep = 8}, &intruder.history),
                  HAFT_OK);
    for (int n = 0; n < 2; n++) {
        assert_status(haft_local_snapshot(local, intruder.history, NULL), HAFT_OK);
        assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    }
    assert_status(haft_local_rewind(local, intruder.history, 0), HAFT_OK);
    assert_status(haft_side_open_local(local, &side_options, &side), HAFT_OK);
    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    assert_status(haft_side_set(side, id, NULL, NULL), HAFT_OK);
    expect_status(haft_local_rewind(local, intruder.history, 1), HAFT_OUT_OF_RANGE);
    cr_expect(haft_is_live(haft_local_view(local), id));
    haft_side_close(side);
    haft_local_close(local);
    haft_local_close(intruder.other);
    haft_history_close(intruder.history);
}

Test(snapshot, released_runs_are_released_again)
{
    haft_local *local = local_open(&(haft_local_options){.capacity = 20000, .object_size = 24});
    static haft_id ids[20000];
    haft_history *history;
    haft_id first;
    haft_id again;

    assert_status(haft_history_open(&(haft_history_options){.keep = 3}, &history), HAFT_OK);
    local_insert_each(local, ids, 20000);
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    for (int i = 5000; i < 20000; i++) {
        assert_status(haft_local_free(local, ids[i]), HAFT_OK);
    }
    assert_status(haft_local_trim(local, NULL), HAFT_OK);
    const haft_local_stats trimmed = haft_local_stats_get(local);

    cr_assert(lt(u64, 0, trimmed.released));
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    for (int i = 0; i < 9000; i++) {
        assert_status(haft_local_insert(local, NULL, &first), HAFT_OK);
    }
    assert_status(haft_local_rewind(local, history, 0), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 20000));
    cr_expect(eq(u64, haft_local_stats_get(local).released, 0));
    assert_status(haft_local_rewind(local, history, 1), HAFT_OK);
    cr_expect(eq(u64, haft_local_stats_get(local).released, trimmed.released));
    for (int i = 0; i < 9000; i++) {
        assert_status(haft_local_insert(local, NULL, &again), HAFT_OK);
    }
    cr_expect(eq(u64, first.bits, again.bits));
    haft_history_close(history);
    haft_local_close(local);
}

/* Slots lie at the same distance, but runs of pages are others. */
Test(snapshot, another_alignment_is_another_table)
{
    haft_local_options wanted = {.capacity = 20000, .object_size = 24};
    haft_local *local = local_open(&wanted);
    haft_history *history;
    AT_END(local_end) haft_local *other;

    wanted.object_alignment = 32;
    other = local_open(&wanted);
    cr_assert(eq(u64, haft_local_view(local).stride, haft_local_view(other).stride));
    assert_status(haft_history_open(&(haft_history_options){.keep = 3}, &history), HAFT_OK);
    assert_status(haft_local_snapshot(local, history, NULL), HAFT_OK);
    expect_status(haft_local_rewind(other, history, 0), HAFT_OTHER_TABLE);
    haft_history_close(history);
    haft_local_close(local);
}

Test(snapshot, a_history_of_none_is_refused)
{
    haft_history *history;

    expect_status(haft_history_open(&(haft_history_options){.keep = 0}, &history), HAFT_BAD_KEEP);
    expect_status(haft_history_open(&(haft_history_options){.keep = UINT64_MAX}, &history),
                  HAFT_NO_MEMORY);
}

Test(snapshot, a_packed_table_s_dead_objects_come_back_dead)
{
    AT_END(subject_close) struct subject subject = subject_open(KILLED, &options);
    AT_END(history_end) haft_history *history;
    haft_id ids[20];

    subject_insert_each(&subject, ids, 20);
    for (int i = 0; i < 20; i += 3) {
        assert_status(haft_packed_kill(subject.packed, ids[i]), HAFT_OK);
    }
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    assert_status(haft_packed_snapshot(subject.packed, history, NULL), HAFT_OK);
    assert_status(haft_packed_clear(subject.packed), HAFT_OK);
    assert_status(haft_packed_rewind(subject.packed, history, 0), HAFT_OK);
    for (int i = 0; i < 20; i++) {
        const haft_status status = haft_packed_kill(subject.packed, ids[i]);

        cr_expect(eq(int, (int)status, i % 3 == 0 ? HAFT_DEAD : HAFT_OK));
    }
    assert_status(haft_packed_refresh(subject.packed), HAFT_OK);
    cr_expect(haft_packed_is_empty(subject.packed));
}

static void fill_and_free_half(haft_local *local, haft_id ids[20])
{
    local_insert_each(local, ids, 20);
    for (int i = 0; i < 20; i += 2) {
        assert_status(haft_local_free(local, ids[i]), HAFT_OK);
    }
}

/* A table that watches has its list of free slots in another place: from one to the other. */
static void go_on_alike(const haft_local_options *from, const haft_local_options *to)
{
    haft_local *first = local_open(from);
    AT_END(local_end) haft_local *second = local_open(to);
    haft_history *history;
    haft_id ids[2][20];

    assert_status(haft_history_open(&(haft_history_options){.keep = 1}, &history), HAFT_OK);
    fill_and_free_half(first, ids[0]);
    assert_status(haft_local_snapshot(first, history, NULL), HAFT_OK);
    assert_status(haft_local_rewind(second, history, 0), HAFT_OK);
    for (int i = 0; i < 20; i++) {
        const haft_status expected = i < 10 ? HAFT_OK : HAFT_FULL;

        must(haft_local_insert(first, NULL, &ids[0][i]) == expected);
        must(haft_local_insert(second, NULL, &ids[1][i]) == expected);
        cr_expect(i >= 10 || ids[0][i].bits == ids[1][i].bits);
    }
    haft_history_close(history);
    haft_local_close(first);
}

Test(snapshot, of_a_table_that_watches_and_of_one_that_does_not)
{
    const haft_local_options plain = {.capacity = 20};
    const haft_local_options sites = {.capacity = 20, .sites = true};

    go_on_alike(&plain, &sites);
    go_on_alike(&sites, &plain);
}

/* The last byte changes, behind whole blocks or in a part of one, and is brought back. */
static void change_the_last_byte(int kind, uint64_t objects)
{
    const haft_table_options exact = {.capacity = objects, .object_size = 24};
    AT_END(subject_close) struct subject subject = subject_open(kind, &exact);
    AT_END(history_end) haft_history *history;
    uint64_t first, second;
    haft_id id = HAFT_NIL;

    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    for (uint64_t i = 0; i < objects; i++) {
        must(subject_insert(&subject, (const uint64_t[]){1, 2, 3}, &id) == HAFT_OK);
    }
    must(take(&subject, history, &first) == HAFT_OK);
    ((unsigned char *)subject_find(&subject, id))[23] = 0xff;
    must(take(&subject, history, &second) == HAFT_OK);
    must(go(&subject, history, first) == HAFT_OK);
    must(((const unsigned char *)subject_find(&subject, id))[23] == 0);
    must(go(&subject, history, second) == HAFT_OK);
    must(((const unsigned char *)subject_find(&subject, id))[23] == 0xff);
}

TEST_ON_EACH_ALONE(snapshot, the_last_block_of_hundreds_is_kept_whole_or_not)
{
    for (uint64_t objects = 1; objects < 600; objects++) {
        change_the_last_byte(*kind, objects);
    }
}
