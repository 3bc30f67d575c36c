#!/usr/bin/env python3
"""Makes docs/ui.svg, the picture of `edio ui` in the README: a real run, in tmux, in a scratch repository.

usage: docs/picture.py [EDIO]    (without, the edio in PATH; git, tmux and bash are needed)
"""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

COLUMNS, LINES = 112, 30
START = 1_796_040_000
# The colours of the window, and the terminal's own sixteen.
FORE, BACK = "#d8dee9", "#1a1d25"
SIXTEEN = [
    "#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
    "#6b7385", "#ef8088", "#a9d18c", "#efcd8c", "#7bbcf5", "#d391e8", "#6cc6d2", "#ffffff",
]
CELL_WIDTH, CELL_HEIGHT, EDGE, HEAD = 8.4, 18, 14, 34

GREETING = """\
//! Greets people.

pub fn greet(name: &str) -> String {
    format!("hello {name}")
}
"""
LANGUAGES = """\
//! Greets people, each in their own language.

/// The languages that are spoken here.
pub enum Language {
    English,
    日本語,
}

pub fn greet(name: &str, language: Language) -> String {
    match language {
        Language::English => format!("good morning {name}"), // also at noon
        Language::日本語 => format!("おはよう {name}"),
    }
}
"""


class Story:
    """A session with turns of two agents, one of which was gone back from."""

    def __init__(self, edio, folder):
        self.edio, self.top, self.now = edio, folder / "greet", START
        self.world = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "COLORTERM": "truecolor",
        }
        (folder / "gitconfig").write_text("[user]\nname = You\nemail = you@example.com\n[init]\ndefaultBranch = main\n")
        self.top.mkdir()

    def environment(self):
        return {**self.world, "EDIO_NOW": str(self.now)}

    def run(self, *words, told=None):
        subprocess.run(words, cwd=self.top, env=self.environment(), input=told, text=True, check=True, capture_output=True)

    def write(self, path, text):
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def hook(self, agent, event, **more):
        said = {"session_id": agent, "cwd": str(self.top), "hook_event_name": event, **more}
        self.run(self.edio, "hook", agent, told=json.dumps(said))

    def turn(self, agent, prompt, minutes, files):
        self.hook(agent, "UserPromptSubmit", prompt=prompt)
        for number, (path, text) in enumerate(files.items()):
            self.write(path, text)
            self.now += 20
            tool = {"tool_name": "Write", "tool_use_id": f"{self.now}-{number}", "tool_input": {"file_path": str(self.top / path)}}
            self.hook(agent, "PostToolUse", **tool)
        self.now += 60 * minutes
        self.hook(agent, "Stop")

    def play(self):
        self.run("git", "init", "-q")
        self.write("src/lib.rs", GREETING)
        self.write("README.md", "# greet\n")
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", "first")
        test = "use greet::greet;\n\n#[test]\nfn it_greets() {\n    assert_eq!(greet(\"you\"), \"hello you\");\n}\n"
        self.turn("claude", "test that it greets", 12, {"tests/greet.rs": test})
        self.turn("claude", "say what it does in the README", 9, {"README.md": "# greet\n\nGreets people, politely.\n"})
        self.turn("codex", "make the parser faster", 14, {"src/parser.rs": "// unsafe, but fast\n" * 90, "src/lib.rs": GREETING * 2})
        self.turn("codex", "fix what the parser broke", 6, {"src/parser.rs": "// less unsafe\n" * 40})
        self.run(self.edio, "restore", "2")
        self.now += 120
        self.turn("claude", "greet people in their own languages", 11, {"src/lib.rs": LANGUAGES, "tests/greet.rs": test.replace("hello you", "good morning you")})
        self.write("src/lib.rs", LANGUAGES.replace("also at noon", "until noon"))
        self.now += 240


