#!/usr/bin/python3
"""The operations of each call are counted, and one that is added is seen.

Usage: counted_test.py <explorer_counted>
"""

import json
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import counted  # noqa: E402


def calls(program, case, *options):
    command = [program, "--json", "--case", case, "--schedules", "500", *options]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return counted.calls(json.loads(run.stdout), counted.names(program))


def expect(holds, what, found):
    if not holds:
        sys.exit(f"counted_test: {what}: {found}")


def main():
    program = os.path.abspath(sys.argv[1])
    for memory in ("sc", "c11"):
        plain = calls(program, "double_free", "--memory", memory)
        more = calls(program, "double_free", "--memory", memory, "--break", "look")
        operations, modifying = plain["haft_free"]
        expect(plain["haft_resolve"] == (1, 0), "a resolve is one load", plain["haft_resolve"])
        expect(plain["haft_publish"][1] == 0, "a publication stores", plain["haft_publish"])
        expect(0 < modifying < operations, "a free reads and modifies", plain["haft_free"])
        expect(more["haft_free"] == (operations + 1, modifying), "one look more", more["haft_free"])
        expect(more["haft_publish"] == plain["haft_publish"], "no other call has it", more)
    print(f"haft_free: {operations} operations, {modifying} of them read-modify-writes")


main()
