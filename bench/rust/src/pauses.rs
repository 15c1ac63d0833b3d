//! What bench/pauses.cc does, with the same names, numbers and JSON: times of single calls of two
//! threads, when an object is dropped after its free, and memory beyond the live objects.

use crate::measure::{pin, processor_time, Random};
use crate::tables::{Locked, MutexLocked, Sharded, Shared, Value};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Barrier;
use std::time::{Duration, Instant};

const LIVE: u64 = 16384;
const TURN_GROUPS: u64 = 5;
const GROUP_LOOK_UPS: u64 = 18;
const LIVES_A_SECOND: f64 = 2e6;
const MS: u64 = 1_000_000;
const IDLE_FREES: u64 = 60;
const LIFE_ROUNDS: u64 = 200;
const LIFE_OBJECTS: u64 = 256;
const PARTS: [f64; 7] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1.0];
const CALLS: [&str; 3] = ["look_up", "insert", "free"];

// --- the clock ---

fn origin() -> Instant {
    static mut ORIGIN: Option<Instant> = None;
    // Safety: measure_clock() comes first, while there is one thread.
    unsafe { *ORIGIN.get_or_insert_with(Instant::now) }
}

fn now_ns() -> u64 {
    origin().elapsed().as_nanos() as u64 + 1
}

static CLOCK_NS: AtomicU64 = AtomicU64::new(0);

fn measure_clock() {
    let mut all: Vec<u64> = (0..10001)
        .map(|_| {
            let begin = now_ns();
            now_ns() - begin
        })
        .collect();
    all.sort_unstable();
    CLOCK_NS.store(all[5000], Ordering::Relaxed);
}

/// Without the reading of the clock.
fn between(begin: u64, end: u64) -> u64 {
    (end - begin).saturating_sub(CLOCK_NS.load(Ordering::Relaxed))
}

// --- objects, by their first words ---

struct Ends {
    freed_at: AtomicU64,
    ended_at: AtomicU64,
}

static mut ENDS: Vec<Ends> = Vec::new();

fn ends() -> &'static [Ends] {
    // Safety: made while no other thread runs.
    unsafe { &*std::ptr::addr_of!(ENDS) }
}

fn make_ends(count: u64) {
    let none = || Ends { freed_at: AtomicU64::new(0), ended_at: AtomicU64::new(0) };
    // Safety: no other thread runs.
    unsafe { ENDS = (0..=count).map(|_| none()).collect() };
}

struct Ending([u64; 3]);

impl Value for Ending {
    fn first_word(&self) -> u64 {
        self.0[0]
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let one = &ends()[self.0[0] as usize];
        if one.freed_at.load(Ordering::Relaxed) != 0 {
            one.ended_at.store(now_ns(), Ordering::Relaxed);
        }
    }
}

/// Median and longest, in microseconds, of all that were freed; each has been dropped by now.
fn delays() -> (f64, f64) {
    let mut all: Vec<u64> = ends()
        .iter()
        .filter(|one| one.freed_at.load(Ordering::Relaxed) != 0)
        .map(|one| {
            let ended = one.ended_at.load(Ordering::Relaxed);
            assert_ne!(ended, 0);
            between(one.freed_at.load(Ordering::Relaxed), ended)
        })
        .collect();
    all.sort_unstable();
    (all[all.len() / 2] as f64 / 1e3, all[all.len() - 1] as f64 / 1e3)
}

// --- times ---

/// Of one kind of call, in classes of which each is a 32nd wider than the one before.
#[derive(Clone)]
struct Times {
    counts: Vec<u64>,
    longest: u64,
}

impl Times {
    fn new() -> Times {
        Times { counts: vec![0; 64 * 32], longest: 0 }
    }

    fn time<R>(&mut self, call: impl FnOnce(u64) -> R) -> R {
        let begin = now_ns();
        let result = call(begin);
        let ns = between(begin, now_ns());
        let shift = if ns < 32 { 0 } else { 58 - ns.leading_zeros() };
        self.counts[shift as usize * 32 + (ns >> shift) as usize] += 1;
        self.longest = self.longest.max(ns);
        result
    }

