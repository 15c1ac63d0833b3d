/*
 * install/export.h - included before every source file of the installed libraries, which are
 * compiled with hidden visibility: what the public headers declare is visible, nothing else.
 * So the headers themselves need no mark.  With HAFT_HIDDEN, for static libraries, nothing is
 * visible: a library that has one inside does not export haft's functions.
 */
#ifndef HAFT_INSTALL_EXPORT_H
#define HAFT_INSTALL_EXPORT_H

#ifdef HAFT_HIDDEN
#include <haft/kit/kit.h>
#else
#pragma GCC visibility push(default)
#include <haft/kit/kit.h>
#pragma GCC visibility pop
#endif

#endif /* HAFT_INSTALL_EXPORT_H */
