//! Makes the controllers, the policies and the two ends of a flow.

use super::endpoints::Endpoints;
use crate::error::Error;
use crate::scenario::{CustomKey, Flow};
use crate::strategies::{self, Strategies};
use acklab_base::random::Seed;
use acklab_base::{Bytes, Endpoint};
use acklab_measure::Role;
use acklab_measure::subjects::back_name;
use acklab_transport::custom::Custom;
use acklab_transport::quic::ask::{self, AskRule};
use acklab_transport::reading::Reading;
use acklab_transport::{ack, cc};
use acklab_wire::pdu::Pdu;

/// IP protocol number of UDP (RFC 768).
pub(super) const UDP: u8 = 17;

/// The parameters of a flow's endpoints other than the settings of their transport.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) seed: Seed,
    pub(crate) strategies: &'a Strategies,
}

/// One end of a connection that carries data in both directions.
pub(super) struct End<'a> {
    /// The index of the end: 0 at `from`, 1 at `to`.
    pub(super) index: usize,
    /// The name of the direction in which this end sends data. The end uses the congestion
    /// controller of this direction.
    pub(super) sends: &'a str,
    /// The name of the direction in which this end receives data. The end uses the ACK policy of
    /// this direction.
    pub(super) receives: &'a str,
    /// `true` if this end opens the connection.
    pub(super) opens: bool,
    /// How the application at this end reads.
    pub(super) reading: Reading,
}

impl End<'_> {
    /// Returns the first value if this end opens the connection, otherwise the second.
    pub(super) fn of<T>(&self, [opens, is_opened]: [T; 2]) -> T {
        if self.opens { opens } else { is_opened }
    }
}

impl Maker<'_> {
    /// Creates the ends at `from` and at `to` with `end`. Both ends can write, even if the
    /// application at `to` does not write.
    pub(super) fn ends<E>(&self, end: impl Fn(End<'_>) -> Result<E, Error>) -> Result<[E; 2], Error> {
        let (forward, back) = (&self.flow.name, &back_name(&self.flow.name));
        // The end at `from` opens the connection. For a page, the end at `to` opens it, because it
        // sends the request.
        let has_page = self.flow.page.is_some();
        let reading = if has_page { Reading::OnDemand } else { Reading::AtOnce };
        let at_from = End { index: 0, sends: forward, receives: back, opens: !has_page, reading };
        let at_to = End { index: 1, sends: back, receives: forward, opens: has_page, reading: self.reading() };
        Ok([end(at_from)?, end(at_to)?])
    }

    /// Returns how the application at `to` reads. For a page, both applications read on their own.
    pub(super) fn reading(&self) -> Reading {
        if self.flow.reading.is_at_once() && self.flow.page.is_none() { Reading::AtOnce } else { Reading::OnDemand }
    }

    /// Returns endpoints that send UDP datagrams. The second endpoint may have nothing to write.
    /// `payload` and `headers` are the sizes in a full-sized packet, in octets.
    pub(super) fn over_udp<C>(&self, [at_from, at_to]: [C; 2], payload: u64, headers: u64) -> Endpoints
    where
        C: Endpoint + Send + 'static,
        C::Datagram: Pdu + Clone,
    {
        let is_both_ways = self.flow.is_both_ways();
        let roles = if is_both_ways { [Role::AtFrom, Role::AtTo] } else { [Role::Sender, Role::Receiver] };
        Endpoints::of(UDP, roles, at_from, at_to, Bytes(payload), Bytes(headers))
    }

    /// Returns the congestion controller of this configuration.
    pub(super) fn controller(
        &self,
        congestion: &cc::ControllerConfig,
        start: &cc::Start,
    ) -> Result<cc::Controller, Error> {
        let made = self.strategies.controller(congestion, start);
        made.ok_or_else(|| self.missing(CustomKey::Controller, congestion.name(), &self.strategies.controller_names()))
    }

    /// Returns the ACK policy of this configuration.
    pub(super) fn policy(&self, ack: ack::PolicyConfig, start: &ack::Start) -> Result<ack::Policy, Error> {
        let made = self.strategies.policy(ack, start);
        made.ok_or_else(|| self.missing(CustomKey::Policy, ack.name(), &self.strategies.policy_names()))
    }

    /// Returns the rule of requesting ACKs, if this configuration names a custom rule.
    pub(super) fn ask(
        &self,
        ask: ask::AskConfig,
        start: &ask::Start,
    ) -> Result<Option<Custom<dyn AskRule + Send>>, Error> {
        self.strategies
            .ask(ask, start)
            .ok_or_else(|| self.missing(CustomKey::Ask, ask.name(), &self.strategies.ask_names()))
    }

    /// Returns the error that the run has no strategy `name`. `known` are the names of its
    /// strategies.
    pub(super) fn missing(&self, key: CustomKey, name: &str, known: &[&str]) -> Error {
        Error::NoStrategy {
            flow: self.flow.name.clone(),
            key: key.key(),
            name: name.to_owned(),
            expected: strategies::expected(known),
        }
    }
}
