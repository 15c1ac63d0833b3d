"""What figures and verdicts depend on: machine, compiler, commit."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output_of(*command):
    """Nothing if it fails."""
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_line(*command):
    return output_of(*command).partition("\n")[0].strip()


def counted(number, noun):
    """With an s where there is another number than one."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def processor():
    """Its name, and whether it is lent to a virtual machine, whose system calls and page faults cost more."""
    described = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", described, re.M)
    is_lent = re.search(r"^flags\s*:.*\bhypervisor\b", described, re.M)
    return (model.group(1) if model else platform.machine()) + (", virtual" if is_lent else "")


def commit(mark, *wanted):
    """The short name; with the mark, if `git status` of what is wanted shows changes."""
    changed = output_of("git", "status", "--porcelain", *wanted)
    return output_of("git", "rev-parse", "--short", "HEAD") + (mark if changed else "")


def commit_of_sources():
    """A + if files differ from it; not those of reports, which commands write."""
    return commit("+", "--untracked-files=no", "--", ".", ":!docs/verification.md")


def line(compiler):
    """Of a report that begins now."""
    return (f"{datetime.date.today().isoformat()}, commit {commit_of_sources()}, {processor()},"
            f" {counted(os.cpu_count(), 'core')}, {first_line(compiler, '--version')}")
