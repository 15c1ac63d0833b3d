#include "report.h"
#include "examples/screen/text.h"
#include "failure.h"
#include "largest.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* The path of an object in UTF-8, without what would confuse a terminal. */
static char *shown_path(const struct level *level, haft_id id)
{
    GString *path = g_string_new(NULL);

    level_path(haft_local_view(level->local), id, path);
    char *shown = g_utf8_make_valid(path->str, (gssize)path->len);

    for (char *at = shown; *at != '\0'; at++) {
        *at = g_ascii_iscntrl(*at) ? '?' : *at;
    }
    g_string_free(path, TRUE);
    return shown;
}

/* --- for people --- */

static void print_census(struct level *level, const struct result *result)
{
    const struct census *census = &result->census;
    const struct object *root = level_get(level, level->root);
    char *path = shown_path(level, level->root);

    printf("%s\n", path);
    printf("  %s file%s in %s folder%s, %s, %s line%s\n", grouped(census->files),
           plural(census->files), grouped(census->folders), plural(census->folders),
           byte_count(root->bytes), grouped(root->lines), plural(root->lines));
    if (result->skipped != 0) {
        printf("  %s link%s and the like skipped\n", grouped(result->skipped),
               plural(result->skipped));
    }
    g_free(path);
}

static void print_unreadable(const struct options *options, struct level *level, enum kind kind,
                             uint64_t count)
{
    GArray *ids = unreadable_of(level, kind, options->top);

    if (count != 0) {
        printf("\n%s %s%s could not be read\n", grouped(count),
               kind == A_FOLDER ? "folder" : "file", plural(count));
    }
    for (guint i = 0; i < ids->len; i++) {
        char *path = shown_path(level, g_array_index(ids, haft_id, i));

        printf("  %s\n", path);
        g_free(path);
    }
    if (count > ids->len && ids->len != 0) {
        printf("  ... and %s more\n", grouped(count - ids->len));
    }
    g_array_unref(ids);
}

static void print_largest(const struct options *options, struct level *level, enum kind kind)
{
    GArray *ids = largest_of(level, kind, options->top);

    if (ids->len != 0) {
        printf("\nLargest %s\n", kind == A_FOLDER ? "folders" : "files");
    }
    for (guint i = 0; i < ids->len; i++) {
        const haft_id id = g_array_index(ids, haft_id, i);
        const struct object *object = level_get(level, id);
        char *path = shown_path(level, id);

        printf("  %9s  %12s line%-1s", byte_count(object->bytes), grouped(object->lines),
               plural(object->lines));
        if (kind == A_FOLDER) {
            printf("  %9s file%-1s", grouped(object->files), plural(object->files));
        }
        printf("  %s\n", path);
        g_free(path);
    }
    g_array_unref(ids);
}

static void print_times(const struct options *options, const struct level *level,
                        const struct result *result)
{
    const uint64_t objects = haft_local_count(level->local);
    const guint freed = level->freed->len;

    printf("\nLevel\n");
    if (options->tree != NULL) {
        printf("  %9s  to read the tree into %s object%s\n", duration(result->walk_ns),
               grouped(objects), plural(objects));
        printf("  %9s  shared by %u worker%s, %s clock\n", duration(result->shared_ns),
               options->workers, plural(options->workers), options->clock_name);
    } else {
        printf("  %9s  object%s from %s\n", grouped(objects), plural(objects), options->load_path);
    }
    printf("  %9s  to save %s %s%s\n", duration(result->save_ns), byte_count(result->saved_bytes),
           options->save_path != NULL ? "in " : "of text in memory",
           options->save_path != NULL ? options->save_path : "");
    printf("  %9s  to load it again; all ids held, %s freed id%s %s stale\n",
           duration(result->load_ns), grouped(freed), plural(freed), freed == 1 ? "was" : "were");
}

void report_print(const struct options *options, struct level *level, const struct result *result)
{
    const unsigned wrong = wrong_answers();

    print_census(level, result);
    print_unreadable(options, level, A_FOLDER, result->census.unreadable_folders);
    print_unreadable(options, level, A_FILE, result->census.unreadable_files);
    print_largest(options, level, A_FILE);
    print_largest(options, level, A_FOLDER);
    if (wrong == 0) {
        print_times(options, level, result);
        printf("\nAll answers were right.\n");
    } else {
        printf("\n%s answer%s WRONG.\n", grouped(wrong), wrong == 1 ? " was" : "s were");
    }
}

/* --- for programs --- */

static void set(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_ms(json_t *object, const char *key, uint64_t ns)
{
    json_object_set_new(object, key, json_real((double)(ns / 1000) / 1000));
}

static void set_path(json_t *object, const struct level *level, haft_id id)
{
    char *path = shown_path(level, id);

    json_object_set_new(object, "path", json_string(path));
    g_free(path);
}

static json_t *largest_as_json(const struct options *options, struct level *level, enum kind kind)
{
    GArray *ids = largest_of(level, kind, options->top);
    json_t *array = json_array();

    for (guint i = 0; i < ids->len; i++) {
        const haft_id id = g_array_index(ids, haft_id, i);
        const struct object *object = level_get(level, id);
        json_t *entry = json_object();

        set_path(entry, level, id);
        set(entry, "bytes", object->bytes);
        set(entry, "lines", object->lines);
        if (kind == A_FOLDER) {
            set(entry, "files", object->files);
        }
        json_array_append_new(array, entry);
    }
    g_array_unref(ids);
    return array;
}

static void set_census(json_t *object, const struct level *level, const struct result *result)
{
    const struct object *root = level_get(level, level->root);

    set(object, "files", result->census.files);
    set(object, "folders", result->census.folders);
    set(object, "bytes", root->bytes);
    set(object, "lines", root->lines);
    set(object, "unreadable_files", result->census.unreadable_files);
    set(object, "unreadable_folders", result->census.unreadable_folders);
}

/* What only a run on a tree has. */
static void set_run(json_t *object, const struct options *options, const struct result *result)
{
    set(object, "skipped", result->skipped);
    set(object, "workers", options->workers);
    json_object_set_new(object, "clock", json_string(options->clock_name));
    set_ms(object, "walk_ms", result->walk_ns);
    set_ms(object, "shared_ms", result->shared_ns);
}

void report_print_json(const struct options *options, struct level *level,
                       const struct result *result)
{
    json_t *object = json_object();

    set_path(object, level, level->root);
    set_census(object, level, result);
    if (options->tree != NULL) {
        set_run(object, options, result);
    }
    set_ms(object, "save_ms", result->save_ns);
    set_ms(object, "load_ms", result->load_ns);
    set(object, "saved_bytes", result->saved_bytes);
    set(object, "stale_ids", level->freed->len);
    set(object, "wrong_answers", wrong_answers());
    json_object_set_new(object, "largest_files", largest_as_json(options, level, A_FILE));
    json_object_set_new(object, "largest_folders", largest_as_json(options, level, A_FOLDER));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));

    puts(text);
    free(text);
    json_decref(object);
}
