//! One end of a connection.

use super::acks::Acks;
use super::ask::{AskRule, Requester};
use super::close::{Close, Ended};
use super::data::Data;
use super::ecn::Validation;
use super::handshake::{Handshake, Parameters};
use super::idle::Idle;
use super::ids::Ids;
use super::mtu::PathMtu;
use super::output::Output;
use super::sender::Sender;
use super::settings::{ConnectionConfig, Settings};
use super::space::Spaces;
use super::spin::Spin;
use crate::ack::Policy;
use crate::cc::Controller;
use crate::custom::Custom;
use crate::events::Events;
use crate::reading::Reading;
use crate::streams::Side;
use acklab_base::random::Seed;
use acklab_base::{Event, Fate, Instant, Machine};
use acklab_wire::quic::Datagram;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The application has not opened the connection yet.
    Idle,
    /// Waits for a client.
    Listening,
    /// The handshake is in progress.
    Handshaking,
    /// The handshake is complete: data may be sent.
    Established,
    /// The connection has ended.
    Closed(Ended),
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) side: Side,
    pub(super) config: ConnectionConfig,
    /// The transport parameters of the peer.
    pub(super) peer: Parameters,
    pub(super) phase: Phase,
    pub(super) ids: Ids,
    pub(super) spin: Spin,
    pub(super) handshake: Handshake,
    pub(super) spaces: Spaces,
    pub(super) acks: Acks,
    pub(super) requester: Requester,
    pub(super) data: Data,
    pub(super) sender: Sender,
    pub(super) ecn: Validation,
    pub(super) output: Output,
    pub(super) mtu: PathMtu,
    pub(super) idle: Idle,
    pub(super) close: Close,
    pub(super) refused: super::input::Refused,
    pub(super) events: Events,
    is_finished: bool,
}

impl Connection {
    /// Creates the client. `name` identifies its random streams.
    #[must_use]
    pub fn client(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Client, &settings.config(), controller, policy, seed, name)
    }

    /// Creates the server. `name` identifies its random streams.
    #[must_use]
    pub fn server(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Server, &settings.config(), controller, policy, seed, name)
    }

    fn new(
        side: Side,
        config: &ConnectionConfig,
        controller: Controller,
        policy: Policy,
        seed: Seed,
        name: &str,
    ) -> Self {
        let phase = match side {
            Side::Client => Phase::Idle,
            Side::Server => Phase::Listening,
        };
        let mut random = seed.stream(&format!("flow/{name}/{}", side.name()));
        Self {
            side,
            config: *config,
            peer: Parameters::of(config),
            phase,
            ids: Ids::new(&mut random),
            spin: Spin::new(side, config.spin_bit),
            handshake: Handshake::default(),
            spaces: Spaces::new(),
            acks: Acks::new(policy, config),
            requester: Requester::new(&config.ask),
            data: Data::new(side, config),
            sender: Sender::new(config, controller),
            ecn: Validation::new(config.codepoint()),
            output: Output::new(),
            mtu: PathMtu::new(config),
            idle: Idle::new(),
            close: Close::default(),
            refused: super::input::Refused::default(),
            events: Events::default(),
            is_finished: false,
        }
    }

    /// Sets when the application reads. Call before opening.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.data.table_mut().set_reading(reading);
        self
    }

    /// Sets the settings of the peer. Call before opening.
    #[must_use]
    pub fn with_peer(mut self, settings: &Settings) -> Self {
        let peer = settings.config();
        self.peer = Parameters::of(&peer);
        self.config.tls = self.config.tls.against(self.side, peer.tls);
        self
    }

    /// Sets a user-defined rule that controls the peer's ACKs. Call before opening.
    #[must_use]
    pub fn with_ask(mut self, rule: Custom<dyn AskRule + Send>) -> Self {
        self.requester.set_rule(rule);
        self
    }

    /// Returns the state.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns `true` if the handshake is confirmed (RFC 9001, §4.1.2).
    #[must_use]
    pub const fn is_confirmed(&self) -> bool {
        self.handshake.is_confirmed()
    }

    /// Returns the bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Returns `true` if all streams have ended: the peer has acknowledged the data of this end,
    /// and the application has read the data of the peer.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_finished && self.data.table().all_received()
    }

    /// Records when all bytes and ends of streams of this end are acknowledged.
    pub(super) fn note_finished(&mut self, now: Instant) {
        if !self.is_finished && self.data.is_all_acknowledged() {
            self.finish();
        }
        self.close_if_done(now);
    }

    /// Records that the peer has received all stream data of this end.
    pub(super) fn finish(&mut self) {
        if !self.is_finished {
            self.is_finished = true;
            self.events.push(Event::Finished);
        }
    }
}

impl Machine for Connection {
    type Datagram = Datagram;
    type Outcome = Fate;

    #[inline]
    fn accept(&mut self, now: Instant, datagram: Datagram) -> Fate {
        self.input(now, &datagram)
    }

    fn wake(&mut self, now: Instant) {
        self.wake_timers(now);
    }

    #[inline]
    fn deadline(&self) -> Option<Instant> {
        self.next_deadline()
    }

    #[inline]
    fn poll(&mut self, now: Instant) -> Option<Datagram> {
        let mut datagram = Datagram::default();
        self.next_datagram(now, &mut datagram).then_some(datagram)
    }
}
