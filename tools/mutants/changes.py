"""The single small changes that a source file allows, one token or one statement each.

libclang says where functions and statements are, and what the tokens are.  The replaced text keeps
its line breaks, so that the lines of all else stay where they were.  Asserts stay as they are: no
correct program meets what they forbid.
"""

import ctypes
import dataclasses
import hashlib
import re
import sys

import clang.cindex as clang

import plan

sys.path.append(str(plan.ROOT / "tools"))
import source as sources  # noqa: E402

KINDS = ("relation", "constant", "negation", "removal", "swap", "return")
PARSED = ["-xc", "-std=c11", "-D_GNU_SOURCE"]
# The atomic operations themselves, no headers to be read alone: --operations has mutants of them.
PARTS = {"lib/base/atomics_direct.h", "lib/base/atomics_hooked.h"}
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
INTEGER = re.compile(r"(0[xX])?([0-9a-fA-F]+?)([uUlL]*)$")
WORDS = {"if", "while", "for", "switch", "return", "sizeof", "_Alignof", "alignof", "defined"}
UNCHANGED = {"assert", "static_assert", "_Static_assert"}
LABELLED = {clang.CursorKind.CASE_STMT, clang.CursorKind.DEFAULT_STMT, clang.CursorKind.LABEL_STMT}
REMOVED = {clang.CursorKind.BREAK_STMT, clang.CursorKind.CONTINUE_STMT}
OPEN, CLOSED = {"(", "[", "{"}, {")", "]", "}"}


@dataclasses.dataclass(frozen=True)
class Change:
    path: str
    function: str
    body: tuple  # its span in the file's text
    place: int  # where its statement begins, before which another may stand
    kind: str
    span: tuple
    text: str  # what takes its place
    line: int
    before: str  # the lines that it is in, their blanks made one
    after: str

    @property
    def key(self):
        """What it is judged by: lines and files move."""
        return self.function, self.before, self.after

    @property
    def name(self):
        digest = hashlib.sha256("\n".join((self.path, *self.key)).encode()).hexdigest()
        return f"{self.function}.{self.kind}.{digest[:6]}"

    def of(self, source):
        """The file's text with the change."""
        begin, end = self.span
        return source[:begin] + self.text + source[end:]


class UnreadableError(Exception):
    """A file that libclang does not understand."""


@dataclasses.dataclass(frozen=True)
class Token:
    text: str
    begin: int
    end: int


def _offset(location):
    """In the file, also where a macro's argument is."""
    offset = ctypes.c_uint()
    clang.conf.lib.clang_getFileLocation(location, None, None, None, ctypes.byref(offset))
    return offset.value


def _parse(path, root, source):
    unit = clang.Index.create().parse(path, args=[*PARSED, f"-I{root}/include", "-iquote", str(root)],
                                      unsaved_files=[(path, source)])
    wrong = [each for each in unit.diagnostics if each.severity >= clang.Diagnostic.Error]
    if wrong:
        raise UnreadableError(f"{path}: {wrong[0].spelling}")
    return unit


def _functions(unit, path):
    """Yields (name, body) of those that the file defines."""
    for cursor in unit.cursor.get_children():
        if cursor.kind == clang.CursorKind.FUNCTION_DECL and cursor.is_definition() \
                and cursor.location.file.name == path:
            *_, body = cursor.get_children()
            yield cursor.spelling, body


