//! Processes ACK frames and expiries of the loss timer in the sender (RFC 9002, appendix A.7).

use super::{Content, Counters, Sender};
use crate::events::Events;
use crate::quic::ask::Requester;
use crate::quic::data::Data;
use crate::quic::mtu::PathMtu;
use crate::quic::space::{Id, Space};
use crate::recovery::manager::{Context, PersistentCongestion, Report};
use crate::recovery::packets::{Lost, Packet, Progress};
use acklab_base::{Duration, Event, Instant};

/// The owners of the packets' contents.
pub(in crate::quic) struct Owners<'a> {
    pub(in crate::quic) data: &'a mut Data,
    pub(in crate::quic) requester: &'a mut Requester,
    pub(in crate::quic) space: &'a mut Space,
    pub(in crate::quic) mtu: &'a mut PathMtu,
    pub(in crate::quic) events: &'a mut Events,
}

impl Sender {
    /// Handles newly acknowledged packets of a space, or the expiry of its loss timer. The peer
    /// newly reports `marks` packets with a CE mark. `prior_in_flight` is the number of bytes in
    /// flight before.
    pub(in crate::quic) fn settle(
        &mut self,
        now: Instant,
        id: Id,
        progress: &Progress,
        prior_in_flight: u64,
        marks: u64,
        owners: Owners<'_>,
    ) {
        let is_application = id == Id::Application;
        let spurious = if is_application { progress.spuriously_lost } else { 0 };
        self.counters.spurious += spurious;
        self.counters.marked += marks;
        if self.adapts_threshold && is_application {
            self.thresholds.adapt(progress.displacement);
        }
        self.widen(id, spurious);
        let max_ack_delay = owners.requester.max_ack_delay();
        let report = Report {
            progress: Progress { spuriously_lost: if self.undoes { spurious } else { 0 }, ..*progress },
            prior_in_flight,
            marked: (marks > 0).then(|| marks * owners.mtu.largest()),
            rate: None,
            persistent: PersistentCongestion::Detected { max_ack_delay },
        };
        self.recovery.detect(now, id as usize, &self.thresholds);
        let mut contents = Contents { is_application, owners, counters: &mut self.counters, has_ended: false };
        let is_persistent = self.recovery.settle(now, id as usize, &report, &mut contents);
        if contents.has_ended {
            // The end of a stream may permit the peer to open another stream.
            contents.owners.data.note_stream_end();
        }
        if is_application {
            self.forget_lost(now, max_ack_delay, is_persistent);
        }
    }

    /// Adapts the time threshold after the arrival of `spurious` packets that were declared lost.
    fn widen(&mut self, id: Id, spurious: u64) {
        let recoveries = self.recoveries().recoveries;
        let (largest, next) = (self.largest_acknowledged(id).unwrap_or_default(), self.next_number(id));
        if let Some(widening) = &mut self.widening {
            if spurious > 0 {
                widening.on_spurious_loss(largest, next, recoveries);
            }
            self.thresholds.steps = widening.steps(recoveries);
        }
    }

    /// Removes losses that can no longer be part of persistent congestion, and losses already
    /// reported as persistent congestion.
    fn forget_lost(&mut self, now: Instant, max_ack_delay: Duration, is_persistent: bool) {
        let before = match self.recovery.persistent_duration(max_ack_delay) {
            Some(longest) if !is_persistent => now.as_nanos().saturating_sub(2 * longest.as_nanos()),
            _ => u64::MAX,
        };
        self.space_mut(Id::Application).forget_lost(Instant::from_nanos(before));
    }
}

/// The contents of a space's packets.
struct Contents<'a> {
    is_application: bool,
    owners: Owners<'a>,
    counters: &'a mut Counters,
    /// `true` if the end of a stream was acknowledged.
    has_ended: bool,
}

impl Context<Content> for Contents<'_> {
    #[inline]
    fn on_acked(&mut self, number: u64, packet: &Packet<Content>) -> bool {
        let Owners { data, requester, space, mtu, .. } = &mut self.owners;
        if self.is_application {
            mtu.on_acknowledged(number, packet.octets);
        }
        let content = &packet.content;
        for piece in content.pieces() {
            data.on_acked(piece);
            self.has_ended |= piece.is_end;
        }
        if let Some(piece) = content.crypto() {
            space.crypto.on_acked(piece);
        }
        if let Some(largest) = content.reported() {
            space.arrived.on_reported(largest);
        }
        for control in content.controls() {
            control.acknowledge(data, requester);
        }
        packet.is_in_flight
    }

    fn on_lost(&mut self, lost: Lost<Content>) -> bool {
        let Owners { data, requester, space, mtu, events } = &mut self.owners;
        let Packet { octets, is_in_flight, content, .. } = lost.packet;
        if self.is_application {
            events.push_loss(lost.number);
        }
        for piece in content.pieces() {
            data.on_lost(piece);
        }
        if let Some(piece) = content.crypto() {
            space.crypto.on_lost(piece);
        }
        for control in content.controls() {
            control.lose(data, requester);
        }
        let is_probe = self.is_application && mtu.on_lost(lost.number, octets);
        let counts = is_in_flight && !is_probe;
        self.counters.lost += u64::from(counts);
        counts
    }

    #[inline]
    fn packet_size(&mut self) -> Option<u64> {
        self.owners.mtu.settle()
    }

    fn on_persistent_congestion(&mut self) {
        self.counters.persistent += 1;
        self.owners.events.push(Event::PersistentCongestion);
    }

    #[inline]
    fn sent(&self) -> u64 {
        self.owners.data.table().main().outgoing.sent()
    }

    fn push(&mut self, event: Event) {
        self.owners.events.push(event);
    }
}
