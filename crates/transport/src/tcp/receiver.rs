//! The TCP receiver: reassembles the stream, asks the ACK policy, acknowledges.

mod ecn;
mod measure;
mod piggyback;
mod port;
mod sack;
mod tell;
mod window;

use super::clock::TickClock;
use super::config::Config;
use super::sender::announced_mss;
use crate::ack::{self, AckPolicy, Acknowledger, Arrival, Packet, Policy, Ranges, Reason};
use acklab_base::random::Seed;
use acklab_base::{Ecn, Instant, Machine};
use acklab_wire::tcp::{Flags, Options, SackBlocks, Segment, SeqNumber, Timestamps};
use ecn::Echo;
use std::ops::Range;
pub use window::Reading;
use window::Window;

/// Counts of one receiver; octets are payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Segments with data that arrived.
    pub data_segments: u64,
    /// Those that carried nothing new.
    pub duplicates: u64,
    /// Segments with data that arrived marked Congestion Experienced.
    pub marked: u64,
    /// ACKs sent, by the [index](Reason::index) of their reason.
    pub acks: [u64; Reason::COUNT],
}

impl Default for Counters {
    fn default() -> Self {
        Self { data_segments: 0, duplicates: 0, marked: 0, acks: [0; Reason::COUNT] }
    }
}

impl Counters {
    /// ACKs sent that carry no data, for whatever reason.
    #[must_use]
    pub fn acks_sent(&self) -> u64 {
        self.acks.iter().sum::<u64>() - self.acks[Reason::Piggyback.index()]
    }
}

/// One end of a connection: the one that is opened and acknowledges.
#[derive(Debug)]
pub struct Receiver {
    config: Config,
    /// This end's initial sequence number.
    initial: SeqNumber,
    /// The window scale that this end offers (RFC 7323, §2.3).
    window_shift: u8,
    window: Window,
    clock: Option<TickClock>,
    agreed: Option<Agreed>,
    timestamp_to_echo: u32,
    /// Last.ACK.sent (RFC 7323, §4.3).
    last_ack_sent: u64,
    fin: Option<u64>,
    echo: Echo,
    /// How the newest SYN arrived.
    syn: Ecn,
    stream: Ranges,
    /// Octets that arrived twice and are to be reported in the next ACK (RFC 2883).
    duplicate: Option<Range<u64>>,
    acknowledger: Acknowledger,
    /// An ACK that was built before the newest segment counted and leaves before any other.
    split: Option<Segment>,
    syn_ack_due: bool,
    /// When the SYN-ACK was sent, if only once and nothing has arrived since. At the end that opens the connection: when the SYN was sent.
    syn_sent_at: Option<Instant>,
    counters: Counters,
}

/// What the peer's first SYN has negotiated.
#[derive(Clone, Copy, Debug)]
struct Agreed {
    first: SeqNumber,
    has_sack: bool,
    has_timestamps: bool,
    has_scaling: bool,
    /// The sender may set the ACK Ratio (RFC 5690, §4.1).
    has_ack_ratio: bool,
}

impl Receiver {
    /// A receiver that listens. `name` names its random streams.
    #[must_use]
    pub fn new(config: Config, policy: Policy, seed: Seed, name: &str) -> Self {
        let initial = seed.stream(&format!("flow/{name}/receiver-isn")).below(1 << 32) as u32;
        Self::numbered(config, policy, SeqNumber(initial))
    }

    /// A receiver whose end of the connection has this initial sequence number.
    pub(super) fn numbered(config: Config, policy: Policy, initial: SeqNumber) -> Self {
        let buffer = config.receive_buffer.get();
        let shift = (0..14).find(|shift| buffer >> shift <= u64::from(u16::MAX)).unwrap_or(14);
        Self {
            config,
            initial,
            window_shift: shift,
            window: Window::new(buffer, config.mss.get()),
            clock: config.timestamps.map(TickClock::new),
            agreed: None,
            timestamp_to_echo: 0,
            last_ack_sent: 0,
            fin: None,
            echo: Echo::new(super::ecn::Config::Off),
            syn: Ecn::NotEct,
            stream: Ranges::default(),
            duplicate: None,
            acknowledger: Acknowledger::new(policy),
            split: None,
            syn_ack_due: false,
            syn_sent_at: None,
            counters: Counters::default(),
        }
    }

