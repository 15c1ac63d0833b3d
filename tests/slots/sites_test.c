/* Where objects were allocated and freed: what texts say of it.  Leaks: leaks_test.c. */
#include "tests/slots/spawn.h"
#include <haft/diagnose.h>
#include <haft/kit/packed.h>
#include <haft/kit/restore.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/table.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(places, .timeout = SUITE_SECONDS);

#define MANY 10000

static char text[1024];

static const char *describe(const struct subject *subject, haft_id id)
{
    const int length = subject->kind == LOCAL
                           ? haft_local_diagnose_format(subject->local, id, text, sizeof text)
                           : haft_diagnose_format(subject->shared.table, id, text, sizeof text);

    cr_expect(eq(int, length, (int)strlen(text)));
    return text;
}

TEST_ON_EACH_TABLE(places, of_a_live_object_where_it_was_inserted)
{
    AT_END(subject_close) struct subject subject = open_with_places(*kind);
    const haft_id id = spawn(&subject);

    expect_in(describe(&subject, id), "ships: ");
    expect_in(text, ": live (HAFT_OK); allocated at spawn+0x");
    expect_in(text, "+0x");
    sink(&subject, id);
}

TEST_ON_EACH_TABLE(places, of_a_freed_object_where_it_was_inserted_and_freed)
{
    AT_END(subject_close) struct subject subject = open_with_places(*kind);
    const haft_id id = spawn(&subject);

    sink(&subject, id);
    expect_in(describe(&subject, id), ": the object has been freed (HAFT_STALE), at sink+0x");
    expect_in(text, "; allocated at spawn+0x");
}

TEST_ON_EACH_TABLE(places, of_a_reservation_where_it_was_made_and_given_up)
{
    AT_END(subject_close) struct subject subject = open_with_places(*kind);
    const haft_id id = spawn_reserved(&subject);

    expect_in(describe(&subject, id), "(HAFT_RESERVED); reserved at spawn_reserved+0x");
    subject_abort(&subject, id);
    expect_in(describe(&subject, id), "(HAFT_STALE), at subject_abort+0x");
    expect_in(text, "; allocated at spawn_reserved+0x");
}

TEST_ON_EACH_TABLE(places, of_a_slot_that_was_used_since_are_not_told_as_the_ids)
{
    haft_table_options options = with_places();

    options.capacity = 1;
    options.layout = (haft_layout){3, 20, 0, 0};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id first = spawn(&subject);
    haft_id next = first;

    do { /* until the slot comes round again */
        sink(&subject, next);
        subject_settle(&subject);
        next = spawn(&subject);
    } while (haft_id_index(options.layout, next) != haft_id_index(options.layout, first));
    expect_in(describe(&subject, first), "(HAFT_STALE), at sink+0x"); /* its own end still */
    expect_not_in(text, "allocated");
    do {
        sink(&subject, next);
        subject_settle(&subject);
        next = spawn(&subject);
    } while (haft_id_index(options.layout, next) != haft_id_index(options.layout, first));
    expect_in(describe(&subject, first), "(HAFT_STALE); its slot has been used since");
    expect_not_in(text, "sink");
    sink(&subject, next);
}

TEST_ON_EACH_TABLE(places, of_the_last_life_are_told_of_an_exhausted_slot)
{
    haft_table_options options = with_places();

    options.layout = (haft_layout){8, 1, 0, 0};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id id = spawn(&subject);

    sink(&subject, id);
    subject_settle(&subject);
    describe(&subject, id);
    expect_in(text, "), at sink+0x");
    expect_in(text, "; allocated at spawn+0x");
}

