//! Turns the description that `./dev api` writes into Rust's declarations, and says where the library is.
//!
//!   HAFT_API      the description
//!   HAFT_LIBDIR   the folder of libhaft.so

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs, process};

mod json;
use json::Json;

fn main() {
    let api = variable("HAFT_API", "the file that ./dev api writes");
    let folder = variable("HAFT_LIBDIR", "the folder of libhaft.so");
    println!("cargo:rerun-if-changed={}", api);
    println!("cargo:rustc-link-search=native={}", folder);
    println!("cargo:rustc-link-lib=dylib=haft");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder);

    let text = fs::read_to_string(&api).unwrap_or_else(|error| fail(&format!("{}: {}", api, error)));
    let described = json::parse(&text).unwrap_or_else(|error| fail(&format!("{}:{}", api, error)));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("haft.rs");
    fs::write(&out, declarations(&described)).unwrap_or_else(|error| fail(&error.to_string()));
}

fn fail(what: &str) -> ! {
    eprintln!("haft: {}", what);
    process::exit(1)
}

fn variable(name: &str, what: &str) -> String {
    println!("cargo:rerun-if-env-changed={}", name);
    env::var(name).unwrap_or_else(|_| fail(&format!("{} is not set: {}", name, what)))
}

fn declarations(api: &Json) -> String {
    let mut out = String::new();
    for (name, value) in api.get("constants").numbers() {
        writeln!(out, "pub const {}: u64 = {};", name, value).unwrap();
    }
    for each in api.get("enums").list() {
        writeln!(out, "pub type {} = u32;", each.get("name").text()).unwrap();
        for (name, value) in each.get("values").numbers() {
            writeln!(out, "pub const {}: u32 = {};", name, value).unwrap();
        }
    }
    for each in api.get("callbacks").list() {
        writeln!(out, "pub type {} = {};", each.get("name").text(), callback(each)).unwrap();
    }
    for each in api.get("structs").list() {
        write_struct(&mut out, each);
    }
    writeln!(out, "extern \"C\" {{").unwrap();
    for each in api.get("functions").list() {
        if !each.get("parameters").list().iter().any(|one| is_va_list(one.get("type"))) {
            write_function(&mut out, each);
        }
    }
    out + "}\n"
}

/// Rust has no stable type for it.
fn is_va_list(described: &Json) -> bool {
    described.get("kind").text() == "other"
}

fn write_struct(out: &mut String, each: &Json) {
    let name = each.get("name").text();
    let members = each.get("members").list();
    let has_atomics = members.iter().any(|member| rust_type(member.get("type")) == ATOMIC);
    let derived = if has_atomics { "" } else { "#[derive(Clone, Copy)]\n" };
    writeln!(out, "#[repr(C)]\n{}pub struct {} {{", derived, name).unwrap();
    for member in members {
        let (field, kind) = (member.get("name").text(), rust_type(member.get("type")));
        writeln!(out, "    pub {}: {},", rust_name(field), kind).unwrap();
    }
    match each.get("size").number() {
        Some(size) => writeln!(
            out,
            "}}\nconst _: () = assert!(std::mem::size_of::<{}>() == {}, \"{} is another size in C\");",
            name, size, name
        ),
        None => writeln!(out, "    _opaque: [u8; 0],\n}}"),
    }
    .unwrap();
}

fn write_function(out: &mut String, each: &Json) {
    if let Json::Object(fields) = each.get("contract") {
        for line in fields.iter().flat_map(|(key, text)| paragraph(key, text.text())) {
            writeln!(out, "    #[doc = {:?}]", line).unwrap();
        }
    }
    let more = if each.get("variadic").is_true() { ", ..." } else { "" };
    let name = each.get("name").text();
    writeln!(out, "    pub fn {}({}{}){};", name, parameters(each), more, result(each)).unwrap();
}

fn paragraph(key: &str, text: &str) -> Vec<String> {
    let first = if key == "summary" { String::new() } else { format!("{}: ", key) };
    let mut lines: Vec<String> = (first + text).lines().map(|line| format!(" {}", line)).collect();
    lines.push(String::new());
    lines
}

fn parameters(each: &Json) -> String {
    let list = each.get("parameters").list().iter().enumerate();
    list.map(|(number, one)| {
        let name = one.get("name").text();
        let name = if name.is_empty() { format!("argument{}", number) } else { rust_name(name) };
        format!("{}: {}", name, rust_type(one.get("type")))
    })
    .collect::<Vec<_>>()
    .join(", ")
}

fn result(each: &Json) -> String {
    match each.get("returns").get("kind").text() {
        "void" => String::new(),
        _ => format!(" -> {}", rust_type(each.get("returns"))),
    }
}

fn callback(each: &Json) -> String {
    format!("unsafe extern \"C\" fn({}){}", parameters(each), result(each))
}

fn rust_name(name: &str) -> String {
    match name {
        "type" | "move" | "ref" | "use" | "where" | "in" | "loop" | "match" | "box" => format!("{}_", name),
        _ => name.to_string(),
    }
}

const ATOMIC: &str = "std::sync::atomic::AtomicU64";

fn rust_type(described: &Json) -> String {
    let c = described.get("c").text();
    let bits = described.get("size").number().unwrap_or(0) * 8;
    match described.get("kind").text() {
        "void" => "std::os::raw::c_void".to_string(),
        "bool" => "bool".to_string(),
        "enum" => "u32".to_string(),
        "float" => format!("f{}", bits),
        "integer" if c.ends_with("size_t") => "usize".to_string(),
        "integer" if c.ends_with("char") => "std::os::raw::c_char".to_string(),
        "integer" if described.get("signed").is_true() => format!("i{}", bits),
        "integer" => format!("u{}", bits),
        "array" => {
            let count = described.get("count").number().unwrap_or(0);
            format!("[{}; {}]", rust_type(described.get("to")), count)
        }
        "pointer" => {
            let to = described.get("to");
            let said = to.get("c").text();
            let is_pointer = to.get("kind").text() == "pointer";
            let is_const = if is_pointer { said.ends_with("const") } else { said.starts_with("const ") };
            format!("*{} {}", if is_const { "const" } else { "mut" }, rust_type(to))
        }
        "callback" => match described.get("name").text() {
            "" => format!("Option<{}>", callback(described)),
            name => format!("Option<{}>", name),
        },
        "struct" => described.get("name").text().to_string(),
        "other" if c.ends_with("haft_atomic_u64") => ATOMIC.to_string(),
        kind => fail(&format!("'{}' is of a kind that Rust's declarations lack: {}", c, kind)),
    }
}
