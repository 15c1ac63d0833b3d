/* subject - a program for gdb to look at: it stops where the test has a breakpoint. */
#ifdef HAFT_TWO_FILES
#include <haft.h>
#else
#include <haft/counted.h>
#include <haft/local.h>
#include <haft/table.h>
#endif
#include <stdio.h>

struct ship {
    haft_id escort;
    double fuel;
};

static haft_domain *domain;
static haft_table *table;
static haft_local *local;
static haft_worker *worker, *closed;
static haft_counted *counted;
static haft_id held, ended, gone, kept, worn;               /* in the counted table */
static haft_id alive, freed, reserved, passing, never, nil; /* for the debugger */
static struct ship ship;

void look_here(void);

void look_here(void)
{
    puts("here");
}

void *resolve_here(haft_view view, haft_id id);

void *resolve_here(haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);
    return object;
}

static bool open_all(void)
{
    const haft_domain_options clock = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options monsters = {
        .name = "monsters", .capacity = 1000, .object_size = sizeof ship, .layout = {20, 12, 0}};
    const haft_counted_options sessions = {
        .name = "sessions", .capacity = 20, .object_size = 8, .layout = {8, 2, 4}, .tag = 5};
    const haft_local_options items = {.name = "items", .capacity = 50, .object_size = 8};

    return haft_domain_open(&clock, &domain) == HAFT_OK &&
           haft_table_open(domain, &monsters, &table) == HAFT_OK &&
           haft_local_open(&items, &local) == HAFT_OK &&
           haft_counted_open(&sessions, &counted) == HAFT_OK &&
           haft_worker_open(table, &worker) == HAFT_OK;
}

/* An object in each state, from the slot whose generations are worn out on. */
static bool use_counted(void)
{
    for (int i = 0; i < 3; i++) {
        if (haft_counted_insert(counted, NULL, &worn) != HAFT_OK ||
            haft_counted_free(counted, worn) != HAFT_OK) {
            return false;
        }
    }
    return haft_counted_insert(counted, NULL, &held) == HAFT_OK &&
           haft_counted_acquire(counted, held) != NULL && haft_counted_again(counted, held) &&
           haft_counted_insert(counted, NULL, &ended) == HAFT_OK &&
           haft_counted_acquire(counted, ended) != NULL &&
           haft_counted_free(counted, ended) == HAFT_OK &&
           haft_counted_insert(counted, NULL, &gone) == HAFT_OK &&
           haft_counted_reserve(counted, &kept, NULL) == HAFT_OK &&
           haft_counted_free(counted, gone) == HAFT_OK;
}

int main(void)
{
    haft_id item;
    bool right =
        open_all() && haft_insert(worker, NULL, &alive) == HAFT_OK &&
        haft_insert(worker, NULL, &freed) == HAFT_OK &&
        haft_reserve(worker, &reserved, NULL) == HAFT_OK && haft_free(worker, freed) == HAFT_OK &&
        haft_free(worker, freed) != HAFT_OK && haft_worker_open(table, &closed) == HAFT_OK &&
        haft_insert(closed, NULL, &passing) == HAFT_OK && haft_worker_close(closed) == HAFT_OK &&
        haft_table_free(table, passing) == HAFT_OK &&
        haft_local_insert(local, NULL, &item) == HAFT_OK && use_counted();

    nil = HAFT_NIL;
    never = haft_id_pack((haft_layout){20, 12, 0, 0}, 500, 9, 0);
    ship = (struct ship){.escort = alive, .fuel = 3};
    look_here();
    right = right && resolve_here(haft_table_view(table), alive) != NULL;
    haft_abort(worker, reserved);
    haft_local_close(local);
    haft_counted_abandon(counted);
    right = right && haft_worker_close(worker) == HAFT_OK;
    return !right || haft_table_close(table) || haft_domain_close(domain);
}
