/* bench/frame.h - the parts of //bench:frame, one source each. */
#ifndef HAFT_BENCH_FRAME_H
#define HAFT_BENCH_FRAME_H

namespace bench
{

void add_scan_cases();     // frame_scan.cc
void add_commands_cases(); // frame_commands.cc

} // namespace bench

#endif // HAFT_BENCH_FRAME_H
