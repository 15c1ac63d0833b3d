"""Which commands a shell script runs, from the syntax tree that shfmt makes of it.

Words are expanded as far as the script itself says what they hold: variables by every value that
they are assigned, parameters of functions by the arguments of every call.  What only a run could
tell is OPAQUE.
"""

import dataclasses
import functools
import itertools
import json
import os
import re
import subprocess

OPAQUE = "\0"
DEPTH = 12  # of expansions within expansions
MOST = 1000  # values of one word
# shfmt's numbers of operators.
AND = 10
WITH_DEFAULT = range(68, 76)  # ${a+b} to ${a:=b}; those from 76 on cut the value
INSTEAD = (68, 69)  # ${a+b}: b or nothing
WITHOUT_VALUE = (72, 73)  # ${a?b}: b is a message

# Commands that run another, which follows: their options with a value, and how many words are
# between the options and the command.
RUNNERS = {
    "builtin": ((), 0), "chroot": ((), 1), "command": ((), 0), "env": (("-u", "-C", "-S"), 0),
    "exec": (("-a",), 0), "flock": (("-w", "-E"), 1), "nice": (("-n",), 0), "nohup": ((), 0),
    "setarch": ((), 1), "setsid": ((), 0), "stdbuf": (("-i", "-o", "-e"), 0),
    "strace": (("-e", "-o", "-p", "-s"), 0), "sudo": (("-u", "-g"), 0), "taskset": ((), 1),
    "timeout": (("-k", "-s"), 1), "unshare": (("-R", "-w"), 0), "valgrind": ((), 0),
    "xargs": (("-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s"), 0),
}
# Those that run a text: the one behind -c, in another shell, or the first one, in this shell.
TEXT_BEHIND_C = ("bash", "dash", "script", "sh", "su")
TEXT_FIRST = ("eval", "trap")


class ShellError(Exception):
    """shfmt does not understand it."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a word stands: what its parameters are, and which branches lead there."""
    path: str
    line: int
    function: str = ""
    shifts: int = 0
    bound: tuple = ()  # (variable, value): of the branch of a case
    branches: tuple = ()  # (if or case, branch)


