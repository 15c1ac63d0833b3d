"""Mutants of one small change each, drawn by chance: `./dev mutants --random N --seed S`.

A round takes one change of each file of lib/, concurrent/ and kit/, until there are N: first a kind, then
one of that kind.  What does not compile, or compiles to the same machine code, is drawn again.

All are built into one library, each behind a switch (switches.py), so that the programs are built once.
A unit test that never reaches the changed statement cannot notice, and is not run; which statements
each reaches is noted once, with no change switched on.  Of the others, those that share a word of their
name with the function, its file or its folder come first, then those that are fast or make calls
fail; then the combinations and the explorer's cases.  What passes them all must stand in tools/mutants/judged.
"""

import bisect
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import random
import re
import tempfile

import builds
import changes
import judged
import plan
import switches
import table
import trials

import progress  # behind those that say where it is

EXPLORED = re.compile(r"concurrent/(?!export|commands)|lib/(slots|base)/")
BEHIND_UNITS = ("combinations 300", "explorer all 100")  # checks
FAST = 5  # seconds of a processor, that a unit test may take


def _patch(change, text):
    return "".join(difflib.unified_diff(text.splitlines(True), change.of(text).splitlines(True),
                                        f"a/{change.path}", f"b/{change.path}"))


def _mutant(change, text):
    return plan.Mutant(change.name, f"{change.before}  ->  {change.after}", (), change=change,
                       patch=_patch(change, text))


# --- drawing ---


def shuffled(found, chance):
    """Yields the changes, each time of a kind that is drawn first."""
    left = {kind: [change for change in found if change.kind == kind] for kind in changes.KINDS}
    while any(left.values()):
        kind = chance.choice([kind for kind in changes.KINDS if left[kind]])
        yield left[kind].pop(chance.randrange(len(left[kind])))


def drawn(by_file, number, seed, is_mutant):
    """At most `number` of the changes in {path: changes}, by rounds over the files."""
    left = {path: shuffled(found, random.Random(f"{seed} {path}")) for path, found in by_file.items()}
    order, found = random.Random(seed), []
    while left and len(found) < number:
        for path in order.sample(sorted(left), len(left)):
            change = next(filter(is_mutant, left[path]), None)
            if change is None:
                del left[path]
            elif len(found) < number:
                found.append(change)
    return found


def _what_compiles(builder, outcomes, mutant):
    def compiled():
        with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
            try:
                return builder.differs(builds.Tree(folder, mutant.patch))
            except builds.BuildError:
                return False

    return outcomes.value(mutant, "compiled", compiled)


def of_files():
    """{path: changes} of all that may be drawn."""
    try:
        return {path: changes.of_text(plan.ROOT, path, text) for path, text in plan.sources().items()
                if path not in changes.PARTS}
    except changes.UnreadableError as error:
        raise plan.PlanError(str(error)) from error


def draw(by_file, options, builder, outcomes):
    """The mutants, without their checks."""
    texts, tried = plan.sources(), 0

    def is_mutant(change):
        nonlocal tried
        tried += 1
        progress.show(None, f"drawing: {tried} changes compiled")
        return _what_compiles(builder, outcomes, _mutant(change, texts[change.path]))

    found = drawn(by_file, options.random, options.seed, is_mutant)
    progress.end()
    return [_mutant(change, texts[change.path]) for change in found]


# --- checks ---


def switched(builder, by_file, places, chosen):
    """A tree whose programs can switch each of the chosen changes on, by its number among them."""
    numbers = {change: number for number, change in enumerate(chosen)}
    marks = {}
    for mark, (path, place) in enumerate(places):
        marks.setdefault(path, {})[place] = mark
    texts = {path: switches.of_text(plan.sources()[path], found, numbers, marks[path])
             for path, found in by_file.items() if found}
    return builds.Tree(builder.folder / "switched", texts=texts)


def _reached(builder, tree, name):
    """The marks that a unit test reaches, and how long it takes."""
    program = builder.program(tree, f"quick {name}")
    with tempfile.TemporaryDirectory(dir=builder.folder) as folder:
        file = os.path.join(folder, "reached")
        seconds = trials.reached(program, file, 300)
        if seconds is None:
            raise builds.BuildError(f"nothing is broken, and yet: {name}_test fails")
        marks = [at.start() for at in re.finditer(b"\1", pathlib.Path(file).read_bytes())]
        return {"marks": marks, "seconds": seconds}


