//! The two endpoints of a flow's transport. No other part of the lab knows a transport by name.

use crate::error::Error;
use crate::packet::{Pool, Route};
use crate::probe::FlowProbe;
use crate::scenario::{CustomKey, Ends, Flow, Handshake, Transport, back_name};
use crate::socket::{Application, Bound, Relay, Role, Socket, Spliced};
use crate::strategies::{self, Strategies};
use acklab_app::page::{Browser, Server};
use acklab_app::video::Frames;
use acklab_app::{Player, Reader, Reading, Traffic, Writer};
use acklab_base::random::{Seed, Stream};
use acklab_base::{Bytes, Endpoint, FlowKey, Instant};
use acklab_transport::tcp::receiver;
use acklab_transport::{ack, cc, quic, tack, tcp, udp};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::pdu::Pdu;
use acklab_wire::tcp::TCP_HEADER;
use acklab_wire::udp::UDP_HEADER;

/// IP protocol number of TCP (RFC 9293, §3.1).
const TCP: u8 = 6;
/// IP protocol number of UDP (RFC 768).
const UDP: u8 = 17;
/// Octets of a timestamps option with its padding (RFC 7323, §3.2, appendix A).
const TIMESTAMPS: u64 = 12;

/// What a transport needs to make the two endpoints of a flow.
pub struct TransportStart<'a> {
    /// The flow's name, which should be part of the names of its random streams.
    pub name: &'a str,
    /// The source of the run's random streams.
    pub seed: Seed,
    /// The configuration of the writing application.
    pub traffic: Traffic,
    /// The settings of the transport in the scenario, without its name.
    pub settings: &'a serde_json::Map<String, serde_json::Value>,
}

/// The two endpoints of a flow.
pub struct Endpoints {
    protocol: u8,
    payload: u64,
    header: u64,
    /// Of the forward and of the reverse direction.
    labels: [Labels; 2],
    bind: Box<Bind>,
}

/// Connects both endpoints with their applications and the routes of their packets.
type Bind = dyn FnOnce([Application; 2], [Route; 2], &mut Pool) -> [Box<dyn Socket>; 2];

/// The names of a transport and its parts in the flows table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    pub(crate) protocol: String,
    pub(crate) preset: Option<String>,
    pub(crate) peer_preset: Option<String>,
    pub(crate) controller: Option<String>,
    pub(crate) recovery: Option<String>,
    pub(crate) ack_policy: Option<String>,
}

impl Endpoints {
    /// A sender and a receiver whose packets have this IP protocol number. `payload` and `header` are the sizes of the payload and of
    /// all headers, that of IP included, of a full-sized packet.
    pub fn new<S, R>(protocol: u8, sender: S, receiver: R, payload: Bytes, header: Bytes) -> Self
    where
        S: Endpoint + Send + 'static,
        R: Endpoint<Datagram = S::Datagram> + Send + 'static,
        S::Datagram: Pdu + Clone,
    {
        Self::of(protocol, [Role::Sender, Role::Receiver], sender, receiver, payload, header)
    }

    fn of<S, R>(protocol: u8, roles: [Role; 2], sender: S, receiver: R, payload: Bytes, header: Bytes) -> Self
    where
        S: Endpoint + Send + 'static,
        R: Endpoint<Datagram = S::Datagram> + Send + 'static,
        S::Datagram: Pdu + Clone,
    {
        let bind =
            move |[at_sender, at_receiver]: [Application; 2], [forward, reverse]: [Route; 2], pool: &mut Pool| {
                let sender = Bound::new(sender, at_sender, forward, roles[0], pool);
                let receiver = Bound::new(receiver, at_receiver, reverse, roles[1], pool);
                [Box::new(sender) as Box<dyn Socket>, Box::new(receiver)]
            };
        Self {
            protocol,
            payload: payload.get(),
            header: header.get(),
            labels: Default::default(),
            bind: Box::new(bind),
        }
    }

    pub(crate) const fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Octets of payload of a full-sized packet.
    pub(crate) const fn payload(&self) -> u64 {
        self.payload
    }

