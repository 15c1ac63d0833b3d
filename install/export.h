/*
 * install/export.h - included before every source file of the installed libraries, which are
 * compiled with hidden visibility: what the public headers declare is visible, nothing else.
 * So the headers themselves need no mark.
 */
#ifndef HAFT_INSTALL_EXPORT_H
#define HAFT_INSTALL_EXPORT_H

/* Sources that need it define it first, but here the headers come before them. */
#define _GNU_SOURCE

#pragma GCC visibility push(default)
#include <haft/haft.h>
#pragma GCC visibility pop

#endif /* HAFT_INSTALL_EXPORT_H */
