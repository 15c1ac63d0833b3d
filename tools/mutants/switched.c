/*
 * The change that is switched on in a tree of switches.py, and a byte for each mark that is
 * reached, in a file that all processes of a test share.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_MARKS 32768

extern int haft_switched;
extern unsigned char *haft_reached;

static unsigned char unnoted[MOST_MARKS];

int haft_switched = -1;
unsigned char *haft_reached = unnoted;

static void note_in(const char *name)
{
    const int file = open(name, O_RDWR | O_CREAT, 0600);

    if (file >= 0 && ftruncate(file, MOST_MARKS) == 0) {
        void *const bytes = mmap(NULL, MOST_MARKS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        haft_reached = bytes != MAP_FAILED ? bytes : unnoted;
    }
    if (file >= 0) {
        close(file);
    }
}

/* Before all constructors of the library and of the tests. */
static __attribute__((constructor(101))) void begin(void)
{
    const char *const number = getenv("HAFT_SWITCHED");
    const char *const name = getenv("HAFT_REACHED");

    haft_switched = number != NULL ? atoi(number) : -1;
    if (name != NULL) {
        note_in(name);
    }
}