Test(places, of_the_last_life_are_told_until_the_slot_begins_anew)
{
    const haft_local_options options = {.name = "ships",
                                        .capacity = 10,
                                        .layout = {8, 2, 0, 0},
                                        .first_generation = 3,
                                        .wrap = true,
                                        .sites = true};
    struct subject subject = {.kind = LOCAL};

    assert_status(haft_local_open(&options, &subject.local), HAFT_OK);
    const haft_id last = spawn_reserved(&subject);

    subject_abort(&subject, last);
    expect_in(describe(&subject, last), "(HAFT_STALE), at subject_abort+0x");
    subject_abort(&subject, spawn_reserved(&subject)); /* generation 1 */
    expect_in(describe(&subject, last), "(HAFT_STALE); its slot has been used since");
    haft_local_close(subject.local);
}

Test(places, of_an_object_are_not_mixed_with_those_of_the_next_reservation)
{
    AT_END(subject_close) struct subject subject = open_with_places(LOCAL);
    const haft_id id = spawn(&subject);

    sink(&subject, id);
    spawn_reserved(&subject);
    expect_in(describe(&subject, id), "(HAFT_STALE), at sink+0x");
    expect_not_in(text, "allocated");
    subject_abort(&subject, haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX, 2, 0));
}

Test(places, of_commands_where_the_recorder_was_opened_and_the_set_applied)
{
    AT_END(subject_close) struct subject subject = open_with_places(SHARED);
    haft_commands *commands;
    haft_id created;
    haft_id unused = HAFT_NIL;

    assert_status(haft_commands_open(subject.shared.table, NULL, &commands), HAFT_OK);
    haft_recorder *recorder = spawn_later(commands);

    assert_status(haft_recorder_create(recorder, &created, NULL), HAFT_OK);
    assert_status(haft_recorder_destroy(recorder, created), HAFT_OK);
    for (uint64_t index = HAFT_FIRST_INDEX; haft_id_is_nil(unused); index++) {
        haft_id id;

        assert_status(haft_id_at(subject.shared.table, index, &id), HAFT_RESERVED);
        unused = id.bits == created.bits ? HAFT_NIL : id;
    }
    carry_out(commands);
    expect_in(describe(&subject, created), "(HAFT_STALE), at carry_out+0x");
    expect_in(text, "; allocated at spawn_later+0x");
    expect_in(describe(&subject, unused), "(HAFT_STALE), at carry_out+0x");
    haft_commands_close(commands);
}

Test(places, of_what_a_refused_recorder_left_are_those_of_the_next)
{
    AT_END(subject_close) struct subject subject = open_with_places(SHARED);
    haft_commands *commands;
    haft_recorder *refused;
    haft_id created;

    assert_status(haft_commands_open(subject.shared.table, NULL, &commands), HAFT_OK);
    const haft_id other = spawn(&subject);
    const uint64_t most = haft_table_stats_get(subject.shared.table).limit;

    expect_status(haft_recorder_open(commands, 9, most, &refused), HAFT_FULL);
    haft_recorder *recorder = spawn_later(commands);

    assert_status(haft_recorder_create(recorder, &created, NULL), HAFT_OK);
    expect_in(describe(&subject, created), "; reserved at spawn_later+0x");
    carry_out(commands);
    haft_commands_close(commands);
    sink(&subject, created);
    sink(&subject, other);
}

Test(places, that_are_not_known_are_not_told)
{
    AT_END(subject_close) struct subject subject = open_with_places(LOCAL);
    const haft_id freed_elsewhere = haft_id_pack(HAFT_LAYOUT_32_32, 7, 2, 0);
    const haft_id next = haft_id_pack(HAFT_LAYOUT_32_32, 7, 3, 0);

    assert_status(haft_local_restore_free(subject.local, next), HAFT_OK);
    expect_in(describe(&subject, freed_elsewhere), "(HAFT_STALE)");
    expect_not_in(text, " at ");
    expect_in(describe(&subject, HAFT_NIL), ": the id is nil (HAFT_NO_ID)");
    expect_not_in(text, " at ");
}