def photograph(story):
    """What is on the screen, with its colours."""
    tmux = ["tmux", "-L", "picture", "-f", "/dev/null", "-u"]
    world = {**story.environment(), "SHELL": "/bin/bash"}

    def run(*words):
        return subprocess.run([*tmux, *words], env=world, cwd=story.top, text=True, check=True, capture_output=True).stdout

    def until(text):
        for _ in range(500):
            if text in run("capture-pane", "-p"):
                return
            time.sleep(0.02)
        sys.exit(f"it did not come: {text}\n{run('capture-pane', '-p')}")

    run("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), "-c", str(story.top), f"exec {story.edio} ui")
    try:
        until("1 file changed")
        until("おはよう")
        run("send-keys", "m", "m")
        until("+//! Greets people, each")
        return run("capture-pane", "-p", "-e", "-N")
    finally:
        run("kill-server")


def color(codes, at):
    """The colour that begins at a place among the codes, and where it ends."""
    if codes[at + 1] == 2:
        red, green, blue = codes[at + 2:at + 5]
        return f"#{red:02x}{green:02x}{blue:02x}", at + 4
    number = codes[at + 2]
    if number < 16:
        return SIXTEEN[number], at + 2
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}", at + 2
    steps = [0, 95, 135, 175, 215, 255]
    parts = [steps[(number - 16) // by % 6] for by in (36, 6, 1)]
    return "#" + "".join(f"{part:02x}" for part in parts), at + 2


def styled(look, codes):
    """A look after these codes: foreground, background, and what else."""
    fore, back, kinds = look
    kinds = set(kinds)
    at = 0
    while at < len(codes):
        code = codes[at]
        if code == 0:
            fore, back, kinds = None, None, set()
        elif code in (1, 2, 4, 7):
            kinds.add(code)
        elif code in (22, 24, 27):
            kinds -= {22: {1, 2}, 24: {4}, 27: {7}}[code]
        elif code in (38, 48):
            found, at = color(codes, at)
            fore, back = (found, back) if code == 38 else (fore, found)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            fore = SIXTEEN[code - 30 if code < 90 else code - 82]
        elif 40 <= code <= 47:
            back = SIXTEEN[code - 40]
        elif code == 39:
            fore = None
        elif code == 49:
            back = None
        at += 1
    return fore, back, frozenset(kinds)


def width(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def runs(line, look):
    """The parts of a line that look the same: column, width, text, look. And the look at its end."""
    found, column = [], 0
    for part in re.split(r"(\x1b\[[\d;:]*m)", line):
        if part.startswith("\x1b"):
            codes = [int(code or 0) for code in re.split("[;:]", part[2:-1])]
            look = styled(look, codes)
            continue
        # Wide characters stand for themselves: no font has them exactly two columns wide.
        for text in re.findall(r"[\u1100-\uffff]|[^\u1100-\uffff]+", part):
            columns = sum(map(width, text))
            found.append((column, columns, text, look))
            column += columns
    return found, look


def drawn(screen):
    lines = screen.rstrip("\n").split("\n")
    page_width = round(COLUMNS * CELL_WIDTH + 2 * EDGE)
    page_height = round(len(lines) * CELL_HEIGHT + HEAD + EDGE)
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{page_width}" height="{page_height}" '
        f'viewBox="0 0 {page_width} {page_height}" role="img" aria-label="edio ui">',
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
        f".b{{font-weight:700}}.d{{opacity:.55}}.u{{text-decoration:underline}}</style>",
        f'<rect width="100%" height="100%" rx="9" fill="{BACK}"/>',
    ]
    for number, light in enumerate(("#e06c75", "#e5c07b", "#98c379")):
        svg.append(f'<circle cx="{20 + 18 * number}" cy="17" r="5.5" fill="{light}"/>')
    look = (None, None, frozenset())
    for row, line in enumerate(lines):
        top = HEAD + row * CELL_HEIGHT
        found, look = runs(line, look)
        for column, columns, text, (fore, back, kinds) in found:
            left = EDGE + column * CELL_WIDTH
            fore, back = fore or FORE, back
            if 7 in kinds:
                fore, back = back or BACK, fore
            if back:
                svg.append(f'<rect x="{left:.1f}" y="{top}" width="{columns * CELL_WIDTH:.1f}" height="{CELL_HEIGHT}" fill="{back}"/>')
            if not text.strip():
                continue
            classes = "".join(letter for kind, letter in ((1, "b"), (2, "d"), (4, "u")) if kind in kinds)
            classes = f' class="{" ".join(classes)}"' if classes else ""
            svg.append(
                f'<text x="{left:.1f}" y="{top + 13}" fill="{fore}"{classes} textLength="{columns * CELL_WIDTH:.1f}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{html.escape(text, quote=False)}</text>'
            )
    return "\n".join([*svg, "</svg>\n"])


def main():
    edio = str(Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "edio"
    with tempfile.TemporaryDirectory() as folder:
        story = Story(edio, Path(folder).resolve())
        story.play()
        svg = drawn(photograph(story))
    (Path(__file__).parent / "ui.svg").write_text(svg, encoding="utf-8")
    print(f"docs/ui.svg: {len(svg.encode())} bytes")


if __name__ == "__main__":
    main()
