//! Entries in a JSON file.

use jsonc_parser::ast;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Entry, Language, Refusal, Value};

pub(super) fn put(text: &str, entries: &[Entry]) -> Result<String, Refusal> {
    check(text, entries)?;
    let root = parse(text)?;
    let Some(top) = root.object_value_or_create() else {
        return Err(Refusal::new("it is not an object"));
    };
    let mut is_changed = false;
    for entry in entries {
        is_changed |= put_entry(&top, entry).unwrap_or(false);
    }
    Ok(match is_changed {
        true => root.to_string(),
        false => text.to_owned(),
    })
}

/// Puts one entry in. Returns whether that changed anything; `None` where it doesn't fit, which is checked before.
fn put_entry(top: &CstObject, entry: &Entry) -> Option<bool> {
    match entry {
        Entry::Named(path, value) => {
            let (name, above) = path.split_last()?;
            let holder = descend(top, above)?;
            match holder.get(name) {
                None => drop(holder.append(name, input(value))),
                Some(_) => return complete(&holder.object_value(name)?, value),
            }
        }
        Entry::Listed(path, value) => {
            let (name, above) = path.split_last()?;
            let list = descend(top, above)?.array_value_or_create(name)?;
            if list.elements().iter().any(|element| holds(element, value)) {
                return Some(false);
            }
            list.append(input(value));
        }
        Entry::Needed(name, value) => match top.get(name) {
            Some(_) => return Some(false),
            None => drop(top.insert(0, name, input(value))),
        },
        Entry::Lines(_) | Entry::Whole(_) | Entry::Program(_) => return None,
    }
    Some(true)
}

fn descend(top: &CstObject, path: &[&str]) -> Option<CstObject> {
    path.iter().try_fold(top.clone(), |object, name| {
        object.object_value_or_create(name)
    })
}

/// Gives an object the members that it lacks, unless it runs something else.
fn complete(object: &CstObject, value: &Value) -> Option<bool> {
    let Value::Object(members) = value else {
        return None;
    };
    if words(object).is_some_and(|words| Some(words) == words_of(value)) {
        return Some(false);
    }
    let command = members.iter().find(|(name, _)| *name == "command");
    let command = command.and_then(|(_, command)| command_in(command));
    let present = object.get("command").and_then(|member| member.value());
    let is_of_its_own = object.get("url").is_some()
        || present.is_some_and(|present| command_at(&present) != command)
        || object.get("args").is_some();
    let mut is_changed = false;
    for (name, value) in members {
        if !is_of_its_own && object.get(name).is_none() {
            object.append(name, input(value));
            is_changed = true;
        }
    }
    Some(is_changed)
}

pub(super) fn take_out(
    text: &str,
    before: Option<&str>,
    entries: &[Entry],
) -> Result<(String, Option<Refusal>), Refusal> {
    check(text, entries)?;
    let root = parse(text)?;
    let Some(top) = root.object_value() else {
        return Ok((text.to_owned(), None));
    };
    let past = Past {
        is_known: before.is_some(),
        object: before
            .and_then(|before| parse(before).ok())
            .and_then(|root| root.object_value()),
    };
    let mut is_changed = false;
    // What the file needed for the rest goes last.
    for entry in entries.iter().rev() {
        is_changed |= match entry {
            Entry::Needed(..) if !past.is_known && !is_changed => false,
            Entry::Needed(name, _) => take_needed(&top, past.object.as_ref(), name, entries),
            entry => take_entry(&top, &past, entry).unwrap_or(false),
        };
    }
    let rest = match is_changed {
        true => root.to_string(),
        false => text.to_owned(),
    };
    let left = entries.iter().find_map(|entry| left_of(&top, entry));
    Ok((rest, left.filter(|_| !past.is_known)))
}

/// What a file had before edio came.
struct Past {
    /// Is that known? If not, only what is to the letter what edio writes is edio's.
    is_known: bool,
    object: Option<CstObject>,
}

impl Past {
    /// Is what stands there now edio's, where it was not there before?
    fn lets_go(&self, node: &CstNode, value: &Value) -> bool {
        self.is_known || is_same(node, value)
    }
}

