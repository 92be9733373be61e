//! Packets as stored in traces and figures.

use crate::writes::Pause;

/// Data that passed the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) at: u64,
    pub(crate) start: u64,
    pub(crate) length: u32,
    pub(crate) passing: Passing,
    /// `true` if they may end a write of the application.
    pub(crate) ends_write: bool,
    /// `true` if they are the first since a step of the capture's clock.
    pub(crate) is_cut: bool,
}

/// How data passed the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// In sequence.
    New,
    /// Out of sequence in the file only.
    Misfiled,
    /// Retransmitted.
    Retransmitted,
    /// Overtaken by later data.
    Reordered,
}

/// An acknowledgment that passed the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) at: u64,
    pub(crate) ack: u64,
    /// Octets that the receiver holds, in order or not.
    pub(crate) delivered: u64,
    /// Its timestamp.
    pub(crate) value: Option<u32>,
    /// The number of octets that it acknowledges in order, if nothing was missing before it; zero
    /// otherwise.
    pub(crate) covers: u32,
    /// The octets of its packet.
    pub(crate) octets: u16,
    /// The receive window, if its scale is known.
    pub(crate) window: Option<u32>,
    pub(crate) is_pure: bool,
    /// Whether the application paused between the data of the previous ACK and those of this one.
    pub(crate) pause: Pause,
}

/// The contents of one of the sender's packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carries {
    /// The number of its segments; 1 if it has no data.
    pub(crate) segments: u32,
    /// The number of segments missing before it, if it is in sequence.
    pub(crate) missing: Option<u32>,
}

impl Carries {
    /// A packet without its own data.
    pub(crate) const NO_DATA: Self = Self { segments: 1, missing: Some(0) };
    /// A packet whose position in the sequence is not known.
    pub(crate) const OUT_OF_SEQUENCE: Self = Self { segments: 1, missing: None };
}
