#include "crew.h"
#include <glib.h>

struct crew {
    GThreadPool *pool;
    void (*run)(void *job);
    GMutex lock;
    GCond ended;
    size_t left; /* jobs that have not ended */
};

static void run_one(gpointer job, gpointer data)
{
    struct crew *crew = data;

    crew->run(job);
    g_mutex_lock(&crew->lock);
    if (--crew->left == 0) {
        g_cond_signal(&crew->ended);
    }
    g_mutex_unlock(&crew->lock);
}

struct crew *crew_open(unsigned workers)
{
    struct crew *crew = g_new0(struct crew, 1);

    g_mutex_init(&crew->lock);
    g_cond_init(&crew->ended);
    crew->pool = g_thread_pool_new(run_one, crew, (gint)workers, TRUE, NULL);
    if (crew->pool == NULL) {
        crew_close(crew);
        return NULL;
    }
    return crew;
}

void crew_close(struct crew *crew)
{
    if (crew->pool != NULL) {
        g_thread_pool_free(crew->pool, FALSE, TRUE);
    }
    g_mutex_clear(&crew->lock);
    g_cond_clear(&crew->ended);
    g_free(crew);
}

void crew_run(struct crew *crew, void (*run)(void *job), void *jobs, size_t count, size_t size)
{
    crew->run = run;
    crew->left = count;
    for (size_t i = 0; i < count; i++) {
        g_thread_pool_push(crew->pool, (char *)jobs + i * size, NULL);
    }
    g_mutex_lock(&crew->lock);
    while (crew->left != 0) {
        g_cond_wait(&crew->ended, &crew->lock);
    }
    g_mutex_unlock(&crew->lock);
}