/// What still stands where an entry belongs.
fn left_of(top: &CstObject, entry: &Entry) -> Option<Refusal> {
    let (path, stands) = match entry {
        Entry::Named(path, _) => (path, find(top, path).is_some()),
        Entry::Listed(path, value) => {
            let list = find_list(top, path)?.elements();
            (path, list.iter().any(|one| holds(one, value)))
        }
        Entry::Needed(..) | Entry::Lines(_) | Entry::Whole(_) | Entry::Program(_) => return None,
    };
    stands.then(|| Refusal::changed(path))
}

/// Takes one entry out. Returns whether it was there; `None` where it was not, or is the user's.
fn take_entry(top: &CstObject, past: &Past, entry: &Entry) -> Option<bool> {
    let before = past.object.as_ref();
    match entry {
        Entry::Named(path, value) => {
            let had = before.and_then(|before| find(before, path));
            if let Some(had) = had {
                return take_members(&find(top, path)?, &had, value);
            }
            let (name, above) = path.split_last()?;
            let member = find(top, above)?.get(name)?;
            if !past.lets_go(&member.value()?, value) {
                return None;
            }
            member.remove();
            remove_empty(top, before, path);
        }
        Entry::Listed(path, value) => {
            let holding = |list: &CstArray| -> Vec<CstNode> {
                let elements = list.elements().into_iter();
                elements.filter(|one| holds(one, value)).collect()
            };
            let had = before.and_then(|before| find_list(before, path));
            if had.is_some_and(|had| !holding(&had).is_empty()) {
                return None;
            }
            let mut found = holding(&find_list(top, path)?);
            found.retain(|one| past.lets_go(one, value));
            if found.is_empty() {
                return None;
            }
            found.into_iter().for_each(|one| take_handler(one, value));
            remove_empty(top, before, path);
        }
        Entry::Needed(..) | Entry::Lines(_) | Entry::Whole(_) | Entry::Program(_) => return None,
    }
    Some(true)
}

/// Takes those members out of an object that it had not before.
fn take_members(object: &CstObject, had: &CstObject, value: &Value) -> Option<bool> {
    let Value::Object(members) = value else {
        return None;
    };
    let added = members.iter().filter(|(name, _)| had.get(name).is_none());
    let added: Vec<_> = added.filter_map(|(name, _)| object.get(name)).collect();
    let is_changed = !added.is_empty();
    added.into_iter().for_each(|member| member.remove());
    Some(is_changed)
}

/// Takes out what the file needed for entries that are all gone.
fn take_needed(top: &CstObject, before: Option<&CstObject>, name: &str, entries: &[Entry]) -> bool {
    let is_used = entries.iter().any(|entry| match entry {
        Entry::Named(path, _) | Entry::Listed(path, _) => {
            let stands = |object: &CstObject| path.first().map(|first| object.get(first).is_some());
            stands(top) == Some(true) && before.and_then(stands) != Some(true)
        }
        _ => false,
    });
    let had = before.is_some_and(|before| before.get(name).is_some());
    match top.get(name).filter(|_| !is_used && !had) {
        Some(needed) => needed.remove(),
        None => return false,
    }
    true
}

/// Takes a handler out of its group, or the group with it where it has no other.
fn take_handler(element: CstNode, value: &Value) {
    let wanted = words_of(value);
    let handlers = element
        .as_object()
        .and_then(|group| group.array_value("hooks"));
    let others = handlers.as_ref().map_or(0, |handlers| {
        let handlers = handlers.elements();
        let others = handlers.iter().filter(|one| node_words(one) != wanted);
        others.count()
    });
    match handlers {
        Some(handlers) if others > 0 => {
            let ours = handlers.elements().into_iter();
            ours.filter(|one| node_words(one) == wanted)
                .for_each(CstNode::remove);
        }
        _ => element.remove(),
    }
}

/// Removes what is empty on a path, the innermost first, but for what was there before.
fn remove_empty(top: &CstObject, before: Option<&CstObject>, path: &[&str]) {
    for length in (1..=path.len()).rev() {
        let path = &path[..length];
        let Some((name, above)) = path.split_last() else {
            return;
        };
        let Some(found) = find(top, above).and_then(|holder| holder.get(name)) else {
            continue;
        };
        let is_empty = found
            .object_value()
            .is_some_and(|o| o.properties().is_empty())
            || found.array_value().is_some_and(|a| a.elements().is_empty());
        let had = before
            .and_then(|before| find(before, above))
            .is_some_and(|holder| holder.get(name).is_some());
        if !is_empty || had {
            return;
        }
        found.remove();
    }
}

