/*
 * unwrap.c - a layer between a program and a driver: the program has 64-bit ids, the driver has
 * handles of 8 bytes.  Each call of the program copies the handle out of the table, without a lock
 * and without a store; an id whose object was destroyed never reaches the driver.
 */
#include <haft/counted.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* --- the driver: it trusts what it is given --- */

enum { SURFACES = 64, DRAWERS = 2, DRAWS = 200000 };

/* A handle says which surface it is of, and which one after another in its place. */
static _Atomic uint64_t drawn_wrongly;

static uint64_t driver_create(uint64_t place, uint64_t number)
{
    return number << 8 | place;
}

static void driver_draw(uint64_t handle, uint64_t place)
{
    if ((handle & 0xFF) != place) {
        atomic_fetch_add(&drawn_wrongly, 1);
    }
}

/* --- the layer --- */

static haft_counted *handles;

static haft_status layer_create(uint64_t driver_handle, haft_id *id)
{
    return haft_counted_insert(handles, &driver_handle, id);
}

/* False: the surface is no more. */
static bool layer_draw(haft_id id, uint64_t place)
{
    uint64_t driver_handle;

    if (!haft_counted_copy(handles, id, &driver_handle)) {
        return false;
    }
    driver_draw(driver_handle, place);
    return true;
}

static bool layer_destroy(haft_id id)
{
    return haft_counted_free(handles, id) == HAFT_OK;
}

/* --- the program --- */

static _Atomic uint64_t surfaces[SURFACES]; /* ids */
static _Atomic uint64_t drawn;
static _Atomic uint64_t gone;
static atomic_bool ends;

static void *draw(void *unused)
{
    for (uint64_t i = 0; i < DRAWS; i++) {
        const uint64_t place = i * 7 % SURFACES;
        const haft_id id = {atomic_load_explicit(&surfaces[place], memory_order_relaxed)};

        atomic_fetch_add_explicit(layer_draw(id, place) ? &drawn : &gone, 1, memory_order_relaxed);
    }
    return unused;
}

/* Surfaces are resized: each destroyed, and created anew in its place. */
static void *resize(void *failed)
{
    for (uint64_t number = 2; !atomic_load(&ends); number++) {
        const uint64_t place = number * 5 % SURFACES;
        haft_id id = {atomic_load(&surfaces[place])};

        if (!layer_destroy(id) || layer_create(driver_create(place, number), &id) != HAFT_OK) {
            return failed;
        }
        atomic_store(&surfaces[place], id.bits);
    }
    return NULL;
}

static bool run(void)
{
    pthread_t drawers[DRAWERS];
    pthread_t resizer;
    void *failed;
    int failure = 0;

    for (uint64_t place = 0; place < SURFACES; place++) {
        haft_id id;

        if (layer_create(driver_create(place, 1), &id) != HAFT_OK) {
            return false;
        }
        atomic_store(&surfaces[place], id.bits);
    }
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
    atomic_store(&ends, true);
    pthread_join(resizer, &failed);
    return failed == NULL;
}

int main(void)
{
    const haft_counted_options options = {
        .name = "surfaces",
        .capacity = SURFACES,
        .object_size = sizeof(uint64_t),
        .copies = true,
    };

    if (haft_counted_open(&options, &handles) != HAFT_OK || !run() ||
        haft_counted_close(handles) != HAFT_OK) {
        return 1;
    }
    printf("%" PRIu64 " draws reached the driver or met a surface that was gone, %" PRIu64
           " the wrong surface\n",
           atomic_load(&drawn) + atomic_load(&gone), atomic_load(&drawn_wrongly));
    return fflush(stdout) != 0 || atomic_load(&drawn_wrongly) != 0;
}
