"""How many atomic operations a call makes, as the explorer that counts them says it."""

import subprocess

PROGRAM = "explorer_counted"


def names(program):
    """{distance from the program's start: name} of its functions, static ones too."""
    listed = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True)
    symbols = [line.split() for line in listed.stdout.splitlines()]
    begin = next(int(at, 16) for at, _, name in symbols if name == "__executable_start")
    return {int(at, 16) - begin: name.partition(".")[0] for at, kind, name in symbols if kind in "tT"}


def calls(said, named):
    """{name: (operations, read-modify-writes)}, each the most of one call: of an inline function, in
    any file that has it."""
    found = {}
    for distance, most in said["calls"].items():
        name = named[int(distance)]
        found[name] = tuple(map(max, most, found.get(name, (0, 0))))
    return found
