"""What the mutants' checks have said, for people and machines."""

import dataclasses
import json
import sys

import plan

sys.path.append(str(plan.ROOT / "tools"))
import circumstances  # noqa: E402

LETTERS = {"held": "-", "not met": "-", "fails": "F", "violation": "V", "report": "R", "crash": "C",
           "time limit": "T"}
LEGEND = ("F a test fails, V a program sees a violation, R ThreadSanitizer reports, C a crash, "
          "T the time limit, - held; checks behind the first that noticed may not have been run")


@dataclasses.dataclass(frozen=True)
class Run:
    results: list
    seconds: float
    kept: int  # outcomes of checks from runs before


def from_before(run):
    return f", {circumstances.counted(run.kept, 'outcome')} of runs before" if run.kept else ""


def short(check):
    kind, *words = check.split()
    if kind == "explorer":
        memory = [word for word in words if word in ("c11", "tsan")]
        return "_".join(words[:1] + memory)
    if kind in ("stress", "release"):
        return "_".join(words[:1] + words[3:])
    if kind == "stale":
        return "_".join(words)
    return words[0] if kind == "unit" else "_".join(words[2:])


def cell(outcomes, kind):
    return " ".join(f"{short(outcome.check)}:{LETTERS[outcome.verdict]}" for outcome in outcomes
                    if outcome.check.split()[0] == kind)


def counts(results):
    found = {"mutants": len(results), "killed": 0, "survived": 0, "undecidable": 0}
    for result in results:
        found[result.verdict] += 1
    return found


def last_line(results):
    found = counts(results)
    plural = "" if found["mutants"] == 1 else "s"
    return (f"{found['mutants']} mutant{plural}: {found['killed']} killed, {found['survived']} survived, "
            f"{found['undecidable']} undecidable")


def as_text(run):
    results = run.results
    head = ("mutant", *plan.KINDS)
    rows = [head] + [(r.mutant.name, *(cell(r.outcomes, kind) for kind in plan.KINDS))
                     for r in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
             for row in rows]
    for result in results:
        if result.verdict == "survived":
            lines.append(f"SURVIVED: {result.mutant.name}: {result.mutant.breaks}")
        elif result.verdict == "undecidable":
            lines.append(f"undecidable: {result.mutant.name}: {result.mutant.undecidable}")
    return "\n".join([*lines, LEGEND, last_line(results) + from_before(run)])


def _kind(mutant):
    return "operation" if mutant.operation else "edge" if mutant.edge else "protocol"


def _of_operation(operation):
    return {"file": operation.path, "function": operation.function, "edge": operation.edge,
            "operation": f"{operation.kind}_{operation.order}",
            "word": operation.word} if operation else {}


def as_json(run):
    results = run.results
    listed = [{
        "name": result.mutant.name,
        "kind": _kind(result.mutant),
        "breaks": result.mutant.breaks,
        "verdict": result.verdict,
        "checks": [{"check": o.check, "verdict": o.verdict, "detail": o.detail,
                    "seconds": round(o.seconds, 1)}
                   for o in result.outcomes],
        **_of_operation(result.mutant.operation),
        **({"why": result.mutant.undecidable} if result.mutant.undecidable else {}),
    } for result in results]
    return json.dumps({**counts(results), "seconds": round(run.seconds), "kept": run.kept,
                       "list": listed}, indent=1)
