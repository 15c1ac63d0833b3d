/* Whether tables and types fit each other. */
#include <haft/typed.h>

haft_status haft_type_complete(haft_type type, size_t *object_size, size_t *object_alignment,
                               bool *pins)
{
    if (*object_size != 0 && *object_size != type.size) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if (*object_alignment != 0 && *object_alignment != type.alignment) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    if (*pins && !type.has_pins) {
        return HAFT_BAD_PINS;
    }
    *object_size = type.size;
    *object_alignment = type.alignment;
    *pins = type.has_pins;
    return HAFT_OK;
}

/* Whether objects that lie `stride` apart, one of them at `object`, are aligned for the type. */
static bool is_aligned(haft_type type, const void *object, uint64_t stride)
{
    return (uintptr_t)object % type.alignment == 0 && stride % type.alignment == 0;
}

haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool has_pins)
{
    return object_size == type.size && has_pins == type.has_pins && view.stride == type.slot_size &&
                   is_aligned(type, view.base + sizeof(uint64_t), view.stride)
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}
