//! Compiles, but with --cfg escape='...' not: each of these would let a reference leave its section or outlive
//! its guard, or a worker leave its thread.

use haft::{Counted, Domain, Result};

fn main() -> Result<()> {
    let domain = Domain::open()?;
    let table = domain.table("ships", 100)?;
    let worker = table.worker()?;
    let ship = worker.insert_wait(9u64)?;

    #[cfg(not(escape))]
    println!("{}", worker.section(|objects| *objects.resolve(ship).unwrap()));

    #[cfg(escape = "returned")]
    println!("{}", worker.section(|objects| objects.resolve(ship)).unwrap());

    #[cfg(escape = "kept")]
    {
        let mut kept = None;
        worker.section(|objects| kept = objects.resolve(ship));
        println!("{:?}", kept);
    }

    #[cfg(escape = "worker_sent")]
    std::thread::scope(|scope| scope.spawn(|| worker.free(ship)).join().unwrap())?;

    #[cfg(escape = "table_closed")]
    {
        table.close()?;
        worker.free(ship)?;
    }

    let sessions = Counted::open("sessions", 10)?;
    let session = sessions.insert(String::from("a session"))?;

    #[cfg(not(escape))]
    println!("{}", *sessions.acquire(session).unwrap());

    #[cfg(escape = "outlived")]
    {
        let outlived: &str = {
            let held = sessions.acquire(session).unwrap();
            &held
        };
        println!("{}", outlived);
    }

    #[cfg(escape = "held_at_close")]
    {
        let held = sessions.acquire(session).unwrap();
        sessions.close()?;
        println!("{}", *held);
    }

    #[cfg(escape = "to_be_dropped")]
    domain.table::<String>("names", 100)?;
    Ok(())
}