    /// Octets of a full-sized packet.
    pub(crate) const fn full_size(&self) -> u64 {
        self.payload + self.header
    }

    /// The labels of the forward and of the reverse direction.
    pub(crate) const fn labels(&self) -> &[Labels; 2] {
        &self.labels
    }

    /// Connects both endpoints with the applications of `flow` and the routes of their packets.
    pub(crate) fn bind(self, flow: &Flow, seed: Seed, routes: [Route; 2], pool: &mut Pool) -> [Box<dyn Socket>; 2] {
        if let Some(page) = &flow.page {
            let browser = Application::Browser(Box::new(Browser::new(page, times(flow).0)));
            let server = Application::Server(Box::new(Server::new(page)));
            return (self.bind)([server, browser], routes, pool);
        }
        let at_sender = Application::Writer(writer(flow, seed));
        let reverse_writer = flow.reverse().map(|reverse| writer(&reverse, seed));
        let at_receiver = match (reader(flow, seed), reverse_writer) {
            (Some(reader), writer) => Application::Reader(Box::new((reader, writer))),
            (None, Some(writer)) => Application::Writer(writer),
            (None, None) => Application::None,
        };
        (self.bind)([at_sender, at_receiver], routes, pool)
    }

    fn with_labels(self, labels: Labels) -> Self {
        self.with_labels_of_both([labels.clone(), labels])
    }

    fn with_labels_of_both(mut self, labels: [Labels; 2]) -> Self {
        self.labels = labels;
        self
    }
}

/// When the application of a flow begins and stops.
fn times(flow: &Flow) -> (Instant, Option<Instant>) {
    (Instant::ZERO + flow.start, flow.stop.map(|stop| Instant::ZERO + stop))
}

/// The random stream of a flow's application.
fn chance(flow: &Flow, seed: Seed) -> Stream {
    seed.stream(&format!("flow/{}/source", flow.name))
}

/// The application at the sender of a flow.
pub(crate) fn writer(flow: &Flow, seed: Seed) -> Writer {
    let (start, stop) = times(flow);
    Writer::new(flow.traffic, start, stop, chance(flow, seed))
}

/// The application at the receiver of a flow. Returns `None` if it reads all data on arrival.
pub(crate) fn reader(flow: &Flow, seed: Seed) -> Option<Reader> {
    let play = |reading| match (reading, flow.traffic) {
        (Reading::Playback { buffer, after_stall }, Traffic::Video(video)) => {
            let frames = Frames::new(video, chance(flow, seed));
            Some(Player::new(frames, buffer, after_stall, times(flow).1))
        }
        _ => None,
    };
    (!flow.reading.is_at_once()).then(|| Reader::new(flow.reading, play))
}

/// The endpoints of a flow.
pub(crate) fn endpoints(
    flow: &Flow,
    version: IpVersion,
    seed: Seed,
    strategies: &Strategies,
) -> Result<Endpoints, Error> {
    let labels = Labels { protocol: flow.transport.name().to_owned(), ..Labels::default() };
    match &flow.transport {
        Transport::Tcp(settings) => tcp(flow, settings, labels, seed, strategies),
        Transport::Udp(_) => udp(flow, labels),
        Transport::Tack(settings) => tack(flow, &settings.behind(version.longer_by()), labels, seed, strategies),
        Transport::Quic(settings) => quic(flow, settings, labels, seed, strategies),
        Transport::Quinn(settings) => quinn(flow, settings, labels, seed, strategies),
        Transport::Custom(custom) => {
            let start = TransportStart { name: &flow.name, seed, traffic: flow.traffic, settings: &custom.settings };
            let made = strategies.transport(&custom.name, &start);
            let made =
                made.ok_or_else(|| missing(flow, CustomKey::Transport, &custom.name, &strategies.transport_names()))?;
            let refused = |reason| Error::Transport { flow: flow.name.clone(), name: custom.name.to_string(), reason };
            Ok(made.map_err(refused)?.with_labels(labels))
        }
    }
}

