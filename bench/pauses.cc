/*
 * bench/pauses.cc - how long single calls take, when an object's destructor runs after its free,
 * and what memory a table takes beyond the live objects: haft's tables beside their peers.
 *
 * Each subject runs in a child process, which has used no table before.
 *
 *   busy   two threads share 16,384 live objects.  A turn of each is 5 times: look up 18 objects,
 *          each in a separate read section, and read a word; insert one, put it in the place of
 *          another and free that one.  A quiescent point ends the turn.  Each call is timed.
 *   idle   a thread inserts and frees an object every 2 ms, flushes and sleeps; another passes a
 *          quiescent point every millisecond and sleeps
 *   life   a thread inserts 256 objects and frees them, again and again; no call is timed
 *
 * Where a clock goes on by calls alone, one of the threads makes them, a millisecond apart.  The
 * destructor notes when it runs: it reads the clock, which is part of the call that it runs in.
 * The median time that reading the clock takes is taken off each time here.
 *
 *   pauses [seconds]     that each subject is busy (0.4); JSON on standard output, as all programs
 *                        here write it:
 *     look_up, insert, free, quiescent, any_call   `ns` that `parts` of the calls did not go beyond
 *     pauses   `ended_us`, `idle_us`: from the begin of a free to the destructor, median and
 *              longest; `beyond_slots` ever used beyond the live objects, where the table counts
 *              them; `beyond_bytes`: resident memory, at its peak, beyond that with the live
 *              objects in it; `processor_ns` of an object's life
 */
#define HAFT_BENCH_ENDS
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/pinned.h"
#include "bench/random.h"
#include "bench/resident.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <sys/wait.h>
#include <thread>

namespace
{

using bench::Object;
using Table = bench::Workers;

constexpr uint64_t live = 16384;
constexpr uint64_t capacity = uint64_t{1} << 20;
constexpr int turn_groups = 5;
constexpr int group_look_ups = 18;
constexpr double lives_a_second = 2e6; /* at most, of a thread */
constexpr uint64_t slot_bytes = sizeof(uint64_t) + 3 * sizeof(uint64_t);
constexpr uint64_t ms = 1000000;
constexpr std::array<double, 7> parts = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1};

uint64_t clock_ns;

uint64_t now_ns()
{
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                 std::chrono::nanoseconds(1));
}

/* Without the reading of the clock. */
uint64_t between(uint64_t begin, uint64_t end)
{
    return end - begin > clock_ns ? end - begin - clock_ns : 0;
}

void measure_clock()
{
    std::vector<uint64_t> all(10001);

    for (uint64_t &one : all) {
        const uint64_t begin = now_ns();

        one = now_ns() - begin;
    }
    std::nth_element(all.begin(), all.begin() + 5000, all.end());
    clock_ns = all[5000];
}

void check(bool holds)
{
    if (!holds) {
        std::fputs("pauses: a table did not do what it was asked to\n", stderr);
        std::_Exit(1);
    }
}

// --- objects, by their first words ---

struct Record {
    haft_id id{};
    std::atomic<uint64_t> freed_at{0};
    std::atomic<uint64_t> ended_at{0};
};

std::vector<Record> records;

/* Copies end too, before their object is freed or after it has ended. */
void note_end(uint64_t first)
{
    if (first < records.size()) {
        Record &record = records[first];

        if (record.freed_at.load(std::memory_order_relaxed) != 0 &&
            record.ended_at.load(std::memory_order_relaxed) == 0) {
            record.ended_at.store(now_ns(), std::memory_order_relaxed);
        }
    }
}

} // namespace

bench::Object::~Object()
{
    note_end(first);
}

namespace
{

void end_retired(void *object, haft_id, haft_worker *, void *)
{
    static_cast<Object *>(object)->~Object();
}

void end_released(void *object, haft_id, void *)
{
    static_cast<Object *>(object)->~Object();
}

// --- subjects ---

/* A batch has one slot more than a 64th of those that may wait. */
template <class Base, uint64_t batch = 0> struct Ending : Base {
    explicit Ending(uint64_t most)
        : Base(most, end_retired, batch != 0 ? 64 * (batch - 1) * slot_bytes : 0)
    {
    }
};

struct CountedEnding : bench::Counted {
    explicit CountedEnding(uint64_t most) : CountedTable(most, end_released) {}
};

/* No table: what the machine and the clock add to each call. */
struct NoTable {
    explicit NoTable(uint64_t) {}
    static haft_id insert(const Object &object) { return haft_id{object.first}; }
    static bool free(haft_id id)
    {
        note_end(id.bits);
        return true;
    }
    static uint64_t first_word(haft_id id) { return id.bits; }
    static uint64_t high_water() { return 0; }

