//! One end of a connection.

use super::amplification::Amplification;
use super::clock::Clock;
use super::idle::Idle;
use super::path::Path;
use super::receiver::Receiver;
use super::refusal::Refusals;
use super::sender::Sender;
use super::settings::Settings;
use super::skip::Skip;
use super::streams::Streams;
use crate::ack::Policy;
use crate::ack::tack::Law;
use crate::cc::Controller;
use crate::events::Events;
use crate::mtu;
use crate::reading::Reading;
use crate::streams::Side;
use acklab_base::random::Seed;
use acklab_base::{Duration, Event, Fate, Instant, Machine};
use acklab_wire::tack::{ConnectionId, Packet};

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The application has not opened the connection yet.
    Idle,
    /// Waits for a peer to open the connection.
    Listening,
    /// Has sent an Open, and waits for the Accept.
    Opening,
    /// Has sent an Accept, and waits for the client to confirm its arrival.
    Accepting,
    /// Both ends have confirmed that the connection is open.
    Established,
    /// The connection has ended.
    Closed {
        /// The reason: zero if both ends had completed all streams.
        code: u32,
    },
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) side: Side,
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    pub(super) phase: Phase,
    /// The connection ID in packets from the peer.
    pub(super) local: ConnectionId,
    /// The connection ID in packets to the peer.
    pub(super) remote: ConnectionId,
    pub(super) handshake: super::handshake::Handshake,
    pub(super) close: super::close::Close,
    pub(super) amplification: Amplification,
    pub(super) idle: Idle,
    /// The search for the MTU. It uses sizes of IP packets, including headers.
    pub(super) mtu: mtu::Search,
    pub(super) path: Path,
    pub(super) skip: Skip,
    pub(super) streams: Streams,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// The arrival time of the next packet, if the host processes the packet later.
    pub(super) arrives_at: Option<Instant>,
    pub(super) refusals: Refusals,
    pub(super) events: Events,
    pub(super) output: super::output::Output,
    pub(super) is_finished: bool,
}

impl Connection {
    /// Creates the client. `name` identifies its random streams.
    #[must_use]
    pub fn client(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Client, settings, controller, policy, seed, name)
    }

    /// Creates the server. `name` identifies its random streams.
    #[must_use]
    pub fn server(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Server, settings, controller, policy, seed, name)
    }

    fn new(side: Side, settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        let phase = match side {
            Side::Client => Phase::Idle,
            Side::Server => Phase::Listening,
        };
        let mut random = seed.stream(&format!("flow/{name}/{}", side.name()));
        // Zero means no connection yet.
        let local = ConnectionId(random.below(u64::MAX) + 1);
        Self {
            side,
            settings: *settings,
            clock: Clock::new(&mut random),
            phase,
            local,
            remote: ConnectionId::default(),
            handshake: super::handshake::Handshake::default(),
            close: super::close::Close::default(),
            amplification: Amplification::default(),
            idle: Idle::new(settings.idle_timeout, settings.keep_alive),
            mtu: mtu::Search::new(settings.base_packet(), settings.packet.get()),
            path: Path::default(),
            skip: Skip::new(settings.skip_numbers.then(|| seed.stream(&format!("flow/{name}/skip")))),
            streams: Streams::new(side, settings),
            sender: Sender::new(settings, controller),
            receiver: Receiver::new(settings, policy),
            arrives_at: None,
            refusals: Refusals::default(),
            events: Events::default(),
            output: super::output::Output::default(),
            is_finished: false,
        }
    }

    /// Sets when the application reads. Call before opening.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.streams.table.set_reading(reading);
        self
    }

    /// Sets the connection ID that the peer writes into its packets. The ID must not be zero. Call
    /// before opening. By default, the ID is derived from the seed.
    #[must_use]
    pub const fn with_id(mut self, id: ConnectionId) -> Self {
        self.local = id;
        self
    }

    /// Returns the connection ID that the peer writes into its packets.
    #[must_use]
    pub const fn id(&self) -> ConnectionId {
        self.local
    }

    /// Returns the state.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the counts of refused packets and frames of the peer.
    #[must_use]
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Returns the probe timeout: the maximum time without an acknowledgment of an ack-eliciting
    /// packet (RFC 9002, §6.2.1).
    #[must_use]
    pub fn probe_timeout(&self) -> Duration {
        self.sender.base_timeout()
    }

    /// Returns RTTmin. Without its own measurement, an end returns the RTTmin that the sender of
    /// data has reported.
    #[must_use]
    pub fn min_round_trip(&self) -> Option<Duration> {
        self.sender.rtt_min().or(self.receiver.rtt_min())
    }

    /// Returns the bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Returns the number of packet numbers that this end has used.
    #[must_use]
    pub fn packets_sent(&self) -> u64 {
        self.sender.next_number()
    }

    /// Sets TACK's law, the formula for the frequency of the peer's TACKs. The next data packet
    /// carries its parameters to the peer.
    pub fn set_law(&mut self, law: Law) {
        self.sender.set_law(law);
        self.output.note_change();
    }

    /// Records when all bytes and ends of streams of this end are acknowledged.
    pub(super) fn note_finished(&mut self) {
        self.finish_if_all_sent();
        self.close_if_done();
    }

    pub(super) fn finish_if_all_sent(&mut self) {
        if !self.is_finished && self.streams.table.main().outgoing.is_closed() && self.streams.table.all_sent() {
            self.is_finished = true;
            self.events.push(Event::Finished);
            self.sender.probe_mut().on_window();
        }
    }
}

impl Machine for Connection {
    type Datagram = Packet;
    type Outcome = Fate;

    #[inline]
    fn accept(&mut self, now: Instant, packet: Packet) -> Fate {
        self.input(now, &packet)
    }

    fn wake(&mut self, now: Instant) {
        self.wake_timers(now);
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        self.next_deadline()
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<Packet> {
        self.next_packet(now)
    }
}
