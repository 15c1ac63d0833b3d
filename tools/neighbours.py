"""haft in other programs' sources: beside the macros of other libraries, in unity builds, behind
precompiled headers, in a module of C++20, and refused where the language is another.

cases(full) yields (name, function), of which each raises an error of subprocess where it fails.
"""

import functools
import os
import shutil
import subprocess
import tempfile

import circumstances

ROOT = circumstances.ROOT
HERE = "tests/neighbours"
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
C = (("gcc", "clang-19"), ("c11", "gnu11", "c17", "c2x"))
CXX = (("g++", "clang++-19"), ("c++17", "c++20", "c++23"))
# Which include all others but those for liburcu.
WHOLE = ("haft.h", "haft.hpp", "kit.h", "kit.hpp", "haft_kit.h", "haft_kit.hpp")
QT = "/usr/include/x86_64-linux-gnu/qt5"
MINGW = "x86_64-w64-mingw32"
I386 = ["-m32", "-march=i686", "-Wno-psabi", "-idirafter", "/usr/include/x86_64-linux-gnu"]

# What a source includes before haft, in C and in C++, and the options for it.
BEFORE = {
    "nothing": ("", []),
    "macros of others": (f"#include <{HERE}/macros.h>\n", ["-I."]),
    "X11": ("#include <X11/Xlib.h>\n#include <X11/Xutil.h>\n#include <X11/keysym.h>\n", []),
    "curses": ("#include <curses.h>\n", []),
    "Qt": ("#include <QObject>\n", [f"-isystem{QT}", f"-isystem{QT}/QtCore", "-fPIC"]),
    "windows.h": ("#include <windows.h>\n", []),
}


def said_by(command, text=None):
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, input=text)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {(done.stderr + done.stdout).strip()}")
    return done.stdout


def run_in(folder, *commands):
    for command in commands:
        said_by([word.replace("@", folder) for word in command])


def in_folder(*commands):
    """Runs commands, where @ stands for a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        run_in(folder, *commands)


def headers_of(suffixes):
    for path in sorted([*ROOT.glob("include/haft/*.h*"), *ROOT.glob("include/haft/kit/*.h*")]):
        if path.suffix in suffixes and not (path.name == "urcu.h" and not os.path.exists("/usr/include/urcu")):
            yield path.relative_to(ROOT / "include").as_posix(), "include"
    yield from ((path.name, "dist") for path in sorted((ROOT / "dist").glob("*.h*")) if path.suffix in suffixes
                and not (path.name == "haft_urcu.h" and not os.path.exists("/usr/include/urcu")))


def compile_headers(compiler, standard, before):
    """Each header behind others', with warnings of what -I finds."""
    text, options = BEFORE[before]
    is_cxx = standard.startswith("c++")
    for header, folder in headers_of({".h", ".hpp"} if is_cxx else {".h"}):
        if before != "macros of others" and header.rpartition("/")[2] not in WHOLE:
            continue
        said_by([compiler, f"-std={standard}", *WARNINGS, *(["-Wold-style-cast"] if is_cxx else []), *options,
                 f"-I{folder}", "-fsyntax-only", "-x", "c++" if is_cxx else "c", "-"], f"{text}#include <{header}>\n")


def unity(compiler, options):
    """haft_kit.c, and so haft.c, as a part of sources, behind the system's headers and others' macros."""
    for source in ("unity_test.c", "c_test.c"):
        in_folder([compiler, *options, *WARNINGS, "-Wno-unused-function", "-DHAFT_TWO_FILES", "-I.", "-Idist",
                   f"{HERE}/{source}", "-pthread", "-o", "@/program"], ["@/program"])


