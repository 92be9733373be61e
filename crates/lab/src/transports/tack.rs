//! TACK.

use super::endpoints::{Endpoints, of_both};
use super::maker::Maker;
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::scenario::{CustomKey, Flow};
use acklab_base::Bytes;
use acklab_measure::subjects::TransportLabels;
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_transport::tack::{Connection, Settings};
use acklab_wire::IpVersion;

impl Protocol for Settings {
    const NAME: &'static str = "TACK";
    const ABILITIES: Abilities =
        Abilities { is_duplex: true, keeps_order: true, has_messages: true, has_octets: true, ..Abilities::NONE };

    fn check_for(&self, _flow: &Flow, version: IpVersion) -> Result<(), Fault> {
        self.check_behind(version.longer_by()).map_err(|fault| fault.within("transport"))
    }

    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        CustomKey::among(Some(self.ack), Some(self.congestion))
    }

    fn largest_message(&self) -> Option<Bytes> {
        Some(self.send_buffer.min(self.receive_buffer))
    }

    fn labels(&self) -> [TransportLabels; 2] {
        let labels = TransportLabels {
            protocol: Self::NAME.to_owned(),
            controller: Some(self.congestion.name().to_owned()),
            ack_policy: Some(self.ack.name().to_owned()),
            ..TransportLabels::default()
        };
        of_both(labels)
    }

    fn endpoints(&self, maker: &Maker<'_>, version: IpVersion) -> Result<Endpoints, Error> {
        let settings = self.behind(version.longer_by());
        let ends = maker.ends(|end| {
            let controller =
                maker.controller(&settings.congestion, &settings.controller_start(maker.seed, end.sends))?;
            let policy = maker.policy(settings.ack, &settings.policy_start(maker.seed, end.receives))?;
            let open = end.of([Connection::client, Connection::server]);
            Ok(open(&settings, controller, policy, maker.seed, &maker.flow.name).with_reading(end.reading))
        })?;
        Ok(maker.over_udp(ends, settings.mss(), settings.headers()))
    }
}
