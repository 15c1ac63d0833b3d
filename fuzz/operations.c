/* Target: sequences of operations on all kinds of tables, beside the model. */
#include "fuzz/play.h"
#include "fuzz/target.h"

uint64_t target_run(const uint8_t *data, size_t size)
{
    return play(data, size);
}

void target_tell(void)
{
    play_tell();
}