fn missing(flow: &Flow, key: CustomKey, name: &str, known: &[&str]) -> Error {
    Error::NoStrategy {
        flow: flow.name.clone(),
        key: key.key(),
        name: name.to_owned(),
        expected: strategies::expected(known),
    }
}

fn controller(
    flow: &Flow,
    congestion: &cc::Config,
    start: &cc::Start,
    strategies: &Strategies,
) -> Result<cc::Controller, Error> {
    let made = strategies.controller(congestion, start);
    made.ok_or_else(|| missing(flow, CustomKey::Controller, congestion.name(), &strategies.controller_names()))
}

fn policy(flow: &Flow, ack: ack::Config, start: &ack::Start, strategies: &Strategies) -> Result<ack::Policy, Error> {
    let made = strategies.policy(ack, start);
    made.ok_or_else(|| missing(flow, CustomKey::Policy, ack.name(), &strategies.policy_names()))
}

/// How the application at `to` reads. Both applications of a page read for themselves.
fn reading(flow: &Flow) -> receiver::Reading {
    if flow.reading.is_at_once() && flow.page.is_none() {
        receiver::Reading::AtOnce
    } else {
        receiver::Reading::OnDemand
    }
}

/// How the application at `from` reads.
const fn at_from(flow: &Flow) -> receiver::Reading {
    if flow.page.is_some() { receiver::Reading::OnDemand } else { receiver::Reading::AtOnce }
}

/// What makes the ends at `from` and at `to`, of what makes the end that opens the connection and the end that is opened. The end at `from`
/// opens it, except for a page.
fn in_order<T>(flow: &Flow, [opens, is_opened]: [T; 2]) -> [T; 2] {
    if flow.page.is_some() { [is_opened, opens] } else { [opens, is_opened] }
}

/// The congestion controller and the ACK policy of a connection over TCP with this configuration, as those of `flow`.
pub(crate) fn strategies_of(
    flow: &Flow,
    config: &tcp::Config,
    seed: Seed,
    strategies: &Strategies,
) -> Result<(cc::Controller, ack::Policy), Error> {
    let name = &flow.name;
    let controller = controller(flow, &config.congestion, &config.controller_start(seed, name), strategies)?;
    Ok((controller, policy(flow, config.ack, &config.policy_start(seed, name), strategies)?))
}

fn tcp(
    flow: &Flow,
    settings: &tcp::Settings,
    labels: Labels,
    seed: Seed,
    strategies: &Strategies,
) -> Result<Endpoints, Error> {
    let config = settings.config();
    let controller =
        |name: &str| controller(flow, &config.congestion, &config.controller_start(seed, name), strategies);
    let policy = |name: &str| policy(flow, config.ack, &config.policy_start(seed, name), strategies);
    let name = &flow.name;
    // A flow's ACK policy is that of the end that receives its data.
    let (forward_controller, forward_policy) = (controller(name)?, policy(name)?);
    let reading = reading(flow);
    let header = Bytes(IPV4_HEADER + TCP_HEADER + config.timestamps.map_or(0, |_| TIMESTAMPS));
    let endpoints = if let Some(reverse) = flow.reverse() {
        let (reverse_controller, reverse_policy) = (controller(&reverse.name)?, policy(&reverse.name)?);
        let open = in_order(flow, [tcp::Connection::active, tcp::Connection::passive]);
        let at_from = open[0](config, forward_controller, reverse_policy, seed, name).with_reading(at_from(flow));
        let at_to = open[1](config, reverse_controller, forward_policy, seed, name).with_reading(reading);
        Endpoints::of(TCP, [Role::AtFrom, Role::AtTo], at_from, at_to, config.mss, header)
    } else {
        let sender = tcp::Sender::new(config, forward_controller, seed, name);
        let receiver = tcp::Receiver::new(config, forward_policy, seed, name).with_reading(reading);
        Endpoints::new(TCP, sender, receiver, config.mss, header)
    };
    Ok(endpoints.with_labels(Labels {
        preset: Some(settings.preset.name().to_owned()),
        peer_preset: Some(settings.preset.name().to_owned()),
        controller: Some(config.congestion.name().to_owned()),
        recovery: Some(config.recovery.name().to_owned()),
        ack_policy: Some(config.ack.name().to_owned()),
        ..labels
    }))
}

