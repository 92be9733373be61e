//! Builds the datagrams that are sent.
//!
//! A datagram contains a packet of each space that has frames to send (RFC 9000, §12.2), in the
//! order of the spaces. In a packet, ACK frames are first, then control frames of the connection,
//! then stream data. A due ACK is sent regardless of the congestion window and of pacing. Any other
//! ACK is sent with the next packet.

use super::connection::{Connection, Phase};
use super::data::MIN_PIECE;
use super::draft::Draft;
use super::feedback::ACK_DELAY_EXPONENT;
use super::space;
use crate::ack::Reason;
use crate::recovery::packets;
use crate::streams::Side;
use acklab_base::Instant;
use acklab_wire::quic::{Crypto, Datagram, Frame, Frames, MIN_INITIAL, MIN_SAMPLED, Packet, PacketNumber, TAG};
use acklab_wire::sequence::Sequence;

/// Minimum number of free bytes with which a packet is started.
const MIN_ROOM: u64 = 64;
/// Minimum bytes of a packet number. If 128 packets overtake a packet with a one-byte number, the
/// receiver decodes another number. With encryption, such a packet would fail authentication.
const MIN_NUMBER: u8 = 2;

/// State of output between datagrams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// `true` if no datagram can be sent until the next event.
    is_idle: bool,
    /// Time of the last poll for a datagram.
    polled_at: Instant,
    /// The time of the information in the last datagram.
    told: Instant,
    /// Datagrams sent with an ACK frame and without data.
    acks: u64,
    /// Datagrams sent.
    datagrams: u64,
    /// IMMEDIATE_ACK frames sent.
    immediate_acks: u64,
}

impl Output {
    pub(super) const fn new() -> Self {
        Self { is_idle: false, polled_at: Instant::ZERO, told: Instant::ZERO, acks: 0, datagrams: 0, immediate_acks: 0 }
    }

    /// Records a change, after which a packet may be due.
    #[inline]
    pub(super) const fn note_change(&mut self) {
        self.is_idle = false;
    }

    #[inline]
    pub(super) const fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Returns the time of the last poll for a datagram.
    #[inline]
    pub(super) const fn polled_at(&self) -> Instant {
        self.polled_at
    }

    /// Returns the time of the information in the last datagram.
    #[inline]
    pub(super) const fn told(&self) -> Instant {
        self.told
    }

    /// Returns the number of datagrams sent with an ACK frame and without data.
    pub(super) const fn acks(&self) -> u64 {
        self.acks
    }

    /// Returns the number of IMMEDIATE_ACK frames sent.
    pub(super) const fn immediate_acks(&self) -> u64 {
        self.immediate_acks
    }

    /// Returns the number of datagrams sent.
    pub(super) const fn datagrams(&self) -> u64 {
        self.datagrams
    }
}

impl Connection {
    /// Writes the next datagram to `place`. Returns `false` if no datagram can be sent.
    pub(super) fn next_datagram(&mut self, now: Instant, place: &mut Datagram) -> bool {
        self.output.polled_at = now;
        if self.output.is_idle {
            return false;
        }
        let leaves = match self.phase {
            Phase::Idle | Phase::Listening => false,
            Phase::Handshaking | Phase::Established => self.build(now, place),
            Phase::Closed(_) => put(self.close_datagram(now), place),
        };
        self.output.is_idle = !leaves || self.has_said_all(now);
        leaves
    }

    /// Returns `true` if the next poll would yield no datagram: no datagram is due, or pacing or
    /// the congestion window delays it. Call after a datagram is sent.
    #[inline]
    fn has_said_all(&mut self, now: Instant) -> bool {
        let is_in_doubt = self.phase != Phase::Established || !self.spaces.are_settled();
        if is_in_doubt || self.acks.acknowledger.due().is_some() {
            return false;
        }
        let may_send = self.sender.may_send(now);
        if may_send && (self.may_probe_mtu() || self.has_due(space::Id::Application)) {
            return false;
        }
        self.note_limit(may_send);
        true
    }

    fn build(&mut self, now: Instant, place: &mut Datagram) -> bool {
        if let Some(probe) = self.mtu_probe(now) {
            *place = probe;
            return true;
        }
        let unvalidated = self.unvalidated_room();
        let room = self.room_of_datagram().min(unvalidated);
        if !self.spaces.are_settled() {
            return put(self.build_coalesced(now, unvalidated, room), place);
        }
        if self.has_nothing_to_say(now) {
            return false;
        }
        let mut draft = Draft::new(space::Id::Application, room);
        if !self.write(now, &mut draft, place.packets.only()) {
            return false;
        }
        let (octets, is_pure_ack) = (draft.octets, draft.is_pure_ack());
        self.commit(now, draft);
        self.count_datagram(now, octets, is_pure_ack);
        place.ecn = self.ecn.codepoint();
        true
    }

