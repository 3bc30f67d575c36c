//! The MCP server: what agents can ask of edio, over standard input and output.
//!
//! [`tools`] has a file for each tool: its arguments, its answer (their comments are what the model reads), and its run.
//! [`server`] hands each call to its tool, on a thread of its own, in a workspace that is opened anew: a repository may
//! appear, change its settings or go while the server lives. The protocol itself is the SDK's.

mod argument;
mod call;
mod client;
mod progress;
mod record;
mod schema;
mod server;
mod streams;
mod surface;
mod tools;

pub use self::call::Host;
pub use self::server::serve;