def precompiled(compiler, options):
    """haft_kit.c behind a precompiled header, which has been made without a thought of haft."""
    with tempfile.TemporaryDirectory() as folder:
        header = f"{folder}/all.h"
        with open(header, "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        made = f"{header}.{'pch' if 'clang' in compiler else 'gch'}"
        run_in(folder, [compiler, *options, "-x", "c-header", header, "-o", made],
               [compiler, *options, "-include", header, "-Werror", "-c", "dist/haft_kit.c", "-o", "@/haft.o"],
               [compiler, *options, "-Idist", f"{HERE}/cmake/main.c", "@/haft.o", "-pthread", "-o", "@/program"],
               ["@/program"])


def by_cmake(how):
    in_folder(["cmake", "-G", "Ninja", "-S", f"{HERE}/cmake", "-B", "@/built", f"-DHAFT={ROOT}", f"-DHOW={how}"],
              ["cmake", "--build", "@/built"], ["@/built/program"])


def module(compiler):
    """Templates of haft.hpp, through a module."""
    cxx = [compiler, "-std=c++20", "-Idist"]
    in_folder([*cxx, "--precompile", f"{HERE}/modules/wrapped.cppm", "-o", "@/wrapped.pcm"],
              [*cxx, "-c", "@/wrapped.pcm", "-o", "@/wrapped.o"],
              [*cxx, "-fmodule-file=wrapped=@/wrapped.pcm", "-c", f"{HERE}/modules/main.cc", "-o", "@/main.o"],
              [compiler.replace("++", ""), "-c", "dist/haft_kit.c", "-o", "@/haft.o"],
              [compiler, "@/main.o", "@/wrapped.o", "@/haft.o", "-pthread", "-o", "@/program"], ["@/program"])


def refused(command):
    """haft.c in another language: one error, which says what to do."""
    for name in ("haft.c", "haft_kit.c"):
        done = subprocess.run([*command, "-c", f"dist/{name}", "-o", os.devnull], check=False,
                              capture_output=True, text=True, cwd=ROOT)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        assert done.returncode != 0 and len(errors) == 1 and "haft.c " in errors[0], done.stderr[:1000]


def is_here(before, compiler):
    files = {"X11": "/usr/include/X11/Xlib.h", "curses": "/usr/include/curses.h", "Qt": QT}
    return shutil.which(compiler) is not None and os.path.exists(files.get(before, "/"))


def of_headers():
    for compilers, standards in (C, CXX):
        for compiler in compilers:
            for standard in standards:
                for before in BEFORE:
                    if before != "windows.h" and not (before == "Qt" and compilers == C[0]):
                        yield before, compiler, standard
    yield "windows.h", f"{MINGW}-gcc-posix", "gnu11"
    yield "windows.h", f"{MINGW}-g++-posix", "c++17"


def cases(full):
    """(name, function or None where a tool is not here)."""
    for before, compiler, standard in of_headers() if full else ():
        yield (f"headers behind {before}, {compiler} -std={standard}",
               functools.partial(compile_headers, compiler, standard, before) if is_here(before, compiler) else None)
    builds = [("gcc", "-std=c11"), ("clang-19", "-std=gnu11")]
    more = [("clang-19", "-std=c11"), ("gcc", "-std=gnu11"), ("gcc", "-std=gnu2x"), ("clang-19", "-std=gnu2x"),
            ("musl-gcc", "-std=c11"), ("musl-gcc", "-std=gnu11"),
            ("gcc", "-std=c11 -D_POSIX_C_SOURCE=199309L"), ("gcc", "-std=c11 -D_GNU_SOURCE"),
            ("gcc-12", " ".join(["-std=c11", *I386])),
            ("gcc-12", " ".join(["-std=gnu11 -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64", *I386]))]
    for compiler, options in builds + (more if full else []):
        there = shutil.which(compiler) is not None
        yield f"unity, {compiler} {options}", functools.partial(unity, compiler, options.split()) if there else None
        if "-m32" not in options and compiler != "musl-gcc":
            yield (f"precompiled header, {compiler} {options}",
                   functools.partial(precompiled, compiler, options.split()) if there else None)
    if full:
        for how in ("unity", "pch", "part"):
            yield f"CMake, {how}", functools.partial(by_cmake, how) if shutil.which("ninja") else None
    yield "module, clang++-19", functools.partial(module, "clang++-19") if shutil.which("clang++-19") else None
    in_lint = ("g++", "gcc -std=c89", "gcc -std=c99", "gcc -std=gnu99")
    for command in ("clang++-19", "clang-19 -std=c99", *((*in_lint, "tcc") if full else ())):
        there = shutil.which(command.split()[0]) is not None
        yield f"refused, {command}", functools.partial(refused, command.split()) if there else None
