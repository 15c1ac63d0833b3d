/* program_kit.c - the same with a table of the kit. */
#include <haft/kit/packed.h>
#include <stdio.h>

int main(void)
{
    const haft_packed_options options = {.capacity = 100, .object_size = sizeof(double)};
    const double price = 9.5;
    haft_packed *prices;
    haft_id id;

    if (haft_packed_open(&options, &prices) || haft_packed_insert(prices, &price, &id)) {
        return 1;
    }
    const double *found = haft_packed_resolve(haft_packed_view(prices), id);
    const int wrong = found == NULL || *found != price;

    printf("haft's kit: %s\n", wrong ? "wrong" : "right");
    haft_packed_close(prices);
    return wrong;
}
