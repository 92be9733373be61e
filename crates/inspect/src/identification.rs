//! Finds whether ACKs are missing, by the IPv4 identifications of the receiver.
//!
//! If a host numbers the packets of each connection, as Linux does, a skipped number shows that a
//! packet of the connection did not pass. Many hosts number all their packets with one counter, or
//! with random numbers (RFC 6864, §4.1, leaves the source free; Bellovin, *A Technique for Counting
//! NATted Hosts*, IMW 2002; Chen et al., *Exploiting the IPID Field to Infer Network Path and
//! End-System Characteristics*, PAM 2005; Salutari, Cicalese, Rossi, *A Closer Look at IP-ID
//! Behavior in the Wild*, PAM 2018). So a skipped number counts only if the counter is that of the
//! connection.
//!
//! A **control** is a step between two packets of the receiver between which no packet of the
//! connection can be missing. These are contiguous data that acknowledge nothing new, and an ACK
//! for the one segment after those of the previous ACK. A counter of the connection steps by one
//! there; a packet of n segments, which a NIC splits later or has coalesced, takes n numbers. Each
//! step has a bound as well: a receiver sends at most one ACK per segment.

mod controls;
mod law;

use crate::direction::Carries;
use crate::hosts::Between;
use crate::packet::Packet;
use acklab_wire::tcp::Flags;
use controls::Controls;
use law::Law;

/// A step so long that a counter of one connection does not make it between two of its packets.
const LONG_STEP: u16 = 512;
/// The minimum number of steps for a verdict; *chosen*: of these, the share below is one step.
const MIN_STEPS: u64 = 50;
/// One in this number of steps may be zero, backward or long, because packets overtook each other.
const IRREGULAR: u64 = 50;
/// The minimum share of missing packets that shows a thinner. A smaller share may be due to losses.
pub(crate) const MISSING: f64 = 0.1;
/// The maximum share of packets that a path loses. A thinner must remove more than this share, by
/// this number of standard deviations; *chosen*.
const LOSSES: f64 = 0.05;
const SIGMAS: f64 = 3.0;
/// The minimum number of steps, and their minimum share (one in this number), that refute a counter
/// of the connection. A single step may be that of a reordered packet; *chosen*.
const MIN_REFUTED: u64 = 3;
const REFUTED: u64 = 50;
/// The counter is that of the host if one in this number of its other packets has a number that the
/// connection has skipped; *chosen*.
const OF_OTHERS: u64 = 10;
/// A step of one in the byte order of Windows before XP and some other systems: it appears as 256
/// (Bellovin, §3).
const SWAPPED: u16 = 256;

/// A packet of the receiver.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    at: u64,
    identification: u16,
    is_syn_ack: bool,
    /// The number of segments of its data; one without data.
    segments: u32,
    /// The maximum number of packets of the receiver that may be missing before it: one ACK per
    /// segment that it acknowledges first, except its own, and its missing data.
    may_miss: Option<u32>,
    /// The number of segments that a pure ACK is the first to acknowledge, in order and without
    /// losses.
    covers: Option<u32>,
    /// The packets that the host has sent in between.
    others: Between,
}

/// The identifications of the receiver of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identifications {
    /// The last number, the count of numbers that its packet takes, and its time.
    last: Option<(u16, u32, u64)>,
    /// `true` if the first two are zero and one, as a simulation writes them at the point of
    /// capture.
    begins_with_zero: bool,
    /// `true` if the SYN-ACK had zero, and the next packet another number.
    begins_as_linux: bool,
    steps: u64,
    zeros: u64,
    /// Steps that are not those of a counter: zero, backward, or far ahead.
    irregular: u64,
    swapped: u64,
    /// The count of skipped numbers.
    skipped: u64,
    /// The packets that the host has sent in between, and the count of those with a skipped number.
    others: u64,
    of_others: u64,
    /// The count of steps that skip more numbers than the receiver can have sent packets.
    beyond: u64,
    controls: Controls,
    law: Law,
}

/// The evidence of identifications.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// The share of the receiver's packets that did not pass, and the proof that they belong to the
    /// connection.
    Missing(f64, String),
    /// Inconclusive, with the reason.
    Nothing(String),
}

impl Identifications {
    /// Records a segment of the receiver that carries `carries`. It is the first to acknowledge
    /// `covers` segments, if that is known.
    #[inline]
    pub(crate) fn segment(&mut self, packet: &Packet<'_>, carries: Carries, covers: Option<u32>) {
        let Some(identification) = packet.identification else { return };
        let is_pure = packet.segment.is_pure_ack();
        // An ACK of the same data may have been sent alone before this packet.
        let own = u32::from(is_pure);
        let may_miss = covers.zip(carries.missing).map(|(covers, missing)| covers.saturating_sub(own) + missing);
        self.packet(&Numbered {
            at: packet.at,
            identification,
            is_syn_ack: packet.segment.flags.contains(Flags::SYN | Flags::ACK),
            segments: carries.segments,
            may_miss,
            covers: covers.filter(|&covers| is_pure && covers > 0),
            others: packet.others,
        });
    }

