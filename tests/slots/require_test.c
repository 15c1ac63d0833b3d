/* Ids that must be live: what is given, and what is done about those that are not. */
#include "tests/table/level.h"
#include <haft/diagnose.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(require, .timeout = SUITE_SECONDS);

/* What on_bad_access has been told. */
struct told {
    int calls;
    haft_id id;
    haft_status status;
    haft_layout layout;
    char table[64];
    char text[200];
    jmp_buf *leave; /* NULL: return */
};

static void note(const haft_bad_access *access, void *arg)
{
    struct told *told = arg;

    told->calls++;
    told->id = access->id;
    told->status = access->status;
    told->layout = access->layout;
    snprintf(told->table, sizeof told->table, "%s", access->table);
    haft_bad_access_format(access, told->text, sizeof told->text);
    if (told->leave != NULL) {
        longjmp(*told->leave, 1);
    }
}

/* A table with one stale and one live id. */
struct table {
    struct subject subject;
    haft_id live;
    haft_id stale;
};

static haft_status insert_one(struct table *table, haft_id *id)
{
    const uint64_t value = 7;

    return subject_insert(&table->subject, &value, id);
}

static struct table open_one(int kind, haft_on_bad_access *on_bad_access, void *arg)
{
    const haft_table_options options = {.name = "ships",
                                        .capacity = 100,
                                        .object_size = 8,
                                        .layout = {16, 16, 8, 0},
                                        .tag = 5,
                                        .on_bad_access = on_bad_access,
                                        .report_arg = arg};
    struct table table = {.subject = subject_open(kind, &options)};

    assert_status(insert_one(&table, &table.stale), HAFT_OK);
    assert_status(subject_free(&table.subject, table.stale), HAFT_OK);
    assert_status(insert_one(&table, &table.live), HAFT_OK);
    return table;
}

static void close_one(struct table *table)
{
    subject_close(&table->subject);
}

TEST_ON_EACH_KIND(require, a_live_id_gives_its_object_and_nobody_is_called)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(*kind, note, &told);

    cr_expect(eq(ptr, subject_require(&table.subject, table.live),
                 subject_find(&table.subject, table.live)));
    cr_expect(eq(u64, *(uint64_t *)subject_require(&table.subject, table.live), 7));
    cr_expect(zero(int, told.calls));
}

TEST_ON_EACH_KIND(require, a_stale_id_calls_on_bad_access_and_then_gives_null)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(*kind, note, &told);

    cr_expect(zero(ptr, subject_require(&table.subject, table.stale)));
    cr_expect(eq(int, told.calls, 1));
    cr_expect(haft_id_equal(told.id, table.stale));
    expect_status(told.status, HAFT_STALE);
    cr_expect(eq(str, told.table, "ships"));
    cr_expect(eq(int, told.layout.index_bits, 16));
    cr_expect(eq(int, told.layout.tag_bits, 8));
    cr_expect(eq(str, told.text, "ships: 4v1t5: the object has been freed (HAFT_STALE)"));
    cr_expect(zero(ptr, subject_require(&table.subject, table.stale)));
    cr_expect(eq(int, told.calls, 2));
}

TEST_ON_EACH_KIND(require, the_status_is_the_diagnosis)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(*kind, note, &told);
    const uint64_t bits[] = {0,
                             1,
                             table.stale.bits,
                             table.live.bits | UINT64_C(1) << 60,
                             table.live.bits ^ UINT64_C(1) << 33,
                             table.live.bits + 100,
                             table.live.bits + (UINT64_C(1) << 20),
                             UINT64_MAX};

    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        const haft_id id = {bits[i]};

        cr_expect(zero(ptr, subject_require(&table.subject, id)));
        cr_expect(eq(int, told.calls, (int)i + 1));
        cr_expect(eq(u64, told.id.bits, bits[i]));
        cr_expect(eq(int, told.status, subject_diagnose(&table.subject, id)));
        cr_expect(ne(int, told.status, HAFT_OK));
    }
}

