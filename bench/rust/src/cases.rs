//! The workloads, as the C++ programs beside this folder describe them: churn.h, replace.cc,
//! handoff.cc, contention.cc, resolve.cc, local.cc, counted.cc, unwrap.cc.

use crate::measure::{alone, black_box, together, Case, Object, Random};
use crate::tables::{Locked, MutexLocked, Sharded, Shared, Value};
use slotmap::{DefaultKey, SecondaryMap, SlotMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

const OBJECT: Object = [1, 2, 3];
const CHURN_SIZE: usize = 1024;
const REPLACE_SIZE: usize = 65536;
const REPLACE_ROUND: usize = 1024;
const HANDOFF_SIZE: usize = 512;
const HANDOFF_DEPTH: usize = 8;
const HOLD_SIZE: usize = 1024;
const MIXED_SIZE: u64 = 65536;
const MIXED_RESOLVES: u64 = 18;
const MIXED_GROUPS: u64 = 100;

fn churn<T: Shared>(subject: &'static str, threads: usize) -> Case {
    let run = move |rounds| {
        let table = T::new();
        together(threads, |_| {
            let object = black_box(OBJECT);
            let mut ids = Vec::with_capacity(CHURN_SIZE);
            let mut failed = 0u64;
            for _ in 0..rounds {
                ids.clear();
                ids.extend((0..CHURN_SIZE).map(|_| table.insert(*black_box(&object))));
                failed += ids.iter().map(|id| !table.free(*id) as u64).sum::<u64>();
            }
            assert_eq!(failed, 0);
        })
    };
    Case {
        workload: "churn",
        subject,
        size: CHURN_SIZE,
        threads,
        items_a_round: (CHURN_SIZE * threads) as u64,
        run: Box::new(run),
    }
}

fn replace<T: Shared>(subject: &'static str, threads: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (table, live) = filled.get_or_insert_with(|| {
            let table = T::new();
            let live: Vec<Mutex<Option<Vec<T::Id>>>> =
                (0..threads).map(|_| Mutex::new(None)).collect();
            (table, live)
        });
        for one in live.iter() {
            let mut one = one.lock().unwrap();
            if one.is_none() {
                *one = Some((0..REPLACE_SIZE).map(|_| table.insert(OBJECT)).collect());
            }
        }
        let (table, live) = (&*table, &*live);
        together(threads, |thread| {
            let mut live = live[thread].lock().unwrap();
            let ids = live.as_mut().unwrap();
            let mut random = Random::new(thread as u64 + 1);
            let object = black_box(OBJECT);
            for _ in 0..rounds * REPLACE_ROUND as u64 {
                let at = random.below(REPLACE_SIZE as u64);
                assert!(table.free(ids[at]));
                ids[at] = table.insert(*black_box(&object));
            }
        })
    };
    Case {
        workload: "replace",
        subject,
        size: REPLACE_SIZE,
        threads,
        items_a_round: (REPLACE_ROUND * threads) as u64,
        run: Box::new(run),
    }
}

/// Threads in pairs.
fn handoff<T: Shared>(subject: &'static str, threads: usize) -> Case {
    let run = move |rounds| {
        let table = Arc::new(T::new());
        let (gives, takes): (Vec<_>, Vec<_>) = (0..threads / 2)
            .map(|_| sync_channel::<Vec<T::Id>>(HANDOFF_DEPTH))
            .map(|(give, take)| (Mutex::new(Some(give)), Mutex::new(take)))
            .unzip();
        together(threads, |thread| {
            if thread % 2 == 0 {
                let give = gives[thread / 2].lock().unwrap().take().unwrap();
                let object = black_box(OBJECT);
                for _ in 0..rounds {
                    let ids = (0..HANDOFF_SIZE).map(|_| table.insert(*black_box(&object)));
                    give.send(ids.collect()).unwrap();
                }
            } else {
                for ids in takes[thread / 2].lock().unwrap().iter() {
                    assert!(ids.iter().all(|id| table.free(*id)));
                }
            }
        })
    };
    Case {
        workload: "handoff",
        subject,
        size: HANDOFF_SIZE,
        threads,
        items_a_round: (HANDOFF_SIZE * threads / 2) as u64,
        run: Box::new(run),
    }
}

/// As bench/contention.cc has it.
fn mixed<T: Shared>(subject: &'static str, threads: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (table, entries) = filled.get_or_insert_with(|| {
            let table = T::new();
            let entries: Vec<AtomicU64> =
                (0..MIXED_SIZE).map(|_| AtomicU64::new(T::bits(table.insert(OBJECT)))).collect();
            (table, entries)
        });
        let (table, entries) = (&*table, &*entries);
        together(threads, |thread| {
            let mut random = Random::new(thread as u64 + 1);
            let object = black_box(OBJECT);
            for _ in 0..rounds * MIXED_GROUPS {
                let mut found = 0;
                for _ in 0..MIXED_RESOLVES {
                    let entry = &entries[random.below(MIXED_SIZE)];
                    found += table.first_word(T::id(entry.load(Ordering::Relaxed)));
                }
                black_box(found);
                let entry = &entries[random.below(MIXED_SIZE)];
                let born = T::bits(table.insert(*black_box(&object)));
                assert!(table.free(T::id(entry.swap(born, Ordering::Relaxed))));
            }
        })
    };
    Case {
        workload: "mixed",
        subject,
        size: MIXED_SIZE as usize,
        threads,
        items_a_round: MIXED_GROUPS * (MIXED_RESOLVES + 2) * threads as u64,
        run: Box::new(run),
    }
}

