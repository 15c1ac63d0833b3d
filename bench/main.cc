/*
 * bench/main.cc - main() of all programs.
 *
 * Google Benchmark picks its own reporters by --benchmark_format and its like; ours stand in for
 * them, so those flags are read here as well.
 */
#include "bench/main.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <regex>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

std::vector<bench::Case> cases;

std::string name_of(const bench::Case &one)
{
    return one.workload + "/" + one.subject + "/" + std::to_string(one.size) + "/" +
           std::to_string(one.threads);
}

// --- flags that Google Benchmark keeps to itself ---

class Flags
{
  public:
    Flags(int argc, char **argv) : arguments(argv + 1, argv + argc) {}

    /* The last --name=value; "true" for --name alone. */
    std::string get(const std::string &name, const std::string &otherwise) const
    {
        std::string value = otherwise;
        for (const std::string &argument : arguments) {
            if (argument == "--" + name) {
                value = "true";
            } else if (argument.rfind("--" + name + "=", 0) == 0) {
                value = argument.substr(name.size() + 3);
            }
        }
        return value;
    }

    bool is_set(const std::string &name) const
    {
        const std::string value = get(name, "false");
        return value == "true" || value == "yes" || value == "on" || value == "1";
    }

    /* The command line, without where its output went. */
    std::string command(const char *program) const
    {
        const char *slash = std::strrchr(program, '/');
        std::string text = slash ? slash + 1 : program;
        for (const std::string &argument : arguments) {
            if (argument.rfind("--benchmark_out", 0) != 0) {
                text += " " + argument;
            }
        }
        return text;
    }

  private:
    std::vector<std::string> arguments;
};

// --- reports ---

template <class Reporter> class PlainNames : public Reporter
{
  public:
    using Reporter::Reporter;

    void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run> &runs) override
    {
        std::vector<benchmark::BenchmarkReporter::Run> plain = runs;
        for (benchmark::BenchmarkReporter::Run &run : plain) {
            run.run_name.args.clear();
            run.run_name.time_type.clear();
            run.run_name.threads.clear();
        }
        Reporter::ReportRuns(plain);
    }
};

using Options = benchmark::ConsoleReporter::OutputOptions;

Options console_options(const Flags &flags)
{
    const std::string color = flags.get("benchmark_color", "auto");
    int options = benchmark::ConsoleReporter::OO_None;

    if (color == "auto" ? isatty(STDOUT_FILENO) != 0 : flags.is_set("benchmark_color")) {
        options |= benchmark::ConsoleReporter::OO_Color;
    }
    if (flags.is_set("benchmark_counters_tabular")) {
        options |= benchmark::ConsoleReporter::OO_Tabular;
    }
    return static_cast<Options>(options);
}

std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(const std::string &format,
                                                            Options options)
{
    if (format == "json") {
        return std::make_unique<PlainNames<benchmark::JSONReporter>>();
    }
    if (format == "console") {
        return std::make_unique<PlainNames<benchmark::ConsoleReporter>>(options);
    }
    std::cerr << "formats are console and json, not " << format << "\n";
    std::exit(1);
}

void warn_of_slow_build()
{
#ifndef __OPTIMIZE__
    std::cerr << "built without optimisation: these figures say nothing; bazel build -c opt\n";
#endif
}

// --- cases ---

/* As Google Benchmark reads --benchmark_filter: a leading '-' turns the choice round. */
void drop_unwanted(std::string filter)
{
    const bool wanted = filter.empty() || filter[0] != '-';
    if (!wanted) {
        filter.erase(0, 1);
    }
    if (filter.empty() || filter == "all") {
        return;
    }
    const std::regex pattern(filter, std::regex::extended);
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [&](const bench::Case &one) {
                                   return std::regex_search(name_of(one), pattern) != wanted;
                               }),
                cases.end());
}

void register_case(const bench::Case &one)
{
    benchmark::internal::Benchmark *made =
        benchmark::RegisterBenchmark(name_of(one).c_str(), one.run);

    made->Arg(static_cast<int64_t>(one.size))->Threads(one.threads);
    if (one.clock == bench::Clock::real) {
        made->UseRealTime();
    }
    if (one.before) {
        made->Setup(one.before);
    }
    if (one.after) {
        made->Teardown(one.after);
    }
}

void run_cases(const Flags &flags)
{
    const auto display =
        make_reporter(flags.get("benchmark_format", "console"), console_options(flags));
    std::unique_ptr<benchmark::BenchmarkReporter> file;

    if (!flags.get("benchmark_out", "").empty()) {
        file = make_reporter(flags.get("benchmark_out_format", "json"),
                             benchmark::ConsoleReporter::OO_None);
    }
    std::for_each(cases.begin(), cases.end(), register_case);
    benchmark::RunSpecifiedBenchmarks(display.get(), file.get(), "all");
}

} // namespace

void bench::add(const Case &one)
{
    cases.push_back(one);
}

/*
 * Once a process has had a second thread, glibc's malloc and mutexes use locked instructions, as in
 * any program that shares a table.
 */
static void have_had_a_thread()
{
    std::thread([] {}).join();
}

// A full disk is an error.
static int end_output()
{
    return std::cout.flush() && std::fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const Flags flags(argc, argv);

    benchmark::AddCustomContext("command", flags.command(argv[0]));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    bench::add_cases();
    drop_unwanted(benchmark::GetBenchmarkFilter());
    if (flags.is_set("benchmark_list_tests")) {
        for (const bench::Case &one : cases) {
            std::cout << name_of(one) << "\n";
        }
        return end_output();
    }
    warn_of_slow_build();
    have_had_a_thread();
    run_cases(flags);
    benchmark::Shutdown();
    return end_output();
}