Test(places, of_slots_whose_memory_was_given_back_are_not_told)
{
    haft_table_options options = with_places();
    haft_id id = HAFT_NIL;

    options.capacity = MANY;
    AT_END(subject_close) struct subject subject = subject_open(LOCAL, &options);

    for (int i = 0; i < MANY; i++) {
        id = spawn(&subject);
    }
    haft_local_clear(subject.local);
    assert_status(haft_local_trim(subject.local, NULL), HAFT_OK);
    id = haft_id_pack(HAFT_LAYOUT_32_32, MANY / 2, 1, 0);
    expect_in(describe(&subject, id), "(HAFT_STALE); its memory has been released since");
}

TEST_ON_EACH_TABLE(places, are_not_told_of_a_table_without_them)
{
    haft_table_options options = with_places();

    options.sites = false;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const haft_id id = spawn(&subject);

    expect_in(describe(&subject, id), ": live (HAFT_OK)");
    expect_not_in(text, "spawn");
    expect_in(describe(&subject, HAFT_NIL), ": the id is nil (HAFT_NO_ID)");
}

TEST_ON_EACH_TABLE(places, leave_tables_as_they_are)
{
    AT_END(subject_close) struct subject subject = open_with_places(*kind);
    haft_id ids[200];

    for (int round = 0; round < 20; round++) {
        const uint64_t count = subject_fill(&subject, ids, 200);

        must(count >= 10);
        for (uint64_t i = 0; i < count; i++) {
            must(subject_free(&subject, ids[i]) == HAFT_OK);
            must(subject_free(&subject, ids[i]) != HAFT_OK);
        }
        subject_settle(&subject);
    }
    cr_expect(zero(u64, subject_live(&subject)));
}

/* --- generations that are skipped --- */

static haft_id at_generation(haft_id id, uint64_t generation)
{
    return haft_id_pack(HAFT_LAYOUT_32_32, haft_id_index(HAFT_LAYOUT_32_32, id), generation, 0);
}

/* Of an id that was never issued: it is stale, and no more is known. */
static void expect_untold(const struct subject *subject, haft_id id)
{
    expect_in(describe(subject, id), "(HAFT_STALE)");
    expect_not_in(text, " at ");
}

enum jump { RESTORED, RESERVED_AT, RESTORED_FREE, JUMPS };

static haft_status jump_to(haft_local *local, enum jump jump, haft_id id)
{
    return jump == RESTORED      ? haft_local_restore(local, id, NULL)
           : jump == RESERVED_AT ? haft_local_reserve_at(local, id, NULL)
                                 : haft_local_restore_free(local, id);
}

Test(places, of_another_life_are_not_told_where_a_chosen_id_skips_generations)
{
    for (enum jump jump = RESTORED; jump < JUMPS; jump++) {
        AT_END(subject_close) struct subject subject = open_with_places(LOCAL);
        const haft_id id = spawn(&subject);

        sink(&subject, id);
        assert_status(jump_to(subject.local, jump, at_generation(id, 5)), HAFT_OK);
        expect_untold(&subject, at_generation(id, 4));
        expect_in(describe(&subject, id), "(HAFT_STALE); its slot has been used since");
        haft_local_clear(subject.local);
    }
}

Test(places, of_the_last_life_are_told_where_a_chosen_id_skips_none)
{
    for (enum jump jump = RESTORED; jump < JUMPS; jump++) {
        AT_END(subject_close) struct subject subject = open_with_places(LOCAL);
        const haft_id id = spawn(&subject);

        sink(&subject, id);
        assert_status(jump_to(subject.local, jump, at_generation(id, 2)), HAFT_OK);
        expect_in(describe(&subject, id), "(HAFT_STALE), at sink+0x");
        haft_local_clear(subject.local);
    }
}

Test(places, of_another_life_are_not_told_of_a_slot_restored_as_exhausted)
{
    const haft_local_options options = {
        .name = "ships", .capacity = 10, .layout = {8, 4, 0, 0}, .sites = true};
    struct subject subject = {.kind = LOCAL};

    assert_status(haft_local_open(&options, &subject.local), HAFT_OK);
    const haft_id id = spawn_reserved(&subject);
    const uint64_t index = haft_id_index(options.layout, id);

    subject_abort(&subject, id);
    assert_status(haft_local_restore_free(subject.local, haft_id_pack(options.layout, index, 0, 0)),
                  HAFT_OK);
    expect_in(describe(&subject, haft_id_pack(options.layout, index, 15, 0)), "(HAFT_EXHAUSTED)");
    expect_not_in(text, " at ");
    haft_local_close(subject.local);
}

