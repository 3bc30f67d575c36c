//! `edio ui`: what it shows, what its keys do, and what is on disk then.

mod frames;
mod real;
mod terminal;
mod tmux;
