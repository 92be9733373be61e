//! TCP, and its ends at a proxy.

use super::endpoints::{Endpoints, of_both};
use super::maker::Maker;
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::packet::{Pool, Route};
use crate::scenario::{CustomKey, Flow, Handshake};
use crate::socket::{Relay, Spliced};
use acklab_base::{Bytes, FlowKey};
use acklab_measure::subjects::TransportLabels;
use acklab_measure::{FlowProbe, Role};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_transport::reading::Reading;
use acklab_transport::tcp::{Connection, Receiver, Sender, Settings, TcpConfig};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::tcp::TCP_HEADER;

/// IP protocol number of TCP (RFC 9293, §3.1).
const PROTOCOL: u8 = 6;
/// Octets of a timestamps option with padding (RFC 7323, §3.2, appendix A).
const TIMESTAMPS: u64 = 12;

impl Protocol for Settings {
    const NAME: &'static str = "TCP";
    const ABILITIES: Abilities =
        Abilities { is_duplex: true, keeps_order: true, is_in_kernel: true, has_octets: true, ..Abilities::NONE };

    fn written_out(&self) -> Self {
        self.in_full()
    }

    fn check_for(&self, _flow: &Flow, _version: IpVersion) -> Result<(), Fault> {
        self.check().map_err(|fault| fault.within("transport"))
    }

    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        CustomKey::among(self.ack, self.congestion)
    }

    fn tcp(&self) -> Option<&Settings> {
        Some(self)
    }

    fn labels(&self) -> [TransportLabels; 2] {
        let config = self.config();
        let labels = TransportLabels {
            protocol: Self::NAME.to_owned(),
            preset: Some(self.preset.name().to_owned()),
            peer_preset: Some(self.preset.name().to_owned()),
            controller: Some(config.congestion.name().to_owned()),
            recovery: Some(config.recovery.name().to_owned()),
            ack_policy: Some(config.ack.name().to_owned()),
        };
        of_both(labels)
    }

    fn endpoints(&self, maker: &Maker<'_>, _version: IpVersion) -> Result<Endpoints, Error> {
        let config = self.config();
        let header = Bytes(IPV4_HEADER + TCP_HEADER + config.timestamps.map_or(0, |_| TIMESTAMPS));
        let (name, seed) = (&maker.flow.name, maker.seed);
        if maker.flow.is_both_ways() {
            let [at_from, at_to] = maker.ends(|end| {
                let (controller, policy) =
                    (maker.controller_of(&config, end.sends)?, maker.policy_of(&config, end.receives)?);
                let open = end.of([Connection::active, Connection::passive]);
                Ok(open(config, controller, policy, seed, name).with_reading(end.reading))
            })?;
            return Ok(Endpoints::of(PROTOCOL, [Role::AtFrom, Role::AtTo], at_from, at_to, config.mss, header));
        }
        let sender = Sender::new(config, maker.controller_of(&config, name)?, seed, name);
        let receiver = Receiver::new(config, maker.policy_of(&config, name)?, seed, name).with_reading(maker.reading());
        Ok(Endpoints::new(PROTOCOL, sender, receiver, config.mss, header))
    }
}

impl Maker<'_> {
    /// Returns the congestion controller of a connection with this configuration. `name` is the
    /// name of the direction or connection whose data the controller controls.
    fn controller_of(&self, config: &TcpConfig, name: &str) -> Result<Controller, Error> {
        self.controller(&config.congestion, &config.controller_start(self.seed, name))
    }

    /// Returns the ACK policy of a connection with this configuration. `name` is the name of the
    /// direction or connection whose data the policy acknowledges.
    fn policy_of(&self, config: &TcpConfig, name: &str) -> Result<Policy, Error> {
        self.policy(config.ack, &config.policy_start(self.seed, name))
    }

    /// Returns the congestion controller and the ACK policy of a connection with this
    /// configuration. Their names are derived from the flow.
    pub(crate) fn strategies_of(&self, config: &TcpConfig) -> Result<(Controller, Policy), Error> {
        let name = &self.flow.name;
        Ok((self.controller_of(config, name)?, self.policy_of(config, name)?))
    }
}

/// The two ends at a proxy that splits a flow over TCP.
pub(crate) struct RelayPlan<'a> {
    pub(crate) handshake: Handshake,
    /// The settings of the ends toward the sender and toward the receiver.
    pub(crate) settings: [&'a Settings; 2],
    /// The routes of the packets of both ends.
    pub(crate) routes: [Route; 2],
    /// The flow key of the packets with data that arrive at the proxy.
    pub(crate) arriving_key: FlowKey,
    /// The name of the random streams of both ends.
    pub(crate) name: String,
}

/// Returns the ends at a proxy of the maker's flow. `probe` is a probe of that flow that has not
/// started.
pub(crate) fn relay(
    plan: RelayPlan<'_>,
    maker: &Maker<'_>,
    probe: &FlowProbe,
    pool: &mut Pool,
) -> Result<Box<dyn Relay>, Error> {
    let RelayPlan { handshake, settings, routes, arriving_key, name } = plan;
    let [before, behind] = settings.map(Settings::config);
    let (policy, controller) = (maker.policy_of(&before, &name)?, maker.controller_of(&behind, &name)?);
    let receiver = Receiver::new(before, policy, maker.seed, &name).with_reading(Reading::OnDemand);
    let sender = Sender::new(behind, controller, maker.seed, &name);
    Ok(Box::new(Spliced::new(handshake, (receiver, sender), routes, arriving_key, probe, pool)))
}