/* Some slots live more lives than others; all are free then. */
static void use_unevenly(struct subject *subject, haft_id *all, uint64_t most)
{
    const uint64_t count = subject_fill(subject, all, most);

    for (uint64_t i = 0; i < count; i++) {
        sink(subject, all[i]);
    }
    for (int round = 0; round < 4; round++) {
        subject_settle(subject);
        for (int i = 0; i < 1000; i++) {
            all[i] = spawn(subject);
        }
        for (int i = 0; i < 1000; i++) {
            sink(subject, all[i]);
        }
    }
    subject_settle(subject);
}

static void trim_subject(struct subject *subject)
{
    if (subject->kind == LOCAL) {
        assert_status(haft_local_trim(subject->local, NULL), HAFT_OK);
        return;
    }
    assert_status(haft_worker_close(subject->shared.worker), HAFT_OK);
    assert_status(haft_trim(subject->shared.table, NULL), HAFT_OK);
    subject->shared.worker = open_worker(subject->shared.table);
}

/* Slots `index` and generations of ids to come. */
static uint64_t next_generation(const struct subject *subject, uint64_t index)
{
    haft_id id = HAFT_NIL;

    if (subject->kind == LOCAL) {
        haft_local_id_at(subject->local, index, &id);
    } else {
        haft_id_at(subject->shared.table, index, &id);
    }
    return haft_id_generation(HAFT_LAYOUT_32_32, id);
}

TEST_ON_EACH_TABLE(places, of_another_life_are_not_told_where_a_trimmed_slot_goes_on_later)
{
    static haft_id all[2 * MANY];
    static uint64_t before[2 * MANY];
    haft_table_options options = with_places();
    uint64_t skipped = 0;

    options.capacity = MANY;
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);

    use_unevenly(&subject, all, 2 * MANY);
    for (uint64_t index = HAFT_FIRST_INDEX; index < 2 * MANY; index++) {
        before[index] = next_generation(&subject, index);
    }
    trim_subject(&subject);
    const uint64_t count = subject_fill(&subject, all, 2 * MANY);

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t now = haft_id_generation(HAFT_LAYOUT_32_32, all[i]);

        if (now > before[haft_id_index(HAFT_LAYOUT_32_32, all[i])] && skipped++ == 0) {
            expect_untold(&subject, at_generation(all[i], now - 1));
        }
        must(subject_free(&subject, all[i]) == HAFT_OK);
    }
    cr_expect(lt(u64, 0, skipped));
}

/* --- other ways in and out --- */

haft_id spawn_otherwise(struct shared *shared, int way);
void sink_otherwise(struct shared *shared, int way, haft_id id);

__attribute__((noinline)) haft_id spawn_otherwise(struct shared *shared, int way)
{
    haft_id id = haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX, 1, 0);
    haft_status status = HAFT_OK;
    uint64_t done = 1;

    switch (way) {
    case 0:
        status = haft_insert_wait(shared->worker, NULL, &id);
        break;
    case 1:
        done = haft_insert_many(shared->worker, NULL, &id, 1, NULL);
        break;
    case 2:
        status = haft_reserve_wait(shared->worker, &id, NULL);
        haft_publish(shared->worker, id);
        break;
    }
    must(status == HAFT_OK && done == 1);
    return id;
}

#define WAYS_IN 3

__attribute__((noinline)) void sink_otherwise(struct shared *shared, int way, haft_id id)
{
    haft_status status = HAFT_OK;

    if (way == 0) {
        status = haft_table_free(shared->table, id);
    } else {
        haft_free_many(shared->worker, &id, 1, &status);
    }
    must(status == HAFT_OK);
}

