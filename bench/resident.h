/*
 * bench/resident.h - the memory that this process has now.
 */
#ifndef HAFT_BENCH_RESIDENT_H
#define HAFT_BENCH_RESIDENT_H

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace bench
{

/* Without what lies in files, the program's own code above all.  Takes no memory itself. */
inline double resident_bytes()
{
    char text[128] = "";
    const int file = open("/proc/self/statm", O_RDONLY);
    const ssize_t size = read(file, text, sizeof text - 1);
    char *end = text;

    close(file);
    if (size <= 0) {
        std::abort();
    }
    std::strtoull(text, &end, 10); /* address space */
    const uint64_t resident = std::strtoull(end, &end, 10);
    const uint64_t of_files = std::strtoull(end, nullptr, 10);

    return static_cast<double>(resident - of_files) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace bench

#endif // HAFT_BENCH_RESIDENT_H