    /// Octets of the stream that have arrived, in order or not, each counted once; the FIN counts as one.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.stream.received()
    }

    /// Counts since the connection began.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        Counters { acks: *self.acknowledger.counts(), ..self.counters }
    }

    /// The name of a reason among [its counts](Counters::acks).
    #[must_use]
    pub fn reason_name(&self, reason: Reason) -> &str {
        self.acknowledger.reason_name(reason)
    }

    /// When the newest data arrived that the last ACK reports.
    #[must_use]
    pub const fn newest_arrival(&self) -> Instant {
        self.acknowledger.newest_reported()
    }

    /// Returns `true` if there is an ACK to be sent now.
    #[must_use]
    pub const fn owes_now(&self) -> bool {
        self.acknowledger.due().is_some() || self.split.is_some() || self.syn_ack_due
    }

    /// Stream offset of `seq`, a sequence number of the peer's data.
    #[must_use]
    pub fn offset_of(&self, seq: SeqNumber) -> u64 {
        self.agreed.map_or(0, |agreed| seq.offset_near(agreed.first, self.stream.next()))
    }

    /// A SYN opens the connection.
    fn open(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.agree(segment, self.config.ecn.accept(segment.flags));
            self.syn_ack_due = true;
        }
    }

    /// Adopts what the peer's SYN or SYN-ACK `segment` negotiates, with this use of ECN.
    fn agree(&mut self, segment: &Segment, ecn: super::ecn::Config) {
        let options = &segment.options;
        let has_scaling = self.config.window_scaling && options.window_scale.is_some();
        self.agreed = Some(Agreed {
            first: SeqNumber::at(segment.seq, 1),
            has_sack: self.config.sack && options.sack_permitted,
            has_timestamps: self.config.timestamps.is_some() && options.timestamps.is_some(),
            has_scaling,
            has_ack_ratio: matches!(self.config.ack, ack::Config::AckCongestionControl { .. })
                && options.ack_congestion_control,
        });
        let shift = if has_scaling { self.window_shift } else { 0 };
        self.window = self.window.agree(self.config.receive_buffer.get(), shift);
        self.timestamp_to_echo = options.timestamps.map_or(0, |timestamps| timestamps.value);
        self.echo = Echo::new(ecn);
        self.syn = segment.ecn;
    }

    fn take(&mut self, now: Instant, segment: &Segment, agreed: Agreed) {
        if segment.flags.contains(Flags::SYN) {
            self.syn = segment.ecn;
            self.syn_ack_due = true;
            return;
        }
        self.measure_handshake(now);
        let length = segment.sequence_len();
        if length == 0 {
            // RFC 9293, §3.10.7.4: a segment from before the acknowledged data, such as a zero-window probe, is acknowledged.
            if SeqNumber::at(agreed.first, self.last_ack_sent).is_after(segment.seq) {
                self.acknowledger.demand(now, Reason::Duplicate);
            }
            return;
        }
        let before = self.stream.next();
        let start = segment.seq.offset_near(agreed.first, before);
        let end = self.window.cut(before, start + length, segment.flags.contains(Flags::FIN));
        let is_in_window = start < end && end > before;
        if is_in_window && self.echo.splits(segment.ecn) && self.acknowledger.is_waiting() {
            self.acknowledge_apart(now, agreed);
        }
        let notice = self.echo.take(segment, is_in_window);
        if segment.ecn == Ecn::Ce {
            self.counters.marked += u64::from(segment.payload > 0);
        }
        // RFC 7323, §4.3: the timestamp of the segment that the next ACK will acknowledge first.
        if let Some(timestamps) = segment.options.timestamps
            && start <= self.last_ack_sent
        {
            self.timestamp_to_echo = timestamps.value;
        }
        if segment.flags.contains(Flags::FIN) && end == start + length && end > before {
            self.fin.get_or_insert(end - 1);
        }
        self.counters.data_segments += 1;
        if let Some(ratio) = segment.options.ack_ratio.filter(|_| agreed.has_ack_ratio) {
            self.acknowledger.policy().on_ack_ratio(ratio);
        }

        let is_beyond = start >= end;
        let arrival = if is_beyond {
            Arrival::Duplicate
        } else {
            self.note_duplicate(agreed, start..end);
            self.stream.insert(start..end)
        };
        self.counters.duplicates += u64::from(arrival == Arrival::Duplicate);
        if is_beyond {
            self.acknowledger.enter_nothing(now);
        } else {
            let data = start..end.min(start + u64::from(segment.payload));
            self.acknowledger.enter(now, Packet::of_stream(data, self.stream.next() - before));
            self.measure(now, segment, agreed);
        }
        if notice.first_mark {
            self.acknowledger.policy().on_first_mark();
        }
        if notice.reduced {
            self.acknowledger.policy().on_window_reduced();
        }
        if self.fin.is_some_and(|fin| self.stream.next() > fin) {
            self.acknowledger.demand(now, Reason::Fin);
            return;
        }
        self.acknowledger.decide(now, arrival, self.stream.held(agreed.has_sack));
        if let Some(reason) = notice.due {
            self.acknowledger.demand(now, reason);
        }
    }

    fn syn_ack(&mut self, now: Instant, agreed: Agreed) -> Segment {
        self.acknowledger.count(Reason::Handshake);
        let is_first = self.acknowledger.counts()[Reason::Handshake.index()] == 1;
        self.syn_sent_at = is_first.then_some(now);
        Segment {
            ecn: self.config.ecn.handshake_codepoint(),
            seq: self.initial,
            ack: agreed.first,
            flags: Flags::SYN | Flags::ACK | self.echo.answer(self.syn),
            // RFC 7323, §2.2: not scaled.
            window: u16::try_from(self.config.receive_buffer.get()).unwrap_or(u16::MAX),
            options: Options {
                timestamps: self.timestamps(now, agreed),
                mss: Some(announced_mss(self.config.mss.get(), agreed.has_timestamps)),
                window_scale: agreed.has_scaling.then_some(self.window_shift),
                sack_permitted: agreed.has_sack,
                accurate_ecn: self.echo.first_option().filter(|_| self.config.ecn_option),
                ack_congestion_control: agreed.has_ack_ratio,
                ..Options::default()
            },
            payload: 0,
        }
    }

    /// Acknowledges what is unacknowledged before a segment counts whose mark differs.
    #[cold]
    fn acknowledge_apart(&mut self, now: Instant, agreed: Agreed) {
        self.split = Some(self.ack(now, agreed, Reason::MarkChange));
    }

    #[inline(always)]
    fn ack(&mut self, now: Instant, agreed: Agreed, reason: Reason) -> Segment {
        self.acknowledger.sent(now, reason);
        self.last_ack_sent = self.stream.next();
        let mut segment = Segment {
            ecn: Ecn::NotEct,
            seq: SeqNumber::at(self.initial, 1),
            ack: SeqNumber::at(agreed.first, self.stream.next()),
            flags: Flags::ACK | self.echo.flags(),
            window: self.window.offer(self.stream.next()),
            options: Options { timestamps: self.timestamps(now, agreed), ..Options::default() },
            payload: 0,
        };
        let options = &mut segment.options;
        if agreed.has_sack && self.has_blocks() {
            options.sack = self.sack_blocks(agreed.first, SackBlocks::MAX - usize::from(options.timestamps.is_some()));
        }
        // The AccECN option only where SACK leaves room for it.
        if self.config.ecn_option {
            options.accurate_ecn = self.echo.option();
            if options.accurate_ecn.is_some() && options.wire_len() > Options::ROOM {
                options.accurate_ecn = None;
            }
        }
        segment
    }

    fn timestamps(&mut self, now: Instant, agreed: Agreed) -> Option<Timestamps> {
        let value = self.clock.as_mut().filter(|_| agreed.has_timestamps)?.read(now);
        Some(Timestamps { value, echo: self.timestamp_to_echo })
    }
}

impl Receiver {
    #[inline]
    fn input(&mut self, now: Instant, segment: &Segment) {
        match self.agreed {
            None => self.open(segment),
            Some(agreed) => self.take(now, segment, agreed),
        }
    }
}

impl Machine for Receiver {
    type Datagram = Segment;

    fn accept(&mut self, now: Instant, segment: Segment) {
        self.input(now, &segment);
    }

    fn wake(&mut self, now: Instant) {
        self.acknowledger.wake(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.acknowledger.deadline()
    }

    fn poll(&mut self, now: Instant) -> Option<Segment> {
        if !self.owes_now() {
            return None;
        }
        let agreed = self.agreed?;
        if self.syn_ack_due {
            self.syn_ack_due = false;
            return Some(self.syn_ack(now, agreed));
        }
        if self.split.is_some() {
            return self.split.take();
        }
        let reason = self.acknowledger.due()?;
        Some(self.ack(now, agreed, reason))
    }
}
