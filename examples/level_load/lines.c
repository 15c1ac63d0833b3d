#include "lines.h"
#include "failure.h"
#include <stdarg.h>
#include <string.h>

bool lines_refuse(const struct lines *lines, unsigned line, GError **error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fail(error, EXIT_REFUSED, "%s:%u: %s", lines->name, line, message);
    g_free(message);
    return false;
}

bool lines_next(struct lines *lines, GError **error)
{
    const size_t left = (size_t)(lines->end - lines->next);

    lines->number++;
    if (left == 0) {
        return lines_refuse(lines, lines->number, error,
                            "the file ends too early: it is cut short");
    }
    const char *line_end = memchr(lines->next, '\n', left);

    if (line_end == NULL) {
        return lines_refuse(lines, lines->number, error,
                            "the line has no end: the file is cut short");
    }
    const size_t length = (size_t)(line_end - lines->next);
    char *line = g_strndup(lines->next, length);
    const bool is_text = strlen(line) == length;

    g_strfreev(lines->fields);
    lines->fields = g_strsplit(line, " ", 0);
    lines->next = line_end + 1;
    g_free(line);
    return is_text || lines_refuse(lines, lines->number, error, "a byte 0x00 is in the line");
}

bool lines_have(const struct lines *lines, const char *form, GError **error)
{
    char **wanted = g_strsplit(form, " ", 0);
    const guint count = g_strv_length(wanted);

    g_strfreev(wanted);
    return g_strv_length(lines->fields) == count ||
           lines_refuse(lines, lines->number, error, "the line must be \"%s\", and has %u fields",
                        form, g_strv_length(lines->fields));
}

bool lines_number(const struct lines *lines, unsigned field, const char *what, uint64_t *number,
                  GError **error)
{
    const char *text = lines->fields[field];

    /* What JSON and other programs can take. */
    return g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, number, NULL) ||
           lines_refuse(lines, lines->number, error,
                        "%s must be a number from 0 to %" G_GINT64_FORMAT ", not '%s'", what,
                        G_MAXINT64, text);
}

bool lines_id(const struct lines *lines, unsigned field, const char *what, haft_id *id,
              GError **error)
{
    return haft_id_parse(lines->layout, lines->fields[field], id) ||
           lines_refuse(lines, lines->number, error,
                        "%s must be an id, such as 17v3, or nil, not '%s'", what,
                        lines->fields[field]);
}

void lines_clear(struct lines *lines)
{
    g_strfreev(lines->fields);
}
