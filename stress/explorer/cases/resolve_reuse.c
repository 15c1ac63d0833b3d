/* Live-on-free: readers hold an object that another thread frees, and whose slot it reuses. */
#include "stress/explorer/cases/case.h"
#include "stress/explorer/foreign.h"

static haft_worker *worker;
static haft_id id;
static shared_u64 seen;
static bool is_late; /* the clock */

static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    is_late = wish->is_late;
    worker = open_worker();
    id = insert_stamped(worker);
    poke(&seen, 0);
}

static void set_up(void)
{
    open_with(&(struct table_wish){.capacity = 1});
}

static void set_up_qsbr(void)
{
    open_with(&(struct table_wish){.capacity = 1, .is_qsbr = true});
}

static void set_up_late(void)
{
    open_with(&(struct table_wish){.capacity = 1, .is_late = true});
}

static void read_twice(void)
{
    haft_thread_register(fixture.domain);
    add(&seen, look_at(id));
    haft_thread_offline(fixture.domain);
    haft_thread_online(fixture.domain);
    add(&seen, look_at(id));
    haft_thread_unregister(fixture.domain);
}

/* There are two slots: the second insertion is into the first again, after a grace period. */
static void free_and_reuse(void)
{
    haft_id next = id;

    haft_thread_register(fixture.domain);
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(worker, next), HAFT_OK, "freeing");
        next = insert_stamped(worker);
        require(!haft_id_equal(next, id), "an id is issued twice");
    }
    if (peek(&seen) != 0 && (!is_late || model_has_been_late())) {
        met();
    }
    require(!haft_is_live(fixture.view, id), "a freed id is live for its freer");
    haft_thread_unregister(fixture.domain);
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        free_and_reuse();
    } else {
        read_twice();
    }
}

static void tear_down(void)
{
    close_worker(worker);
    close_table();
}

EXPLORE(resolve_reuse, 3, set_up, body, tear_down,
        "an object that was resolved stays the id's own until the section ends");
EXPLORE(resolve_reuse_qsbr, 2, set_up_qsbr, body, tear_down,
        "the same with qsbr's sections, from one quiescent state to the next");
EXPLORE(resolve_reuse_late, 3, set_up_late, body, tear_down,
        "the same with grace periods as late as a foreign clock may have them");
