/* White-box: calls to the system that fail when a test wants it. */
#include "tests/base/faults.h"
#include "lib/base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct faults faults;

void fail_calls(int first, int last)
{
    faults.calls = 0;
    faults.first = first;
    faults.last = last;
}

extern const char __executable_start; /* the linker's */

int __real_close(int file);
int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int file, const void *data, size_t size);

/* For call_sites_test.sh: where the library was that met the failure, as in the program's file. */
static void note_site(const void *site)
{
    const char *file = getenv("HAFT_CALL_SITES");
    char line[32];
    const int size = snprintf(line, sizeof line, "%lx\n",
                              (unsigned long)((uintptr_t)site - (uintptr_t)&__executable_start));
    const int to = file != NULL ? __real_open(file, O_WRONLY | O_APPEND) : -1;

    if (to >= 0) {
        must(__real_write(to, line, (size_t)size) == size);
        __real_close(to);
    }
}

/* For call_sites_test.sh as well: the number of calls before main that fail. */
static int early_failures(void)
{
    const char *count = getenv("HAFT_EARLY_FAILURES");

    return count != NULL ? atoi(count) : 0;
}

/* `site`: where the call returns to. */
static bool fails(const void *site)
{
    faults.calls++;
    if ((faults.calls < faults.first || faults.calls > faults.last) &&
        faults.calls > early_failures()) {
        return false;
    }
    note_site(site);
    return true;
}

#define SITE __builtin_return_address(0)

