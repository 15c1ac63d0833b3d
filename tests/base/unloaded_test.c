/* The library in a shared object that is unloaded before threads that used it end. */
#include "tests/support.h"
#include <dlfcn.h>
#include <haft/threads.h>

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
