#!/usr/bin/env python3
"""Checks stdin against the rules of Prometheus's text format, version 0.0.4.

Names and labels well formed, label values escaped, one HELP and one TYPE a metric and both before its
samples, a metric's lines together, counters named ..._total, no sample twice, a newline at the end.
Prints "NAME{LABELS} VALUE" for each sample; exits with 1 at the first line that breaks a rule.
"""

import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
COMMENT = re.compile(rf"# (HELP|TYPE) ({NAME}) (.+)")
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (-?[0-9.eE+-]+)")


def check(text):
    """The samples; raises ValueError with what is wrong."""
    samples = []
    seen = {"HELP": set(), "TYPE": set(), "sample": set()}
    types = {}
    current = None
    if not text.endswith("\n"):
        raise ValueError("no newline at the end")
    for line in text[:-1].split("\n"):
        comment, sample = COMMENT.fullmatch(line), SAMPLE.fullmatch(line)
        if comment:
            kind, name, rest = comment.groups()
            if name in seen[kind]:
                raise ValueError(f"a second {kind}: {line}")
            seen[kind].add(name)
            if kind == "HELP":
                current = name
            else:
                types[name] = rest
                if rest not in ("counter", "gauge"):
                    raise ValueError(f"no such type: {line}")
                if (rest == "counter") != name.endswith("_total"):
                    raise ValueError(f"counters end in _total: {line}")
        elif sample:
            name, labels, value = sample.groups()
            keys = re.findall(r'(\w+)="', re.sub(r'"(?:[^"\\]|\\.)*"', '""', labels))
            if name != current or name not in types:
                raise ValueError(f"not below its HELP and TYPE: {line}")
            if len(set(keys)) != len(keys):
                raise ValueError(f"a label twice: {line}")
            if (name, labels) in seen["sample"]:
                raise ValueError(f"a second time: {line}")
            seen["sample"].add((name, labels))
            float(value)
            samples.append(line)
        else:
            raise ValueError(f"neither comment nor sample: {line}")
        if current is None:
            raise ValueError(f"before any HELP: {line}")
    return samples


def main():
    try:
        print("\n".join(check(sys.stdin.read())))
    except ValueError as error:
        sys.exit(f"check_prometheus: {error}")


if __name__ == "__main__":
    main()
