//! Links the program to a fixed address, as Go's are. To move it to another at each start takes a fifth of the time that it
//! takes to start, and an agent's hook starts it at every tool call. What is given up makes it harder to use a fault of
//! memory; there is no unsafe code here to have one.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo says in variables what it builds for"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // Elsewhere such a program is unknown; and how one without shared libraries begins is for rustc to choose.
    let is_static = of_target("FEATURE")
        .split(',')
        .any(|name| name == "crt-static");
    if of_target("OS") == "linux" && of_target("ENV") == "gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