/// All threads read one object.
fn hold_one<T: Shared>(subject: &'static str, threads: usize) -> Case {
    let mut made = None;
    let run = move |rounds| {
        let (table, id) = made.get_or_insert_with(|| {
            let table = T::new();
            let id = table.insert(OBJECT);
            (table, id)
        });
        let (table, ids) = (&*table, vec![*id; HOLD_SIZE]);
        together(threads, |_| {
            for _ in 0..rounds {
                let sum = ids.iter().map(|id| table.first_word(*id)).sum::<u64>();
                assert_eq!(black_box(sum), HOLD_SIZE as u64);
            }
        })
    };
    Case {
        workload: "hold_one",
        subject,
        size: 1,
        threads,
        items_a_round: (HOLD_SIZE * threads) as u64,
        run: Box::new(run),
    }
}

/// Every read stands for itself: neither subject has a section over many.
fn resolve<T: Shared>(workload: &'static str, subject: &'static str, size: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (table, ids) = filled.get_or_insert_with(|| {
            let table = T::new();
            let mut ids: Vec<T::Id> = (1..=size as u64).map(|i| table.insert([i, 0, 0])).collect();
            Random::new(1).shuffle(&mut ids);
            if workload == "resolve_stale" {
                assert!(ids.iter().all(|id| table.free(*id)));
                for i in 1..=size as u64 {
                    table.insert([i, 0, 0]);
                }
            }
            (table, ids)
        });
        alone(rounds, || {
            black_box(ids.iter().map(|id| table.first_word(*id)).sum::<u64>());
        })
    };
    Case { workload, subject, size, threads: 1, items_a_round: size as u64, run: Box::new(run) }
}

/// All are looked up, each thread in another order: a guard holds the object while its first word is
/// read (`hold`), values have 8 bytes (`unwrap`).
fn look_up<V: Value + Copy, T: Shared<V>>(
    workload: &'static str,
    subject: &'static str,
    one: V,
    threads: usize,
) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (table, ids) = filled.get_or_insert_with(|| {
            let table = T::new();
            let ids: Vec<T::Id> = (0..HOLD_SIZE).map(|_| table.insert(one)).collect();
            (table, ids)
        });
        let (table, ids) = (&*table, &*ids);
        together(threads, |thread| {
            let mut order = ids.clone();
            Random::new(thread as u64 + 1).shuffle(&mut order);
            for _ in 0..rounds {
                let sum = order.iter().map(|id| table.first_word(*id)).sum::<u64>();
                assert_eq!(black_box(sum), HOLD_SIZE as u64);
            }
        })
    };
    Case {
        workload,
        subject,
        size: HOLD_SIZE,
        threads,
        items_a_round: (HOLD_SIZE * threads) as u64,
        run: Box::new(run),
    }
}

fn slotmap_get(size: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (map, ids) = filled.get_or_insert_with(|| {
            let mut map: SlotMap<DefaultKey, Object> = SlotMap::with_capacity(size);
            let mut ids: Vec<DefaultKey> =
                (1..=size as u64).map(|i| map.insert([i, 0, 0])).collect();
            Random::new(1).shuffle(&mut ids);
            (map, ids)
        });
        alone(rounds, || {
            let sum = ids.iter().map(|id| map.get(*id).map_or(0, |object| object[0]));
            black_box(sum.sum::<u64>());
        })
    };
    slotmap_case("get", size, Box::new(run))
}

/// Values beside the objects of a map, all set, and the keys in random order.
fn beside(size: usize) -> (SecondaryMap<DefaultKey, Object>, Vec<DefaultKey>) {
    let mut map: SlotMap<DefaultKey, Object> = SlotMap::with_capacity(size);
    let mut values = SecondaryMap::new();
    let mut ids: Vec<DefaultKey> = (1..=size as u64).map(|i| map.insert([i, 0, 0])).collect();
    for (i, id) in ids.iter().enumerate() {
        values.insert(*id, [i as u64 + 1, 0, 0]);
    }
    Random::new(1).shuffle(&mut ids);
    (values, ids)
}

fn slotmap_side_get(size: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (values, ids) = filled.get_or_insert_with(|| beside(size));
        alone(rounds, || {
            let sum = ids.iter().map(|id| values.get(*id).map_or(0, |value| value[0]));
            black_box(sum.sum::<u64>());
        })
    };
    slotmap_case("side_get", size, Box::new(run))
}

