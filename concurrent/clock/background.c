/* Threads of the library's own. */
#include "concurrent/clock/background.h"
#include <signal.h>
#include <stddef.h>

int background_start(pthread_t *thread, void *run(void *), void *arg)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, arg);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
