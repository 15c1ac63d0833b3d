/* Text forms of ids. */
#include <haft/id.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int haft_id_format(haft_layout layout, haft_id id, char *text, size_t size)
{
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    const uint64_t above = id.bits & ~haft_field_max(width);
    char tag[24] = "";
    char rest[24] = "";

    if (haft_id_is_nil(id)) {
        return snprintf(text, size, "nil");
    }
    if (layout.tag_bits != 0) {
        snprintf(tag, sizeof tag, "t%" PRIu64, haft_id_tag(layout, id));
    }
    if (above != 0) {
        snprintf(rest, sizeof rest, "+0x%" PRIx64, above);
    }
    return snprintf(text, size, "%" PRIu32 "v%" PRIu64 "%s%s", haft_id_index(layout, id),
                    haft_id_generation(layout, id), tag, rest);
}

/* The decimal number at `*text`, which then points behind it; false if none or beyond `max`. */
static bool parse_field(const char **text, uint64_t max, uint64_t *value)
{
    const char *at = *text;

    for (*value = 0; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (digit > max || *value > (max - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    if (at == *text) {
        return false;
    }
    *text = at;
    return true;
}

/* The lower-case hexadecimal number behind "+0x" that is all of the text, or 0 if there is none. */
static bool parse_above(const char *at, uint64_t *value)
{
    *value = 0;
    if (*at == '\0') {
        return true;
    }
    if (at[0] != '+' || at[1] != '0' || at[2] != 'x' || at[3] == '\0') {
        return false;
    }
    for (at += 3; *at != '\0'; at++) {
        const bool decimal = *at >= '0' && *at <= '9';

        if ((!decimal && (*at < 'a' || *at > 'f')) || *value >> 60 != 0) {
            return false;
        }
        *value = *value << 4 | (uint64_t)(decimal ? *at - '0' : *at - 'a' + 10);
    }
    return true;
}

/* The fields as `text` has them; how they are written is looked at later. */
static bool parse_fields(haft_layout layout, const char *text, haft_id *id)
{
    uint64_t index = 0;
    uint64_t generation = 0;
    uint64_t tag = 0;
    uint64_t above = 0;

    if (!parse_field(&text, haft_field_max(layout.index_bits), &index) || *text++ != 'v' ||
        !parse_field(&text, haft_field_max(layout.generation_bits), &generation)) {
        return false;
    }
    if (layout.tag_bits != 0 &&
        (*text++ != 't' || !parse_field(&text, haft_field_max(layout.tag_bits), &tag))) {
        return false;
    }
    if (!parse_above(text, &above)) {
        return false;
    }
    id->bits = haft_id_pack(layout, index, generation, tag).bits | above;
    return true;
}

bool haft_id_parse(haft_layout layout, const char *text, haft_id *id)
{
    haft_id parsed = HAFT_NIL;
    char again[HAFT_ID_TEXT_SIZE];

    if (strcmp(text, "nil") != 0 && !parse_fields(layout, text, &parsed)) {
        return false;
    }
    /* One way to write each id: no leading zeros, no bits of a field above the layout. */
    haft_id_format(layout, parsed, again, sizeof again);
    if (strcmp(text, again) != 0) {
        return false;
    }
    *id = parsed;
    return true;
}
