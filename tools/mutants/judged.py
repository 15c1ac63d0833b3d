"""What the survivors among the drawn mutants are said to be: tools/mutants/judged.

A block for each, with an empty line behind it; lines with # are comments:

    FUNCTION
    - the lines that are changed, their blanks made one
    + what they become
    equivalent: why no program can tell the difference

or "performance: why only the speed differs".  Any other survivor is a gap of the tests.  Lines that
occur twice in a function are judged once.
"""

import sys

import plan

sys.path.append(str(plan.ROOT / "tools"))
import source  # noqa: E402

LISTED = plan.HERE / "judged"
VERDICTS = ("equivalent", "performance")


def parse(text, path=LISTED.name):
    """{(function, before, after): (verdict, why)}"""
    found, block = {}, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line)
        elif block:
            key, verdict = _block(block, f"{path}:{number - len(block)}")
            if key in found:
                raise plan.PlanError(f"{path}:{number - len(block)}: the change is judged twice")
            found[key] = verdict
            block = []
    return found


def _block(lines, place):
    if len(lines) < 4 or not lines[1].startswith("- ") or not lines[2].startswith("+"):
        raise plan.PlanError(f"{place}: not FUNCTION, '- before', '+ after' and a verdict")
    verdict, _, why = " ".join(line.strip() for line in lines[3:]).partition(": ")
    if verdict not in VERDICTS or not why:
        raise plan.PlanError(f"{place}: '{verdict}' is no verdict with its reason; there are:"
                             f" {', '.join(VERDICTS)}")
    return (lines[0].strip(), lines[1][2:].strip(), lines[2][1:].strip()), (verdict, why)


def everything():
    return parse(LISTED.read_text(encoding="utf-8"))


def stale(texts):
    """Yields a line for each that is of no change of these files' functions."""
    collapsed = [" ".join(source.without_comments(text).split()) for text in texts]
    for function, before, _ in everything():
        if not any(f"{function}(" in text and before in text for text in collapsed):
            yield f"tools/mutants/judged: {function}: there is no '{before}'"
