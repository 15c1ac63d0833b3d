/* What the unit tests share: layouts, domains, readers.  White-box: is AddressSanitizer on? */
#include "tests/support.h"
#include "lib/base/asan.h"
#include <haft/urcu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef HAFT_UNDER_ASAN
#include <sanitizer/lsan_interface.h>

/* Not at the end of the program: Criterion's own runner may leak a little then. */
const char *__lsan_default_options(void)
{
    return "leak_check_at_exit=0";
}

/* A check takes long, so the 1st, 2nd, 4th, 8th ... call makes one. */
void expect_no_leaks(void)
{
    static unsigned calls;

    calls++;
    if ((calls & (calls - 1)) == 0) {
        cr_expect(zero(int, __lsan_do_recoverable_leak_check()));
    }
}

bool has_leaks(void)
{
    return __lsan_do_recoverable_leak_check() != 0;
}

#else
bool has_leaks(void)
{
    return false;
}

void expect_no_leaks(void)
{
}
#endif

bool under_asan(void)
{
    return asan_is_on();
}

void need_forks_beside_threads(void)
{
    if (under_asan()) {
        cr_skip("AddressSanitizer's locks do not know of forks");
    }
    need_a_machine();
}

const haft_layout layouts[LAYOUTS] = {
    {32, 32, 0, 0}, {32, 24, 8, 0}, {20, 12, 0, 0}, {16, 16, 0, 0}, {3, 1, 0, 0},   {3, 60, 0, 0},
    {3, 60, 1, 0},  {3, 1, 60, 0},  {32, 1, 31, 0}, {32, 1, 0, 0},  {4, 40, 20, 0}, {8, 8, 8, 0},
};

const struct setting settings[SETTINGS] = {
    {MEMB, HAFT_CLOCK_CALLER}, {MEMB, HAFT_CLOCK_THREAD},       {QSBR, HAFT_CLOCK_CALLER},
    {QSBR, HAFT_CLOCK_THREAD}, {ANNOUNCED, HAFT_CLOCK_WORKERS},
};

uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

unsigned long long number_in_proc(const char *path, const char *format)
{
    char line[256];
    unsigned long long value = 0;
    bool found = false;
    FILE *file = fopen(path, "r");

    must(file != NULL);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        found = sscanf(line, format, &value) == 1;
    }
    fclose(file);
    must(found);
    return value;
}

long resident_pages(void)
{
    static char buffer[256]; /* the library's own memory is counted too */
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0;
    long resident = 0;

    need_a_machine();
    must(file != NULL && setvbuf(file, buffer, _IOFBF, sizeof buffer) == 0);
    must(fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

bool reading_takes_memory(void)
{
    enum { PAGES = 256 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *base = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const long before = resident_pages();

    must(base != MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++) {
        must(*(volatile const char *)(base + (i * page)) == 0);
    }
    const long more = resident_pages() - before;

    must(munmap(base, PAGES * page) == 0);
    return more > PAGES / 2;
}

long pages_written_since(long before)
{
    const long more = resident_pages() - before;

    return reading_takes_memory() ? 0 : more;
}

bool mapping_has_flag(const void *address, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool is_there = false;
    bool found = false;

    need_a_machine();
    must(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long begin;
        unsigned long end;

        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            is_there = begin <= (unsigned long)address && (unsigned long)address < end;
        } else if (is_there && strncmp(line, "VmFlags:", 8) == 0) {
            char wanted[8];

            snprintf(wanted, sizeof wanted, " %s ", flag);
            found = strstr(line, wanted) != NULL;
        }
    }
    fclose(file);
    return found;
}

uint64_t pages_in_memory(haft_view view)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)view.base / page * page;
    const size_t pages = (size_t)((view.mask + 1) * view.stride / page);
    unsigned char *in = malloc(pages);
    uint64_t count = 0;

    must(in != NULL && mincore((void *)begin, pages * page, in) == 0);
    for (size_t i = 0; i < pages; i++) {
        count += in[i] & 1;
    }
    free(in);
    return count;
}

void limit_data(size_t more)
{
    struct rlimit limit;

    need_a_machine();
    must(getrlimit(RLIMIT_DATA, &limit) == 0);
    limit.rlim_cur = number_in_proc("/proc/self/status", "VmData: %llu kB") * 1024 + more;
    must(setrlimit(RLIMIT_DATA, &limit) == 0);
}

void ignore(void *object, haft_id id, haft_worker *worker, void *arg)
{
}

void count_reclaimed(void *object, haft_id id, haft_worker *worker, void *arg)
{
    ++*(uint64_t *)arg;
}

bool addresses_are_wide(void)
{
    return sizeof(void *) >= sizeof(uint64_t);
}

