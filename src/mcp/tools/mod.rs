//! The tools, one a file.

mod accept;
mod diff;
mod log;
mod restore;
mod show;
mod snapshot;
mod status;
mod undo;

use std::borrow::Cow;

use rmcp::model::{JsonObject, Tool as Told, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{Call, Leave};
use super::schema;
use crate::error::{Error, Result};

/// A tool.
trait Tool {
    /// Its name. Clients put the server's name before it.
    const NAME: &'static str;
    /// Its name for a person.
    const TITLE: &'static str;
    /// What it does to the work tree.
    const EFFECT: Effect;
    /// Whether agents may use it.
    const LEAVE: Leave = Leave::Given;
    /// What it is given. The comment says what the tool is for.
    type Arguments: DeserializeOwned + JsonSchema;
    /// What it answers.
    type Answer: Serialize + JsonSchema;

    /// Runs it.
    fn run(call: &Call, arguments: Self::Arguments) -> Result<Self::Answer>;
}

/// What a tool does to the work tree, as clients ask people for their consent by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Looks,
    /// It adds something.
    Adds,
    /// It overwrites; a second time it finds nothing to do.
    Brings,
    /// It overwrites, each time something else.
    TakesBack,
}

/// A tool in the list of all of them.
pub struct Listed {
    /// Its name.
    pub name: &'static str,
    /// Its name for a person.
    pub title: &'static str,
    /// What it does to the work tree.
    pub effect: Effect,
    /// Whether agents may use it.
    pub leave: Leave,
    /// The schemas of its arguments and of its answer.
    schemas: fn() -> (JsonObject, JsonObject),
    /// Runs it.
    pub run: fn(&Call, JsonObject) -> Result<Value>,
}

/// All tools, in the order in which they are listed.
const ALL: [Listed; 8] = [
    Listed::of::<snapshot::Snapshot>(),
    Listed::of::<log::Log>(),
    Listed::of::<show::Show>(),
    Listed::of::<diff::Diff>(),
    Listed::of::<restore::Restore>(),
    Listed::of::<undo::Undo>(),
    Listed::of::<status::Status>(),
    Listed::of::<accept::Accept>(),
];

/// All tools.
pub fn all() -> &'static [Listed] {
    &ALL
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Listed> {
    ALL.iter().find(|tool| tool.name == name)
}

impl Listed {
    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            effect: T::EFFECT,
            leave: T::LEAVE,
            schemas: || {
                let arguments = schema::of_arguments::<T::Arguments>();
                (arguments, schema::of_answer::<T::Answer>())
            },
            run: run::<T>,
        }
    }

    /// The same tool with another run.
    #[cfg(test)]
    pub fn that_runs(&self, run: fn(&Call, JsonObject) -> Result<Value>) -> Self {
        Self { run, ..*self }
    }

    /// What clients are told of it.
    pub fn told(&self) -> Told {
        let (mut arguments, mut answer) = (self.schemas)();
        let about = match arguments.remove("description") {
            Some(Value::String(about)) => about,
            _ => String::new(),
        };
        answer.remove("description");
        Told::new_with_raw(self.name, Some(Cow::Owned(about)), arguments)
            .with_title(self.title)
            .with_raw_output_schema(answer.into())
            .with_annotations(self.effect.annotations(self.title))
    }
}

impl Effect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Effect::Looks)
            .destructive(matches!(self, Effect::Brings | Effect::TakesBack))
            .idempotent(matches!(self, Effect::Looks | Effect::Brings))
            .open_world(false)
    }
}

fn run<T: Tool>(call: &Call, arguments: JsonObject) -> Result<Value> {
    let arguments = match serde_json::from_value(Value::Object(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Of what is not allowed there is nothing to be said better.
            if call.leave != Leave::Given {
                drop(call.look()?);
            }
            let what = format!("{} can't be called with these arguments", T::NAME);
            return Err(Error::usage(what).because(error));
        }
    };
    let answer = T::run(call, arguments)?;
    serde_json::to_value(answer).map_err(|error| Error::bug("an answer is no JSON").because(error))
}