TEST_ON_EACH_KIND(require, on_bad_access_may_leave_by_longjmp)
{
    jmp_buf here;
    struct told told = {.leave = &here};
    static struct table table;

    table = open_one(*kind, note, &told);
    if (setjmp(here) == 0) {
        subject_require(&table.subject, table.stale);
        cr_expect(false, "it came back");
    }
    cr_expect(eq(int, told.calls, 1));
    cr_expect(eq(u64, *(uint64_t *)subject_require(&table.subject, table.live), 7));
    close_one(&table);
}

/* What the caller may: here, resolve and insert. */
static void replace(const haft_bad_access *access, void *arg)
{
    struct table *table = arg;
    haft_id id;

    cr_expect(eq(u64, *(uint64_t *)subject_find(&table->subject, table->live), 7));
    assert_status(insert_one(table, &id), HAFT_OK);
    cr_expect(eq(u64, *(uint64_t *)subject_require(&table->subject, id), 7));
}

TEST_ON_EACH_KIND(require, on_bad_access_may_use_the_table)
{
    static struct table table;

    table = open_one(*kind, replace, &table);
    cr_expect(zero(ptr, subject_require(&table.subject, table.stale)));
    close_one(&table);
}

TEST_ON_EACH_KIND(require, resolve_of_a_stale_id_calls_nobody)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(*kind, note, &told);

    cr_expect(zero(ptr, subject_find(&table.subject, table.stale)));
    cr_expect(zero(int, told.calls));
}

/* --- without on_bad_access --- */

static void require_stale(int kind)
{
    struct table table = open_one(kind, NULL, NULL);

    subject_require(&table.subject, table.stale);
    cr_fatal("it came back");
}

Test(require, without_on_bad_access_a_stale_id_of_a_local_table_aborts, .signal = SIGABRT)
{
    require_stale(LOCAL);
}

Test(require, without_on_bad_access_a_stale_id_of_a_packed_table_aborts, .signal = SIGABRT)
{
    require_stale(DENSE);
}

Test(require, without_on_bad_access_a_stale_id_of_a_counted_table_aborts, .signal = SIGABRT)
{
    require_stale(COUNTED);
}

Test(require, without_on_bad_access_a_stale_id_of_a_shared_table_aborts, .signal = SIGABRT)
{
    require_stale(SHARED);
}

static void show_stderr(int signal)
{
    char text[300] = "";
    const char expected[] = "haft: ships: 4v1t5: the object has been freed (HAFT_STALE)\n";

    rewind(stderr);
    _exit(fread(text, 1, sizeof text - 1, stderr) > 0 && strcmp(text, expected) == 0 ? 0 : 1);
}

Test(require, aborting_says_table_id_and_status_on_stderr, .exit_code = 0)
{
    cr_assert(freopen("/dev/null", "w", stdout) != NULL);
    FILE *file = tmpfile();

    stderr = file;
    signal(SIGABRT, show_stderr);
    require_stale(LOCAL);
}

Test(require, a_live_id_needs_no_policy)
{
    AT_END(close_one) struct table table = open_one(LOCAL, NULL, NULL);

    cr_expect(eq(u64, *(uint64_t *)subject_require(&table.subject, table.live), 7));
}

Test(require, what_is_dead_in_a_packed_table_resolves)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(DENSE, note, &told);

    assert_status(haft_packed_kill(table.subject.packed, table.live), HAFT_OK);
    cr_expect(eq(u64, *(uint64_t *)subject_require(&table.subject, table.live), 7));
    cr_expect(zero(int, told.calls));
}

/* --- sharing --- */

