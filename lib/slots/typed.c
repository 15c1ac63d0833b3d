/* Whether tables and types fit each other. */
#include <assert.h>
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

haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool has_pins)
{
    const uintptr_t object = (uintptr_t)view.base + sizeof(uint64_t);

    assert(type.slot_size % type.alignment == 0 && "as sizeof says it: one aligned, all are");
    return object_size == type.size && has_pins == type.has_pins && view.stride == type.slot_size &&
                   object % type.alignment == 0
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}
