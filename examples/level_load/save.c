#include "failure.h"
#include "saved.h"
#include <haft/kit/restore.h>
#include <inttypes.h>

static void append_id(GString *text, haft_layout layout, haft_id id)
{
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(layout, id, id_text, sizeof id_text);
    g_string_append_printf(text, " %s", id_text);
}

struct writing {
    GString *text;
    haft_layout layout;
    uint64_t slots;
};

static void append_object(struct writing *to, haft_id id, const struct object *object)
{
    g_string_append(to->text, object->unreadable ? "unreadable-" : "");
    g_string_append(to->text, object->kind == A_FOLDER ? "folder" : "file");
    append_id(to->text, to->layout, id);
    append_id(to->text, to->layout, object->parent);
    append_id(to->text, to->layout, object->next);
    if (object->kind == A_FOLDER) {
        append_id(to->text, to->layout, object->child);
    } else {
        g_string_append_printf(to->text, " %" PRIu64 " %" PRIu64, object->bytes, object->lines);
    }
    g_string_append_c(to->text, ' ');
    g_string_append_uri_escaped(to->text, object->name, "/+,:;=@!$&'()*[]", TRUE);
}

static bool append_slot(haft_id id, void *object, void *arg)
{
    struct writing *to = arg;

    to->slots++;
    if (object != NULL) {
        append_object(to, id, object);
    } else {
        g_string_append(to->text, "free");
        append_id(to->text, to->layout, id);
    }
    g_string_append_c(to->text, '\n');
    return true;
}

GString *level_format(struct level *level)
{
    struct writing slots = {g_string_new(NULL), haft_local_info(level->local).layout, 0};
    GString *text = g_string_new(NULL);

    haft_local_for_each_slot(level->local, append_slot, &slots);
    g_string_append_printf(text, "haft-level %d\nroot", SAVED_VERSION);
    append_id(text, slots.layout, level->root);
    g_string_append_printf(text, "\nslots %" PRIu64 "\n", slots.slots);
    g_string_append_len(text, slots.text->str, (gssize)slots.text->len);
    g_string_free(slots.text, TRUE);
    return text;
}

bool level_write(const char *path, const GString *text, GError **error)
{
    GError *reason = NULL;

    /* It writes a file beside the old one and renames it. */
    if (g_file_set_contents(path, text->str, (gssize)text->len, &reason)) {
        return true;
    }
    fail(error, EXIT_SYSTEM, "cannot save: %s", reason->message);
    g_error_free(reason);
    return false;
}
