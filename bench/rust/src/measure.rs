//! What a case is, and how it is measured: one thread that never waits by its processor time, so
//! that what others take of the machine is not counted; several by wall clock, from the first
//! one's first round to the last one's last.  The C++ programs do the same.

use std::arch::asm;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Barrier;
use std::time::{Duration, Instant};

pub type Object = [u64; 3];

/// A value that the compiler knows nothing of, as Google Benchmark's DoNotOptimize has it;
/// `std::hint::black_box` came after Debian 12's rustc.
pub fn black_box<T>(value: T) -> T {
    // Safety: no instruction; the address, with which other memory could have been written, is only
    // named.
    unsafe { asm!("/* {0} */", in(reg) &value, options(nostack, preserves_flags)) };
    value
}

/// xorshift64*, as in bench/random.h.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `bound`, which fits in 32 bits.
    pub fn below(&mut self, bound: u64) -> usize {
        (((self.next() >> 32) * bound) >> 32) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for left in (2..=items.len()).rev() {
            items.swap(left - 1, self.below(left as u64));
        }
    }
}

/// One case: `run(threads, rounds)` gives the time that `rounds` rounds took on each thread.
pub struct Case {
    pub workload: &'static str,
    pub subject: &'static str,
    pub size: usize,
    pub threads: usize,
    pub items_a_round: u64,
    pub run: Box<dyn FnMut(u64) -> Duration>,
}

impl Case {
    pub fn name(&self) -> String {
        format!("{}/{}/{}/{}", self.workload, self.subject, self.size, self.threads)
    }
}

/// Items a second, over as many rounds as `least` takes, and how many rounds that were.
pub fn measure(case: &mut Case, least: Duration) -> (f64, u64) {
    let mut rounds = 1;
    loop {
        let took = (case.run)(rounds);
        if took >= least || rounds >= 1 << 40 {
            let items = rounds as f64 * case.items_a_round as f64;
            return (items / took.as_secs_f64(), rounds);
        }
        let wanted = least.as_secs_f64() * 1.4 / took.as_secs_f64().max(1e-9);
        rounds = (rounds as f64 * wanted.max(1.0).min(10.0)) as u64 + 1;
    }
}

pub fn processor_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Calls `round` `rounds` times on one thread.
pub fn alone(rounds: u64, mut round: impl FnMut()) -> Duration {
    let begin = processor_time();
    for _ in 0..rounds {
        round();
    }
    processor_time() - begin
}

/// The calling thread on the `number`-th core that it may use, as in bench/pinned.h.
pub fn pin(number: usize, threads: usize) {
    unsafe {
        let mut all: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of_val(&all);
        if libc::sched_getaffinity(0, size, &mut all) != 0
            || (libc::CPU_COUNT(&all) as usize) < threads
        {
            return;
        }
        let mut cores = (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &all));
        if let Some(core) = cores.nth(number) {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut one);
            libc::sched_setaffinity(0, size, &one);
        }
    }
}

/// `body(thread)` on each of `threads` threads, which begin together; each has a core for itself
/// where there are as many.
pub fn together(threads: usize, body: impl Fn(usize) + Sync) -> Duration {
    let barrier = Barrier::new(threads);
    let origin = Instant::now();
    let first = AtomicU64::new(u64::MAX);
    let last = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (barrier, body, first, last) = (&barrier, &body, &first, &last);
            scope.spawn(move || {
                pin(thread, threads);
                barrier.wait();
                first.fetch_min(origin.elapsed().as_nanos() as u64, Ordering::Relaxed);
                body(thread);
                last.fetch_max(origin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            });
        }
    });
    Duration::from_nanos(last.into_inner() - first.into_inner())
}
