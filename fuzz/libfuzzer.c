/* A fuzz target as libFuzzer wants it. */
#include "fuzz/target.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target_run(data, size);
    return 0;
}

void target_differs(void)
{
    abort();
}
