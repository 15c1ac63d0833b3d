/*
 * bench/frame.cc - what a frame's memory costs: from events to actions, one thread.
 *
 *   event_to_action   1,000 rounds of `size` events.  Each event becomes an action: a node in the
 *                     round's list, and in it a path and a command, built by copying pieces
 *                     behind each other ("/srv/spool/" "in-37"; "mv --force " "/srv/spool/"
 *                     "in-37"), no printf.  At a round's end its list is walked, lengths and
 *                     last bytes are summed up, and everything is given back.
 *   action_memory     the same allocations with the same sizes, given back in the same order,
 *                     and the same list, but the strings are not written, only their last bytes:
 *                     the difference to event_to_action is copying, whatever the subject.
 *
 * An event makes three allocations, of 16 to 48 bytes.  Every subject makes as many and writes
 * the same bytes.  malloc and mimalloc free each one, as the walk goes by; the arena is reset.
 * `bare` moves a pointer through a buffer that is surely large enough, without a look at
 * alignment or room: nothing can be faster.  One item is one event.
 *
 * mimalloc is loaded at run time and called by its own names: linked, it would take malloc's
 * place.  Without it its cases report an error.
 */
#include "bench/frame.h"
#include "bench/main.h"
#include "bench/random.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <haft/kit/arena.h>
#include <vector>

namespace
{

// --- subjects: where a round's memory comes from ---

class Arena
{
  public:
    Arena()
    {
        const haft_arena_options options = {};
        if (haft_arena_open(&options, &arena) != HAFT_OK) {
            std::abort();
        }
    }
    ~Arena() { haft_arena_close(arena); }
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    void *node(size_t size) { return haft_arena_alloc_aligned(arena, size, alignof(void *)); }
    char *text(size_t size)
    {
        return static_cast<char *>(haft_arena_alloc_aligned(arena, size, 1));
    }
    void free(void *) {}
    void end_round() { haft_arena_reset(arena); }
    const char *missing() const { return nullptr; }

  private:
    haft_arena *arena;
};

class Malloc
{
  public:
    void *node(size_t size) { return std::malloc(size); }
    char *text(size_t size) { return static_cast<char *>(std::malloc(size)); }
    void free(void *memory) { std::free(memory); }
    void end_round() {}
    const char *missing() const { return nullptr; }
};

class Mimalloc
{
  public:
    Mimalloc()
    {
        /* Never closed: what it keeps for threads outlives this. */
        static void *const library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) {
            take = reinterpret_cast<void *(*)(size_t)>(dlsym(library, "mi_malloc"));
            give = reinterpret_cast<void (*)(void *)>(dlsym(library, "mi_free"));
        }
    }

    void *node(size_t size) { return take(size); }
    char *text(size_t size) { return static_cast<char *>(take(size)); }
    void free(void *memory) { give(memory); }
    void end_round() {}
    const char *missing() const
    {
        return take == nullptr || give == nullptr ? "no libmimalloc.so.2" : nullptr;
    }

  private:
    void *(*take)(size_t) = nullptr;
    void (*give)(void *) = nullptr;
};

class Bare
{
  public:
    Bare() : bytes(1 << 20), next(bytes.data()) {}

    void *node(size_t size) { return take((size + 7) / 8 * 8); }
    char *text(size_t size) { return take((size + 7) / 8 * 8); }
    void free(void *) {}
    void end_round() { next = bytes.data(); }
    const char *missing() const { return nullptr; }

  private:
    char *take(size_t size)
    {
        char *memory = next;

        next += size;
        return memory;
    }

    std::vector<char> bytes;
    char *next;
};

// --- the loop ---

struct Piece {
    const char *bytes;
    size_t size;
};

struct Event {
    Piece verb;
    Piece folder;
    Piece name;
};

struct Action {
    Action *next;
    char *path;
    size_t path_size;
    char *command;
    size_t command_size;
};

constexpr uint64_t rounds = 1000;

Piece piece(const char *text)
{
    return {text, std::strlen(text)};
}

