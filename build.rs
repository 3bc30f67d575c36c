//! Links the program to a fixed address, as Go's are. To move it to another at each start would take as long as all that
//! edio does before it calls git; and an agent's hook starts it at every tool call.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo says in variables what it builds for"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Elsewhere a program that can't be moved is unknown, or its beginning is of rustc's choice.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
