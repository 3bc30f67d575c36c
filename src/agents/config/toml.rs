//! A table in a TOML file.
//!
//! The tree says where things stand, and the text is cut there: what is not edio's is not written anew, to the line ends.

use std::ops::Range;

use toml_edit::{Document, Item, Table, TableLike};

use super::lines::{with_lines, without_lines};
use super::{Entry, Refusal, Value};

pub(super) fn put(text: &str, entries: &[Entry]) -> Result<String, Refusal> {
    let mut whole = text.to_owned();
    for (path, value) in tables(entries) {
        let document = parse(&whole)?;
        let holder = holder(&whole, &document, path)?;
        if holder.is_some_and(|holder| has_name(holder, path)) {
            continue;
        }
        let inline = holder_item(&document, path).and_then(Item::as_inline_table);
        let put = match inline.and_then(|table| Some((table.is_empty(), table.span()?.end - 1))) {
            Some((is_empty, end)) => {
                let (head, tail) = whole.split_at(end);
                let head = head.trim_end_matches([' ', '\t']);
                let comma = if is_empty { "" } else { "," };
                let name = path.last().copied().unwrap_or_default();
                format!("{head}{comma} {name} = {} {tail}", inline_value(value))
            }
            None => with_lines(&whole, &table(path, value)),
        };
        let fits = parse(&put).is_ok_and(|document| {
            let holder = holder_item(&document, path).and_then(Item::as_table_like);
            holder.is_some_and(|holder| has_name(holder, path))
        });
        if !fits {
            return Err(Refusal::new(format!("{} can't be added to", path[0])));
        }
        whole = put;
    }
    Ok(whole)
}

pub(super) fn take_out(
    text: &str,
    before: Option<&str>,
    entries: &[Entry],
) -> Result<(String, Option<Refusal>), Refusal> {
    let (mut rest, mut left) = (text.to_owned(), None);
    for (path, value) in tables(entries) {
        let Some(before) = before else {
            let document = parse(&rest)?;
            let found = item(&document, path);
            if found.is_none_or(|found| is_same(found, value)) {
                rest = without_table(&rest, path)?;
            } else {
                left = Some(Refusal::changed(path));
            }
            continue;
        };
        let had = parse(before)
            .ok()
            .is_some_and(|document| item(&document, path).is_some());
        if !had {
            rest = without_table(&rest, path)?;
        }
    }
    Ok((rest, left))
}

/// Does an item mean just this value, in whatever form?
fn is_same(item: &Item, value: &Value) -> bool {
    match value {
        Value::Text(wanted) => item.as_str() == Some(*wanted),
        Value::Number(wanted) => item.as_integer() == Some(i64::from(*wanted)),
        Value::Bool(wanted) => item.as_bool() == Some(*wanted),
        Value::List(wanted) => item.as_array().is_some_and(|list| {
            let mut pairs = list.iter().zip(wanted);
            let same = |(item, wanted): (&toml_edit::Value, &Value)| {
                is_same(&Item::Value(item.clone()), wanted)
            };
            list.len() == wanted.len() && pairs.all(same)
        }),
        Value::Object(wanted) => item.as_table_like().is_some_and(|table| {
            let has = |(name, wanted): &(&str, Value)| {
                let member = table.get(name);
                member.is_some_and(|member| is_same(member, wanted))
            };
            table.len() == wanted.len() && wanted.iter().all(has)
        }),
    }
}

/// A text without the table at the end of a path, and the tables below it.
fn without_table(text: &str, path: &[&str]) -> Result<String, Refusal> {
    let document = parse(text)?;
    let Some(found) = item(&document, path) else {
        return Ok(text.to_owned());
    };
    if let Some(table) = found.as_table().filter(|table| !table.is_dotted()) {
        let mut spans = Vec::new();
        spans_of(table, &mut spans);
        spans.sort_by_key(|span| std::cmp::Reverse(span.start));
        let cut = |rest: String, span: Range<usize>| {
            let from = rest[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let end = rest[span.end..].find('\n');
            without_lines(&rest, from, end.map_or(rest.len(), |at| span.end + at + 1))
        };
        return Ok(spans.into_iter().fold(text.to_owned(), cut));
    }
    let is_inline = holder_item(&document, path).is_some_and(Item::is_inline_table);
    let from = key_span(&document, path).map(|span| span.start);
    match (is_inline, from, found.span()) {
        (true, Some(from), Some(value)) => Ok(without_member(text, from, value.end)),
        _ => {
            let from = from.unwrap_or_default();
            Err(Refusal::at(text, from, "it is not as edio wrote it"))
        }
    }
}

pub(super) fn has(text: &str, entries: &[Entry]) -> Result<Vec<bool>, Refusal> {
    let document = parse(text)?;
    let found = tables(entries).map(|(path, _)| item(&document, path).is_some());
    Ok(found.collect())
}

pub(super) fn by_hand(entries: &[Entry]) -> String {
    tables(entries)
        .map(|(path, value)| with_lines("", &table(path, value)))
        .collect()
}

fn tables(entries: &[Entry]) -> impl Iterator<Item = (&[&'static str], &Value)> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Named(path, value) => Some((path.as_slice(), value)),
        _ => None,
    })
}

