/* stress/combinations/steps.h - a function for each call of a plan. */
#ifndef HAFT_COMBINATIONS_STEPS_H
#define HAFT_COMBINATIONS_STEPS_H

#include "stress/combinations/model.h"

/* Carries one call out, as call_step() says; see the table in calls.c. */
typedef void step_call(struct thread *thread, haft_worker *worker, const struct step *step);

step_call step_worker_open, step_worker_close, step_quiescent, step_flush, step_offline_online,
    step_wait, step_reclaim, step_section_begin, step_section_end;
step_call step_job_begin, step_job_end, step_park, step_unpark;
step_call step_commands_open, step_commands_close, step_recorder_open, step_record_create,
    step_record_destroy, step_record_call, step_apply;
step_call step_insert, step_insert_wait, step_insert_many, step_reserve, step_publish, step_abort,
    step_free, step_free_stale, step_free_many;
step_call step_refused;
step_call step_side_open, step_side_close, step_side_set, step_side_find;
step_call step_other_insert, step_other_free;
step_call step_counted;
step_call step_resolve, step_resolve_many, step_pin, step_unpin, step_scan, step_diagnose,
    step_explain, step_export, step_trim, step_reserve_capacity;

#endif /* HAFT_COMBINATIONS_STEPS_H */
