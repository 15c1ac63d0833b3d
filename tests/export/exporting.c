/* What the tests of exports share. */
#include "tests/export/exporting.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char directory[64];

void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/haft_export_test.XXXXXX");
    cr_assert(ne(ptr, mkdtemp(directory), NULL));
}

void remove_directory(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert(eq(int, system(command), 0));
}

haft_export *open_export(void)
{
    haft_export *opened;

    assert_status(
        haft_export_open(&(haft_export_options){.directory = directory, .interval_ms = NEVER},
                         &opened),
        HAFT_OK);
    return opened;
}

void export_end(haft_export **opened)
{
    haft_export_close(*opened);
}

haft_status try_open(const char *where, uint64_t interval_ms)
{
    haft_export *const untouched = (haft_export *)directory;
    haft_export *opened = untouched;
    const haft_status status = haft_export_open(
        &(haft_export_options){.directory = where, .interval_ms = interval_ms}, &opened);

    if (status == HAFT_OK) {
        haft_export_close(opened);
    } else {
        cr_expect(eq(ptr, opened, untouched));
    }
    return status;
}

json_t *read_file(const haft_export *opened)
{
    json_error_t error;
    json_t *root = json_load_file(haft_export_path(opened), 0, &error);

    cr_assert(ne(ptr, root, NULL), "%s", error.text);
    return root;
}

json_t *snapshot(haft_export *opened)
{
    assert_status(haft_export_write(opened), HAFT_OK);
    return read_file(opened);
}

uint64_t number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    const bool is_number = json_is_integer(value);

    cr_assert(is_number, "%s", key);
    return (uint64_t)json_integer_value(value);
}

unsigned files_in_directory(void)
{
    DIR *listing = opendir(directory);
    unsigned count = 0;

    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(listing);
    return count;
}
