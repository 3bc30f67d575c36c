//! Redaction: what is found, what is left alone, and what `edio redact` says of what is stored.
//!
//! The corpus in `tests/redact/` is made for it. No secret in it is one, and none stands there as a whole.

use edio::history::redact::Redactor;

/// How many times each case is drawn, each time with other random characters.
const DRAWS: u64 = 40;

/// The least share of secrets that is found, and of cases without one that are left alone.
const RECALL: f64 = 0.97;
const PRECISION: f64 = 0.98;

struct Case {
    name: String,
    text: String,
    secrets: Vec<String>,
}

/// Random numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length)
            .map(|_| char::from(alphabet[self.roll(alphabet.len())]))
            .collect()
    }
}

/// What stands between braces: `b62:36`, or `w:` and a text that stays.
fn filled(hole: &str, dice: &mut Dice) -> Option<String> {
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const DIGITS: &str = "0123456789";
    let (kind, rest) = hole.split_once(':')?;
    let alphabet = match kind {
        "w" => return Some(rest.to_owned()),
        "hex" => "0123456789abcdef".to_owned(),
        "num" => DIGITS.to_owned(),
        "low" => [LOWER, DIGITS].concat(),
        "upper" => [UPPER, DIGITS].concat(),
        "abc" => [LOWER, UPPER].concat(),
        "b62" => [LOWER, UPPER, DIGITS].concat(),
        "b64" => [LOWER, UPPER, DIGITS, "+/"].concat(),
        "url" => [LOWER, UPPER, DIGITS, "-_"].concat(),
        _ => return None,
    };
    Some(dice.draw(&alphabet, rest.parse().ok()?))
}

fn cases(corpus: &str, draw: u64) -> Vec<Case> {
    let lines = corpus.lines().filter(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .enumerate()
        .map(|(at, line)| case(line, draw * 10_000 + at as u64))
        .collect()
}

fn case(line: &str, seed: u64) -> Case {
    let (name, text) = line.split_once(' ').unwrap();
    let mut dice = Dice(seed);
    let mut filled_in = String::new();
    let mut rest = text.trim_start();
    while let Some((before, after)) = rest.split_once('{') {
        filled_in.push_str(before);
        let hole = after
            .split_once('}')
            .and_then(|(hole, rest)| Some((filled(hole, &mut dice)?, rest)));
        rest = match hole {
            Some((text, rest)) => {
                filled_in.push_str(&text);
                rest
            }
            None => {
                filled_in.push('{');
                after
            }
        };
    }
    filled_in.push_str(rest);
    let marked = filled_in.replace('⏎', "\n");
    let secrets = marked.split('«').skip(1);
    Case {
        name: name.to_owned(),
        secrets: secrets
            .map(|rest| rest.split_once('»').unwrap().0.trim_end().to_owned())
            .collect(),
        text: marked.replace(['«', '»'], ""),
    }
}

impl Case {
    /// What of its secrets is still there.
    fn leaked(&self, redacted: &str) -> Option<String> {
        let half = |secret: &str| {
            let at = (0..=secret.len() / 2)
                .rev()
                .find(|at| secret.is_char_boundary(*at))
                .unwrap();
            match secret.len() {
                0..12 => [secret.to_owned(), secret.to_owned()],
                _ => [secret[..at].to_owned(), secret[at..].to_owned()],
            }
        };
        let mut pieces = self.secrets.iter().flat_map(|secret| half(secret));
        pieces.find(|piece| redacted.contains(piece.as_str()))
    }
}

#[test]
fn what_is_secret_is_found() {
    let redactor = Redactor::new(&[]).unwrap();
    let (mut found, mut all) = (0, 0);
    let mut missed = std::collections::BTreeMap::<String, (u64, String)>::new();
    for draw in 0..DRAWS {
        for case in cases(include_str!("redact/true.txt"), draw) {
            assert!(!case.secrets.is_empty(), "{}: nothing is marked", case.name);
            let redacted = redactor.text(&case.text);
            all += 1;
            match case.leaked(&redacted) {
                None => found += 1,
                Some(_) => missed.entry(case.name).or_insert((0, redacted)).0 += 1,
            }
        }
    }
    let recall = f64::from(found) / f64::from(all);
    eprintln!("recall {recall:.4} of {all} ({DRAWS} draws)");
    for (name, (count, example)) in &missed {
        eprintln!("missed {name}: {count} of {DRAWS}: {example}");
    }
    assert!(recall >= RECALL, "recall {recall:.4}");
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let redactor = Redactor::new(&[]).unwrap();
    let (mut left, mut all) = (0, 0);
    let mut wrong = std::collections::BTreeMap::<String, (u64, String)>::new();
    for draw in 0..DRAWS {
        for case in cases(include_str!("redact/false.txt"), draw) {
            let redacted = redactor.text(&case.text);
            all += 1;
            match redacted == case.text {
                true => left += 1,
                false => wrong.entry(case.name).or_insert((0, redacted)).0 += 1,
            }
        }
    }
    let share = f64::from(left) / f64::from(all);
    eprintln!("left alone {share:.4} of {all} ({DRAWS} draws)");
    for (name, (count, example)) in &wrong {
        eprintln!("wrong {name}: {count} of {DRAWS}: {example}");
    }
    assert!(share >= PRECISION, "left alone {share:.4}");
}

#[test]
fn what_stands_around_a_secret_stays() {
    let redactor = Redactor::new(&[]).unwrap();
    let mut wrong = Vec::new();
    for case in cases(include_str!("redact/true.txt"), 0) {
        let redacted = redactor.text(&case.text);
        let mut outside = case.text.clone();
        for secret in &case.secrets {
            outside = outside.replacen(secret.as_str(), "\0", 1);
        }
        let pieces = outside.split('\0').filter(|piece| !piece.trim().is_empty());
        if pieces.into_iter().any(|piece| !redacted.contains(piece)) {
            wrong.push(format!("{}: {redacted}", case.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} too much:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