Test(places, are_those_of_the_caller_whatever_it_calls)
{
    haft_table_options options = with_places();

    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int way = 0; way < WAYS_IN; way++) {
        const haft_id id = spawn_otherwise(&shared, way);

        haft_diagnose_format(shared.table, id, text, sizeof text);
        expect_in(text, "; allocated at spawn_otherwise+0x");
        sink_otherwise(&shared, way % 2, id);
        haft_diagnose_format(shared.table, id, text, sizeof text);
        expect_in(text, ", at sink_otherwise+0x");
        expect_in(text, "; allocated at spawn_otherwise+0x");
    }
}

Test(places, of_local_tables_are_kept_by_restore_and_clear)
{
    AT_END(subject_close) struct subject subject = open_with_places(LOCAL);
    const haft_id id = haft_id_pack(HAFT_LAYOUT_32_32, 7, 3, 0);

    assert_status(haft_local_restore(subject.local, id, NULL), HAFT_OK);
    expect_in(describe(&subject, id), "; allocated at ");
    expect_not_in(text, "somewhere");
    haft_local_clear(subject.local);
    expect_in(describe(&subject, id), "(HAFT_STALE), at ");
    expect_not_in(text, "somewhere");
}

Test(places, go_with_a_local_table_that_is_shared_and_back)
{
    struct subject subject = open_with_places(LOCAL);
    const haft_id first = spawn(&subject);
    const haft_domain_options domain = domain_options(MEMB_CALLER);
    struct subject shared = {.kind = SHARED};

    assert_status(haft_domain_open(&domain, &shared.shared.domain), HAFT_OK);
    haft_thread_register(shared.shared.domain);
    assert_status(haft_share(subject.local, shared.shared.domain, NULL, &shared.shared.table),
                  HAFT_OK);
    shared.shared.worker = open_worker(shared.shared.table);
    const haft_id second = spawn(&shared);

    expect_in(describe(&shared, first), "; allocated at spawn+0x");
    sink(&shared, first);
    expect_in(describe(&shared, first), ", at sink+0x");
    haft_worker_close(shared.shared.worker);
    assert_status(haft_unshare(shared.shared.table, &subject.local), HAFT_OK);
    expect_in(describe(&subject, second), "; allocated at spawn+0x");
    expect_in(describe(&subject, first), ", at sink+0x");
    sink(&subject, second);
    expect_in(describe(&subject, second), ", at sink+0x");
    subject_close(&subject);
    shared.shared.worker = NULL;
    shared.shared.table = NULL;
    close_shared(&shared.shared);
}

/* --- packed tables --- */

haft_id spawn_packed(haft_packed *packed);
void kill_packed(haft_packed *packed, haft_id id);

__attribute__((noinline)) haft_id spawn_packed(haft_packed *packed)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_packed_insert(packed, NULL, &id), HAFT_OK);
    return id;
}

__attribute__((noinline)) void kill_packed(haft_packed *packed, haft_id id)
{
    assert_status(haft_packed_kill(packed, id), HAFT_OK);
}

Test(places, of_a_packed_table_are_those_of_insert_kill_and_free)
{
    const haft_packed_options options = {
        .name = "ships", .capacity = 10, .object_size = 8, .sites = true};
    AT_END(dense_end) haft_packed *packed;

    assert_status(haft_packed_open(&options, &packed), HAFT_OK);
    const haft_id killed = spawn_packed(packed);
    const haft_id freed = spawn_packed(packed);
    const haft_id cleared = spawn_packed(packed);

    haft_packed_diagnose_format(packed, killed, text, sizeof text);
    expect_in(text, "(HAFT_OK); allocated at spawn_packed+0x");
    kill_packed(packed, killed);
    haft_packed_diagnose_format(packed, killed, text, sizeof text);
    expect_in(text, "(HAFT_DEAD), at kill_packed+0x");
    expect_in(text, "; allocated at spawn_packed+0x");
    haft_packed_refresh(packed);
    haft_packed_diagnose_format(packed, killed, text, sizeof text);
    expect_in(text, "(HAFT_STALE), at kill_packed+0x");
    must(haft_packed_free(packed, freed) == HAFT_OK);
    haft_packed_diagnose_format(packed, freed, text, sizeof text);
    expect_in(text, "(HAFT_STALE), at ");
    expect_in(text, "; allocated at spawn_packed+0x");
    must(haft_packed_clear(packed) == HAFT_OK);
    haft_packed_diagnose_format(packed, cleared, text, sizeof text);
    expect_in(text, "(HAFT_STALE), at ");
}

