//! Options of TCP: `<mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>`.

use super::Parser;
use crate::lexer::Token;
use crate::refusal::Refusal;
use acklab_wire::tcp::{AccurateEcn, FieldOrder, Flags, Options, SackBlock, SeqNumber, Timestamps};

impl Parser<'_> {
    /// Reads the options of a packet with `flags`. Returns `None` if any options match.
    pub(super) fn tcp_options(&mut self, flags: Flags) -> Result<Option<Options>, Refusal> {
        let mut options = Options::default();
        // An arriving packet has the sign `<` only if it has options, because an event begins with
        // a time.
        if !self.take_sign('<') {
            return Ok(Some(options));
        }
        if self.peek() == Some(Token::Ellipsis) {
            self.advance();
            self.expect_sign('>')?;
            return Ok(None);
        }
        loop {
            self.tcp_option(flags, &mut options)?;
            if !self.take_sign(',') {
                break;
            }
        }
        self.expect_sign('>')?;
        Ok(Some(options))
    }

    fn tcp_option(&mut self, flags: Flags, options: &mut Options) -> Result<(), Refusal> {
        let line = self.line();
        let Some(Token::Word(word)) = self.peek() else { return Err(self.unexpected("an option of TCP")) };
        self.advance();
        match word.as_str() {
            "nop" | "eol" => {}
            "mss" => options.mss = Some(self.number("a size of 16 bits")?),
            "wscale" => options.window_scale = Some(self.number("a shift of 8 bits")?),
            "sackOK" => options.sack_permitted = true,
            "sack" => self.sack_blocks(options)?,
            "TS" => {
                self.expect_word("val")?;
                let value = self.number("a timestamp")?;
                self.expect_word("ecr")?;
                options.timestamps = Some(Timestamps { value, echo: self.number("a timestamp")? });
            }
            "ECN" => options.accurate_ecn = Some(self.accurate_ecn()?),
            // In draft-ietf-tcpm-accurate-ecn and nplab's packetdrill, no word precedes the
            // counters.
            "e0b" | "e1b" => {
                return Err(Refusal::malformed(line, format!("found {word}, expected ECN before it")));
            }
            "FO" | "FOEXP" => return Err(Refusal::out_of_scope(line, "TCP Fast Open")),
            "md5" => return Err(Refusal::out_of_scope(line, "MD5 signatures")),
            _ => return Err(Refusal::malformed(line, format!("found {word}, expected an option of TCP"))),
        }
        let is_of_syn = matches!(word.as_str(), "mss" | "wscale" | "sackOK");
        if is_of_syn && !flags.contains(Flags::SYN) {
            return Err(Refusal::out_of_scope(line, format!("{word} on a segment without SYN")));
        }
        Ok(())
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Refusal> {
        if self.take_word(word) { Ok(()) } else { Err(self.unexpected(word)) }
    }

    fn sack_blocks(&mut self, options: &mut Options) -> Result<(), Refusal> {
        loop {
            let line = self.line();
            let start = SeqNumber(self.number("a sequence number")?);
            self.expect_sign(':')?;
            let end = SeqNumber(self.number("a sequence number")?);
            if !options.sack.push(SackBlock { start, end }) {
                return Err(Refusal::malformed(line, "found five blocks, expected at most four"));
            }
            if !matches!(self.peek(), Some(Token::Number(_))) {
                return Ok(());
            }
        }
    }

    /// Reads the counters of RFC 9768, §3.2.3: first the counter of ECT(0) or of ECT(1), then the
    /// counter of CE.
    fn accurate_ecn(&mut self) -> Result<AccurateEcn, Refusal> {
        let (order, names) = match self.peek() {
            Some(Token::Word(word)) if word == "e0b" => (FieldOrder::Ect0First, ["e0b", "ceb", "e1b"]),
            Some(Token::Word(word)) if word == "e1b" => (FieldOrder::Ect1First, ["e1b", "ceb", "e0b"]),
            // An option without counters. Its kind determines which counter would be first.
            _ => (FieldOrder::Ect1First, ["e1b", "ceb", "e0b"]),
        };
        let mut counters = Vec::new();
        for name in names {
            if !self.take_word(name) {
                break;
            }
            counters.push(u64::from(self.number::<u32>("a counter of 24 bits")?));
        }
        Ok(AccurateEcn::new(order, &counters))
    }
}