/// The two ends at a proxy that splits a flow over TCP.
pub(crate) struct RelayPlan<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) handshake: Handshake,
    /// The settings of the ends toward the sender and toward the receiver.
    pub(crate) settings: [&'a tcp::Settings; 2],
    /// The routes of the packets of both ends.
    pub(crate) routes: [Route; 2],
    /// The key of the data that arrive.
    pub(crate) arriving_key: FlowKey,
    /// The name of the random streams of both ends.
    pub(crate) name: String,
}

/// The ends at a proxy. `probe` is a probe of its flow before the start.
pub(crate) fn relay(
    plan: RelayPlan<'_>,
    seed: Seed,
    strategies: &Strategies,
    probe: &FlowProbe,
    pool: &mut Pool,
) -> Result<Box<dyn Relay>, Error> {
    let RelayPlan { flow, handshake, settings, routes, arriving_key, name } = plan;
    let [before, behind] = settings.map(tcp::Settings::config);
    let policy = policy(flow, before.ack, &before.policy_start(seed, &name), strategies)?;
    let controller = controller(flow, &behind.congestion, &behind.controller_start(seed, &name), strategies)?;
    let receiver = tcp::Receiver::new(before, policy, seed, &name).with_reading(receiver::Reading::OnDemand);
    let sender = tcp::Sender::new(behind, controller, seed, &name);
    Ok(Box::new(Spliced::new(handshake, (receiver, sender), routes, arriving_key, probe, pool)))
}

fn udp(flow: &Flow, labels: Labels) -> Result<Endpoints, Error> {
    let payload = flow.traffic.write().ok_or_else(|| Error::NoRate { flow: flow.name.clone() })?;
    let header = Bytes(IPV4_HEADER + UDP_HEADER);
    let receiver = udp::Receiver::new(payload, !flow.reading.is_at_once());
    Ok(Endpoints::new(UDP, udp::Sender::new(payload), receiver, payload, header).with_labels(labels))
}

/// What `make` makes for each direction of a flow between two connections: for its data, and for those that go back. It is made for both
/// even if the second end does not write.
fn both<T>(flow: &Flow, make: impl Fn(&str) -> Result<T, Error>) -> Result<[T; 2], Error> {
    Ok([make(&flow.name)?, make(&back_name(&flow.name))?])
}

/// The congestion controllers of both directions; `start` takes the name of the direction.
fn controllers(
    flow: &Flow,
    congestion: &cc::Config,
    start: impl Fn(&str) -> cc::Start,
    strategies: &Strategies,
) -> Result<[cc::Controller; 2], Error> {
    both(flow, |name| controller(flow, congestion, &start(name), strategies))
}

/// The ACK policies of both directions; `start` takes the name of the direction.
fn policies(
    flow: &Flow,
    ack: ack::Config,
    start: impl Fn(&str) -> ack::Start,
    strategies: &Strategies,
) -> Result<[ack::Policy; 2], Error> {
    both(flow, |name| policy(flow, ack, &start(name), strategies))
}

/// Two connections over UDP, the first at `from`, of which the second need not write.
fn connections<C>(flow: &Flow, at_from: C, at_to: C, payload: u64, headers: u64) -> Endpoints
where
    C: Endpoint + Send + 'static,
    C::Datagram: Pdu + Clone,
{
    let roles = if flow.is_both_ways() { [Role::AtFrom, Role::AtTo] } else { [Role::Sender, Role::Receiver] };
    Endpoints::of(UDP, roles, at_from, at_to, Bytes(payload), Bytes(headers))
}

