/*
 * What replay asks of haft, and whether the answers are right.
 *
 * An object says which one it is and how often it was used.  Hand-offs order the rows of one
 * object, so that the count needs no atomics and must be exact at every use.
 */
#include "calls.h"
#include "failure.h"
#include "run.h"
#include <inttypes.h>
#include <stdio.h>

enum { SAMPLED = 16, STEPS_TO_CHECK = 16, IDS_PER_SECTION = 64 };

#define CHECK_WORD UINT64_C(0x6861667468616674)

struct object {
    uint64_t check; /* of the two below; inverted when the object has been reclaimed */
    uint64_t repeat;
    uint32_t number;
    uint32_t uses;
};

const size_t check_object_size = sizeof(struct object);

static uint64_t check_word(uint64_t repeat, uint32_t number)
{
    return CHECK_WORD ^ repeat << 32 ^ (repeat + number) * UINT64_C(0x9e3779b97f4a7c15);
}

/* --- complaints --- */

static void complain(struct member *member, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(struct member *member, const char *format, ...)
{
    struct run *run = member->run;
    struct complaints *complaints = &run->complaints;
    va_list arguments;

    member->tally.wrong_answers++;
    va_start(arguments, format);
    pthread_mutex_lock(&run->lock);
    if (complaints->count < MAX_COMPLAINTS) {
        complaints->texts[complaints->count++] = replay_text_of(format, arguments);
    }
    pthread_mutex_unlock(&run->lock);
    va_end(arguments);
}

/* About an id of a live object, on `line` of the trace, or after its last line (0). */
static void complain_of(struct member *member, const struct replay *replay, uint32_t object,
                        uint64_t line, const char *what)
{
    const struct run *run = member->run;
    char text[HAFT_ID_TEXT_SIZE];
    char place[32] = " after the last row";

    if (line != 0) {
        snprintf(place, sizeof place, "%" PRIu64, line);
    }
    haft_id_format(haft_table_info(run->table).layout, replay->ids[object], text, sizeof text);
    complain(member, "%s:%s: object %" PRIu64 " of repeat %" PRIu64 ", id %s: %s", run->trace->path,
             place, run->trace->objects[object].number, replay->number + 1, text, what);
}

static void complain_of_stale(struct member *member, haft_id id, const char *what)
{
    char text[HAFT_ID_TEXT_SIZE];

    haft_id_format(haft_table_info(member->run->table).layout, id, text, sizeof text);
    complain(member, "id %s, whose object was freed: %s", text, what);
}

static bool is_stale(haft_status status)
{
    return status == HAFT_STALE || status == HAFT_EXHAUSTED;
}

/* --- latency --- */

static uint64_t sample_begin(struct member *member)
{
    if (--member->until_sample != 0) {
        return 0;
    }
    member->until_sample = SAMPLED;
    return latency_now();
}

static void sample_end(struct member *member, uint64_t begin)
{
    if (begin != 0) {
        latency_add(&member->tally.latency, latency_now() - begin);
    }
}

/* --- second frees --- */

/*
 * A free with a stale id must be refused.  It must also leave the slot's new object alone: that
 * shows when the new object is used, freed and reclaimed.
 */
static void check_refused(struct member *member, haft_id id)
{
    const haft_status status = call_free(member->worker, id);

    member->tally.refused_frees++;
    if (!is_stale(status)) {
        complain_of_stale(member, id,
                          status == HAFT_OK ? "could be freed again" : haft_status_text(status));
    }
}

/* Where an id is kept, in place of one that was kept there before. */
static haft_id *place_of(struct member *member, haft_id id)
{
    return &member->kept[haft_id_index(haft_table_info(member->run->table).layout, id) % MAX_KEPT];
}

/* Free the object that lived in the new object's slot before, if its id is at hand. */
static void check_former(struct member *member, haft_id id)
{
    const haft_layout layout = haft_table_info(member->run->table).layout;
    const haft_id former = *place_of(member, id);

    if (!haft_id_is_nil(former) && haft_id_index(layout, former) == haft_id_index(layout, id)) {
        check_refused(member, former);
        member->tally.collisions++;
    }
}

/* --- rows --- */

void check_allocate(struct member *member, struct replay *replay, const struct row *row)
{
    const struct object object = {
        .check = check_word(replay->number, row->object),
        .repeat = replay->number,
        .number = row->object,
    };
    haft_id *id = &replay->ids[row->object];

    *id = HAFT_NIL;
    const uint64_t begin = sample_begin(member);
    const haft_status status = call_insert(member->worker, &object, id);

    sample_end(member, begin);
    member->tally.allocations++;
    replay->allocated_by[row->object] = (uint16_t)member->number;
    if (status == HAFT_NO_MEMORY) {
        replay_give_up("no memory for another object");
    }
    if (status != HAFT_OK) {
        complain_of(member, replay, row->object, row->line, haft_status_text(status));
    }
    check_former(member, *id);
}

void check_use(struct member *member, struct replay *replay, const struct row *row)
{
    const haft_id id = replay->ids[row->object];
    const uint64_t begin = sample_begin(member);
    struct object *object = call_resolve(member->run->view, id);

    sample_end(member, begin);
    member->tally.uses++;
    if (object == NULL) {
        complain_of(member, replay, row->object, row->line, "not found");
    } else if (object->check != check_word(replay->number, row->object) ||
               object->repeat != replay->number || object->number != row->object) {
        complain_of(member, replay, row->object, row->line, "leads to another object");
    } else if (object->uses++ != row->uses) {
        complain_of(member, replay, row->object, row->line, "an earlier use has left no trace");
    }
}

static void free_object(struct member *member, struct replay *replay, uint32_t object,
                        uint64_t line)
{
    const haft_id id = replay->ids[object];
    const uint64_t begin = sample_begin(member);
    const haft_status status = call_free(member->worker, id);

    sample_end(member, begin);
    if (status != HAFT_OK) {
        complain_of(member, replay, object, line, haft_status_text(status));
        return;
    }
    member->tally.frees++;
    member->tally.cross_worker_frees += replay->allocated_by[object] != member->number;
    check_refused(member, id);
    *place_of(member, id) = id;
}

void check_free(struct member *member, struct replay *replay, const struct row *row)
{
    free_object(member, replay, row->object, row->line);
}

/* --- stale ids --- */

/* None of these ids may lead to anything. */
static void check_stale(struct member *member, const haft_id *ids, uint32_t count)
{
    const struct run *run = member->run;

    haft_section_begin(run->domain);
    for (uint32_t i = 0; i < count; i++) {
        if (call_resolve(run->view, ids[i]) != NULL) {
            complain_of_stale(member, ids[i], "leads to an object");
        }
        const haft_status status = haft_diagnose(run->table, ids[i]);

        if (!is_stale(status)) {
            complain_of_stale(member, ids[i], haft_status_text(status));
        }
    }
    haft_section_end(run->domain);
    member->tally.stale_checks += count;
}

void check_at_random(struct member *member)
{
    if (--member->until_check != 0) {
        return;
    }
    member->until_check = 1 + member_random(member, STEPS_TO_CHECK);
    const haft_id id = member->kept[member_random(member, MAX_KEPT)];

    if (!haft_id_is_nil(id)) {
        check_stale(member, &id, 1);
        check_refused(member, id);
    }
}

void check_kept(struct member *member, const struct member *other)
{
    for (uint32_t i = 0; i < MAX_KEPT; i++) {
        if (!haft_id_is_nil(other->kept[i])) {
            check_stale(member, &other->kept[i], 1);
        }
    }
}

/* --- the end --- */

void check_end(struct member *member, struct replay *replay)
{
    const struct trace *trace = member->run->trace;

    for (uint32_t i = 0; i < trace->object_count; i++) {
        if (!trace->objects[i].freed) {
            free_object(member, replay, i, 0);
        }
    }
    for (uint32_t i = 0; i < trace->object_count; i += IDS_PER_SECTION) {
        const uint32_t rest = trace->object_count - i;

        check_stale(member, &replay->ids[i], rest < IDS_PER_SECTION ? rest : IDS_PER_SECTION);
    }
}

void check_count(struct member *member, const char *what, uint64_t is, uint64_t should)
{
    if (is != should) {
        complain(member, "at the end: %s: %" PRIu64 ", not %" PRIu64, what, is, should);
    }
}

void check_reclaim(void *bytes, haft_id id, haft_worker *worker, void *arg)
{
    struct object *object = bytes;
    struct member *member = member_of_callback();
    const struct trace *trace = member->run->trace;

    (void)worker;
    (void)arg;
    member->tally.reclaimed++;
    if (object->check != check_word(object->repeat, object->number)) {
        complain_of_stale(member, id, "reclaimed twice, or overwritten");
    } else if (object->uses != trace->objects[object->number].uses) {
        complain_of_stale(member, id, "reclaimed before its last use");
    } else if (haft_is_live(member->run->view, id)) {
        complain_of_stale(member, id, "live while it is reclaimed");
    }
    object->check = ~object->check;
}
