//! Negotiates ECN between both ends, with flags of the handshake.
//!
//! | `ecn` | the receiver echoes | source |
//! |---|---|---|
//! | `classic` | ECE on every ACK, from a mark until the sender sends CWR | RFC 3168, §6.1.3 |
//! | `dctcp` | ECE only on the ACKs of marked packets | RFC 8257, §3.2 |
//! | `accurate` | the number of marked packets, modulo 8 | RFC 9768, §3.2.2 |

mod report;

pub(super) use report::OctetReport;

use acklab_base::Ecn;
use acklab_wire::tcp::{Flags, Segment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of SYNs that request AccECN. Later SYNs do not (RFC 9768, §3.1.4.1).
const ACCURATE_SYNS: u32 = 2;

/// How a connection uses explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnConfig {
    /// Disabled: neither end offers or accepts ECN.
    Off,
    /// Echo a mark until the sender has reduced its window (RFC 3168, §6.1).
    Classic,
    /// Echo each mark, with the handshake of RFC 3168 (RFC 8257, §3.2).
    Dctcp,
    /// Count marked packets in three bits of the header (RFC 9768).
    Accurate,
}

impl EcnConfig {
    /// Returns the mode's name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Classic => "classic",
            Self::Dctcp => "dctcp",
            Self::Accurate => "accurate",
        }
    }

    /// Returns `true` if the echo reports the number of marks, and not only their presence.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::Dctcp | Self::Accurate)
    }

    /// Returns the codepoint of SYN and SYN-ACK: Not-ECT (RFC 3168, §6.1.1). With `dctcp`, they are
    /// ECN-capable, because data-centre fabrics may drop Not-ECT packets (RFC 8257, §3.6).
    pub(super) const fn handshake_codepoint(self) -> Ecn {
        match self {
            Self::Dctcp => Ecn::Ect0,
            Self::Off | Self::Classic | Self::Accurate => Ecn::NotEct,
        }
    }

    /// Returns the flags of a SYN that offers this mode. `unanswered` is the number of earlier SYNs
    /// (RFC 3168, §6.1.1; RFC 9768, §3.1.1).
    pub(super) fn offer(self, unanswered: u32) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Accurate if unanswered >= ACCURATE_SYNS => Flags::NONE,
            Self::Classic | Self::Dctcp => Flags::ECE | Flags::CWR,
            Self::Accurate => Flags::AE | Flags::ECE | Flags::CWR,
        }
    }

    /// Returns the mode that a receiver configured with `self` accepts, given the flags of a SYN.
    pub(super) fn accept(self, offer: Flags) -> Self {
        let classic = (Flags::ECE | Flags::CWR).ace();
        match (self, offer.ace()) {
            (Self::Off, _) | (_, 0) => Self::Off,
            (Self::Accurate, flags) if flags == classic => Self::Classic,
            // Any other combination requests AccECN or an extension of AccECN (RFC 9768, §3.1.2).
            (Self::Accurate, _) => Self::Accurate,
            // The handshake of RFC 3168, §6.1.1, does not use the third flag.
            (Self::Classic | Self::Dctcp, flags) => {
                if flags & classic == classic {
                    self
                } else {
                    Self::Off
                }
            }
        }
    }

    /// Returns the flags of the SYN-ACK, if the ends have agreed on `self`. `syn` is the codepoint
    /// with which the SYN arrived.
    pub(super) fn answer(self, syn: Ecn) -> Flags {
        match self {
            Self::Off => Flags::NONE,
            Self::Classic | Self::Dctcp => Flags::ECE,
            Self::Accurate => reflect(syn),
        }
    }

    /// Returns the mode of a sender that has offered `self`, as determined by the flags of the
    /// SYN-ACK (RFC 3168, §6.1.1; RFC 9768, Table 2).
    pub(super) fn conclude(self, answer: Flags) -> Self {
        match (self, answer.ace()) {
            (Self::Off, _) => Self::Off,
            (Self::Accurate, 0b000 | 0b111) => Self::Off,
            (Self::Accurate, 0b001) => Self::Classic,
            // 0b101 is reserved. Until the value has a use, it confirms AccECN (RFC 9768, §3.1.3).
            (Self::Accurate, _) => Self::Accurate,
            // ECE alone confirms ECN. ECE with CWR is a broken reflection of the SYN (RFC 3168,
            // §6.1.1).
            (Self::Classic | Self::Dctcp, flags) => {
                if flags & 0b011 == 0b001 {
                    self
                } else {
                    Self::Off
                }
            }
        }
    }
}

