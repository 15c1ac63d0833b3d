/*
 * harbour.cc - haft in C++: ships that own what they carry, a job for each thread, ids that are
 * good to keep.  Compiled without exceptions and without run-time type information.
 *
 * Four threads launch ships into one shared table and sink some of them.  Each hails the ship that
 * its neighbour launched last, which may be going down at that very moment: it is found and stays
 * whole while it is looked at, or it is not found.  In the end the harbour master walks over what
 * is afloat, and the books must balance.
 */
#include <array>
#include <atomic>
#include <cstdio>
#include <haft/kit/kit.hpp>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

constexpr int threads = 4;
constexpr int launches = 20000; /* of each thread */

std::atomic<int> afloat{0}; /* ships made and not destroyed */

struct ship {
    ship(std::string its_name, int its_cargo)
        : name(std::move(its_name)), cargo(static_cast<std::size_t>(its_cargo))
    {
        afloat++;
    }
    ship(const ship &) = delete;
    ship &operator=(const ship &) = delete;
    ~ship() { afloat--; }

    std::string name;
    std::vector<int> cargo;
};

using ships = haft::table<ship>;

/* What one thread did and saw. */
struct log {
    long launched = 0;
    long sunk = 0;
    long hailed = 0; /* found whole */
    long broken = 0;
};

/* For the neighbours: the bits of the id of each thread's last ship. */
std::array<std::atomic<uint64_t>, threads> flagship;

void hail(const ships &fleet, haft::id<ship> id, log &seen)
{
    if (const ship *found = fleet.resolve(id)) {
        const bool is_whole = found->name == "ship " + std::to_string(found->cargo.size());

        (is_whole ? seen.hailed : seen.broken)++;
    }
}

/* Launch a ship, and sink every other one. */
bool launch(const haft::worker<ship> &worker, int number, haft::id<ship> &last, log &seen)
{
    const int cargo = number % 100;
    const auto id = worker.emplace_wait("ship " + std::to_string(cargo), cargo);

    if (!id) {
        return false;
    }
    seen.launched++;
    if (number % 2 == 0) {
        seen.sunk += worker.free(last) == HAFT_OK;
    }
    last = *id;
    return true;
}

/* With the workers clock, what is resolved may be used until the next quiescent point. */
bool work(const ships &fleet, std::size_t own, log &seen)
{
    const auto worker = fleet.open_worker();
    haft::id<ship> last;

    for (int number = 0; worker && number < launches; number++) {
        if (!launch(*worker, number, last, seen)) {
            return false;
        }
        flagship[own].store(last.untyped().bits, std::memory_order_relaxed);
        const haft_id other = {flagship[(own + 1) % threads].load(std::memory_order_relaxed)};
        hail(fleet, haft::id<ship>(other), seen);
        if (number % 64 == 0) {
            worker->quiescent();
        }
    }
    return bool(worker);
}

log total(const std::array<log, threads> &logs)
{
    log sum;

    for (const log &each : logs) {
        sum.launched += each.launched;
        sum.sunk += each.sunk;
        sum.hailed += each.hailed;
        sum.broken += each.broken;
    }
    return sum;
}

/* A shared table, used by all threads. */
bool regatta()
{
    const auto domain = haft::domain::open(HAFT_CLOCK_WORKERS);
    auto fleet = domain ? ships::open(*domain, threads * launches) : domain.status();
    std::array<log, threads> logs;
    std::array<bool, threads> done{};
    std::vector<std::thread> crew;

    if (!fleet) {
        std::printf("no harbour: %s\n", haft_status_text(fleet.status()));
        return false;
    }
    for (std::size_t i = 0; i < threads; i++) {
        crew.emplace_back([&, i] { done[i] = work(*fleet, i, logs[i]); });
    }
    for (std::thread &each : crew) {
        each.join();
    }

    const log seen = total(logs);
    std::unordered_map<haft::id<ship>, std::string> register_of_ships;
    for (auto [id, ship] : fleet->scan()) {
        register_of_ships.emplace(id, ship.name);
    }
    std::printf("%ld launched, %ld sunk, %zu in the register\n", seen.launched, seen.sunk,
                register_of_ships.size());
    bool right = seen.launched == long(threads) * launches && seen.hailed > 0 && seen.broken == 0;
    for (bool each : done) {
        right &= each;
    }
    right &= seen.launched - seen.sunk == long(register_of_ships.size());
    return fleet->close() == HAFT_OK && afloat == 0 && right;
}

/* Tables of one thread. */
struct wave {
    float height;
    float age;
};

bool tide()
{
    auto waves = haft::packed<wave>::open(1000);
    auto harbour = haft::local<ship>::open(10);

    if (!waves || !harbour || !waves->emplace(1.0f, 0.0f) || !waves->emplace(2.0f, 9.0f)) {
        return false;
    }
    for (auto [id, each] : waves->entries()) {
        if (each.age > 5) {
            waves->kill(id);
        }
    }
    waves->refresh();
    const auto id = harbour->emplace("Beagle", 7);
    const bool was_there = id && harbour->resolve(*id)->name == "Beagle";

    harbour->free(*id);
    std::printf("%d wave, %s\n", int(waves->count()), haft_status_text(harbour->diagnose(*id)));
    return was_there && waves->begin()->height == 1.0f && afloat == 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1) {
        std::fprintf(stderr, "harbour: takes no arguments, not '%s'\n", argv[1]);
        return 2;
    }
    return regatta() && tide() && std::fflush(stdout) == 0 ? 0 : 1;
}