    using Worker = bench::AnyWorker<NoTable>;
};

template <class Worker> auto drive(Worker &worker, int) -> decltype(worker.drive())
{
    worker.drive();
}
template <class Worker> void drive(Worker &, long)
{
}

template <class Worker> auto flush(Worker &worker, int) -> decltype(worker.flush())
{
    worker.flush();
}
template <class Worker> void flush(Worker &, long)
{
}

template <class Worker> void rest(Worker &worker, int milliseconds)
{
    worker.offline();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    worker.online();
}

// --- times ---

/* Of one kind of call, in classes of which each is a 32nd wider than the one before. */
class Times
{
  public:
    void add(uint64_t ns)
    {
        counts[class_of(ns)]++;
        longest = std::max(longest, ns);
    }

    void add(const Times &other)
    {
        for (size_t i = 0; i < counts.size(); i++) {
            counts[i] += other.counts[i];
        }
        longest = std::max(longest, other.longest);
    }

    /* The least of its class. */
    uint64_t at(double part) const
    {
        uint64_t left = 0;
        size_t i = 0;

        for (const uint64_t count : counts) {
            left += count;
        }
        left = static_cast<uint64_t>(static_cast<double>(left) * part);
        while (i + 1 < counts.size() && counts[i] <= left) {
            left -= counts[i++];
        }
        return part < 1 ? least_of(i) : longest;
    }

  private:
    static size_t class_of(uint64_t ns)
    {
        const int shift = ns < 32 ? 0 : 58 - __builtin_clzll(ns);

        return static_cast<size_t>(shift) * 32 + (ns >> shift);
    }

    static uint64_t least_of(size_t i) { return i < 64 ? i : (i % 32 + 32) << (i / 32 - 1); }

    std::array<uint64_t, size_t{64} * 32> counts{};
    uint64_t longest = 0;
};

enum Call { look_up, insert, free_one, quiescent, calls };
constexpr std::array<const char *, calls> call_names = {"look_up", "insert", "free", "quiescent"};

using AllTimes = std::array<Times, calls>;

/* The body is told when it begins. */
template <class Body> void timed(Times &times, const Body &body)
{
    const uint64_t begin = now_ns();

    body(begin);
    times.add(between(begin, now_ns()));
}

// --- busy ---

std::vector<std::atomic<uint32_t>> entries; /* which record's object is there */

void make_records(uint64_t count)
{
    records = std::vector<Record>(1 + count);
    entries = std::vector<std::atomic<uint32_t>>(live);
}

template <class Worker> void fill(Worker &worker)
{
    for (uint32_t i = 1; i <= live; i++) {
        Object object = {i, {2, 3}};

        records[i].id = worker.insert(object);
        entries[i - 1].store(i, std::memory_order_relaxed);
    }
    worker.quiescent();
}

/* A part of the records, and places by chance. */
struct Traffic {
    uint64_t next, end;
    bench::Random random;

    std::atomic<uint32_t> &pick() { return entries[random.below(live)]; }
};

template <class Worker, class Reader>
void look_up_some(Worker &, const Reader &reader, Traffic &traffic, Times &times)
{
    for (int i = 0; i < group_look_ups; i++) {
        const haft_id id = records[traffic.pick().load(std::memory_order_acquire)].id;

        timed(times, [&](uint64_t) {
            reader.begin();
            const uint64_t first = reader.first_word(id);
            reader.end();
            check(first < records.size());
        });
    }
}

template <class Worker> void replace_one(Worker &worker, Traffic &traffic, AllTimes &times)
{
    const uint64_t born = traffic.next++;
    haft_id id{};

    timed(times[insert], [&](uint64_t) { id = worker.insert(Object{born, {2, 3}}); });
    records[born].id = id;
    Record &old = records[traffic.pick().exchange(static_cast<uint32_t>(born))];

    timed(times[free_one], [&](uint64_t begin) {
        old.freed_at.store(begin, std::memory_order_relaxed);
        check(worker.free(old.id));
    });
}

/* What one thread does; the first one also drives the clock and looks at the memory. */
template <class Worker>
void be_busy(Worker &worker, Traffic traffic, uint64_t until, AllTimes &times, double *peak)
{
    const auto reader = worker.reader();
    uint64_t driven = 0;
    uint64_t now = now_ns();

    do {
        const bool drives = peak != nullptr && now - driven >= ms;

        for (int group = 0; group < turn_groups; group++) {
            look_up_some(worker, reader, traffic, times[look_up]);
            replace_one(worker, traffic, times);
        }
        timed(times[quiescent], [&](uint64_t) {
            if (drives) {
                drive(worker, 0);
            }
            worker.quiescent();
        });
        if (drives) {
            *peak = std::max(*peak, bench::resident_bytes());
            driven = now;
        }
        now = now_ns();
    } while (now < until && traffic.next + turn_groups < traffic.end);
}

class Barrier
{
  public:
    void wait()
    {
        const int turn = arrived.fetch_add(1) / 2;

        while (arrived.load() / 2 == turn) {
            std::this_thread::yield();
        }
    }

