//! The languages: how each family of them is read, and which files are in it.

use bstr::ByteSlice;

/// How a family of languages is read.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    /// What begins a comment that ends with the line.
    pub(super) comments: &'static [&'static str],
    /// What begins and ends a comment that may have several lines.
    pub(super) long_comment: Option<(&'static str, &'static str)>,
    /// What begins and ends a string that may have several lines.
    pub(super) long_texts: &'static [(&'static str, &'static str)],
    /// What a string stands between that ends with the line at the latest.
    pub(super) quotes: &'static [u8],
    /// Its keywords.
    pub(super) keywords: &'static [&'static str],
    /// Are words with a capital types?
    pub(super) capitals: bool,
    /// Do a word's letters count in either case?
    pub(super) any_case: bool,
}

/// The family of a file.
pub type Language = &'static Family;

const PLAIN: Family = Family {
    comments: &[],
    long_comment: None,
    long_texts: &[],
    quotes: b"\"",
    keywords: &[],
    capitals: false,
    any_case: false,
};

const BRACES: Family = Family {
    comments: &["//"],
    long_comment: Some(("/*", "*/")),
    quotes: b"\"'",
    capitals: true,
    ..PLAIN
};

pub(super) static RUST: Family = Family {
    quotes: b"\"",
    keywords: &[
        "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
        "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move",
        "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
        "type", "unsafe", "use", "where", "while",
    ],
    ..BRACES
};

static C: Family = Family {
    keywords: &[
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "false",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "namespace",
        "new",
        "nullptr",
        "operator",
        "private",
        "protected",
        "public",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "catch",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
    ],
    ..BRACES
};

static JAVA: Family = Family {
    long_texts: &[("\"\"\"", "\"\"\"")],
    keywords: &[
        "abstract",
        "as",
        "base",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "data",
        "def",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "extension",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "foreach",
        "func",
        "fun",
        "guard",
        "if",
        "implements",
        "import",
        "in",
        "init",
        "instanceof",
        "int",
        "interface",
        "internal",
        "is",
        "let",
        "long",
        "namespace",
        "new",
        "nil",
        "null",
        "object",
        "open",
        "override",
        "package",
        "private",
        "protected",
        "protocol",
        "public",
        "return",
        "sealed",
        "self",
        "short",
        "static",
        "string",
        "struct",
        "super",
        "switch",
        "this",
        "throw",
        "throws",
        "trait",
        "true",
        "try",
        "using",
        "val",
        "var",
        "virtual",
        "void",
        "when",
        "where",
        "while",
        "with",
        "yield",
    ],
    ..BRACES
};

static GO: Family = Family {
    long_texts: &[("`", "`")],
    keywords: &[
        "break",
        "case",
        "chan",
        "const",
        "continue",
        "default",
        "defer",
        "else",
        "fallthrough",
        "false",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "import",
        "interface",
        "map",
        "nil",
        "package",
        "range",
        "return",
        "select",
        "struct",
        "switch",
        "true",
        "type",
        "var",
    ],
    ..BRACES
};

static SCRIPT: Family = Family {
    long_texts: &[("`", "`")],
    keywords: &[
        "abstract",
        "any",
        "as",
        "async",
        "await",
        "boolean",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "declare",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "from",
        "function",
        "get",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "keyof",
        "let",
        "new",
        "null",
        "number",
        "of",
        "private",
        "public",
        "readonly",
        "return",
        "set",
        "static",
        "string",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "type",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "yield",
    ],
    ..BRACES
};

static PHP: Family = Family {
    comments: &["//", "#"],
    keywords: &[
        "abstract",
        "and",
        "array",
        "as",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "default",
        "do",
        "echo",
        "else",
        "elseif",
        "extends",
        "false",
        "final",
        "finally",
        "fn",
        "for",
        "foreach",
        "function",
        "if",
        "implements",
        "instanceof",
        "interface",
        "match",
        "namespace",
        "new",
        "null",
        "or",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "switch",
        "this",
        "throw",
        "trait",
        "true",
        "try",
        "use",
        "var",
        "while",
        "yield",
    ],
    ..BRACES
};

static CSS: Family = Family {
    comments: &[],
    quotes: b"\"'",
    capitals: false,
    ..BRACES
};

static HASHES: Family = Family {
    comments: &["#"],
    quotes: b"\"'",
    keywords: &["true", "false", "null", "yes", "no", "on", "off"],
    ..PLAIN
};

static PYTHON: Family = Family {
    comments: &["#"],
    long_texts: &[("\"\"\"", "\"\"\""), ("'''", "'''")],
    quotes: b"\"'",
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise",
        "return", "self", "try", "while", "with", "yield",
    ],
    capitals: true,
    ..PLAIN
};

