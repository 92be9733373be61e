//! The packets that an end has sent: which octets of the stream they carried, what was acknowledged and lost, and what the congestion
//! controller is told of it.
//!
//! quinn-proto decides on losses and round trips and tells sums only. The packets behind a sum follow from its rules: what an ACK frame
//! lists is acknowledged, and what is lost are the oldest outstanding packets (RFC 9002, §6.1: both thresholds hold for all packets before
//! one for which they hold).

use crate::control::{Control, Loss, Reports};
use crate::tap::{Packet, Space};
use crate::time::Epoch;
use acklab_base::{Duration, Event, Instant};
use acklab_transport::ack::Ranges;
use acklab_transport::cc::{self, Position};
use acklab_transport::congestion::{Change, Congestion, News};
use acklab_transport::recovery::delivery_rate::{Newest, Stamp};
use acklab_transport::recovery::transmission::{Outcome, Transmission};
use acklab_wire::quic::Frame;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The number of lost packets that are remembered to recognise a late acknowledgment.
const REMEMBERED: usize = 1000;

/// A packet that is neither acknowledged nor lost.
#[derive(Clone, Debug)]
struct Outstanding {
    at: Instant,
    /// Octets in flight: zero if it only acknowledges.
    size: u64,
    /// A probe for a larger packet size, whose loss is no congestion.
    is_mtu_probe: bool,
    is_ack_eliciting: bool,
    /// The octets of the stream.
    octets: Range<u64>,
    /// More of them.
    more: Vec<Range<u64>>,
    stamp: Stamp,
}

/// What the acknowledgments since the last report have brought.
#[derive(Debug, Default)]
struct Progress {
    delivered: u64,
    newest: Option<(Newest, Stamp)>,
    /// The round trip of the largest newly acknowledged packet, if that is a sample (RFC 9002, §5.1).
    rtt: Option<Duration>,
    spuriously_lost: u64,
    outcomes: Vec<Transmission>,
}

/// quinn-proto's estimates of the round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) smoothed: Duration,
    pub(crate) least: Duration,
}

/// Counts of one sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) data_packets: u64,
    pub(crate) data_bytes: u64,
    pub(crate) retransmissions: u64,
    pub(crate) lost: u64,
    pub(crate) lost_needlessly: u64,
    pub(crate) marks: u64,
}

#[derive(Debug)]
pub(crate) struct Sender {
    epoch: Epoch,
    /// By packet number space.
    outstanding: [BTreeMap<u64, Outstanding>; 3],
    /// The largest packet number acknowledged in each space.
    largest: [Option<u64>; 3],
    next_number: u64,
    /// Lost packets of the data space.
    lost: BTreeSet<u64>,
    /// Octets of the stream that are acknowledged.
    acknowledged: Ranges,
    /// Octets of the stream below this offset were sent.
    sent: u64,
    in_flight: u64,
    delivered: u64,
    progress: Progress,
    /// The controller of the shelf; without it, quinn's own is at work.
    congestion: Option<Congestion>,
    /// Reductions for losses that were none are undone.
    undoes: bool,
    control: Control,
    rtt_samples: u64,
    latest_rtt: Duration,
    /// Packets of data that are declared lost are events.
    pub(crate) records_losses: bool,
    pub(crate) counters: Counters,
}

impl Sender {
    pub(crate) fn new(epoch: Epoch, congestion: Option<Congestion>, undoes: bool, control: Control) -> Self {
        Self {
            epoch,
            outstanding: Default::default(),
            largest: [None; 3],
            next_number: 0,
            lost: BTreeSet::new(),
            records_losses: false,
            acknowledged: Ranges::default(),
            sent: 0,
            in_flight: 0,
            delivered: 0,
            progress: Progress::default(),
            congestion,
            undoes,
            control,
            rtt_samples: 0,
            latest_rtt: Duration::ZERO,
            counters: Counters::default(),
        }
    }

    pub(crate) const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(crate) const fn acknowledged(&self) -> &Ranges {
        &self.acknowledged
    }

    /// Octets of the stream below this offset were sent.
    pub(crate) const fn sent(&self) -> u64 {
        self.sent
    }

    /// The number and the last of the round-trip samples.
    pub(crate) const fn rtt_samples(&self) -> (u64, Duration) {
        (self.rtt_samples, self.latest_rtt)
    }

    pub(crate) const fn congestion(&self) -> Option<&Congestion> {
        self.congestion.as_ref()
    }

    pub(crate) fn on_established(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(congestion) = &mut self.congestion {
            congestion.on_established(now, rtt);
            self.control.set_window(allowed(congestion));
        }
    }

