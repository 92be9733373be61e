//! An excerpt of a text: one line with the position of a fault underlined.

use std::ops::Range;

/// The maximum width of an excerpt in characters, without its margins.
const WIDTH: usize = 100;

/// A range of characters in a line of a text.
pub(super) struct Spot<'a> {
    line: &'a str,
    line_number: usize,
    /// The number of characters of the line before the range.
    before: usize,
    /// The number of characters of the range. It is at least one.
    length: usize,
}

impl<'a> Spot<'a> {
    /// Creates the range of these octets. The range ends at the end of its first line.
    pub(super) fn new(text: &'a str, span: Range<usize>) -> Self {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor(text, span.end).clamp(start, line_end);
        Self {
            line: text[line_start..line_end].trim_end_matches('\r'),
            line_number: text[..start].matches('\n').count() + 1,
            before: text[line_start..start].chars().count(),
            length: text[start..end].trim_end().chars().count().max(1),
        }
    }

    /// Returns `name:line:column`, with columns counted in characters from 1.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{name}:{}:{}", self.line_number, self.before + 1)
    }

    /// Returns the line with the range underlined, after a newline. Of a long line, only the
    /// characters around the range are shown.
    pub(super) fn snippet(&self) -> String {
        let skipped = if self.before + self.length < WIDTH { 0 } else { self.before.saturating_sub(WIDTH / 4) };
        let visible = |character: char| if character.is_control() { ' ' } else { character };
        let shown: String = self.line.chars().skip(skipped).take(WIDTH).map(visible).collect();
        let less = if skipped > 0 { "…" } else { "" };
        let more = if self.line.chars().nth(skipped + WIDTH).is_some() { "…" } else { "" };
        let indent = " ".repeat(self.before - skipped + less.chars().count());
        let underline = "^".repeat(self.length.min(WIDTH.saturating_sub(self.before - skipped).max(1)));
        let number = self.line_number.to_string();
        let edge = " ".repeat(number.len());
        format!("\n{edge} |\n{number} | {less}{shown}{more}\n{edge} | {indent}{underline}")
    }
}

/// Returns a note below `snippet`, after a newline, wrapped to the width of excerpts.
pub(super) fn note(snippet: &str, text: &str) -> String {
    let edge = snippet.trim_start_matches('\n').find('|').unwrap_or(1);
    let mut note = format!("\n{}= ", " ".repeat(edge));
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            note.push('\n');
            note.push_str(&" ".repeat(edge + 2));
            column = 0;
        }
        if column > 0 {
            note.push(' ');
            column += 1;
        }
        note.push_str(word);
        column += length;
    }
    note
}

/// Returns the start of the character that contains the octet at `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_underlined() {
        let text = "a = 1\r\nµ =\t\"two\"\r\n";
        let start = text.find("\"two").unwrap();
        let spot = Spot::new(text, start..start + 5);
        assert_eq!(spot.place("x.toml"), "x.toml:2:5");
        assert_eq!(spot.snippet(), "\n  |\n2 | µ = \"two\"\n  |     ^^^^^");
    }

    #[test]
    fn of_a_long_line_the_surroundings_are_shown() {
        let text = format!("{}here{}", "x".repeat(500), "y".repeat(500));
        let snippet = Spot::new(&text, 500..504).snippet();
        let lines: Vec<&str> = snippet.lines().collect();
        assert_eq!(lines[2].find("here").map(|at| lines[2][..at].chars().count()), lines[3].find('^'));
        assert!(lines[2].chars().count() <= WIDTH + 10 && lines[3].ends_with("^^^^"), "{snippet}");
    }

    #[test]
    fn the_end_of_a_text_is_a_place() {
        assert_eq!(Spot::new("a =", 3..3).snippet(), "\n  |\n1 | a =\n  |    ^");
        assert_eq!(Spot::new("", 7..9).place("x"), "x:1:1");
    }

    #[test]
    fn notes_are_wrapped_below_the_edge() {
        let note = note("\n   |\n12 | x\n   | ^", &"word ".repeat(30));
        let lines: Vec<&str> = note.lines().collect();
        assert!(lines[1].starts_with("   = word word") && lines[2].starts_with("     word"), "{note}");
    }
}
