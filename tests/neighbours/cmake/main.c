#include <stdio.h>

#if __has_include("haft.h")
#include "haft.h"
#else
#include <haft/haft.h>
#endif

int main(void)
{
    const haft_local_options options = {.capacity = 10};
    haft_local *local;
    const haft_status status = haft_local_open(&options, &local);

    puts(haft_status_name(status));
    return status != HAFT_OK;
}
