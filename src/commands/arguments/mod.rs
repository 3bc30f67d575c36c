//! Arguments that several verbs take, and what is made of them.

pub mod checkout;
pub mod lines;
