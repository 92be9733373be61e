//! A custom transport, which the caller of the run adds.

use super::endpoints::Endpoints;
use super::maker::Maker;
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::scenario::{CustomKey, Flow};
use acklab_app::Traffic;
use acklab_base::random::Seed;
use acklab_transport::custom::Name;
use acklab_transport::fault::Fault;
use acklab_wire::IpVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A custom transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
// The settings are at the same level as the tag of `Transport`, in one list of the schema.
#[schemars(inline)]
pub struct Custom {
    /// The name of the transport in the run.
    #[schemars(length(max = 32), example = &"stop-and-wait")]
    pub name: Name,
    /// The settings of the transport.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// The parameters from which a transport makes the two endpoints of a flow.
pub struct TransportStart<'a> {
    /// The flow's name, which should be part of the names of its random streams.
    pub name: &'a str,
    /// The source of the run's random streams.
    pub seed: Seed,
    /// The configuration of the writing application.
    pub traffic: Traffic,
    /// The settings of the transport in the scenario, without its name.
    pub settings: &'a Map<String, Value>,
}

impl Protocol for Custom {
    const NAME: &'static str = "custom";
    /// The abilities of a custom transport are unknown. The lab assumes that it may keep order and
    /// has no other ability.
    const ABILITIES: Abilities = Abilities { keeps_order: true, ..Abilities::NONE };

    fn name(&self) -> &str {
        &self.name
    }

    fn check_for(&self, _flow: &Flow, _version: IpVersion) -> Result<(), Fault> {
        Ok(())
    }

    fn custom_names(&self) -> Vec<(CustomKey, Name)> {
        vec![(CustomKey::Transport, self.name)]
    }

    fn endpoints(&self, maker: &Maker<'_>, _version: IpVersion) -> Result<Endpoints, Error> {
        let (flow, strategies) = (maker.flow, maker.strategies);
        let start =
            TransportStart { name: &flow.name, seed: maker.seed, traffic: flow.traffic, settings: &self.settings };
        let made = strategies.transport(&self.name, &start);
        let made =
            made.ok_or_else(|| maker.missing(CustomKey::Transport, &self.name, &strategies.transport_names()))?;
        made.map_err(|reason| Error::Transport { flow: flow.name.clone(), name: self.name.to_string(), reason })
    }
}
