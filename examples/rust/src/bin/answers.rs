//! Replays a trace and prints what haft answers, row by row: the same bytes as in C, C++ and Python.
//!
//!     answers TRACE.csv

use haft::{Domain, Id, Worker};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, error, fs, io, process};

struct Object {
    number: u64,
    uses: AtomicU64,
}

type Answer = Result<String, Box<dyn error::Error>>;

struct Replay<'t> {
    table: &'t haft::Table<'t, Object>,
    worker: Worker<'t, Object>,
    ids: HashMap<u64, Id<Object>>,
}

impl Replay<'_> {
    fn allocate(&mut self, number: u64) -> Answer {
        let id = self.worker.insert_wait(Object { number, uses: AtomicU64::new(0) })?;
        self.ids.insert(number, id);
        Ok(format!("{} {}", self.table.text(id), id.bits()))
    }

    fn use_it(&self, number: u64) -> Answer {
        let id = self.ids[&number];
        self.worker.section(|objects| {
            let found = objects.resolve(id).ok_or("the object is not found")?;
            let uses = found.uses.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(format!("{} {}", found.number, uses))
        })
    }

    fn free(&mut self, number: u64) -> Answer {
        let id = self.ids.remove(&number).expect("carry_out has looked");
        self.worker.free(id)?;
        let second = match self.worker.free(id) {
            Ok(()) => "freed twice".to_string(),
            Err(status) => format!("{} {}", status.name(), status),
        };
        Ok(format!("{} {}", self.table.text(id), second))
    }

    fn carry_out(&mut self, op: &str, number: u64) -> Answer {
        match (op, self.ids.contains_key(&number)) {
            ("a", true) => Err("the object is allocated".into()),
            ("a", false) => self.allocate(number),
            (_, false) => Err("the object is not allocated".into()),
            ("u", true) => self.use_it(number),
            (_, true) => self.free(number),
        }
    }
}

/// A row, "thread,op,object".
fn row(text: &str) -> Option<(&str, u64)> {
    let mut fields = text.split(',');
    fields.next()?.parse::<u64>().ok()?;
    let op = fields.next().filter(|op| ["a", "u", "f"].contains(op))?;
    let number = fields.next()?.parse().ok()?;
    fields.next().is_none().then(|| (op, number))
}

fn replay(path: &str, out: &mut impl Write) -> Result<(), Box<dyn error::Error>> {
    let domain = Domain::open()?;
    let table = domain.table("answers", 1 << 16)?;
    let mut replay = Replay { table: &table, worker: table.worker()?, ids: HashMap::new() };
    let file = fs::File::open(path).map_err(|error| format!("{}: {}", path, error))?;

    for (line, text) in (1..).zip(BufReader::new(file).lines()) {
        let text = text?;
        if text.starts_with('#') {
            continue;
        }
        let at = |what: &dyn std::fmt::Display| format!("{}:{}: {}", path, line, what);
        let (op, number) = row(&text).ok_or_else(|| at(&"not a row: thread,op,object with op a, u or f"))?;
        let answer = replay.carry_out(op, number).map_err(|error| at(&error))?;
        writeln!(out, "{} {} {} {}", line, op, number, answer)?;
    }
    writeln!(out, "{} live", table.stats().live)?;
    Ok(out.flush()?)
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if arguments.len() != 2 {
        eprintln!("Usage: answers TRACE.csv");
        process::exit(2);
    }
    if let Err(error) = replay(&arguments[1], &mut BufWriter::new(io::stdout())) {
        eprintln!("answers: {}", error);
        process::exit(1);
    }
}