    /// Returns a datagram with a packet of each space.
    #[inline(never)]
    fn build_coalesced(&mut self, now: Instant, unvalidated: u64, mut room: u64) -> Option<Datagram> {
        let mut drafts: Sequence<(Packet, Draft)> = Sequence::default();
        for id in space::Id::ALL {
            // A server may have to pad an Initial packet to a full-sized datagram.
            let is_held = id == space::Id::Initial && unvalidated < MIN_INITIAL;
            if is_held || !self.spaces[id].is_usable() {
                continue;
            }
            if id == space::Id::Application && self.has_nothing_to_say(now) {
                continue;
            }
            let (mut draft, mut packet) = (Draft::new(id, room), Packet::default());
            if self.write(now, &mut draft, &mut packet) {
                room -= draft.octets;
                drafts.push((packet, draft));
            }
        }
        if drafts.is_empty() {
            return None;
        }
        self.pad(&mut drafts);
        let total = drafts.iter().map(|(_, draft)| draft.octets).sum();
        let sends_handshake = drafts.iter().any(|(_, draft)| draft.id == space::Id::Handshake);
        let acknowledges = drafts.iter().any(|(_, draft)| draft.reason.is_some());
        let is_pure_ack = acknowledges && drafts.iter().all(|(_, draft)| draft.octets_of_streams == 0);
        let mut packets = Sequence::default();
        for (packet, draft) in drafts {
            self.commit(now, draft);
            packets.push(packet);
        }
        if sends_handshake && self.side == Side::Client {
            // A client that sends a Handshake packet discards its Initial keys (RFC 9001, §4.9.1).
            self.discard(now, space::Id::Initial);
        }
        Some(self.datagram(now, packets, total, is_pure_ack))
    }

    /// Pads a datagram with an Initial packet to 1200 bytes. A client always does so, a server if
    /// the datagram elicits an acknowledgment (RFC 9000, §14.1).
    fn pad(&self, drafts: &mut Sequence<(Packet, Draft)>) {
        let total: u64 = drafts.iter().map(|(_, draft)| draft.octets).sum();
        let needs = |(_, draft): &(Packet, Draft)| {
            draft.id == space::Id::Initial && (self.side == Side::Client || draft.is_ack_eliciting)
        };
        if total < MIN_INITIAL
            && drafts.iter().any(needs)
            && let Some((packet, draft)) = drafts.last_mut()
        {
            pad_by(packet, MIN_INITIAL - total);
            (draft.octets, draft.is_in_flight) = (packet.wire_len(), true);
        }
    }

    /// Pads untracked packets by the same rule.
    pub(super) fn pad_initial(&self, packets: &mut Sequence<Packet>, elicits: bool) {
        let total: u64 = packets.iter().map(Packet::wire_len).sum();
        let is_initial = |packet: &Packet| space::Id::of(packet.header.packet_type()) == space::Id::Initial;
        if total < MIN_INITIAL
            && (elicits || self.side == Side::Client)
            && packets.iter().any(is_initial)
            && let Some(last) = packets.last_mut()
        {
            pad_by(last, MIN_INITIAL - total);
        }
    }

    /// Returns the datagram that is sent now. It contains these packets, of `octets` bytes in
    /// total. `is_pure_ack` is `true` if the datagram has an ACK frame and carries no data.
    pub(super) fn datagram(
        &mut self,
        now: Instant,
        packets: Sequence<Packet>,
        octets: u64,
        is_pure_ack: bool,
    ) -> Datagram {
        self.count_datagram(now, octets, is_pure_ack);
        Datagram { ecn: self.ecn.codepoint(), packets }
    }

    /// Records that a datagram of `octets` bytes is sent now.
    #[inline]
    fn count_datagram(&mut self, now: Instant, octets: u64, is_pure_ack: bool) {
        self.count_departed(octets);
        self.output.datagrams += 1;
        self.output.acks += u64::from(is_pure_ack);
        self.output.told = if is_pure_ack { self.acks.acknowledger.newest_reported() } else { now };
    }

    /// Returns a packet of a space, without padding.
    pub(super) fn packet(&self, id: space::Id, number: u64, frames: Frames) -> Packet {
        Packet { header: self.ids.header(id, self.spin.value()), number: self.shorten(id, number), frames }
    }

