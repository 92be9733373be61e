//! The words of a script, each with its line (`lexer.l`).

use crate::refusal::Refusal;

/// A word of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, such as `socket` or `SEW`.
    Word(String),
    /// A number as written: integer, hexadecimal, or with a point.
    Number(String),
    /// Text between quotation marks.
    Text(String),
    /// Commands of a shell, between backticks.
    Shell(String),
    /// Statements, between `%{` and `}%`.
    Code(String),
    /// An option of the command line with its value: `--name=value`.
    Option(String, Option<String>),
    /// `...`
    Ellipsis,
    /// Any other character.
    Sign(char),
}

/// A word and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) line: usize,
    pub(crate) token: Token,
}

impl Token {
    /// Returns the word in the form of error messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => text.clone(),
            Self::Text(text) => format!("\"{text}\""),
            Self::Shell(_) => "`…`".to_owned(),
            Self::Code(_) => "%{ … }%".to_owned(),
            Self::Option(name, _) => format!("--{name}"),
            Self::Ellipsis => "...".to_owned(),
            Self::Sign(sign) => sign.to_string(),
        }
    }
}

/// Returns the words of `text`.
pub(crate) fn words(text: &str) -> Result<Vec<Lexeme>, Refusal> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut words = Vec::new();
    loop {
        lexer.skip_blanks()?;
        if lexer.rest.is_empty() {
            return Ok(words);
        }
        // The line on which the word begins.
        let line = lexer.line;
        words.push(Lexeme { line, token: lexer.token()? });
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    /// Takes the next `octets` octets.
    fn take(&mut self, octets: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(octets);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Consumes characters while `belongs` returns `true`.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|sign| !belongs(sign)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn skip_blanks(&mut self) -> Result<(), Refusal> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|sign| sign != '\n');
            } else if self.rest.starts_with("/*") {
                self.enclosed("/*", "*/")?;
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token, Refusal> {
        let mut signs = self.rest.chars();
        let first = signs.next().unwrap_or(' ');
        let second = signs.next().unwrap_or(' ');
        Ok(match (first, second) {
            ('%', '{') => Token::Code(self.enclosed("%{", "}%")?.to_owned()),
            ('`', _) => Token::Shell(self.quoted('`')?),
            ('"', _) => Token::Text(self.quoted('"')?),
            ('-', '-') if self.rest[2..].starts_with(|sign: char| sign.is_ascii_alphabetic()) => self.option()?,
            ('.', _) if self.rest.starts_with("...") => {
                self.take(3);
                Token::Ellipsis
            }
            ('.', '0'..='9') => Token::Number(self.number()),
            ('-', '0'..='9' | '.') if self.begins_negative() => Token::Number(self.number()),
            _ if first.is_ascii_alphanumeric() || first == '_' => self.word(),
            _ => {
                self.take(first.len_utf8());
                Token::Sign(first)
            }
        })
    }

    fn begins_negative(&self) -> bool {
        let digits = self.rest[1..].trim_start_matches('.');
        self.rest.len() - digits.len() <= 2 && digits.starts_with(|sign: char| sign.is_ascii_digit())
    }

    /// Consumes a sign, digits, and a point with digits, as far as they are present.
    fn number(&mut self) -> String {
        let mut text = String::new();
        if self.rest.starts_with('-') {
            text.push_str(self.take(1));
        }
        text.push_str(self.take_while(|sign| sign.is_ascii_digit()));
        text.push_str(self.fraction());
        text
    }

    /// Consumes a point and the digits after it, if any.
    fn fraction(&mut self) -> &'a str {
        let is_fraction =
            self.rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()));
        if !is_fraction {
            return "";
        }
        let digits = self.rest[1..].find(|sign: char| !sign.is_ascii_digit()).unwrap_or(self.rest.len() - 1);
        self.take(1 + digits)
    }

    fn word(&mut self) -> Token {
        let text = self.take_while(|sign| sign.is_ascii_alphanumeric() || sign == '_');
        if text.bytes().all(|octet| octet.is_ascii_digit()) {
            return Token::Number(format!("{text}{}", self.fraction()));
        }
        if text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|octet| octet.is_ascii_hexdigit())) {
            return Token::Number(text.to_owned());
        }
        Token::Word(text.to_owned())
    }

    /// Consumes the text between `open`, which comes next, and `close`.
    fn enclosed(&mut self, open: &str, close: &str) -> Result<&'a str, Refusal> {
        let line = self.line;
        let Some(end) = self.rest[open.len()..].find(close) else {
            return Err(Refusal::malformed(line, format!("found {open} without {close} behind it")));
        };
        let taken = self.take(open.len() + end + close.len());
        Ok(&taken[open.len()..open.len() + end])
    }

    /// Consumes the text between two of `mark`. A backslash escapes the next character.
    fn quoted(&mut self, mark: char) -> Result<String, Refusal> {
        let line = self.line;
        let mut is_escaped = false;
        for (at, sign) in self.rest.char_indices().skip(1) {
            if sign == mark && !is_escaped {
                return Ok(self.take(at + 1)[1..at].to_owned());
            }
            is_escaped = sign == '\\' && !is_escaped;
        }
        Err(Refusal::malformed(line, format!("found {mark} without another behind it")))
    }

    fn option(&mut self) -> Result<Token, Refusal> {
        self.take(2);
        let name = self.take_while(|sign| sign.is_ascii_alphanumeric() || sign == '_').to_owned();
        if !self.rest.starts_with('=') {
            return Ok(Token::Option(name, None));
        }
        self.take(1);
        let value = if self.rest.starts_with('"') {
            self.quoted('"')?
        } else {
            self.take_while(|sign| !sign.is_whitespace()).to_owned()
        };
        Ok(Token::Option(name, Some(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        words(text).unwrap().into_iter().map(|lexeme| lexeme.token).collect()
    }

    fn number(text: &str) -> Token {
        Token::Number(text.to_owned())
    }

    fn word(text: &str) -> Token {
        Token::Word(text.to_owned())
    }

    /// `lexer.l` uses the longest match. So the range of a blocking call contains two times, and
    /// flags with an ACE field are a word and a number with a point.
    #[test]
    fn points_belong_to_numbers_only_before_digits() {
        assert_eq!(tokens(".01...0.011"), [number(".01"), Token::Ellipsis, number("0.011")]);
        assert_eq!(tokens("P.5 1:2(1)")[..3], [word("P"), number(".5"), number("1")]);
        assert_eq!(tokens("S. 0:0")[..3], [word("S"), Token::Sign('.'), number("0")]);
        assert_eq!(tokens("= -1 - 0x802"), [Token::Sign('='), number("-1"), Token::Sign('-'), number("0x802")]);
        assert_eq!(tokens("-.5 -"), [number("-.5"), Token::Sign('-')]);
    }

    #[test]
    fn comments_are_skipped_and_lines_counted() {
        let lexemes = words("// one\n/* two\n three */ 0 `a\nb`\n%{ x }%").unwrap();
        let lines: Vec<usize> = lexemes.iter().map(|lexeme| lexeme.line).collect();
        assert_eq!(lines, [3, 3, 5]);
        assert_eq!(lexemes[1].token, Token::Shell("a\nb".to_owned()));
    }

    #[test]
    fn options_take_all_up_to_a_blank() {
        let expected = Token::Option("local_ip".to_owned(), Some("fd::1".to_owned()));
        assert_eq!(tokens("--local_ip=fd::1 --strict"), [expected, Token::Option("strict".to_owned(), None)]);
    }

    #[test]
    fn what_does_not_end_is_refused_with_its_line() {
        for text in ["\n`never", "\n/* never", "\n%{ never", "\n\"never\\\""] {
            assert!(words(text).unwrap_err().to_string().starts_with("2: "), "{text}");
        }
    }
}
