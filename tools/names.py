"""The names in a document's backquotes: what there is to name, and what is named but is not there.

A single word must be a word of the project's code (comments aside), or the name of a file, a test, a
mutant or an edge; a path the end of some file's.  A target of Bazel, a command of ./dev, a test
(`tests/a_test.c: suite.name`), a case (`explorer name`) and an option (--name, of any program here)
must exist; names in parentheses behind a file of the explorer's cases are cases of that file.  Names
of other projects stand in ELSEWHERE.
"""

import functools
import re

import page
import source

QUOTED = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")
WORD = re.compile(r"[A-Za-z_]\w*")
NAME = re.compile(r"(?:struct |enum |union )?([A-Za-z_]\w*)(?:\(\))?")
SUFFIX = re.compile(r"\.(?:c|h|cc|hpp|py|sh|md|map|txt|abi|lua|patch)$")
TARGET = re.compile(r"//([\w/-]*?)(?:/\.\.\.|:([\w-]+))?(?=[\s`,;)]|$)")
DEV = re.compile(r"(?<![\w/])\./dev ([a-z]+)")
TEST = re.compile(r"`(\w[\w/]*/\w+\.cc?): (\w+)\.(\w+)`")
CASES = re.compile(r"`(stress/explorer/cases/\w+\.c)` \(([\w, ]+)\)")
CASE = re.compile(r"(?:`explorer|(?<!combinations )--case) ([a-z]\w*)\b")
CASE_COLUMN = re.compile(r"^\|[^\n|]*\| case \|[^\n]*\n\|[-:| ]*\n((?:\|[^\n]*\n)+)", re.M)
COMMENT_LINE = re.compile(r"^[ \t]*(?:#|--)(?!include|define|if|el|endif|undef|pragma)[^\n]*", re.M)
OTHER_CODE = re.compile(r"\.(?:bzl|lua|rs|txt|build)$|(?:^|/)(?:BUILD|WORKSPACE|\.bazelrc)$")
NO_PROGRAM = re.compile(r"\.(?:md|svg|png|gz|patch|abi|xml|json|strace)$|^tools/(?:prose|names\.py)$")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
C = re.compile(r"\.(?:c|h|cc|hpp)$")
STRING = re.compile(r'"([A-Za-z_]\w*)"')

# Of C, C++, Rust, liburcu, the system, compilers and other tools.
ELSEWHERE = frozenset("""
--batch --diff-filter --disk_cache --numstat --test-dir RUSTC _LGPL_SOURCE call_rcu cds_lfht
cds_lfht_new_flavor cmpxchg8b concurrent_hash_map imul lea mb membarrier nowait parallel_for poll
shl synchronize_rcu taskgroup taskloop uv_barrier_t uv_cond_t uv_sem_t weak_ptr
""".split())


def cases_of(text):
    """The explorer's cases that a file declares."""
    return re.findall(r"^EXPLORE\((\w+),", text, re.M)


