#!/usr/bin/env python3
"""Replays a trace and prints what haft answers, row by row: the same bytes as in C, C++ and Rust.

    answers.py API.json libhaft.so TRACE.csv

The rows of the trace are `thread,op,object`, as examples/replay reads them; one thread carries all out.
"""

import re
import struct
import sys

import haft

ROW = re.compile(r"\d+,([auf]),(\d+)")


def rows(path):
    """(line, op, object) of each row."""
    with open(path, encoding="utf-8") as file:
        for line, text in enumerate(file, 1):
            if text.startswith("#"):
                continue
            row = ROW.fullmatch(text.rstrip("\n"))
            if row is None:
                raise ValueError(f"{path}:{line}: not a row: thread,op,object with op a, u or f")
            yield line, row[1], int(row[2])


class Answers:
    def __init__(self, worker):
        self.worker, self.ids = worker, {}

    def allocate(self, number):
        self.ids[number] = made = self.worker.insert(struct.pack("=QQ", number, 0))
        return f"{made} {int(made)}"

    def use(self, number):
        with self.worker.section() as objects:
            found = objects[self.ids[number]]
            named, uses = struct.unpack("=QQ", found)
            struct.pack_into("=QQ", found, 0, named, uses + 1)
        return f"{named} {uses + 1}"

    def free(self, number):
        name = self.ids.pop(number)
        self.worker.free(name)
        try:
            self.worker.free(name)
        except haft.HaftError as error:
            return f"{name} {error.name} {error.text}"
        return f"{name} freed twice"

    def answer(self, op, number):
        return {"a": self.allocate, "u": self.use, "f": self.free}[op](number)


def replay(table, path):
    with table.worker() as worker:
        answers = Answers(worker)
        for line, op, number in rows(path):
            if (number in answers.ids) == (op == "a"):
                raise ValueError(f"{path}:{line}: the object is {'' if op == 'a' else 'not '}allocated")
            print(line, op, number, answers.answer(op, number))
        print(f"{len(table)} live")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        library = haft.load(*sys.argv[1:3])
        with library.domain() as domain, domain.table(name="answers", capacity=1 << 16, object_size=16) as table:
            replay(table, sys.argv[3])
    except (OSError, ValueError, ImportError, haft.HaftError) as error:
        sys.exit(f"answers.py: {error}")


if __name__ == "__main__":
    main()
