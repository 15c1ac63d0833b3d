use haft::{sys, Counted, Id, Result, Status};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::{mem, thread};

/// Counts its drops.
struct Session(Arc<AtomicUsize>, u64);

impl Drop for Session {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn drops(dropped: &Arc<AtomicUsize>) -> usize {
    dropped.load(Ordering::Relaxed)
}

#[test]
fn a_freed_object_is_dropped_with_its_last_guard() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let sessions = Counted::open("sessions", 10)?;
    let id = sessions.insert(Session(dropped.clone(), 7))?;
    let held = sessions.acquire(id).expect("it is live");
    let again = held.clone();
    sessions.free(id)?;
    assert!(sessions.acquire(id).is_none());
    drop(held);
    assert_eq!((again.1, drops(&dropped)), (7, 0));
    assert_eq!(sessions.stats().ended, 1);
    drop(again);
    assert_eq!(drops(&dropped), 1);
    sessions.close()?;
    assert_eq!(drops(&dropped), 1);
    Ok(())
}

#[test]
fn closing_drops_each_object_once_and_taking_none() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let sessions = Counted::open("sessions", 10)?;
    let taken = sessions.insert(Session(dropped.clone(), 1))?;
    sessions.insert(Session(dropped.clone(), 2))?;
    let session = sessions.take(taken)?;
    assert_eq!((session.1, drops(&dropped)), (1, 0));
    drop(sessions);
    assert_eq!(drops(&dropped), 1);
    drop(session);
    assert_eq!(drops(&dropped), 2);
    Ok(())
}

#[test]
fn an_object_without_room_is_dropped_once() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let sessions = Counted::open("sessions", 1)?;
    sessions.insert(Session(dropped.clone(), 1))?;
    let refused = sessions.insert(Session(dropped.clone(), 2));
    assert_eq!(refused, Err(Status(sys::HAFT_FULL)));
    assert_eq!(drops(&dropped), 1);
    Ok(())
}

#[test]
fn a_status_says_what_is_wrong() -> Result<()> {
    let ships = Counted::open("ships", 10)?;
    let id = ships.insert(5u8)?;
    let held = ships.acquire(id).expect("it is live");
    assert_eq!(ships.take(id), Err(Status(sys::HAFT_IN_USE)));
    assert_eq!(held.id(), id);
    drop(held);
    ships.free(id)?;
    assert_eq!(ships.free(id), Err(Status(sys::HAFT_STALE)));
    assert_eq!(ships.diagnose(id), Err(Status(sys::HAFT_STALE)));
    assert!(!ships.is_live(id));
    for bits in [0, 1, 5, u64::MAX, 1 << 63] {
        assert!(ships.acquire(Id::from_bits(bits)).is_none());
    }
    Ok(())
}

#[test]
fn a_copy_is_made_without_holding() -> Result<()> {
    let mut options: sys::haft_counted_options = unsafe { mem::zeroed() };
    options.capacity = 10;
    options.copies = true;
    let handles = unsafe { Counted::open_with("handles", options) }?;
    let id = handles.insert((7u64, 9u32))?;
    assert_eq!(handles.copy(id), Some((7, 9)));
    handles.free(id)?;
    assert_eq!(handles.copy(id), None);
    Ok(())
}

#[test]
fn a_guard_goes_to_another_thread() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let sessions = Counted::open("sessions", 10)?;
    let id = sessions.insert(Session(dropped.clone(), 3))?;
    let held = sessions.acquire(id).expect("it is live");
    let (freed, is_freed) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            is_freed.recv().expect("the object is freed");
            assert_eq!(held.1, 3);
        });
        sessions.free(id).expect("it is live");
        assert_eq!(drops(&dropped), 0);
        freed.send(()).expect("the thread waits");
    });
    assert_eq!(drops(&dropped), 1);
    Ok(())
}

#[test]
fn a_forgotten_guard_keeps_the_table_open() -> Result<()> {
    let dropped = Arc::new(AtomicUsize::new(0));
    let sessions = Counted::open("sessions", 10)?;
    let id = sessions.insert(Session(dropped.clone(), 3))?;
    mem::forget(sessions.acquire(id));
    let refused = sessions.close().expect_err("an object is held");
    assert_eq!(refused.status, Status(sys::HAFT_IN_USE));
    assert_eq!(drops(&dropped), 0);
    mem::forget(refused.opened);
    Ok(())
}
