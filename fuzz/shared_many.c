/* Many ids in one call of the shared table, and scans. */
#include "fuzz/play.h"
#include <haft/domain.h>
#include <haft/scan.h>
#include <haft/table.h>
#include <stdlib.h>
#include <string.h>

#define MOST 160
#define MOST_PARTS 5

/* The values of objects inserted together follow one another. */
static void *objects_from(const struct play *play, uint64_t value, size_t count)
{
    const size_t size = play->setup.object_size;
    char *objects = malloc(count * size + 1);

    for (size_t i = 0; i < count; i++) {
        memcpy(objects + i * size, object_bytes(play, value + i), size);
    }
    return objects;
}

static size_t count_from(const struct play *play)
{
    return play->now.y % (play->now.x & 32 ? MOST : 8u);
}

void shared_insert_many(struct play *play)
{
    haft_worker *worker = shared_worker(play);
    const size_t count = count_from(play);
    const uint64_t value = play->model.next_value + 1;
    haft_status why = HAFT_STATUS_COUNT;
    haft_id ids[MOST];

    if (worker == NULL || play->depth != 0) {
        return;
    }
    play->budget = 0; /* the model learns of the new ids when all are there */
    play->model.next_value += count;
    void *objects = objects_from(play, value, count);
    const size_t inserted = haft_insert_many(worker, objects, ids, count, &why);

    free(objects);
    tell(play, "insert_many %zu: %zu, %s", count, inserted, haft_status_name(why));
    must_be(inserted <= count && (inserted == count) == (why == HAFT_OK), "why, if not all");
    for (size_t i = 0; i < inserted; i++) {
        shared_took(play, ids[i]);
        shared_came_to_life(play, ids[i], value + i);
    }
    if (inserted < count) {
        shared_check_refusal(play, why, false);
    }
}

/* Live ids, stale ones, and some twice. */
void shared_free_many(struct play *play)
{
    haft_worker *worker = shared_worker(play);
    const size_t count = count_from(play);
    const struct operation now = play->now;
    haft_status statuses[MOST];
    haft_id ids[MOST];
    size_t expected = 0;

    if (worker == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        play->now.x = (uint8_t)(i % 8 == 7 ? now.x + i : now.x % 16 < 8 ? 0 : 6);
        play->now.y = (uint16_t)(now.y + i);
        ids[i] = i % 16 == 15 ? ids[i - 1] : play_id(play);
    }
    play->now = now;
    const size_t freed = haft_free_many(worker, ids, count, statuses);

    tell(play, "free_many %zu: %zu", count, freed);
    for (size_t i = 0; i < count; i++) {
        play_must_diagnose(play, ids[i], statuses[i], "free_many");
        if (statuses[i] == HAFT_OK) {
            shared_retire(play, ids[i], false);
            expected++;
        }
    }
    must_equal(freed, expected, "objects freed");
}

/* --- scans --- */

struct scanned {
    struct play *play;
    uint64_t next; /* index */
};

static bool visit(haft_id id, void *object, void *arg)
{
    struct scanned *scanned = arg;
    struct model *model = &scanned->play->model;
    const uint64_t index = haft_id_index(model->layout, id);

    must_be(model_is_live(model, id), "what is visited is live");
    must_be(index >= scanned->next, "objects come in order of index, once");
    for (uint64_t i = scanned->next; i < index; i++) {
        must_be(model->slots[i].state != LIVE, "a scan leaves nothing out");
    }
    scanned->next = index + 1;
    play_check_object(scanned->play, id, object);
    return true;
}

void shared_scan(struct play *play)
{
    const size_t parts = 1 + play->now.x % MOST_PARTS;
    struct scanned scanned = {play, HAFT_FIRST_INDEX};
    haft_range ranges[MOST_PARTS];
    uint64_t visited = 0;

    if (play->depth != 0) {
        return;
    }
    const bool entered = shared_enter(play);

    haft_scan_ranges(play->table, ranges, parts);
    for (size_t i = 0; i < parts; i++) {
        visited +=
            haft_scan(play->table, parts == 1 ? HAFT_EVERYTHING : ranges[i], visit, &scanned);
    }
    shared_leave(play, entered);
    tell(play, "scan in %zu parts: %llu", parts, (unsigned long long)visited);
    must_equal(visited, play->model.counts[LIVE], "objects scanned");
}
