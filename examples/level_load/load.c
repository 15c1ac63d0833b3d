#include "failure.h"
#include "lines.h"
#include "links.h"
#include "saved.h"
#include <haft/kit/restore.h>
#include <inttypes.h>
#include <string.h>

struct loading {
    struct lines lines;
    struct level *level;
    GHashTable *line_of_slot;
};

/* --- a record --- */

/* No slot may come twice: restoring would only notice if both hold objects. */
static bool take_slot(struct loading *loading, haft_id *id, GError **error)
{
    const struct lines *lines = &loading->lines;

    if (!lines_id(lines, 1, "the slot's id", id, error)) {
        return false;
    }
    const gpointer slot = GUINT_TO_POINTER(haft_id_index(lines->layout, *id));
    const unsigned before = GPOINTER_TO_UINT(g_hash_table_lookup(loading->line_of_slot, slot));

    if (before != 0) {
        return lines_refuse(lines, lines->number, error, "slot %u is on line %u as well",
                            GPOINTER_TO_UINT(slot), before);
    }
    g_hash_table_insert(loading->line_of_slot, slot, GUINT_TO_POINTER(lines->number));
    return true;
}

static bool take_name(struct loading *loading, unsigned field, struct object *object,
                      GError **error)
{
    const struct lines *lines = &loading->lines;
    char *name = g_uri_unescape_string(lines->fields[field], NULL);

    if (name == NULL || *name == '\0') {
        g_free(name);
        return lines_refuse(lines, lines->number, error, "'%s' is not a name in URI escapes",
                            lines->fields[field]);
    }
    if (strchr(name, '/') != NULL && !haft_id_is_nil(object->parent)) {
        g_free(name);
        return lines_refuse(lines, lines->number, error, "the name '%s' has a '/' in it",
                            lines->fields[field]);
    }
    object->name = haft_arena_strdup(loading->level->names, name);
    g_free(name);
    return object->name != NULL || fail(error, EXIT_SYSTEM, "no memory for names");
}

static bool parse_fields(struct loading *loading, struct object *object, GError **error)
{
    const struct lines *lines = &loading->lines;

    if (!lines_have(lines,
                    object->kind == A_FOLDER ? "folder ID PARENT NEXT CHILD NAME"
                                             : "file ID PARENT NEXT BYTES LINES NAME",
                    error) ||
        !lines_id(lines, 2, "the parent", &object->parent, error) ||
        !lines_id(lines, 3, "the next sibling", &object->next, error)) {
        return false;
    }
    if (object->kind == A_FOLDER) {
        return lines_id(lines, 4, "the first child", &object->child, error) &&
               take_name(loading, 5, object, error);
    }
    return lines_number(lines, 4, "bytes", &object->bytes, error) &&
           lines_number(lines, 5, "lines", &object->lines, error) &&
           take_name(loading, 6, object, error);
}

static bool restored(struct loading *loading, haft_status status, GError **error)
{
    const struct lines *lines = &loading->lines;

    return status == HAFT_OK || lines_refuse(lines, lines->number, error, "slot %s: %s",
                                             lines->fields[1], haft_status_text(status));
}

static bool restore_object(struct loading *loading, struct object *object, GError **error)
{
    haft_id id;

    return parse_fields(loading, object, error) && take_slot(loading, &id, error) &&
           restored(loading, haft_local_restore(loading->level->local, id, object), error);
}

/* The life before the next one has ended; of one before the first there is nothing to keep. */
static void keep_last_id(struct loading *loading, haft_id next)
{
    const haft_layout layout = loading->lines.layout;
    const uint64_t generation = haft_id_generation(layout, next);
    const haft_id last = haft_id_pack(layout, haft_id_index(layout, next), generation - 1, 0);

    if (generation > 1) {
        g_array_append_val(loading->level->freed, last);
    }
}

static bool restore_free(struct loading *loading, GError **error)
{
    haft_id next;

    if (!lines_have(&loading->lines, "free ID", error) || !take_slot(loading, &next, error) ||
        !restored(loading, haft_local_restore_free(loading->level->local, next), error)) {
        return false;
    }
    keep_last_id(loading, next);
    return true;
}

