/* stress/combinations/calls.h - the calls of a plan, carried out and checked. */
#ifndef HAFT_COMBINATIONS_CALLS_H
#define HAFT_COMBINATIONS_CALLS_H

#include "stress/combinations/model.h"

/*
 * Carry a step out for a thread, unless the state does not allow it.  `worker` is the one that the
 * calls may use: the thread's own, or a callback's; NULL: none.
 */
void call_step(struct thread *thread, haft_worker *worker, const struct step *step);

#define TABLE_NAME "played"

/* Callbacks of the table; `arg` is the play. */
void reclaim_callback(void *object, haft_id id, haft_worker *worker, void *arg);
void fill_callback(const haft_fill *fill, void *arg);

/* What on_reclaim of either table does: it checks that no callback is running, and carries out the
 * plan's next step for it. */
void call_in_reclaim(haft_worker *worker);

/* Carry one call out; `worker` and `step` as above. */
typedef void step_call(struct thread *thread, haft_worker *worker, const struct step *step);

step_call step_worker_current, step_quiescent, step_flush, step_offline_online, step_wait,
    step_section_begin, step_section_end;
step_call step_job_begin, step_job_end, step_park, step_unpark;
step_call step_commands_open, step_commands_close, step_recorder_open, step_record_create,
    step_record_destroy, step_record_call, step_apply;
step_call step_insert, step_insert_wait, step_insert_many, step_reserve, step_publish, step_abort,
    step_free, step_free_stale, step_free_many, step_restore;
step_call step_refused;
step_call step_side_open, step_side_close, step_side_set, step_side_find;
step_call step_other_insert, step_other_free;
step_call step_resolve, step_resolve_many, step_pin, step_unpin, step_scan, step_diagnose,
    step_explain, step_export, step_trim, step_recycle, step_reserve_capacity;

/* An object through `worker`, or without one.  False: there was no slot, or no register. */
bool insert_one(haft_worker *worker, uint32_t at);

/* Whether the thread may write to an object that lives; and does so, where it is all zeros. */
bool may_stamp_zeros(const struct thread *thread);
void stamp_zeros(struct reg *reg, haft_id id);

/* Free what the register names. */
void free_one(haft_worker *worker, struct reg *reg);

/* --- sides of the table --- */

void begin_side(void); /* the plan's, if it has one */
void end_sides(void);
bool has_sides(void);

/* An id that no other thread has set a value for; on_reclaim was given one. */
void check_has_no_value(haft_id id, const char *kind);
void check_values_at_end(haft_id id);

/* In turns: the slot has another id. */
void forget_values(uint32_t index);

/* --- the export of the process --- */

void end_export(void);
void forget_export(void); /* it is the parent's */

/* --- another table of the domain, in plans that have one --- */

void begin_other_table(void);
void end_other_table(void);
void end_other_worker(struct seat *seat);

/* What the insertion answers; HAFT_OK too where there is no such table, or no room for the id. */
haft_status insert_in_other(struct thread *thread, uint32_t at);

/* --- states, of a table that is a local one for the moment --- */

void states_rewind(haft_local *local);
void states_load(haft_local *local);
haft_local *states_clone(haft_local *local); /* it takes the table's place */

/* --- the thread's state --- */

/* A call of the library begins, on the slot of `id` or (HAFT_NIL) on none; and ends. */
struct call_under_way {
    uint64_t word;
};

struct call_under_way begin_call(enum call call, haft_id id);
void end_call(struct call_under_way outer);

/* The call under way is on the slot of `id` from now on. */
void move_call(enum call call, haft_id id);

/* The calling thread is in the middle of a call on a slot: others that are there too. */
void note_overlaps(uint32_t call, uint32_t slot);

void expect(haft_status answer, haft_status expected, const char *kind);

/* What an insertion may answer, where nothing else happened meanwhile. */
void check_insertion(haft_status status, bool waits, uint32_t before, uint64_t callbacks);

/* HAFT_NO_MEMORY, while memory is refused. */
bool lacks_memory(haft_status status);

/* Else there was no memory for it, as may be. */
bool is_done(haft_status status, const char *call);

/* The statistics, without the clock's where it has a thread: a refused call leaves them as they
 * were. */
haft_table_stats table_state(void);

/* The call is refused in the thread's section or inner job, and changes nothing. */
void refuse_in_section(haft_status (*call)(void), haft_status expected);

bool in_callback(const struct thread *thread);
bool is_qsbr(void);
bool is_ck(void);
bool has_sections(void); /* the clock: each with a begin and an end */
bool is_clock(enum plan_clock clock);

/* Whether no call may wait here: in a callback; where waits are refused; and as long as the worker
 * of a thread that has ended holds the workers clock up. */
bool must_not_wait(const struct thread *thread);

/* After a wait or a tick, before which the domain said that. */
void check_grace(const haft_domain_stats *before);

/* Whether the calling thread may resolve. */
bool may_resolve(const struct thread *thread);

/* Whether calls that wait answer HAFT_IN_SECTION: in a read section or an inner job, with clocks
 * that know. */
bool waits_are_refused(const struct thread *thread);

/* The thread's pointers are void from now on, unless a section or an inner job keeps them. */
void expire_pointers(struct thread *thread);

/* The thread has no pointer any more, and is in no section or job. */
void end_sections(struct thread *thread);

/* Its seat goes offline, or online, where the clock has these states. */
void go_offline(struct thread *thread);
void go_online(struct thread *thread);

void begin_worker(struct thread *thread);
void end_worker(struct thread *thread);

/* A worker of the seat has been opened; is about to be closed, and has been; all have ended. */
void note_worker_opened(struct seat *seat);
void note_worker_closing(struct seat *seat);
void note_worker_closed(struct seat *seat);
void forget_workers(struct seat *seat);

/* --- jobs --- */

/* The level of a seat without workers and jobs is 0 with the workers clock. */
void settle_level(struct seat *seat);

/* Offline by a park, and not in a job since. */
bool seat_is_parked(const struct seat *seat);
uint32_t known_jobs(const struct seat *seat);
void end_jobs(struct thread *thread); /* those that began after its last section */

/* --- the command set --- */

/* While all others stand still: its worker, if it is the thread's. */
haft_worker *worker_of_set(const struct thread *thread);

/* The thread ends: so does the set, if it is the thread's. */
void end_set(struct thread *thread);

/* All threads stand still: objects that a thread and the set were about to end are ended. */
void settle_doomed(void);

/* For the thread alone, if it may use it; then the set is the thread's. */
bool take_set(const struct thread *thread);
bool applies_set(const struct thread *thread);
void give_set_back(const struct thread *thread);

/* Objects live or reserved that count for the capacity. */
uint32_t capacity_in_use(void);

#endif /* HAFT_COMBINATIONS_CALLS_H */
