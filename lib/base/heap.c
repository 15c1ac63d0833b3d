/* Memory from the program's allocator, or from malloc. */
#include "lib/base/heap.h"
#include "lib/base/os.h"
#include <assert.h>
#include <string.h>

haft_allocator heap_of(const haft_allocator *allocator)
{
    return allocator != NULL ? *allocator : haft_allocator_malloc();
}

void *heap_take(const haft_allocator *heap, size_t size, size_t alignment)
{
    const int cancel = os_cancel_off();
    void *block = heap->alloc(heap->context, size, alignment);

    os_cancel_restore(cancel);
    assert((uintptr_t)block % alignment == 0 && "an allocator aligns as it is asked");
    return block;
}

void *heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment)
{
    void *block = heap_take(heap, size, alignment);

    return block != NULL ? memset(block, 0, size) : NULL;
}

void heap_give(const haft_allocator *heap, void *block, size_t size)
{
    if (block != NULL) {
        const int cancel = os_cancel_off();

        heap->free(heap->context, block, size);
        os_cancel_restore(cancel);
    }
}

size_t size_with_name(size_t size, const char *name)
{
    assert(name != NULL);
    return size + strlen(name) + 1;
}
