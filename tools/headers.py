"""Reading the public headers: functions, and the contracts in their comments."""

import re

import source

FIELDS = ("Returns", "Threads", "Ordering", "Progress", "Cost")
COMMENT = re.compile(r"^/\*(.*?)\*/", re.M | re.S)
FUNCTION = re.compile(r"^(?!typedef|struct \w+ \{|#)[\w(][\w ()*]*?[ *](haft_\w+)\(", re.M)
TITLE = re.compile(r"^((?:haft_\w+,\s+)*haft_\w+) - ", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)


def plain(comment):
    """A comment's lines without their stars."""
    return re.sub(r"^ \*(?: |$)", "", comment, flags=re.M).strip()


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def declared(text):
    """The functions of a header, as {name: offset of its first declaration}."""
    code = DIRECTIVE.sub(blank, source.without_comments(text))
    found = {}
    for match in FUNCTION.finditer(code):
        found.setdefault(match.group(1), match.start())
    return found


def fields_of(comment):
    return tuple(re.findall(r"^(%s) {2,}\S" % "|".join(FIELDS), comment, re.M))


def field(comment, name):
    match = re.search(rf"^{name} +(.*)", comment, re.M)
    return match.group(1) if match else ""


def contracts(text):
    """The contracts of a header: (offset, names, comment)."""
    for match in COMMENT.finditer(text):
        comment = plain(match.group(1))
        titles = TITLE.findall(comment)
        if titles:
            yield match.start(), re.split(r",\s+", ", ".join(titles)), comment


def comment_before(text, offset):
    """The comment above, if no blank line lies between."""
    above = [match for match in COMMENT.finditer(text) if match.end() <= offset]
    if not above or "\n\n" in text[above[-1].end() : offset]:
        return ""
    return plain(above[-1].group(1))
