//! `edio blame`: who wrote each line.

mod random;
pub mod story;
mod table;
