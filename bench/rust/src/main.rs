//! Rust's tables on the same workloads, with the same names, flags and JSON as the C++ programs.
//!
//!   haft-bench-peers [--list] [--filter=<part of a name>] [--min-time=<seconds>]
//!   haft-bench-peers --pauses=<seconds>     what bench/pauses.cc does, and nothing else
//!
//! --filter may stand several times; a case runs that one of them is part of (from '^' on: is the
//! beginning of).  The report goes to standard output.

#[cfg(debug_assertions)]
compile_error!("figures of a debug build say nothing: cargo build --release");

mod cases;
mod measure;
mod pauses;
mod tables;

use std::time::Duration;

struct Options {
    list: bool,
    filters: Vec<String>,
    least: Duration,
    pauses: Option<f64>,
}

fn options() -> Options {
    let mut options = Options {
        list: false,
        filters: Vec::new(),
        least: Duration::from_millis(500),
        pauses: None,
    };
    for argument in std::env::args().skip(1) {
        if argument == "--list" {
            options.list = true;
        } else if let Some(filter) = argument.strip_prefix("--filter=") {
            options.filters.push(filter.to_string());
        } else if let Some(seconds) = argument.strip_prefix("--min-time=") {
            let seconds = seconds.parse().expect("--min-time=<seconds>");
            options.least = Duration::from_secs_f64(seconds);
        } else if let Some(seconds) = argument.strip_prefix("--pauses=") {
            options.pauses = Some(seconds.parse().expect("--pauses=<seconds>"));
        } else {
            eprintln!("haft-bench-peers: unknown argument {}", argument);
            std::process::exit(2);
        }
    }
    options
}

fn is_wanted(filters: &[String], name: &str) -> bool {
    filters.is_empty()
        || filters.iter().any(|filter| match filter.strip_prefix('^') {
            Some(beginning) => name.starts_with(beginning),
            None => name.contains(filter.as_str()),
        })
}

fn report(rows: &[String]) {
    println!("{{\n  \"context\": {{");
    println!("    \"executable\": \"haft-bench-peers\",");
    println!("    \"rust_build\": \"release, opt-level 3\",");
    println!("    \"rustc\": \"{}\"\n  }},", option_env!("HAFT_BENCH_RUSTC").unwrap_or("unknown"));
    println!("  \"benchmarks\": [\n{}\n  ]\n}}", rows.join(",\n"));
}

fn main() {
    let options = options();
    // From then on malloc and locks work as in a program that shares a table.
    std::thread::spawn(|| ()).join().expect("a thread");
    if let Some(seconds) = options.pauses {
        pauses::measure_all(seconds);
        return;
    }
    let mut rows = Vec::new();
    for maker in cases::makers() {
        let mut case = maker();
        let name = case.name();
        if !is_wanted(&options.filters, &name) {
            continue;
        }
        if options.list {
            println!("{}", name);
            continue;
        }
        let (rate, rounds) = measure::measure(&mut case, options.least);
        rows.push(format!(
            "    {{\"name\": \"{}\", \"run_type\": \"iteration\", \"threads\": {}, \
             \"iterations\": {}, \"items_per_second\": {:.6e}}}",
            name, case.threads, rounds, rate
        ));
    }
    if !options.list {
        report(&rows);
    }
}
