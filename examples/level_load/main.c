/* level_load - a tree of files as a level: loaded by one thread, shared, saved, loaded again. */
#include "examples/screen/output.h"
#include "failure.h"
#include "options.h"
#include "report.h"
#include "saved.h"
#include "verify.h"
#include "walk.h"
#include "work.h"
#include <haft/domain.h>
#include <haft/share.h>
#include <stdio.h>

static uint64_t since(gint64 begin)
{
    return (uint64_t)(g_get_monotonic_time() - begin) * 1000;
}

/* Share the level, have all files measured by jobs, take the level back. */
static bool measure(const struct options *options, struct level *level, GError **error)
{
    const struct census census = level_census(level);
    haft_domain *domain;
    haft_table *table;
    haft_status status = haft_domain_open(&options->clock, &domain);

    if (status != HAFT_OK) {
        return fail(error, EXIT_SYSTEM, "cannot open a domain: %s", haft_status_text(status));
    }
    haft_thread_register(domain);
    status = haft_share(level->local, domain, NULL, &table);
    bool done = status == HAFT_OK;

    if (done) {
        level->local = NULL; /* used up; all ids hold */
        done = work(&(struct workload){table, options->workers, census.files, level->freed}, error);

        status = haft_unshare(table, &level->local);
        if (status != HAFT_OK) {
            give_up("the level cannot be taken back: %s", haft_status_text(status));
        }
    } else {
        fail(error, EXIT_SYSTEM, "the level cannot be shared: %s", haft_status_text(status));
    }
    haft_thread_unregister(domain);
    check(haft_domain_close(domain) == HAFT_OK, "the domain cannot be closed");
    return done;
}

/* Load the tree by one thread; have it measured by many; add up by one. */
static bool load_tree(const struct options *options, struct level *level, struct result *result,
                      GError **error)
{
    if (!level_open(level, error)) {
        return false;
    }
    gint64 begin = g_get_monotonic_time();
    bool done = walk_tree(options->tree, level, &result->skipped, error);

    result->walk_ns = since(begin);
    if (done) {
        const uint64_t objects = haft_local_count(level->local);

        begin = g_get_monotonic_time();
        done = measure(options, level, error);
        result->shared_ns = since(begin);
        if (done && haft_local_count(level->local) != objects) {
            done = fail(error, EXIT_WRONG, "the shared level has gained or lost objects");
        }
    }
    if (done) {
        level_add_totals(level);
    } else {
        level_close(level);
    }
    return done;
}

/* Save the level, load it again, and compare. */
static bool save_and_load(const struct options *options, struct level *level, struct result *result,
                          GError **error)
{
    gint64 begin = g_get_monotonic_time();
    GString *text = level_format(level);
    bool done = options->save_path == NULL || level_write(options->save_path, text, error);
    struct level again;

    result->saved_bytes = text->len;
    result->save_ns = since(begin);
    begin = g_get_monotonic_time();
    if (done && options->save_path != NULL) {
        done = level_read(options->save_path, &again, error);
    } else if (done) {
        done = level_parse("saved in memory", text->str, text->len, &again, error);
    }
    result->load_ns = since(begin);
    if (!done && (*error)->code == EXIT_REFUSED) {
        (*error)->code = EXIT_WRONG; /* the file just saved must be acceptable */
    }
    if (done) {
        verify_same(level, &again);
        verify_stale(level, &again);
        level_close(&again);
    }
    g_string_free(text, TRUE);
    return done;
}

static bool run(const struct options *options, GError **error)
{
    struct result result = {.skipped = 0};
    struct level level;
    const bool loaded = options->load_path != NULL ? level_read(options->load_path, &level, error)
                                                   : load_tree(options, &level, &result, error);

    if (!loaded) {
        return false;
    }
    result.census = level_census(&level);
    const bool done = save_and_load(options, &level, &result, error);

    if (done && options->json) {
        report_print_json(options, &level, &result);
    } else if (done) {
        report_print(options, &level, &result);
    }
    level_close(&level);
    return done;
}

int main(int argc, char **argv)
{
    struct options options;
    GError *error = NULL;
    int code = EXIT_RIGHT;

    if (!options_parse(&options, argc, argv, &error) || !run(&options, &error)) {
        fprintf(stderr, "level_load: %s\n", error->message);
        code = error->code;
        g_error_free(error);
    }
    options_clear(&options);
    if (code == EXIT_RIGHT && wrong_answers() != 0) {
        code = EXIT_WRONG;
    }
    return end_output("level_load", code, EXIT_SYSTEM);
}
