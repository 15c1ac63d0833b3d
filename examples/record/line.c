#include "line.h"
#include <string.h>

G_DEFINE_QUARK(record_failure, record_failure)

static bool refuse(struct mistake *mistake, const char *at, const char *what)
{
    *mistake = (struct mistake){at, what};
    return false;
}

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " ");
}

/* --- in front of the call --- */

/* 12:34:56, 12:34:56.789012, 1700000000.123456, 0.000123: a time, not a thread's number. */
static const char *skip_time(const char *at)
{
    const size_t length = strspn(at, "0123456789:.");
    const bool is_time = memchr(at, ':', length) != NULL || memchr(at, '.', length) != NULL;

    return is_time && at[length] == ' ' ? skip_spaces(at + length) : at;
}

static bool take_thread(const char **at, struct line *line, struct mistake *mistake)
{
    const bool bracket = g_str_has_prefix(*at, "[pid ");
    const char *number = bracket ? skip_spaces(*at + strlen("[pid ")) : *at;
    char *end;

    if (!g_ascii_isdigit(*number) || (!bracket && skip_time(*at) != *at)) {
        line->thread = 0;
        return !bracket || refuse(mistake, number, "[pid must be followed by a number");
    }
    line->thread = g_ascii_strtoull(number, &end, 10);
    if (bracket && *end != ']') {
        return refuse(mistake, end, "']' must follow the thread's number");
    }
    end += bracket;
    if (*end != ' ') {
        return refuse(mistake, end, "a space must follow the thread's number");
    }
    *at = skip_spaces(end);
    return true;
}

/* --- the call --- */

/* Behind a string that begins at `at`, or NULL. */
static const char *skip_string(const char *at)
{
    for (at++; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        } else if (*at == '"') {
            return at + 1;
        }
    }
    return NULL;
}

/* Behind "</path>" at `at`, which says what a descriptor is open on; sockets have arrows in it. */
static const char *skip_note(const char *at)
{
    const char *end = strchr(at, '>');

    while (end != NULL && end[-1] == '-') {
        end = strchr(end + 1, '>');
    }
    return end != NULL ? end + 1 : strchr(at, '\0');
}

static bool is_note(const char *text, const char *at)
{
    return *at == '<' && at[1] != '<' && at > text && g_ascii_isdigit(at[-1]);
}

static void add_argument(struct line *line, const char *from, const char *to)
{
    from = skip_spaces(from);
    if (line->argument_count < MOST_ARGUMENTS && (to > from || line->argument_count != 0)) {
        line->arguments[line->argument_count] = from;
        line->argument_lengths[line->argument_count] = to > from ? (size_t)(to - from) : 0;
        line->argument_count++;
    }
}

/*
 * Takes the arguments from behind '(' on.  The ')' that ends them, or where the text ends, in
 * `*end`; NULL, with `mistake` set, if a string does not end.
 */
static bool take_arguments(const char *from, struct line *line, const char **end,
                           struct mistake *mistake)
{
    const char *at = from;
    unsigned depth = 0;

    while (*at != '\0' && !(depth == 0 && *at == ')')) {
        if (*at == '"') {
            const char *behind = skip_string(at);

            if (behind == NULL) {
                return refuse(mistake, at, "the string that begins here does not end");
            }
            at = behind;
            continue;
        }
        if (is_note(from, at)) {
            at = skip_note(at);
            continue;
        }
        if (*at == ',' && depth == 0) {
            add_argument(line, from, at);
            from = at + 1;
        }
        depth += strchr("([{", *at) != NULL;
        depth -= depth != 0 && strchr(")]}", *at) != NULL;
        at++;
    }
    add_argument(line, from, at);
    *end = at;
    return true;
}

static bool take_name(const char *text, struct line *line, struct mistake *mistake)
{
    const size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_?");

    if (length == 0 || text[length] != '(') {
        return refuse(mistake, text + length, "a call must be a name and '('");
    }
    line->name = text;
    line->name_length = length;
    return true;
}

