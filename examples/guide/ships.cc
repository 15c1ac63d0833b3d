/* ships.cc - the guide's C++: objects with destructors, everything closed at its scope's end. */
#include <cstdio>
#include <haft/haft.hpp>
#include <haft/urcu.h>
#include <string>

struct ship {
    explicit ship(std::string its_name) : name(std::move(its_name)) {}
    ~ship() { std::printf("%s is broken up\n", name.c_str()); }
    std::string name;
};

int main()
{
    // guide: use
    auto domain = haft::domain::open(HAFT_CLOCK_CALLER, haft_urcu_memb());
    auto ships = haft::table<ship>::open(*domain, 1000);
    auto worker = ships->open_worker();
    auto beagle = worker->emplace("Beagle");
    auto victory = worker->emplace("Victory");
    // end

    if (!beagle || !victory) {
        return 1;
    }
    // guide: read
    const haft::registered_thread registered(*domain);
    {
        const haft::read_section section(*domain);

        for (auto [id, each] : ships->scan()) {
            worker->free(id);
            std::printf("%s is still seen\n", each.name.c_str()); // until the section ends
        }
    }
    std::printf("%s\n", ships->resolve(*beagle) ? "there" : "gone");
    // end
    return std::fflush(stdout) != 0;
}
