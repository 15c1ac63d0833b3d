"""Which commands a Python program runs by subprocess, from its syntax tree and its modules'.

Only functions that the program's own statements lead to count.  As in shell.py, names stand for all
that they are assigned, parameters for the arguments of every call.
"""

import ast
import functools
import itertools
import os

from shell import DEPTH, MOST, OPAQUE

CALLS = ("run", "Popen", "call", "check_call", "check_output")
MISSING = ("OSError", "FileNotFoundError", "Exception")  # what a missing command raises


@functools.cache
def parse(text, path):
    return ast.parse(text, path)


@functools.cache
def walk(node, kind=ast.AST):
    """The nodes of this kind at and below a node."""
    return [each for each in (ast.walk(node) if kind is ast.AST else walk(node)) if isinstance(each, kind)]


class Module:
    def __init__(self, path, text, find):
        self.path, self.tree = path, parse(text, path)
        self.modules, self.names = {}, {}  # {name here: module}, {name here: (module, name there)}
        self.functions, self.values = {}, {}
        for node in walk(self.tree):
            if isinstance(node, ast.Import):
                self.modules |= {each.asname or each.name: found for each in node.names
                                 if (found := find(path, each.name))}
            elif isinstance(node, ast.ImportFrom) and (found := find(path, node.module or "")):
                self.names |= {each.asname or each.name: (found, each.name) for each in node.names}
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    name = getattr(target, "id", None) or getattr(target, "attr", None)
                    self.values.setdefault(name, []).append(node.value)


