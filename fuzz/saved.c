/*
 * Any bytes for a saved level: it is refused with a reason; or saving and loading it gives the
 * same again.
 */
#include "examples/level_load/saved.h"
#include "fuzz/target.h"
#include <stdio.h>

static bool telling;

void target_tell(void)
{
    telling = true;
}

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s\n", what);
        target_differs();
    }
}

/* The level, saved, and closed; its slots are counted. */
static GString *save_and_close(struct level *level, uint64_t *live)
{
    GString *text = level_format(level);

    *live = haft_local_count(level->local);
    for (guint i = 0; i < level->freed->len; i++) {
        must(!haft_is_live(haft_local_view(level->local), g_array_index(level->freed, haft_id, i)),
             "an id of the past is live");
    }
    level_close(level);
    return text;
}

static void check_saved_again(const GString *text, uint64_t live)
{
    struct level level;
    uint64_t live_again;
    GError *error = NULL;

    if (!level_parse("again", text->str, text->len, &level, &error)) {
        fprintf(stderr, "%s\n", error->message);
        must(false, "the saved file cannot be loaded");
    }
    GString *again = save_and_close(&level, &live_again);

    must(live_again == live, "objects");
    must(g_string_equal(text, again), "what is saved again");
    g_string_free(again, TRUE);
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    struct level level;
    GError *error = NULL;
    uint64_t live = 0;

    if (level_parse("input", (const char *)data, size, &level, &error)) {
        GString *text = save_and_close(&level, &live);

        must(error == NULL, "a level and an error");
        check_saved_again(text, live);
        g_string_free(text, TRUE);
    } else {
        must(error != NULL, "neither a level nor an error");
        if (telling) {
            fprintf(stderr, "%s\n", error->message);
        }
        g_error_free(error);
    }
    return live + 1;
}
