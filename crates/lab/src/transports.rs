//! The transports that scenarios name.
//!
//! Each transport has a file in this folder, which implements `Protocol` for the transport's
//! settings. The list in this file contains one entry per transport. From the entries, the table
//! `transport` of a flow, its schema, and the names of transports in messages are generated. No
//! other code in the lab names a transport. Code for features of TCP, such as proxies, checks
//! whether the settings are settings of TCP.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | `maker` | makes the controllers, the policies and the two ends of a flow |
//! | `endpoints` | the two [`Endpoints`] of a flow, and their applications |
//! | `tcp`, `udp`, `tack`, `quic`, `quinn` | the built-in transports, one file each; `tcp` also contains the ends at a proxy |
//! | `custom` | a transport of the user |

mod custom;
mod endpoints;
mod maker;
mod quic;
mod quinn;
mod tack;
pub(crate) mod tcp;
mod udp;

use acklab_measure::subjects::TransportLabels;
pub use custom::{Custom, TransportStart};
pub use endpoints::Endpoints;
use endpoints::of_both;
pub(crate) use endpoints::{reader, writer};
pub(crate) use maker::Maker;

use crate::error::Error;
use crate::scenario::{CustomKey, Ends, Flow};
use acklab_base::Bytes;
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_wire::IpVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The optional abilities of a transport. Every transport carries data from one end to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    /// `true` if the application at `to` can write, too.
    pub(crate) is_duplex: bool,
    /// `true` if the transport delivers data in order and stores them until a slow application
    /// reads them.
    pub(crate) keeps_order: bool,
    /// `true` if the transport carries messages that may be abandoned.
    pub(crate) has_messages: bool,
    /// `true` if the kernel also implements the transport.
    pub(crate) is_in_kernel: bool,
    /// `true` if packets can be encoded as octets and decoded, so that the endpoints can be hosts
    /// of an emulation.
    pub(crate) has_octets: bool,
}

impl Abilities {
    const NONE: Self =
        Self { is_duplex: false, keeps_order: false, has_messages: false, is_in_kernel: false, has_octets: false };
}

/// The contract of a transport. The type of its settings in a scenario implements it.
trait Protocol: Clone {
    /// The name of the transport in tables and messages.
    const NAME: &'static str;
    /// The abilities of the transport.
    const ABILITIES: Abilities;

    /// Returns the abilities of the transport.
    fn abilities(&self) -> Abilities {
        Self::ABILITIES
    }

    /// Returns the name of the transport in tables. It may depend on the settings.
    fn name(&self) -> &str {
        Self::NAME
    }

    /// Returns the same settings with all defaults written out.
    fn written_out(&self) -> Self {
        self.clone()
    }

    /// Checks the settings for `flow` over this version of IP, by rules that the schema cannot
    /// express. The path of a fault begins at the flow.
    fn check_for(&self, flow: &Flow, version: IpVersion) -> Result<(), Fault>;

    /// Returns the strategies in the settings that are not built in.
    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        Vec::new()
    }

    /// Returns the maximum size of a message, if the transport
    /// [has messages](Abilities::has_messages).
    fn largest_message(&self) -> Option<Bytes> {
        None
    }

    /// Returns the settings of TCP, if the transport is TCP. Proxies split TCP, and the kernel may
    /// have to apply these settings.
    fn tcp(&self) -> Option<&acklab_transport::tcp::Settings> {
        None
    }

    /// Returns the labels of the forward and of the reverse direction in the flows table.
    fn labels(&self) -> [TransportLabels; 2] {
        of_both(TransportLabels { protocol: self.name().to_owned(), ..TransportLabels::default() })
    }

    /// Returns the two endpoints of the maker's flow over this version of IP, without labels.
    fn endpoints(&self, maker: &Maker<'_>, version: IpVersion) -> Result<Endpoints, Error>;
}

acklab_base::registry! {
    /// A transport protocol and its settings.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "protocol")]
    #[schemars(extend("x-acklab-shorthand" = "flat"))]
    settings Transport;

    /// TCP (RFC 9293).
    "tcp" => Tcp(acklab_transport::tcp::Settings) boxed,
    /// UDP (RFC 768): a datagram for each write of the application, without acknowledgement.
    /// Supports only the `traffic` models `constant`, `poisson` and `video`. Has no settings of
    /// TCP.
    "udp" => Udp(acklab_transport::udp::Settings),
    /// TACK (Li et al., SIGCOMM 2020) as a separate transport over UDP. The receiver sends few
    /// acknowledgments. It detects losses, measures round-trip times and measures rates.
    "tack" => Tack(acklab_transport::tack::Settings) boxed,
    /// QUIC (RFC 9000, RFC 9002) with the ACK frequency extension. Packets are not encrypted, but
    /// their sizes include the octets that encryption adds.
    "quic" => Quic(Ends<acklab_transport::quic::Settings>) boxed,
    /// QUIC (RFC 9000) of quinn-proto, with TLS 1.3. Its packets are encrypted, and captures
    /// contain the keys.
    "quinn" => Quinn(acklab_quinn::Settings) boxed,
    /// A transport of the user, which must be added to the run. All keys except `name` are settings
    /// of the transport.
    "custom" => Custom(Custom),
}

