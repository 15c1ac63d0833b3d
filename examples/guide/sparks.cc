/* sparks.cc - the guide's C++: a side table, and snapshots of a table whose objects are bytes. */
#include <cstdio>
#include <haft/kit/kit.hpp>
#include <string>

struct spark {
    int heat;
};

int main()
{
    auto sparks = haft::local<spark>::open(100);
    auto names = haft::side<std::string, spark>::open(*sparks); // its scope ends before the table's
    auto past = haft::history::open(8);
    auto id = sparks->emplace(spark{900});

    if (!names || !past || !id || !names->emplace(*id, "Pip")) {
        return 1;
    }
    auto before = haft::snapshot(*sparks, *past);

    sparks->free(*id);
    if (!before || haft::rewind(*sparks, *past, *before) != HAFT_OK) {
        return 1;
    }
    const spark *pip = sparks->resolve(*id);
    const std::string *name = names->get(*id); // values end in a rewind: see haft/kit/snapshot.h

    std::printf("%d, %s\n", pip != nullptr ? pip->heat : 0, name != nullptr ? "named" : "no name");
    return std::fflush(stdout) != 0;
}
