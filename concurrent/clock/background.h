/*
 * concurrent/clock/background.h - threads of the library's own.
 */
#ifndef HAFT_CONCURRENT_BACKGROUND_H
#define HAFT_CONCURRENT_BACKGROUND_H

#include <pthread.h>

/* pthread_create with all signals blocked: they go to the program's own threads. */
int background_start(pthread_t *thread, void *run(void *), void *arg);

#endif /* HAFT_CONCURRENT_BACKGROUND_H */