/// Returns the handshake encoding of a codepoint with which a SYN or a SYN-ACK arrived (RFC 9768,
/// Tables 2 and 3).
pub(super) fn reflect(codepoint: Ecn) -> Flags {
    Flags::from_ace(match codepoint {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The state of the path, derived from AccECN feedback on a packet of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// `true` if packets may be sent as ECN-capable.
    pub(super) may_send_ect: bool,
    /// `true` if the peer's feedback is processed.
    pub(super) heeds_feedback: bool,
    /// `true` if the packet of the handshake arrived with a CE mark.
    pub(super) is_marked: bool,
}

impl Verdict {
    const SOUND: Self = Self { may_send_ect: true, heeds_feedback: true, is_marked: false };
    /// The path changes codepoints, because a packet sent as Not-ECT arrived as ECT (RFC 9768,
    /// §3.2.2.3).
    const MANGLED: Self = Self { may_send_ect: false, ..Self::SOUND };

    /// Returns the state of the path, from a `syn_ack` that agrees on AccECN (RFC 9768, Table 2).
    /// 0b101 means an unchanged codepoint (§3.1.3).
    pub(super) fn of_syn_ack(syn_ack: &Segment) -> Self {
        match syn_ack.flags.ace() {
            0b010 | 0b101 => Self::SOUND,
            _ => Self::MANGLED,
        }
    }

    /// Returns the state of the path, from the first segment after the SYN-ACK (RFC 9768, Table 4).
    /// Only a pure ACK without SACK has the handshake encoding.
    pub(super) fn of_ack_of_syn_ack(ack: &Segment) -> Self {
        if !ack.is_pure_ack() || !ack.options.sack.is_empty() {
            return Self::SOUND;
        }
        match ack.flags.ace() {
            0b000 => Self { heeds_feedback: false, ..Self::MANGLED },
            0b011 | 0b100 => Self::MANGLED,
            0b110 => Self { is_marked: true, ..Self::MANGLED },
            // 0b001, 0b101 and 0b111 have no meaning.
            _ => Self::SOUND,
        }
    }
}

/// The initial value of the counters of marked packets, r.cep and s.cep (RFC 9768, §3.2.1).
pub(super) const FIRST_COUNT: u64 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [EcnConfig; 4] = [EcnConfig::Off, EcnConfig::Classic, EcnConfig::Dctcp, EcnConfig::Accurate];

    /// Returns the modes that sender and receiver agree on.
    fn agreed(sender: EcnConfig, receiver: EcnConfig) -> (EcnConfig, EcnConfig) {
        let accepted = receiver.accept(sender.offer(0));
        (sender.conclude(accepted.answer(Ecn::NotEct)), accepted)
    }

    #[test]
    fn both_ends_agree_whatever_they_speak() {
        for config in ALL {
            assert_eq!(agreed(config, config), (config, config));
            assert_eq!(agreed(config, EcnConfig::Off), (EcnConfig::Off, EcnConfig::Off));
            assert_eq!(agreed(EcnConfig::Off, config), (EcnConfig::Off, EcnConfig::Off));
        }
        assert_eq!(agreed(EcnConfig::Accurate, EcnConfig::Classic), (EcnConfig::Classic, EcnConfig::Classic));
        assert_eq!(agreed(EcnConfig::Classic, EcnConfig::Accurate), (EcnConfig::Classic, EcnConfig::Classic));
    }

    #[test]
    fn a_reflection_is_no_answer() {
        assert_eq!(EcnConfig::Classic.conclude(EcnConfig::Classic.offer(0)), EcnConfig::Off);
        assert_eq!(EcnConfig::Accurate.conclude(EcnConfig::Accurate.offer(0)), EcnConfig::Off);
    }

    #[test]
    fn the_reserved_answer_agrees_on_accurate() {
        assert_eq!(EcnConfig::Accurate.conclude(Flags::from_ace(0b101)), EcnConfig::Accurate);
    }

    /// RFC 9768, §3.1.4.1. A classic offer is repeated unchanged.
    #[test]
    fn the_third_syn_does_not_ask_for_accurate() {
        let offers = [0, 1, 2, 3].map(|unanswered| EcnConfig::Accurate.offer(unanswered).ace());
        assert_eq!(offers, [0b111, 0b111, 0, 0]);
        assert_eq!(EcnConfig::Classic.offer(5), EcnConfig::Classic.offer(0));
    }

    #[test]
    fn unknown_offers_ask_for_no_less_than_accurate() {
        for ace in [0b001, 0b010, 0b100, 0b101, 0b110, 0b111] {
            assert_eq!(EcnConfig::Accurate.accept(Flags::from_ace(ace)), EcnConfig::Accurate, "{ace:03b}");
        }
    }

    #[test]
    fn the_answer_says_how_the_syn_arrived() {
        let answers = Ecn::ALL.map(|codepoint| EcnConfig::Accurate.answer(codepoint).ace());
        assert_eq!(answers, [0b010, 0b011, 0b100, 0b110]);
    }
}
