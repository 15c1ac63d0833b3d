/* The export's functions of POSIX that system headers may hide: see lib/base/os_posix.h. */
#ifndef HAFT_EXPORT_EXPORT_POSIX_H
#define HAFT_EXPORT_EXPORT_POSIX_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#define OS_AT_EACCESS 0x200

#ifdef O_CLOEXEC
#define OS_O_CLOEXEC O_CLOEXEC
#else
#define OS_O_CLOEXEC __O_CLOEXEC /* glibc has these always */
#endif
#ifdef O_NOFOLLOW
#define OS_O_NOFOLLOW O_NOFOLLOW
#else
#define OS_O_NOFOLLOW __O_NOFOLLOW
#endif
#ifdef O_DIRECTORY
#define OS_O_DIRECTORY O_DIRECTORY
#else
#define OS_O_DIRECTORY __O_DIRECTORY
#endif

int sys_openat(int directory, const char *path, int flags, ...) __asm__("openat");
int sys_faccessat(int directory, const char *path, int mode, int flags) __asm__("faccessat");
int sys_fchmod(int file, mode_t mode) __asm__("fchmod");
int sys_unlinkat(int directory, const char *path, int flags) __asm__("unlinkat");
int sys_renameat(int from, const char *path, int to, const char *new_path) __asm__("renameat");
FILE *sys_open_memstream(char **text, size_t *length) __asm__("open_memstream");

#else
#define OS_AT_EACCESS AT_EACCESS
#define OS_O_CLOEXEC O_CLOEXEC
#define OS_O_NOFOLLOW O_NOFOLLOW
#define OS_O_DIRECTORY O_DIRECTORY

#define sys_openat openat
#define sys_faccessat faccessat
#define sys_fchmod fchmod
#define sys_unlinkat unlinkat
#define sys_renameat renameat
#define sys_open_memstream open_memstream
#endif

#endif /* HAFT_EXPORT_EXPORT_POSIX_H */