std::vector<Event> make_events(uint64_t count)
{
    static const char *const verbs[] = {"rm ", "cp --update ", "mv --force ", "chmod 644 "};
    static const char *const folders[] = {"/srv/spool/", "/tmp/", "/var/lib/jobs/"};
    static const char *const names[] = {"in-37", "report.csv", "a", "frame-0001.png"};
    bench::Random random(1);
    std::vector<Event> events;

    for (uint64_t i = 0; i < count; i++) {
        events.push_back({piece(verbs[random.below(4)]), piece(folders[random.below(3)]),
                          piece(names[random.below(4)])});
    }
    return events;
}

char *append(char *to, Piece piece)
{
    std::memcpy(to, piece.bytes, piece.size);
    return to + piece.size;
}

/* Strings as they are. */
struct Written {
    static void path(char *to, const Event &event)
    {
        *append(append(to, event.folder), event.name) = '\0';
    }
    static void command(char *to, const Event &event)
    {
        *append(append(append(to, event.verb), event.folder), event.name) = '\0';
    }
};

/* Only the bytes that the walk reads. */
struct Touched {
    static void path(char *to, const Event &event)
    {
        const size_t size = event.folder.size + event.name.size;
        to[size - 1] = event.name.bytes[event.name.size - 1];
    }
    static void command(char *to, const Event &event)
    {
        const size_t size = event.verb.size + event.folder.size + event.name.size;
        to[size - 1] = event.name.bytes[event.name.size - 1];
    }
};

template <class Strings, class Memory> Action *act(Memory &memory, const Event &event, Action *next)
{
    Action *action = static_cast<Action *>(memory.node(sizeof(Action)));

    action->next = next;
    action->path_size = event.folder.size + event.name.size;
    action->path = memory.text(action->path_size + 1);
    Strings::path(action->path, event);
    action->command_size = event.verb.size + action->path_size;
    action->command = memory.text(action->command_size + 1);
    Strings::command(action->command, event);
    return action;
}

uint64_t value_of(const Event &event)
{
    const size_t path_size = event.folder.size + event.name.size;
    const uint64_t last = static_cast<unsigned char>(event.name.bytes[event.name.size - 1]);
    return 2 * path_size + event.verb.size + 2 * last;
}

template <class Memory> uint64_t finish(Memory &memory, Action *first)
{
    uint64_t sum = 0;

    for (Action *next, *action = first; action != nullptr; action = next) {
        next = action->next;
        sum += action->path_size + action->command_size;
        sum += static_cast<unsigned char>(action->path[action->path_size - 1]);
        sum += static_cast<unsigned char>(action->command[action->command_size - 1]);
        memory.free(action->path);
        memory.free(action->command);
        memory.free(action);
    }
    memory.end_round();
    return sum;
}

template <class Strings, class Memory>
uint64_t run_rounds(Memory &memory, const std::vector<Event> &events)
{
    uint64_t sum = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        Action *actions = nullptr;

        for (const Event &event : events) {
            actions = act<Strings>(memory, event, actions);
        }
        sum += finish(memory, actions);
        benchmark::ClobberMemory(); /* a round is not merged with the next */
    }
    return sum;
}

template <class Strings, class Memory> void frame(benchmark::State &state)
{
    const std::vector<Event> events = make_events(static_cast<uint64_t>(state.range(0)));
    Memory memory;
    uint64_t expected = 0;
    uint64_t sum = 0;

    if (memory.missing() != nullptr) {
        state.SkipWithError(memory.missing());
        return;
    }
    for (const Event &event : events) {
        expected += rounds * value_of(event);
    }
    for (auto _ : state) {
        sum = run_rounds<Strings>(memory, events);
        bench::keep(sum);
    }
    if (sum != expected) {
        state.SkipWithError("the actions do not sum up");
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rounds * events.size()));
}

template <class Memory> void add_subject(const char *subject)
{
    for (const uint64_t size : {4u, 64u, 1024u}) {
        bench::Case one;
        one.subject = subject;
        one.size = size;
        one.workload = "event_to_action";
        one.run = frame<Written, Memory>;
        bench::add(one);
        one.workload = "action_memory";
        one.run = frame<Touched, Memory>;
        bench::add(one);
    }
}

} // namespace

void bench::add_cases()
{
    add_subject<Bare>("bare");
    add_subject<Arena>("haft_arena");
    add_subject<Malloc>("malloc");
    add_subject<Mimalloc>("mimalloc");
    add_scan_cases();
    add_commands_cases();
}
