/* Read sections and grace periods of ck_epoch.  haft/clock.h says what each function must do. */
#include "clock.h"
#include <ck_epoch.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static ck_epoch_t epoch;
/* Orders what a thread did with its record before what the next one does: ck's own steps, which are
   assembler, do so as well, but ThreadSanitizer does not see them. */
static atomic_uint left;
static _Thread_local ck_epoch_record_t *own; /* NULL: the thread is not registered */

__attribute__((constructor)) static void init(void)
{
    ck_epoch_init(&epoch);
}

static void register_thread(void *ctx)
{
    own = ck_epoch_recycle(ctx, NULL); /* what another thread has left: records are never freed */
    atomic_load_explicit(&left, memory_order_acquire);
    if (own == NULL && (own = aligned_alloc(_Alignof(ck_epoch_record_t), sizeof *own)) != NULL) {
        ck_epoch_register(ctx, own, NULL);
    }
}

static void unregister_thread(void *ctx)
{
    (void)ctx;
    atomic_fetch_add_explicit(&left, 1, memory_order_release);
    ck_epoch_unregister(own);
    own = NULL;
}

static void begin(void *ctx)
{
    (void)ctx;
    ck_epoch_begin(own, NULL); /* counts sections, so they nest */
}

static void end(void *ctx)
{
    (void)ctx;
    ck_epoch_end(own, NULL);
}

static bool inside(void *ctx)
{
    (void)ctx;
    return own != NULL && own->active != 0;
}

static void let_readers_run(ck_epoch_t *of, ck_epoch_record_t *reader, void *arg)
{
    (void)of, (void)reader, (void)arg, sched_yield();
}

/* Needs no record, so any thread may wait. */
static void wait(void *ctx)
{
    ck_epoch_synchronize_wait(ctx, let_readers_run, NULL);
}

const haft_foreign_clock ck_clock = {&epoch, wait, register_thread, unregister_thread,
                                     begin,  end,  .inside = inside};
