/*
 * tests/support.h - what the unit tests share.
 *
 * A test that holds for several kinds of table is written once, on a `subject`; a test that
 * involves grace periods runs on each flavour and each clock.  Each test is a process.
 */
#ifndef HAFT_TESTS_SUPPORT_H
#define HAFT_TESTS_SUPPORT_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <haft/counted.h>
#include <haft/domain.h>
#include <haft/kit/packed.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/local.h>
#include <haft/table.h>
#include <pthread.h>
#include <semaphore.h>

/* In Criterion 2.4.1 gt() holds for equal values too: lt() with the values exchanged. */
#undef CRI_ASSERT_SPECIFIER_gt
#undef CRI_ASSERT_TEST_SPECIFIER_gt

/* Of every suite: a hang fails, before Bazel ends the test.  Slow builds have their own figure. */
#ifndef SUITE_SECONDS
#define SUITE_SECONDS 500
#endif

/* AddressSanitizer is on: allocations are larger, and freed memory is kept for a while. */
bool under_asan(void);

/* With AddressSanitizer; called where a domain or a table has been closed, in the test's body:
 * Criterion does not count what fails in a suite's .fini. */
void expect_no_leaks(void);

/* The same at once, in any function: whether memory was lost; false without the sanitizer. */
bool has_leaks(void);

/*
 * Skips the test under qemu-user, and with AddressSanitizer: what its threads hold of its
 * locks, the child of a fork finds held for ever, if they start threads meanwhile.
 */
void need_forks_beside_threads(void);

