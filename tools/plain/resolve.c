/* What a program that resolves ids gets from haft/view.h, for tools/no_cost. */
#include <haft/view.h>

void *resolve(haft_view view, haft_id id);
bool is_live(haft_view view, haft_id id);

void *resolve(haft_view view, haft_id id)
{
    return haft_resolve(view, id);
}

bool is_live(haft_view view, haft_id id)
{
    return haft_is_live(view, id);
}
