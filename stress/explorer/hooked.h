/* stress/explorer/hooked.h - which memory the library's atomic operations see. */
#ifndef HAFT_STRESS_HOOKED_H
#define HAFT_STRESS_HOOKED_H

#include <stdbool.h>

/* True: loads read what C11 allows.  False: the newest store, as in sequential consistency. */
void hooked_use_history(bool use);

#endif /* HAFT_STRESS_HOOKED_H */
