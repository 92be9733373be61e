//! The phase of the connection, its sequence numbers and its clock. Also creates the segments with
//! these numbers.

use super::super::clock::TickClock;
use super::super::config::{RttClock, TcpConfig};
use super::ack_request::{Offer, Requests};
use acklab_base::{Duration, Ecn, Instant};
use acklab_wire::tcp::{Flags, Options, Segment, SeqNumber, Timestamps};

/// RFC 9293, §3.7.1: the MSS over IPv4 if the peer announces no MSS.
const DEFAULT_SEND_MSS: u16 = 536;
/// Linux's `TCP_MIN_SND_MSS`: the minimum MSS, which replaces a smaller MSS.
const MIN_SEND_MSS: u16 = 48;
/// The size of timestamps in each segment, in bytes (RFC 7323, Appendix A).
const TIMESTAMPS_OCTETS: u64 = 12;

/// The state of the connection (RFC 9293, §3.3.2), with the distinctions that a sender of data
/// needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The connection is not opened yet.
    Closed,
    /// Waits for the peer's SYN.
    Listen,
    /// The SYN has been sent.
    SynSent,
    /// The peer's SYN has arrived, and the SYN-ACK is not acknowledged.
    SynReceived,
    /// Data may be sent.
    Established,
    /// All data and the FIN are acknowledged.
    Finished,
    /// The connection ended early, by a RST or by the application.
    Aborted,
}

/// The result of the handshake, and the fields of every segment.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// The sequence number of the first byte of data.
    first: SeqNumber,
    /// The sequence number of the next byte from the peer, for the acknowledgment field.
    peer_next: SeqNumber,
    /// The time at which the connection was opened.
    opened_at: Instant,
    pub(super) syn_sent_at: Instant,
    pub(super) syn_due: bool,
    /// The number of SYNs that were sent.
    syns: u32,
    pub(super) ack_due: bool,
    /// `true` if both ends support SACK.
    pub(super) has_sack: bool,
    rtt_clock: RttClock,
    /// The clock of timestamps, or `None` without timestamps.
    clock: Option<TickClock>,
    timestamp_to_echo: u32,
}

impl Connection {
    pub(super) fn new(config: &TcpConfig, initial: SeqNumber, phase: Phase) -> Self {
        Self {
            phase,
            first: SeqNumber::at(initial, 1),
            peer_next: SeqNumber(0),
            opened_at: Instant::ZERO,
            syn_sent_at: Instant::ZERO,
            syn_due: false,
            syns: 0,
            ack_due: false,
            has_sack: config.sack,
            rtt_clock: config.rtt_clock,
            clock: config.timestamps.map(TickClock::new),
            timestamp_to_echo: 0,
        }
    }

    /// Opens the connection for the application: schedules a SYN.
    pub(super) const fn open(&mut self, now: Instant) {
        (self.phase, self.syn_due, self.opened_at) = (Phase::SynSent, true, now);
    }

    /// Applies the options of the SYN-ACK. Returns `false` if the SYN-ACK does not acknowledge the
    /// SYN.
    pub(super) fn establish(&mut self, syn_ack: &Segment) -> bool {
        if !syn_ack.flags.contains(Flags::SYN) || !self.is_synchronized_by(syn_ack) {
            return false;
        }
        self.phase = Phase::Established;
        self.adopt(syn_ack);
        self.ack_due = true;
        true
    }

    /// Applies the options of the peer's `syn` for the response.
    pub(super) fn synchronize(&mut self, now: Instant, syn: &Segment) {
        if self.phase == Phase::Listen {
            self.opened_at = now;
        }
        self.phase = Phase::SynReceived;
        self.adopt(syn);
    }

    /// Applies the peer's sequence number and options in its SYN or SYN-ACK.
    fn adopt(&mut self, syn: &Segment) {
        self.peer_next = SeqNumber::at(syn.seq, 1);
        if syn.options.timestamps.is_none() {
            self.clock = None;
        }
        self.has_sack &= syn.options.sack_permitted;
        let _ = self.note_timestamp(syn);
    }

    /// Returns the payload of a full-sized segment. The peer announced `mss`, and this end can send
    /// at most `own` (RFC 9293, §3.7.1). Options reduce the payload (RFC 6691).
    pub(super) fn full_size(&self, mss: Option<u16>, own: u16) -> u64 {
        let announced = mss.unwrap_or(DEFAULT_SEND_MSS).max(MIN_SEND_MSS).min(own);
        u64::from(announced).saturating_sub(if self.clock.is_some() { TIMESTAMPS_OCTETS } else { 0 }).max(1)
    }

    /// Returns `true` if `segment` acknowledges this end's SYN.
    pub(super) fn is_synchronized_by(&self, segment: &Segment) -> bool {
        segment.flags.contains(Flags::ACK) && segment.ack == self.first
    }

    /// Returns the sequence number of the byte at `offset`.
    #[inline]
    pub(super) const fn seq_at(&self, offset: u64) -> SeqNumber {
        SeqNumber::at(self.first, offset)
    }

