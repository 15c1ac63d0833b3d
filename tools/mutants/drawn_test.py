"""The self-test of changes.py, drawn.py, judged.py and switches.py."""

import dataclasses
import os
import pathlib
import subprocess
import tempfile

import builds
import changes
import drawn
import judged
import plan
import switches
import table
import trials

SAMPLE = """
static int clamp(int value, int most, unsigned *calls)
{
    *calls += 1; /* a > b */
    if (value > most) {
        return most;
    }
    assert(value <= most);
    for (int i = 0; i < value; i++) {
        note(i,
             most);
    }
    return value != 0x10u ? value : 7;
}
"""
# It says what clamp() does, and at which line; a run that is not as the sample's fails.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#ifndef LAST
#define LAST 21
#endif
static int notes;
static unsigned sum;
void note(int i, int most)
{
    if (++notes > 200) {
        printf("for ever");
        exit(1);
    }
    sum = sum * 3 + i * 10 + most;
}
int main(void)
{
    unsigned calls = 0;
    for (int value = -1; value < LAST; value++) {
        sum = 0;
        printf("%d ", clamp(value, value == 3 ? 3 : 18, &calls));
        printf("%u %u, ", sum, calls);
    }
    printf("line %d", __LINE__);
    return calls != 22 || sum != 0;
}
"""
EXPECTED = {
    ("removal", "*calls += 1;", ";"),
    ("constant", "*calls += 1;", "*calls += 2;"),
    ("constant", "*calls += 1;", "*calls += 0;"),
    ("relation", "if (value > most) {", "if (value >= most) {"),
    ("negation", "if (value > most) {", "if (!(value > most)) {"),
    ("return", "return most;", ";"),
    ("constant", "for (int i = 0; i < value; i++) {", "for (int i = 1; i < value; i++) {"),
    ("relation", "for (int i = 0; i < value; i++) {", "for (int i = 0; i <= value; i++) {"),
    ("negation", "for (int i = 0; i < value; i++) {", "for (int i = 0; !(i < value); i++) {"),
    ("removal", "note(i, most);", ";"),
    ("swap", "note(i, most);", "note(most, i);"),
    ("relation", "return value != 0x10u ? value : 7;", "return value == 0x10u ? value : 7;"),
    ("negation", "return value != 0x10u ? value : 7;", "return !(value != 0x10u) ? value : 7;"),
    ("constant", "return value != 0x10u ? value : 7;", "return value != 0x11u ? value : 7;"),
    ("constant", "return value != 0x10u ? value : 7;", "return value != 0xfu ? value : 7;"),
    ("constant", "return value != 0x10u ? value : 7;", "return value != 0x10u ? value : 8;"),
    ("constant", "return value != 0x10u ? value : 7;", "return value != 0x10u ? value : 6;"),
}
JUDGED = """# those of f
f
- a < b
+ a <= b
equivalent: they are
    never alike