  private:
    std::atomic<int> arrived{0};
};

struct Delays {
    double median_us = 0, longest_us = 0;
};

/* Of all objects that were freed; each has ended, now that the table is closed. */
Delays delays_of()
{
    std::vector<uint64_t> all;

    for (const Record &record : records) {
        if (record.freed_at != 0) {
            check(record.ended_at != 0);
            all.push_back(between(record.freed_at, record.ended_at));
        }
    }
    check(!all.empty());
    std::sort(all.begin(), all.end());
    return {static_cast<double>(all[all.size() / 2]) / 1e3, static_cast<double>(all.back()) / 1e3};
}

struct Busy {
    AllTimes times{};
    uint64_t slots = 0;
    double bytes = 0;
};

/* Two threads; the memory before is that with both, but without their workers. */
template <class Table> void run_busy(double seconds, Busy &busy)
{
    const auto share = static_cast<uint64_t>(seconds * lives_a_second);
    auto both = std::make_unique<std::array<AllTimes, 2>>();
    double before = 0, peak = 0;
    Barrier barrier;

    make_records(live + 2 * share);
    Table table(capacity);
    {
        typename Table::Worker worker(table);

        fill(worker);
    }
    const auto run = [&](unsigned number) {
        const bench::Pinned pinned(static_cast<int>(number), 2);
        const uint64_t first = 1 + live + number * share;

        barrier.wait();
        if (number == 0) {
            peak = before = bench::resident_bytes();
        }
        barrier.wait();
        typename Table::Worker worker(table);
        be_busy(worker, Traffic{first, first + share, bench::Random(number + 1)},
                now_ns() + static_cast<uint64_t>(seconds * 1e9), (*both)[number],
                number == 0 ? &peak : nullptr);
    };
    std::thread other(run, 1U);

    run(0);
    other.join();
    for (const AllTimes &times : *both) {
        for (size_t call = 0; call < calls; call++) {
            busy.times[call].add(times[call]);
        }
    }
    busy.slots = table.high_water();
    busy.bytes = std::max(peak, bench::resident_bytes()) - before;
}

// --- idle ---

constexpr uint64_t idle_frees = 60;

template <class Table> void run_idle()
{
    std::atomic<bool> has_freed{false}, is_over{false};

    make_records(idle_frees);
    Table table(capacity);
    std::thread freeing([&] {
        typename Table::Worker worker(table);

        for (uint64_t i = 1; i <= idle_frees; i++) {
            const haft_id id = worker.insert(Object{i, {2, 3}});

            records[i].freed_at = now_ns();
            check(worker.free(id));
            worker.quiescent();
            flush(worker, 0);
            rest(worker, 2);
        }
        worker.offline();
        has_freed = true;
        while (!is_over) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        worker.online();
    });
    typename Table::Worker worker(table);

    for (int after = 0; after < 50; after += has_freed ? 1 : 0) {
        drive(worker, 0);
        worker.quiescent();
        rest(worker, 1);
    }
    is_over = true;
    worker.offline();
    freeing.join();
    worker.online();
}

// --- life ---

constexpr int life_rounds = 200;
constexpr uint64_t life_objects = 256;

template <class Table> double run_life()
{
    std::vector<haft_id> ids(life_objects);

    make_records(live);
    Table table(capacity);
    typename Table::Worker worker(table);
    const std::clock_t begin = std::clock();

    for (int round = 0; round < life_rounds; round++) {
        for (haft_id &id : ids) {
            id = worker.insert(Object{1, {2, 3}});
        }
        for (const haft_id id : ids) {
            check(worker.free(id));
        }
        drive(worker, 0);
        worker.quiescent();
    }
    return static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC /
           static_cast<double>(life_rounds * life_objects);
}

// --- what is said ---

void begin_row(const char *workload, const char *subject)
{
    std::printf("  {\"name\": \"%s/%s/%llu/2\", \"run_type\": \"iteration\",\n   ", workload,
                subject, static_cast<unsigned long long>(live));
}

void print(const char *call, const char *subject, const Times &times)
{
    const char *between_two = "";

    begin_row(call, subject);
    std::printf("\"ns\": [");
    for (const double part : parts) {
        std::printf("%s%llu", between_two, static_cast<unsigned long long>(times.at(part)));
        between_two = ", ";
    }
    std::printf("]},\n");
}

void print_delays(const char *name)
{
    const Delays delays = delays_of();

    std::printf("\"%s\": [%.3f, %.3f], ", name, delays.median_us, delays.longest_us);
}

template <class Table> void measure(const char *subject, double seconds, bool ends)
{
    auto busy = std::make_unique<Busy>();
    Times all;

    run_busy<Table>(seconds, *busy);
    for (size_t call = 0; call < calls; call++) {
        print(call_names[call], subject, busy->times[call]);
        all.add(busy->times[call]);
    }
    print("any_call", subject, all);
    begin_row("pauses", subject);
    if (ends) {
        print_delays("ended_us");
        run_idle<Table>();
        print_delays("idle_us");
    }
    if (busy->slots != 0) { /* else the table does not count its slots */
        std::printf("\"beyond_slots\": %llu, ",
                    static_cast<unsigned long long>(busy->slots - live));
    }
    std::printf("\"beyond_bytes\": %.0f, \"processor_ns\": %.2f}", busy->bytes, run_life<Table>());
}

struct Subject {
    const char *name;
    void (*measure)(const char *name, double seconds, bool ends);
    bool ends;
};

using MembThread = bench::MembThread;
using MembCaller = bench::MembCaller;
using Frame = bench::HaftTable<bench::Announced, HAFT_CLOCK_FRAME>;

constexpr std::array<Subject, 17> subjects = {{
    {"no_table", measure<NoTable>, true},
    {"no_on_reclaim", measure<Table>, false},
    {"haft_workers", measure<Ending<Table>>, true},
    {"haft_batches_of_32", measure<Ending<Table, 32>>, true},
    {"haft_batches_of_8", measure<Ending<Table, 8>>, true},
    {"haft_memb_thread", measure<Ending<MembThread>>, true},
    {"haft_memb_caller", measure<Ending<MembCaller>>, true},
    {"haft_frame", measure<Ending<Frame>>, true},
    {"haft_counted", measure<CountedEnding>, true},
    {"mutex", measure<bench::Mutex>, true},
    {"spin_lock", measure<bench::SpinLock>, true},
    {"read_write_lock", measure<bench::ReadWrite>, true},
    {"shared_ptr", measure<bench::SharedPointers>, true},
    {"shared_unordered_map", measure<bench::SharedHashMap>, true},
    {"lfht_memb", measure<bench::Lfht<bench::Memb>>, true},
    {"lfht_qsbr", measure<bench::Lfht<bench::Qsbr>>, true},
    {"tbb", measure<bench::Tbb>, true},
}};

/* In a child. */
void measure_apart(const Subject &subject, double seconds)
{
    int status = 1;

    std::fflush(stdout);
    const pid_t child = fork();

    if (child == 0) {
        subject.measure(subject.name, seconds, subject.ends);
        std::_Exit(std::fflush(stdout) != 0);
    }
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

} // namespace

int main(int argc, char **argv)
{
    char *end = nullptr;
    const double seconds = argc > 1 ? std::strtod(argv[1], &end) : 0.4;

    if (argc > 2 || (argc == 2 && (*end != '\0' || end == argv[1])) ||
        !(seconds >= 0.001 && seconds <= 60)) {
        std::fprintf(stderr, "Usage: pauses [seconds: 0.001 to 60]\n");
        return 2;
    }
    measure_clock();
    std::printf("{\"benchmarks\": [\n");
    for (const Subject &subject : subjects) {
        measure_apart(subject, seconds);
        std::printf(&subject == &subjects.back() ? "\n" : ",\n");
    }
    std::printf("]}\n");
    return std::fflush(stdout) != 0;
}
