//! QUIC. Its two ends may be different stacks.

use super::endpoints::Endpoints;
use super::maker::Maker;
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::scenario::{CustomKey, Ends, Flow};
use acklab_measure::subjects::TransportLabels;
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_transport::quic::{Connection, Settings};
use acklab_wire::IpVersion;

/// Returns the strategies in the settings of one end that are not built in.
fn custom_names(settings: &Settings) -> impl Iterator<Item = (CustomKey, Name)> {
    CustomKey::among(settings.ack, settings.congestion).into_iter().chain(CustomKey::of_ask(settings.ask))
}

impl Protocol for Ends<Settings> {
    const NAME: &'static str = "QUIC";
    const ABILITIES: Abilities = Abilities { is_duplex: true, keeps_order: true, ..Abilities::NONE };

    fn written_out(&self) -> Self {
        self.map(Settings::in_full)
    }

    fn check_for(&self, _flow: &Flow, _version: IpVersion) -> Result<(), Fault> {
        let peer = self.peer.as_ref().map_or(Ok(()), Settings::check);
        let checked = self.from.check().and(peer.map_err(|fault| fault.within("peer")));
        checked.map_err(|fault| fault.within("transport"))
    }

    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        let of_peer = self.peer.iter().flat_map(custom_names).map(|(key, name)| (key.of_peer(), name));
        custom_names(&self.from).chain(of_peer).collect()
    }

    fn labels(&self) -> [TransportLabels; 2] {
        let configs = self.both().map(Settings::config);
        let preset = |end: usize| Some(self.both()[end].preset.name().to_owned());
        [0, 1].map(|from| TransportLabels {
            protocol: Self::NAME.to_owned(),
            preset: preset(from),
            peer_preset: preset(1 - from),
            controller: Some(configs[from].congestion.name().to_owned()),
            ack_policy: Some(configs[1 - from].ack.name().to_owned()),
            ..TransportLabels::default()
        })
    }

    fn endpoints(&self, maker: &Maker<'_>, _version: IpVersion) -> Result<Endpoints, Error> {
        let configs = self.both().map(Settings::config);
        let ends = maker.ends(|end| {
            let (settings, config) = (self.both()[end.index], &configs[end.index]);
            let controller = maker.controller(&config.congestion, &config.controller_start(maker.seed, end.sends))?;
            let policy = maker.policy(config.ack, &config.policy_start(maker.seed, end.receives))?;
            let rule = maker.ask(config.ask, &config.ask_start(maker.seed, end.sends))?;
            let open = end.of([Connection::client, Connection::server]);
            let connection = open(settings, controller, policy, maker.seed, &maker.flow.name)
                .with_peer(self.both()[1 - end.index])
                .with_reading(end.reading);
            Ok(match rule {
                Some(rule) => connection.with_ask(rule),
                None => connection,
            })
        })?;
        Ok(maker.over_udp(ends, configs[0].mss(), configs[0].headers()))
    }
}
