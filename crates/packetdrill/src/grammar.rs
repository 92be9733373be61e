//! The grammar of scripts (`parser.y`): options of the command line, commands that prepare the run,
//! and events.
//!
//! The grammar refuses features that acklab's TCP does not implement. So a script is either run
//! completely or not at all.

mod call;
mod packet;
mod tcp_option;

use crate::code;
use crate::command_line::CommandLine;
use crate::lexer::{Lexeme, Token, words};
use crate::refusal::Refusal;
use crate::script::{Action, Event, Script};
use crate::shell::{self, Include};
use crate::time::{Time, seconds};
use acklab_base::Duration;
use packet::Direction;

/// Reads a script. `include` finds the text of a command file that the script names, such as
/// `../common/defaults.sh`.
///
/// # Errors
/// If the script is malformed or out of scope.
pub fn read(text: &str, include: &Include<'_>) -> Result<Script, Refusal> {
    let lexemes = words(text)?;
    let last = lexemes.last().map_or(1, |lexeme| lexeme.line);
    let mut parser = Parser { lexemes: &lexemes, last, command_line: CommandLine::default(), include, depth: 0 };
    parser.script()
}

/// The remaining words.
struct Parser<'a> {
    lexemes: &'a [Lexeme],
    /// The line of the last word.
    last: usize,
    command_line: CommandLine,
    include: &'a Include<'a>,
    /// The nesting depth of lists.
    depth: usize,
}

impl Parser<'_> {
    fn script(&mut self) -> Result<Script, Refusal> {
        while let Some(Token::Option(name, value)) = self.peek() {
            let line = self.line();
            self.advance();
            self.command_line.adopt(line, &name, value.as_deref())?;
        }
        let mut setup = Vec::new();
        if let Some(Token::Shell(commands)) = self.peek() {
            setup = shell::orders(self.line(), &commands, self.include)?;
            self.advance();
        }
        let mut events = Vec::new();
        while !self.lexemes.is_empty() {
            if let Some(Token::Shell(commands)) = self.peek() {
                // A command at the end without a time only restores the host's configuration.
                let line = self.line();
                self.advance();
                if !self.lexemes.is_empty() {
                    return Err(Refusal::malformed(line, "found commands without a time, expected an event"));
                }
                shell::orders(line, &commands, self.include)?;
            } else {
                events.push(self.event()?);
            }
        }
        Ok(Script { command_line: std::mem::take(&mut self.command_line), setup, events })
    }

    fn event(&mut self) -> Result<Event, Refusal> {
        let line = self.line();
        let time = self.time()?;
        let action = match self.peek() {
            Some(Token::Sign('<')) => {
                self.advance();
                Action::Arrives(self.packet(Direction::Arrives)?)
            }
            Some(Token::Sign('>')) => {
                self.advance();
                Action::Leaves(self.packet(Direction::Leaves)?)
            }
            Some(Token::Shell(commands)) => {
                let orders = shell::orders(self.line(), &commands, self.include)?;
                self.advance();
                Action::Sets(orders)
            }
            Some(Token::Code(text)) => {
                let statements = code::read(self.line(), &text)?;
                self.advance();
                Action::Runs(statements)
            }
            Some(Token::Ellipsis | Token::Word(_)) => Action::Calls(self.call()?),
            _ => return Err(self.unexpected("<, >, a call, `…` or %{ … }%")),
        };
        let is_open = matches!(time, Time::Any | Time::At { end: Some(_), .. });
        if is_open && !matches!(action, Action::Leaves(_)) {
            return Err(Refusal::malformed(line, "found a range of times, expected it only of a packet that leaves"));
        }
        Ok(Event { line, time, action })
    }

    fn time(&mut self) -> Result<Time, Refusal> {
        let line = self.line();
        if self.take_sign('*') {
            return Ok(Time::Any);
        }
        let is_relative = self.take_sign('+');
        let start = self.duration()?;
        let mut end = None;
        if self.take_sign('~') {
            if is_relative && !self.take_sign('+') {
                return Err(self.unexpected("+ before the end of a relative range"));
            }
            end = Some(self.duration()?);
        }
        if end.is_some_and(|end| end < start) {
            return Err(Refusal::malformed(line, "found a range that ends before it begins"));
        }
        Ok(Time::At { is_relative, start, end })
    }

    fn duration(&mut self) -> Result<Duration, Refusal> {
        match self.peek() {
            Some(Token::Number(text)) if seconds(&text).is_some() => {
                self.advance();
                Ok(seconds(&text).unwrap_or_default())
            }
            _ => Err(self.unexpected("a time in seconds, a day at most")),
        }
    }

    /// Returns the next word, replaced by its definition in the script.
    fn peek(&self) -> Option<Token> {
        let token = &self.lexemes.first()?.token;
        let Token::Word(word) = token else { return Some(token.clone()) };
        let Some(meaning) = self.command_line.defines.get(word) else { return Some(token.clone()) };
        let unquoted = |mark: char| meaning.strip_prefix(mark)?.strip_suffix(mark).map(str::to_owned);
        let number = meaning.parse::<i64>().ok().map(|_| meaning.clone());
        Some(
            unquoted('"')
                .map(Token::Text)
                .or_else(|| unquoted('`').map(Token::Shell))
                .or_else(|| number.map(Token::Number))
                .unwrap_or_else(|| Token::Word(meaning.clone())),
        )
    }

    /// Returns the line of the next word, or of the last word at the end.
    fn line(&self) -> usize {
        self.lexemes.first().map_or(self.last, |lexeme| lexeme.line)
    }

    fn advance(&mut self) {
        self.lexemes = self.lexemes.get(1..).unwrap_or_default();
    }

    fn unexpected(&self, expected: &str) -> Refusal {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |token| token.shown());
        Refusal::malformed(self.line(), format!("found {found}, expected {expected}"))
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let is_next = self.peek() == Some(Token::Sign(sign));
        if is_next {
            self.advance();
        }
        is_next
    }

    fn expect_sign(&mut self, sign: char) -> Result<(), Refusal> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(&sign.to_string())) }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(next)) if next == word);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// Returns a number from zero to the maximum of its type.
    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, Refusal> {
        if let Some(Token::Number(text)) = self.peek()
            && let Some(number) = unsigned(&text).and_then(|number| T::try_from(number).ok())
        {
            self.advance();
            return Ok(number);
        }
        Err(self.unexpected(what))
    }
}

/// Returns a decimal or hexadecimal number.
fn unsigned(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}
