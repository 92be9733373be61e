//! One end of a connection.

use super::acks::Acks;
use super::ask::{AskRule, Asker};
use super::close::{Close, Ended};
use super::control::Due;
use super::flow::{Credit, Offer};
use super::handshake::{Handshake, Parameters};
use super::output::Output;
use super::sent::{Content, Counters};
use super::settings::{Config, Settings};
use super::space::Spaces;
use super::streams::Streams;
use crate::ack::{Delivery, Policy};
use crate::cc::{self, Controller};
use crate::congestion::Congestion;
use crate::custom::Custom;
use crate::mtu;
use crate::pacing::Spread;
use crate::reading::Reading;
use crate::recovery::packets::{Lost, Packet};
use crate::recovery::rtt::Estimator;
use crate::recovery::transmission::Transmission;
use crate::streams::Side;
use acklab_base::random::Seed;
use acklab_base::{Event, Fate, Instant, Machine};
use acklab_wire::quic::{ConnectionId, Datagram, EcnCounts};
use std::collections::VecDeque;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its application has not opened it yet.
    Idle,
    /// It waits for a client.
    Listening,
    /// The handshake is under way.
    Handshaking,
    /// The handshake is complete: data may be sent.
    Established,
    /// It is over.
    Closed(Ended),
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) side: Side,
    pub(super) config: Config,
    /// The transport parameters of the peer.
    pub(super) peer: Parameters,
    pub(super) phase: Phase,
    /// What the peer addresses packets to.
    pub(super) local: ConnectionId,
    /// What packets to the peer are addressed to.
    pub(super) remote: ConnectionId,
    /// Server: what the client addressed its first packet to.
    pub(super) original: ConnectionId,
    pub(super) has_remote: bool,
    pub(super) handshake: Handshake,
    pub(super) spaces: Spaces,
    /// A space whose keys have become available has packets that wait.
    pub(super) has_waiting: bool,
    pub(super) acks: Acks,
    pub(super) asker: Asker,
    pub(super) streams: Streams,
    /// How much the peer lets this end send, and the other way round.
    pub(super) credit: Credit,
    pub(super) offer: Offer,
    pub(super) due: Due,
    pub(super) estimator: Estimator,
    /// When the round-trip time was first measured.
    pub(super) measured_at: Option<Instant>,
    /// Probe timeouts in a row (`pto_count` of RFC 9002).
    pub(super) expiries: u32,
    /// When a datagram last left or arrived that moved the timer of a client without anything in flight.
    pub(super) active_at: Instant,
    pub(super) congestion: Congestion,
    /// The rate of delivery, for what is asked of the peer's ACKs.
    pub(super) delivery: Delivery,
    /// Packets by their ECN codepoint, as the peer has reported them.
    pub(super) reported_ecn: EcnCounts,
    /// Packets with ECT(0) sent, until validation fails (RFC 9000, §13.4.2).
    pub(super) sends_ect: bool,
    pub(super) counters: Counters,
    pub(super) output: Output,
    /// The search for the largest datagram that the path carries. Without it, the largest is taken for granted.
    pub(super) mtu: Option<Box<mtu::Search>>,
    pub(super) close: Close,
    /// When the idle timeout was last restarted, and whether something that must be acknowledged has left since then.
    pub(super) idle_from: Instant,
    pub(super) has_sent_since: bool,
    pub(super) refused: super::input::Refused,
    pub(super) events: VecDeque<Event>,
    /// Packets of data that are declared lost are events.
    pub(super) records_losses: bool,
    pub(super) is_finished: bool,
    /// Memory that each ACK uses again.
    pub(super) acknowledged: Vec<(u64, Packet<Content>)>,
    pub(super) lost: Vec<Lost<Content>>,
    pub(super) told_lost: Vec<cc::Lost>,
    pub(super) outcomes: Vec<Transmission>,
}