/* --- places in words --- */

Test(places, in_words_have_function_file_and_offset)
{
    const char *address = (const char *)(uintptr_t)spawn + 5;

    haft_site_format(address, text, sizeof text);
    cr_expect(eq(int, strncmp(text, "spawn+0x4 (", 11), 0), "%s", text);
    expect_in(text + 11, "+0x"); /* the file; Criterion runs it under another name */
    haft_site_format(NULL, text, sizeof text);
    cr_expect(eq(str, text, "somewhere"));
    haft_site_format((const void *)(uintptr_t)0x11, text, sizeof text);
    cr_expect(eq(str, text, "0x10"));
}

Test(places, in_words_are_cut_as_snprintf_cuts)
{
    const char *address = (const char *)(uintptr_t)spawn + 5;
    const int whole = haft_site_format(address, text, sizeof text);
    char small[6];

    cr_expect(eq(int, haft_site_format(address, small, sizeof small), whole));
    cr_expect(eq(str, small, "spawn"));
    cr_expect(eq(int, haft_site_format(address, NULL, 0), whole));
}

/* Also in a program that lies at one address: places_fixed_test. */
Test(places, have_the_offset_that_addr2line_asks_for)
{
    char command[128];
    char line[128] = "";

    need_a_machine(); /* the tool may not know another's programs */
    haft_site_format((const char *)(uintptr_t)spawn + 5, text, sizeof text);
    const char *offset = strrchr(text, '+');

    must(offset != NULL);
    snprintf(command, sizeof command, "addr2line -f -e /proc/%d/exe %#llx", (int)getpid(),
             strtoull(offset + 1, NULL, 16));
    FILE *answer = popen(command, "r");

    must(answer != NULL && fgets(line, sizeof line, answer) != NULL);
    pclose(answer);
    cr_expect(eq(str, line, "spawn\n"));
}

/* --- the line before the program is aborted --- */

static haft_id stale;

static void require_stale(struct subject *subject)
{
    signal(SIGABRT, SIG_DFL); /* Criterion would report it */
    if (subject->kind == LOCAL) {
        haft_local_require(subject->local, subject->view, stale);
    } else {
        haft_require(subject->shared.table, subject->view, stale);
    }
}

TEST_ON_EACH_TABLE(places, are_told_when_a_required_id_is_stale)
{
    AT_END(subject_close) struct subject subject = open_with_places(*kind);

    stale = spawn(&subject);
    sink(&subject, stale);
    line_of(require_stale, &subject, text, sizeof text);
    expect_in(text, "haft: ships: 4v1: the object has been freed");
    expect_in(text, "(HAFT_STALE), at sink+0x");
    expect_in(text, "; allocated at spawn+0x");
}

/* --- what a place is called --- */

static void hidden(void)
{
}

static const char *name_of(uintptr_t function)
{
    haft_site_format((const void *)(function + 1), text, sizeof text);
    return text;
}

Test(places, in_a_library_have_the_name_of_its_file_without_its_folder)
{
    name_of((uintptr_t)strtoull);
    expect_in(text, "+0x");
    expect_in(text, " (libc.so.6+0x");
}

Test(places, in_a_function_without_a_name_are_an_offset_in_the_file)
{
    name_of((uintptr_t)hidden);
    expect_in(text, "+0x");
    expect_not_in(text, "hidden");
    expect_not_in(text, "(");
}
