"""The system libraries for Bazels that read MODULE.bazel; WORKSPACE has the same list."""

load(":pkg_config.bzl", "pkg_config_library")

def _system_libraries_impl(_ctx):
    pkg_config_library(
        name = "glib",
        debian_package = "libglib2.0-dev",
        library = "glib",
        package = "glib-2.0",
    )
    pkg_config_library(
        name = "lua",
        debian_package = "liblua5.4-dev",
        library = "lua",
        package = "lua5.4",
    )

system_libraries = module_extension(implementation = _system_libraries_impl)