pub(super) fn has(text: &str, entries: &[Entry]) -> Result<Vec<bool>, Refusal> {
    check(text, entries)?;
    let top = parse(text)?.object_value();
    let has = |entry: &Entry| {
        let top = top.as_ref()?;
        match entry {
            Entry::Named(path, _) => find(top, path)?.get("command").map(drop),
            Entry::Listed(path, value) => {
                let list = find_list(top, path)?.elements();
                list.iter().any(|one| holds(one, value)).then_some(())
            }
            Entry::Needed(name, _) => top.get(name).map(drop),
            Entry::Lines(_) | Entry::Whole(_) | Entry::Program(_) => None,
        }
    };
    // What only serves the others says nothing of its own.
    let told = entries
        .iter()
        .filter(|entry| !matches!(entry, Entry::Needed(..)));
    Ok(told.map(|entry| has(entry).is_some()).collect())
}

/// Is nothing there but an empty object?
pub(super) fn is_empty(text: &str) -> bool {
    let Ok(root) = parse(text) else {
        return false;
    };
    let has_comment = |nodes: Vec<CstNode>| nodes.iter().any(CstNode::is_comment);
    match root.value() {
        None => text.trim().is_empty(),
        Some(value) => value.as_object().is_some_and(|object| {
            object.properties().is_empty()
                && !has_comment(object.children())
                && !has_comment(root.children())
        }),
    }
}

/// Where a text has a comment or a comma at the end that its program doesn't take.
pub(super) fn ignored(text: &str, language: Language) -> Option<Refusal> {
    let options = match language {
        Language::StrictJson => STRICT,
        Language::CommentedJson => COMMENTED,
        Language::Jsonc | Language::Toml | Language::Yaml | Language::Text => return None,
    };
    let error = parse_to_ast(text, &CollectOptions::default(), &options).err()?;
    let what = match error.kind() {
        ParseErrorKind::CommentsNotAllowed => "a comment",
        ParseErrorKind::TrailingCommasNotAllowed => "a comma at the end",
        _ => return None,
    };
    Some(Refusal::at(text, error.range().start, what))
}

/// JSON as its standard has it.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_trailing_commas: false,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// With comments.
const COMMENTED: ParseOptions = ParseOptions {
    allow_comments: true,
    ..STRICT
};

/// With comments, and a comma after the last.
const WITH_COMMAS: ParseOptions = ParseOptions {
    allow_trailing_commas: true,
    ..COMMENTED
};

fn unreadable(text: &str, error: &ParseError) -> Refusal {
    let what = error.kind().to_string();
    let mut letters = what.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let what: String = first.into_iter().chain(letters).collect();
    Refusal::at(text, error.range().start, what)
}

fn parse(text: &str) -> Result<CstRootNode, Refusal> {
    CstRootNode::parse(text, &WITH_COMMAS).map_err(|error| unreadable(text, &error))
}

/// Sees that nothing else stands where an entry belongs.
fn check(text: &str, entries: &[Entry]) -> Result<(), Refusal> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &WITH_COMMAS)
        .map_err(|error| unreadable(text, &error))?;
    let Some(value) = &parsed.value else {
        return Ok(());
    };
    for entry in entries {
        match entry {
            Entry::Named(path, _) => check_path(text, value, path, Wanted::Object)?,
            Entry::Listed(path, _) => check_path(text, value, path, Wanted::List)?,
            _ => check_path(text, value, &[], Wanted::Object)?,
        }
    }
    Ok(())
}

/// What must stand at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Object,
    List,
}

fn check_path(
    text: &str,
    value: &ast::Value<'_>,
    path: &[&str],
    wanted: Wanted,
) -> Result<(), Refusal> {
    let mut value = value;
    let mut told = "the file".to_owned();
    for name in path {
        let object = value
            .as_object()
            .ok_or_else(|| wrong(text, value, &told, Wanted::Object))?;
        let mut found = object
            .properties
            .iter()
            .filter(|member| member.name.as_str() == *name);
        let Some(member) = found.next() else {
            return Ok(());
        };
        if let Some(second) = found.next() {
            let what = format!("\"{name}\" stands there twice");
            return Err(Refusal::at(text, second.range.start, what));
        }
        value = &member.value;
        told = format!("\"{name}\"");
    }
    let fits = match wanted {
        Wanted::Object => value.as_object().is_some(),
        Wanted::List => value.as_array().is_some(),
    };
    match fits {
        true => Ok(()),
        false => Err(wrong(text, value, &told, wanted)),
    }
}

