//! Statements between `%{` and `}%`, in the subset of Python that scripts need. packetdrill runs
//! them after the script, with the state of the connection at the time of the event. Here they run
//! immediately.

use crate::expression::{self, Expression};
use crate::refusal::Refusal;

/// A statement and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    /// The source text, without the message of an assertion.
    pub(crate) text: String,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `assert EXPRESSION, MESSAGE`
    Assert(Expression),
    /// `NAME = EXPRESSION`; `NAME += EXPRESSION` is expanded.
    Assign(String, Expression),
}

/// Returns the statements in `text`, which begins on `line`.
pub(crate) fn read(line: usize, text: &str) -> Result<Vec<Statement>, Refusal> {
    split(line, text).iter().filter_map(|(line, statement)| kind(*line, statement).transpose()).collect()
}

/// Returns the statements of `text` without its comments, each with the line on which it begins. A
/// backslash joins a line with the next one.
fn split(first: usize, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut line, mut begins, mut statement) = (first, first, String::new());
    let (mut quote, mut in_comment) = (None, false);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign == '\\' && !in_comment && signs.next_if_eq(&'\n').is_some() {
            line += 1;
            statement.push(' ');
            continue;
        }
        match (sign, quote) {
            ('\n', _) => (quote, in_comment) = (None, false),
            _ if in_comment => continue,
            ('#', None) => {
                in_comment = true;
                continue;
            }
            (';', None) => {}
            _ => {
                match quote {
                    None if matches!(sign, '"' | '\'') => quote = Some(sign),
                    Some(mark) if sign == mark => quote = None,
                    _ => {}
                }
                if statement.trim().is_empty() {
                    begins = line;
                }
                statement.push(sign);
                continue;
            }
        }
        found.push((begins, std::mem::take(&mut statement)));
        line += usize::from(sign == '\n');
    }
    found.push((begins, statement));
    found
}

fn kind(line: usize, written: &str) -> Result<Option<Statement>, Refusal> {
    let text = written.trim();
    if text.is_empty() || text.starts_with("print(") || text.starts_with("print ") {
        return Ok(None);
    }
    let refused =
        |why: String| Refusal::out_of_scope(line, format!("Python beyond assertions of whole numbers: {why}"));
    if let Some(asserted) = text.strip_prefix("assert").filter(|rest| rest.starts_with([' ', '\t', '('])) {
        let mut rest = asserted;
        let expression = expression::read(&mut rest).map_err(refused)?;
        let message = rest.trim_start();
        if !message.is_empty() && !message.starts_with(',') {
            return Err(refused(format!("found {message}, expected the end or a message behind a comma")));
        }
        let text = text[..text.len() - rest.len()].trim_end().to_owned();
        return Ok(Some(Statement { line, kind: Kind::Assert(expression), text }));
    }
    let end = text.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(text.len());
    let (name, behind) = text.split_at(end);
    let behind = behind.trim_start();
    let sum = behind.strip_prefix("+=");
    let Some(mut rest) = sum.or_else(|| behind.strip_prefix('=').filter(|rest| !rest.starts_with('='))) else {
        return Err(refused(text.to_owned()));
    };
    let mut value = expression::read(&mut rest).map_err(refused)?;
    if !rest.trim().is_empty() || name.is_empty() {
        return Err(refused(text.to_owned()));
    }
    if sum.is_some() {
        let before = Box::new(Expression::Name(name.to_owned()));
        value = Expression::Operation(before, expression::Operator::Plus, Box::new(value));
    }
    Ok(Some(Statement { line, kind: Kind::Assign(name.to_owned(), value), text: text.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &str) -> Vec<String> {
        read(4, code).unwrap().into_iter().map(|statement| format!("{}: {}", statement.line, statement.text)).collect()
    }

    #[test]
    fn assertions_are_read_with_their_messages_left_out() {
        assert_eq!(
            texts(
                "\nassert tcpi_snd_cwnd == 10, 'cwnd=%d' % tcpi_snd_cwnd  # as at the start\nassert (tcpi_options & 8) != 0, 1\n"
            ),
            ["5: assert tcpi_snd_cwnd == 10", "6: assert (tcpi_options & 8) != 0"]
        );
        assert_eq!(texts("print(x); cwnd = 58; cwnd += 1"), ["4: cwnd = 58", "4: cwnd += 1"]);
    }

    /// Each statement has the line on which it begins. A backslash in a comment does not join
    /// lines.
    #[test]
    fn a_backslash_joins_lines() {
        assert_eq!(
            texts("assert 1 <= a \\\n <= 2, a;\\\n\tassert b == 3, \"b;#\" ;\\\n# \\\nassert c == 4\n"),
            ["4: assert 1 <= a   <= 2", "6: assert b == 3", "8: assert c == 4"]
        );
    }

    #[test]
    fn other_statements_are_out_of_scope() {
        for code in ["import os", "assert x in y", "assert 'a' == b", "x == 1", "for a in b: pass", "= 2"] {
            let refusal = read(1, code).unwrap_err();
            assert_eq!(refusal.kind, crate::refusal::Kind::OutOfScope, "{code}");
        }
    }
}
