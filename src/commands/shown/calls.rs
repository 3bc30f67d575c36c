//! The uses of tools: a row each, and a record each.

use serde::Serialize;
use serde_json::Value;

use crate::history::conversation::{Call, Entry};
use crate::term::{style, text, time};

/// What a tool is given that says most about what it does.
const TELLING: [&str; 12] = [
    "command",
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "CommandLine",
    "command_line",
];

/// A use of a tool.
#[derive(Serialize)]
pub struct CallRecord {
    agent: String,
    tool: String,
    tool_call: Option<String>,
    helper: Option<String>,
    input: Option<String>,
    result: Option<String>,
    failed: bool,
    turn: Option<u32>,
    step: Option<u32>,
    time: String,
}

/// Those among what was said and done, the last one first, as turns are listed.
pub fn of(entries: &[Entry]) -> Vec<CallRecord> {
    let calls = entries.iter().rev();
    calls.filter_map(CallRecord::new).collect()
}

impl CallRecord {
    fn new(entry: &Entry) -> Option<Self> {
        let call = entry.call()?;
        Some(Self {
            agent: entry.agent.clone(),
            tool: call.tool.clone(),
            tool_call: call.id.clone(),
            helper: call.helper.clone(),
            input: call.input.clone(),
            result: call.result.clone(),
            failed: call.failed,
            turn: call.step.map(|step| step.turn),
            step: call.step.and_then(|step| step.as_step()),
            time: time::rfc3339(entry.at),
        })
    }

    /// The tool, what it was given in a few words, and whether it failed.
    pub fn in_short(&self) -> (String, String, bool) {
        const INPUT: usize = 100;
        let input = self.input.as_deref().map(in_short).unwrap_or_default();
        let input = text::shorten(&text::plain(input.as_bytes()), INPUT);
        (self.tool.clone(), input, self.failed)
    }

    /// `7.2  Edit  src/a.rs`, and the first line of what came of it. What a helper did is set off.
    pub fn row(&self) -> String {
        const TOOL: usize = 14;
        const INPUT: usize = 48;
        const RESULT: usize = 72;
        let step = match (self.turn, self.step) {
            (Some(turn), Some(step)) => format!("{turn}.{step}"),
            _ => "-".to_owned(),
        };
        let nested = match self.helper {
            Some(_) => "└ ",
            None => "",
        };
        let tool = format!("{nested}{}", text::plain(self.tool.as_bytes()));
        let tool = text::shorten(&tool, TOOL);
        let input = self.input.as_deref().map(in_short).unwrap_or_default();
        let input = text::shorten(&text::plain(input.as_bytes()), INPUT);
        let result = first_line(self.result.as_deref().unwrap_or_default());
        let result = text::shorten(&text::plain(result.as_bytes()), RESULT);
        let result = match self.failed {
            true => style::removed(format!("failed: {result}")).to_string(),
            false => style::dim(result).to_string(),
        };
        let row = format!("      {step:>6}  {tool:<TOOL$}  {input:<INPUT$}  {result}");
        row.trim_end().to_owned()
    }
}

/// What an input says in a few words.
fn in_short(input: &str) -> String {
    let value: Option<Value> = serde_json::from_str(input).ok();
    let told = value.as_ref().and_then(|value| {
        let mut texts = TELLING.iter().filter_map(|key| value.get(key)?.as_str());
        texts.next()
    });
    first_line(told.unwrap_or(input)).to_owned()
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// What was given to a tool, in lines that a person can read.
pub fn input_in_lines(call: &Call) -> Option<String> {
    let input = call.input.as_ref()?;
    match serde_json::from_str::<Value>(input) {
        Ok(Value::Object(map)) => {
            let line = |(key, value): (&String, &Value)| match value {
                Value::String(text) => format!("{key}: {text}"),
                other => format!("{key}: {other}"),
            };
            Some(map.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        _ => Some(input.clone()),
    }
}
