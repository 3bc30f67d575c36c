//! Turns as Markdown: what a reviewer wants to read.
//!
//! What comes from a person, an agent or a file stands in a fence or a span of code that it can't end, or is escaped: it
//! can't make a heading, a link, a mention or HTML.

use std::io::Read;

use super::super::shown::calls;
use super::super::{Context, Printed};
use crate::error::Result;
use crate::history::compare::Comparison;
use crate::history::conversation::{self, Entry, What};
use crate::history::export::Stretch;
use crate::history::git::PatchStyle;
use crate::history::session::Session;
use crate::history::turn::{Kind, Turn};
use crate::history::workspace::Workspace;
use crate::term::{text, time};

/// Prints the turns.
///
/// # Errors
///
/// There is no such turn, or git failed.
pub fn print(context: &mut Context, meant: Option<&Comparison>, no_diff: bool) -> Result<()> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let stretch = Stretch::of(&workspace, &session, meant)?.not_empty()?;
    let turns: Vec<&Turn> = stretch.turns.iter().collect();
    let said = conversation::of_each(&workspace, &turns)?;
    let mut page = head(&session, &stretch);
    for ((before, turn), said) in stretch.pairs().zip(&said) {
        page.push_str(&about(turn, said));
        page.push_str(&files(&workspace, before, turn, no_diff)?);
    }
    if context.term.is_json() {
        let record = serde_json::json!({ "session": session.id.as_str(), "markdown": page });
        return context.term.record(&record).printed();
    }
    context.term.line(page.trim_end()).printed()
}

fn head(session: &Session, stretch: &Stretch) -> String {
    let first = stretch.turns.first().map_or("", |turn| title(turn));
    let heading = match stretch.turns.as_slice() {
        [_] => inline(first),
        turns => format!("{} (and {} more)", inline(first), turns.len() - 1),
    };
    let mut page = format!("# {heading}\n\nSession {}", code(session.id.as_str()));
    if let Some(head) = &stretch.base.note.head.commit {
        page.push_str(&format!(", on {}", code(head.short())));
    }
    let mut agents: Vec<String> = Vec::new();
    for agent in stretch.turns.iter().filter_map(agent) {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    if !agents.is_empty() {
        page.push_str(&format!(", by {}", agents.join(", ")));
    }
    page.push_str(".\n");
    if !stretch.left.is_empty() {
        let left: Vec<String> = stretch.left.iter().map(ToString::to_string).collect();
        let left = left.join(", ");
        page.push_str(&format!(
            "\nLeft behind by a restore, and not in here: {left}.\n"
        ));
    }
    page.push_str("\n| turn | who | when | what | files | lines |\n");
    page.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for turn in &stretch.turns {
        let stat = &turn.note.stat;
        page.push_str(&format!(
            "| {} | {} | {} | {} | {} | +{} -{} |\n",
            turn.number(),
            who(turn),
            time::rfc3339(turn.seconds),
            inline(title(turn)),
            stat.files,
            stat.added,
            stat.removed
        ));
    }
    page
}

fn title(turn: &Turn) -> &str {
    let prompt = turn.note.work.prompt.as_deref();
    let subject = turn.note.subject();
    match subject.is_empty() {
        true => prompt.unwrap_or("a turn"),
        false => subject,
    }
}

fn agent(turn: &Turn) -> Option<String> {
    let work = &turn.note.work;
    let agent = inline(work.agent.as_deref()?);
    Some(match &work.model {
        Some(model) => format!("{agent} ({})", inline(model)),
        None => agent,
    })
}

fn who(turn: &Turn) -> String {
    agent(turn).unwrap_or_else(|| match turn.note.kind {
        Kind::Turn => "-".to_owned(),
        kind => kind.to_string(),
    })
}

/// What was asked, what was answered, and what was done.
fn about(turn: &Turn, said: &[Entry]) -> String {
    let mut part = format!("\n## Turn {}: {}\n", turn.number(), inline(title(turn)));
    let prompts: Vec<&str> = said
        .iter()
        .filter_map(|entry| match &entry.what {
            What::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    match prompts.is_empty() {
        true => part.push_str(&paragraph("Message", &turn.note.message)),
        false => prompts
            .iter()
            .for_each(|text| part.push_str(&paragraph("Prompt", text))),
    }
    for entry in said {
        if let What::Reply(text) = &entry.what {
            part.push_str(&paragraph("Closing words", text));
        }
    }
    let calls = calls::of(said);
    if !calls.is_empty() {
        part.push_str("\n**Tools**\n\n");
    }
    for call in calls.iter().rev() {
        let (tool, input, failed) = call.in_short();
        let input = match input.is_empty() {
            true => String::new(),
            false => format!(" {}", code(&input)),
        };
        let failed = if failed { " (failed)" } else { "" };
        part.push_str(&format!("- {}{input}{failed}\n", inline(&tool)));
    }
    part
}

fn paragraph(name: &str, said: &str) -> String {
    let said = text::plain_lines(said.trim().as_bytes());
    format!("\n**{name}**\n\n{}", fenced("text", &said))
}

fn files(workspace: &Workspace, before: &Turn, turn: &Turn, no_diff: bool) -> Result<String> {
    let changes = workspace.git.differences(&before.tree, &turn.tree)?;
    if changes.is_empty() {
        return Ok("\nNo file was changed.\n".to_owned());
    }
    let mut part = "\n**Files**\n\n".to_owned();
    for change in &changes {
        let path = text::path(change.path.as_bytes());
        part.push_str(&format!("- {} {}\n", change.letter(), code(&path)));
    }
    if !no_diff {
        let style = PatchStyle { color: false };
        let mut answer = workspace.git.patch(&before.tree, &turn.tree, &[], &style)?;
        let mut patch = Vec::new();
        let read = answer.reader.read_to_end(&mut patch);
        read.map_err(|error| answer.broken(error))?;
        answer.close()?;
        part.push('\n');
        part.push_str(&fenced("diff", &text::plain_lines(&patch)));
    }
    Ok(part)
}

/// The longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

/// A block of code that nothing in it can end.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A span of code in a line.
fn code(text: &str) -> String {
    let text = text::plain(text.as_bytes());
    let fence = "`".repeat(longest_run(&text) + 1);
    match text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// Text in a line that is nothing but text.
fn inline(text: &str) -> String {
    const LONGEST: usize = 100;
    let text = text::shorten(&text::plain(text.as_bytes()), LONGEST);
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '@' => escaped.push_str("&#64;"),
            '|' => escaped.push_str("&#124;"),
            '#' => escaped.push_str("&#35;"),
            ':' => escaped.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_fence() {
        assert_eq!(fenced("text", "a"), "```text\na\n```\n");
        assert_eq!(fenced("diff", "````\nx"), "`````diff\n````\nx\n`````\n");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
    }

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            inline("<b> [x](http://y) @me #1 a|b `c` *d*"),
            "&lt;b&gt; \\[x\\](http&#58;//y) &#64;me &#35;1 a&#124;b \\`c\\` \\*d\\*"
        );
    }
}