#define expect_status(actual, expected)                                                            \
    cr_expect(eq(str, (char *)haft_status_name(actual), #expected))
#define assert_status(actual, expected)                                                            \
    cr_assert(eq(str, (char *)haft_status_name(actual), #expected))

/* An assertion for loops of millions. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            cr_fatal("%s", #condition);                                                            \
        }                                                                                          \
    } while (0)

/* The variable goes to `function`, by its address, at the end of its scope. */
#define AT_END(function) __attribute__((cleanup(function)))
void counted_end(haft_counted **counted);
void dense_end(haft_packed **packed);
void domain_end(haft_domain **domain);
void history_end(haft_history **history);
void local_end(haft_local **local);
void side_end(haft_side **side);
void table_end(haft_table **table);
void worker_end(haft_worker **worker);

/* The call by a thread that does nothing else, and is waited for. */
void in_another_thread(void *(*function)(void *), void *arg);

/* Widths at the edges of what a layout may have, presets first. */
#define LAYOUTS 12
extern const haft_layout layouts[LAYOUTS];

/* xorshift: `*state` is not 0. */
uint64_t random_next(uint64_t *state);

void sleep_ms(unsigned milliseconds);

/* A number from a file of /proc, by a format of scanf with %llu or %llx. */
unsigned long long number_in_proc(const char *path, const char *format);

/* Of the process: pages that are resident. */
long resident_pages(void);

/* Whether a read of memory that was never written makes a page of it resident: a system may have no
 * page of zeros for all of them, as a guest of Linux's PVM has none. */
bool reading_takes_memory(void);

/* How many more than `before` are resident, those that were read alone not counted; 0 where that
 * cannot be told. */
long pages_written_since(long before);

/* The pages in memory of one table. */
uint64_t pages_in_memory(haft_view view);

/* Whether the mapping that `address` lies in has a flag of smaps, such as "dd": not in dumps. */
bool mapping_has_flag(const void *address, const char *flag);

/* From now on the process may have `more` bytes of writable memory beyond what it has. */
void limit_data(size_t more);
#define MIB ((size_t)1 << 20)

/* An on_reclaim that does nothing. */
void ignore(void *object, haft_id id, haft_worker *worker, void *arg);

/* One that counts its calls in the uint64_t at `arg`. */
void count_reclaimed(void *object, haft_id id, haft_worker *worker, void *arg);

/* Addresses of 64 bits, in which the largest tables have room. */
bool addresses_are_wide(void);

/* Under qemu-user: it does not support forks amid other threads, nor threads in the child of one,
 * knows no limits on memory, and what it needs itself counts as the process's memory: in version
 * 7.2 about 100 KB for each thread that there ever was, and 24 GB for one of the largest tables. */
bool is_emulated(void);

/* Skips the test where addresses are not wide, or are emulated. */
void need_wide_addresses(void);

/* Skips the test under qemu-user. */
void need_a_machine(void);

/* --- flavours and clocks --- */

/* Whose read sections: a flavour's, or those that workers announce. */
enum sections { MEMB, QSBR, ANNOUNCED };

struct setting {
    int sections;
    haft_clock clock;
};

#define SETTINGS 5
extern const struct setting settings[SETTINGS];
#define MEMB_CALLER (settings[0])

/* The body runs once for each flavour and clock, with `setting`. */
#define TEST_ON_EACH_CLOCK(suite, name)                                                            \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static struct setting all[SETTINGS];                                                       \
        for (int i = 0; i < SETTINGS; i++) {                                                       \
            all[i] = settings[i];                                                                  \
        }                                                                                          \
        return cr_make_param_array(struct setting, all, SETTINGS);                                 \
    }                                                                                              \
    ParameterizedTest(struct setting *setting, suite, name)

haft_domain_options domain_options(struct setting setting);

/* A domain, a table and the calling thread's worker; the thread is registered. */
struct shared {
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_view view;
    haft_table *anchor; /* with the workers clock: where readers have workers */
};

struct shared open_shared(struct setting setting, const haft_table_options *options);
struct shared open_shared_on(const haft_domain_options *domain, const haft_table_options *options);
void close_shared(struct shared *shared);

haft_worker *open_worker(haft_table *table);
haft_id insert(haft_worker *worker);
haft_table_stats stats_of(const haft_table *table);

/* All that the worker has freed may be reused from now on. */
void settle(haft_worker *worker);

/* --- a reader on another thread --- */

struct reader {
    pthread_t thread;
    haft_domain *domain;
    haft_table *anchor; /* as in struct shared */
    sem_t inside;
    sem_t leave;
};

/*
 * When this returns, the reader is inside a read section: with qsbr online, with the workers clock
 * with an open worker.
 */
void reader_enter(struct reader *reader, const struct shared *shared);
void reader_leave(struct reader *reader);

/* --- a table of one thread --- */

haft_local *local_open(const haft_local_options *options);
haft_id local_insert_one(haft_local *local);

/* Insert and free `count`, each of which must succeed. */
void local_insert_each(haft_local *local, haft_id *ids, int count);
void local_free_each(haft_local *local, const haft_id *ids, int count);

/* --- a table of one of the kinds --- */

/* FIFO: a local table that reuses slots in that order.  DENSE: a packed one.  KILLED: a packed one
 * that keeps the order of its objects, which are freed by a kill and a refresh. */
enum kind { LOCAL, SHARED, FIFO, DENSE, KILLED, COUNTED, KINDS };

struct subject {
    int kind;
    haft_local *local;
    struct shared shared;
    haft_packed *packed;
    haft_counted *counted;
    haft_view view; /* of local and shared ones */
};

#define TEST_ON_KINDS(suite, name, first, kinds)                                                   \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        static int all[KINDS] = {COUNTED, SHARED, LOCAL, FIFO, DENSE, KILLED};                     \
        return cr_make_param_array(int, all + (first), kinds);                                     \
    }                                                                                              \
    ParameterizedTest(int *kind, suite, name)

/* The body runs once for each kind, with `kind`: for SHARED and LOCAL, which have views; for those
 * and COUNTED, which reserve; for all; for each that is of one thread. */
#define TEST_ON_EACH_TABLE(suite, name) TEST_ON_KINDS(suite, name, 1, 2)
#define TEST_ON_EACH_RESERVING(suite, name) TEST_ON_KINDS(suite, name, 0, 3)
#define TEST_ON_EACH_KIND(suite, name) TEST_ON_KINDS(suite, name, 0, KINDS)
#define TEST_ON_EACH_ALONE(suite, name) TEST_ON_KINDS(suite, name, 2, KINDS - 2)

/* Whether tables of the kind have that layout: a counted one's generations have at most 32 bits. */
bool kind_has_layout(int kind, haft_layout layout);

/* Of the options those that the kind has. */
haft_status subject_try_open(int kind, const haft_table_options *options, struct subject *subject);
struct subject subject_open(int kind, const haft_table_options *options);
void subject_close(struct subject *subject);
haft_status subject_reserve(struct subject *subject, haft_id *id, void **object);
void subject_publish(struct subject *subject, haft_id id);
void subject_abort(struct subject *subject, haft_id id);
haft_status subject_insert(struct subject *subject, const void *object, haft_id *id);
haft_status subject_free(struct subject *subject, haft_id id);

/* The object, which may be used until it is freed; a counted one is not held. */
void *subject_find(const struct subject *subject, haft_id id);
void *subject_require(const struct subject *subject, haft_id id);
bool subject_is_live(const struct subject *subject, haft_id id);
haft_status subject_diagnose(const struct subject *subject, haft_id id);
int subject_describe(const struct subject *subject, haft_id id, char *text, size_t size);
haft_status subject_id_at(const struct subject *subject, uint64_t index, haft_id *id);
haft_info subject_info(const struct subject *subject);
haft_layout subject_layout(const struct subject *subject);
uint64_t subject_live(const struct subject *subject);
uint64_t subject_exhausted(const struct subject *subject); /* not of packed ones */

/* Make all freed slots free: a grace period, where there is such a thing. */
void subject_settle(struct subject *subject);

/* Insert until it is refused; the ids in `ids`, which has room for `most`.  How many. */
uint64_t subject_fill(struct subject *subject, haft_id *ids, uint64_t most);

/* Insert and free `count`, each of which must succeed. */
void subject_insert_each(struct subject *subject, haft_id *ids, int count);
void subject_free_each(struct subject *subject, const haft_id *ids, int count);

#endif /* HAFT_TESTS_SUPPORT_H */
