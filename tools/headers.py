"""The public headers: functions, the contracts in their comments, and what a contract must have."""

import re

import source

FIELDS = ("Returns", "Threads", "Ordering", "Progress", "Cost")
COMMENT = re.compile(r"^/\*(.*?)\*/", re.M | re.S)
FUNCTION = re.compile(r"^(?!typedef|struct \w+ \{|#)[\w(][\w ()*]*?[ *](haft_\w+)\(", re.M)
TITLE = re.compile(r"^((?:haft_\w+,\s+)*haft_\w+) - ", re.M)
PROGRESS = re.compile(r"wait-free|lock-free|blocking|as ")
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


def contracts(text):
    """The contracts of a header: (offset, names, comment)."""
    for match in COMMENT.finditer(text):
        comment = plain(match.group(1))
        titles = TITLE.findall(comment)
        if titles:
            yield match.start(), re.split(r",\s+", ", ".join(titles)), comment


def parts_of(comment):
    """A contract as {"summary": text, "Returns": text, ...}: lines joined where they are not a list."""
    parts = re.split(r"^(%s) {2,}" % "|".join(FIELDS), comment, flags=re.M)
    pairs = zip(["summary", *parts[1::2]], [parts[0].split(" - ", 1)[-1], *parts[2::2]])
    return {name: re.sub(r"^ {10}", "", said.strip(), flags=re.M) for name, said in pairs}


def defaults_of(text):
    """What the functions of a header promise unless they say otherwise: {field: lines}."""
    found = COMMENT.search(text)
    head = plain(found.group(1)) if found else ""
    return {name: match.group() for name in FIELDS
            if (match := re.search(rf"^{name} {{2,}}.*(?:\n {{10}}.*)*", head, re.M))}


def with_failure(own, default):
    """What a function returns, with the header's sentence on calls that fail, unless it has its own."""
    sentence = re.search(r"After a status.*", default, re.S)
    if sentence and re.match(r"Returns +HAFT_OK", own) and "Otherwise" not in own:
        return f"{own}\n{' ' * 10}{squeezed(sentence.group())}"
    return own


def completed(comment, defaults):
    """A contract with the fields that it leaves to its header."""
    own = {name: match.group() for name in FIELDS
           if (match := re.search(rf"^{name} {{2,}}\S.*(?:\n(?: {{10}}.*|(?=\n {{10}})))*", comment, re.M))}
    first = min((comment.index(each) for each in own.values()), default=len(comment))
    if "Returns" in own:
        own["Returns"] = with_failure(own["Returns"], defaults.get("Returns", ""))
    fields = [own.get(name) or defaults.get(name) for name in FIELDS]
    return "\n".join([comment[:first].rstrip() + "\n", *(each for each in fields if each)])


def whole_contracts(text):
    """(names, comment with all fields) of each contract of a header but the header's own comment."""
    defaults = defaults_of(text)
    for offset, names, comment in contracts(text):
        if offset != 0:
            yield names, completed(comment, defaults)


def comment_before(text, offset):
    """The comment above, if no blank line lies between."""
    above = [match for match in COMMENT.finditer(text) if match.end() <= offset]
    if not above or "\n\n" in text[above[-1].end() : offset]:
        return ""
    return plain(above[-1].group(1))


def squeezed(said):
    return re.sub(r"\s+", " ", said)


def _problems_of_fields(name, comment, defaults):
    fields = fields_of(comment)
    if list(fields) != [each for each in FIELDS if each in fields]:
        yield f"{name}: has {', '.join(fields)}"
    parts = parts_of(comment)
    for each in fields:
        if each in defaults and squeezed(f"{each} {parts[each]}") == squeezed(defaults[each]):
            yield f"{name}: {each} is what the header says: leave it out"
    if "Progress" in parts and not PROGRESS.match(parts["Progress"]):
        yield f"{name}: progress is wait-free, lock-free, blocking, or that of another"


def _problems_of_contracts(text, functions, defaults):
    for offset, names, comment in contracts(text):
        if offset == 0 or not set(names) & functions.keys():
            continue
        for name in names:
            if name not in functions:
                yield offset, f"{name}: no such function"
        for problem in _problems_of_fields(names[0], comment, defaults):
            yield offset, problem


def problems(text):
    """(offset, problem): a header that has functions and not the defaults of all fields, a function without a
    comment, a contract whose fields are out of order or repeat the defaults."""
    functions = declared(text)
    defaults = defaults_of(text)
    named = {name for _, names, _ in contracts(text) for name in names}
    if functions and tuple(defaults) != FIELDS:
        yield 0, f"its functions have defaults for {', '.join(defaults) or 'no field'} only"
    yield from _problems_of_contracts(text, functions, defaults)
    for name, offset in functions.items():
        if name not in named and not comment_before(text, offset):
            yield offset, f"{name}: no contract"
