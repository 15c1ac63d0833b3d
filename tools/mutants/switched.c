/*
 * The change that is switched on in a tree of switches.py, and a byte for each function that is
 * entered, in a file that all processes of a test share.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_FUNCTIONS 8192

extern int haft_switched;
extern unsigned char *haft_entered;

static unsigned char unnoted[MOST_FUNCTIONS];

int haft_switched = -1;
unsigned char *haft_entered = unnoted;

static void note_in(const char *name)
{
    const int file = open(name, O_RDWR | O_CREAT, 0600);

    if (file >= 0 && ftruncate(file, MOST_FUNCTIONS) == 0) {
        void *const bytes = mmap(NULL, MOST_FUNCTIONS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        haft_entered = bytes != MAP_FAILED ? bytes : unnoted;
    }
    if (file >= 0) {
        close(file);
    }
}

/* Before all constructors of the library and of the tests. */
static __attribute__((constructor(101))) void begin(void)
{
    const char *const number = getenv("HAFT_SWITCHED");
    const char *const name = getenv("HAFT_ENTERED");

    haft_switched = number != NULL ? atoi(number) : -1;
    if (name != NULL) {
        note_in(name);
    }
}
