"""What the project's files make run: scripts, Python programs, BUILD files, and ./dev itself."""

import ast
import collections
import functools
import itertools
import os
import re
import shlex
import subprocess

import python
import shell

SHELL, PYTHON = re.compile(r"#!.*\b(?:ba)?sh\b"), re.compile(r"#!.*\bpython3?\b")
BUILD_FILE = re.compile(r"(?:^|/)(?:BUILD|WORKSPACE)$|\.(?:bzl|bazel)$")


@functools.cache
def builtins():
    return frozenset(subprocess.run(["bash", "-c", "compgen -bk"], check=True, capture_output=True,
                                    text=True).stdout.split())


class Runs:
    """What one file, or one function of ./dev, makes run."""

    def __init__(self):
        self.commands = set()  # (command, path, line)
        self.scripts = set()
        self.builds, self.tests = False, False  # by Bazel
        self.optional = set()

    def add(self, project, name, arguments, place):
        """A command with the texts that its arguments may be; a script that one names is run too."""
        self.scripts |= {script for text in [name, *arguments] for word in text.split()
                         if (script := project.script(word, place.path))}
        command = name.rpartition("/")[2] if name.startswith("/") else name
        if shell.OPAQUE in name or "/" in command or command[:1] in "-" or command in builtins():
            return
        self.commands.add((command, place.path, place.line))
        if command == "bazel":
            self.builds |= "build" in arguments
            self.tests |= "test" in arguments


class Project:
    def __init__(self, texts):
        self.texts = texts
        self.scripts = {path: text for path, text in texts.items()
                        if SHELL.match(text) or PYTHON.match(text)}
        self.built, self.tested = Runs(), Runs()
        for path, text in texts.items():
            if BUILD_FILE.search(path):
                self._read_build_file(path, text)

    def script(self, text, path):
        """The script of the project that a text names, in a file that lies at path."""
        name = text.rpartition("=")[2] if text.startswith("-") else text
        name = name.rpartition(shell.OPAQUE)[2]
        if name == text and "/" not in name:
            return None
        for folder in ("", os.path.dirname(path)):
            found = os.path.normpath(os.path.join(folder, name.lstrip("/")))
            if found in self.scripts:
                return found
        return None

    # --- files ---

    @functools.cache
    def runs(self, path):
        """What the script runs, without what other scripts run that it calls."""
        made = Runs()
        if PYTHON.match(self.texts[path]):
            self._read_python(path, made)
        else:
            self._read_shell(path, self.texts[path], made)
        made.scripts.discard(path)
        return made

    def _read_shell(self, path, text, made, line=0):
        read = shell.Script(path, text, self.texts.get)
        made.optional |= read.may_be_missing()
        for (name, place), arguments in read.commands().items():
            if name not in read.functions:
                at = shell.Place(place.path, line or place.line)
                made.add(self, name, arguments, at)

    def _read_words(self, path, line, words, made):
        """A list of words, as a shell's text."""
        text = " ".join(shlex.quote(word).replace(shell.OPAQUE, "'\"$opaque\"'") for word in words)
        self._read_shell(path, text, made, line)

    def _read_python(self, path, made):
        made.add(self, "python3", [], shell.Place(path, 1))
        for where, line, words in python.Program(path, self.texts.get).commands():
            self._read_words(where, line, words, made)

    def _read_build_file(self, path, text):
        """Commands of rules, and the scripts that it names: as tools of rules, or as tests."""
        rules = [node for node in ast.walk(ast.parse(text, path)) if isinstance(node, ast.Call)]
        for rule in rules:
            name = getattr(rule.func, "attr", None) or getattr(rule.func, "id", None)
            if name == "genrule":
                self._read_genrule(path, rule)
            elif name in ("which", "execute") and rule.args:
                first = next((node for node in ast.walk(rule.args[0]) if isinstance(node, ast.Constant)), None)
                if first is not None:
                    self._read_words(path, rule.lineno, [str(first.value)], self.built)
            if name not in ("exports_files", "glob"):
                made = self.built if name == "genrule" else self.tested
                made.scripts |= {script for node in ast.walk(rule) if isinstance(node, ast.Constant)
                                 for script in self._labelled(path, str(node.value))}

    def _read_genrule(self, path, rule):
        for each in rule.keywords:
            if each.arg == "cmd":
                text = "".join(str(node.value) for node in ast.walk(each.value)
                               if isinstance(node, ast.Constant))
                text = re.sub(r"\$\([^)]*\)|\$[@<^]", "$opaque", text).replace("$$", "$")
                self._read_shell(path, text, self.built, rule.lineno)

    def _labelled(self, path, text):
        """Scripts of the project that a label may mean; %s in it is anything."""
        folder, _, name = text.rpartition(":")
        folder = folder.removeprefix("//") if text.startswith("//") else os.path.dirname(path)
        wanted = re.escape(os.path.normpath(os.path.join(folder, name))).replace("%s", ".*")
        return [script for script in self.scripts if re.fullmatch(wanted, script)]

    def everything(self, started):
        """[Runs] that come with these: of scripts that they run, and of what Bazel runs for them."""
        found, left, scripts = [], [started], set()
        while left:
            made = left.pop()
            found.append(made)
            if (made.builds or made.tests) and self.built not in found:
                left.append(self.built)
            named = made.scripts | (self.tested.scripts if made.tests else set())
            left += map(self.runs, named - scripts - {"dev"})
            scripts |= named
        return found, scripts


# --- ./dev ---

def meet(one, other):
    """Whether a run can come to both: they are not on two branches of one `if` or `case`."""
    return not any(a == b and m != n for (a, m), (b, n) in itertools.product(one, other))


class Dev:
    """What ./dev installs, and makes run, for each of its commands."""

    def __init__(self, project):
        self.project = project
        self.script = shell.Script("dev", project.texts["dev"], project.texts.get)
        self.runs, self.needs, self.calls = (collections.defaultdict(list) for _ in range(3))
        for (name, place), arguments in self.script.commands().items():
            if name == "need":
                self.needs[place.function].append((place.branches, arguments))
            elif name in self.script.functions:
                self.calls[place.function].append((place, name))
            else:
                made = Runs()
                made.optional = self.script.may_be_missing()
                made.add(project, name, arguments, place)
                self.runs[place.function].append((place.branches, made))

    def commands(self):
        """{command of ./dev: the functions that it calls first}"""
        made = {}
        for place, name in self.calls["main"]:
            wanted = {value for variable, value in place.bound if variable == "command"}
            for command in wanted & {name} or wanted:
                if re.match(r"[a-z]", command):
                    made.setdefault(command, []).append(name)
        return made

    def always(self):
        """Runs of commands that no command of ./dev asks for: before one is looked at."""
        first = [name for place, name in self.calls["main"] if not dict(place.bound).get("command")]
        return [made for name in first for _, made in self.reached(name)] + [
            made for name in ("", "main") for _, made in self.runs[name]]

    def _installed(self, function, seen=()):
        """[(branches, packages)] that the function and those that it calls install."""
        yield from self.needs[function]
        for place, called in self.calls[function]:
            if called not in seen:
                for _, packages in self._installed(called, (*seen, called)):
                    yield place.branches, packages

    def reached(self, function, before=frozenset(), seen=()):
        """(packages, Runs) of all that is run by the function, and by those that it calls."""
        needs = list(self._installed(function))

        def there(branches):
            return before.union(*(packages for at, packages in needs if meet(at, branches)))

        for branches, made in self.runs[function]:
            yield there(branches), made
        for place, called in self.calls[function]:
            if called not in (*seen, "need"):
                yield from self.reached(called, there(place.branches), (*seen, called))
