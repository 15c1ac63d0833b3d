/* bench/local.h - the parts of //bench:local, one source each. */
#ifndef HAFT_BENCH_LOCAL_H
#define HAFT_BENCH_LOCAL_H

namespace bench
{

void add_box_cases();   // boxes.cc
void add_state_cases(); // states.cc

} // namespace bench

#endif // HAFT_BENCH_LOCAL_H
