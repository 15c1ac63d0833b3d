/* must.h - the guide's programs end where something fails that cannot fail in them. */
#ifndef MUST_H
#define MUST_H

#include <haft/status.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(haft_status status)
{
    if (status != HAFT_OK) {
        fprintf(stderr, "%s: %s\n", haft_status_name(status), haft_status_text(status));
        exit(1);
    }
}

#endif /* MUST_H */
