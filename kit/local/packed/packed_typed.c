/* Whether packed tables and types fit each other. */
#include <haft/kit/typed.h>

haft_status haft_type_fits_packed(haft_type type, haft_dense_view view)
{
    const bool is_aligned =
        (uintptr_t)view.objects % type.alignment == 0 && view.object_size % type.alignment == 0;

    return view.object_size == type.size && is_aligned ? HAFT_OK : HAFT_WRONG_TYPE;
}
