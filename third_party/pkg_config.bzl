"""A cc_library made from what pkg-config knows about an installed C library."""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "{library}",
    hdrs = glob(["include_*/**/*.h"]),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _ask(ctx, option):
    """Returns pkg-config's answer as a list of words; fails naming the Debian package to install."""
    tool = ctx.which("pkg-config")
    answer = ctx.execute([tool, option, ctx.attr.package]) if tool else None
    if answer == None or answer.return_code != 0:
        fail("pkg-config does not find %s: apt-get install pkg-config %s" %
             (ctx.attr.package, ctx.attr.debian_package))
    return [word for word in answer.stdout.strip().split(" ") if word]

def _symlink_includes(ctx):
    """Links each include directory into the repository, where the sandbox and Bazel's check for undeclared inclusions find its headers."""
    links = []
    for flag in _ask(ctx, "--cflags-only-I"):
        link = "include_%d" % len(links)
        ctx.symlink(flag[len("-I"):], link)
        links.append(link)
    return links

def _pkg_config_library_impl(ctx):
    other_flags = _ask(ctx, "--cflags-only-other")
    ctx.file("BUILD", _BUILD.format(
        library = ctx.attr.library,
        defines = repr([flag[len("-D"):] for flag in other_flags if flag.startswith("-D")]),
        includes = repr(_symlink_includes(ctx)),
        linkopts = repr(_ask(ctx, "--libs")),
    ))

pkg_config_library = repository_rule(
    implementation = _pkg_config_library_impl,
    attrs = {
        "debian_package": attr.string(mandatory = True, doc = "package to name when nothing is found"),
        "library": attr.string(mandatory = True, doc = "name of the cc_library"),
        "package": attr.string(mandatory = True, doc = "the library's name for pkg-config"),
    },
    configure = True,
    environ = ["PKG_CONFIG_PATH"],
    local = True,
)
