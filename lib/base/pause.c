/* Pauses, longer from turn to turn. */
#include "lib/base/pause.h"
#include "lib/base/os.h"

#define SHORT_SLEEP UINT64_C(50000) /* ns */
#define LONG_SLEEP UINT64_C(1000000)

void pause_in_turn(uint64_t turn)
{
    if (turn < PAUSE_YIELDS) {
        os_yield();
    } else {
        os_sleep(turn < 2 * PAUSE_YIELDS ? SHORT_SLEEP : LONG_SLEEP);
    }
}
