/*
 * fuzz/target.h - what a fuzz target is: a function of bytes.  libfuzzer.c makes a libFuzzer
 * program of it, run.c one that replays files and draws inputs.
 */
#ifndef HAFT_FUZZ_TARGET_H
#define HAFT_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* One input.  Returns the number of operations that it came to. */
uint64_t target_run(const uint8_t *data, size_t size);

/* Print what is done from now on. */
void target_tell(void);

/* By the program: a difference has been found and printed. */
_Noreturn void target_differs(void);

#endif /* HAFT_FUZZ_TARGET_H */
