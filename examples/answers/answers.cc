/* answers.cc - answers.c in C++: the same trace, the same answers, byte for byte. */
#include <cstdio>
#include <fstream>
#include <haft/haft.hpp>
#include <string>
#include <unordered_map>

namespace
{

struct object {
    uint64_t number;
    uint64_t uses;
};

using objects = haft::table<object>;
using id = haft::id<object>;

class replay
{
  public:
    replay(const objects &table, const haft::worker<object> &worker)
        : table_(table), worker_(worker)
    {
    }

    /* What is wrong with the row; else nothing. */
    const char *carry_out(char op, uint64_t number)
    {
        if ((ids_.count(number) != 0) == (op == 'a')) {
            return op == 'a' ? "the object is allocated" : "the object is not allocated";
        }
        return op == 'a' ? allocate(number) : op == 'u' ? use(number) : put_back(number);
    }

  private:
    std::string text_of(id name) const
    {
        char text[HAFT_ID_TEXT_SIZE];

        haft_id_format(haft_table_info(table_.untyped()).layout, name.untyped(), text, sizeof text);
        return text;
    }

    const char *allocate(uint64_t number)
    {
        const auto made = worker_.emplace_wait(object{number, 0});

        if (!made) {
            return haft_status_text(made.status());
        }
        ids_.emplace(number, *made);
        std::printf("%s %llu\n", text_of(*made).c_str(),
                    static_cast<unsigned long long>(made->untyped().bits));
        return nullptr;
    }

    const char *use(uint64_t number)
    {
        object *found = table_.resolve(ids_.at(number));

        if (found == nullptr) {
            return "the object is not found";
        }
        found->uses++;
        std::printf("%llu %llu\n", static_cast<unsigned long long>(found->number),
                    static_cast<unsigned long long>(found->uses));
        worker_.quiescent();
        return nullptr;
    }

    const char *put_back(uint64_t number)
    {
        const id name = ids_.at(number);

        if (const haft_status status = worker_.free(name); status != HAFT_OK) {
            return haft_status_text(status);
        }
        const haft_status second = worker_.free(name);

        ids_.erase(number);
        std::printf("%s %s %s\n", text_of(name).c_str(), haft_status_name(second),
                    haft_status_text(second));
        return nullptr;
    }

    const objects &table_;
    const haft::worker<object> &worker_;
    std::unordered_map<uint64_t, id> ids_;
};

const char *carry_out_row(replay &replayed, unsigned long line, const std::string &row)
{
    unsigned long long number = 0;
    int end = 0;
    char op = 0;

    if (std::sscanf(row.c_str(), "%*u,%c,%llu%n", &op, &number, &end) != 2 ||
        std::size_t(end) != row.size() || std::string("auf").find(op) == std::string::npos) {
        return "not a row: thread,op,object with op a, u or f";
    }
    std::printf("%lu %c %llu ", line, op, number);
    return replayed.carry_out(op, number);
}

int replay_rows(replay &replayed, const char *path, std::istream &file)
{
    std::string row;

    for (unsigned long line = 1; std::getline(file, row); line++) {
        const char *wrong = row[0] == '#' ? nullptr : carry_out_row(replayed, line, row);

        if (wrong != nullptr) {
            std::fprintf(stderr, "answers: %s:%lu: %s\n", path, line, wrong);
            return 1;
        }
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "Usage: answers_cc TRACE.csv\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    if (!file) {
        std::perror(argv[1]);
        return 1;
    }
    const auto domain = haft::domain::open(HAFT_CLOCK_WORKERS);
    const auto table = domain ? objects::open(*domain, 1 << 16) : domain.status();
    const auto worker = table ? table->open_worker() : table.status();
    if (!worker) {
        std::fprintf(stderr, "answers: %s\n", haft_status_text(worker.status()));
        return 1;
    }
    replay replayed(*table, *worker);
    const int wrong = replay_rows(replayed, argv[1], file);

    if (wrong == 0) {
        std::printf("%llu live\n", static_cast<unsigned long long>(table->stats().live));
    }
    return std::fflush(stdout) != 0 || wrong;
}
