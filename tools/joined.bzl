"""Libraries whose sources may be compiled by their files, or all at once: see //tools:joined."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def joined_library(name, srcs, apart = [], hdrs = [], **kwargs):
    """A cc_library.

    Args:
      name: of the library.
      srcs: C files, which may be included by one.
      apart: C files that are compiled by themselves in any case.
      hdrs: headers that only these include.
      **kwargs: as of a cc_library.
    """
    native.genrule(
        name = name + "_joined_source",
        srcs = srcs,
        outs = [name + "_joined.c"],
        # In another workspace they lie below external/haft/, where they are looked for.
        cmd = "printf '#include \"%s\"\\n' $(SRCS) | sed 's|\"external/[^/]*/|\"|' >$@",
    )
    cc_library(
        name = name,
        srcs = hdrs + apart + select({
            "//tools:joined": [name + "_joined.c"],
            "//conditions:default": srcs,
        }),
        textual_hdrs = select({
            "//tools:joined": srcs,
            "//conditions:default": [],
        }),
        **kwargs
    )
