//! Tracks the packets that an end has sent: their stream bytes, acknowledgments and losses, and the
//! reports to the congestion controller.
//!
//! quinn-proto detects losses and measures round-trip times, and reports only total bytes. The
//! packets of a total follow from quinn-proto's rules. The packets listed in an ACK frame are
//! acknowledged. The lost packets are the oldest outstanding ones (RFC 9002, §6.1: if a threshold
//! applies to a packet, it applies to all packets before it).

use crate::control::{Control, Loss, Reports};
use crate::tap::{self, Space};
use crate::time::Epoch;
use acklab_base::{Duration, Event, Instant};
use acklab_transport::ack::Ranges;
use acklab_transport::congestion::Congestion;
use acklab_transport::recovery::manager::{Context, Manager, PersistentCongestion, Report};
use acklab_transport::recovery::packets::timeout::probe_timeout;
use acklab_transport::recovery::packets::{Lost, Packet, Progress};
use acklab_transport::recovery::rtt::{Estimator, RoundTripTimes};
use acklab_wire::quic::{AckRanges, Frame};
use std::collections::VecDeque;
use std::ops::Range;

/// The number of probe timeouts for which lost packets are stored, to recognise late
/// acknowledgments: twice the duration of persistent congestion (RFC 9002, §7.6.1).
const REMEMBERED: u64 = 2 * 3;
/// `max_ack_delay` of quinn-proto's peers: the default (RFC 9000, §18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// The content of a packet.
#[derive(Debug)]
struct Content {
    space: Space,
    /// `true` for a probe of a larger packet size, whose loss does not indicate congestion.
    is_mtu_probe: bool,
    /// The range of stream bytes.
    octets: Range<u64>,
    /// Further ranges of stream bytes.
    more: Vec<Range<u64>>,
}

/// quinn-proto's estimates of the round-trip time, once there was a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) smoothed: Duration,
    pub(crate) least: Duration,
}

/// The round-trip times that congestion control uses.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrips(Option<RoundTrip>);

impl RoundTripTimes for RoundTrips {
    fn srtt(&self) -> Option<Duration> {
        self.0.map(|round_trip| round_trip.smoothed)
    }

    fn least(&self) -> Option<Duration> {
        self.0.map(|round_trip| round_trip.least)
    }
}

/// The counters of one sender.
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
    /// Loss recovery with acklab's controller. Without a controller, one of quinn's is active.
    recovery: Manager<Content, RoundTrips, Option<Congestion>, 3>,
    /// The acknowledgments since the last report.
    progress: Progress,
    /// The acknowledged bytes of the stream.
    acknowledged: Ranges,
    /// The end of the bytes of the stream that were sent.
    sent: u64,
    /// `true` if reductions for spurious losses are undone.
    undoes: bool,
    control: Control,
    rtt_samples: u64,
    latest_rtt: Duration,
    /// `true` if the loss of a data packet is recorded as an event.
    records_losses: bool,
    counters: Counters,
}