bool line_parse_call(const char *text, struct line *line, struct mistake *mistake)
{
    const char *end;

    line->kind = LINE_CALL;
    line->argument_count = 0;
    if (!take_name(text, line, mistake) ||
        !take_arguments(text + line->name_length + 1, line, &end, mistake)) {
        return false;
    }
    if (*end != ')') {
        return refuse(mistake, end, "the line ends before the call's ')'");
    }
    end = skip_spaces(end + 1);
    if (*end != '=') {
        return refuse(mistake, end, "'=' must follow the call");
    }
    line->result = skip_spaces(end + 1);
    return *line->result != '\0' || refuse(mistake, line->result, "the call's result is missing");
}

static const char unfinished[] = "<unfinished ...>";

static bool parse_begun(const char *text, size_t length, struct line *line, struct mistake *mistake)
{
    const char *end;

    line->kind = LINE_BEGUN;
    line->call = text;
    line->call_length = length;
    if (!take_name(text, line, mistake)) {
        return false;
    }
    char *copy = g_strndup(text, length); /* without the mark at its end */
    const bool taken = take_arguments(copy + line->name_length + 1, line, &end, mistake);

    for (unsigned i = 0; i < line->argument_count; i++) {
        line->arguments[i] = text + (line->arguments[i] - copy);
    }
    if (!taken) {
        mistake->at = text + (mistake->at - copy);
    }
    g_free(copy);
    return taken;
}

static bool parse_resumed(const char *text, struct line *line, struct mistake *mistake)
{
    static const char resumed[] = " resumed>";
    const char *end = strstr(text, resumed);

    if (end == NULL) {
        return refuse(mistake, text, "'resumed>' must follow '<...'");
    }
    line->kind = LINE_RESUMED;
    line->name = text + strlen("<... ");
    line->name_length = (size_t)(end - line->name);
    line->call = end + strlen(resumed);
    line->call_length = strlen(line->call);
    return true;
}

bool line_parse(const char *text, struct line *line, struct mistake *mistake)
{
    const char *at = text;

    *line = (struct line){.kind = LINE_NOTHING};
    if (*text == '\0' || g_str_has_prefix(text, "strace: ")) {
        return true;
    }
    if (!take_thread(&at, line, mistake)) {
        return false;
    }
    at = skip_time(at);
    if (g_str_has_prefix(at, "--- ")) {
        return true;
    }
    if (g_str_has_prefix(at, "+++ ")) {
        line->kind = LINE_ENDED;
        return true;
    }
    if (g_str_has_prefix(at, "<... ")) {
        return parse_resumed(at, line, mistake);
    }
    if (g_str_has_suffix(at, unfinished)) {
        return parse_begun(at, strlen(at) - strlen(unfinished), line, mistake);
    }
    return line_parse_call(at, line, mistake);
}

/* --- questions --- */

bool line_is(const struct line *line, const char *name)
{
    return strlen(name) == line->name_length && memcmp(name, line->name, line->name_length) == 0;
}

bool line_has(const struct line *line, unsigned i, const char *text)
{
    return i < line->argument_count &&
           g_strstr_len(line->arguments[i], (gssize)line->argument_lengths[i], text) != NULL;
}

static int64_t descriptor_at(const char *text, const char **end)
{
    char *behind;

    if (!g_ascii_isdigit(*text)) {
        return -1;
    }
    const int64_t number = g_ascii_strtoll(text, &behind, 10);

    *end = *behind == '<' ? skip_note(behind) : behind; /* -y */
    return number > INT32_MAX || *behind == 'x' ? -1 : number;
}

int64_t line_descriptor(const struct line *line, unsigned i)
{
    const char *end;

    return i < line->argument_count ? descriptor_at(line->arguments[i], &end) : -1;
}

bool line_pair(const struct line *line, unsigned i, int64_t pair[2])
{
    const char *at;

    if (i >= line->argument_count || *line->arguments[i] != '[') {
        return false;
    }
    pair[0] = descriptor_at(line->arguments[i] + 1, &at);
    if (pair[0] < 0 || *at != ',') {
        return false;
    }
    pair[1] = descriptor_at(skip_spaces(at + 1), &at);
    return pair[1] >= 0 && *at == ']';
}

int64_t line_result(const struct line *line)
{
    return g_ascii_isdigit(*line->result) ? g_ascii_strtoll(line->result, NULL, 0) : -1;
}
