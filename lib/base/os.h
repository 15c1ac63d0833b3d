/*
 * lib/base/os.h - the functions that haft needs of an operating system.
 *
 * os_posix.c implements them; os_windows.c on Windows; os_bare.c for programs without a system
 * (-DHAFT_OS_BARE); os_lacking.c what several of them lack.  All are compiled, and an #if in each
 * leaves what is not for the system empty: a port is another os_*.c with such an #if.  No other
 * file of lib/, concurrent/ and kit/ calls the system or includes its headers, except the files of
 * an export.
 *
 * False: the system refuses, or has no such thing; nothing has changed.  Any threads.
 */
#ifndef HAFT_LIB_OS_H
#define HAFT_LIB_OS_H

#include "lib/base/os_types.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- memory --- */

/* Bytes in a page: a power of two. */
size_t os_page_size(void);

/*
 * Address space of `size` bytes that are zero, from a page's start; NULL if there is none.  They
 * can be written at once, or, where `*in_steps` is true, after os_commit(); and read at once with
 * `readable`, else when they can be written.  A page takes memory when it is first written, not a
 * huge one unless os_ask_for_huge_pages() was called.
 */
char *os_reserve(size_t size, bool readable, bool *in_steps);

/* Make bytes of a reservation, from a page's start on, writable; some of them may be already. */
bool os_commit(char *base, size_t size);

/* Whether whole pages are written when the process crashes, as a reservation's are at first. */
void os_dump(char *base, size_t size, bool wanted);

/* Give a whole reservation back. */
void os_release(char *base, size_t size);

/* The bytes, whole pages, become zero, and their memory goes back to the system. */
bool os_discard(char *base, size_t size);

/* Find memory now for writable bytes from a page's start.  True if the system cannot be asked. */
bool os_populate(char *base, size_t size);

/* The system may take huge pages for a reservation, if it has them. */
void os_ask_for_huge_pages(char *base, size_t size);

/*
 * A block of the C library's heap, of a size that is a whole multiple of `alignment`, a power of
 * two; NULL if there is none.  os_free_takes_aligned: whether free() frees such a block as well.
 */
void *os_alloc_aligned(size_t alignment, size_t size);
void os_free_aligned(void *memory);
bool os_free_takes_aligned(void);

/* --- chance, time, numbers, words --- */

/* Random bits, without waiting for them. */
bool os_random(uint64_t *bits);

/* Monotonic time, ns. */
uint64_t os_now_ns(void);

/* The system's number for the calling thread, as debuggers show it; and for the process. */
uint64_t os_thread_number(void);

/* Whether the thread of that number has ended; false where the system does not say. */
bool os_thread_has_ended(uint64_t number);
uint64_t os_process_number(void);

/* A line for the user of the program: to stderr, behind "haft: ". */
void os_print(const char *line);

/* Where an address lies: in `file`, `file_offset` bytes from where tools count; names of functions
 * that the file does not tell are NULL. */
struct os_symbol {
    const char *file;
    const char *function;
    uintptr_t file_offset;
    uintptr_t function_offset;
    char room[260]; /* for the texts, where the system lends none */
};

bool os_symbol_of(uintptr_t address, struct os_symbol *symbol);

/* --- threads --- */

/* Let other threads run: now, or for that long at least. */
void os_yield(void);
void os_sleep(uint64_t ns);

/*
 * Between the two, pthread_cancel() leaves the calling thread alone; a request then waits for a
 * cancellation point of the program's.  The first returns what held before, for the second: pairs
 * nest.  They stand around each call of a callback and around file work; what blocks or prints
 * here has its own.  Neither does anything where no thread can be cancelled.
 */
int os_cancel_off(void);
void os_cancel_restore(int before);

/*
 * Wait until os_wake_address() is called for the word, or for that long, if it has the value; where
 * the system has no such thing, sleep for a part of that.  May return for no reason.  The wake
 * looks at the address alone: what lies there may be gone.
 */
void os_wait_address(const void *word, uint64_t value, uint64_t ns);
void os_wake_address(const void *word);

/* A thread that runs run(arg), with all signals blocked: they go to the program's own threads. */
bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
void os_thread_join(struct os_thread *thread);

/* os_mutex_try_lock: false if another thread has it.  Not recursive. */
void os_mutex_open(struct os_mutex *mutex);
void os_mutex_close(struct os_mutex *mutex);
void os_mutex_lock(struct os_mutex *mutex);
bool os_mutex_try_lock(struct os_mutex *mutex);
void os_mutex_unlock(struct os_mutex *mutex);

/* os_condition_wait: with the mutex, until woken, or for no reason; false: `until_ns` passed. */
void os_condition_open(struct os_condition *condition);
void os_condition_close(struct os_condition *condition);
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns);
void os_condition_wake_all(struct os_condition *condition);

/* os_semaphore_post never blocks; each wait takes one post. */
bool os_semaphore_open(struct os_semaphore *semaphore);
void os_semaphore_close(struct os_semaphore *semaphore);
void os_semaphore_post(struct os_semaphore *semaphore);
void os_semaphore_wait(struct os_semaphore *semaphore);

/* From now on each fork calls these, if not NULL; the `before` handed over last runs first. */
bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

#endif /* HAFT_LIB_OS_H */
