/* The library in a shared object that is unloaded before threads that used it end. */
#include "tests/support.h"
#include <dlfcn.h>
#include <haft/counted.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(unloaded, .timeout = SUITE_SECONDS);

#define LIBRARY "install/libhaft.so" /* tests run at the root of their files */

/* The variables of the library are in this program too (//tests:support): no mistake here, whatever
 * AddressSanitizer says. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_odr_violation=0";
}

static void *library;

static void *find(const char *name)
{
    void *function = dlsym(library, name);

    cr_assert(ne(ptr, function, NULL), "%s", name);
    return function;
}

static struct {
    haft_status (*insert)(haft_counted *table, const void *object, haft_id *id);
    void *(*acquire)(haft_counted *table, haft_id id);
    haft_status (*free_)(haft_counted *table, haft_id id);
    haft_status (*release)(haft_counted *table, haft_id id);
    haft_counted *table;
    sem_t used;
    sem_t unloaded;
} counted;

static void count_destroyed(void *object, haft_id id, void *arg)
{
    ++*(int *)arg;
}

/* Each thread-local variable of the table is used. */
static void *hold_and_end_later(void *arg)
{
    haft_id id;

    must(counted.insert(counted.table, NULL, &id) == HAFT_OK);
    must(counted.acquire(counted.table, id) != NULL);
    must(counted.free_(counted.table, id) == HAFT_OK);
    must(counted.release(counted.table, id) == HAFT_OK);
    must(counted.insert(counted.table, NULL, &id) == HAFT_OK);
    must(counted.acquire(counted.table, id) != NULL);
    sem_post(&counted.used);
    while (sem_wait(&counted.unloaded) != 0) {
        /* interrupted */
    }
    return NULL;
}

static void use_library_with_open_table(void)
{
    static int destroyed;
    const haft_counted_options options = {.capacity = 100,
                                          .object_size = 8,
                                          .on_destroy = count_destroyed,
                                          .destroy_arg = &destroyed};
    pthread_t thread;

    library = dlopen(LIBRARY, RTLD_NOW);
    cr_assert(ne(ptr, library, NULL), "%s", dlerror());
    haft_status (*open_sized)(const haft_counted_options *of, size_t size, haft_counted **opened) =
        find("haft_counted_open_sized");

    counted.insert = find("haft_counted_insert");
    counted.acquire = find("haft_counted_acquire");
    counted.free_ = find("haft_counted_free");
    counted.release = find("haft_counted_release");
    sem_init(&counted.used, 0, 0);
    sem_init(&counted.unloaded, 0, 0);
    must(open_sized(&options, sizeof options, &counted.table) == HAFT_OK);
    must(pthread_create(&thread, NULL, hold_and_end_later, NULL) == 0);
    while (sem_wait(&counted.used) != 0) {
        /* interrupted */
    }
    must(destroyed != 0 && dlclose(library) == 0);
    cr_assert(eq(ptr, dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD), NULL), "it is unloaded");
    sem_post(&counted.unloaded);
    cr_expect(zero(int, pthread_join(thread, NULL)));
}

Test(unloaded, with_an_open_counted_table_threads_end_and_processes_fork_as_if_it_had_not_been)
{
    int status;

    use_library_with_open_table();
    const pid_t child = fork(); /* the library's handlers are gone */

    if (child == 0) {
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child);
    cr_expect(zero(int, status));
    use_library_with_open_table();
}
