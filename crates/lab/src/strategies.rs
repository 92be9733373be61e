//! Strategies of the user that scenarios can name: ACK policies, congestion controllers, rules of
//! requesting ACKs, and transports.

use crate::transports::{Endpoints, TransportStart};
use acklab_transport::ack::{self, AckPolicy, Policy};
use acklab_transport::cc::{self, CongestionControl, Controller};
use acklab_transport::custom::Custom;
use acklab_transport::quic::ask::{self, AskRule};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type MakePolicy = dyn Fn(&ack::Start) -> Box<dyn AckPolicy + Send> + Send + Sync;
type MakeAsk = dyn Fn(&ask::Start) -> Box<dyn AskRule + Send> + Send + Sync;
type MakeTransport = dyn Fn(&TransportStart<'_>) -> Result<Endpoints, String> + Send + Sync;
type MakeController = dyn Fn(&cc::Start) -> Box<dyn CongestionControl + Send> + Send + Sync;

/// The constructors of strategies, by the strategy's name in scenarios:
/// `ack = { policy = "custom", name = "mine" }`, `congestion = { custom = "mine" }`,
/// `ask = { rule = "custom", name = "mine" }`, or
/// `transport = { protocol = "custom", name = "mine" }`. Each flow gets a new instance.
#[derive(Clone, Default)]
pub struct Strategies {
    policies: BTreeMap<String, Arc<MakePolicy>>,
    controllers: BTreeMap<String, Arc<MakeController>>,
    asks: BTreeMap<String, Arc<MakeAsk>>,
    transports: BTreeMap<String, Arc<MakeTransport>>,
}

impl Strategies {
    /// Adds an ACK policy.
    #[must_use]
    pub fn with_policy<P: AckPolicy + Send + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&ack::Start) -> P + Send + Sync + 'static,
    ) -> Self {
        self.policies.insert(name.to_owned(), Arc::new(move |start| Box::new(make(start))));
        self
    }

    /// Adds a congestion controller.
    #[must_use]
    pub fn with_controller<C: CongestionControl + Send + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&cc::Start) -> C + Send + Sync + 'static,
    ) -> Self {
        self.controllers.insert(name.to_owned(), Arc::new(move |start| Box::new(make(start))));
        self
    }

    /// Adds a rule that decides when a sender over QUIC requests ACKs.
    #[must_use]
    pub fn with_ask<R: AskRule + Send + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&ask::Start) -> R + Send + Sync + 'static,
    ) -> Self {
        self.asks.insert(name.to_owned(), Arc::new(move |start| Box::new(make(start))));
        self
    }

    /// Adds a transport. If its settings are invalid, `make` returns the reason as text.
    #[must_use]
    pub fn with_transport(
        mut self,
        name: &str,
        make: impl Fn(&TransportStart<'_>) -> Result<Endpoints, String> + Send + Sync + 'static,
    ) -> Self {
        self.transports.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Returns the endpoints of the transport `name`. Returns `None` if there is no such transport.
    pub(crate) fn transport(&self, name: &str, start: &TransportStart<'_>) -> Option<Result<Endpoints, String>> {
        self.transports.get(name).map(|make| make(start))
    }

    pub(crate) fn transport_names(&self) -> Vec<&str> {
        self.transports.keys().map(String::as_str).collect()
    }

    /// Returns the ACK policy of this configuration. Returns `None` if there is no such policy.
    pub(crate) fn policy(&self, config: ack::PolicyConfig, start: &ack::Start) -> Option<Policy> {
        match config {
            ack::PolicyConfig::Custom { name } => {
                Some(Policy::Custom(Custom::new(name, self.policies.get(name.as_str())?(start))))
            }
            _ => Policy::new(config),
        }
    }

    /// Returns the congestion controller of this configuration. Returns `None` if there is no such
    /// controller.
    pub(crate) fn controller(&self, config: &cc::ControllerConfig, start: &cc::Start) -> Option<Controller> {
        match *config {
            cc::ControllerConfig::Custom { name } => {
                Some(Controller::Custom(Custom::new(name, self.controllers.get(name.as_str())?(start))))
            }
            _ => Controller::new(config, start),
        }
    }

    /// Returns the user's rule that `config` names. Returns an outer `None` if the run has no such
    /// rule, and an inner `None` if `config` names no rule.
    pub(crate) fn ask(&self, config: ask::AskConfig, start: &ask::Start) -> Option<Option<Custom<dyn AskRule + Send>>> {
        match config {
            ask::AskConfig::Custom { name } => Some(Some(Custom::new(name, self.asks.get(name.as_str())?(start)))),
            _ => Some(None),
        }
    }

    pub(crate) fn ask_names(&self) -> Vec<&str> {
        self.asks.keys().map(String::as_str).collect()
    }

    pub(crate) fn policy_names(&self) -> Vec<&str> {
        self.policies.keys().map(String::as_str).collect()
    }

    pub(crate) fn controller_names(&self) -> Vec<&str> {
        self.controllers.keys().map(String::as_str).collect()
    }
}

impl fmt::Debug for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strategies")
            .field("policies", &self.policy_names())
            .field("controllers", &self.controller_names())
            .field("asks", &self.ask_names())
            .field("transports", &self.transport_names())
            .finish()
    }
}

/// Returns the part of an error message that lists the known names.
pub(crate) fn expected(names: &[&str]) -> String {
    if names.is_empty() {
        return "the name of a strategy that was added to the run, and none was added".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("the name of a strategy that was added to the run: {}", names.join(", "))
}