class Names:
    """What there is to name in a tree."""

    def __init__(self, tree):
        self.tree = tree
        self.files = {path.rpartition("/")[2] for path in tree}
        self.stems = {name.partition(".")[0] for name in self.files}

    @functools.cached_property
    def words(self):
        found = set()
        for path in self.tree:
            if C.search(path):
                text = source.without_comments(self.tree[path])
                found.update(STRING.findall(text))
                found.update(WORD.findall(source.without_comments(text, keep_strings=False)))
            elif OTHER_CODE.search(path):
                found.update(WORD.findall(COMMENT_LINE.sub("", self.tree[path])))
        return found

    @functools.cached_property
    def options(self):
        return {option for path in self.tree if not NO_PROGRAM.search(path)
                for option in OPTION.findall(self.tree[path])} | ELSEWHERE

    @functools.cached_property
    def cases(self):
        return {case for path in self.tree.matching("stress/explorer/cases/*.c")
                for case in cases_of(self.tree[path])}

    @functools.cached_property
    def commands(self):
        return set(re.findall(r"^  ([a-z]+) ", self.tree["dev"], re.M)) | {"help"} \
            if "dev" in self.tree else set()

    def has_name(self, name):
        return name in self.words or name in self.stems or name in self.commands or name in ELSEWHERE \
            or "HAFT_EDGE_" + name in self.words \
            or name[-1] == "_" and any(word.startswith(name) for word in self.words) \
            or name[0] == "_" and any(word.endswith(name) for word in self.words) \
            or "_" in name and any(name in self.words_of(folder)
                                   for folder in ("examples", "stress", "stress/explorer"))

    def has_path(self, path):
        path = re.sub(r"^\./", "", path).rstrip("/")
        return path in self.tree or any(
            f"/{other}".endswith("/" + path) or f"/{path}/" in f"/{other}" for other in self.tree)

    @functools.lru_cache(None)
    def pieces(self, folder):
        """The parts of words in the BUILD files of a package: macros put names together of these."""
        made_by = (f"{folder}/BUILD".lstrip("/"), f"{folder}/defs.bzl")
        texts = [COMMENT_LINE.sub("", self.tree[path]) for path in made_by if path in self.tree]
        pieces = {piece.lower() for text in texts for piece in re.findall(r"[A-Za-z0-9]+", text)}
        return pieces | {piece for path in self.tree if self.package_of(path) == folder
                         for piece in re.split(r"[_./]", path)}

    def package_of(self, path):
        """The folder of the nearest BUILD file above."""
        while path:
            path = path.rpartition("/")[0]
            if f"{path}/BUILD".lstrip("/") in self.tree:
                break
        return path

    def words_of(self, folder):
        return _Composed(self.pieces(folder))

    def has_target(self, folder, name):
        if f"{folder}/BUILD".lstrip("/") not in self.tree:
            return name is None and folder in self.tree
        return name is None or name in self.words_of(folder)


class _Composed(frozenset):
    """Contains each name of two parts or more that are all known."""

    def __contains__(self, name):
        parts = re.split(r"[_-]", name)
        return all(frozenset.__contains__(self, part.lower()) for part in parts)


def _quoted(names, text):
    shown = set(WORD.findall(" ".join(page.BLOCK.findall(text))))
    for match in QUOTED.finditer(page.BLOCK.sub(page.blank, text)):
        said = " ".join(match.group(1).split())
        if TARGET.match(said) or said.startswith("./dev"):
            continue
        name = NAME.fullmatch(said)
        if name and name.group(1) not in shown and not names.has_name(name.group(1)):
            yield match.start(), f"no '{name.group(1)}' in the code"
        elif not name and SUFFIX.search(said) and " " not in said and "*" not in said \
                and not names.has_path(said):
            yield match.start(), f"no file {said}"


def missing(names, text):
    """(offset, problem) for each name in what people wrote of a document that is not there."""
    text = page.by_hand(text)
    yield from _quoted(names, text)
    for match in TARGET.finditer(text):
        if text[match.start() - 1:match.start()] != ":" and not names.has_target(*match.groups()):
            yield match.start(), f"no target {match.group()}"
    for match in DEV.finditer(text):
        if match.group(1) not in names.commands:
            yield match.start(), f"no command ./dev {match.group(1)}"
    for match in OPTION.finditer(text):
        if match.group() not in names.options:
            yield match.start(), f"no program has the option {match.group()}"
    for match in TEST.finditer(text):
        path, suite, name = match.groups()
        test = rf"^\w+\((?:struct \w+ \*\w+, )?{suite},\s*{name}\b"
        if path not in names.tree or not re.search(test, names.tree[path], re.M):
            yield match.start(), f"no test {path}: {suite}.{name}"
    for match in CASES.finditer(text):
        there = cases_of(names.tree[match.group(1)]) if match.group(1) in names.tree else ()
        for case in match.group(2).split(", "):
            if case not in there:
                yield match.start(), f"no case {case} in {match.group(1)}"
    for match in CASE.finditer(text):
        if match.group(1) not in names.cases:
            yield match.start(), f"no case {match.group(1)}"
    for table in CASE_COLUMN.finditer(text):
        for row in re.finditer(r"^\|[^|\n]*\|([^|\n]*)\|", table.group(1), re.M):
            for case in row.group(1).replace("`", "").split(","):
                if case.strip() not in names.cases:
                    yield table.start(1) + row.start(), f"no case {case.strip()}"
