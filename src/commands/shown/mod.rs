//! How what several verbs show looks, as text and as JSON: one file for each thing that is shown.

pub mod calls;
pub mod first;
pub mod held;
pub mod owners;
pub mod plan;
pub mod record;
pub mod stat;
pub mod unstaged;