impl Sender {
    pub(crate) fn new(epoch: Epoch, congestion: Option<Congestion>, undoes: bool, control: Control) -> Self {
        Self {
            epoch,
            recovery: Manager::new(RoundTrips::default(), congestion).with_reported_flight(),
            progress: Progress::default(),
            acknowledged: Ranges::default(),
            sent: 0,
            undoes,
            control,
            rtt_samples: 0,
            latest_rtt: Duration::ZERO,
            records_losses: false,
            counters: Counters::default(),
        }
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    pub(crate) const fn acknowledged(&self) -> &Ranges {
        &self.acknowledged
    }

    /// Returns the stream offset below which all bytes were sent.
    pub(crate) const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of round-trip samples, and the last sample.
    pub(crate) const fn rtt_samples(&self) -> (u64, Duration) {
        (self.rtt_samples, self.latest_rtt)
    }

    pub(crate) const fn congestion(&self) -> Option<&Congestion> {
        self.recovery.congestion.as_ref()
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Enables the recording of lost data packets as events.
    pub(crate) const fn record_losses(&mut self) {
        self.records_losses = true;
    }

    pub(crate) fn on_established(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(congestion) = &mut self.recovery.congestion {
            congestion.on_established(now, rtt);
            self.control.set_window(allowed(congestion));
        }
    }

    /// Returns when the controller permits the next packet, if its rate delays it now.
    /// quinn-proto's pacing depends only on the window.
    pub(crate) fn holds_until(&self, now: Instant) -> Option<Instant> {
        self.congestion().filter(|congestion| congestion.names_rate())?.holds_until(now)
    }

    /// Returns `true` if the window permits a packet of `octets` bytes.
    pub(crate) fn has_room(&self, octets: u64) -> bool {
        self.congestion().is_none_or(|congestion| congestion.has_room(self.in_flight(), octets))
    }

    /// Returns when the controller must be woken.
    pub(crate) fn controller_at(&self) -> Option<Instant> {
        self.congestion()?.deadline()
    }

    /// Wakes the controller if it is due.
    pub(crate) fn wake_controller(&mut self, now: Instant) {
        let in_flight = self.in_flight();
        if let Some(congestion) = &mut self.recovery.congestion
            && congestion.wake(now, in_flight)
        {
            self.control.set_window(allowed(congestion));
        }
    }

    /// Records that the application has nothing more to send although the window is not full.
    pub(crate) fn on_app_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(congestion) = &mut self.recovery.congestion {
            congestion.on_app_limited(in_flight);
        }
    }

    /// Records that nothing is sent, with `delayed` bytes that only pacing delays; a full-sized
    /// packet has `packet` bytes.
    pub(crate) fn note_limit(&mut self, packet: u64, delayed: u64) {
        let in_flight = self.in_flight();
        if let Some(congestion) = &mut self.recovery.congestion {
            congestion.note_limit(in_flight, packet, delayed);
        }
    }

    /// Records that `packet` is sent. `is_mtu_probe` is `true` if it is larger than the current
    /// packet size.
    pub(crate) fn on_sent(&mut self, now: Instant, packet: &tap::Packet, is_mtu_probe: bool) {
        let is_ack_eliciting = packet.frames.is_ack_eliciting();
        let counts = is_ack_eliciting || packet.frames.iter().any(|frame| matches!(frame, Frame::Padding(_)));
        let is_close = packet.frames.iter().any(|frame| matches!(frame, Frame::Close(_)));
        let is_in_flight = counts && !is_close && packet.length > 0;
        let mut ranges = packet.frames.iter().filter_map(|frame| match frame {
            Frame::Stream(stream) => Some(stream.offset..stream.end()),
            _ => None,
        });
        let octets = ranges.next().unwrap_or(0..0);
        let more: Vec<_> = ranges.collect();
        let is_retransmission = self.count(&octets, &more);
        let (space, octets_in_flight) = (packet.space as usize, u64::from(packet.length));
        // quinn-proto skips numbers (RFC 9000, §21.4).
        while self.recovery.space(space).next_number() < packet.number {
            self.recovery.space_mut(space).skip();
        }
        let content = Content { space: packet.space, is_mtu_probe, octets, more };
        let sent = Packet { at: now, octets: octets_in_flight, is_ack_eliciting, is_in_flight, content };
        let number = self.recovery.send(space, sent, is_retransmission);
        debug_assert_eq!(number, packet.number);
    }

    /// Counts a packet with these bytes of the stream. Returns `true` if some of them were sent
    /// before.
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

    /// Processes an acknowledgment of these packets of `space`.
    pub(crate) fn on_acked(&mut self, now: Instant, space: Space, ranges: &AckRanges) {
        // quinn-proto closes the connection if the peer acknowledges data that were never sent.
        let Ok(progress) = self.recovery.acknowledge(now, space as usize, ranges.iter().rev().cloned()) else { return };
        self.recovery.space_mut(space as usize).settle();
        if let Some(rtt) = progress.rtt {
            self.progress.rtt = Some(rtt);
            self.rtt_samples += 1;
            self.latest_rtt = rtt;
        }
        // quinn-proto does not count packets that arrive after they were declared lost.
        self.progress.octets += progress.octets - progress.late_octets;
        if let Some((newest, _)) = progress.newest
            && self.progress.newest.is_none_or(|(before, _)| (before.at, before.number) < (newest.at, newest.number))
        {
            self.progress.newest = progress.newest;
        }
        if space == Space::Data {
            self.progress.spuriously_lost += progress.spuriously_lost;
            self.counters.lost_needlessly += progress.spuriously_lost;
            // The keys of the handshake are discarded, and with them the packets in flight that use
            // these keys.
            for handshake in [Space::Initial, Space::Handshake] {
                self.recovery.abandon(handshake as usize);
            }
        }
    }

    /// Passes quinn-proto's reports to the controller, and the new window to quinn-proto. Appends
    /// to `events`.
    pub(crate) fn settle(&mut self, now: Instant, round_trip: RoundTrip, events: &mut VecDeque<Event>) {
        let Reports { in_flight, losses, is_marked } = self.control.take_reports();
        // The controller receives an acknowledgment only if quinn-proto reports it.
        let progress = std::mem::take(&mut self.progress);
        if in_flight.is_none() && losses.is_empty() && !is_marked {
            return;
        }
        *self.recovery.round_trips_at(now) = RoundTrips((self.rtt_samples > 0).then_some(round_trip));
        let prior_in_flight = self.in_flight();
        if let Some(in_flight) = in_flight {
            self.recovery.set_in_flight(in_flight);
        }
        losses.iter().for_each(|loss| self.lose(loss));
        self.counters.marks += u64::from(is_marked);
        let report = Report {
            progress: Progress { spuriously_lost: if self.undoes { progress.spuriously_lost } else { 0 }, ..progress },
            prior_in_flight,
            marked: is_marked.then_some(0),
            rate: None,
            persistent: PersistentCongestion::Reported(losses.iter().any(|loss| loss.is_persistent)),
        };
        let mut contents = Contents {
            acknowledged: &mut self.acknowledged,
            sent: self.sent,
            records_losses: self.records_losses,
            counters: &mut self.counters,
            events,
        };
        self.recovery.settle(now, Space::Data as usize, &report, &mut contents);
        self.forget_lost(now);
        if let Some(congestion) = &self.recovery.congestion {
            self.control.set_window(allowed(congestion));
        }
    }

    /// Declares the packets of `loss` lost: the oldest outstanding ones of a space.
    fn lose(&mut self, loss: &Loss) {
        let sent_at = self.epoch.of_std(loss.sent_at);
        let mut spaces = Space::ALL.into_iter().rev();
        let found = spaces.find_map(|space| Some((space as usize, self.last_of(space, loss.octets, sent_at)?)));
        debug_assert!(found.is_some(), "no outstanding packets make up the loss {loss:?}");
        let Some((space, last)) = found else { return };
        let outstanding = self.recovery.space(space).outstanding().take_while(|(number, _)| *number <= last);
        let probes: Vec<u64> =
            outstanding.filter(|(_, packet)| packet.content.is_mtu_probe).map(|(number, _)| number).collect();
        for number in probes {
            self.recovery.retire(space, number);
        }
        self.recovery.lose(space, 0..last + 1);
        self.recovery.space_mut(space).settle();
    }

    /// Returns the number of the last of the lost packets. The lost packets are the oldest
    /// outstanding packets of `space`, have `octets` bytes in total, and the last of them was sent
    /// at `sent_at`.
    fn last_of(&self, space: Space, octets: u64, sent_at: Instant) -> Option<u64> {
        let (mut sum, mut last) = (0, None);
        for (number, packet) in self.recovery.space(space as usize).outstanding() {
            let counts = packet.is_in_flight && !packet.content.is_mtu_probe;
            sum += if counts { packet.octets } else { 0 };
            if sum > octets || packet.at > sent_at {
                break;
            }
            if sum == octets && packet.at == sent_at {
                last = Some(number);
            }
        }
        last
    }

    fn forget_lost(&mut self, now: Instant) {
        let Some(srtt) = self.recovery.round_trips().srtt() else { return };
        // quinn-proto does not report the deviation, so the deviation after a first sample is used.
        let timeout = probe_timeout(&Estimator::default(), srtt, MAX_ACK_DELAY, 0).saturating_mul(REMEMBERED);
        let before = now.as_nanos().saturating_sub(timeout.as_nanos());
        self.recovery.space_mut(Space::Data as usize).forget_lost(Instant::from_nanos(before));
    }
}

/// Receives the outcomes of packets.
struct Contents<'a> {
    acknowledged: &'a mut Ranges,
    sent: u64,
    records_losses: bool,
    counters: &'a mut Counters,
    events: &'a mut VecDeque<Event>,
}

impl Context<Content> for Contents<'_> {
    fn on_acked(&mut self, _number: u64, packet: &Packet<Content>) -> bool {
        for range in std::iter::once(&packet.content.octets).chain(&packet.content.more) {
            if !range.is_empty() {
                self.acknowledged.insert(range.clone());
            }
        }
        packet.is_in_flight
    }

    fn on_lost(&mut self, lost: Lost<Content>) -> bool {
        if self.records_losses && lost.packet.content.space == Space::Data {
            self.events.push_back(Event::PacketLost { number: lost.number });
        }
        self.counters.lost += u64::from(lost.packet.is_in_flight);
        lost.packet.is_in_flight
    }

    fn sent(&self) -> u64 {
        self.sent
    }

    fn push(&mut self, event: Event) {
        self.events.push_back(event);
    }
}

/// Returns the window for quinn-proto. quinn-proto sends while the bytes in flight plus the next
/// packet are below the window, whereas RFC 9002, §7, permits equality. It also needs space for the
/// two packets of the minimum window (§7.2).
fn allowed(congestion: &Congestion) -> u64 {
    congestion.window().cwnd.max(2 * congestion.window().mss) + 1
}
