/* program.cc - the same in C++, with the table of one thread, which needs no liburcu. */
#include <cstdio>
#include <haft/haft.hpp>
#include <string>

int main()
{
    auto names = haft::local<std::string>::open(1000);

    if (!names) {
        return 1;
    }
    const auto id = names->emplace("Beagle");
    const bool right = id && *names->resolve(*id) == "Beagle" && names->free(*id) == HAFT_OK &&
                       names->resolve(*id) == nullptr;

    std::printf("haft %s: %s\n", haft_version_text(), right ? "right" : "wrong");
    return !right;
}