    /// Records a packet of the receiver.
    #[inline]
    fn packet(&mut self, packet: &Numbered) {
        let Numbered { at, identification, segments, .. } = *packet;
        // Zero is not a number, unless the counter has reached it.
        let wraps = self.last.is_some_and(|(last, ..)| 0_u16.wrapping_sub(last) < LONG_STEP);
        if identification == 0 && !wraps {
            self.zeros += 1;
            self.begins_as_linux |= packet.is_syn_ack;
            return;
        }
        let Some((last, takes, since)) = self.last.replace((identification, segments, at)) else {
            self.begins_with_zero = identification == 1 && self.zeros == 1;
            self.begins_as_linux &= !self.begins_with_zero;
            return;
        };
        self.steps += 1;
        let step = identification.wrapping_sub(last);
        self.swapped += u64::from(step.is_multiple_of(SWAPPED) && step > 0);
        if step == 0 || step >= LONG_STEP {
            self.irregular += 1;
            return;
        }
        // A NIC may use one number for all segments of a packet.
        let skipped = u32::from(step).saturating_sub(takes);
        self.skipped += u64::from(skipped);
        self.others += u64::from(packet.others.packets);
        self.of_others += u64::from(packet.others.skipped);
        self.beyond += u64::from(packet.may_miss.is_some_and(|maximum| skipped > maximum));
        self.controls.step(packet.may_miss == Some(0), skipped, at.saturating_sub(since));
        if let Some(covers) = packet.covers {
            self.law.ack(covers, skipped);
        }
    }

    /// Returns the evidence of the identifications.
    pub(crate) fn evidence(&self) -> Evidence {
        match self.silent().or_else(|| self.refuted()) {
            Some(reason) => Evidence::Nothing(reason),
            None => self.share(),
        }
    }

    /// Returns the reason why the numbers are not those of a counter, or `None` if they may be.
    fn silent(&self) -> Option<String> {
        let Self { steps, irregular, zeros, .. } = *self;
        if steps < MIN_STEPS {
            return Some(if zeros > steps {
                format!("{zeros} identifications are zero")
            } else {
                format!("{steps} steps between identifications, expected at least {MIN_STEPS}")
            });
        }
        if irregular * IRREGULAR > steps {
            let swapped = if 10 * self.swapped > 9 * steps {
                ": they are multiples of 256, those of a counter of the host in the other byte order"
            } else {
                ""
            };
            return Some(format!(
                "identifications count nothing: {irregular} of {steps} steps are none, back, or longer than {LONG_STEP}{swapped}"
            ));
        }
        (self.begins_with_zero && self.skipped == 0).then(|| {
            "identifications begin with zero, as where a simulation writes them at the point of capture".to_owned()
        })
    }

    /// Returns the reason why the counter cannot be that of the connection, or `None` if it can.
    fn refuted(&self) -> Option<String> {
        let is_refuted = |count: u64, of: u64| count >= MIN_REFUTED && count * REFUTED > of;
        let by_host = |text: String| Some(format!("identifications are counted by the host: {text}"));
        if is_refuted(self.controls.skipping, self.controls.steps) {
            return by_host(format!(
                "{} of {} steps between contiguous segments skip",
                self.controls.skipping, self.controls.steps
            ));
        }
        if is_refuted(self.beyond, self.steps) {
            return by_host(format!("{} of {} steps skip more ACKs than there are segments", self.beyond, self.steps));
        }
        // At random, one of 128 numbers of another counter falls into a step of 512.
        if self.of_others >= MIN_REFUTED && self.of_others * OF_OTHERS > self.others {
            return by_host(format!(
                "{} of {} other packets that it has sent meanwhile have skipped ones",
                self.of_others, self.others
            ));
        }
        self.law.refuted()
    }

    /// Returns the share of missing packets, if it is small or if the counter is that of the
    /// connection.
    fn share(&self) -> Evidence {
        let all = self.skipped + self.steps;
        let share = self.skipped as f64 / all as f64;
        let of = format!("{} of {all} identifications are missing", self.skipped);
        if share < MISSING {
            return Evidence::Missing(share, of);
        }
        if share - SIGMAS * (share * (1.0 - share) / all as f64).sqrt() < LOSSES {
            return Evidence::Nothing(format!("{of}, too few to distinguish them from losses"));
        }
        let proof = self.controls.proof().or_else(|| self.of_linux()).or_else(|| self.law.proof());
        match proof {
            Some(proof) => Evidence::Missing(share, format!("{of}, {proof}")),
            None => Evidence::Nothing(format!(
                "{of}, and nothing shows that the connection counts them and not its host: {}",
                self.controls.lack()
            )),
        }
    }

    /// Returns the proof that the stack is Linux. It gives the SYN-ACK zero, and then counts the
    /// packets of the connection from a random number on (`ip_build_and_send_pkt`, and `inet_id` of
    /// `tcp_v4_syn_recv_sock`). Other stacks that begin with zero stay there (RFC 6864, §4.1).
    fn of_linux(&self) -> Option<String> {
        (self.begins_as_linux && self.controls.within() >= MIN_REFUTED && self.controls.skipping == 0).then(|| {
            format!("of a connection that begins with zero, as those of Linux, and {}", self.controls.unskipped())
        })
    }
}

#[cfg(test)]
mod tests;
