/* program.cc - the same in C++, with the table of one thread, which needs no liburcu. */
#include <cstdio>
#include <haft/haft.h>

int main()
{
    const double price = 9.5;
    haft_local_options options = {};
    haft_local *prices = nullptr;
    haft_id id;

    options.capacity = 1000;
    options.object_size = sizeof price;
    if (haft_local_open(&options, &prices) != HAFT_OK ||
        haft_local_insert(prices, &price, &id) != HAFT_OK) {
        return 1;
    }
    const bool right = *static_cast<double *>(haft_resolve(haft_local_view(prices), id)) == price &&
                       haft_local_free(prices, id) == HAFT_OK;

    haft_local_close(prices);
    std::printf("haft %s: %s\n", haft_version_text(), right ? "right" : "wrong");
    return !right;
}
