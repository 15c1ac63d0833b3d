/* A program in C++ beside the macros of other libraries. */
#include "tests/neighbours/macros.h"

#ifdef HAFT_TWO_FILES
#include "haft_kit.hpp"
#else
#include <haft/kit/kit.hpp>
#endif

HAFT_TYPED_ID(item);
HAFT_TYPED(item, int);
HAFT_TYPED_LOCAL(item);
HAFT_TYPED_PACKED(item);
HAFT_TYPED_TABLE(item);

int main()
{
    auto items = haft::local<int>::open(10);

    if (!items) {
        return 1;
    }
    const auto id = items->emplace(3);

    return id && *items->resolve(*id) == 3 ? 0 : 1;
}