class Program:
    """A program and the project's modules that it imports; `commands` says what they run."""

    def __init__(self, path, read):
        self._read, self._loaded = read, {}
        self._main = self._load(path)
        self._reached, self._sites, self._owners = {}, {}, {}
        top = [node for node in self._main.tree.body
               if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        self._reach(self._main, ast.Module(body=top, type_ignores=[]))

    @property
    def files(self):
        return list(self._loaded)

    def _load(self, path):
        if path not in self._loaded:
            self._loaded[path] = None  # modules that import each other
            self._loaded[path] = Module(path, self._read(path), self._find)
        return self._loaded[path]

    def _find(self, path, name):
        for folder in (os.path.dirname(path), "tools"):
            there = f"{folder}/{name}.py"
            if self._read(there) is not None:
                self._load(there)
                return there
        return None

    # --- what is reached ---

    def _targets(self, module, node):
        """The functions and classes that a name may mean."""
        if isinstance(node, ast.Name):
            if node.id in module.names:
                where, name = module.names[node.id]
                return [(self._load(where), each) for each in self._load(where).functions.get(name, [])]
            return [(module, each) for each in module.functions.get(node.id, [])]
        if isinstance(node, ast.Attribute):
            where = module.modules.get(getattr(node.value, "id", None))
            of = self._load(where) if where else module
            return [(of, each) for each in of.functions.get(node.attr, [])]
        return []

    def _reach(self, module, node):
        if node in self._reached:
            return
        self._reached[node] = module
        for each in walk(node):
            self._owners.setdefault(each, (module, node))
            if isinstance(each, ast.Call):
                for _, function in self._targets(module, each.func):
                    self._sites.setdefault(function, []).append((module, node, each))
            for found in self._targets(module, each):
                self._reach(*found)

    # --- what expressions may be ---

    def _known(self, at, node):
        """The expressions that a name or call stands for, each with the place that it is in."""
        module, function = at
        if isinstance(node, ast.Name):
            if made := self._parameter(function, node.id):
                return made
            local = [(at, each.value) for each in walk(function, ast.Assign)
                     for target in each.targets if getattr(target, "id", None) == node.id]
            if local:
                return local
            module, name = module.names.get(node.id, (module.path, node.id))
            module = self._load(module)
            return [((module, module.tree), value) for value in module.values.get(name, [])]
        if isinstance(node, ast.Attribute):
            where = module.modules.get(getattr(node.value, "id", None))
            of = self._load(where) if where else module
            return [((of, of.tree), value) for value in of.values.get(node.attr, [])]
        if isinstance(node, ast.Call):
            return [((of, function), each.value) for of, function in self._targets(module, node.func)
                    for each in walk(function, ast.Return) if each.value]
        if isinstance(node, ast.IfExp):
            return [(at, node.body), (at, node.orelse)]
        if isinstance(node, ast.BoolOp):
            return [(at, value) for value in node.values]
        return []

    def _parameter(self, function, name):
        """The arguments for it in every call; for *name: all that are left, as a tuple."""
        if not isinstance(function, ast.FunctionDef):
            return []
        names = [each.arg for each in function.args.args]
        skip = 1 if names[:1] == ["self"] else 0
        made = []
        for module, caller, call in self._sites.get(function, []):
            if name in names:
                number = names.index(name) - skip
                given = call.args[number:number + 1] + [each.value for each in call.keywords if each.arg == name]
                made += [((module, caller), value) for value in given]
            elif function.args.vararg and function.args.vararg.arg == name:
                rest = ast.Tuple(elts=call.args[len(names) - skip:], ctx=ast.Load())
                made.append(((module, caller), rest))
        return made

    def _texts(self, at, node, depth=0):
        """Each text that the expression may be."""
        if depth > DEPTH:
            return [OPAQUE]
        deeper = functools.partial(self._texts, depth=depth + 1)
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.JoinedStr):
            return self._joined([deeper(at, part) for part in node.values])
        if isinstance(node, ast.FormattedValue):
            return deeper(at, node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            between = ["/"] if isinstance(node.op, ast.Div) else [""]
            return self._joined([deeper(at, node.left), between, deeper(at, node.right)])
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv"):
            return deeper(at, node.args[1]) if len(node.args) > 1 else [OPAQUE]
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "os.path.join"):
            return self._joined(itertools.chain.from_iterable(
                [["/"], deeper(at, part)] if number else [deeper(at, part)]
                for number, part in enumerate(node.args)))
        return [text for place, known in self._known(at, node) for text in deeper(place, known)][:MOST] or [OPAQUE]

    @staticmethod
    def _joined(parts):
        return ["".join(each) for each in itertools.islice(itertools.product(*parts), MOST)]

    def _lists(self, at, node, depth=0):
        """Each list of words that the expression may be."""
        if depth > DEPTH:
            return [[OPAQUE]]
        if isinstance(node, (ast.List, ast.Tuple)):
            parts = [self._lists(at, each.value, depth + 1) if isinstance(each, ast.Starred)
                     else [[text] for text in self._texts(at, each)] for each in node.elts]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._lists(at, node.left, depth + 1), self._lists(at, node.right, depth + 1)]
        else:
            known = [each for place, value in self._known(at, node)
                     for each in self._lists(place, value, depth + 1)][:MOST]
            return [each + self._added(at, node, depth) for each in known or [[OPAQUE]]]
        return [list(itertools.chain(*each)) for each in itertools.islice(itertools.product(*parts), MOST)]

    def _added(self, at, node, depth):
        """What the function adds to the list of that name."""
        values = [each.value for each in walk(at[1], ast.AugAssign)
                  if isinstance(node, ast.Name) and getattr(each.target, "id", None) == node.id]
        return [word for value in values for word in self._lists(at, value, depth + 1)[0]]

    # --- commands ---

    def _optional(self, node):
        """The calls that `try` lets fail where the command is missing."""
        for each in walk(node, ast.Try):
            if any(handler.type is None or any(name in ast.unparse(handler.type) for name in MISSING)
                   for handler in each.handlers):
                for statement in each.body:
                    yield from walk(statement)

    def commands(self):
        """(path, line, words) of each command that the program cannot do without."""
        for node, module in self._reached.items():
            optional = set(self._optional(node))
            for call in walk(node, ast.Call):
                if (call not in optional and call.args and isinstance(call.func, ast.Attribute) and call.func.attr in CALLS
                        and ast.unparse(call.func.value) == "subprocess"):
                    for words in dict.fromkeys(map(tuple, self._lists((module, node), call.args[0]))):
                        yield module.path, call.lineno, words
