/*
 * documents.cc - the guide's C++ for any thread: documents that end while a thread prints them, and
 * bookmarks, small enough to be copied out.
 */
#include <cstdio>
#include <haft/haft.hpp>
#include <stdexcept>
#include <string>
#include <thread>

namespace
{

struct document {
    explicit document(std::string its_name) : name(std::move(its_name))
    {
        if (name.empty()) {
            throw std::invalid_argument("a document needs a name");
        }
    }
    document(const document &) = delete;
    document &operator=(const document &) = delete;
    ~document() { std::printf("%s is closed\n", name.c_str()); }

    const std::string name;
};

/* Bytes that never change: reading on makes another bookmark. */
struct bookmark {
    haft::id<document> in; /* a haft::id<bookmark> does not compile here */
    int line;
};

/* The holder is an argument, so the hold ends with the call. */
void print(haft::holder<document> held)
{
    std::printf("%s is printed\n", held->name.c_str());
}

// guide: hold
void print_and_close(const haft::counted<document> &documents, haft::id<document> id)
{
    if (auto held = documents.acquire(id)) {         // empty where the id is stale
        std::thread printer(print, std::move(held)); // the hold is the thread's, which may sleep
        documents.free(id);                          // no new holders
        printer.join();                              // if it held last, ~document() has run
    }
}
// end

/* A constructor that throws gives its slot back, here the table's last. */
bool refuse_and_go_on(const haft::counted<document> &documents)
{
    try {
        (void)documents.emplace("");
    } catch (const std::invalid_argument &error) {
        std::printf("%s\n", error.what());
        return bool(documents.emplace("the draft"));
    }
    return false;
}

/* The bookmark outlives its document, and leads nowhere then. */
bool read_on(const haft::counted<document> &documents, haft::id<document> id)
{
    haft_counted_options options = {};

    options.capacity = 100;
    options.copies = true;
    const auto bookmarks = haft::counted<bookmark>::open(options);
    const auto mark = bookmarks ? bookmarks->emplace(bookmark{id, 12}) : bookmarks.status();

    if (!mark) {
        return false;
    }
    if (const auto found = bookmarks->copy(*mark)) { // nothing is held
        std::printf("line %d of a document: %s\n", found->line,
                    haft_status_text(documents.diagnose(found->in)));
    }
    const auto taken = bookmarks->take(*mark); // HAFT_IN_USE where it is held

    return taken && taken->line == 12 && !bookmarks->copy(*mark);
}

} // namespace

int main()
{
    auto documents = haft::counted<document>::open(2);
    const auto letter = documents ? documents->emplace("the letter") : documents.status();

    if (!letter || !refuse_and_go_on(*documents)) {
        return 1;
    }
    std::printf("a third: %s\n", haft_status_text(documents->emplace("the report").status()));
    print_and_close(*documents, *letter);
    print_and_close(*documents, *letter); // finds nothing
    const bool is_right = read_on(*documents, *letter);

    return !is_right || documents->close() != HAFT_OK || std::fflush(stdout) != 0;
}
