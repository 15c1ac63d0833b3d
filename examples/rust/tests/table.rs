use haft::{sys, Domain, Id, Result, Status, Table, Worker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier};
use std::time::Duration;
use std::{mem, thread};

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
    let ship = table.worker()?.insert(1u8)?;
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
    let worker = table.worker()?;
    let ships: Vec<Id<u32>> = (0..1000).map(|number| worker.insert(number)).collect::<Result<_>>()?;
    drop(worker);
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
    table.close()?;
    Ok(())
}

#[test]
fn what_is_dropped_is_closed() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table::<u64>("ships", 100)?;
    drop(table.worker()?);
    table.close()?; // HAFT_IN_USE if the worker were open
    drop(domain.table::<u64>("others", 100)?);
    Ok(domain.close()?) // HAFT_IN_USE if a table were
}

/// A table of which few slots may wait, so that quiescent points wait as soon as calls that insert do.
fn tight_table(domain: &Domain) -> Result<Table<'_, u64>> {
    let mut options: sys::haft_table_options = unsafe { mem::zeroed() };
    options.capacity = 1000;
    options.waiting_bytes = 4096;
    unsafe { domain.table_with("tight", options) }
}

/// Until all slots wait for a grace period.
fn use_up(worker: &Worker<'_, u64>) {
    while let Ok(ship) = worker.insert(1) {
        worker.free(ship).expect("it is live");
    }
}

/// Two threads with workers in two domains call wait(domain, its worker, the other domain's), each in a domain of
/// its own.  What they have open stays open if they wait for each other.
fn cross(wait: fn(&'static Domain, &Worker<'static, u64>, &Worker<'static, u64>)) -> Result<()> {
    let mut opened: Vec<(&'static Domain, &'static Table<'static, u64>)> = Vec::new();
    for _ in 0..2 {
        let domain: &'static Domain = Box::leak(Box::new(Domain::open()?));
        opened.push((domain, Box::leak(Box::new(tight_table(domain)?))));
    }
    let online = Arc::new(Barrier::new(2));
    let (returned, returns) = mpsc::channel();
    for number in 0..2 {
        let ((domain, table), (_, other)) = (opened[number], opened[1 - number]);
        let (online, returned) = (online.clone(), returned.clone());
        thread::spawn(move || {
            let (own, others) = (table.worker().expect("memory"), other.worker().expect("memory"));
            let _more = other.worker().expect("memory");
            online.wait();
            wait(domain, &own, &others);
            returned.send(()).expect("the test waits");
        });
    }
    for _ in 0..2 {
        returns.recv_timeout(Duration::from_secs(10)).expect("the threads do not wait for each other");
    }
    Ok(())
}

#[test]
fn threads_that_insert_in_two_domains_do_not_wait_for_each_other() -> Result<()> {
    cross(|_, own, _| {
        use_up(own);
        own.insert_wait(1).expect("a slot");
    })
}

#[test]
fn threads_that_are_quiescent_in_two_domains_do_not_wait_for_each_other() -> Result<()> {
    cross(|_, own, _| {
        use_up(own);
        own.quiescent().expect("no section");
    })
}

#[test]
fn threads_that_end_sections_in_two_domains_do_not_wait_for_each_other() -> Result<()> {
    cross(|_, own, _| own.section(|_| use_up(own)))
}

#[test]
fn threads_that_end_inner_sections_in_two_domains_do_not_wait_for_each_other() -> Result<()> {
    cross(|_, own, others| others.section(|_| own.section(|_| use_up(own))))
}

#[test]
fn threads_that_close_tables_in_two_domains_do_not_wait_for_each_other() -> Result<()> {
    cross(|domain, _, _| {
        let table = domain.table("closing", 100).expect("memory");
        table.worker().expect("memory").insert(1u64).expect("a slot");
        drop(table);
    })
}

#[test]
fn a_section_of_one_domain_lets_nothing_wait_in_another() -> Result<()> {
    let (near, far) = (Domain::open()?, Domain::open()?);
    let (table, other) = (near.table::<u64>("ships", 100)?, tight_table(&far)?);
    let (worker, others) = (table.worker()?, other.worker()?);
    worker.section(|_| {
        use_up(&others);
        assert_eq!(others.insert_wait(1), Err(Status(sys::HAFT_IN_SECTION)));
        assert_eq!(others.quiescent(), Ok(())); // put off
        others.section(|_| ());
        assert_eq!(others.insert(1), Err(Status(sys::HAFT_BUSY)));
    });
    others.insert(1).map(drop)
}

#[test]
fn a_worker_may_close_before_the_sections_around_its_own_end() -> Result<()> {
    let domain = Domain::open()?;
    let (table, other) = (domain.table::<u64>("ships", 100)?, domain.table::<u64>("others", 100)?);
    let worker = table.worker()?;
    worker.section(|_| other.worker().map(|inner| inner.section(|_| ())))?;
    other.close()?;
    worker.quiescent()
}

#[test]
fn a_worker_may_end_with_its_thread() -> Result<()> {
    thread_local!(static WORKER: std::cell::RefCell<Option<Worker<'static, u64>>> = Default::default());
    let domain: &'static Domain = Box::leak(Box::new(Domain::open()?));
    let table: &'static Table<'static, u64> = Box::leak(Box::new(domain.table("ships", 100)?));
    let use_it = move || WORKER.with(|worker| worker.replace(table.worker().ok()).is_none());
    assert!(thread::spawn(use_it).join().expect("it is closed"));
    Ok(())
}

#[test]
fn a_table_that_cannot_be_closed_is_handed_back() -> Result<()> {
    let domain = Domain::open()?;
    let (table, others) = (domain.table("ships", 100)?, domain.table::<u64>("others", 100)?);
    let worker = others.worker()?;
    let refused = worker.section(|_| table.close()).expect_err("a section is open");
    assert_eq!(refused.status, Status(sys::HAFT_IN_SECTION));
    let table = refused.opened;
    let ship = table.worker()?.insert(1u64)?;
    table.free(ship)?;
    table.close()?;
    Ok(())
}

#[test]
fn a_domain_that_cannot_be_closed_is_handed_back() -> Result<()> {
    let domain = Domain::open()?;
    mem::forget(domain.table::<u64>("forgotten", 100)?);
    let refused = domain.close().expect_err("a table is open");
    assert_eq!(refused.status, Status(sys::HAFT_IN_USE));
    let domain = refused.opened;
    domain.table::<u64>("ships", 100)?.close()?;
    assert_eq!(Status::from(domain.close().expect_err("a table is open")), refused.status);
    Ok(())
}
