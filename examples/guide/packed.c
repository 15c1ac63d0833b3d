/* packed.c - the guide's dense table: a loop over an array that kills what it meets. */
#include "must.h"
#include <haft/kit/packed.h>

struct spark {
    float height;
    int lifetime;
};

/* guide: step */
static void step(haft_packed *sparks)
{
    struct spark *spark = haft_packed_objects(sparks);
    const haft_id *ids = haft_packed_ids(sparks);
    const uint64_t count = haft_packed_count(sparks);

    for (uint64_t i = 0; i < count; i++) {
        spark[i].height += 1;
        if (--spark[i].lifetime == 0) {
            haft_packed_kill(sparks, ids[i]); /* stays where it is ... */
        }
    }
    haft_packed_refresh(sparks); /* ... until all gaps are closed at once */
}
/* end */

/* From the last to the first: a free moves only objects that the loop has visited. */
static void put_out(haft_packed *sparks, int lifetime)
{
    const struct spark *spark = haft_packed_objects(sparks);

    for (uint64_t i = haft_packed_count(sparks); i-- > 0;) {
        if (spark[i].lifetime < lifetime) {
            must(haft_packed_free(sparks, haft_packed_ids(sparks)[i]));
        }
    }
}

int main(void)
{
    haft_packed *sparks;
    haft_id ids[5];

    must(haft_packed_open(
        &(haft_packed_options){.capacity = 1000, .object_size = sizeof(struct spark)}, &sparks));
    for (int i = 0; i < 5; i++) {
        must(haft_packed_insert(sparks, &(struct spark){.lifetime = i + 1}, &ids[i]));
    }
    step(sparks);
    step(sparks);

    uint64_t position;
    const struct spark *last = haft_packed_resolve(haft_packed_view(sparks), ids[4]);

    must(haft_packed_position(sparks, ids[4], &position)); /* it was 4 once */
    printf("%d left; the last one moved to position %d, and has %d steps left\n",
           (int)haft_packed_count(sparks), (int)position, last->lifetime);
    const haft_id drawn[] = {ids[3], ids[4]}; /* in this order, say by another table's objects */

    must(haft_packed_sort_as(sparks, drawn, 2)); /* all others behind them */
    printf("drawn first: the one with %d steps left\n",
           ((const struct spark *)haft_packed_objects(sparks))->lifetime);
    put_out(sparks, 3);
    printf("put out: %d left\n", (int)haft_packed_count(sparks));
    haft_packed_close(sparks);
    return fflush(stdout) != 0;
}
