#include "calls.h"
#include <string.h>

/* Arguments that are descriptors: the first, and one more or none. */
struct call {
    const char *name;
    enum call_kind kind;
    signed char first, second; /* -1: none */
};

static const struct call calls[] = {
    {"open", CALL_OPENS, -1, -1},
    {"openat", CALL_OPENS, 0, -1},
    {"openat2", CALL_OPENS, 0, -1},
    {"open_by_handle_at", CALL_OPENS, 0, -1},
    {"creat", CALL_OPENS, -1, -1},
    {"socket", CALL_OPENS, -1, -1},
    {"accept", CALL_OPENS, 0, -1},
    {"accept4", CALL_OPENS, 0, -1},
    {"eventfd", CALL_OPENS, -1, -1},
    {"eventfd2", CALL_OPENS, -1, -1},
    {"epoll_create", CALL_OPENS, -1, -1},
    {"epoll_create1", CALL_OPENS, -1, -1},
    {"timerfd_create", CALL_OPENS, -1, -1},
    {"inotify_init", CALL_OPENS, -1, -1},
    {"inotify_init1", CALL_OPENS, -1, -1},
    {"fanotify_init", CALL_OPENS, -1, -1},
    {"memfd_create", CALL_OPENS, -1, -1},
    {"memfd_secret", CALL_OPENS, -1, -1},
    {"userfaultfd", CALL_OPENS, -1, -1},
    {"perf_event_open", CALL_OPENS, -1, -1},
    {"pidfd_open", CALL_OPENS, -1, -1},
    {"io_uring_setup", CALL_OPENS, -1, -1},
    {"pipe", CALL_PIPES, -1, -1},
    {"pipe2", CALL_PIPES, -1, -1},
    {"socketpair", CALL_PAIRS, -1, -1},
    {"dup", CALL_DUPLICATES, 0, -1},
    {"dup2", CALL_DUPLICATES, 0, -1},
    {"dup3", CALL_DUPLICATES, 0, -1},
    {"fcntl", CALL_CONTROLS, 0, -1},
    {"fcntl64", CALL_CONTROLS, 0, -1},
    {"close", CALL_CLOSES, 0, -1},
    {"close_range", CALL_CLOSES_RANGE, -1, -1},
    {"fork", CALL_MAKES_CHILD, -1, -1},
    {"vfork", CALL_MAKES_CHILD, -1, -1},
    {"clone", CALL_MAKES_CHILD, -1, -1},
    {"clone3", CALL_MAKES_CHILD, -1, -1},
    {"execve", CALL_EXECUTES, -1, -1},
    {"execveat", CALL_EXECUTES, -1, -1},
    {"mmap", CALL_USES, 4, -1},
    {"mmap2", CALL_USES, 4, -1},
    {"sendfile", CALL_USES, 0, 1},
    {"sendfile64", CALL_USES, 0, 1},
    {"splice", CALL_USES, 0, 2},
    {"tee", CALL_USES, 0, 1},
    {"copy_file_range", CALL_USES, 0, 2},
    {"epoll_ctl", CALL_USES, 0, 2},
    {"linkat", CALL_USES, 0, 2},
    {"renameat", CALL_USES, 0, 2},
    {"renameat2", CALL_USES, 0, 2},
    {"symlinkat", CALL_USES, 1, -1},
};

/* All others that take one, take it first. */
static const char *const users[] = {
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "fstat",
    "fstat64",
    "newfstatat",
    "fstatat64",
    "statx",
    "fstatfs",
    "lseek",
    "_llseek",
    "ioctl",
    "flock",
    "fsync",
    "fdatasync",
    "ftruncate",
    "ftruncate64",
    "fallocate",
    "fadvise64",
    "readahead",
    "getdents",
    "getdents64",
    "fchdir",
    "fchmod",
    "fchown",
    "fchmodat",
    "fchownat",
    "mkdirat",
    "mknodat",
    "unlinkat",
    "readlinkat",
    "faccessat",
    "faccessat2",
    "utimensat",
    "connect",
    "bind",
    "listen",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "sendmmsg",
    "recvmmsg",
    "shutdown",
    "getsockname",
    "getpeername",
    "getsockopt",
    "setsockopt",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "vmsplice",
    "sync_file_range",
    "fgetxattr",
    "fsetxattr",
    "flistxattr",
    "fremovexattr",
    "syncfs",
    "timerfd_settime",
    "timerfd_gettime",
    "inotify_add_watch",
    "inotify_rm_watch",
    "io_uring_enter",
    "name_to_handle_at",
    "pidfd_send_signal",
};

static const struct call uses_first = {"", CALL_USES, 0, -1};
static const struct call other = {"", CALL_OTHER, -1, -1};

static const struct call *call_of(const struct line *line)
{
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (line_is(line, calls[i].name)) {
            return &calls[i];
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(users); i++) {
        if (line_is(line, users[i])) {
            return &uses_first;
        }
    }
    return &other;
}

enum call_kind call_kind(const struct line *line)
{
    return call_of(line)->kind;
}

int64_t call_used(const struct line *line, unsigned which)
{
    const struct call *call = call_of(line);
    const signed char argument = which == 0 ? call->first : call->second;

    return argument < 0 ? -1 : line_descriptor(line, (unsigned)argument);
}

/* O_CLOEXEC, SOCK_CLOEXEC, EPOLL_CLOEXEC, MFD_CLOEXEC, ...: in an argument that is no string. */
bool call_sets_close_on_exec(const struct line *line)
{
    for (unsigned i = 0; i < line->argument_count; i++) {
        if (*line->arguments[i] != '"' && line_has(line, i, "CLOEXEC")) {
            return true;
        }
    }
    return false;
}

bool call_makes_child(const char *text)
{
    const struct line line = {.name = text, .name_length = strcspn(text, "(")};

    return call_kind(&line) == CALL_MAKES_CHILD;
}
