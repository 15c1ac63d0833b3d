/*
 * unwrap.c - a layer between a program and a driver: the program has 64-bit ids, the driver has
 * handles of 8 bytes.  Each call of the program copies the handle out of the table, without a lock
 * and without a store.
 *
 * A copy protects the handle, not the surface that it names: that may be destroyed between the copy
 * and its use.  As Vulkan asks of programs, this one orders the two itself: ids end at any time,
 * their surfaces after the frame's draws.  A layer that cannot wait for draws acquires the id while
 * it draws, and calls driver_destroy() in on_destroy.
 */
#include <haft/counted.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SURFACES = 64, RESIZED = 16, FRAMES = 50, DRAWERS = 2, DRAWS = 2048 };

/* --- the driver: it has no lock, and trusts what it is given --- */

/* No two handles are equal, and surfaces lie in the places of those before them. */
enum { PLACES = 256 };

static uint64_t placed[PLACES]; /* by handle % PLACES: the surface's handle; 0: none */
static uint64_t created;
static _Atomic uint64_t mistakes; /* handles whose surface was destroyed */

static uint64_t driver_create(void)
{
    do {
        created++;
    } while (placed[created % PLACES] != 0);
    placed[created % PLACES] = created;
    return created;
}

static void driver_draw(uint64_t handle)
{
    sched_yield(); /* a draw takes its time */
    if (placed[handle % PLACES] != handle) {
        atomic_fetch_add(&mistakes, 1);
    }
}

static void driver_destroy(uint64_t handle)
{
    if (placed[handle % PLACES] != handle) {
        atomic_fetch_add(&mistakes, 1);
    }
    placed[handle % PLACES] = 0;
}

/* --- the layer --- */

static haft_counted *handles;
static uint64_t ended[RESIZED]; /* handles without an id, whose surfaces this frame may draw */
static int ended_count;

static haft_status layer_create(haft_id *id)
{
    const uint64_t handle = driver_create();

    return haft_counted_insert(handles, &handle, id);
}

/* False: the id has ended. */
static bool layer_draw(haft_id id)
{
    uint64_t handle;

    if (!haft_counted_copy(handles, id, &handle)) {
        return false;
    }
    driver_draw(handle);
    return true;
}

static haft_status layer_destroy(haft_id id)
{
    const haft_status status = haft_counted_take(handles, id, &ended[ended_count]);

    ended_count += status == HAFT_OK;
    return status;
}

/* No thread draws. */
static void layer_end_frame(void)
{
    while (ended_count > 0) {
        driver_destroy(ended[--ended_count]);
    }
}

/* --- the program --- */

static haft_id surfaces[SURFACES];
static haft_id scene[SURFACES]; /* as they were when the frame began */
static uint64_t drawn_before;   /* that frame: draws, and ids that were gone */
static _Atomic uint64_t drawn;
static _Atomic uint64_t gone;

static void *draw(void *unused)
{
    for (int i = 0; i < DRAWS / DRAWERS; i++) {
        atomic_fetch_add(layer_draw(scene[i % SURFACES]) ? &drawn : &gone, 1);
    }
    return unused;
}

/* Some surfaces are destroyed beside the draws, all through the frame, and created anew. */
static void *resize(void *failed)
{
    for (uint64_t i = 0; i < RESIZED; i++) {
        haft_id *id = &surfaces[i * 5 % SURFACES];

        while (atomic_load(&drawn) + atomic_load(&gone) < drawn_before + i * (DRAWS / RESIZED)) {
            sched_yield();
        }
        if (layer_destroy(*id) != HAFT_OK || layer_create(id) != HAFT_OK) {
            return failed;
        }
    }
    return NULL;
}

static bool run_frame(void)
{
    pthread_t drawers[DRAWERS];
    pthread_t resizer;
    void *failed;
    int failure;

    drawn_before = atomic_load(&drawn) + atomic_load(&gone);
    memcpy(scene, surfaces, sizeof scene);
    if (pthread_create(&resizer, NULL, resize, &failure) != 0) {
        return false;
    }
    for (int i = 0; i < DRAWERS; i++) {
        if (pthread_create(&drawers[i], NULL, draw, NULL) != 0) {
            return false;
        }
    }
    for (int i = 0; i < DRAWERS; i++) {
        pthread_join(drawers[i], NULL);
    }
    pthread_join(resizer, &failed);
    layer_end_frame();
    return failed == NULL;
}

static bool run(void)
{
    for (int i = 0; i < SURFACES; i++) {
        if (layer_create(&surfaces[i]) != HAFT_OK) {
            return false;
        }
    }
    for (int i = 0; i < FRAMES; i++) {
        if (!run_frame()) {
            return false;
        }
    }
    return atomic_load(&drawn) > 0 && atomic_load(&gone) > 0 && atomic_load(&mistakes) == 0;
}

int main(void)
{
    const haft_counted_options options = {
        .name = "surfaces",
        .capacity = SURFACES,
        .object_size = sizeof(uint64_t),
        .copies = true,
    };

    if (haft_counted_open(&options, &handles) != HAFT_OK) {
        return 1;
    }
    const bool is_right = run();

    printf("%" PRIu64 " draws reached the driver, %" PRIu64 " met an id that had ended; %" PRIu64
           " mistakes\n",
           atomic_load(&drawn), atomic_load(&gone), atomic_load(&mistakes));
    return fflush(stdout) != 0 || !is_right || haft_counted_close(handles) != HAFT_OK;
}