    /// Returns a packet number in the short form of a header.
    #[inline]
    fn shorten(&self, id: space::Id, number: u64) -> PacketNumber {
        let least = PacketNumber::truncate(number, self.sender.largest_acknowledged(id));
        PacketNumber::new(number as u32, least.length().max(MIN_NUMBER))
    }

    /// Returns `true` if no application data can be sent, and records what limits sending.
    #[inline]
    fn has_nothing_to_say(&mut self, now: Instant) -> bool {
        let id = space::Id::Application;
        if self.spaces[id].probes > 0 || self.acks.acknowledger.due().is_some() {
            return false;
        }
        let may_send = self.sender.may_send(now);
        if may_send && self.has_due(id) {
            return false;
        }
        self.note_limit(may_send);
        true
    }

    /// Replaces the contents of `packet` by the due frames of a space. Returns `false` if no frame
    /// is due.
    fn write(&mut self, now: Instant, draft: &mut Draft, packet: &mut Packet) -> bool {
        let id = draft.id;
        let is_probe = self.spaces[id].probes > 0;
        let mut may_send = is_probe || self.sender.may_send(now);
        let mut sends = may_send && self.has_due(id);
        let number = self.sender.next_number(id);
        packet.header = self.ids.header(id, self.spin.value());
        packet.number = self.shorten(id, number);
        let frames = &mut packet.frames;
        frames.clear();
        let overhead = packet.header.wire_len() + u64::from(packet.number.length()) + TAG;
        (draft.number, draft.octets, draft.room) = (number, overhead, draft.room.saturating_sub(overhead));
        if draft.room < MIN_ROOM {
            return false;
        }
        if id == space::Id::Handshake && !may_send && self.sender.holds_until(now).is_none() {
            // The last handshake packet may be short. It must not wait until the window has room
            // for a full packet, because application data may occupy the window. Until the
            // handshake is confirmed, no timer repairs losses of application data (RFC 9002,
            // §6.2.1).
            let left = self.sender.room().saturating_sub(overhead);
            may_send = left >= MIN_ROOM;
            draft.room = if may_send { draft.room.min(left) } else { draft.room };
        }
        if is_probe && !sends {
            self.repeat_oldest(id);
        }
        if is_probe || id == space::Id::Handshake {
            sends = may_send && self.has_due(id);
        }
        self.ack(now, sends || is_probe, draft, frames);
        let ends_flight = sends && self.requester.demands_acks() && self.sender.room() < 2 * self.sender.window().mss;
        let demands = ends_flight || is_probe && self.config.probes_demand_acks && self.requester.is_supported();
        if demands && id == space::Id::Application {
            draft.push(frames, Frame::ImmediateAck);
            self.output.immediate_acks += 1;
        }
        if sends {
            self.crypto(draft, frames);
            if id == space::Id::Application {
                self.controls(now, draft, frames);
                self.data.take(draft, frames);
            }
        } else if id == space::Id::Application && !is_probe {
            self.note_limit(may_send);
        }
        if is_probe && !draft.is_ack_eliciting {
            draft.push(frames, Frame::Ping);
        }
        if frames.is_empty() {
            return false;
        }
        draft.octets -= frames.spared();
        let sampled = u64::from(packet.number.length()) + draft.octets - overhead;
        if sampled < MIN_SAMPLED {
            draft.push(frames, Frame::Padding((MIN_SAMPLED - sampled) as u16));
        }
        debug_assert_eq!(draft.octets, packet.wire_len());
        true
    }

    /// Records what prevents sending: the congestion window, pacing or the application. `let_send`
    /// is `true` if both the window and pacing permit a packet. If no data are left and the window
    /// has room, the application limits sending, even while pacing would delay a packet
    /// (draft-ietf-ccwg-bbr, §4.1.2.4).
    fn note_limit(&mut self, let_send: bool) {
        let delayed = if let_send { 0 } else { self.data.due_octets(self.sender.room()) };
        self.sender.note_limit(delayed);
        let is_silent = || delayed == 0 && self.sender.has_room() && !self.has_due(space::Id::Application);
        if let_send || is_silent() {
            self.sender.on_app_limited();
        }
    }

    /// Returns `true` if a space has ack-eliciting frames to send.
    #[inline]
    pub(super) fn has_due(&self, id: space::Id) -> bool {
        match id {
            space::Id::Application => self.data.have_due() || self.data.has_control(&self.requester),
            space::Id::Initial | space::Id::Handshake => self.spaces[id].crypto.has_due(),
        }
    }

    /// Schedules the retransmission of the oldest outstanding packet (RFC 9002, §6.2.4).
    fn repeat_oldest(&mut self, id: space::Id) {
        let Some(content) = self.sender.oldest(id) else { return };
        if let Some(piece) = content.crypto() {
            self.spaces[id].crypto.repeat(piece);
        }
        for piece in content.pieces() {
            self.data.repeat(piece);
        }
        for control in content.controls() {
            control.lose(&mut self.data, &mut self.requester);
        }
    }

