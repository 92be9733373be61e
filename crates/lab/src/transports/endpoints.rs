//! The two endpoints of a flow, independent of its transport, and their applications.

use crate::packet::{Pool, Route};
use crate::scenario::Flow;
use crate::socket::{Application, Bound, Socket};
use acklab_app::page::{Browser, Server};
use acklab_app::video::Frames;
use acklab_app::{Player, Reader, Reading, Traffic, Writer};
use acklab_base::random::{Seed, Stream};
use acklab_base::{Bytes, Endpoint, Instant};
use acklab_measure::Role;
use acklab_measure::subjects::TransportLabels;
use acklab_wire::pdu::Pdu;

/// The two endpoints of a flow.
pub struct Endpoints {
    protocol: u8,
    payload: u64,
    header: u64,
    /// The labels of the forward direction and of the reverse direction.
    labels: [TransportLabels; 2],
    bind: Box<Bind>,
}

/// Connects both endpoints with their applications and the routes of their packets.
type Bind = dyn FnOnce([Application; 2], [Route; 2], &mut Pool) -> [Box<dyn Socket>; 2];

/// Returns the same labels for the forward and for the reverse direction.
pub(super) fn of_both(labels: TransportLabels) -> [TransportLabels; 2] {
    [labels.clone(), labels]
}

impl Endpoints {
    /// Creates a sender and a receiver whose packets have this IP protocol number. In a full-sized
    /// packet, `payload` is the size of the payload, and `header` is the size of all headers,
    /// including IP.
    pub fn new<S, R>(protocol: u8, sender: S, receiver: R, payload: Bytes, header: Bytes) -> Self
    where
        S: Endpoint + Send + 'static,
        R: Endpoint<Datagram = S::Datagram> + Send + 'static,
        S::Datagram: Pdu + Clone,
    {
        Self::of(protocol, [Role::Sender, Role::Receiver], sender, receiver, payload, header)
    }

    /// Creates the same endpoints with these roles.
    pub(super) fn of<S, R>(
        protocol: u8,
        roles: [Role; 2],
        sender: S,
        receiver: R,
        payload: Bytes,
        header: Bytes,
    ) -> Self
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

    /// Returns the bytes of payload of a full-sized packet.
    pub(crate) const fn payload(&self) -> u64 {
        self.payload
    }

    /// Returns the bytes of a full-sized packet.
    pub(crate) const fn full_size(&self) -> u64 {
        self.payload + self.header
    }

    /// Returns the labels of the forward and of the reverse direction.
    pub(crate) const fn labels(&self) -> &[TransportLabels; 2] {
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

    /// Returns the same endpoints with these labels of the forward direction and of the reverse
    /// direction.
    pub(super) fn with_labels(mut self, labels: [TransportLabels; 2]) -> Self {
        self.labels = labels;
        self
    }
}

/// Returns when the application of a flow begins and stops.
fn times(flow: &Flow) -> (Instant, Option<Instant>) {
    (Instant::ZERO + flow.start, flow.stop.map(|stop| Instant::ZERO + stop))
}

/// Returns the random stream of a flow's application.
fn chance(flow: &Flow, seed: Seed) -> Stream {
    seed.stream(&format!("flow/{}/source", flow.name))
}

/// Returns the application at the sender of a flow.
pub(crate) fn writer(flow: &Flow, seed: Seed) -> Writer {
    let (start, stop) = times(flow);
    Writer::new(flow.traffic, start, stop, chance(flow, seed))
}

/// Returns the application at the receiver of a flow. Returns `None` if the receiver reads all data
/// on arrival.
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
