//! A script as data.

use crate::code::Statement;
use crate::command_line::CommandLine;
use crate::shell::Order;
use crate::time::Time;
use acklab_base::Ecn;
use acklab_wire::tcp::{Flags, Options};
use std::fmt;

/// A script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The command line that the script requires.
    pub command_line: CommandLine,
    /// The variables that its commands set before the first event, with their lines.
    pub setup: Vec<Order>,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The line of the event.
    pub line: usize,
    /// The time of the event.
    pub time: Time,
    /// The action of the event.
    pub action: Action,
}

/// The action of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A packet arrives (`<`).
    Arrives(Packet),
    /// A packet is expected to be sent (`>`).
    Leaves(Packet),
    /// The application makes a system call.
    Calls(Call),
    /// Shell commands set variables.
    Sets(Vec<Order>),
    /// Statements check the state of the connection.
    Runs(Vec<Statement>),
}

/// A packet. Its numbers are relative to the initial sequence number of their direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Its flags.
    pub flags: Flags,
    /// `true` if the script writes AE, CWR and ECE as one number, the ACE field.
    pub has_ace: bool,
    /// The sequence number.
    pub seq: u32,
    /// The number of octets of payload.
    pub payload: u32,
    /// The acknowledgment number, or zero without ACK.
    pub ack: u32,
    /// The window field, if the script specifies it.
    pub window: Option<u16>,
    /// The ECN field of IP.
    pub ecn: Mark,
    /// The options. `None` if any options match (`<...>`).
    pub options: Option<Options>,
}

/// The ECN field of IP in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The script does not specify the field. Any value matches, and arriving packets are not
    /// ECN-capable.
    Unspecified,
    /// The packet has this codepoint.
    Is(Ecn),
    /// The packet has ECT(0) or ECT(1) (`ect01`).
    Capable,
}

/// A system call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The time at which a blocking call is expected to return, by the clock of its event.
    pub until: Option<acklab_base::Duration>,
    /// The expected return value. `None` if any value matches.
    pub result: Option<i64>,
    /// The expected error, if any.
    pub error: Option<String>,
}

/// `O_RDWR` of Linux.
pub const O_RDWR: i64 = 0o2;
/// `O_NONBLOCK` of Linux.
pub const O_NONBLOCK: i64 = 0o4000;

impl Call {
    /// Returns the argument at index `at`, if it is a number.
    #[must_use]
    pub fn number(&self, at: usize) -> Option<i64> {
        match self.arguments.get(at) {
            Some(Argument::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number of octets of `write(3, ..., 1000)`, whose buffer packetdrill creates. For
    /// `sendmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}, 0)`, returns the
    /// total of all buffers. `None` for any other form.
    #[must_use]
    pub fn octets(&self) -> Option<u64> {
        if let Some(Argument::Structure(fields)) = self.arguments.get(1) {
            return octets_of_message(fields);
        }
        let is_made = matches!(self.arguments.get(1), Some(Argument::Any | Argument::Text(_)));
        self.number(2).filter(|_| is_made).and_then(|octets| u64::try_from(octets).ok())
    }

    /// Returns `true` if the call writes to a stream.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self.name.as_str(), "write" | "send" | "sendmsg")
    }

    /// Returns the flags of `send(3, ..., 1000, MSG_EOR)` or `sendmsg(3, {...}, MSG_EOR)`.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        match self.arguments.get(if self.name == "sendmsg" { 2 } else { 3 }) {
            Some(Argument::Names(flags)) => flags.clone(),
            Some(Argument::Number(flags)) => vec![flags.to_string()],
            _ => Vec::new(),
        }
    }

    /// Returns the name of the option: `TCP_NODELAY` in
    /// `setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4)`.
    #[must_use]
    pub fn option(&self) -> &str {
        match self.arguments.get(2) {
            Some(Argument::Names(names)) => names.first().map_or("", String::as_str),
            _ => "",
        }
    }

    /// Returns the value of the option, if it is a number.
    #[must_use]
    pub fn option_value(&self) -> Option<i64> {
        match self.arguments.get(3) {
            Some(Argument::List(list)) => match list[..] {
                [Argument::Number(value)] => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `...`, which packetdrill fills in.
    Any,
    /// A number.
    Number(i64),
    /// Names, joined by `|`.
    Names(Vec<String>),
    /// A text.
    Text(String),
    /// A list, between brackets.
    List(Vec<Argument>),
    /// A structure, between braces: its fields with their names, if any.
    Structure(Vec<(Option<String>, Argument)>),
}

/// Returns the number of octets in the buffers of a message with these fields, each of the form
/// `{..., 1000}`. `None` for any other form.
fn octets_of_message(fields: &[(Option<String>, Argument)]) -> Option<u64> {
    let vector = fields.iter().find(|(name, _)| name.as_deref() == Some("msg_iov"));
    let Some((_, Argument::List(buffers))) = vector else { return None };
    buffers.iter().try_fold(0_u64, |sum, buffer| {
        let Argument::Structure(fields) = buffer else { return None };
        match fields[..] {
            [(None, Argument::Any), (None, Argument::Number(octets))] => sum.checked_add(u64::try_from(octets).ok()?),
            _ => None,
        }
    })
}

impl fmt::Display for Packet {
    /// Formats the argument in the notation of scripts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ecn {
            Mark::Unspecified => {}
            Mark::Is(Ecn::NotEct) => f.write_str("[noecn] ")?,
            Mark::Is(codepoint) => write!(f, "[{}] ", codepoint.name())?,
            Mark::Capable => f.write_str("[ect01] ")?,
        }
        let end = self.seq.wrapping_add(self.payload);
        write!(f, "{} {}:{end}({})", crate::flags::letters(self.flags, self.has_ace), self.seq, self.payload)?;
        if self.flags.contains(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if *options == Options::default() => Ok(()),
            Some(options) => write!(f, " <{}>", crate::options::listed(options)),
        }
    }
}
