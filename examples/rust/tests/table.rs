use haft::{sys, Domain, Id, Result, Status};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn a_section_finds_what_was_inserted() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table("ships", 100)?;
    let worker = table.worker()?;
    let ship = worker.insert_wait(9.5)?;
    assert_eq!(worker.section(|objects| objects.resolve(ship).copied()), Some(9.5));
    assert_eq!(table.text(ship), "4v1");
    Ok(())
}

#[test]
fn a_freed_object_is_read_until_the_section_ends() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table("ships", 100)?;
    let (worker, other) = (table.worker()?, table.worker()?);
    let ship = worker.insert_wait(7u64)?;
    worker.section(|objects| {
        let found = objects.resolve(ship).expect("it is live");
        worker.free(ship).expect("it is live");
        assert!(objects.resolve(ship).is_none());
        // Neither an inner section nor a quiescent point of another worker of the thread ends this one.
        for _ in 0..5000 {
            if let Ok(raft) = other.insert(8) {
                other.section(|_| other.free(raft)).expect("it is live");
            }
            let _ = other.quiescent();
        }
        assert_eq!(*found, 7);
    });
    Ok(())
}

#[test]
fn a_status_says_what_is_wrong() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table("ships", 100)?;
    let ship = table.insert(1u8)?;
    table.free(ship)?;
    let refused = table.free(ship).expect_err("it has been freed");
    assert_eq!(refused, Status(sys::HAFT_STALE));
    assert_eq!(format!("{}, {:?}", refused, refused), "the object has been freed, HAFT_STALE (the object has been freed)");
    assert_eq!(table.diagnose(ship), Err(refused));
    assert_eq!(domain.table::<u8>("none", 0).err(), Some(Status(sys::HAFT_BAD_CAPACITY)));
    Ok(())
}

#[test]
fn forged_ids_find_nothing() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table::<u64>("ships", 100)?;
    let worker = table.worker()?;
    for bits in [0, 1, 5, u64::MAX, 1 << 63] {
        assert!(worker.section(|objects| objects.resolve(Id::from_bits(bits)).is_none()));
    }
    Ok(())
}

#[test]
fn of_many_threads_that_free_an_object_one_wins() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table("ships", 1000)?;
    let ships: Vec<Id<u32>> = (0..1000).map(|number| table.insert(number)).collect::<Result<_>>()?;
    let won = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let worker = table.worker().expect("memory");
                for &ship in &ships {
                    let number = worker.section(|objects| objects.resolve(ship).copied());
                    assert!(number.map_or(true, |number| ships[number as usize] == ship));
                    won.fetch_add(worker.free(ship).is_ok() as usize, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(won.load(Ordering::Relaxed), ships.len());
    table.close()
}

#[test]
fn what_is_dropped_is_closed() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table::<u64>("ships", 100)?;
    drop(table.worker()?);
    table.close()?; // HAFT_IN_USE if the worker were open
    drop(domain.table::<u64>("others", 100)?);
    domain.close() // HAFT_IN_USE if a table were
}
