"""Each ordered operation, weakened alone.

An operation is called FUNCTION.EDGE.KIND.WORD; WORD is the last name in its second argument, with
.2, .3 ... behind it where a function has several of that name.  One that both acquires and releases
is three mutants: relaxed, and with either half alone (.no_acquire, .no_release).

What should notice are the checks that tools/mutants/operations has for it, then those of its edge.
"""

import dataclasses
import difflib
import fnmatch
import importlib.machinery
import importlib.util
import re
import sys

import plan

sys.path.append(str(plan.ROOT / "tools"))
import source  # noqa: E402

LISTED = plan.HERE / "operations"
# The rest of an order, and what the mutant's name says of it.
LEFT = {
    "acquire": (("relaxed", ""),),
    "release": (("relaxed", ""),),
    "acq_rel": (("relaxed", ""), ("release", ".no_acquire"), ("acquire", ".no_release")),
}
GENERIC = {"load": "haft_load", "store": "haft_store", "cas": "haft_cas"}  # others: u64_KIND
HEAD = re.compile(r"(\w+)\((?:[^()]|\([^()]*\))*\)\s*$")  # of a function, before its "{"
MEMBER = re.compile(r"(?:->|\.)(\w+)(?:\[.*\])?$", re.S)
CASTS = re.compile(r"^[&*]*(?:\([^()]*\))*")


@dataclasses.dataclass(frozen=True)
class Operation:
    path: str
    function: str
    edge: str
    kind: str
    order: str
    word: str
    arguments: tuple  # as they stand in the file
    span: tuple  # in the file's text, of the whole call

    @property
    def name(self):
        return f"{self.function}.{self.edge}.{self.kind}.{self.word}"


def _matcher():
    """tools/edges, which says what an operation is."""
    loader = importlib.machinery.SourceFileLoader("edges", str(plan.ROOT / "tools" / "edges"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("edges", loader))
    loader.exec_module(module)
    return module


def _function(code, offset):
    """The name of the function that the offset is in."""
    head = HEAD.search(code, 0, code.rindex("\n{\n", 0, offset))
    if not head:
        raise plan.PlanError(f"an operation outside a function, at {code[offset:offset + 40]}")
    return head.group(1)


def _arguments(code, begin):
    """Those behind the parenthesis that opens at `begin`, and where it is closed."""
    depth, start, found = 0, begin + 1, []
    for place in range(begin, len(code)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[place], 0)
        if depth == 0 or (depth == 1 and code[place] == ","):
            found.append(code[start:place].strip())
            start = place + 1
        if depth == 0:
            return tuple(found), place + 1
    raise plan.PlanError("a call that is not closed")


def _word(argument):
    member = MEMBER.search(argument)
    return member.group(1) if member else re.search(r"\w+", CASTS.sub("", argument)).group()


def _in_file(edges, path, text):
    """Yields the ordered operations of a file."""
    code = source.without_comments(text)
    met = {}
    for match in edges.OPERATION.finditer(code):
        kind, order, edge = match.groups()
        if order not in LEFT:
            continue
        arguments, end = _arguments(code, code.index("(", match.start()))
        found = Operation(path, _function(code, match.start()), edges.plain(edge.strip()), kind, order,
                          _word(arguments[1]), arguments, (match.start(), end))
        met[found.name] = met.get(found.name, 0) + 1
        again = f".{met[found.name]}" if met[found.name] > 1 else ""
        yield dataclasses.replace(found, word=found.word + again)


def operations():
    """All ordered operations of the library, each with the text of its file."""
    edges = _matcher()
    for path, text in source.files(plan.ROOT, edges.FOLDERS).items():
        if not edges.is_atomics_header(path):
            for operation in _in_file(edges, path, text):
                yield operation, text


def _patch(operation, text, left):
    """The file with the rest of the operation's order, as a patch."""
    call = GENERIC.get(operation.kind, f"u64_{operation.kind}")
    arguments = [f"HAFT_EDGE_{operation.edge}", *operation.arguments[1:], f"HAFT_ORDER({left})"]
    begin, end = operation.span
    changed = f"{text[:begin]}{call}({', '.join(arguments)}){text[end:]}"
    return "".join(difflib.unified_diff(text.splitlines(True), changed.splitlines(True),
                                        f"a/{operation.path}", f"b/{operation.path}"))


class Listed:
    """The lines of tools/mutants/operations, by patterns of names."""

    def __init__(self):
        self.lines = plan.edge_checks(LISTED.read_text())
        self.unmet = set(self.lines)

    def of(self, name):
        """Checks, and why none can notice."""
        checks, why = (), ""
        for pattern, (more, reason) in self.lines.items():
            if fnmatch.fnmatchcase(name, pattern):
                self.unmet.discard(pattern)
                checks += more
                why = why or reason
        return checks, why


def _mutant(operation, text, left, suffix, checks, why):
    name = operation.name + suffix
    what = "not ordered" if left == "relaxed" else f"{left} only"
    return plan.Mutant(name, f"{what}: {operation.kind}_{operation.order} in {operation.path}",
                       plan.checked(name, checks), patch=_patch(operation, text, left),
                       undecidable=why, operation=operation)


def everything():
    of_edges = plan.edge_checks((plan.HERE / "edges").read_text())
    listed, found = Listed(), []
    for operation, text in operations():
        for left, suffix in LEFT[operation.order]:
            own, why = listed.of(operation.name + suffix)
            checks = dict.fromkeys(own + of_edges[operation.edge][0])
            found.append(_mutant(operation, text, left, suffix, checks, why))
    for pattern in sorted(listed.unmet):
        raise plan.PlanError(f"tools/mutants/operations: there is no {pattern}")
    return found
