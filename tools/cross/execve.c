/*
 * tools/cross/execve.c - under qemu-user, a program's new programs are emulated as well.
 *
 * Criterion runs each test in a process that it starts anew.  Where the kernel does not know what
 * to do with programs of another machine, that fails; so this library, loaded before the C
 * library, has them started by qemu.  EMULATOR is its program, such as qemu-aarch64.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 4096
#define OWN 4 /* words in front of the program's arguments */

/* The environment without what loads this library: qemu itself is the host's program. */
static void copy_environment(char *const from[], const char *to[MOST])
{
    int count = 0;

    for (; *from != NULL && count < MOST - 1; from++) {
        if (strncmp(*from, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0) {
            to[count++] = *from;
        }
    }
    to[count] = NULL;
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    const char *emulated[MOST] = {EMULATOR, "-0", arguments[0], path};
    const char *kept[MOST];
    int count = OWN;

    for (; arguments[count - OWN + 1] != NULL && count < MOST - 1; count++) {
        emulated[count] = arguments[count - OWN + 1];
    }
    emulated[count] = NULL;
    copy_environment(environment, kept);
    return (int)syscall(SYS_execve, "/usr/bin/" EMULATOR, emulated, kept);
}
