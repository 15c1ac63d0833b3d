/* Which thread runs next, and which store a load reads. */
#include "stress/explorer/choice.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include <stdio.h>
#include <stdlib.h>

#define MOST_CHANGES 16
#define STALE_ONE_IN 4 /* loads that could read an older store and do, in random schedules */

struct decision {
    uint8_t answer;
    uint8_t count;
};

static struct choice_options options;
static struct decision decisions[MOST_STEPS];
static uint64_t count;     /* decisions of this schedule */
static uint64_t planned;   /* of them answered in advance: exhaustive and replay */
static uint64_t contested; /* points of this schedule at which there was a choice of threads */
static uint64_t longest;   /* the most of them in a schedule, until now */
static uint32_t preemptions;
static uint32_t stale_reads;

/* random */
static uint64_t chance;
static int64_t priorities[MOST_SCHEDULED];
static int64_t lowest;
static uint64_t changes[MOST_CHANGES];

static uint64_t draw(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (chance * UINT64_C(0x2545F4914F6CDD1D)) >> 16;
}

/* --- texts --- */

/* The next "place:answer" of a schedule's text; false at its end. */
static bool next_answer(const char **text, uint64_t *place, uint8_t *answer)
{
    char *end;

    if (**text == '\0') {
        return false;
    }
    *place = strtoull(*text, &end, 10);
    if (end == *text || *end != ':' || *place >= MOST_STEPS) {
        usage_error("a schedule is written as 17:1,42:2, not", *text);
    }
    *answer = (uint8_t)strtoul(end + 1, &end, 10);
    *text = *end == ',' ? end + 1 : end;
    return true;
}

static void plan_replay(void)
{
    const char *text = options.replay;
    uint64_t place;
    uint8_t answer;

    while (next_answer(&text, &place, &answer)) {
        decisions[place].answer = answer;
        planned = place + 1;
    }
}

void choice_text(char *text, uint32_t size)
{
    uint32_t used = 0;

    text[0] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        if (decisions[i].answer == 0) {
            continue;
        }
        const int length = snprintf(text + used, size - used, "%s%llu:%u", used == 0 ? "" : ",",
                                    (unsigned long long)i, decisions[i].answer);
        if (used + (uint32_t)length + 4 > size) {
            snprintf(text + used, size - used, "...");
            return;
        }
        used += (uint32_t)length;
    }
}

/* --- schedules --- */

void choice_open(const struct choice_options *chosen)
{
    options = *chosen;
    planned = 0;
    longest = 50;
    if (options.mode == CHOICE_REPLAY) {
        plan_replay();
    }
}

static void draw_priorities(uint64_t schedule)
{
    chance = (options.seed + schedule + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    for (int i = 0; i < 8; i++) {
        draw();
    }
    for (int i = 0; i < MOST_SCHEDULED; i++) {
        priorities[i] = (int64_t)(draw() % 1000000) + 1;
    }
    for (uint32_t i = 0; i + 1 < options.depth && i < MOST_CHANGES; i++) {
        changes[i] = draw() % longest;
    }
    lowest = 0;
}

void choice_begin(uint64_t schedule)
{
    count = 0;
    contested = 0;
    preemptions = 0;
    stale_reads = 0;
    if (options.mode == CHOICE_RANDOM) {
        draw_priorities(schedule);
    }
}

/* The next path through the tree: the last decision that has another answer gets it. */
static bool plan_next(void)
{
    for (uint64_t i = count; i != 0; i--) {
        if (decisions[i - 1].answer + 1 < decisions[i - 1].count) {
            decisions[i - 1].answer++;
            planned = i;
            return true;
        }
    }
    return false;
}

bool choice_end(void)
{
    longest = contested > longest ? contested : longest;
    return options.mode == CHOICE_RANDOM || (options.mode == CHOICE_EXHAUSTIVE && plan_next());
}

uint64_t choice_decisions(void)
{
    return count;
}

uint64_t choice_fingerprint(void)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (uint64_t i = 0; i < count; i++) {
        hash = (hash ^ decisions[i].answer) * UINT64_C(0x100000001B3);
    }
    return hash ^ count;
}

/* --- decisions --- */

/* The answer that was planned, or 0: record the decision, with what other answers cost. */
static uint32_t follow_plan(uint32_t answers, bool is_preemption, bool is_stale_read)
{
    struct decision *decision = &decisions[count];
    const bool affordable = (!is_preemption || preemptions < options.preemptions) &&
                            (!is_stale_read || stale_reads < options.stale_reads);

    if (count >= planned) {
        decision->answer = 0;
    } else if (decision->answer >= answers) {
        violation("the schedule does not fit: decision %llu has %u answers",
                  (unsigned long long)count, answers);
    }
    decision->count = (uint8_t)(affordable ? answers : 1);
    count++;
    if (decision->answer != 0) {
        preemptions += is_preemption;
        stale_reads += is_stale_read;
    }
    return decision->answer;
}

static uint32_t record(uint32_t answer)
{
    decisions[count].answer = (uint8_t)answer;
    count++;
    return answer;
}

static uint32_t by_priority(const uint32_t *threads, uint32_t answers)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < answers; i++) {
        if (priorities[threads[i]] > priorities[threads[best]]) {
            best = i;
        }
    }
    return best;
}

/* At a change point, and by chance where it yields, the thread that runs becomes the lowest. */
static void change_priorities(enum choice_reason reason)
{
    bool falls = reason == CHOICE_YIELD && draw() % 2 == 0;

    for (uint32_t i = 0; i + 1 < options.depth && i < MOST_CHANGES; i++) {
        falls = falls || changes[i] == contested;
    }
    if (falls) {
        priorities[schedule_self()] = --lowest;
    }
    contested++;
}

static void check_room(void)
{
    if (count == MOST_STEPS) {
        violation("live-lock: %u decisions and no end", MOST_STEPS);
    }
}

uint32_t choice_of_thread(const uint32_t *threads, uint32_t answers, enum choice_reason reason)
{
    check_room();
    if (answers == 1) {
        return 0;
    }
    if (options.mode == CHOICE_RANDOM) {
        change_priorities(reason);
        return record(by_priority(threads, answers));
    }
    return follow_plan(answers, reason != CHOICE_ENDED, false);
}

uint32_t choice_of_store(uint32_t answers)
{
    check_room();
    if (answers == 1 || options.stale_reads == 0) {
        return 0;
    }
    if (options.mode == CHOICE_RANDOM) {
        return record(draw() % STALE_ONE_IN == 0 ? (uint32_t)(draw() % answers) : 0);
    }
    return follow_plan(answers, false, true);
}
