/*
 * bench/frame_commands.cc - what it costs to put births and deaths off to the frame boundary.
 *
 *   frame_create   frames on the frame clock, one thread.  In each, `size` objects are created and
 *                  written, and those of the frame before destroyed; then comes the tick.
 *
 * `immediate` reserves, writes, publishes and frees one by one through a worker, which flushes
 * what it freed before the tick.  `commands` opens one recorder for the frame, records all of
 * it, and applies; `commands_jobs` has a recorder for each 64 objects, as small jobs would.  The
 * price of commands is that every id is written and read again.  One item is one object's life.
 */
#include "bench/frame.h"
#include "bench/main.h"
#include "bench/subjects.h"

#include <algorithm>
#include <haft/kit/commands.h>
#include <vector>

namespace
{

using bench::Object;
using bench::require;

/* Objects that one recorder creates. */
constexpr uint64_t whole_frame = uint64_t{1} << 32;
constexpr uint64_t small_job = 64;

/* A domain and a table for `size` objects that live for a frame, and those that wait. */
class Frames
{
  public:
    explicit Frames(uint64_t size)
    {
        haft_domain_options clock = {};
        haft_table_options options = {};

        clock.clock = HAFT_CLOCK_FRAME;
        require(haft_domain_open(&clock, &domain));
        options.capacity = 4 * size + 4096;
        options.object_size = sizeof(Object);
        require(haft_table_open(domain, &options, &table));
    }
    ~Frames()
    {
        require(haft_table_close(table));
        require(haft_domain_close(domain));
    }
    Frames(const Frames &) = delete;
    Frames &operator=(const Frames &) = delete;

    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
};

class Immediate
{
  public:
    Immediate(Frames &frames, uint64_t size) : domain(frames.domain), ids(size)
    {
        require(haft_worker_open(frames.table, &worker));
    }
    ~Immediate() { require(haft_worker_close(worker)); }
    Immediate(const Immediate &) = delete;
    Immediate &operator=(const Immediate &) = delete;

    uint64_t frame(uint64_t number)
    {
        uint64_t destroyed = 0;

        for (haft_id &id : ids) {
            const haft_id old = id;
            void *object = nullptr;

            require(haft_reserve(worker, &id, &object));
            *static_cast<Object *>(object) = {number, {number, number}};
            haft_publish(worker, id);
            destroyed += haft_free(worker, old) == HAFT_OK;
        }
        require(haft_worker_flush(worker));
        require(haft_domain_tick(domain));
        return destroyed;
    }

  private:
    haft_domain *domain;
    haft_worker *worker = nullptr;
    std::vector<haft_id> ids;
};

template <uint64_t job> class Commands
{
  public:
    Commands(Frames &frames, uint64_t size) : domain(frames.domain), ids(size)
    {
        const haft_commands_options options = {};

        require(haft_commands_open(frames.table, &options, &commands));
    }
    ~Commands() { haft_commands_close(commands); }
    Commands(const Commands &) = delete;
    Commands &operator=(const Commands &) = delete;

    uint64_t frame(uint64_t number)
    {
        haft_applied applied;

        for (size_t first = 0; first < ids.size(); first += job) {
            record(first, std::min<size_t>(ids.size(), first + job), number);
        }
        require(haft_commands_apply(commands, &applied));
        require(haft_domain_tick(domain));
        return applied.destroyed;
    }

  private:
    void record(size_t first, size_t end, uint64_t number)
    {
        haft_recorder *recorder = nullptr;

        require(haft_recorder_open(commands, first, end - first, &recorder));
        for (size_t i = first; i < end; i++) {
            const haft_id old = ids[i];
            void *object = nullptr;

            require(haft_recorder_create(recorder, &ids[i], &object));
            *static_cast<Object *>(object) = {number, {number, number}};
            require(haft_recorder_destroy(recorder, old));
        }
    }

    haft_domain *domain;
    haft_commands *commands = nullptr;
    std::vector<haft_id> ids;
};

template <class Subject> void create(benchmark::State &state)
{
    const uint64_t size = static_cast<uint64_t>(state.range(0));
    Frames frames(size);
    Subject subject(frames, size);
    uint64_t number = 0;
    uint64_t destroyed = 0;

    subject.frame(++number);
    for (auto _ : state) {
        destroyed += subject.frame(++number);
    }
    if (destroyed != size * (number - 1)) {
        state.SkipWithError("not every object was destroyed once");
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Subject> void add_subject(const char *name)
{
    for (const uint64_t size : {64u, 1024u, 16384u}) {
        bench::Case one;
        one.workload = "frame_create";
        one.subject = name;
        one.size = size;
        one.run = create<Subject>;
        bench::add(one);
    }
}

} // namespace

void bench::add_commands_cases()
{
    add_subject<Immediate>("immediate");
    add_subject<Commands<whole_frame>>("commands");
    add_subject<Commands<small_job>>("commands_jobs");
}
