"""Refuses words and forms that `docs/language.md` excludes.

Usage: `python scripts/language.py [FILE …] [--summary] [--commits RANGE]`.

Reads the prose of Markdown, the comments of Rust, TOML and Python, docstrings, messages (string
literals of several words), and the texts of studies in TOML. Prints each finding as `file:line:
rule: text`. `scripts/language.allow` lists permitted findings, each with a reason.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = ROOT / "scripts/language.allow"

MAX_COMMENT_COLUMNS = 100
MAX_PROSE_COLUMNS = 160
MAX_SENTENCE_WORDS = 30
MAX_SUBJECT = 72


@dataclass(frozen=True)
class Prose:
    """A piece of text, and its position."""

    kind: str
    """`doc`: documentation and comments of code; `page`: Markdown; `message`: a string literal;
    `name`: code.
    """
    line: int
    text: str


@dataclass(frozen=True)
class Rule:
    """A form that is refused."""

    name: str
    pattern: re.Pattern[str]
    instead: str
    kinds: frozenset[str]


def _rule(name: str, pattern: str, instead: str, kinds: str = "doc page message", flags: re.RegexFlag = re.IGNORECASE) -> Rule:
    return Rule(name, re.compile(pattern, flags), instead, frozenset(kinds.split()))


RULES = (
    _rule(
        "person",
        r"\b(tells?|told|says?|said|owes?|owed|believes?|believed|hears?|heard|nobody|somebody|whoever|theirs)\b",
        "report, return, state, expect",
    ),
    _rule("person", r"\b(ask(s|ed|ing)?|want(s|ed)?|know(s|n)? of)\b", "request, require, need, track", "doc page"),
    _rule("person", r"\b(take|takes|took|taken) over\b", "replace", "doc page"),
    _rule("relative", r"\bthose of which\b|\bthat which\b|\bof which none\b", "the noun"),
    _rule("usual word", r"\bsent again\b|\bsends? again\b", "retransmitted"),
    _rule("usual word", r"\b(segments?|packets?|octets?|bytes) to an ACK\b", "per ACK"),
    _rule("usual word", r"\bnot to be trusted\b", "unreliable"),
    _rule(
        "usual word",
        r"\bsave for\b|\bwhat is more\b|\bin vain\b|\bby chance\b",
        "except, at random, without effect",
        "doc page message",
    ),
    _rule("usual word", r"\btimes as (good|fast|long|large|many|much)\b", "× today's", "page message"),
    _rule("name", r"\b(MOST|LEAST)_[A-Z]", "MAX_, MIN_", "name", re.NOFLAG),
    _rule("question", r"\?\s*$", "Returns …", "doc"),
    _rule("space", "[\u202f\u2009]", "a thousands comma", "doc page message"),
)


def markdown(text: str) -> Iterator[Prose]:
    """Returns the prose of a page, without code, rules of tables and addresses of links."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif not in_code:
            shown = re.sub(r"<!--.*?(-->|$)", "", line)
            if shown.strip() or not line.strip():
                yield Prose("page", number, shown)


def rust(text: str) -> Iterator[Prose]:
    """Returns the comments of a Rust file, its string literals, and its names."""
    for number, line in enumerate(text.splitlines(), 1):
        code, comment = _split(line)
        if comment is not None:
            yield Prose("doc", number, comment)
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            if literal.count(" ") >= 2:
                yield Prose("message", number, literal)
        yield Prose("name", number, code)


def _split(line: str) -> tuple[str, str | None]:
    """Returns the code and the comment of a line of Rust."""
    quoted = False
    for at, character in enumerate(line):
        if character == '"' and (at == 0 or line[at - 1] != "\\"):
            quoted = not quoted
        elif not quoted and line.startswith("//", at) and (at == 0 or line[at - 1] != ":"):
            return line[:at], line[at:].lstrip("/!")
    return line, None


def python(text: str) -> Iterator[Prose]:
    """Returns the comments, docstrings, other string literals and names of a Python file."""
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented.add(node.value.lineno)
            yield from (Prose("doc", node.value.lineno + at, line) for at, line in enumerate(node.value.value.splitlines()))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            # Directives of tools, such as `# fmt: skip`, are not prose.
            if re.match(r"#\s*(fmt|noqa|type|mypy):", token.string):
                continue
            yield Prose("doc", line, token.string.lstrip("#"))
        elif (
            token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
            and line not in documented
            and token.string.count(" ") >= 2
        ):
            yield Prose("message", line, token.string)
        elif token.type == tokenize.NAME:
            yield Prose("name", line, token.string)


