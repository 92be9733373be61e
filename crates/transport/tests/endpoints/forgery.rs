//! Forges segments that no endpoint has sent.
//!
//! An honest forger may send anything except segments that make a correct endpoint lose data. It
//! acknowledges cumulatively only data that have arrived, and sends only bytes of the stream. SACK
//! blocks, windows, timestamps and flags are arbitrary.

use super::network::{Network, Way};
use super::octets::Octets;
use acklab_base::Ecn;
use acklab_wire::tcp::{Flags, Options, SackBlock, Segment, SeqNumber, Timestamps};

/// A number of bytes that exceeds the payload of any forged segment.
pub(crate) const LARGEST_FORGED: u32 = 3000;

/// Returns a segment for the sender.
pub(crate) fn forge_ack(network: &Network, octets: &mut Octets<'_>) -> (Way, Segment) {
    let (una, nxt) = (network.sender.scoreboard().una(), network.sender.scoreboard().nxt());
    let first = network.first();
    let mut ack = match octets.below(6) {
        0 | 1 => SeqNumber::at(first, una),
        2 => SeqNumber::at(first, network.acknowledged),
        3 => SeqNumber::at(first, una + octets.below(nxt - una + 1)),
        4 => SeqNumber::at(first, nxt + 1 + octets.below(3000)),
        _ => SeqNumber(octets.word()),
    };
    let offset = network.sender.offset_of(ack);
    if network.is_honest && (una..=nxt).contains(&offset) && offset > network.acknowledged {
        ack = SeqNumber::at(first, network.acknowledged);
    }
    let mut flags = octets.one_of(&[
        Flags::ACK,
        Flags::ACK,
        Flags::ACK,
        Flags::NONE,
        Flags::ACK | Flags::RST,
        Flags::ACK | Flags::ECE,
        Flags::ACK | Flags::CWR,
        Flags::ACK | Flags::AE | Flags::ECE,
        Flags::ACK | Flags::SYN,
    ]);
    if network.is_honest && ack == first && network.sender.scoreboard().nxt() == 0 {
        // Segments of the handshake are not forged.
        flags = Flags::NONE;
    }
    let blocks = octets.below(5);
    let sack = (0..blocks)
        .map(|_| {
            let start = (una + octets.below(nxt - una + 20)).saturating_sub(octets.below(12));
            let end = start + octets.below(nxt.saturating_sub(start) + 20);
            SackBlock { start: SeqNumber::at(first, start), end: SeqNumber::at(first, end) }
        })
        .collect();
    let options = Options { sack, timestamps: timestamps(octets), ..Options::default() };
    let segment = Segment {
        ecn: Ecn::NotEct,
        seq: SeqNumber(octets.word()),
        ack,
        flags,
        window: octets.word() as u16,
        options,
        payload: if octets.once_in(4) { 1 } else { 0 },
    };
    (Way::Backward, segment)
}

/// Returns a segment for the receiver.
pub(crate) fn forge_data(network: &Network, octets: &mut Octets<'_>) -> (Way, Segment) {
    let mut flags =
        octets.one_of(&[Flags::ACK, Flags::ACK, Flags::ACK | Flags::CWR, Flags::NONE, Flags::ACK | Flags::RST]);
    let (mut start, mut payload);
    if network.is_honest {
        let sent = network.sent_data();
        start = octets.below(sent);
        payload = octets.below((sent - start + 1).min(u64::from(LARGEST_FORGED))) as u32;
    } else {
        start = (network.acknowledged + octets.below(5000)).saturating_sub(octets.below(3000));
        payload = octets.below(u64::from(LARGEST_FORGED)) as u32;
        flags = octets.one_of(&[flags, flags, Flags::SYN, Flags::FIN | Flags::ACK]);
    }
    if octets.once_in(16) {
        // Without data, at any sequence number.
        (start, payload) = (u64::from(octets.word()), 0);
    }
    let segment = Segment {
        ecn: octets.one_of(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]),
        seq: SeqNumber::at(network.first(), start),
        ack: SeqNumber(octets.word()),
        flags,
        window: octets.word() as u16,
        options: Options { timestamps: timestamps(octets), ..Options::default() },
        payload,
    };
    (Way::Forward, segment)
}

fn timestamps(octets: &mut Octets<'_>) -> Option<Timestamps> {
    match octets.below(4) {
        0 => None,
        1 => Some(Timestamps { value: octets.word(), echo: octets.word() }),
        _ => Some(Timestamps { value: octets.below(4096) as u32, echo: octets.below(4096) as u32 }),
    }
}
