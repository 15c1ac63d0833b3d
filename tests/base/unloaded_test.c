/* The library in a shared object that is unloaded before threads that used it end. */
#include "tests/support.h"
#include <dlfcn.h>
#include <haft/counted.h>
#include <haft/threads.h>
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
    haft_status (*current)(haft_table *table, haft_worker **worker);
    haft_table *table;
    sem_t used;
    sem_t unloaded;
} plugin;

static void *use_and_end_later(void *arg)
{
    haft_worker *worker;

    (void)arg;
    must(plugin.current(plugin.table, &worker) == HAFT_OK);
    sem_post(&plugin.used);
    while (sem_wait(&plugin.unloaded) != 0) {
        /* interrupted */
    }
    return NULL;
}

Test(unloaded, thread_with_an_implicit_worker_ends_after_the_library_has_gone)
{
    pthread_t thread;
    haft_domain *domain;

    library = dlopen(LIBRARY, RTLD_NOW);
    cr_assert(ne(ptr, library, NULL), "%s", dlerror());
    haft_status (*domain_open)(const haft_domain_options *options, haft_domain **opened) =
        find("haft_domain_open");
    haft_status (*domain_close)(haft_domain * opened) = find("haft_domain_close");
    haft_status (*table_open)(haft_domain * on, const haft_table_options *options,
                              haft_table **opened) = find("haft_table_open");
    haft_status (*table_close)(haft_table * opened) = find("haft_table_close");

    plugin.current = find("haft_worker_current");
    sem_init(&plugin.used, 0, 0);
    sem_init(&plugin.unloaded, 0, 0);
    must(domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain) == HAFT_OK);
    must(table_open(domain, &(haft_table_options){.capacity = 100}, &plugin.table) == HAFT_OK);
    must(pthread_create(&thread, NULL, use_and_end_later, NULL) == 0);
    while (sem_wait(&plugin.used) != 0) {
        /* interrupted */
    }
    must(table_close(plugin.table) == HAFT_OK);
    must(domain_close(domain) == HAFT_OK);
    must(dlclose(library) == 0);
    cr_assert(eq(ptr, dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD), NULL), "it is unloaded");
    sem_post(&plugin.unloaded);
    cr_expect(zero(int, pthread_join(thread, NULL)));
}

/* --- a counted table that is open all the time --- */

static struct {
    haft_status (*insert)(haft_counted *table, const void *object, haft_id *id);
    void *(*acquire)(haft_counted *table, haft_id id);
    haft_status (*free_)(haft_counted *table, haft_id id);
    haft_status (*release)(haft_counted *table, haft_id id);
    haft_counted *table;
} counted;

static void count_destroyed(void *object, haft_id id, void *arg)
{
    (void)object;
    (void)id;
    ++*(int *)arg;
}

/* Each thread-local variable of the table is used. */
static void *hold_and_end_later(void *arg)
{
    haft_id id;

    (void)arg;
    must(counted.insert(counted.table, NULL, &id) == HAFT_OK);
    must(counted.acquire(counted.table, id) != NULL);
    must(counted.free_(counted.table, id) == HAFT_OK);
    must(counted.release(counted.table, id) == HAFT_OK);
    must(counted.insert(counted.table, NULL, &id) == HAFT_OK);
    must(counted.acquire(counted.table, id) != NULL);
    sem_post(&plugin.used);
    while (sem_wait(&plugin.unloaded) != 0) {
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
    sem_init(&plugin.used, 0, 0);
    sem_init(&plugin.unloaded, 0, 0);
    must(open_sized(&options, sizeof options, &counted.table) == HAFT_OK);
    must(pthread_create(&thread, NULL, hold_and_end_later, NULL) == 0);
    while (sem_wait(&plugin.used) != 0) {
        /* interrupted */
    }
    must(destroyed != 0 && dlclose(library) == 0);
    cr_assert(eq(ptr, dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD), NULL), "it is unloaded");
    sem_post(&plugin.unloaded);
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
