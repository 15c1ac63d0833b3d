/* anyone.c - the guide's threads that are not the program's own. */
/* guide: begin */
#include "must.h"
#include <haft/counted.h>
#include <pthread.h>
#include <stdint.h>

/* A request that was sent, and its answer that some thread of a network library brings. */
struct request {
    const char *name;
    haft_id next; /* what begins when this one has ended; HAFT_NIL: nothing */
};

static haft_counted *requests;

/* With the last release of a freed request, in the thread that let go. */
static void end_request(void *object, haft_id id, void *arg)
{
    const struct request *request = object;

    (void)id;
    (void)arg;
    printf("%s has ended\n", request->name);
    haft_counted_free(requests, request->next); /* ends after this returns: no recursion */
}

/* Called on a thread that this program did not start, perhaps after the request was given up. */
static void *bring_answer(void *argument)
{
    const haft_id id = {*(const uint64_t *)argument};
    struct request *request = haft_counted_acquire(requests, id);

    if (request == NULL) {
        printf("too late: %s\n", haft_status_text(haft_counted_diagnose(requests, id)));
        return NULL;
    }
    if (haft_counted_free(requests, id) == HAFT_OK) { /* of two answers that hold it, one */
        printf("an answer for %s\n", request->name);
    }
    must(haft_counted_release(requests, id));
    return NULL;
}

static void run_elsewhere(haft_id id)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, bring_answer, &id.bits) != 0) {
        exit(1);
    }
    pthread_join(thread, NULL);
}
/* end */

int main(void)
{
    haft_id later;
    haft_id first;

    must(haft_counted_open(&(haft_counted_options){.name = "requests",
                                                   .capacity = 1000,
                                                   .object_size = sizeof(struct request),
                                                   .on_destroy = end_request},
                           &requests));
    must(haft_counted_insert(requests, &(struct request){"the follow-up", HAFT_NIL}, &later));
    must(haft_counted_insert(requests, &(struct request){"the question", later}, &first));

    run_elsewhere(first); /* ends both */
    run_elsewhere(first); /* the same answer once more */

    must(haft_counted_close(requests)); /* HAFT_IN_USE while a thread holds an object */
    return fflush(stdout) != 0;
}
