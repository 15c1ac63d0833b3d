#include "top/live.h"
#include "examples/screen/terminal.h"
#include "top/page.h"
#include "top/screen.h"
#include <unistd.h>

static void append_all(GString *text, const GPtrArray *messages)
{
    for (guint i = 0; i < messages->len; i++) {
        char *shown = harmless(g_ptr_array_index(messages, i));

        g_string_append_printf(text, "%s\n", shown);
        g_free(shown);
    }
}

static void show_page(const struct options *options, const struct finding *finding,
                      struct page *page)
{
    GString *text = g_string_new(NULL);

    page_put(text, page, finding, terminal_columns(STDOUT_FILENO));
    if (finding->running->len == 0) {
        g_string_append_printf(text, "no running process exports to %s\n", options->directory);
    }
    append_all(text, finding->notes);
    append_all(text, finding->malformed);
    screen_show(text->str, screen_has_keys() ? "q quits, ? explains" : "Ctrl-C quits");
    g_string_free(text, TRUE);
}

static void show_help(void)
{
    char *text = g_strconcat("q           quits\n"
                             "?           shows this; any key goes back\n\n",
                             page_legend, NULL);

    screen_show(text, "q quits, any other key goes back");
    g_free(text);
}

static uint64_t now_ms(void)
{
    return (uint64_t)g_get_monotonic_time() / 1000;
}

/* A key, or KEY_NONE when it is time or the terminal has changed. */
static int wait_until(uint64_t ms)
{
    const uint64_t now = now_ms();

    return screen_wait(ms > now ? ms - now : 0);
}

bool show_live(const struct options *options, struct finding *finding, GError **error)
{
    uint64_t next_look = now_ms() + options->interval_ms;
    bool found = true, explains = false;
    int key = KEY_NONE;
    struct page page;

    page_init(&page);
    screen_begin();
    while (found && key != KEY_END && key != 'q') {
        if (explains) {
            show_help();
        } else {
            show_page(options, finding, &page);
        }
        key = wait_until(next_look);
        if (key != KEY_NONE) {
            explains = key == '?' && !explains;
        }
        if (now_ms() >= next_look) {
            found = find_exports(finding, options->directory, options->process, error);
            next_look = now_ms() + options->interval_ms;
        }
    }
    screen_end();
    return found;
}