fn wrong(text: &str, value: &ast::Value<'_>, told: &str, wanted: Wanted) -> Refusal {
    use jsonc_parser::common::Ranged;
    let wanted = match wanted {
        Wanted::Object => "an object",
        Wanted::List => "a list",
    };
    let start = value.range().start;
    Refusal::at(text, start, format!("{told} is not {wanted}"))
}

fn find(top: &CstObject, path: &[&str]) -> Option<CstObject> {
    path.iter()
        .try_fold(top.clone(), |object, name| object.object_value(name))
}

fn find_list(top: &CstObject, path: &[&str]) -> Option<CstArray> {
    let (name, above) = path.split_last()?;
    find(top, above)?.array_value(name)
}

/// Is this the handler, or a group that has it; or the string?
fn holds(element: &CstNode, value: &Value) -> bool {
    if let Value::Text(wanted) = value {
        return text(element).as_deref() == Some(*wanted);
    }
    let wanted = words_of(value);
    let Some(object) = element.as_object().filter(|_| wanted.is_some()) else {
        return false;
    };
    let group = object.array_value("hooks").map(|list| list.elements());
    words(&object) == wanted
        || group.is_some_and(|group| group.iter().any(|one| node_words(one) == wanted))
}

/// Does a node mean just this value, whatever its white space and its order?
fn is_same(node: &CstNode, value: &Value) -> bool {
    match value {
        Value::Text(wanted) => text(node).as_deref() == Some(*wanted),
        Value::Number(wanted) => {
            let number = node.as_number_lit();
            number.is_some_and(|number| number.to_string() == wanted.to_string())
        }
        Value::Bool(wanted) => {
            let answer = node.as_boolean_lit();
            answer.is_some_and(|answer| answer.value() == *wanted)
        }
        Value::List(wanted) => node.as_array().is_some_and(|list| {
            let items = list.elements();
            let mut pairs = items.iter().zip(wanted);
            items.len() == wanted.len() && pairs.all(|(item, wanted)| is_same(item, wanted))
        }),
        Value::Object(wanted) => node.as_object().is_some_and(|object| {
            let has = |(name, wanted): &(&str, Value)| {
                let member = object.get(name).and_then(|member| member.value());
                member.is_some_and(|member| is_same(&member, wanted))
            };
            object.properties().len() == wanted.len() && wanted.iter().all(has)
        }),
    }
}

/// What a command line stands under.
const COMMANDS: [&str; 2] = ["command", "bash"];

/// The command line that an object names, its arguments beside the command or in it.
fn words(object: &CstObject) -> Option<String> {
    let command = COMMANDS.iter().find_map(|name| object.get(name))?;
    let command = command_at(&command.value()?)?;
    let args = object.array_value("args").map(|args| args.elements());
    let words = args.unwrap_or_default();
    let words = words.iter().filter_map(text);
    Some(joined(std::iter::once(command).chain(words)))
}

/// A command: a string, or a list of them.
fn command_at(node: &CstNode) -> Option<String> {
    match node.as_array() {
        Some(list) => Some(joined(list.elements().iter().filter_map(text))),
        None => text(node),
    }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

fn text(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

fn node_words(node: &CstNode) -> Option<String> {
    words(&node.as_object()?)
}

/// The command line that a value names, itself or in its group.
fn words_of(value: &Value) -> Option<String> {
    let Value::Object(members) = value else {
        return None;
    };
    let member = |wanted: &str| {
        let mut members = members.iter();
        members.find(|(name, _)| *name == wanted).map(|(_, v)| v)
    };
    let Some(command) = COMMANDS.iter().find_map(|name| member(name)) else {
        return match member("hooks") {
            Some(Value::List(group)) => group.first().and_then(words_of),
            _ => None,
        };
    };
    let command = command_in(command)?;
    let args = member("args").and_then(command_in);
    Some(joined(std::iter::once(command).chain(args)))
}

/// A command: a string, or a list of them.
fn command_in(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some((*text).to_owned()),
        Value::List(items) => Some(joined(items.iter().filter_map(command_in))),
        _ => None,
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Text(text) => CstInputValue::String((*text).to_owned()),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::Bool(answer) => CstInputValue::Bool(*answer),
        Value::List(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let member = |(name, value): &(&str, Value)| ((*name).to_owned(), input(value));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
}