static RUBY: Family = Family {
    comments: &["#"],
    long_texts: &[("\"\"\"", "\"\"\"")],
    quotes: b"\"'",
    keywords: &[
        "alias",
        "and",
        "begin",
        "break",
        "case",
        "class",
        "cond",
        "def",
        "defmodule",
        "defp",
        "do",
        "else",
        "elsif",
        "end",
        "ensure",
        "false",
        "fn",
        "for",
        "if",
        "in",
        "module",
        "next",
        "nil",
        "not",
        "or",
        "redo",
        "require",
        "rescue",
        "retry",
        "return",
        "self",
        "super",
        "then",
        "true",
        "undef",
        "unless",
        "until",
        "when",
        "while",
        "yield",
    ],
    capitals: true,
    ..PLAIN
};

static SHELL: Family = Family {
    comments: &["#"],
    quotes: b"\"'",
    keywords: &[
        "case",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "eval",
        "exec",
        "exit",
        "export",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "local",
        "readonly",
        "return",
        "set",
        "shift",
        "source",
        "then",
        "trap",
        "unset",
        "until",
        "while",
        "FROM",
        "RUN",
        "COPY",
        "ENV",
        "ARG",
        "CMD",
        "ENTRYPOINT",
        "WORKDIR",
        "EXPOSE",
        "USER",
    ],
    ..PLAIN
};

static SQL: Family = Family {
    comments: &["--"],
    long_comment: Some(("/*", "*/")),
    quotes: b"\"'",
    keywords: &[
        "add",
        "alter",
        "and",
        "as",
        "asc",
        "begin",
        "between",
        "by",
        "case",
        "commit",
        "constraint",
        "create",
        "default",
        "delete",
        "desc",
        "distinct",
        "drop",
        "else",
        "end",
        "exists",
        "foreign",
        "from",
        "group",
        "having",
        "if",
        "in",
        "index",
        "inner",
        "insert",
        "into",
        "is",
        "join",
        "key",
        "left",
        "like",
        "limit",
        "not",
        "null",
        "on",
        "or",
        "order",
        "outer",
        "primary",
        "references",
        "rollback",
        "select",
        "set",
        "table",
        "then",
        "transaction",
        "union",
        "unique",
        "update",
        "values",
        "view",
        "when",
        "where",
        "with",
    ],
    any_case: true,
    ..PLAIN
};

static LUA: Family = Family {
    comments: &["--"],
    long_comment: Some(("--[[", "]]")),
    quotes: b"\"'",
    keywords: &[
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if",
        "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
    ],
    ..PLAIN
};

static HASKELL: Family = Family {
    comments: &["--"],
    long_comment: Some(("{-", "-}")),
    keywords: &[
        "case", "class", "data", "deriving", "do", "else", "if", "import", "in", "infix",
        "instance", "let", "module", "newtype", "of", "then", "type", "where",
    ],
    capitals: true,
    ..PLAIN
};

static MARKUP: Family = Family {
    long_comment: Some(("<!--", "-->")),
    ..PLAIN
};

static JSON: Family = Family {
    comments: &["//"],
    keywords: &["true", "false", "null"],
    ..PLAIN
};

/// The language of a file, by its name.
pub fn language(path: &[u8]) -> Option<Language> {
    let name = path.rsplit_str("/").next().unwrap_or_default();
    if matches!(
        name,
        b"Makefile"
            | b"Dockerfile"
            | b"Justfile"
            | b"justfile"
            | b".bashrc"
            | b".zshrc"
            | b".profile"
    ) {
        return Some(&SHELL);
    }
    let (start, ending) = name.rsplit_once_str(".")?;
    if start.is_empty() {
        return Some(&HASHES);
    }
    Some(match ending {
        b"rs" => &RUST,
        b"c" | b"h" | b"cc" | b"cpp" | b"cxx" | b"hh" | b"hpp" | b"hxx" | b"m" | b"mm" | b"ino"
        | b"zig" | b"proto" | b"glsl" | b"cu" => &C,
        b"java" | b"kt" | b"kts" | b"swift" | b"cs" | b"scala" | b"dart" | b"groovy"
        | b"gradle" => &JAVA,
        b"go" => &GO,
        b"js" | b"jsx" | b"mjs" | b"cjs" | b"ts" | b"tsx" | b"mts" | b"cts" | b"vue"
        | b"svelte" => &SCRIPT,
        b"php" => &PHP,
        b"css" | b"scss" | b"sass" | b"less" => &CSS,
        b"py" | b"pyi" | b"pyx" | b"bzl" | b"star" => &PYTHON,
        b"rb" | b"rake" | b"ex" | b"exs" | b"cr" => &RUBY,
        b"sh" | b"bash" | b"zsh" | b"fish" | b"mk" => &SHELL,
        b"sql" => &SQL,
        b"lua" => &LUA,
        b"hs" | b"elm" | b"purs" => &HASKELL,
        b"html" | b"htm" | b"xml" | b"svg" | b"xhtml" | b"xaml" | b"plist" => &MARKUP,
        b"json" | b"jsonc" | b"json5" => &JSON,
        b"toml" | b"yaml" | b"yml" | b"ini" | b"cfg" | b"conf" | b"tf" | b"nix" | b"r" | b"R"
        | b"pl" | b"pm" | b"jl" | b"cmake" => &HASHES,
        _ => return None,
    })
}