def units_by_place(builder, tree, places, outcomes, jobs):
    """{(path, place): [(seconds, unit test)]}, the quick ones first."""
    found = {}
    names = builds.unit_tests()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda name: builder.program(tree, f"quick {name}"), names))
    for done, name in enumerate(names):
        progress.show(done / len(names), f"noting what {name}_test reaches")
        note = outcomes.value(None, f"quick {name} reached", lambda: _reached(builder, tree, name))
        for mark in note["marks"]:
            bisect.insort(found.setdefault(places[mark], []), (note["seconds"], name))
    progress.end()
    return found


def _words(name):
    return {word.removesuffix("s") for word in name.split("_")}


def checks_of(change, units):
    subject = _words(change.function) | _words(pathlib.PurePath(change.path).stem) | \
        _words(change.path.split("/")[1])
    reaching = units.get((change.path, change.place), ())
    alike = {name for _, name in reaching if _words(name) & subject}
    ordered = sorted((name not in alike, seconds, name) for seconds, name in reaching
                     if name in alike or seconds <= FAST or name in builds.refusing_tests())
    explored = EXPLORED.match(change.path) is not None
    return [f"quick {name}" for *_, name in ordered] + \
        [check for check in BEHIND_UNITS if explored or not check.startswith("explorer")]


def mutants(options, builder, outcomes):
    """Those that are drawn, with their checks and with what they are judged to be."""
    by_file = of_files()
    found = draw(by_file, options, builder, outcomes)
    places = sorted({(change.path, change.place) for changed in by_file.values() for change in changed})
    tree = switched(builder, by_file, places, [mutant.change for mutant in found])
    units = units_by_place(builder, tree, places, outcomes, options.jobs)
    verdicts = judged.everything()
    made = []
    for number, mutant in enumerate(found):
        verdict, why = verdicts.get(mutant.change.key, ("", ""))
        made.append(dataclasses.replace(
            mutant, checks=tuple(checks_of(mutant.change, units)), tree=tree, number=number,
            undecidable=why if verdict == "equivalent" else ""))
    return made


# --- the report ---


@dataclasses.dataclass(frozen=True)
class Report:
    """What came of a run, with what its survivors are judged to be."""

    run: table.Run
    judged: dict
    seed: int

    def verdict(self, result):
        if result.verdict == "killed":
            return "killed"
        return self.judged.get(result.mutant.change.key, ("gap", ""))[0]

    def why(self, result):
        return self.judged.get(result.mutant.change.key, ("", "no test notices"))[1]

    def counts(self, results):
        found = dict.fromkeys(("killed", *judged.VERDICTS, "gap"), 0)
        for result in results:
            found[self.verdict(result)] += 1
        return found

    def survivors(self):
        return [result for result in self.run.results if result.verdict != "killed"]

    def wrong(self):
        """Yields a line for each gap, and for each that is said to be equivalent and is noticed."""
        for result in self.run.results:
            if self.verdict(result) == "gap":
                yield f"a gap: {where(result)}"
            elif result.verdict == "killed" and result.mutant.undecidable:
                yield f"judged equivalent, and noticed: {where(result)}"

    def score(self):
        found, number = self.counts(self.run.results), len(self.run.results)
        rest = ", ".join(f"{found[verdict]} {what}" for verdict, what in
                         (("equivalent", "equivalent"), ("performance", "of performance only"),
                          ("gap", "gap" if found["gap"] == 1 else "gaps")))
        told = number - found["equivalent"] - found["performance"]
        share = f": {100 * found['killed'] / told:.1f} % of those that a program can notice" if told else ""
        return f"{number} mutants of seed {self.seed}: {found['killed']} killed, {rest}{share}"


def where(result):
    change = result.mutant.change
    return f"{change.path}:{change.line}: {change.function}\n    - {change.before}\n    + {change.after}"


def noticed_by(result):
    return next((outcome.check for outcome in result.outcomes if outcome.noticed), "")


def as_text(report):
    lines = []
    for result in report.survivors():
        lines.append(f"{report.verdict(result)}: {where(result)}\n    {report.why(result)}")
    return "\n".join([*lines, report.score()])


def as_json(report):
    listed = [{"file": change.path, "line": change.line, "function": change.function,
               "kind": change.kind, "before": change.before, "after": change.after,
               "verdict": report.verdict(result), "noticed_by": noticed_by(result),
               **({"why": report.why(result)} if result.verdict != "killed" else {})}
              for result in report.run.results for change in [result.mutant.change]]
    return {"mutants": len(listed), **report.counts(report.run.results), "seed": report.seed,
            "seconds": round(report.run.seconds), "kept": report.run.kept, "list": listed}
