/*
 * Every link is live, and from the root as many objects are reached as there are, each as a child
 * of the parent that it names.  It names one, so none is reached twice, but by a list of siblings
 * that leads back into itself.
 */
#include "links.h"
#include "failure.h"
#include <inttypes.h>

struct links {
    struct level *level;
    const struct lines *lines;
    GHashTable *line_of_slot;
    uint64_t reached;
    GError **error;
};

static bool refuse(const struct links *links, haft_id at, const char *what, haft_id link,
                   const char *why)
{
    const haft_layout layout = links->lines->layout;
    const gpointer slot = GUINT_TO_POINTER(haft_id_index(layout, at));
    char text[HAFT_ID_TEXT_SIZE];

    haft_id_format(layout, link, text, sizeof text);
    return lines_refuse(links->lines,
                        GPOINTER_TO_UINT(g_hash_table_lookup(links->line_of_slot, slot)),
                        links->error, "%s, %s: %s", what, text, why);
}

/* A link that may be nil and else must be live. */
static bool check_link(const struct links *links, haft_id at, const char *what, haft_id link)
{
    const haft_status status = haft_local_diagnose(links->level->local, link);

    return status == HAFT_OK || status == HAFT_NO_ID ||
           refuse(links, at, what, link, haft_status_text(status));
}

static bool check_object(const struct links *links, haft_id id, const struct object *object)
{
    const bool is_root = haft_id_equal(id, links->level->root);
    const struct object *parent = level_get(links->level, object->parent);

    if (!check_link(links, id, "the parent", object->parent) ||
        !check_link(links, id, "the next sibling", object->next) ||
        !check_link(links, id, "the first child", object->child)) {
        return false;
    }
    if (is_root) {
        return (parent == NULL && haft_id_is_nil(object->next)) ||
               refuse(links, id, "the root", id, "it must have no parent and no sibling");
    }
    return (parent != NULL && parent->kind == A_FOLDER) ||
           refuse(links, id, "the parent", object->parent, "it must be a folder");
}

static bool visit(haft_id id, void *object, void *arg)
{
    return check_object(arg, id, object);
}

/* Adds those of the children that are folders to `folders`. */
static bool reach_children(struct links *links, haft_id id, GArray *folders)
{
    const struct level *level = links->level;
    haft_id at = level_get(level, id)->child;
    const struct object *child;

    for (; (child = level_get(level, at)) != NULL; at = child->next) {
        if (!haft_id_equal(child->parent, id)) {
            return refuse(links, at, "the parent", child->parent,
                          "another folder has this one among its children");
        }
        if (++links->reached > haft_local_count(level->local)) {
            return refuse(links, id, "the folder", id, "its children are linked in a loop");
        }
        if (child->kind == A_FOLDER) {
            g_array_append_val(folders, at);
        }
    }
    return true;
}

static bool reach_all(struct links *links)
{
    GArray *folders = g_array_new(FALSE, FALSE, sizeof(haft_id));
    const uint64_t count = haft_local_count(links->level->local);
    bool right = true;

    g_array_append_val(folders, links->level->root);
    for (guint i = 0; i < folders->len && right; i++) {
        right = reach_children(links, g_array_index(folders, haft_id, i), folders);
    }
    g_array_unref(folders);
    return right && (links->reached == count ||
                     lines_refuse(links->lines, 3, links->error,
                                  "%" PRIu64 " of the objects are not reached from the root",
                                  count - links->reached));
}

bool links_check(struct level *level, const struct lines *lines, GHashTable *line_of_slot,
                 GError **error)
{
    struct links links = {level, lines, line_of_slot, 1, error};
    const haft_status status = haft_local_diagnose(level->local, level->root);

    if (status != HAFT_OK || level_get(level, level->root)->kind != A_FOLDER) {
        return lines_refuse(lines, 2, error, "the root: %s",
                            status != HAFT_OK ? haft_status_text(status) : "it must be a folder");
    }
    haft_local_for_each(level->local, visit, &links);
    return *error == NULL && reach_all(&links);
}