    /// Appends the ACK frame if it is due, or if another frame is sent and an ACK is pending.
    fn ack(&mut self, now: Instant, sends: bool, draft: &mut Draft, frames: &mut Frames) {
        let id = draft.id;
        let reason = if id == space::Id::Application {
            let due = self.acks.acknowledger.due();
            due.or_else(|| (sends && self.acks.joins_others()).then_some(Reason::Piggyback))
        } else {
            self.spaces[id].owes_ack.then_some(Reason::Handshake)
        };
        if reason.is_none() {
            return;
        }
        let mut most = self.config.ack_ranges;
        let (mut ack, mut octets) = loop {
            let Some(ack) = self.spaces[id].arrived.ack(now, ACK_DELAY_EXPONENT, most) else { return };
            let octets = ack.wire_len();
            // A packet always has room for a few ranges.
            if most <= 2 || octets + MIN_PIECE <= draft.room {
                break (ack, octets);
            }
            most /= 2;
        };
        let largest = ack.ranges.largest();
        draft.content.set_reported(largest);
        let spare = draft.room.saturating_sub(octets + MIN_PIECE);
        let timestamps = self.spaces[id].arrived.times.take(Some(largest), spare);
        if timestamps.is_some() {
            ack = ack.with_timestamps(timestamps);
            octets = ack.wire_len();
        }
        draft.reason = reason;
        draft.push_measured(frames, Frame::Ack(ack), octets);
    }

    fn crypto(&mut self, draft: &mut Draft, frames: &mut Frames) {
        let crypto = &mut self.spaces[draft.id].crypto;
        if !crypto.has_due() {
            return;
        }
        let header = Frame::crypto_header(crypto.sent(), u16::MAX);
        let Some(piece) = crypto.take(draft.room.saturating_sub(header)) else { return };
        draft.push(frames, Frame::Crypto(Crypto { offset: piece.start, length: piece.length }));
        draft.content.set_crypto(piece);
    }

    fn controls(&mut self, now: Instant, draft: &mut Draft, frames: &mut Frames) {
        let srtt = self.sender.rtt().srtt();
        while self.data.has_control(&self.requester)
            && let Some((frame, control)) = self.data.next_control(now, draft.room, srtt, &mut self.requester)
        {
            draft.push(frames, frame);
            if let Some(control) = control {
                draft.content.push_control(control);
            }
        }
    }

    /// Records the packet as sent, and notifies congestion control.
    pub(super) fn commit(&mut self, now: Instant, draft: Draft) {
        let Draft { id, number, content, reason, octets_of_streams, repeats, octets, .. } = draft;
        let (is_ack_eliciting, is_in_flight) = (draft.is_ack_eliciting, draft.is_in_flight);
        if let Some(reason) = reason {
            if id == space::Id::Application {
                self.acks.on_sent(now, reason);
            } else {
                self.acks.acknowledger.count(reason);
                self.spaces[id].owes_ack = false;
            }
        }
        // A packet that elicits no ACK is tracked only if another packet of the space is
        // outstanding, or if this packet contains an ACK frame.
        if !is_in_flight && !self.sender.has_outstanding(id) && content.reported().is_none() {
            let passed = self.sender.pass(id);
            debug_assert_eq!(passed, number);
            return;
        }
        let sent = packets::Packet { at: now, octets, is_ack_eliciting, is_in_flight, content };
        let entered = self.sender.send(id, sent, octets_of_streams, repeats);
        debug_assert_eq!(entered, number);
        if is_ack_eliciting {
            self.spaces[id].probes = self.spaces[id].probes.saturating_sub(1);
            self.idle.on_sent(now);
        }
    }
}

/// Writes `datagram` to `place`. Returns `false` if there is no datagram.
fn put(datagram: Option<Datagram>, place: &mut Datagram) -> bool {
    datagram.map(|datagram| *place = datagram).is_some()
}

/// Makes a packet `octets` longer.
pub(super) fn pad_by(packet: &mut Packet, octets: u64) {
    let length = packet.frames.wire_len() + octets;
    if !matches!(packet.frames.last(), Some(Frame::Padding(_))) {
        packet.frames.push(Frame::Padding(1));
    }
    // A stream frame needs a Length field if another frame follows.
    let more = length.saturating_sub(packet.frames.wire_len());
    if let Some(Frame::Padding(count)) = packet.frames.last_mut() {
        *count += more as u16;
    }
}