fn slotmap_side_set(size: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let (values, ids) = filled.get_or_insert_with(|| {
            let (mut values, ids) = beside(size);
            ids.iter().for_each(|id| drop(values.remove(*id)));
            (values, ids)
        });
        let object = black_box(OBJECT);
        let mut failed = 0u64;
        let took = alone(rounds, || {
            for id in ids.iter() {
                failed += values.insert(*id, *black_box(&object)).is_some() as u64;
            }
            for id in ids.iter() {
                failed += values.remove(*id).is_none() as u64;
            }
        });
        assert_eq!(failed, 0);
        took
    };
    slotmap_case("side_set", size, Box::new(run))
}

fn slotmap_insert_free(size: usize) -> Case {
    let mut made = None;
    let run = move |rounds| {
        let (map, ids) = made.get_or_insert_with(|| {
            let map: SlotMap<DefaultKey, Object> = SlotMap::with_capacity(4 * size);
            (map, vec![DefaultKey::default(); size])
        });
        let object = black_box(OBJECT);
        let mut failed = 0u64;
        let took = alone(rounds, || {
            for id in ids.iter_mut() {
                *id = map.insert(*black_box(&object));
            }
            for id in ids.iter() {
                failed += map.remove(*id).is_none() as u64;
            }
        });
        assert_eq!(failed, 0);
        took
    };
    slotmap_case("insert_free", size, Box::new(run))
}

fn slotmap_iterate(size: usize) -> Case {
    let mut filled = None;
    let run = move |rounds| {
        let map = filled.get_or_insert_with(|| {
            let mut map: SlotMap<DefaultKey, Object> = SlotMap::with_capacity(size);
            for i in 1..=size as u64 {
                map.insert([i, 0, 0]);
            }
            map
        });
        alone(rounds, || {
            black_box(black_box(&*map).values().map(|object| object[0]).sum::<u64>());
        })
    };
    slotmap_case("iterate", size, Box::new(run))
}

fn slotmap_case(
    workload: &'static str,
    size: usize,
    run: Box<dyn FnMut(u64) -> std::time::Duration>,
) -> Case {
    Case { workload, subject: "slotmap", size, threads: 1, items_a_round: size as u64, run }
}

/// As bench/pool.h has it: powers of two up to 8 or all cores, and these.
fn thread_counts() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let most = cores.max(8);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|c| *c < most).collect();
    counts.push(most);
    counts
}

fn add_shared<T: Shared, U: Shared<u64>>(
    makers: &mut Vec<Box<dyn Fn() -> Case>>,
    subject: &'static str,
) {
    for threads in thread_counts() {
        makers.push(Box::new(move || churn::<T>(subject, threads)));
        makers.push(Box::new(move || replace::<T>(subject, threads)));
        makers.push(Box::new(move || look_up::<Object, T>("hold", subject, OBJECT, threads)));
        makers.push(Box::new(move || look_up::<u64, U>("unwrap", subject, 1, threads)));
    }
    for size in [1024, 16384, 262144] {
        makers.push(Box::new(move || resolve::<T>("resolve_each", subject, size)));
        makers.push(Box::new(move || resolve::<T>("resolve_stale", subject, size)));
    }
}

fn add_traffic<T: Shared>(makers: &mut Vec<Box<dyn Fn() -> Case>>, subject: &'static str) {
    for threads in thread_counts() {
        makers.push(Box::new(move || mixed::<T>(subject, threads)));
        makers.push(Box::new(move || hold_one::<T>(subject, threads)));
        if threads > 1 {
            makers.push(Box::new(move || handoff::<T>(subject, threads / 2 * 2)));
        }
    }
}

/// What makes the cases: a table is filled only when its case runs.
pub fn makers() -> Vec<Box<dyn Fn() -> Case>> {
    let mut makers: Vec<Box<dyn Fn() -> Case>> = Vec::new();
    add_shared::<Sharded<Object>, Sharded<u64>>(&mut makers, "sharded_slab");
    add_shared::<Locked<Object>, Locked<u64>>(&mut makers, "rwlock_slotmap");
    add_shared::<MutexLocked<Object>, MutexLocked<u64>>(&mut makers, "mutex_slotmap");
    add_traffic::<Sharded<Object>>(&mut makers, "sharded_slab");
    add_traffic::<Locked<Object>>(&mut makers, "rwlock_slotmap");
    add_traffic::<MutexLocked<Object>>(&mut makers, "mutex_slotmap");
    for size in [1024, 16384, 65536, 262144, 1048576] {
        makers.push(Box::new(move || slotmap_get(size)));
        makers.push(Box::new(move || slotmap_insert_free(size)));
        makers.push(Box::new(move || slotmap_iterate(size)));
    }
    for size in [1024, 16384, 262144] {
        makers.push(Box::new(move || slotmap_side_get(size)));
        makers.push(Box::new(move || slotmap_side_set(size)));
    }
    makers
}
