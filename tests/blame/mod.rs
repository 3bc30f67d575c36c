//! `edio blame`: who wrote each line.

mod places;
mod random;
pub mod story;
mod table;
mod why;