    /// Returns the stream offset of `seq` that is nearest to `near`.
    #[inline]
    pub(super) const fn offset_near(&self, seq: SeqNumber, near: u64) -> u64 {
        seq.offset_near(self.first, near)
    }

    /// Returns `true` if the timestamp of `segment` is newer than the timestamp of the previous
    /// segment.
    #[inline]
    pub(super) fn note_timestamp(&mut self, segment: &Segment) -> bool {
        let Some(timestamps) = segment.options.timestamps else { return false };
        let before = std::mem::replace(&mut self.timestamp_to_echo, timestamps.value);
        timestamps.value.wrapping_sub(before).cast_signed() > 0
    }

    #[inline]
    pub(super) fn timestamps(&mut self, now: Instant) -> Option<Timestamps> {
        let value = self.clock.as_mut()?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }

    /// Returns the time since the departure of the data that `segment` acknowledges.
    #[inline]
    pub(super) fn measure(&mut self, now: Instant, sent_at: Instant, segment: &Segment) -> Duration {
        let by_echo = if self.rtt_clock == RttClock::Timestamps { self.age_of_echo(now, segment) } else { None };
        by_echo.unwrap_or_else(|| now.since(sent_at))
    }

    /// Returns the unit of round-trip samples, if the unit is coarser than the clock of the run.
    #[inline]
    pub(super) fn rtt_granularity(&self) -> Duration {
        let clock = self.clock.as_ref().filter(|_| self.rtt_clock == RttClock::Timestamps);
        clock.map_or(Duration::ZERO, TickClock::tick)
    }

    /// Returns the age of the timestamp that `segment` echoes. An echo of a timestamp that was
    /// never sent is ignored.
    #[inline]
    pub(super) fn age_of_echo(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        let (timestamps, clock) = (segment.options.timestamps?, self.clock.as_mut()?);
        let ticks = u64::from(clock.read(now).wrapping_sub(timestamps.echo));
        let is_known = clock.tick().saturating_mul(ticks) <= now.since(self.opened_at) + clock.tick();
        // An age of less than a tick must not be zero.
        is_known.then(|| (clock.tick() * ticks).max(Duration::from_micros(1)))
    }

    /// Returns an upper bound of the departure time of the packet that elicited `segment`, derived
    /// from the echoed timestamp.
    pub(super) fn echoed_before(&mut self, now: Instant, segment: &Segment) -> Option<Instant> {
        let echo = segment.options.timestamps?.echo;
        self.clock.as_mut()?.end_of(now, echo)
    }

    /// Returns a segment with the sequence number `seq`, an acknowledgment and timestamps, and
    /// without data.
    pub(super) fn bare(&mut self, now: Instant, seq: SeqNumber) -> Segment {
        Segment {
            ecn: Ecn::NotEct,
            seq,
            ack: self.peer_next,
            flags: Flags::ACK,
            window: u16::MAX,
            options: Options { timestamps: self.timestamps(now), ..Options::default() },
            payload: 0,
        }
    }

    /// Writes a segment with data at `offset`.
    #[inline(always)]
    pub(super) fn write_data(&mut self, now: Instant, offset: u64, data: Data, place: &mut Segment) {
        let timestamps = self.timestamps(now);
        let Requests { ack_ratio, ack_rate } = data.requests;
        *place = Segment {
            ecn: data.ecn,
            seq: self.seq_at(offset),
            ack: self.peer_next,
            flags: data.flags,
            window: u16::MAX,
            options: Options { timestamps, ack_ratio, ack_rate, ..Options::default() },
            payload: data.payload,
        };
    }

    /// Returns a SYN that offers the options of `config`.
    pub(super) fn syn(&mut self, now: Instant, config: &TcpConfig) -> Segment {
        let timestamps = self.clock.as_mut().map(|clock| clock.read(now)).map(|value| Timestamps { value, echo: 0 });
        let offer = config.ecn.offer(self.syns);
        let Offer { ack_congestion_control, ack_rate } = Offer::of(config);
        self.syns += 1;
        Segment {
            ecn: config.ecn.handshake_codepoint(),
            seq: SeqNumber(self.first.0.wrapping_sub(1)),
            ack: self.peer_next,
            flags: Flags::SYN | offer,
            window: u16::MAX,
            options: Options {
                timestamps,
                mss: Some(announced_mss(config)),
                window_scale: config.window_scaling.then_some(0),
                sack_permitted: config.sack,
                ack_congestion_control,
                ack_rate,
                ..Options::default()
            },
            payload: 0,
        }
    }
}

/// The fields that only data segments have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) payload: u32,
    pub(super) flags: Flags,
    pub(super) ecn: Ecn,
    pub(super) requests: Requests,
}

/// Returns the MSS that this end announces: the payload that it can receive before options are
/// negotiated. The MSS excludes options, so a segment with timestamps carries 12 bytes less (RFC
/// 6691).
pub(in crate::tcp) fn announced_mss(config: &TcpConfig) -> u16 {
    let with_options = config.mss.get() + if config.timestamps.is_some() { TIMESTAMPS_OCTETS } else { 0 };
    u16::try_from(with_options).unwrap_or(u16::MAX)
}