g
- h();
+ ;
performance: h() only warms up
"""
MISJUDGED = {  # what is said of it
    "f\n- a\n+ b\n": "not FUNCTION",
    "f\n+ a\n- b\nequivalent: x\n": "not FUNCTION",
    "f\n- a\n+ b\nharmless: x\n": "'harmless' is no verdict",
    "f\n- a\n+ b\nequivalent:\n": "is no verdict with its reason",
    "\n\nf\n- a\n+ b\nequivalent: x\n\nf\n- a\n+ b\nequivalent: y\n": "judged:8: the change is judged twice",
}


def problems_of_changes():
    text = "void note(int, int);\n" + SAMPLE
    made = changes.of_text(plan.ROOT, "lib/sample.c", text)
    found = {(change.kind, change.before, change.after) for change in made}
    for change in sorted(found ^ EXPECTED):
        yield f"a change {'too many' if change in found else 'is missing'}: {change}"
    for change in made:
        if change.of(text).count("\n") != text.count("\n"):
            yield f"lines move: {change}"
        if change.function != "clamp":
            yield f"not in clamp: {change}"


def problems_of_drawing():
    made = changes.of_text(plan.ROOT, "lib/sample.c", "void note(int, int);\n" + SAMPLE)
    by_file = {path: [dataclasses.replace(change, path=path) for change in made] for path in "abc"}
    by_file["c"] = by_file["c"][:1]

    def draw(number, seed, is_mutant=lambda change: True):
        return [(change.path, change.span, change.text) for change in drawn.drawn(by_file, number, seed, is_mutant)]

    if draw(9, 1) != draw(9, 1) or sorted(draw(9, 1)) == sorted(draw(9, 2)):
        yield "a seed does not decide what is drawn"
    if len(draw(8, 1)) != 8:
        yield "more are drawn than are wanted"
    if sorted(path for path, *_ in draw(9, 1)) != list("aaaabbbbc"):
        yield f"not even: {draw(9, 1)}"
    if len(set(draw(999, 1))) != 2 * len(made) + 1:
        yield "some changes are never drawn, or twice"
    if any(path == "a" for path, *_ in draw(9, 1, lambda change: change.path != "a")):
        yield "what is no mutant is counted"


def problems_of_judging():
    found = judged.parse(JUDGED)
    if found != {("f", "a < b", "a <= b"): ("equivalent", "they are never alike"),
                 ("g", "h();", ";"): ("performance", "h() only warms up")}:
        yield f"judged: {found}"
    for text, message in MISJUDGED.items():
        try:
            yield f"judged: accepts {judged.parse(text)}"
        except plan.PlanError as error:
            if message not in str(error):
                yield f"judged: '{error}' instead of '{message}'"


def problems_of_switches():
    text = "void note(int, int);\n" + SAMPLE
    found = changes.of_text(plan.ROOT, "lib/sample.c", text)
    numbers = {change: number for number, change in enumerate(found)}
    marks = {place: mark for mark, place in enumerate(sorted({change.place for change in found}))}
    with tempfile.TemporaryDirectory() as folder:
        switched = _program(folder, switches.of_text(text, found, numbers, marks) + MAIN)
        whole = _said(switched)
        if whole != _said(_program(folder, text + MAIN)):
            yield f"switches: with none on, the sample says {whole}"
        for change, number in numbers.items():
            said = _said(switched, HAFT_SWITCHED=str(number))
            alone = _said(_program(folder, change.of(text) + MAIN))
            if said != alone or said == whole:
                yield f"switches: {said} instead of {alone}: {change}"
        outcomes = [trials.run(switched, "quick sample", 60, _numbered(number)).verdict for number in (-1, 0)]
        if outcomes != ["held", "fails"]:
            yield f"switches: a change that a program notices: {outcomes}"
        file = pathlib.Path(folder, "marks")
        few = _program(folder, switches.of_text(text, found, {}, marks) + MAIN, "-DLAST=0")
        trials.reached(few, file, 60)
        reached = {change.before for change in found if file.read_bytes()[marks[change.place]]}
        if reached != {change.before for change in found} - {"return most;", "note(i, most);"}:
            yield f"switches: reached, where no value is 0 or more: {reached}"


def _program(folder, text, *flags):
    path = pathlib.Path(folder, f"sample{len(list(pathlib.Path(folder).iterdir()))}")
    path.with_suffix(".c").write_text(text)
    subprocess.run([builds.CC, "-std=c11", "-w", "-Dassert(x)=(void)0", *flags, path.with_suffix(".c"),
                    plan.ROOT / builds.SWITCHED, "-o", path], check=True)
    return path


def _said(program, **environment):
    done = subprocess.run([program], env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False)
    return done.stdout


def _numbered(number):
    return plan.Mutant("", "", (), tree=True, number=number)


@dataclasses.dataclass(frozen=True)
class Tried:
    """A result, as tools/mutants/run has it."""

    mutant: plan.Mutant
    verdict: str
    outcomes: tuple = ()


def problems_of_reports():
    made = changes.of_text(plan.ROOT, "lib/sample.c", "void note(int, int);\n" + SAMPLE)[:4]
    mutants = [plan.Mutant(change.name, "", (), change=change) for change in made]
    mutants[0] = dataclasses.replace(mutants[0], undecidable="x")
    noticed = (trials.Outcome("quick word", "fails", "", 1.0),)
    results = [Tried(mutants[0], "killed", noticed), Tried(mutants[1], "killed", noticed),
               Tried(mutants[2], "survived"), Tried(mutants[3], "survived")]
    report = drawn.Report(table.Run(results, 1.0, 0),
                          {made[0].key: ("equivalent", "x"), made[3].key: ("performance", "y")}, 1)
    lines = list(report.wrong())
    if len(lines) != 2 or "judged equivalent, and noticed" not in lines[0] or "a gap" not in lines[1]:
        yield f"what is wrong: {lines}"
    if report.score() != ("4 mutants of seed 1: 2 killed, 0 equivalent, 1 of performance only, 1 gap: "
                          "66.7 % of those that a program can notice"):
        yield report.score()
    if sum("gap" in line for line in drawn.as_text(report).splitlines()) != 2:
        yield "the report lacks a gap"


def problems():
    found = [*problems_of_changes(), *problems_of_drawing(), *problems_of_judging(), *problems_of_reports(),
             *problems_of_switches()]
    return [f"self-test: {problem}" for problem in found]
