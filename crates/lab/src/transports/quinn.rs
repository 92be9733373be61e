//! QUIC of quinn-proto.

use super::endpoints::{Endpoints, of_both};
use super::maker::Maker;
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::scenario::{CustomKey, Flow};
use acklab_measure::subjects::TransportLabels;
use acklab_quinn::{Connection, Settings};
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_wire::IpVersion;

impl Protocol for Settings {
    const NAME: &'static str = "QUIC (quinn)";
    const ABILITIES: Abilities = Abilities { is_duplex: true, keeps_order: true, ..Abilities::NONE };

    fn check_for(&self, _flow: &Flow, _version: IpVersion) -> Result<(), Fault> {
        self.check().map_err(|fault| fault.within("transport"))
    }

    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        CustomKey::among(None, Some(self.congestion))
    }

    fn labels(&self) -> [TransportLabels; 2] {
        let labels = TransportLabels {
            protocol: Self::NAME.to_owned(),
            controller: Some(self.controller_name()),
            ack_policy: Some(self.ack_name()),
            ..TransportLabels::default()
        };
        of_both(labels)
    }

    fn endpoints(&self, maker: &Maker<'_>, _version: IpVersion) -> Result<Endpoints, Error> {
        let name = &maker.flow.name;
        let ends = maker.ends(|end| {
            let controller = maker.controller(&self.congestion, &self.controller_start(maker.seed, end.sends))?;
            let open = end.of([Connection::client, Connection::server]);
            let connection = open(self, controller, maker.seed, name).map_err(|source| Error::Transport {
                flow: name.clone(),
                name: Self::NAME.to_owned(),
                reason: source.to_string(),
            })?;
            let connection = if maker.flow.is_both_ways() { connection.two_way() } else { connection };
            Ok(connection.with_reading(end.reading))
        })?;
        Ok(maker.over_udp(ends, self.payload(), self.headers()))
    }
}
