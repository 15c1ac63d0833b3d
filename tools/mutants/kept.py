"""What checks have said before, for as long as nothing changes that they were made of."""

import dataclasses
import functools
import hashlib
import json
import subprocess
import time

import builds
import plan
import trials

FOLDER = plan.ROOT / ".cache" / "mutants"
DAYS = 30  # after which an outcome is forgotten
BUILDING, RUNNING = ("builds.py",), ("switched.c", "switches.py", "trials.py")


@functools.cache
def _common(only=None):
    """A hash of what all programs are made of and how they are run, or of `only` some object files."""
    sources = [path for name in builds.FOLDERS for path in (plan.ROOT / name).rglob("*")
               if path.suffix == ".h" or (path.suffix == ".c" and name in ("lib", "concurrent", "kit")
                                          and path.relative_to(plan.ROOT).match(only or "*"))]
    made = hashlib.sha256(subprocess.run([builds.CC, "--version"], capture_output=True,
                                         check=False).stdout)
    machinery = [plan.HERE / name for name in (BUILDING if only is not None else BUILDING + RUNNING)]
    for path in sorted(sources) + machinery:
        made.update(f"{path.relative_to(plan.ROOT)}\n".encode() + path.read_bytes())
    return made


def _object_of(mutant):
    """The pattern of the sources whose object files a change may change."""
    return mutant.change.path if mutant.change.path.endswith(".c") else "*"


def _key(mutant, check):
    """Of a mutant, or of the library as it is: None."""
    made = _common(_object_of(mutant) if check == "compiled" else None).copy()
    for source in builds.program_of(check)[1]:
        made.update(f"{source}\n".encode() + (plan.ROOT / source).read_bytes())
    made.update(f"{mutant.edge}\n{mutant.patch.partition('--- a/')[2]}\n".encode() if mutant else b"")
    made.update(check.encode())
    return made.hexdigest()


class Kept:
    """Outcomes by what they came from, a file each."""

    def __init__(self, is_fresh):
        self.is_fresh = is_fresh  # nothing from before
        self.found = 0
        for path in FOLDER.rglob("*.*"):
            if path.stat().st_mtime < time.time() - DAYS * 86400:
                path.unlink()

    def value(self, mutant, check, make):
        """What can be written as JSON: from before, or make()'s, which is kept."""
        path = FOLDER / f"{_key(mutant, check)}.json"
        if not self.is_fresh and path.exists():
            self.found += 1
            return json.loads(path.read_text())
        made = make()
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(made))
        part.rename(path)
        return made

    def outcome(self, mutant, check, run):
        """The one from before, or run()'s, which is kept."""
        return trials.Outcome(**self.value(mutant, check, lambda: dataclasses.asdict(run())))

    def noticed(self, mutant):
        """Whether one of its checks has, before; that one's outcome, or None."""
        paths = (FOLDER / f"{_key(mutant, check)}.json" for check in mutant.checks)
        outcomes = (trials.Outcome(**json.loads(path.read_text())) for path in paths
                    if not self.is_fresh and path.exists())
        noticed = next((outcome for outcome in outcomes if outcome.noticed), None)
        self.found += noticed is not None
        return noticed