def hashed(text: str) -> Iterator[Prose]:
    """Returns the comments of a file whose comments begin with `#`."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") and not line.startswith("#!"):
            yield Prose("doc", number, line.lstrip().lstrip("#"))


_TEXTS = re.compile(r'\b(?:title|question|group|note|fitted|section|reason) = "((?:[^"\\]|\\.)*)"')


def toml(text: str) -> Iterator[Prose]:
    """Returns the comments of a TOML file, and the texts that reports and figures show."""
    yield from hashed(text)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            yield from (Prose("message", number, shown) for shown in _TEXTS.findall(line))


READERS = {".md": markdown, ".rs": rust, ".py": python, ".toml": toml, ".sh": hashed}


@dataclass(frozen=True)
class Finding:
    """A rule that a line breaks."""

    file: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.text}"


def _plain(text: str) -> str:
    """Returns text without code, addresses and quotations, which are not checked."""
    text = re.sub(r"`[^`]*`", "`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"https?://\S+", "", text)


def findings(file: str, text: str) -> Iterator[Finding]:
    """Returns the findings of a file."""
    reader = READERS[Path(file).suffix]
    pieces = list(reader(text))
    for piece in pieces:
        plain = piece.text if piece.kind == "name" else _plain(piece.text)
        for rule in RULES:
            if piece.kind in rule.kinds and (found := rule.pattern.search(plain)):
                yield Finding(file, piece.line, rule.name, f"{found[0]!r}, expected {rule.instead}")
    yield from _widths(file, text, pieces)
    if file.endswith(".md"):
        yield from _sentences(file, text)


def _widths(file: str, text: str, pieces: Sequence[Prose]) -> Iterator[Finding]:
    lines = text.splitlines()
    limits = {"doc": MAX_COMMENT_COLUMNS, "page": MAX_PROSE_COLUMNS}
    for number, kind in {(piece.line, piece.kind) for piece in pieces if piece.kind in limits}:
        if number > len(lines):
            continue
        line = re.sub(r"<!--.*?-->", "", lines[number - 1])
        # Lines of tables and addresses cannot be wrapped.
        if len(line) > limits[kind] and not line.lstrip("/!# ").startswith("|") and "http" not in line:
            yield Finding(file, number, "width", f"{len(line)} columns, expected at most {limits[kind]}")


def _sentences(file: str, text: str) -> Iterator[Finding]:
    """Returns sentences of paragraphs and list items that are too long."""
    for number, paragraph in _paragraphs(text):
        for sentence in re.split(r"(?<=[.!?;:])[*)]*\s+", _plain(paragraph)):
            words = re.findall(r"[\w`'’%.,/+–-]*\w[\w`'’%.,/+–-]*", sentence)
            if len(words) > MAX_SENTENCE_WORDS:
                yield Finding(
                    file, number, "sentence", f"{len(words)} words, expected at most {MAX_SENTENCE_WORDS}: {sentence[:60]}…"
                )


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    start, held = 0, ""
    for piece in [*markdown(text), Prose("page", 0, "")]:
        line = piece.text.strip()
        begins = not line or line.startswith(("|", "#", "* ", "- ", ">", "<")) or re.match(r"\d+\. ", line)
        if begins and held:
            yield start, held
            held = ""
        if line and not line.startswith(("|", "<", "#")):
            start, held = (start, f"{held} {line}") if held else (piece.line, line)


def subjects(revisions: str) -> Iterator[Finding]:
    """Returns the findings in subjects of commits."""
    log = subprocess.run(
        ["git", "log", "--no-merges", "--format=%h %s", revisions], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for line in log.stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > MAX_SUBJECT:
            yield Finding(commit, 0, "subject", f"{len(subject)} characters, expected at most {MAX_SUBJECT}")
        if not re.match(r"[a-z0-9_-]+: [a-z]", subject):
            yield Finding(commit, 0, "subject", f"{subject!r}, expected area: imperative")


def tracked() -> list[str]:
    """Returns the files with prose that git tracks."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [file for file in listed.stdout.splitlines() if Path(file).suffix in READERS]


def allowed() -> list[tuple[str, str, str]]:
    """Returns the allowed findings: a pattern of files, a rule, and a part of the finding's text.

    The reason follows `#`.
    """
    entries = []
    for number, line in enumerate(ALLOWED.read_text(encoding="utf-8").splitlines(), 1):
        entry, _, reason = line.partition(" # ")
        if not entry.strip() or entry.startswith("#"):
            continue
        parts = [part.strip() for part in entry.split(":", 2)]
        if len(parts) != 3 or not reason.strip():
            raise SystemExit(f"{ALLOWED.name}:{number}: found {line!r}, expected FILES: RULE: TEXT # REASON")
        entries.append((parts[0], parts[1], parts[2]))
    return entries


def _is_allowed(finding: Finding, entries: Iterable[tuple[str, str, str]]) -> bool:
    return any(
        fnmatch(finding.file, files) and rule in ("*", finding.rule) and (part == "*" or part in finding.text)
        for files, rule, part in entries
    )


def main(arguments: Sequence[str]) -> int:
    """Prints all findings, or with `--summary` how many each file has.

    Returns 1 if there are any.
    """
    arguments = list(arguments)
    is_summary = "--summary" in arguments
    if is_summary:
        arguments.remove("--summary")
    if "--commits" in arguments:
        found = list(subjects(arguments[arguments.index("--commits") + 1]))
    else:
        found = [one for file in arguments or tracked() for one in findings(file, (ROOT / file).read_text(encoding="utf-8"))]
    entries = allowed()
    found = [one for one in found if not _is_allowed(one, entries)]
    if is_summary:
        for name, count in Counter(one.file for one in found).most_common():
            print(f"{count:6} {name}")
        print(f"{len(found):6} in all: {dict(Counter(one.rule for one in found))}")
    else:
        print("\n".join(map(str, found)), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