static bool restore_slot(struct loading *loading, GError **error)
{
    const char *kind = loading->lines.fields[0];
    struct object object = {.kind = A_FILE};

    if (kind == NULL) {
        return lines_refuse(&loading->lines, loading->lines.number, error, "the line is empty");
    }
    if (g_str_equal(kind, "free")) {
        return restore_free(loading, error);
    }
    if (g_str_has_prefix(kind, "unreadable-")) {
        object.unreadable = true;
        kind += strlen("unreadable-");
    }
    object.kind = g_str_equal(kind, "folder") ? A_FOLDER : A_FILE;
    if (object.kind == A_FILE && !g_str_equal(kind, "file")) {
        return lines_refuse(&loading->lines, loading->lines.number, error,
                            "a slot must be a folder, a file or free, not '%s'", kind);
    }
    return restore_object(loading, &object, error);
}

/* --- the whole file --- */

/* A line that is a word and a field. */
static bool expect_line(struct lines *lines, const char *word, GError **error)
{
    if (!lines_next(lines, error)) {
        return false;
    }
    return (g_strv_length(lines->fields) == 2 && g_str_equal(lines->fields[0], word)) ||
           lines_refuse(lines, lines->number, error, "the line must begin with \"%s \"%s", word,
                        lines->number == 1 ? ": this is not a saved level" : "");
}

static bool parse_head(struct loading *loading, uint64_t *slots, GError **error)
{
    struct lines *lines = &loading->lines;
    uint64_t version;

    if (!expect_line(lines, "haft-level", error) ||
        !lines_number(lines, 1, "the version", &version, error)) {
        return false;
    }
    if (version != SAVED_VERSION) {
        return lines_refuse(lines, lines->number, error,
                            "version %" PRIu64 " of the format; only version %d is understood",
                            version, SAVED_VERSION);
    }
    return expect_line(lines, "root", error) &&
           lines_id(lines, 1, "the root", &loading->level->root, error) &&
           expect_line(lines, "slots", error) &&
           lines_number(lines, 1, "the number of slots", slots, error);
}

static bool parse_slots(struct loading *loading, uint64_t slots, GError **error)
{
    struct lines *lines = &loading->lines;

    while (slots-- > 0) {
        if (!lines_next(lines, error) || !restore_slot(loading, error)) {
            return false;
        }
    }
    return lines->next == lines->end ||
           lines_refuse(lines, lines->number + 1, error, "there are more slots than line 3 says");
}

static bool parse_all(struct loading *loading, GError **error)
{
    uint64_t slots;

    if (!parse_head(loading, &slots, error)) {
        return false;
    }
    haft_local_load_begin(loading->level->local);
    const bool parsed = parse_slots(loading, slots, error);

    haft_local_load_end(loading->level->local);
    return parsed && links_check(loading->level, &loading->lines, loading->line_of_slot, error);
}

bool level_parse(const char *name, const char *text, size_t length, struct level *level,
                 GError **error)
{
    struct loading loading = {.lines = {.name = name, .next = text, .end = text + length}};

    if (!level_open(level, error)) {
        return false;
    }
    loading.level = level;
    loading.lines.layout = haft_local_info(level->local).layout;
    loading.line_of_slot = g_hash_table_new(NULL, NULL);
    const bool parsed = parse_all(&loading, error);

    g_hash_table_unref(loading.line_of_slot);
    lines_clear(&loading.lines);
    if (!parsed) {
        level_close(level);
        return false;
    }
    level_add_totals(level);
    return true;
}

bool level_read(const char *path, struct level *level, GError **error)
{
    GError *reason = NULL;
    char *text;
    gsize length;

    if (!g_file_get_contents(path, &text, &length, &reason)) {
        fail(error, EXIT_REFUSED, "cannot load: %s", reason->message);
        g_error_free(reason);
        return false;
    }
    const bool parsed = level_parse(path, text, length, level, error);

    g_free(text);
    return parsed;
}
