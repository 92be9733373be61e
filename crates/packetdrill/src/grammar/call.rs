//! Calls of the system:
//! `... 0.1 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)`.

use super::Parser;
use crate::lexer::Token;
use crate::refusal::Refusal;
use crate::script::{Argument, Call};

/// The maximum nesting of lists.
const DEPTH: usize = 16;

impl Parser<'_> {
    /// Reads a call, after its time.
    pub(super) fn call(&mut self) -> Result<Call, Refusal> {
        let mut until = None;
        if self.peek() == Some(Token::Ellipsis) {
            self.advance();
            until = Some(self.duration()?);
        }
        let Some(Token::Word(name)) = self.peek() else { return Err(self.unexpected("the name of a call")) };
        self.advance();
        self.expect_sign('(')?;
        let arguments = self.arguments(')')?;
        self.expect_sign('=')?;
        let result = match self.argument()? {
            Argument::Number(number) => Some(number),
            Argument::Any => None,
            // A named constant, such as flags of poll. Its value is not compared.
            _ => return Err(Refusal::out_of_scope(self.line(), format!("the result of {name}"))),
        };
        let mut error = None;
        if let Some(Token::Word(word)) = self.peek() {
            self.advance();
            error = Some(word);
        }
        if self.take_sign('(') {
            self.note()?;
        }
        Ok(Call { name, arguments, until, result, error })
    }

    /// Skips the explanation of an error, up to the parenthesis.
    fn note(&mut self) -> Result<(), Refusal> {
        while !self.take_sign(')') {
            if self.lexemes.is_empty() {
                return Err(self.unexpected(")"));
            }
            self.advance();
        }
        Ok(())
    }

    /// Enters a list or a structure.
    fn enter(&mut self) -> Result<(), Refusal> {
        if self.depth == DEPTH {
            return Err(self.unexpected("fewer nested lists"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads arguments up to `close`.
    fn arguments(&mut self, close: char) -> Result<Vec<Argument>, Refusal> {
        self.enter()?;
        let mut arguments = Vec::new();
        while !self.take_sign(close) {
            arguments.push(self.argument()?);
            if !self.take_sign(',') {
                self.expect_sign(close)?;
                break;
            }
        }
        self.depth -= 1;
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument, Refusal> {
        let argument = match self.peek() {
            Some(Token::Ellipsis) => Argument::Any,
            Some(Token::Text(text)) => Argument::Text(text),
            Some(Token::Number(text)) => Argument::Number(self.integer(&text)?),
            Some(Token::Sign('[')) => {
                self.advance();
                return Ok(Argument::List(self.arguments(']')?));
            }
            Some(Token::Sign('{')) => {
                self.advance();
                return Ok(Argument::Structure(self.fields()?));
            }
            Some(Token::Word(_)) => return self.names(),
            _ => return Err(self.unexpected("an argument")),
        };
        self.advance();
        // `"text"...` is a truncated text.
        if matches!(argument, Argument::Text(_)) && self.peek() == Some(Token::Ellipsis) {
            self.advance();
        }
        Ok(argument)
    }

    fn integer(&self, text: &str) -> Result<i64, Refusal> {
        let number = super::unsigned(text).and_then(|number| i64::try_from(number).ok());
        number.or_else(|| text.parse().ok()).ok_or_else(|| self.unexpected("an integer"))
    }

    /// Reads names such as `O_RDWR|O_NONBLOCK`, or a function of numbers such as `htons(8080)`.
    fn names(&mut self) -> Result<Argument, Refusal> {
        let mut names = Vec::new();
        loop {
            match self.peek() {
                Some(Token::Word(name)) => names.push(name),
                Some(Token::Number(number)) => names.push(number),
                _ => return Err(self.unexpected("a name")),
            }
            self.advance();
            if self.take_sign('(') {
                self.arguments(')')?;
                return Ok(Argument::Any);
            }
            if !self.take_sign('|') {
                return Ok(Argument::Names(names));
            }
        }
    }

    /// Reads the fields of a structure, up to its end. A field is a value, or a name and its value,
    /// as in `msg_iov(1)=[...]`.
    fn fields(&mut self) -> Result<Vec<(Option<String>, Argument)>, Refusal> {
        self.enter()?;
        let mut fields = Vec::new();
        while !self.take_sign('}') {
            fields.push(self.field()?);
            if !self.take_sign(',') {
                self.expect_sign('}')?;
                break;
            }
        }
        self.depth -= 1;
        Ok(fields)
    }

    fn field(&mut self) -> Result<(Option<String>, Argument), Refusal> {
        let name = self.peek();
        let value = self.argument()?;
        match name {
            Some(Token::Word(name)) if self.take_sign('=') => Ok((Some(name), self.argument()?)),
            _ => Ok((None, value)),
        }
    }
}
