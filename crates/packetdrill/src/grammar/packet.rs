//! Packets: `[ect0] P. 1:1001(1000) ack 1 win 512 <nop,nop,TS val 1 ecr 2>`.

use super::Parser;
use crate::flags;
use crate::lexer::Token;
use crate::refusal::Refusal;
use crate::script::{Mark, Packet};
use acklab_base::Ecn;
use acklab_wire::tcp::Flags;

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Arrives,
    Leaves,
}

/// Packets other than segments of TCP over IP, by their first word in the script.
const OTHERS: [(&str, &str); 9] = [
    ("icmp", "ICMP"),
    ("udp", "UDP"),
    ("ipv4", "IP in IP"),
    ("ipv6", "IP in IP"),
    ("GREv0", "GRE"),
    ("gre", "GRE"),
    ("mpls", "MPLS"),
    ("encap", "PSP"),
    ("raw", "raw packets"),
];

impl Parser<'_> {
    /// Reads a packet, after the sign of its direction.
    pub(super) fn packet(&mut self, direction: Direction) -> Result<Packet, Refusal> {
        self.refuse_other_packets()?;
        let ecn = self.mark(direction)?;
        self.refuse_other_packets()?;
        let (flags, has_ace) = self.flags()?;
        let (seq, payload) = self.range()?;
        let ack = if self.take_word("ack") { self.number("an acknowledgment number")? } else { 0 };
        let window = if self.take_word("win") { Some(self.number("a window of 16 bits")?) } else { None };
        if self.take_word("urg") {
            return Err(Refusal::out_of_scope(self.line(), "the urgent pointer"));
        }
        let options = self.tcp_options(flags)?;
        if options.is_none() && direction == Direction::Arrives {
            return Err(Refusal::malformed(self.line(), "found <...>, expected it only of a packet that leaves"));
        }
        Ok(Packet { flags, has_ace, seq, payload, ack, window, ecn, options })
    }

    fn refuse_other_packets(&self) -> Result<(), Refusal> {
        if let Some(Token::Word(word)) = self.peek()
            && let Some((_, what)) = OTHERS.iter().find(|(name, _)| *name == word)
        {
            return Err(Refusal::out_of_scope(self.line(), *what));
        }
        Ok(())
    }

    /// Reads the text between brackets before the flags.
    fn mark(&mut self, direction: Direction) -> Result<Mark, Refusal> {
        let close = if self.take_sign('[') {
            ']'
        } else if self.take_sign('(') {
            ')'
        } else {
            return Ok(Mark::Unspecified);
        };
        let line = self.line();
        let Some(Token::Word(word)) = self.peek() else { return Err(self.unexpected("a codepoint of ECN")) };
        self.advance();
        let mark = match word.as_str() {
            "noecn" => Mark::Is(Ecn::NotEct),
            "ect0" => Mark::Is(Ecn::Ect0),
            "ect1" => Mark::Is(Ecn::Ect1),
            "ce" => Mark::Is(Ecn::Ce),
            "ect01" if direction == Direction::Leaves => Mark::Capable,
            "ect01" => return Err(Refusal::malformed(line, "found ect01, expected it only of a packet that leaves")),
            "tos" => {
                let octet: u8 = self.number("an octet")?;
                if octet & !0b11 != 0 {
                    return Err(Refusal::out_of_scope(line, "differentiated services"));
                }
                Mark::Is(Ecn::from_bits(octet))
            }
            "ttl" => return Err(Refusal::out_of_scope(line, "the time to live of IP")),
            "flowlabel" => return Err(Refusal::out_of_scope(line, "the flow label of IPv6")),
            _ => return Err(Refusal::malformed(line, format!("found {word}, expected a codepoint of ECN"))),
        };
        if self.take_sign(',') {
            return Err(Refusal::out_of_scope(line, "the flow label of IPv6"));
        }
        self.expect_sign(close)?;
        Ok(mark)
    }

    /// Reads flags: `P.5` is a word and a number, `.` is a sign, and `-` means no flag.
    fn flags(&mut self) -> Result<(Flags, bool), Refusal> {
        let line = self.line();
        if let Some(Token::Number(_)) = self.peek()
            && matches!(self.lexemes.get(1).map(|lexeme| &lexeme.token), Some(Token::Sign('>')))
        {
            return Err(Refusal::out_of_scope(line, "ports: there is one connection"));
        }
        if self.take_sign('-') {
            return Ok((Flags::NONE, false));
        }
        let mut text = String::new();
        if let Some(Token::Word(word)) = self.peek() {
            self.advance();
            text.push_str(&word);
        }
        if self.take_sign('.') {
            text.push('.');
        } else if let Some(Token::Number(number)) = self.peek()
            && number.starts_with('.')
        {
            self.advance();
            text.push_str(&number);
        }
        match flags::read(&text) {
            Some(read) if !text.is_empty() => Ok(read),
            _ => Err(Refusal::malformed(line, format!("found {text}, expected flags of FSRPEWAU. or the ACE field"))),
        }
    }

    /// Reads `start:end(length)`.
    fn range(&mut self) -> Result<(u32, u32), Refusal> {
        let line = self.line();
        let start: u32 = self.number("a sequence number")?;
        self.expect_sign(':')?;
        let end: u32 = self.number("a sequence number")?;
        self.expect_sign('(')?;
        let length: u16 = self.number("a length of 16 bits")?;
        self.expect_sign(')')?;
        if start.wrapping_add(u32::from(length)) != end {
            return Err(Refusal::malformed(line, format!("{start}:{end}({length}): the length does not fit")));
        }
        Ok((start, u32::from(length)))
    }
}