/// The names of all transports, and their abilities.
const ABILITIES: &[(&str, Abilities)] = &every!(Of => (Of::NAME, Of::ABILITIES));

impl Transport {
    /// Returns the abilities of the transport.
    pub(crate) fn abilities(&self) -> Abilities {
        each!(self, settings => settings.abilities())
    }

    /// Returns the same transport with all settings written out.
    pub(crate) fn in_full(&self) -> Self {
        make!(self, settings => settings.written_out())
    }

    /// Returns the name of the transport in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        each!(self, settings => settings.name())
    }

    /// Checks the settings, for `flow` over this version of IP. The path of a fault begins at the
    /// flow.
    pub(crate) fn check_for(&self, flow: &Flow, version: IpVersion) -> Result<(), Fault> {
        each!(self, settings => settings.check_for(flow, version))
    }

    /// Returns the strategies in the settings that are not built in.
    pub(crate) fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        each!(self, settings => settings.custom_names())
    }

    /// Returns the maximum size of a message that may be abandoned, if the transport carries such
    /// messages.
    pub(crate) fn largest_message(&self) -> Option<Bytes> {
        each!(self, settings => settings.largest_message())
    }

    /// Returns the settings of TCP, if the transport is TCP.
    pub(crate) fn tcp(&self) -> Option<&acklab_transport::tcp::Settings> {
        each!(self, settings => settings.tcp())
    }

    /// Returns the names of the transports with these abilities, for use in messages.
    pub(crate) fn names_with(able: impl Fn(&Abilities) -> bool) -> Vec<&'static str> {
        ABILITIES.iter().filter(|(_, abilities)| able(abilities)).map(|(name, _)| *name).collect()
    }
}

/// Returns the endpoints of the maker's flow over this version of IP.
pub(crate) fn endpoints(maker: &Maker<'_>, version: IpVersion) -> Result<Endpoints, Error> {
    each!(&maker.flow.transport, settings => Ok(settings.endpoints(maker, version)?.with_labels(settings.labels())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the built-in transports and a custom one.
    fn all() -> Vec<Transport> {
        let tables = [
            json!({ "protocol": "tcp", "preset": "rfc" }),
            json!({ "protocol": "udp" }),
            json!({ "protocol": "tack" }),
            json!({ "protocol": "quic" }),
            json!({ "protocol": "quinn" }),
            json!({ "protocol": "custom", "name": "mine" }),
        ];
        tables.map(|table| serde_json::from_value(table).unwrap_or_else(|error| panic!("{error}"))).into()
    }

    #[test]
    fn each_is_in_the_list_of_abilities() {
        let names: Vec<&str> = ABILITIES.iter().map(|(name, _)| *name).collect();
        let all = all();
        assert_eq!(all.iter().map(Transport::name).collect::<Vec<_>>(), [&names[..5], &["mine"]].concat());
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn what_each_says_of_itself_agrees() {
        for transport in all() {
            let (name, abilities) = (transport.name(), transport.abilities());
            assert_eq!(transport.largest_message().is_some(), abilities.has_messages, "{name}");
            let labels = each!(&transport, settings => settings.labels());
            assert!(labels.iter().all(|labels| labels.protocol == name), "{name}: {labels:?}");
            assert_eq!(transport.in_full().in_full(), transport.in_full(), "{name}");
        }
    }

    #[test]
    fn messages_name_those_that_can() {
        assert_eq!(Transport::names_with(|abilities| abilities.is_duplex), ["TCP", "TACK", "QUIC", "QUIC (quinn)"]);
        assert_eq!(Transport::names_with(|abilities| abilities.is_in_kernel), ["TCP", "UDP"]);
        assert_eq!(Transport::names_with(|abilities| abilities.has_octets), ["TCP", "UDP", "TACK"]);
        assert_eq!(Transport::names_with(|abilities| abilities.has_messages), ["TACK"]);
    }
}
