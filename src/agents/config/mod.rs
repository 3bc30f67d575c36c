//! Files of other programs, edited where they stand: what is put in, and what is taken out again.
//!
//! A file is never written anew from what it means. Its text is read as a syntax tree, and only what is edio's is added
//! to it or taken from it: comments, order, indentation, line ends and a byte order mark stay. Everything here turns bytes
//! into bytes.

mod json;
mod lines;
mod refusal;
mod text;
mod toml;
mod yaml;

pub use self::refusal::Refusal;

/// A byte order mark, which some editors put first.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON, where a comment or a comma at the end makes the program ignore the file.
    StrictJson,
    /// JSON with comments, but without commas at the end.
    CommentedJson,
    /// JSON with comments, and with commas at the end.
    Jsonc,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// Lines of text.
    Text,
}

/// A value that is put into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(&'static str),
    /// A number.
    Number(u32),
    /// Yes or no.
    Bool(bool),
    /// A list.
    List(Vec<Value>),
    /// Names with values, in this order.
    Object(Vec<(&'static str, Value)>),
}

/// Something that a file is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An object under a name, at the end of a path of names. What it has already stays.
    Named(Vec<&'static str>, Value),
    /// An object or a string in the list at the end of a path of names, after all others there.
    Listed(Vec<&'static str>, Value),
    /// A value that the file can't do without, where it has none.
    Needed(&'static str, Value),
    /// Lines that stand together, known by the first and the last of them.
    Lines(&'static str),
    /// All of the file.
    Whole(&'static str),
    /// All of the file, which can be run.
    Program(&'static str),
}

/// What one file is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How the file is written.
    pub language: Language,
    /// What it is to have.
    pub entries: Vec<Entry>,
}

/// Does a file have what it is to have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// All of it.
    Whole,
    /// Some of it.
    Half,
    /// Nothing.
    Nothing,
}

impl Standing {
    /// Of two files that belong together.
    pub fn and(self, other: Self) -> Self {
        match self == other {
            true => self,
            false => Standing::Half,
        }
    }
}

/// What a file is without edio's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Is nothing left that means anything?
    pub is_empty: bool,
    /// What looks like edio's and may be another's: it is still there.
    pub left: Option<Refusal>,
}

impl Config {
    /// The file with all that it is to have. Where it has that already, not a byte differs.
    ///
    /// # Errors
    ///
    /// It can't be read, or something else stands where edio's part belongs.
    pub fn put(&self, present: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (mark, text) = read(present)?;
        let put = match self.language {
            Language::Toml => toml::put(text, &self.entries)?,
            Language::Yaml => yaml::put(text, &self.entries)?,
            Language::Text => text::put(text, &self.entries)?,
            _ => json::put(text, &self.entries)?,
        };
        Ok([mark, put.as_bytes()].concat())
    }

    /// The file without edio's part. What it had already before edio came stays. Where that is not known, only what is to
    /// the letter what edio writes is taken out.
    ///
    /// # Errors
    ///
    /// As for [`Config::put`].
    pub fn take_out(&self, present: &[u8], before: Option<&[u8]>) -> Result<Rest, Refusal> {
        let (mark, text) = read(present)?;
        let before = before.map(read).transpose()?.map(|(_, text)| text);
        let (rest, left) = match self.language {
            Language::Toml => toml::take_out(text, before, &self.entries)?,
            Language::Yaml => (yaml::take_out(text, before, &self.entries)?, None),
            Language::Text => (text::take_out(text, before, &self.entries)?, None),
            _ => json::take_out(text, before, &self.entries)?,
        };
        let is_empty = match self.language {
            Language::Toml | Language::Yaml | Language::Text => rest.trim().is_empty(),
            _ => json::is_empty(&rest),
        };
        let bytes = [mark, rest.as_bytes()].concat();
        Ok(Rest {
            bytes,
            is_empty,
            left,
        })
    }

    /// How much of what it is to have the file has.
    ///
    /// # Errors
    ///
    /// As for [`Config::put`].
    pub fn standing(&self, present: &[u8]) -> Result<Standing, Refusal> {
        let (_, text) = read(present)?;
        let has = match self.language {
            Language::Toml => toml::has(text, &self.entries)?,
            Language::Yaml => yaml::has(text, &self.entries),
            Language::Text => text::has(text, &self.entries),
            _ => json::has(text, &self.entries)?,
        };
        Ok(match (has.iter().all(|has| *has), has.contains(&true)) {
            (true, _) => Standing::Whole,
            (_, true) => Standing::Half,
            _ => Standing::Nothing,
        })
    }

    /// Where the file has something that makes the program ignore all of it, though edio can read it.
    pub fn ignored(&self, present: &[u8]) -> Option<Refusal> {
        let (_, text) = read(present).ok()?;
        json::ignored(text, self.language)
    }

    /// What to add by hand, as text.
    pub fn by_hand(&self) -> String {
        match self.language {
            Language::Toml => toml::by_hand(&self.entries),
            Language::Yaml | Language::Text => text::by_hand(&self.entries),
            _ => json::put("", &self.entries).unwrap_or_default(),
        }
    }

    /// Is it lines of text?
    pub fn is_text(&self) -> bool {
        matches!(self.language, Language::Text | Language::Yaml)
    }

    /// Is all of the file edio's?
    pub fn is_whole_file(&self) -> bool {
        matches!(self.entries.as_slice(), [Entry::Whole(_)]) || self.is_program()
    }

    /// Can the file be run?
    pub fn is_program(&self) -> bool {
        matches!(self.entries.as_slice(), [Entry::Program(_)])
    }
}

/// The byte order mark, if there is one, and the text.
fn read(bytes: &[u8]) -> Result<(&[u8], &str), Refusal> {
    let rest = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let mark = &bytes[..bytes.len() - rest.len()];
    match std::str::from_utf8(rest) {
        Ok(text) => Ok((mark, text)),
        Err(error) => {
            let valid = &rest[..error.valid_up_to()];
            let text = String::from_utf8_lossy(valid);
            Err(Refusal::at(&text, valid.len(), "it is not UTF-8"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn server() -> Vec<Entry> {
        let run = vec![
            ("command", Value::Text("edio")),
            ("args", Value::List(vec![Value::Text("mcp")])),
        ];
        vec![Entry::Named(vec!["servers", "edio"], Value::Object(run))]
    }

    fn hooks() -> Vec<Entry> {
        let handler = Value::Object(vec![("command", Value::Text("edio hook x"))]);
        let group = Value::Object(vec![("hooks", Value::List(vec![handler]))]);
        let group = |event| Entry::Listed(vec!["hooks", event], group.clone());
        let version = Entry::Needed("version", Value::Number(1));
        vec![version, group("Stop"), group("Start")]
    }

    fn json(entries: Vec<Entry>) -> Config {
        let language = Language::StrictJson;
        Config { language, entries }
    }

    fn toml() -> Config {
        let language = Language::Toml;
        let entries = server();
        Config { language, entries }
    }

    fn lines() -> Config {
        let language = Language::Text;
        let entries = vec![Entry::Lines("<!-- begin -->\nedio\n<!-- end -->\n")];
        Config { language, entries }
    }

    fn yaml() -> Config {
        let language = Language::Yaml;
        let entries = vec![Entry::Lines("read: [EDIO.md] # edio\n")];
        Config { language, entries }
    }

    #[track_caller]
    fn put(config: &Config, text: &str) -> String {
        let put = config.put(text.as_bytes()).unwrap();
        assert_eq!(config.put(&put).unwrap(), put, "a second time");
        assert_eq!(config.standing(&put), Ok(Standing::Whole));
        String::from_utf8(put).unwrap()
    }

    #[track_caller]
    fn rest(config: &Config, text: &str, before: Option<&str>) -> String {
        let rest = config.take_out(text.as_bytes(), before.map(str::as_bytes));
        String::from_utf8(rest.unwrap().bytes).unwrap()
    }

    #[track_caller]
    fn refused(config: &Config, text: &[u8]) -> String {
        config.put(text).unwrap_err().to_string()
    }

    const SERVER: &str = "{\n  \"servers\": {\n    \"edio\": {\n      \"command\": \"edio\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";

    #[test]
    fn a_file_that_is_not_there_is_made() {
        assert_eq!(put(&json(server()), ""), SERVER);
        assert_eq!(json(server()).by_hand(), SERVER);
        assert!(put(&json(hooks()), "").starts_with("{\n  \"version\": 1,\n"));
        assert_eq!(
            put(&toml(), ""),
            "[servers.edio]\ncommand = \"edio\"\nargs = [\"mcp\"]\n"
        );
        assert_eq!(put(&lines(), ""), "<!-- begin -->\nedio\n<!-- end -->\n");
        for config in [json(server()), json(hooks()), toml(), yaml(), lines()] {
            let made = config.put(b"").unwrap();
            assert!(config.take_out(&made, None).unwrap().is_empty);
        }
    }

    #[test]
    fn marks_and_line_ends_stay() {
        let text = "\u{feff}{\r\n\t\"a\": 1\r\n}\r\n";
        for config in [json(server()), json(hooks())] {
            let put = put(&config, text);
            assert!(put.starts_with('\u{feff}'));
            assert_eq!(put.matches('\n').count(), put.matches("\r\n").count());
            assert_eq!(rest(&config, &put, Some(text)), text);
        }
        let text = "\u{feff}a = 1 # one\r\n";
        let put = put(&toml(), text);
        assert_eq!(put.matches('\n').count(), put.matches("\r\n").count());
        assert_eq!(rest(&toml(), &put, Some(text)), text);
    }

    #[test]
    fn what_is_the_users_stays() {
        let text = "{\n  // mine\n  \"servers\": {\n    \"edio\": { \"env\": { \"A\": \"1\" }, \"command\": \"edio\" },\n    \
                    \"other\": { \"command\": \"x\", },\n  }, /* and this */\n}\n";
        let put = put(&json(server()), text);
        for kept in [
            "// mine",
            r#""env": { "A": "1" }"#,
            r#""other": { "command": "x", },"#,
            "/* and this */",
        ] {
            assert!(put.contains(kept), "{put}");
        }
        assert!(put.contains(r#""args": ["mcp"]"#), "{put}");
        let of_its_own = r#"{"servers":{"edio":{"command":"/opt/edio","args":["mcp","-v"]}}}"#;
        assert_eq!(
            json(server()).put(of_its_own.as_bytes()).unwrap(),
            of_its_own.as_bytes()
        );
        assert_eq!(
            rest(&json(server()), of_its_own, Some(of_its_own)),
            of_its_own
        );
    }

    #[test]
    fn a_hook_comes_last_and_takes_no_other_along() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}"#;
        let put = put(&json(hooks()), text);
        assert!(put.find("mine") < put.find("edio hook x"));
        assert_eq!(
            json(hooks()).standing(text.as_bytes()),
            Ok(Standing::Nothing)
        );
        // A user's handler beside edio's in the same group.
        let joined = r#"{"hooks": {"Stop": [{"hooks": [{"command": "edio hook x"}, {"command": "mine"}]}]}}"#;
        assert_eq!(
            json(hooks()).standing(joined.as_bytes()),
            Ok(Standing::Half)
        );
        let left = rest(&json(hooks()), joined, Some(""));
        assert!(left.contains("mine") && !left.contains("edio"), "{left}");
        let after = rest(&json(hooks()), &put, Some(text));
        assert!(
            after.contains("mine") && !after.contains("edio") && !after.contains("Start"),
            "{after}"
        );
        assert!(!after.contains("version"), "{after}");
        // A hook that came later needs it.
        let later = put.replace("edio hook x", "mine, too");
        assert!(rest(&json(hooks()), &later, Some("")).contains("version"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let config = json(server());
        for (text, place) in [
            ("[]", "line 1, column 1: the file is not an object"),
            ("5", "line 1, column 1: the file is not an object"),
            (
                "{\n  \"servers\": 5\n}",
                "line 2, column 14: \"servers\" is not an object",
            ),
            (
                "{\n  \"servers\": []\n}",
                "line 2, column 14: \"servers\" is not an object",
            ),
            (
                "{\"servers\":{\"edio\":null}}",
                "line 1, column 20: \"edio\" is not an object",
            ),
            (
                "{\"servers\":{},\n\"servers\":{}}",
                "line 2, column 1: \"servers\" stands there twice",
            ),
            ("{ bad", "line 1, column 3: "),
            ("{'a': 1}", "line 1, column 2: "),
            ("{\"a\": 1} x", "line 1, column 10: "),
        ] {
            let refusal = refused(&config, text.as_bytes());
            assert!(refusal.starts_with(place), "{text}: {refusal}");
            assert!(config.take_out(text.as_bytes(), None).is_err(), "{text}");
        }
        let refusal = refused(&json(hooks()), b"{\"hooks\":{\"Stop\":{}}}");
        assert_eq!(refusal, "line 1, column 18: \"Stop\" is not a list");
        for (text, place) in [
            ("a = \n", "line 1, column 5: "),
            (
                "\nservers = 5\n",
                "line 2, column 11: servers is not a table",
            ),
            (
                "[servers]\nedio = 5\n",
                "line 2, column 8: servers.edio is not a table",
            ),
            ("[[servers]]\n", "line 1, column 1: servers is not a table"),
        ] {
            let refusal = refused(&toml(), text.as_bytes());
            assert!(refusal.starts_with(place), "{text}: {refusal}");
        }
        for config in [config, toml(), lines()] {
            assert_eq!(
                refused(&config, b"\xffa"),
                "line 1, column 1: it is not UTF-8"
            );
        }
    }

    #[test]
    fn what_the_program_does_not_take_is_seen() {
        let ignored = |language, text: &str| {
            let entries = server();
            let config = Config { language, entries };
            config
                .ignored(text.as_bytes())
                .map(|ignored| ignored.to_string())
        };
        let (comment, comma) = ("{\n// x\n}", "{\"a\": [1,]}");
        let told = ignored(Language::StrictJson, comment);
        assert_eq!(told.as_deref(), Some("line 2, column 1: a comment"));
        let told = ignored(Language::StrictJson, comma);
        assert_eq!(
            told.as_deref(),
            Some("line 1, column 9: a comma at the end")
        );
        assert_eq!(ignored(Language::CommentedJson, comment), None);
        assert!(ignored(Language::CommentedJson, comma).is_some());
        assert_eq!(ignored(Language::Jsonc, comment), None);
        assert_eq!(ignored(Language::Jsonc, comma), None);
    }

    #[test]
    fn of_what_is_not_known_only_what_is_to_the_letter_is_taken() {
        for (config, same, other) in [
            (
                json(server()),
                r#"{"servers": {"edio": {"args": ["mcp" /* c */], "command": "\u0065dio"}}}"#,
                r#"{"servers": {"edio": {"command": "edio", "args": ["mcp", "-v"]}}}"#,
            ),
            (
                json(hooks()),
                r#"{"version": 1, "hooks": {"Stop": [{"hooks": [{"command": "edio hook x"}]}]}}"#,
                r#"{"version": 1, "hooks": {"Stop": [{"command": "edio hook x", "a": 1}]}}"#,
            ),
            (
                toml(),
                "[servers.edio]\nargs = ['mcp']\ncommand = 'edio' # c\n",
                "[servers.edio]\ncommand = \"edio\"\n",
            ),
            (
                lines(),
                "<!-- begin -->\r\nedio\r\n<!-- end -->\r\n",
                "<!-- begin -->\nmine\n<!-- end -->\n",
            ),
            (yaml(), "read: [EDIO.md] # edio\n", "read: EDIO.md\n"),
        ] {
            let rest = config.take_out(same.as_bytes(), None).unwrap();
            assert!(rest.is_empty && rest.left.is_none(), "{rest:?}");
            match config.take_out(other.as_bytes(), None) {
                Ok(rest) => assert!(rest.bytes == other.as_bytes() && rest.left.is_some()),
                Err(refusal) => assert!(refusal.what.ends_with("not as edio wrote it")),
            }
        }
    }

    #[test]
    fn strict_json_gets_no_comment_and_no_comma_at_the_end() {
        for text in [
            "",
            "{}",
            "{\"servers\": {}}",
            "{\"a\": [\n1\n]\n}",
            "{\"hooks\":{\"Stop\":[]}}",
        ] {
            for config in [json(server()), json(hooks())] {
                let put = put(&config, text);
                assert!(
                    serde_json::from_str::<serde_json::Value>(&put).is_ok(),
                    "{put}"
                );
            }
        }
    }

    #[test]
    fn a_table_is_found_in_whatever_form_it_has() {
        for text in [
            "servers = { }\n",
            "servers = {}",
            "servers = { a = { command = \"x\" } } # all\n[b]\nc = 1\n",
            "servers.a.command = \"x\"\n",
            "[servers]\n[servers.a]\ncommand = \"x\"\n",
            "[servers.a]\ncommand = \"x\"\n\n[[b]]\n",
            "a = 1",
        ] {
            let put = put(&toml(), text);
            let left = rest(&toml(), &put, Some(text));
            assert_eq!(
                left.trim_end().replace(' ', ""),
                text.trim_end().replace(' ', "")
            );
        }
        let used = "[servers.edio]\ncommand = \"edio\"\n\n[servers.edio.tools.x]\napproval = \"y\"\n\n[b]\n";
        assert_eq!(rest(&toml(), used, Some("")), "[b]\n");
        let used = "# mine\n\n[servers.edio]\ncommand = \"edio\" # c\nenv.A = \"1\"\nlist = [\n  1,\n]\n\n# yours\n[b]\n";
        assert_eq!(rest(&toml(), used, Some("")), "# mine\n\n# yours\n[b]\n");
        let dotted = "servers.edio.command = \"x\"\n";
        assert_eq!(toml().put(dotted.as_bytes()).unwrap(), dotted.as_bytes());
        assert!(toml().take_out(dotted.as_bytes(), Some(b"")).is_err());
    }

    #[test]
    fn lines_are_found_by_their_first_and_last() {
        let text = "# Mine\n\nwords\n";
        let put = put(&lines(), text);
        assert_eq!(rest(&lines(), &put, Some(text)), text);
        let edited = put.replace("edio", "other words\nand more") + "tail\n";
        assert_eq!(rest(&lines(), &edited, Some(text)), format!("{text}tail\n"));
        assert_eq!(lines().put(edited.as_bytes()).unwrap(), edited.as_bytes());
        for text in ["\n\n", "x", "x\n\n", " ", "\r\n"] {
            let edited = self::put(&lines(), text).replace("edio", "edited");
            assert_eq!(rest(&lines(), &edited, Some(text)), text);
            let longer = rest(&lines(), &format!("{edited}tail\n"), Some(text));
            assert_eq!(
                longer.replace('\r', ""),
                format!(
                    "{}tail\n",
                    match text {
                        "x" | " " => format!("{text}\n"),
                        text => text.replace('\r', ""),
                    }
                )
            );
        }
        // A beginning that has lost its end is not edio's.
        let open = "<!-- begin -->\nmine\n";
        let put = self::put(&lines(), open);
        assert_eq!(
            rest(&lines(), &(put.clone() + "tail\n"), Some(open)),
            format!("{open}tail\n")
        );
        assert_eq!(rest(&lines(), &put, None), open);
        assert_eq!(rest(&lines(), open, Some(open)), open);
        let refusal = lines().take_out(open.as_bytes(), Some(b"")).unwrap_err();
        assert_eq!(refusal.what, "the end of edio's part is gone");
    }

    #[test]
    fn a_file_that_is_all_edios_is_not_taken_from_who_has_changed_it() {
        let language = Language::Text;
        let entries = vec![Entry::Whole("a\nb\n")];
        let config = Config { language, entries };
        assert_eq!(put(&config, ""), "a\nb\n");
        assert_eq!(put(&config, "a\r\nb\r\n"), "a\r\nb\r\n");
        assert_eq!(rest(&config, "a\r\nb\r\n", None), "");
        assert_eq!(refused(&config, b"mine\n"), "it is not as edio wrote it");
        assert!(config.take_out(b"mine\n", None).is_err());
    }

    #[test]
    fn a_command_may_be_a_list_and_an_element_a_string() {
        let command = vec![Value::Text("edio"), Value::Text("mcp")];
        let run = Value::Object(vec![
            ("command", Value::List(command)),
            ("enabled", Value::Bool(true)),
        ]);
        let config = json(vec![
            Entry::Named(vec!["mcp", "edio"], run),
            Entry::Listed(vec!["instructions"], Value::Text("EDIO.md")),
        ]);
        for text in [
            "",
            "{\"mcp\": {\"edio\": {}}}",
            "{\"instructions\": [\"mine.md\"]}",
        ] {
            let put = put(&config, text);
            let meant: serde_json::Value = serde_json::from_str(&put).unwrap();
            assert_eq!(meant["mcp"]["edio"]["command"][1], "mcp");
            assert_eq!(meant["mcp"]["edio"]["enabled"], true);
            assert!(put.contains("\"EDIO.md\""), "{put}");
        }
        let own = "{\"mcp\":{\"edio\":{\"command\":[\"/opt/edio\",\"mcp\"]}},\"instructions\":[\"EDIO.md\"]}";
        assert_eq!(put(&config, own), own);
        assert_eq!(rest(&config, own, Some(own)), own);
        let joined = put(&config, "{\"instructions\": [\"mine.md\"]}");
        let left = rest(&config, &joined, None);
        assert!(left.contains("mine.md") && !left.contains("EDIO"), "{left}");
    }

    #[test]
    fn yaml_is_told_apart_where_it_matters() {
        let has = |text: &str| yaml().standing(text.as_bytes()) == Ok(Standing::Whole);
        for text in [
            "read: EDIO.md",
            "read: [a.md, EDIO.md]",
            "read:\n  - a.md\n  - \"EDIO.md\"\nmodel: x",
            "read:\n- EDIO.md",
            "'read': 'EDIO.md'",
        ] {
            assert!(has(text), "{text}");
            assert_eq!(put(&yaml(), text), text);
            assert_eq!(rest(&yaml(), text, Some(text)), text);
        }
        for text in [
            "",
            "read: a.md # EDIO.md",
            "x:\n  read: EDIO.md",
            "read: a.md\nmodel: EDIO.md",
            "reading: EDIO.md",
            "read: MY-EDIO.md",
            "# read: EDIO.md",
        ] {
            assert!(!has(text), "{text}");
        }
        // One that has become the person's is not cut.
        let joined = "read: [EDIO.md, a.md] # edio\n";
        let refusal = yaml().take_out(joined.as_bytes(), None).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "line 1, column 1: \"read\" is not as edio wrote it"
        );
    }

    /// JSON as people write it: comments, commas at the end, white space anywhere.
    fn json_text() -> impl Strategy<Value = String> {
        let space = || "( |\t|\n|\r\n|  \n|/\\* c \\*/|// c\n){0,2}";
        let leaf = prop_oneof![
            Just("1".to_owned()),
            Just("\"x\"".to_owned()),
            Just("null".to_owned())
        ];
        let value = leaf.prop_recursive(3, 12, 3, move |inner| {
            let name = prop_oneof![Just("a"), Just("b"), Just("other")];
            let member = (space(), name, space(), inner.clone(), space());
            let members = prop::collection::vec(member, 0..3);
            prop_oneof![
                (
                    prop::collection::vec((space(), inner), 0..3),
                    space(),
                    any::<bool>()
                )
                    .prop_map(|(items, end, comma)| {
                        let items: Vec<_> = items.into_iter().map(|(s, i)| s + &i).collect();
                        let comma = if comma && !items.is_empty() { "," } else { "" };
                        format!("[{}{end}{comma}]", items.join(","))
                    }),
                (members, space(), any::<bool>())
                    .prop_map(|(members, end, comma)| object(members, &end, comma)),
            ]
        });
        let name = prop_oneof![Just("servers"), Just("hooks"), Just("a")];
        let member = (space(), name, space(), value, space());
        let top = (prop::collection::vec(member, 0..4), space(), any::<bool>());
        (space(), top, space(), any::<bool>()).prop_map(
            |(before, (members, end, comma), after, mark)| {
                let mark = if mark { "\u{feff}" } else { "" };
                format!("{mark}{before}{}{after}", object(members, &end, comma))
            },
        )
    }

    type Member = (String, &'static str, String, String, String);

    fn object(members: Vec<Member>, end: &str, comma: bool) -> String {
        let mut seen = std::collections::BTreeSet::new();
        let members: Vec<_> = members
            .into_iter()
            .filter(|(_, name, ..)| seen.insert(*name))
            .map(|(a, name, b, value, c)| format!("{a}\"{name}\":{b}{value}{c}"))
            .collect();
        let comma = if comma && !members.is_empty() {
            ","
        } else {
            ""
        };
        format!("{{{}{comma}{end}}}", members.join(","))
    }

    /// TOML as people write it.
    fn toml_text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("# c"),
            Just(""),
            Just("  "),
            Just("x = 1 # y"),
            Just("[a]"),
            Just("[[b]]"),
            Just("[servers.other]"),
            Just("command = [\"x\",\t\"y\"]"),
        ];
        (
            prop::collection::vec(line, 0..8),
            any::<(bool, bool, bool)>(),
        )
            .prop_map(|(lines, (dos, mark, end))| {
                let break_ = if dos { "\r\n" } else { "\n" };
                let mark = if mark { "\u{feff}" } else { "" };
                let end = if end { break_ } else { "" };
                format!("{mark}{}{end}", lines.join(break_))
            })
    }

    /// What a text means, without its comments.
    fn meaning(text: &str) -> Option<serde_json::Value> {
        let text = text.trim_start_matches('\u{feff}');
        let mut bare = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = match rest {
                rest if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                rest if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
                _ => {
                    bare.push(c);
                    c.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        let bare: String = bare.chars().filter(|c| !c.is_whitespace()).collect();
        let bare = bare.replace(",]", "]").replace(",}", "}");
        serde_json::from_str(if bare.is_empty() { "{}" } else { &bare }).ok()
    }

    proptest! {
        #[test]
        fn json_is_given_back_as_it_was_meant(text in json_text()) {
            for config in [json(server()), json(hooks())] {
                let Ok(put) = config.put(text.as_bytes()) else {
                    continue;
                };
                prop_assert_eq!(config.standing(&put), Ok(Standing::Whole));
                prop_assert_eq!(&config.put(&put).unwrap(), &put);
                let put = String::from_utf8(put).unwrap();
                prop_assert!(meaning(&put).is_some(), "{}", put);
                for comment in ["// c", "/* c */"] {
                    prop_assert_eq!(put.matches(comment).count(), text.matches(comment).count());
                }
                let rest = rest(&config, &put, Some(&text));
                prop_assert_eq!(meaning(&rest), meaning(&text), "{}\n->\n{}\n->\n{}", text, put, rest);
            }
        }

        #[test]
        fn toml_is_given_back_as_it_was(text in toml_text()) {
            let Ok(put) = toml().put(text.as_bytes()) else {
                return Ok(());
            };
            prop_assert_eq!(&toml().put(&put).unwrap(), &put);
            let put = String::from_utf8(put).unwrap();
            prop_assert!(put.starts_with(text.as_str()));
            let rest = rest(&toml(), &put, Some(&text));
            prop_assert_eq!(rest.trim_end(), text.trim_end());
        }

        #[test]
        fn whatever_is_read_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for config in [json(server()), json(hooks()), toml(), yaml(), lines()] {
                let _ = (config.put(&bytes), config.take_out(&bytes, None));
                let _ = (config.standing(&bytes), config.ignored(&bytes));
            }
        }
    }
}