bool is_emulated(void)
{
    return getenv("HAFT_EMULATED") != NULL;
}

void need_wide_addresses(void)
{
    if (!addresses_are_wide() || is_emulated()) {
        cr_skip("no room for the largest tables");
    }
}

void need_a_machine(void)
{
    if (is_emulated()) {
        cr_skip("emulated");
    }
}

void in_another_thread(void *(*function)(void *), void *arg)
{
    pthread_t thread;

    must(pthread_create(&thread, NULL, function, arg) == 0);
    must(pthread_join(thread, NULL) == 0);
}

void domain_end(haft_domain **domain)
{
    must(haft_domain_close(*domain) == HAFT_OK);
}

void table_end(haft_table **table)
{
    must(haft_table_close(*table) == HAFT_OK);
}

void worker_end(haft_worker **worker)
{
    must(haft_worker_close(*worker) == HAFT_OK);
}

void sleep_ms(unsigned milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

    nanosleep(&time, NULL);
}

static const haft_foreign_clock *foreign_of(int sections)
{
    return sections == MEMB ? haft_urcu_memb() : sections == QSBR ? haft_urcu_qsbr() : NULL;
}

haft_domain_options domain_options(struct setting setting)
{
    const haft_domain_options options = {
        .foreign_clock = foreign_of(setting.sections),
        .clock = setting.clock,
    };
    return options;
}

struct shared open_shared_on(const haft_domain_options *domain, const haft_table_options *options)
{
    struct shared shared = {0};

    assert_status(haft_domain_open(domain, &shared.domain), HAFT_OK);
    haft_thread_register(shared.domain);
    assert_status(haft_table_open(shared.domain, options, &shared.table), HAFT_OK);
    shared.worker = open_worker(shared.table);
    shared.view = haft_table_view(shared.table);
    if (domain->clock == HAFT_CLOCK_WORKERS) {
        const haft_table_options anchor = {.name = "anchor", .capacity = 1};

        assert_status(haft_table_open(shared.domain, &anchor, &shared.anchor), HAFT_OK);
    }
    return shared;
}

struct shared open_shared(struct setting setting, const haft_table_options *options)
{
    const haft_domain_options domain = domain_options(setting);

    return open_shared_on(&domain, options);
}

void close_shared(struct shared *shared)
{
    if (shared->worker != NULL) {
        expect_status(haft_worker_close(shared->worker), HAFT_OK);
    }
    if (shared->table != NULL) {
        expect_status(haft_table_close(shared->table), HAFT_OK);
    }
    if (shared->anchor != NULL) {
        expect_status(haft_table_close(shared->anchor), HAFT_OK);
    }
    haft_thread_unregister(shared->domain);
    expect_status(haft_domain_close(shared->domain), HAFT_OK);
    expect_no_leaks();
}

haft_worker *open_worker(haft_table *table)
{
    haft_worker *worker = NULL;

    assert_status(haft_worker_open(table, &worker), HAFT_OK);
    return worker;
}

haft_id insert(haft_worker *worker)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_insert(worker, NULL, &id), HAFT_OK);
    return id;
}

haft_table_stats stats_of(const haft_table *table)
{
    return haft_table_stats_get(table);
}

void settle(haft_worker *worker)
{
    assert_status(haft_worker_flush(worker), HAFT_OK);
    assert_status(haft_domain_wait(haft_table_info(haft_worker_table(worker)).domain), HAFT_OK);
}

static void *stay_inside(void *arg)
{
    struct reader *reader = arg;
    haft_worker *worker = reader->anchor != NULL ? open_worker(reader->anchor) : NULL;

    haft_thread_register(reader->domain);
    haft_section_begin(reader->domain);
    sem_post(&reader->inside);
    while (sem_wait(&reader->leave) != 0) {
        /* interrupted */
    }
    haft_section_end(reader->domain);
    haft_thread_unregister(reader->domain);
    if (worker != NULL) {
        expect_status(haft_worker_close(worker), HAFT_OK);
    }
    return NULL;
}

void reader_enter(struct reader *reader, const struct shared *shared)
{
    reader->domain = shared->domain;
    reader->anchor = shared->anchor;
    sem_init(&reader->inside, 0, 0);
    sem_init(&reader->leave, 0, 0);
    cr_assert(zero(int, pthread_create(&reader->thread, NULL, stay_inside, reader)));
    while (sem_wait(&reader->inside) != 0) {
        /* interrupted */
    }
}

void reader_leave(struct reader *reader)
{
    sem_post(&reader->leave);
    pthread_join(reader->thread, NULL);
    sem_destroy(&reader->inside);
    sem_destroy(&reader->leave);
}
