/* White-box: the reservations of a command set, and the budget. */
#include "stress/combinations/shim.h"
#include "concurrent/worker/budget.h"
#include "kit/shared/commands/state.h"

uint64_t shim_reserved(const haft_commands *commands)
{
    return commands->reserved_count;
}

uint64_t shim_each_unused(const haft_commands *commands, void (*call)(haft_id id))
{
    uint64_t unused = commands->reserved_count;

    for (size_t i = 0; i < commands->open; i++) {
        const haft_recorder *recorder = commands->recorders[i];

        for (uint64_t j = recorder->created; j < recorder->ids_count; j++) {
            call(recorder->ids[j]);
            unused++;
        }
    }
    for (size_t i = 0; i < commands->reserved_count; i++) {
        call(commands->reserved[commands->reserved_from + i]);
    }
    return unused;
}

void shim_draw_budget(haft_worker *worker)
{
    budget_draw(worker);
}
