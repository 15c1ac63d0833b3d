/*
 * bench/states.cc - a table's states: kept, gone back to, saved.
 *
 *   snapshot   one in a hundred of `size` objects has changed since the last: half of them were
 *              written to, half were freed and inserted anew.  `copies` is the memory of all that
 *              is kept, as a multiple of the table's slots.
 *   rewind     to one of the eight states kept, at random
 *   save       to memory
 *   load       from there
 *
 * One item is one state; objects are 24 bytes.  haft_local keeps eight states and haft_local_one
 * a single one; plain_copy is memcpy of the slots.  The changes are not counted.
 */
#include "bench/local.h"
#include "bench/main.h"
#include "bench/random.h"
#include "bench/subjects.h"

#include <cstring>
#include <haft/kit/snapshot.h>
#include <vector>

namespace
{

using bench::Object;
using bench::require;

constexpr uint64_t states_kept = 8;

class Changing
{
  public:
    Changing(uint64_t size, uint64_t keep) : ids(size), random(1)
    {
        haft_local_options options = {};

        options.capacity = size;
        options.object_size = sizeof(Object);
        require(haft_local_open(&options, &local));
        haft_history_options kept = {};

        kept.keep = keep;
        require(haft_history_open(&kept, &history));
        for (haft_id &id : ids) {
            require(haft_local_insert(local, &object, &id));
        }
    }
    ~Changing()
    {
        haft_history_close(history);
        haft_local_close(local);
    }

    void change()
    {
        for (uint64_t i = 0; i < ids.size() / 100; i++) {
            haft_id &id = ids[random.below(ids.size())];

            if (i % 2 == 0) {
                static_cast<Object *>(haft_resolve(haft_local_view(local), id))->first++;
            } else {
                require(haft_local_free(local, id));
                require(haft_local_insert(local, &object, &id));
            }
        }
    }

    size_t bytes() const { return haft_local_used_range(local).to * haft_local_view(local).stride; }

    haft_local *local = nullptr;
    haft_history *history = nullptr;
    std::vector<haft_id> ids;
    bench::Random random;
    Object object = {1, {2, 3}};
};

uint64_t size_of(const benchmark::State &state)
{
    return static_cast<uint64_t>(state.range(0));
}

template <uint64_t keep> void snapshot(benchmark::State &state)
{
    Changing table(size_of(state), keep);

    for (auto _ : state) {
        state.PauseTiming();
        table.change();
        state.ResumeTiming();
        require(haft_local_snapshot(table.local, table.history, nullptr));
    }
    state.counters["copies"] =
        static_cast<double>(haft_history_bytes(table.history)) / static_cast<double>(table.bytes());
    state.SetItemsProcessed(state.iterations());
}

void copy(benchmark::State &state)
{
    Changing table(size_of(state), 1);
    std::vector<char> kept(table.bytes());

    for (auto _ : state) {
        state.PauseTiming();
        table.change();
        state.ResumeTiming();
        std::memcpy(kept.data(), haft_local_view(table.local).base, kept.size());
        benchmark::ClobberMemory();
    }
    state.counters["copies"] = 1;
    state.SetItemsProcessed(state.iterations());
}

void rewind_states(benchmark::State &state)
{
    Changing table(size_of(state), states_kept);

    for (uint64_t i = 0; i < states_kept; i++) {
        table.change();
        require(haft_local_snapshot(table.local, table.history, nullptr));
    }
    for (auto _ : state) {
        require(haft_local_rewind(table.local, table.history, table.random.below(states_kept)));
    }
    state.SetItemsProcessed(state.iterations());
}

struct Memory {
    std::vector<char> bytes;
    size_t read = 0;
};

bool put(const void *bytes, size_t size, void *arg)
{
    Memory &memory = *static_cast<Memory *>(arg);
    const char *from = static_cast<const char *>(bytes);

    memory.bytes.insert(memory.bytes.end(), from, from + size);
    return true;
}

bool get(void *bytes, size_t size, void *arg)
{
    Memory &memory = *static_cast<Memory *>(arg);

    std::memcpy(bytes, memory.bytes.data() + memory.read, size);
    memory.read += size;
    return true;
}

void save(benchmark::State &state)
{
    Changing table(size_of(state), 1);
    Memory memory;
    haft_file file = {};

    file.write = put;
    file.arg = &memory;
    for (auto _ : state) {
        memory.bytes.clear();
        require(haft_local_save(table.local, &file));
    }
    state.SetItemsProcessed(state.iterations());
}

void load(benchmark::State &state)
{
    Changing table(size_of(state), 1);
    Memory memory;
    haft_file file = {};

    file.write = put;
    file.read = get;
    file.arg = &memory;
    require(haft_local_save(table.local, &file));
    for (auto _ : state) {
        memory.read = 0;
        require(haft_local_load(table.local, &file));
    }
    state.SetItemsProcessed(state.iterations());
}

void add_state_case(const char *workload, const char *subject, void (*run)(benchmark::State &))
{
    bench::Case one;

    one.workload = workload;
    one.subject = subject;
    one.size = 65536;
    one.run = run;
    bench::add(one);
}

} // namespace

void bench::add_state_cases()
{
    add_state_case("snapshot", "haft_local", snapshot<states_kept>);
    add_state_case("snapshot", "haft_local_one", snapshot<1>);
    add_state_case("snapshot", "plain_copy", copy);
    add_state_case("rewind", "haft_local", rewind_states);
    add_state_case("save", "haft_local", save);
    add_state_case("load", "haft_local", load);
}