Test(require, the_policy_stays_with_the_slots_through_sharing_and_back)
{
    struct told told = {0};
    const haft_local_options options = {.capacity = 10, .on_bad_access = note, .report_arg = &told};
    static struct level level;

    level = open_level(MEMB_CALLER, &options);
    share_level(&level);
    cr_expect(zero(ptr, haft_require(level.table, level.view, HAFT_NIL)));
    cr_expect(eq(int, told.calls, 1));
    expect_status(told.status, HAFT_NO_ID);
    unshare_level(&level);
    cr_expect(zero(ptr, haft_local_require(level.local, level.view, HAFT_NIL)));
    cr_expect(eq(int, told.calls, 2));
    close_level(&level);
}

Test(require, the_policy_of_a_table_stays_when_it_becomes_a_local_one)
{
    struct told told = {0};
    const haft_table_options options = {.capacity = 10, .on_bad_access = note, .report_arg = &told};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_local *local;

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    cr_expect(zero(ptr, haft_local_require(local, haft_local_view(local), HAFT_NIL)));
    cr_expect(eq(int, told.calls, 1));
    haft_local_close(local);
    haft_thread_unregister(shared.domain);
    assert_status(haft_domain_close(shared.domain), HAFT_OK);
}

/* --- an id that is published while it is required --- */

/* What haft_require() calls when it has found nothing: here the id is live by then. */
Test(require, an_id_live_when_it_is_diagnosed_resolves_after_all)
{
    struct told told = {0};
    AT_END(close_one) struct table table = open_one(SHARED, note, &told);

    cr_expect(eq(
        ptr,
        haft_require_failed(table.subject.shared.table, table.live, table.subject.shared.view.base),
        subject_find(&table.subject, table.live)));
    cr_expect(zero(int, told.calls));
}

#define ROUNDS 2000

struct race {
    struct shared shared;
    struct told told;
    haft_id ids[ROUNDS];
    pthread_barrier_t start;
    int missing;
};

static void *publish_each(void *arg)
{
    struct race *race = arg;
    haft_worker *worker = open_worker(race->shared.table);

    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race->start);
        haft_publish(worker, race->ids[i]);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

static void never_ok(const haft_bad_access *access, void *arg)
{
    struct race *race = arg;

    must(access->status == HAFT_RESERVED);
    race->missing++;
}

Test(require, an_id_published_meanwhile_resolves_or_was_reserved)
{
    static struct race race;
    const haft_table_options options = {
        .capacity = ROUNDS, .object_size = 8, .on_bad_access = never_ok, .report_arg = &race};
    pthread_t publisher;
    int nulls = 0;

    race.shared = open_shared(MEMB_CALLER, &options);
    pthread_barrier_init(&race.start, NULL, 2);
    for (int i = 0; i < ROUNDS; i++) {
        assert_status(haft_reserve(race.shared.worker, &race.ids[i], NULL), HAFT_OK);
    }
    pthread_create(&publisher, NULL, publish_each, &race);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race.start);
        haft_section_begin(race.shared.domain);
        nulls += haft_require(race.shared.table, race.shared.view, race.ids[i]) == NULL;
        haft_section_end(race.shared.domain);
    }
    pthread_join(publisher, NULL);
    cr_expect(eq(int, nulls, race.missing));
    close_shared(&race.shared);
}

/* --- the text --- */

Test(require, text_is_cut_as_snprintf_cuts)
{
    const haft_bad_access access = {"ships", {32, 32, 0, 0}, {UINT64_C(3) << 32 | 17}, HAFT_STALE};
    const char whole[] = "ships: 17v3: the object has been freed (HAFT_STALE)";
    char text[sizeof whole];

    cr_expect(eq(int, haft_bad_access_format(&access, text, sizeof text), (int)sizeof whole - 1));
    cr_expect(eq(str, text, (char *)whole));
    cr_expect(eq(int, haft_bad_access_format(&access, text, 6), (int)sizeof whole - 1));
    cr_expect(eq(str, text, "ships"));
    cr_expect(eq(int, haft_bad_access_format(&access, NULL, 0), (int)sizeof whole - 1));
}
