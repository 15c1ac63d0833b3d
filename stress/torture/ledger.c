/* What the program itself knows about each slot of a table; see ledger.h. */
#include "stress/torture/play.h"

/* A note is a count of the moment, and the low bits of the generation that it is about. */
#define NOTE_BITS 44
#define NOTE_MASK ((UINT64_C(1) << NOTE_BITS) - 1)
#define LIFE_MASK (UINT64_MAX >> NOTE_BITS)

static uint64_t freed_note(uint64_t generation, uint64_t count)
{
    return (generation & LIFE_MASK) << NOTE_BITS | (count & NOTE_MASK);
}

static bool is_note_of(uint64_t note, uint64_t generation)
{
    return note != 0 && note >> NOTE_BITS == (generation & LIFE_MASK);
}

/* How far the count has gone on since. */
static uint64_t since(uint64_t note, uint64_t count)
{
    return (count - note) & NOTE_MASK;
}

/* Each life has a higher generation; where they wrap, the next one. */
static bool may_follow(const struct play *play, const struct subject *subject, uint64_t issued,
                       uint64_t generation)
{
    if (!has_habit(play, WRAPS)) {
        return generation > issued;
    }
    return generation == issued % haft_field_max(subject->layout.generation_bits) + 1;
}

struct place *ledger_take(const struct play *play, struct subject *subject, haft_id id)
{
    struct place *place = place_of(subject, id);
    const uint64_t generation = haft_id_generation(subject->layout, id);
    const uint64_t before = swap(&place->tenant, id.bits);
    const uint64_t issued = swap(&place->issued, generation);

    if (before != 0 && peek(&place->intent) != before) {
        broken(play, "id %llx was handed out while %llx had its slot", (unsigned long long)id.bits,
               (unsigned long long)before);
    }
    if (!may_follow(play, subject, issued, generation)) {
        broken(play, "id %llx was issued after generation %llu of its slot",
               (unsigned long long)id.bits, (unsigned long long)issued);
    }
    if (has_habit(play, WRAPS)) {
        add(&place->lives, 1);
        poke(&place->freed, 0); /* the note of a lap ago has the same generation */
        poke(&place->freed_count, 0);
    }
    return place;
}

/* Ids of one slot rise with its generations: one from long ago must not take the place of a new. */
void ledger_intend(struct subject *subject, haft_id id)
{
    shared_u64 *intent = &place_of(subject, id)->intent;
    uint64_t before = peek(intent);

    while (before < id.bits && !replace(intent, before, id.bits)) {
        before = peek(intent);
    }
}

void ledger_give(const struct play *play, struct subject *subject, haft_id id, bool in_section)
{
    const bool was_tenant = replace(&place_of(subject, id)->tenant, id.bits, 0);

    if (!was_tenant && in_section) {
        broken(play, "id %llx was freed, and its slot handed out in the same section",
               (unsigned long long)id.bits);
    }
}

void ledger_note_freed(const struct play *play, struct subject *subject, haft_id id)
{
    struct place *place = place_of(subject, id);
    const uint64_t generation = haft_id_generation(subject->layout, id);
    const uint64_t frees = add(&subject->freed, 1);

    replace(&place->board, id.bits, 0);
    poke(&place->freed_count, freed_note(generation, frees));
    poke(&place->freed, freed_note(generation, grace_periods(play)));
}

bool ledger_age(const struct play *play, struct subject *subject, haft_id id, uint64_t *periods,
                uint64_t *frees)
{
    struct place *place = place_of(subject, id);
    const uint64_t generation = haft_id_generation(subject->layout, id);
    const uint64_t freed = peek(&place->freed);
    const uint64_t freed_count = peek(&place->freed_count);

    if (!is_note_of(freed, generation)) {
        return false;
    }
    *periods = since(freed, grace_periods(play));
    *frees = is_note_of(freed_count, generation) ? since(freed_count, peek(&subject->freed)) : 0;
    return true;
}

haft_id ledger_pick(struct subject *subject, struct chance *chance)
{
    const haft_id id = {peek(&subject->places[draw_below(chance, subject->slots)].board)};

    return id;
}