fn parse(text: &str) -> Result<Document<&str>, Refusal> {
    Document::parse(text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join("; ");
        let start = error.span().map_or(0, |span| span.start);
        Refusal::at(text, start, what)
    })
}

/// What stands at the end of a path, but for its last name. `None` where nothing does.
fn holder<'a>(
    text: &str,
    document: &'a Document<&str>,
    path: &[&str],
) -> Result<Option<&'a dyn TableLike>, Refusal> {
    match holder_item(document, path) {
        None => Ok(None),
        Some(item) => match item.as_table_like() {
            Some(table) => match table.get(path.last().copied().unwrap_or_default()) {
                Some(entry) if !entry.is_table_like() => Err(not_a_table(text, entry, path)),
                _ => Ok(Some(table)),
            },
            None => Err(not_a_table(text, item, &path[..path.len() - 1])),
        },
    }
}

fn not_a_table(text: &str, item: &Item, path: &[&str]) -> Refusal {
    let start = item.span().map_or(0, |span| span.start);
    Refusal::at(text, start, format!("{} is not a table", path.join(".")))
}

fn holder_item<'a>(document: &'a Document<&str>, path: &[&str]) -> Option<&'a Item> {
    let parts = path.split_last()?.1.iter();
    let mut next = document.as_item();
    for part in parts {
        next = next.get(part)?;
    }
    Some(next)
}

fn item<'a>(document: &'a Document<&str>, path: &[&str]) -> Option<&'a Item> {
    holder_item(document, path)?.get(path.last()?)
}

fn key_span(document: &Document<&str>, path: &[&str]) -> Option<Range<usize>> {
    let holder = holder_item(document, path)?.as_table_like()?;
    holder.key(path.last()?)?.span()
}

fn has_name(holder: &dyn TableLike, path: &[&str]) -> bool {
    path.last().is_some_and(|name| holder.contains_key(name))
}

/// Where a table stands with its head, and each table below it.
fn spans_of(table: &Table, spans: &mut Vec<Range<usize>>) {
    let values = table.iter().filter_map(|(name, item)| {
        let key = table.key(name).and_then(|key| key.span());
        let item = item.is_value().then(|| item.span()).flatten();
        Some(key?.start..item?.end)
    });
    let end = values.map(|span| span.end).max();
    if let Some(span) = table.span().filter(|_| !table.is_implicit()) {
        spans.push(span.start..end.unwrap_or(span.end).max(span.end));
    }
    for (_, item) in table.iter() {
        if let Some(table) = item.as_table() {
            spans_of(table, spans);
        }
        for table in item.as_array_of_tables().into_iter().flatten() {
            spans_of(table, spans);
        }
    }
}

/// A text without the member of an inline table that goes from one byte to another.
fn without_member(text: &str, from: usize, to: usize) -> String {
    let before = text[..from].trim_end_matches([' ', '\t']);
    let after = &text[to..];
    match (
        before.strip_suffix(','),
        after.trim_start().strip_prefix(','),
    ) {
        (Some(before), _) => [before, after].concat(),
        (None, Some(after)) => [before, after].concat(),
        (None, None) => [before, after.trim_start_matches([' ', '\t'])].concat(),
    }
}

fn table(path: &[&str], value: &Value) -> String {
    let mut lines = format!("[{}]\n", path.join("."));
    if let Value::Object(members) = value {
        for (name, value) in members {
            lines.push_str(&format!("{name} = {}\n", inline_value(value)));
        }
    }
    lines
}

fn inline_value(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Number(number) => number.to_string(),
        Value::Bool(answer) => answer.to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(inline_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member =
                |(name, value): &(&str, Value)| format!("{name} = {}", inline_value(value));
            let members: Vec<_> = members.iter().map(member).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}
