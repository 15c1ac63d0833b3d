/* Required ids that did not resolve in a shared table. */
#include <haft/diagnose.h>

#include "concurrent/worker/worker_list.h"
#include "lib/slots/bad_access.h"
#include <assert.h>

void *haft_require_failed(const haft_table *table, haft_id id, const void *slots)
{
    assert(slots == table->slots.view.base && "the view is the table's");
    (void)slots;
    debug_check_reader(table);
    for (;;) {
        const haft_status status = haft_diagnose(table, id);

        if (status != HAFT_OK) {
            bad_access(&table->slots, table->name, id, status);
            return NULL;
        }
        /* Published since the caller looked; if it is gone again, its status says so. */
        void *object = haft_resolve(table->slots.view, id);

        if (object != NULL) {
            return object;
        }
    }
}
