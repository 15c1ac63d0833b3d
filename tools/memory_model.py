"""docs/memory-model.md must say of each edge what the code does.  For the table of edges:

  - each edge of include/haft/detail/atomics.h has one row, and each row an edge; GRACE is foreign clocks';
  - of the functions in backquotes, the column "release side" names those with a releasing operation
    of the edge, all of them and no others, and so does "acquire side" with acquiring ones;
  - "what breaks without it" has a text;
  - "seen by" names the checks of tools/mutants/edges, as `stress publish` or `explorer publish`, or
    begins with "nothing" where that file says undecidable.

The table of reasons has a row for each reason that the header declares.
"""

import collections
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

import source

TOOLS = pathlib.Path(__file__).resolve().parent
PAGE, LISTED = "docs/memory-model.md", "tools/mutants/edges"
SIDES = ("release", "acquire")
FUNCTION = re.compile(r"^[^\n#]*?\b(?!__attribute__)(\w+)\([^;{}]*\)\n\{\n.*?^\}", re.M | re.S)


def _load(path, name):
    """A module from a file, whatever the file is called."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


edges = _load(TOOLS / "edges", "edges")
plan = _load(TOOLS / "mutants/plan.py", "plan")


def functions(sources):
    """Yields (name, code) of each function."""
    for path, text in sources.items():
        if not edges.is_atomics_header(path):
            for body in FUNCTION.finditer(source.without_comments(text)):
                yield body.group(1), body.group()


def sides_of(sources):
    """The names of all functions, and {edge: {side: functions}}."""
    names, found = set(), collections.defaultdict(lambda: collections.defaultdict(set))
    for name, code in functions(sources):
        names.add(name)
        for operation in edges.operations("", code):
            for side in edges.SIDES.get(operation.order, ()):
                found[edges.plain(operation.edge)][side].add(name)
    return names, found


def rows(page, title):
    """The cells of the table whose first column has that title."""
    table = page[page.index(f"| {title} |"):].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def quoted(cell):
    return set(re.findall(r"`([\w ]+)`", cell))


def seen_by(checks):
    return {" ".join(check.split()[:2]) for check in checks}


def check_row(row, names, sides, listed):
    """Yields what is wrong with one row of the table of edges."""
    edge, *cells, breaks, seen = row
    for side, cell in zip(SIDES, cells):
        said, done = quoted(cell) & names, sides[edge][side]
        for name in sorted(said ^ done):
            what = "does not name" if name in done else "names"
            yield f"{edge}: {side} side {what} {name}()"
    if len(breaks) < 10:
        yield f"{edge}: what breaks without it?"
    checks, undecidable = listed.get(edge, ((), ""))
    if undecidable:
        if not seen.startswith("nothing"):
            yield f"{edge}: tools/mutants/edges says that nothing sees it"
    elif quoted(seen) != seen_by(checks):
        yield f"{edge}: seen by {', '.join(sorted(seen_by(checks)))}, as tools/mutants/edges says"


def problems(tree):
    """What is wrong with the page."""
    page, atomics = tree[PAGE], tree[plan.ATOMICS]
    declared, listed = plan.declared_edges(atomics), plan.edge_checks(tree[LISTED])
    names, sides = sides_of({path: tree[path] for path in tree.sources(("include", "lib", "concurrent", "kit"))})
    table = [row for row in rows(page, "edge") if row[0].strip("*") != "GRACE"]
    for name in sorted({row[0] for row in table} ^ declared.keys()):
        yield f"{name}: the table and {plan.ATOMICS} differ"
    for row in table:
        if len(row) != 5:
            yield f"{row[0]}: {len(row)} columns"
        elif row[0] in declared:
            yield from check_row(row, names, sides, listed)
    relaxed = atomics[atomics.index("reasons for relaxed"):atomics.index("} haft_edge;")]
    reasons = re.findall(r"HAFT_EDGE_(\w+)", relaxed)
    for name in sorted({row[0] for row in rows(page, "reason")} ^ set(reasons)):
        yield f"{name}: the table of reasons and {plan.ATOMICS} differ"