def _tokens(unit, source):
    """Those of the file, without comments and without lines for the preprocessor."""
    directives = [match.span() for match in re.finditer(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", source, re.M)]
    for token in unit.get_tokens(extent=unit.cursor.extent):
        begin, end = token.extent.start.offset, token.extent.end.offset
        if token.kind != clang.TokenKind.COMMENT and \
                not any(first <= begin < last for first, last in directives):
            yield Token(token.spelling, begin, end)


def _closing(tokens, place):
    """Where the bracket is closed that opens at `place`."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += (tokens[at].text in OPEN) - (tokens[at].text in CLOSED)
        if depth == 0:
            return at
    raise UnreadableError("a bracket that is not closed")


def _parts(tokens, first, last, separator):
    """(begin, end) of what stands between separators, from token `first` to before `last`."""
    depth, begin = 0, first
    for at in range(first, last + 1):
        if at == last or (depth == 0 and tokens[at].text == separator):
            yield (tokens[begin].begin, tokens[at - 1].end) if at > begin else None
            begin = at + 1
        else:
            depth += (tokens[at].text in OPEN) - (tokens[at].text in CLOSED)


def _without_asserts(tokens):
    kept, at = [], 0
    while at < len(tokens):
        if tokens[at].text in UNCHANGED:
            at = _closing(tokens, at + 1) + 1
        else:
            kept.append(tokens[at])
            at += 1
    return kept


# --- the kinds; each yields (kind, (begin, end), text) ---


def _relations(tokens, _source):
    for token in tokens:
        if token.text in RELATIONS:
            yield "relation", (token.begin, token.end), RELATIONS[token.text]


def _constants(tokens, _source):
    for token in tokens:
        match = INTEGER.match(token.text) if token.text[0].isdigit() else None
        if not match:
            continue
        prefix, digits, suffix = match.groups("")
        octal = not prefix and digits[0] == "0" and digits != "0"
        value = int(digits, 16 if prefix else 8 if octal else 10)
        for other in {value + 1, max(value - 1, 0)} - {value}:
            text = f"{other:#x}" if prefix else f"0{other:o}" if octal else str(other)
            yield "constant", (token.begin, token.end), text + suffix


def _negated(span, source):
    return "negation", span, f"!({source[span[0]:span[1]]})"


def _conditions(tokens, source):
    for at, token in enumerate(tokens):
        if token.text in ("if", "while") and tokens[at + 1].text == "(":
            last = _closing(tokens, at + 1)
            yield _negated((tokens[at + 2].begin, tokens[last - 1].end), source)
        elif token.text == "for":
            parts = list(_parts(tokens, at + 2, _closing(tokens, at + 1), ";"))
            if len(parts) == 3 and parts[1]:
                yield _negated(parts[1], source)


def _swaps(tokens, source):
    for at, token in enumerate(tokens[:-1]):
        if not re.match(r"[A-Za-z_]", token.text) or token.text in WORDS or tokens[at + 1].text != "(":
            continue
        parts = list(_parts(tokens, at + 2, _closing(tokens, at + 1), ","))
        for one, other in zip(parts, parts[1:]):
            between = source[one[1]:other[0]]
            yield "swap", (one[0], other[1]), \
                source[other[0]:other[1]] + between + source[one[0]:one[1]]


def _blank(text):
    """A statement of nothing in as many lines."""
    return ";" + "\n" * text.count("\n")


def _statements(body, tokens, source):
    starts = {token.begin: at for at, token in enumerate(tokens)}
    last = list(body.get_children())[-1:]
    for block in body.walk_preorder():
        if block.kind == clang.CursorKind.CONDITIONAL_OPERATOR:
            condition = next(block.get_children()).extent
            yield _negated((_offset(condition.start), _offset(condition.end)), source)
        if block.kind != clang.CursorKind.COMPOUND_STMT:
            continue
        for statement in block.get_children():
            at = starts.get(statement.extent.start.offset)
            is_return = statement.kind == clang.CursorKind.RETURN_STMT
            if at is None or (is_return and statement in last):
                continue
            if is_return or statement.kind.is_expression() or statement.kind in REMOVED:
                span = next(_parts(tokens, at, len(tokens), ";"))
                yield "return" if is_return else "removal", (span[0], span[1]), None


def _in_function(body, tokens, source):
    begin, end = body.extent.start.offset, body.extent.end.offset
    inside = _without_asserts([token for token in tokens if begin <= token.begin < end])
    for each in (_relations, _constants, _conditions, _swaps):
        yield from each(inside, source)
    for kind, (first, last), text in _statements(body, inside, source):
        if text is None:  # with its semicolon
            last += 1 + len(source[last:]) - len(source[last:].lstrip())
            text = _blank(source[first:last])
        yield kind, (first, last), text


def _lines(source, begin, end):
    return source.rfind("\n", 0, begin) + 1, source.find("\n", end - 1) % (len(source) + 1)


def _places(body, tokens):
    """(begin, end) of statements before which another may stand, those around others first."""
    starts = {token.begin for token in tokens}
    for block in body.walk_preorder():
        if block.kind == clang.CursorKind.COMPOUND_STMT:
            for statement in block.get_children():
                begin, end = _offset(statement.extent.start), _offset(statement.extent.end)
                if begin in starts and statement.kind not in LABELLED:
                    yield begin, end


def _made(path, function, body, places, source, found):
    kind, (begin, end), text = found
    first, last = _lines(source, begin, end)
    after = source[first:begin] + text + source[end:last]
    span = body.extent.start.offset, body.extent.end.offset
    place = max([at for at, last in places if at <= begin < last], default=span[0] + 1)
    return Change(path, function, span, place, kind, (begin, end), text, source.count("\n", 0, begin) + 1,
                  " ".join(source[first:last].split()), " ".join(after.split()))


def of_text(root, path, source):
    """All changes that the file allows, in its order."""
    source = sources.without_comments(source)
    if not source.isascii():
        raise UnreadableError(f"{path}: libclang counts bytes, and it is not ASCII")
    unit = _parse(path, root, source)
    tokens = list(_tokens(unit, source))
    found = [_made(path, function, body, places, source, each) for function, body in _functions(unit, path)
             for places in [list(_places(body, tokens))] for each in _in_function(body, tokens, source)]
    return sorted(dict.fromkeys(found), key=lambda change: (change.span, change.text))