char *__real_os_reserve(size_t size, bool readable, bool *in_steps);
void __real_os_release(char *base, size_t size);
bool __real_os_commit(char *base, size_t size);
bool __real_os_discard(char *base, size_t size);
bool __real_os_populate(char *base, size_t size);
bool __real_os_random(uint64_t *bits);
size_t __real_os_page_size(void);
bool __real_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
bool __real_os_semaphore_open(struct os_semaphore *semaphore);
bool __real_os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void *__real_os_alloc_aligned(size_t alignment, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
int __real_faccessat(int directory, const char *path, int mode, int flags);
int __real_fchmod(int file, mode_t mode);
int __real_fclose(FILE *file);
int __real_flock(int file, int operation);
FILE *__real_fopen(const char *path, const char *mode);
int __real_fstat(int file, struct stat *found);
FILE *__real_open_memstream(char **text, size_t *size);
int __real_openat(int directory, const char *path, int flags, ...);
int __real_renameat(int from, const char *before, int to, const char *after);

char *__wrap_os_reserve(size_t size, bool readable, bool *in_steps);
void __wrap_os_release(char *base, size_t size);
bool __wrap_os_commit(char *base, size_t size);
bool __wrap_os_discard(char *base, size_t size);
bool __wrap_os_populate(char *base, size_t size);
bool __wrap_os_random(uint64_t *bits);
size_t __wrap_os_page_size(void);
bool __wrap_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
bool __wrap_os_semaphore_open(struct os_semaphore *semaphore);
bool __wrap_os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void *__wrap_os_alloc_aligned(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
int __wrap_close(int file);
int __wrap_faccessat(int directory, const char *path, int mode, int flags);
int __wrap_fchmod(int file, mode_t mode);
int __wrap_fclose(FILE *file);
int __wrap_flock(int file, int operation);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fstat(int file, struct stat *found);
int __wrap_open(const char *path, int flags, ...);
FILE *__wrap_open_memstream(char **text, size_t *size);
int __wrap_openat(int directory, const char *path, int flags, ...);
int __wrap_renameat(int from, const char *before, int to, const char *after);
ssize_t __wrap_write(int file, const void *data, size_t size);

char *__wrap_os_reserve(size_t size, bool readable, bool *in_steps)
{
    char *base =
        faults.no_memory || fails(SITE) ? NULL : __real_os_reserve(size, readable, in_steps);

    faults.balance += base != NULL;
    if (base != NULL && faults.strict) {
        *in_steps = true;
        must(mprotect(base, size, PROT_READ) == 0);
    }
    return base;
}

void __wrap_os_release(char *base, size_t size)
{
    faults.balance--;
    __real_os_release(base, size);
}

static void call_once(void (**hook)(void))
{
    void (*const meanwhile)(void) = *hook;

    *hook = NULL;
    if (meanwhile != NULL) {
        meanwhile();
    }
}

bool __wrap_os_commit(char *base, size_t size)
{
    call_once(&faults.before_commit);
    return !faults.no_protect && !fails(SITE) && __real_os_commit(base, size);
}

static void *acquired(void *memory)
{
    faults.balance += memory != NULL;
    return memory;
}

void *__wrap_os_alloc_aligned(size_t alignment, size_t size)
{
    call_once(&faults.before_alloc_aligned);
    return fails(SITE) ? NULL : acquired(__real_os_alloc_aligned(alignment, size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(SITE) ? NULL : acquired(__real_calloc(count, size));
}

char *__wrap_strdup(const char *text)
{
    return fails(SITE) ? NULL : acquired(__real_strdup(text));
}

void __wrap_free(void *memory)
{
    faults.balance -= memory != NULL;
    __real_free(memory);
}

void *__wrap_malloc(size_t size)
{
    return fails(SITE) ? NULL : acquired(__real_malloc(size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (fails(SITE)) {
        return NULL;
    }
    return memory == NULL ? acquired(__real_realloc(NULL, size)) : __real_realloc(memory, size);
}

/* As when memory is locked. */
bool __wrap_os_discard(char *base, size_t size)
{
    return !faults.no_advice && !fails(SITE) && __real_os_discard(base, size);
}

bool __wrap_os_populate(char *base, size_t size)
{
    return !faults.no_advice && !fails(SITE) && __real_os_populate(base, size);
}

bool __wrap_os_random(uint64_t *bits)
{
    if (faults.no_random) {
        note_site(SITE);
        return false;
    }
    return __real_os_random(bits);
}

size_t __wrap_os_page_size(void)
{
    return faults.page != 0 ? faults.page : __real_os_page_size();
}

bool __wrap_os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    return !fails(SITE) && __real_os_thread_start(thread, run, arg);
}

bool __wrap_os_semaphore_open(struct os_semaphore *semaphore)
{
    return !fails(SITE) && __real_os_semaphore_open(semaphore);
}

bool __wrap_os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return !fails(SITE) && __real_os_on_fork(before, in_parent, in_child);
}

/* --- files --- */

static int refused(int error)
{
    errno = error;
    return -1;
}

/* The descriptor is closed in any case, as Linux does it. */
int __wrap_close(int file)
{
    const bool failed = fails(SITE);
    const int result = __real_close(file);

    faults.balance--;
    return failed ? refused(EIO) : result;
}

int __wrap_faccessat(int directory, const char *path, int mode, int flags)
{
    return fails(SITE) ? refused(EROFS) : __real_faccessat(directory, path, mode, flags);
}

int __wrap_fchmod(int file, mode_t mode)
{
    return fails(SITE) ? refused(EIO) : __real_fchmod(file, mode);
}

/* The stream is gone in any case; its last bytes may be unwritten. */
int __wrap_fclose(FILE *file)
{
    const bool failed = fails(SITE);
    const int result = __real_fclose(file);

    faults.balance--;
    return failed ? refused(ENOSPC) : result;
}

int __wrap_flock(int file, int operation)
{
    call_once(&faults.before_lock);
    return fails(SITE) ? refused(ENOLCK) : __real_flock(file, operation);
}

static FILE *opened_stream(FILE *file)
{
    faults.balance += file != NULL;
    return file;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return fails(SITE) ? NULL : opened_stream(__real_fopen(path, mode));
}

int __wrap_fstat(int file, struct stat *found)
{
    return fails(SITE) ? refused(EIO) : __real_fstat(file, found);
}

/* The library gives back with free() what the stream leaves in `*text`. */
FILE *__wrap_open_memstream(char **text, size_t *size)
{
    FILE *file = fails(SITE) ? NULL : opened_stream(__real_open_memstream(text, size));

    faults.balance += file != NULL;
    return file;
}

static int opened_file(int file)
{
    faults.balance += file >= 0;
    return file;
}

/* Whether a call is to be refused, for `*error` this once. */
static bool is_refused_once(int *error)
{
    errno = *error;
    *error = 0;
    return errno != 0;
}

/* The library's calls that may make a file have a mode. */
int __wrap_open(const char *path, int flags, ...)
{
    if (is_refused_once(&faults.open_error)) {
        return -1;
    }
    return fails(SITE) ? refused(EMFILE) : opened_file(__real_open(path, flags, 0600));
}

int __wrap_openat(int directory, const char *path, int flags, ...)
{
    if (is_refused_once(&faults.openat_error)) {
        return -1;
    }
    return fails(SITE) ? refused(EMFILE) : opened_file(__real_openat(directory, path, flags, 0600));
}

int __wrap_renameat(int from, const char *before, int to, const char *after)
{
    return fails(SITE) ? refused(ENOSPC) : __real_renameat(from, before, to, after);
}

ssize_t __wrap_write(int file, const void *data, size_t size)
{
    static bool is_interrupted;

    if (faults.short_writes > 0) {
        is_interrupted = !is_interrupted;
        faults.short_writes -= !is_interrupted;
        return is_interrupted ? refused(EINTR) : __real_write(file, data, 1);
    }
    return fails(SITE) ? refused(ENOSPC) : __real_write(file, data, size);
}

/* --- one after another --- */

void fail_each(haft_status (*open)(void **), void (*close)(void *), bool for_ever)
{
    bool reached = true;
    int failures = 0;

    for (int n = 1; reached; n++) {
        void *opened = &faults;
        const long before = faults.balance;

        must(n < 500);
        fail_calls(n, for_ever ? 1000000 : n);
        const haft_status status = open(&opened);

        reached = faults.calls >= n;
        fail_calls(0, -1);
        if (status == HAFT_OK) { /* none was refused, or one that it can do without */
            close(opened);
            continue;
        }
        failures++;
        must(reached);
        must(status == HAFT_NO_MEMORY || status == HAFT_NO_THREAD || status == HAFT_NO_FILE ||
             status == HAFT_BAD_DIRECTORY);
        must(opened == &faults);
        must(faults.balance == before);
    }
    cr_expect(lt(int, 0, failures));
    cr_expect(not(has_leaks()));
}

void fail_each_both_ways(haft_status (*open)(void **), void (*close)(void *))
{
    fail_each(open, close, true);
    fail_each(open, close, false);
}