impl Connection {
    /// The end that opens the connection. `name` names its random streams.
    #[must_use]
    pub fn client(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Client, &settings.config(), controller, policy, seed, name)
    }

    /// The end that is opened. `name` names its random streams.
    #[must_use]
    pub fn server(settings: &Settings, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        Self::new(Side::Server, &settings.config(), controller, policy, seed, name)
    }

    fn new(side: Side, config: &Config, controller: Controller, policy: Policy, seed: Seed, name: &str) -> Self {
        let phase = match side {
            Side::Client => Phase::Idle,
            Side::Server => Phase::Listening,
        };
        let mut random = seed.stream(&format!("flow/{name}/{}", side.name()));
        let mut id = || ConnectionId::of_word(random.below(u64::MAX));
        let (local, remote) = (id(), id());
        // RFC 9002, §7.3.2: half of the window.
        let congestion = Congestion::new(controller, config.initial_window, config.first_datagram())
            .with_pacing(config.pacing, Spread::QUIC)
            .with_burst(config.burst)
            .with_reduction(cc::FlightMeasure::Window);
        let (_, window) = config.flow_control.initial();
        let (_, tuning) = config.flow_control.tunings(config.updates_per_window);
        Self {
            side,
            config: *config,
            peer: Parameters::of(config),
            phase,
            local,
            // A client's first packets are addressed to an id of its own invention (RFC 9000, §7.2).
            remote,
            original: local,
            has_remote: false,
            handshake: Handshake::default(),
            spaces: Spaces::new(congestion.wants_stamps()),
            has_waiting: false,
            acks: Acks::new(policy, config),
            asker: Asker::new(&config.ask),
            streams: Streams::new(side, config),
            credit: Credit::default(),
            offer: Offer::new(window, tuning),
            due: Due::default(),
            estimator: Estimator::default(),
            measured_at: None,
            expiries: 0,
            active_at: Instant::ZERO,
            congestion,
            delivery: Delivery::new(1, 10),
            reported_ecn: EcnCounts::default(),
            sends_ect: config.ecn,
            counters: Counters::default(),
            output: Output::new(config.datagram),
            mtu: config.mtu_discovery.then(|| Box::new(mtu::Search::new(config.first_datagram(), config.datagram))),
            close: Close::default(),
            idle_from: Instant::ZERO,
            has_sent_since: false,
            refused: super::input::Refused::default(),
            events: VecDeque::new(),
            records_losses: false,
            is_finished: false,
            acknowledged: Vec::new(),
            lost: Vec::new(),
            told_lost: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// This end, whose application reads so. To be said before the connection opens.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.streams.table.set_reading(reading);
        self
    }

    /// This end, whose peer has these settings. To be said before the connection opens.
    #[must_use]
    pub fn with_peer(mut self, settings: &Settings) -> Self {
        let peer = settings.config();
        self.peer = Parameters::of(&peer);
        self.config.tls = self.config.tls.against(self.side, peer.tls);
        self
    }

    /// This end, which asks its peer by a rule of the user. To be said before the connection opens.
    #[must_use]
    pub fn with_ask(mut self, rule: Custom<dyn AskRule + Send>) -> Self {
        self.asker.set_rule(rule);
        self
    }

    /// Where it stands.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns `true` if the handshake is confirmed (RFC 9001, §4.1.2).
    #[must_use]
    pub const fn is_confirmed(&self) -> bool {
        self.handshake.is_confirmed
    }

    /// Octets in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.spaces.in_flight()
    }

    /// Returns `true` if all streams have ended: what this end sends is acknowledged, and what the peer sends is read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_finished && self.streams.table.all_received()
    }

    /// Notes whether all octets and ends of streams of this end are acknowledged.
    pub(super) fn note_finished(&mut self, now: Instant) {
        if !self.is_finished && self.streams.table.main().outgoing.is_closed() && self.streams.table.all_sent() {
            self.is_finished = true;
            self.events.push_back(Event::Finished);
        }
        self.close_if_done(now);
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
        self.next_datagram(now)
    }
}