fn tack(
    flow: &Flow,
    settings: &tack::Settings,
    labels: Labels,
    seed: Seed,
    strategies: &Strategies,
) -> Result<Endpoints, Error> {
    let [forward_controller, back_controller] =
        controllers(flow, &settings.congestion, |name| settings.controller_start(seed, name), strategies)?;
    let [forward_policy, back_policy] =
        policies(flow, settings.ack, |name| settings.policy_start(seed, name), strategies)?;
    let open = in_order(flow, [tack::Connection::client, tack::Connection::server]);
    let sender = open[0](settings, forward_controller, back_policy, seed, &flow.name).with_reading(at_from(flow));
    let receiver = open[1](settings, back_controller, forward_policy, seed, &flow.name).with_reading(reading(flow));
    let endpoints = connections(flow, sender, receiver, settings.mss(), settings.headers());
    Ok(endpoints.with_labels(Labels {
        controller: Some(settings.congestion.name().to_owned()),
        ack_policy: Some(settings.ack.name().to_owned()),
        ..labels
    }))
}

fn quic(
    flow: &Flow,
    settings: &Ends<quic::Settings>,
    labels: Labels,
    seed: Seed,
    strategies: &Strategies,
) -> Result<Endpoints, Error> {
    let back = back_name(&flow.name);
    let names = [&flow.name, &back];
    let configs = settings.both().map(quic::Settings::config);
    let open = in_order(flow, [quic::Connection::client, quic::Connection::server]);
    let end = |end: usize| {
        let (own, peer) = (&configs[end], settings.both()[1 - end]);
        // Its data go in the direction of its number; its ACKs are those of the other direction.
        let (sent, received) = (names[end], names[1 - end]);
        let controller = controller(flow, &own.congestion, &own.controller_start(seed, sent), strategies)?;
        let policy = policy(flow, own.ack, &own.policy_start(seed, received), strategies)?;
        let rule = strategies.ask(own.ask, &own.ask_start(seed, sent));
        let rule = rule.ok_or_else(|| missing(flow, CustomKey::Ask, own.ask.name(), &strategies.ask_names()))?;
        let connection = open[end](settings.both()[end], controller, policy, seed, &flow.name).with_peer(peer);
        Ok::<_, Error>(match rule {
            Some(rule) => connection.with_ask(rule),
            None => connection,
        })
    };
    let (sender, receiver) = (end(0)?.with_reading(at_from(flow)), end(1)?.with_reading(reading(flow)));
    let endpoints = connections(flow, sender, receiver, configs[0].mss(), configs[0].headers());
    let preset = |end: usize| Some(settings.both()[end].preset.name().to_owned());
    let direction = |from: usize, labels: Labels| Labels {
        preset: preset(from),
        peer_preset: preset(1 - from),
        controller: Some(configs[from].congestion.name().to_owned()),
        ack_policy: Some(configs[1 - from].ack.name().to_owned()),
        ..labels
    };
    Ok(endpoints.with_labels_of_both([direction(0, labels.clone()), direction(1, labels)]))
}

fn quinn(
    flow: &Flow,
    settings: &acklab_quic::Settings,
    labels: Labels,
    seed: Seed,
    strategies: &Strategies,
) -> Result<Endpoints, Error> {
    let [forward_controller, back_controller] =
        controllers(flow, &settings.congestion, |name| settings.controller_start(seed, name), strategies)?;
    let name = &flow.name;
    let refused = |source: acklab_quic::Error| Error::Transport {
        flow: name.clone(),
        name: labels.protocol.clone(),
        reason: source.to_string(),
    };
    let open = in_order(flow, [acklab_quic::Connection::client, acklab_quic::Connection::server]);
    let mut sender = open[0](settings, forward_controller, seed, name).map_err(refused)?;
    let mut receiver = open[1](settings, back_controller, seed, name).map_err(refused)?;
    if flow.is_both_ways() {
        (sender, receiver) = (sender.two_way(), receiver.two_way());
    }
    let (sender, receiver) = (sender.with_reading(at_from(flow)), receiver.with_reading(reading(flow)));
    let endpoints = connections(flow, sender, receiver, settings.payload(), settings.headers());
    Ok(endpoints.with_labels(Labels {
        controller: Some(settings.controller_name()),
        ack_policy: Some(settings.ack_name()),
        ..labels
    }))
}
