/*
 * haft/id.h - the id: what names an object instead of a pointer.
 *
 *   63                                                         0
 *   +----------+-----+------------------+----------------------+
 *   |  zeros   | tag |    generation    |        index         |
 *   +----------+-----+------------------+----------------------+
 *
 * The widths are a table's layout.  The index says which slot, the generation which of the
 * slot's lives, the tag (constant for a table) which table.  All tables use this one format.
 *
 * Indices 0 to 3 are never issued: in the slots they are marks.  So HAFT_NIL, which is all
 * zeros, names nothing in any table.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_ID_H
#define HAFT_ID_H

#include <haft/detail/inline.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_id {
    uint64_t bits;
} haft_id;

#ifdef __cplusplus
#define HAFT_NIL (haft_id{0})
#else
#define HAFT_NIL ((haft_id){0})
#endif

/* Field widths in bits.  index_bits 3 to 32, generation_bits 1 to 60, together at most 64. */
typedef struct haft_layout {
    uint8_t index_bits;
    uint8_t generation_bits;
    uint8_t tag_bits;
    uint8_t reserved; /* 0 */
} haft_layout;

#ifdef __cplusplus
#define HAFT_LAYOUT_OF(index, generation, tag) (haft_layout{index, generation, tag, 0})
#else
#define HAFT_LAYOUT_OF(index, generation, tag) ((haft_layout){index, generation, tag, 0})
#endif

#define HAFT_LAYOUT_32_32 HAFT_LAYOUT_OF(32, 32, 0)   /* the default */
#define HAFT_LAYOUT_32_24_8 HAFT_LAYOUT_OF(32, 24, 8) /* 256 tables told apart for certain */
#define HAFT_LAYOUT_20_12 HAFT_LAYOUT_OF(20, 12, 0)   /* ids fit 32 bits: many slots */
#define HAFT_LAYOUT_16_16 HAFT_LAYOUT_OF(16, 16, 0)   /* ids fit 32 bits: many lives */

/* The lowest index a table issues; those below are marks. */
#define HAFT_FIRST_INDEX 4u

/* Bytes that the longest text form needs, with its final zero. */
#define HAFT_ID_TEXT_SIZE 48

/* Whether the widths are in range, and `reserved` is 0. */
HAFT_INLINE bool haft_layout_is_valid(haft_layout layout)
{
    return layout.index_bits >= 3 && layout.index_bits <= 32 && layout.generation_bits >= 1 &&
           layout.generation_bits <= 60 &&
           layout.index_bits + layout.generation_bits + layout.tag_bits <= 64 &&
           layout.reserved == 0;
}

/* Not for programs: the largest value of a field `bits` wide, 0 to 64. */
HAFT_INLINE uint64_t haft_field_max(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* Not for programs: the field `bits` wide that begins at bit `shift`; 0 for a width of 0. */
HAFT_INLINE uint64_t haft_field_get(haft_id id, unsigned shift, unsigned bits)
{
    return bits == 0 ? 0 : (id.bits >> shift) & haft_field_max(bits);
}

/* Whether it is HAFT_NIL. */
HAFT_INLINE bool haft_id_is_nil(haft_id id)
{
    return id.bits == 0;
}

/* Whether two ids are the same: of the same life of the same slot. */
HAFT_INLINE bool haft_id_equal(haft_id a, haft_id b)
{
    return a.bits == b.bits;
}

/*
 * The id with these fields.  Returns HAFT_NIL if a field does not fit its width: nothing ever
 * spills into the field beside it.
 */
HAFT_INLINE haft_id haft_id_pack(haft_layout layout, uint64_t index, uint64_t generation,
                                 uint64_t tag)
{
    const unsigned above = HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits;
    haft_id id = HAFT_NIL;

    if (index > haft_field_max(layout.index_bits) ||
        generation > haft_field_max(layout.generation_bits) ||
        tag > haft_field_max(layout.tag_bits)) {
        return id;
    }
    id.bits = index | generation << layout.index_bits;
    if (layout.tag_bits != 0) {
        id.bits |= tag << above;
    }
    return id;
}

/* The slot's number. */
HAFT_INLINE uint32_t haft_id_index(haft_layout layout, haft_id id)
{
    return HAFT_CAST(uint32_t, haft_field_get(id, 0, layout.index_bits));
}

/* The slot's place, from 0 on: for an array beside a table.  Of HAFT_NIL: 2^32 - 4. */
HAFT_INLINE uint32_t haft_id_dense_index(haft_layout layout, haft_id id)
{
    return haft_id_index(layout, id) - HAFT_FIRST_INDEX;
}

/* Which of the slot's lives. */
HAFT_INLINE uint64_t haft_id_generation(haft_layout layout, haft_id id)
{
    return haft_field_get(id, layout.index_bits, layout.generation_bits);
}

/* The table's constant bits; 0 in a layout without tag. */
HAFT_INLINE uint64_t haft_id_tag(haft_layout layout, haft_id id)
{
    return haft_field_get(id, HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits,
                          layout.tag_bits);
}

/*
 * The id in 32 bits, for layouts whose widths add up to at most 32.  Returns 0, the nil id, if the
 * layout is wider or `id` has bits above it: an id that is not this layout's stays dead.
 */
HAFT_INLINE uint32_t haft_id_to_u32(haft_layout layout, haft_id id)
{
    const unsigned width =
        HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits + layout.tag_bits;

    return width <= 32 && id.bits <= haft_field_max(width) ? HAFT_CAST(uint32_t, id.bits) : 0;
}

/* The id that haft_id_to_u32() gave `bits` for. */
HAFT_INLINE haft_id haft_id_from_u32(uint32_t bits)
{
    haft_id id = HAFT_NIL;

    id.bits = bits;
    return id;
}

/*
 * haft_id_format - an id as text for logs: "17v3" is index 17, generation 3; "17v3t5" has tag 5;
 * "nil"; bits above the layout are appended as "+0x...".
 *
 * Returns   the number of characters without the final zero, as snprintf does: more than size - 1
 *           means that the text was cut.  HAFT_ID_TEXT_SIZE bytes always suffice.
 * Cost      one snprintf.
 */
int haft_id_format(haft_layout layout, haft_id id, char *text, size_t size);

/*
 * haft_id_parse - the id that haft_id_format() wrote as `text`.
 *
 * Returns   true, with the id in `*id`.  False, leaving `*id` alone, if the text is not exactly of
 *           that form or a field does not fit the layout.
 * Cost      O(length of the text).
 */
bool haft_id_parse(haft_layout layout, const char *text, haft_id *id);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_ID_H */