    fn add(&mut self, other: &Times) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(one, more)| *one += more);
        self.longest = self.longest.max(other.longest);
    }

    fn at(&self, part: f64) -> u64 {
        let mut left = (self.counts.iter().sum::<u64>() as f64 * part) as u64;
        let mut i = 0;
        while i + 1 < self.counts.len() && self.counts[i] <= left {
            left -= self.counts[i];
            i += 1;
        }
        if part >= 1.0 {
            self.longest
        } else if i < 64 {
            i as u64
        } else {
            (i as u64 % 32 + 32) << (i / 32 - 1)
        }
    }
}

// --- busy ---

/// Ids by record, each written once before its record stands in an entry.
struct Board<T> {
    table: T,
    ids: Vec<AtomicU64>,
    entries: Vec<AtomicU32>,
}

impl<T: Shared<Ending>> Board<T> {
    fn new(records: u64) -> Self {
        make_ends(records);
        let board = Board {
            ids: (0..=records).map(|_| AtomicU64::new(0)).collect(),
            entries: (1..=LIVE as u32).map(AtomicU32::new).collect(),
            table: T::new(),
        };
        for i in 1..=LIVE as u32 {
            let id = board.table.insert(Ending([i as u64, 2, 3]));
            board.ids[i as usize].store(T::bits(id), Ordering::Relaxed);
        }
        board
    }

    fn id(&self, record: u32) -> T::Id {
        T::id(self.ids[record as usize].load(Ordering::Relaxed))
    }

    fn group(&self, born: u32, random: &mut Random, times: &mut [Times]) {
        for _ in 0..GROUP_LOOK_UPS {
            let id = self.id(self.entries[random.below(LIVE)].load(Ordering::Acquire));
            let first = times[0].time(|_| self.table.first_word(id));
            assert!(first < ends().len() as u64);
        }
        let id = times[1].time(|_| self.table.insert(Ending([born as u64, 2, 3])));
        self.ids[born as usize].store(T::bits(id), Ordering::Relaxed);
        let old = self.entries[random.below(LIVE)].swap(born, Ordering::AcqRel);
        let id = self.id(old);
        assert!(times[2].time(|begin| {
            ends()[old as usize].freed_at.store(begin, Ordering::Relaxed);
            self.table.free(id)
        }));
    }

    /// One thread's part; the first one also looks at the memory, and says the most.
    fn be_busy(&self, thread: u64, share: u64, until: u64, times: &mut [Times]) -> f64 {
        let mut random = Random::new(thread + 1);
        let mut next = 1 + LIVE + thread * share;
        let end = next + share;
        let (mut looked, mut now, mut peak) = (0, now_ns(), 0.0f64);
        loop {
            for _ in 0..TURN_GROUPS {
                self.group(next as u32, &mut random, times);
                next += 1;
            }
            if thread == 0 && now - looked >= MS {
                peak = peak.max(resident_bytes());
                looked = now;
            }
            now = now_ns();
            if now >= until || next + TURN_GROUPS >= end {
                return peak;
            }
        }
    }
}

/// As bench/resident.h has it.
fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: Vec<f64> = text.split(' ').take(3).map(|one| one.parse().expect("pages")).collect();
    (pages[1] - pages[2]) * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64
}

/// The times of each kind of call, and the bytes beyond those with the live objects.
fn busy<T: Shared<Ending>>(seconds: f64) -> (Vec<Times>, f64) {
    let share = (seconds * LIVES_A_SECOND) as u64;
    let board: Board<T> = Board::new(LIVE + 2 * share);
    let mut both = vec![vec![Times::new(); CALLS.len()]; 2];
    let barrier = Barrier::new(2);
    let (mut before, mut peak) = (0.0, 0.0f64);
    std::thread::scope(|scope| {
        let (board, barrier) = (&board, &barrier);
        let (mine, other) = both.split_at_mut(1);
        let until = (seconds * 1e9) as u64;
        scope.spawn(move || {
            pin(1, 2);
            barrier.wait();
            barrier.wait();
            board.be_busy(1, share, now_ns() + until, &mut other[0]);
        });
        pin(0, 2);
        barrier.wait();
        before = resident_bytes();
        barrier.wait();
        peak = board.be_busy(0, share, now_ns() + until, &mut mine[0]).max(resident_bytes());
        peak = peak.max(before);
    });
    let (mut first, second) = (both.remove(0), both.remove(0));
    first.iter_mut().zip(&second).for_each(|(one, more)| one.add(more));
    (first, peak - before)
}

