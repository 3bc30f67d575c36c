//! Hands over to the library, and turns the outcome into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(edio::cli::main())
}