    /// When the controller lets the next packet leave, if it sets a rate and holds it back now. quinn-proto paces by the window only.
    pub(crate) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.congestion.as_ref().filter(|congestion| congestion.names_rate())?.holds_until(now)
    }

    /// Has the window room for a packet of `octets`?
    pub(crate) fn has_room(&self, octets: u64) -> bool {
        self.congestion.as_ref().is_none_or(|congestion| congestion.has_room(self.in_flight, octets))
    }

    /// The application has nothing more to send, and the window would let it.
    pub(crate) fn on_app_limited(&mut self) {
        if let Some(congestion) = &mut self.congestion {
            congestion.on_app_limited(self.in_flight);
        }
    }

    /// Nothing leaves for now, with `delayed` octets that only pacing keeps back; a full-sized packet has `packet` octets.
    pub(crate) fn note_limit(&mut self, packet: u64, delayed: u64) {
        if let Some(congestion) = &mut self.congestion {
            congestion.note_limit(self.in_flight, packet, delayed);
        }
    }

    /// `packet` leaves. `is_mtu_probe`: it is larger than the packet size in use.
    pub(crate) fn on_sent(&mut self, now: Instant, packet: &Packet, is_mtu_probe: bool, srtt: Option<Duration>) {
        let is_ack_eliciting = packet.frames.is_ack_eliciting();
        let counts = is_ack_eliciting || packet.frames.iter().any(|frame| matches!(frame, Frame::Padding(_)));
        let is_close = packet.frames.iter().any(|frame| matches!(frame, Frame::Close(_)));
        let size = if counts && !is_close { u64::from(packet.length) } else { 0 };
        let mut ranges = packet.frames.iter().filter_map(|frame| match frame {
            Frame::Stream(stream) => Some(stream.offset..stream.end()),
            _ => None,
        });
        let octets = ranges.next().unwrap_or(0..0);
        let more: Vec<_> = ranges.collect();
        let is_retransmission = self.count(&octets, &more);
        self.in_flight += size;
        let mut stamp = Stamp::default();
        if let Some(congestion) = self.congestion.as_mut().filter(|_| size > 0) {
            stamp = congestion.stamp(now, self.in_flight, size);
            congestion.on_sent(
                cc::Sent {
                    now,
                    bytes: size,
                    in_flight: self.in_flight,
                    end: Position(packet.number + 1),
                    is_retransmission,
                    is_app_limited: false,
                },
                srtt,
            );
        }
        if packet.space == Space::Data {
            self.next_number = packet.number + 1;
        }
        let sent = Outstanding { at: now, size, is_mtu_probe, is_ack_eliciting, octets, more, stamp };
        self.outstanding[packet.space as usize].insert(packet.number, sent);
    }

    /// Counts a packet with these octets of the stream. Returns `true` if some of them were sent before.
    fn count(&mut self, octets: &Range<u64>, more: &[Range<u64>]) -> bool {
        let all = || std::iter::once(octets).chain(more);
        let bytes: u64 = all().map(|range| range.end - range.start).sum();
        if bytes == 0 {
            return false;
        }
        let is_retransmission = all().any(|range| range.start < self.sent);
        self.sent = all().map(|range| range.end).fold(self.sent, u64::max);
        self.counters.data_packets += 1;
        self.counters.data_bytes += bytes;
        self.counters.retransmissions += u64::from(is_retransmission);
        is_retransmission
    }

    /// The peer acknowledges these packets of `space`.
    pub(crate) fn on_acked(&mut self, now: Instant, space: Space, ranges: &[Range<u64>]) {
        let mut largest_new = None;
        let mut is_ack_eliciting = false;
        for range in ranges.iter().rev() {
            if space == Space::Data {
                self.refute(range);
            }
            while let Some((&number, _)) = self.outstanding[space as usize].range(range.clone()).next() {
                let Some(packet) = self.outstanding[space as usize].remove(&number) else { break };
                self.acknowledge(number, &packet);
                is_ack_eliciting |= packet.is_ack_eliciting;
                largest_new = Some((number, packet.at));
            }
        }
        let listed = ranges.first().map(|range| range.end - 1);
        if let Some((number, at)) = largest_new
            && listed == Some(number)
            && is_ack_eliciting
            && self.largest[space as usize] < listed
        {
            let rtt = now.since(at);
            self.progress.rtt = Some(rtt);
            self.rtt_samples += 1;
            self.latest_rtt = rtt;
        }
        self.largest[space as usize] = self.largest[space as usize].max(listed);
        if space == Space::Data {
            // The keys of the handshake are discarded, and with them what was in flight under them.
            self.outstanding[Space::Initial as usize].clear();
            self.outstanding[Space::Handshake as usize].clear();
        }
    }

    /// Packets in `range` that had been declared lost have arrived.
    fn refute(&mut self, range: &Range<u64>) {
        while let Some(&number) = self.lost.range(range.clone()).next() {
            self.lost.remove(&number);
            self.progress.spuriously_lost += 1;
            self.counters.lost_needlessly += 1;
        }
    }

    fn acknowledge(&mut self, number: u64, packet: &Outstanding) {
        for range in std::iter::once(&packet.octets).chain(&packet.more) {
            if !range.is_empty() {
                self.acknowledged.insert(range.clone());
            }
        }
        if packet.size == 0 {
            return;
        }
        self.progress.delivered += packet.size;
        self.delivered += packet.size;
        let is_newer = |newest: &Newest| (newest.at, newest.number) < (packet.at, number);
        if self.progress.newest.as_ref().is_none_or(|(newest, _)| is_newer(newest)) {
            // A packet number is never used again, so that no round trip is ambiguous.
            let newest = Newest { at: packet.at, number, is_retransmission: false };
            self.progress.newest = Some((newest, packet.stamp));
        }
        if self.congestion.as_ref().is_some_and(Congestion::wants_outcomes) {
            let outcome = Outcome::Delivered { was_lost: false };
            self.progress.outcomes.push(Transmission { sent_at: packet.at, outcome });
        }
    }

    /// Informs the controller of what quinn-proto has reported, and quinn-proto of the new window. Appends to `events`.
    pub(crate) fn settle(&mut self, now: Instant, round_trip: RoundTrip, events: &mut VecDeque<Event>) {
        let Reports { in_flight, losses, is_marked } = self.control.take_reports();
        let progress = std::mem::take(&mut self.progress);
        let prior_in_flight = self.in_flight;
        if let Some(in_flight) = in_flight {
            self.in_flight = in_flight;
        }
        let mut lost = Vec::new();
        let mut is_persistent = false;
        for loss in &losses {
            is_persistent |= loss.is_persistent;
            self.in_flight = self.in_flight.saturating_sub(loss.octets);
            self.lose(now, loss, &mut lost, events);
        }
        self.counters.lost += lost.len() as u64;
        self.counters.marks += u64::from(is_marked);
        let Some(congestion) = &mut self.congestion else { return };
        if in_flight.is_none() && losses.is_empty() && !is_marked {
            return;
        }
        let largest = self.largest[Space::Data as usize];
        if is_marked && congestion.on_mark(now, self.in_flight, largest.unwrap_or(0), self.next_number) {
            events.push_back(Event::WindowReduced { until: self.sent });
        }
        let has_sample = self.rtt_samples > 0;
        let news = News {
            now,
            delivered: progress.delivered,
            total_delivered: self.delivered,
            lost: &lost,
            spuriously_lost: if self.undoes { progress.spuriously_lost } else { 0 },
            in_flight: self.in_flight,
            prior_in_flight,
            largest_acknowledged: largest,
            next_number: self.next_number,
            rtt: progress.rtt,
            srtt: has_sample.then_some(round_trip.smoothed),
            min_rtt: has_sample.then_some(round_trip.least),
            newest: progress.newest,
            reported: None,
            outcomes: &progress.outcomes,
            is_persistent,
        };
        for change in congestion.on_feedback(&news) {
            events.push_back(match change {
                Change::Entered => Event::RecoveryEntered { until: self.sent },
                Change::Exited => Event::RecoveryExited,
                Change::Undone => Event::Undone,
            });
        }
        self.control.set_window(allowed(congestion));
    }

    /// Moves the packets of `loss` from the outstanding ones to `lost`.
    fn lose(&mut self, now: Instant, loss: &Loss, lost: &mut Vec<cc::Lost>, events: &mut VecDeque<Event>) {
        let sent_at = self.epoch.of_std(loss.sent_at);
        for space in Space::ALL.into_iter().rev() {
            let Some(last) = self.last_of(space, loss.octets, sent_at) else { continue };
            let outstanding = &mut self.outstanding[space as usize];
            let later = outstanding.split_off(&(last + 1));
            for (number, packet) in std::mem::replace(outstanding, later) {
                if packet.is_mtu_probe {
                    continue;
                }
                if space == Space::Data {
                    self.lost.insert(number);
                    if self.records_losses {
                        events.push_back(Event::PacketLost { number });
                    }
                }
                if packet.size > 0 {
                    lost.push(cc::Lost {
                        now,
                        sent_at: packet.at,
                        bytes: packet.size,
                        start: Position(number),
                        end: Position(number + 1),
                        stamp: packet.stamp,
                        total_delivered: 0,
                        total_lost: 0,
                    });
                }
            }
            while self.lost.len() > REMEMBERED {
                self.lost.pop_first();
            }
            return;
        }
        debug_assert!(false, "no outstanding packets make up the loss {loss:?}");
    }

    /// The number of the last of the oldest outstanding packets of `space` that have `octets` together and of which the last left at
    /// `sent_at`.
    fn last_of(&self, space: Space, octets: u64, sent_at: Instant) -> Option<u64> {
        let (mut sum, mut last) = (0, None);
        for (number, packet) in &self.outstanding[space as usize] {
            sum += if packet.is_mtu_probe { 0 } else { packet.size };
            if sum > octets || packet.at > sent_at {
                break;
            }
            if sum == octets && packet.at == sent_at {
                last = Some(*number);
            }
        }
        last
    }
}

/// The window that quinn-proto is told. It sends while the octets in flight with the next packet are fewer, where RFC 9002, §7, lets
/// them be as many; and it needs room for the two packets of the minimum window (§7.2).
fn allowed(congestion: &Congestion) -> u64 {
    congestion.window.cwnd.max(2 * congestion.window.mss) + 1
}