@functools.cache
def tree(text):
    done = subprocess.run(["shfmt", "--to-json"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ShellError(done.stderr.strip())
    return json.loads(done.stdout)


def raw(word):
    """The word as text again: what eval and trap are given."""
    text = ""
    for part in word["Parts"]:
        if part["Type"] == "DblQuoted":
            text += raw({"Parts": part.get("Parts", [])})
        elif part["Type"] in ("Lit", "SglQuoted"):
            text += part.get("Value", "").replace("\\$", "$").replace('\\"', '"')
        else:
            text += "$opaque"
    return text


def literal(word):
    """The text of a word without expansions, else None."""
    if all(part["Type"] in ("Lit", "SglQuoted") for part in word["Parts"]):
        return "".join(part.get("Value", "") for part in word["Parts"])
    return None


class Script:
    """A script and the files that it sources, read once; `commands` says what they run."""

    def __init__(self, path, text, read=lambda path: None):
        self.path, self._read = path, read
        self.functions, self.sourced, self._optionals = set(), [], []
        self._values, self._calls, self._shifts = {}, [], {}
        self._sites, self._found, self._patterns = {}, {}, {}
        self._expanded = {}  # until a further call is found
        self._source(path, text)
        self._expand_calls()

    # --- reading ---

    def _source(self, path, text):
        self.sourced.append(path)
        try:
            self._walk(tree(text), Place(path, 1))
        except ShellError as error:
            raise ShellError(f"{path}:{error}") from None

    def _walk(self, node, place):
        if isinstance(node, list):
            for each in node:
                self._walk(each, place)
        elif isinstance(node, dict):
            visit = getattr(self, f"_{node.get('Type')}", None)
            if visit:
                visit(node, place)
            else:
                self._walk([each for each in node.values() if isinstance(each, (dict, list))], place)

    def _FuncDecl(self, node, place):
        name = node["Name"]["Value"]
        self.functions.add(name)
        self._walk(node["Body"], dataclasses.replace(place, function=name, shifts=0))

    def _assign(self, node, place):
        for each in node.get("Assigns") or node.get("Args") or ():
            if "Name" not in each:
                continue
            values = self._values.setdefault(each["Name"]["Value"], [])
            if "Array" in each:
                values.append((place, [item["Value"] for item in each["Array"].get("Elems", [])]))
            elif not each.get("Naked"):
                values.append((place, [each.get("Value", {"Parts": []})]))

    def _DeclClause(self, node, place):
        place = self._at(node, place)
        self._assign(node, place)
        self._walk(node.get("Args", []), place)

    def _at(self, node, place):
        return dataclasses.replace(place, line=node["Pos"]["Line"],
                                   shifts=self._shifts.get(place.function, 0) if place.function else 0)

    def _CallExpr(self, node, place):
        place = self._at(node, place)
        self._assign({"Assigns": node.get("Assigns", [])}, place)
        self._walk(node.get("Assigns", []), place)
        words = node.get("Args", [])
        if not words:
            return
        self._calls.append((words, place))
        self._walk(words, place)
        name = literal(words[0])
        if name == "shift" and not place.branches:
            by = literal(words[1]) if len(words) > 1 else "1"
            self._shifts[place.function] = place.shifts + (int(by) if by and by.isdigit() else 0)
        if name in (".", "source"):
            self._source_named(words[1], place)
        if name in TEXT_FIRST:
            for word in words[1:2]:
                self._walk(tree(raw(word)), place)

    def _source_named(self, word, place):
        """From the project's root, or beside the script."""
        named = raw(word).rpartition("$opaque")[2].lstrip("/")
        for folder in ("", os.path.dirname(place.path)):
            name = os.path.normpath(os.path.join(folder, named))
            if name not in self.sourced and (text := self._read(name)) is not None:
                self._source(name, text)
                return

    def _ForClause(self, node, place):
        loop = node["Loop"]
        if loop.get("Type") == "WordIter":
            for item in loop.get("Items", []):
                self._values.setdefault(loop["Name"]["Value"], []).append((self._at(node, place), [item]))
        self._walk([loop, node["Do"]], self._branch(place, node, 0))

    def _WhileClause(self, node, place):
        self._walk([node["Cond"], node["Do"]], self._branch(place, node, 0))

    def _branch(self, place, node, number):
        return dataclasses.replace(place, branches=(*place.branches, (node["Pos"]["Offset"], number)))

    def _IfClause(self, node, place):
        self._optional(node.get("Cond", []), self._at(node, place))
        self._walk(node.get("Cond", []), place)
        self._walk(node["Then"], self._branch(place, node, 0))
        if "Else" in node:
            self._walk_else(node, node["Else"], place)

    def _walk_else(self, node, other, place):
        """An else; or an elif, which is another if in it."""
        place = self._branch(place, node, 1)
        if other.get("Cond"):
            self._IfClause(other, place)
        else:
            self._walk(other["Then"], place)

    def _CaseClause(self, node, place):
        """In a branch the variable is one of its patterns; in *), one of those that other branches,
        also of other cases of the function, name."""
        parts = [part for part in node["Word"]["Parts"] if part["Type"] == "ParamExp"]
        name = parts[0]["Param"]["Value"] if len(parts) == 1 else ""
        known = self._patterns.setdefault((place.function, name), {})
        before = set()
        self._walk(node["Word"], place)
        for number, item in enumerate(node.get("Items", [])):
            inside = self._branch(place, node, number)
            values = [literal(pattern) or "*" for pattern in item["Patterns"]]
            if values == ["*"]:
                values = [value for value in known if value not in before]
            if name and not any("*" in value for value in values):
                inside = dataclasses.replace(inside, bound=(*place.bound, *((name, value) for value in values)))
                known.update(dict.fromkeys(values))
                before.update(values)
            self._walk(item.get("Stmts", []), inside)

    def _BinaryCmd(self, node, place):
        """`command -v x || continue`, `command -v x && x`: without it the script goes on."""
        other = node["Y"].get("Cmd", {})
        leaves = other.get("Type") == "CallExpr" and other.get("Args") and literal(other["Args"][0]) in (
            "continue", "return")
        if node["Op"] == AND or leaves:
            self._optional([node["X"]], self._at(node, place))
        self._walk([node["X"], node["Y"]], place)

    def _optional(self, statements, place):
        """What the condition asks for by `command -v`."""
        for words in self._asked(statements):
            if [literal(word) for word in words[:2]] == ["command", "-v"]:
                self._optionals.append((words[2], place))

    def _asked(self, node):
        if isinstance(node, list):
            for each in node:
                yield from self._asked(each)
        elif isinstance(node, dict):
            if node.get("Type") == "CallExpr":
                yield node.get("Args", [])
            yield from self._asked(list(node.values()))

    # --- expanding ---

    def expand(self, item, depth=0):
        """Each list of fields that a word may become; an item that is expanded already is text."""
        if isinstance(item, str):
            return [[item]]
        word, place = item
        key = id(word), place
        if key not in self._expanded:
            self._expanded[key] = [[OPAQUE]]  # for a word that leads to itself
            self._expanded[key] = self._expand(word, place, depth)
        return self._expanded[key]

    def _expand(self, word, place, depth):
        if depth > DEPTH:
            return [[OPAQUE]]
        if list_of := self._whole(word["Parts"]):
            return self._fields(list_of, place, depth)[:MOST]
        texts = [""]
        for part in word["Parts"]:
            texts = [a + b for a, b in itertools.product(texts, self._texts_of(part, place, depth))][:MOST]
        return [[text] for text in dict.fromkeys(texts)]

    def _whole(self, parts):
        """The expansion of "$@" or "${array[@]}", if the word is nothing else."""
        if len(parts) == 1 and parts[0]["Type"] == "DblQuoted":
            parts = parts[0].get("Parts", [])
        if len(parts) != 1 or parts[0]["Type"] != "ParamExp":
            return None
        part = parts[0]
        if part.get("Length") or part.get("Repl") or part.get("Slice"):
            return None
        is_list = part["Param"]["Value"] in "@*" or literal(part.get("Index") or {"Parts": [{"Type": ""}]}) == "@"
        return part if is_list else None

    def _fields(self, part, place, depth):
        name = part["Param"]["Value"]
        if name in "@*":
            return [fields for site, _ in self._sites_of(place)
                    for fields in self._flat(site, place.shifts, depth)] or [[OPAQUE]]
        return [fields for at, words in self._values.get(name, [])
                for fields in self._flat([(word, at) for word in words], 0, depth)] or [[OPAQUE]]

    def _sites_of(self, place):
        return list(self._sites.get(place.function, {}).values()) if place.function else []

    def _flat(self, items, skip, depth):
        """Each list of fields that the items may become, without the first ones."""
        choices = [self.expand(item, depth + 1) for item in items]
        made = itertools.islice(itertools.product(*choices), MOST)
        return [list(itertools.chain(*choice))[skip:] for choice in made]

    def _texts_of(self, part, place, depth):
        kind = part["Type"]
        if kind in ("Lit", "SglQuoted"):
            return [part.get("Value", "").replace("\\", "") if kind == "Lit" else part.get("Value", "")]
        if kind == "DblQuoted":
            made = ["".join(choice) for choice in itertools.islice(itertools.product(*(
                self._texts_of(each, place, depth) for each in part.get("Parts", []))), MOST)]
            return made or [""]
        if kind != "ParamExp" or any(part.get(key) for key in ("Length", "Excl", "Repl", "Slice")):
            return [OPAQUE]
        return self._parameter(part, place, depth)

    def _parameter(self, part, place, depth):
        name, expansion = part["Param"]["Value"], part.get("Exp")
        bound = [value for variable, value in place.bound if variable == name]
        if name == "0":
            return [OPAQUE]
        if name.isdigit():
            made = [fields[int(name) - 1] for site, _ in self._sites_of(place)
                    for fields in self._flat(site, place.shifts, depth) if len(fields) >= int(name)]
        else:
            made = bound or [text for at, words in self._values.get(name, []) for word in words
                             for fields in self.expand((word, at), depth + 1) for text in fields]
        if expansion and expansion["Op"] not in WITH_DEFAULT:
            return [OPAQUE]
        if expansion and expansion["Op"] in INSTEAD:
            return [text for fields in self.expand((expansion["Word"], place), depth + 1) for text in fields] + [""]
        if expansion and "Word" in expansion and expansion["Op"] not in WITHOUT_VALUE:
            made += [text for fields in self.expand((expansion["Word"], place), depth + 1) for text in fields]
        return list(dict.fromkeys(made))[:MOST] or [OPAQUE]

    # --- commands ---

    def _expand_calls(self):
        """Until no call of a function tells of further arguments."""
        known = -1
        while known != (known := sum(map(len, self._sites.values()))):
            self._found = {}
            for words, place in self._calls:
                self._run([(word, place) for word in words], place)

    def _run(self, items, place, depth=0):
        """The command at the head of the items, and those that it runs."""
        if not items or depth > DEPTH:
            return
        if self._is_arguments(items[0]):
            for site, caller in self._sites_of(items[0][1]):
                for given in self._without(site, items[0][1].shifts):
                    self._run([*given, *items[1:]], caller, depth + 1)
            return
        for fields in self.expand(items[0]):
            rest = [*fields[1:], *items[1:]]
            if not any(fields[:1]):
                self._run(rest, place, depth + 1)
            elif fields[0] in self.functions:
                self._call(fields[0], rest, place)
            else:
                self._found[fields[0], place] = rest
                self._run_text(fields[0], rest, place)
                for inner in self._inner(fields[0], rest):
                    self._run(inner, place, depth + 1)

    def _run_text(self, name, rest, place):
        """The text behind -c, which knows nothing of this script."""
        for option, text in itertools.pairwise(rest) if name in TEXT_BEHIND_C else ():
            if re.fullmatch("-[a-z]*c", self._first(option)):
                inside = Script(self.path, text if isinstance(text, str) else raw(text[0]))
                for (inner, _), arguments in inside.commands().items():
                    if inner not in inside.functions:
                        self._found[inner, place] = arguments

    def _is_arguments(self, item):
        """Whether it is "$@" of a function: a command of its callers."""
        if isinstance(item, str) or not item[1].function:
            return False
        part = self._whole(item[0]["Parts"])
        return bool(part) and part["Param"]["Value"] in "@*"

    def _without(self, items, count):
        return [items] if count == 0 else self._flat(items, count, 0)

    def _call(self, function, rest, place):
        key = (place, *(item if isinstance(item, str) else (json.dumps(item[0]), item[1]) for item in rest))
        if key not in self._sites.setdefault(function, {}):
            self._sites[function][key] = rest, place
            self._expanded.clear()
        self._found[function, place] = rest

    def _first(self, item):
        return next(iter(self.expand(item)[0]), "")

    def _inner(self, name, rest):
        if name == "find":
            for at, item in enumerate(rest):
                if self._first(item) in ("-exec", "-execdir", "-ok"):
                    yield rest[at + 1:]
        elif name in RUNNERS and not (name == "command" and rest and self._first(rest[0]) in ("-v", "-V")):
            yield self._behind_options(rest, *RUNNERS[name])

    def _behind_options(self, rest, valued, positional):
        while rest:
            text = self._first(rest[0])
            if not text.startswith("-") and "=" not in text:
                return rest[positional:]
            rest = rest[2 if text in valued else 1:]
        return []

    def commands(self):
        """{(name, Place): the texts that its arguments may be}; of files that are sourced, only what is
        called."""
        called, left = set(), [""]
        while left:
            called.add(left[-1])
            of = left.pop()
            left += {name for name, place in self._found
                     if place.function == of and name in self.functions} - called
        return {(name, place): [text for item in rest for fields in self.expand(item) for text in fields]
                for (name, place), rest in self._found.items()
                if place.path == self.path or place.function in called}

    def array(self, name):
        """The words of an array."""
        return {text for at, words in self._values.get(name, []) for word in words
                for fields in self.expand((word, at)) for text in fields}

    def may_be_missing(self):
        """Commands that the script asks for by `command -v`, and does without."""
        return {text.rsplit("/", 1)[-1] for item in self._optionals for fields in self.expand(item)
                for text in fields}