// --- idle, life ---

fn idle<T: Shared<Ending>>() {
    make_ends(IDLE_FREES);
    let table = T::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 1..=IDLE_FREES {
                let id = table.insert(Ending([i, 2, 3]));
                ends()[i as usize].freed_at.store(now_ns(), Ordering::Relaxed);
                assert!(table.free(id));
                std::thread::sleep(Duration::from_millis(2));
            }
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

fn life<T: Shared<Ending>>() -> f64 {
    make_ends(LIVE);
    let table = T::new();
    let mut ids = Vec::with_capacity(LIFE_OBJECTS as usize);
    let begin = processor_time();
    for _ in 0..LIFE_ROUNDS {
        ids.clear();
        ids.extend((0..LIFE_OBJECTS).map(|_| table.insert(Ending([1, 2, 3]))));
        assert!(ids.iter().all(|id| table.free(*id)));
    }
    (processor_time() - begin).as_nanos() as f64 / (LIFE_ROUNDS * LIFE_OBJECTS) as f64
}

// --- what is said ---

fn row(workload: &str, subject: &str, figures: &str) -> String {
    format!(
        "  {{\"name\": \"{}/{}/{}/2\", \"run_type\": \"iteration\",\n   {}}}",
        workload, subject, LIVE, figures
    )
}

fn times_row(call: &str, subject: &str, times: &Times) -> String {
    let ns: Vec<String> = PARTS.iter().map(|part| times.at(*part).to_string()).collect();
    row(call, subject, &format!("\"ns\": [{}]", ns.join(", ")))
}

fn measure<T: Shared<Ending>>(subject: &str, seconds: f64) -> String {
    let (times, bytes) = busy::<T>(seconds);
    let ended = delays();
    let mut all = Times::new();
    times.iter().for_each(|one| all.add(one));
    let mut rows: Vec<String> =
        CALLS.iter().zip(&times).map(|(call, times)| times_row(call, subject, times)).collect();
    rows.push(times_row("any_call", subject, &all));
    idle::<T>();
    let idled = delays();
    rows.push(row(
        "pauses",
        subject,
        &format!(
            "\"ended_us\": [{:.3}, {:.3}], \"idle_us\": [{:.3}, {:.3}], \"beyond_bytes\": {:.0}, \
             \"processor_ns\": {:.2}",
            ended.0,
            ended.1,
            idled.0,
            idled.1,
            bytes,
            life::<T>()
        ),
    ));
    rows.join(",\n")
}

/// In a child process, which has used no table before; nothing may run beside.
fn apart(measure: impl FnOnce() -> String) {
    let mut status = 1;
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            print!("{}", measure());
            std::io::Write::flush(&mut std::io::stdout()).expect("output");
            libc::_exit(0);
        }
        libc::waitpid(child, &mut status, 0);
    }
    assert_eq!(status, 0, "a table did not do what it was asked to");
}

/// Each line goes out as it ends: a child has nothing of it to write once more.
pub fn measure_all(seconds: f64) {
    measure_clock();
    println!("{{\"benchmarks\": [");
    apart(|| measure::<Sharded<Ending>>("sharded_slab", seconds));
    println!(",");
    apart(|| measure::<Locked<Ending>>("rwlock_slotmap", seconds));
    println!(",");
    apart(|| measure::<MutexLocked<Ending>>("mutex_slotmap", seconds));
    println!("\n]}}");
}
