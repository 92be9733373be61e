//! Plays packetdrill scripts against the TCP of a flow, or against the kernel's TCP.

pub mod kernel;

use crate::error::Error;
use crate::scenario::{Flow, Scenario};
use crate::strategies::Strategies;
use crate::transports::Maker;
use acklab_base::Duration;
use acklab_base::random::Seed;
use acklab_live::named_file;
use acklab_packetdrill::{Machine, Script, grammar, play};
use acklab_transport::ack::Policy;
use acklab_transport::cc::Controller;
use acklab_transport::tcp::{self, Preset};
use kernel::Kernel;
use std::path::Path;

pub use acklab_packetdrill::refusal;
pub use acklab_packetdrill::{Failure, Refusal, Verdict};

/// The TCP of a flow, against which scripts are played.
#[derive(Clone, Debug)]
pub struct Subject {
    flow: Flow,
    settings: tcp::Settings,
    seed: Seed,
    strategies: Strategies,
}

impl Subject {
    /// Creates the TCP of the first flow of `scenario` that runs over TCP.
    ///
    /// # Errors
    /// If no flow of the scenario runs over TCP, or if a strategy of the flow is not in
    /// `strategies`.
    pub fn new(scenario: &Scenario, strategies: Strategies) -> Result<Self, Error> {
        let tcp = scenario.flow.iter().find_map(|flow| Some((flow, flow.transport.tcp()?)));
        let (flow, settings) = tcp.ok_or(Error::NoTcp)?;
        let subject = Self { flow: flow.clone(), settings: settings.clone(), seed: Seed(scenario.seed), strategies };
        subject.strategy(&settings.config())?;
        Ok(subject)
    }

    fn strategy(&self, config: &tcp::TcpConfig) -> Result<(Controller, Policy), Error> {
        Maker { flow: &self.flow, seed: self.seed, strategies: &self.strategies }.strategies_of(config)
    }

    /// Plays the script at `path`. The script may include files of the same folder. `tolerance`
    /// overrides the script's tolerance.
    ///
    /// # Errors
    /// If the script cannot be read.
    pub fn play(&self, path: &Path, tolerance: Option<Duration>) -> Result<Verdict, Error> {
        let strategy = |config: &tcp::TcpConfig| self.strategy(config).map_err(|error| error.to_string());
        Ok(match read(path, tolerance)? {
            Ok(script) => play(&script, &mut Machine::new(&self.settings, &strategy, &script)),
            Err(refusal) => refusal.into(),
        })
    }
}

/// Plays the script at `path` against the TCP of this machine's kernel, in real time. `tolerance`
/// overrides the script's tolerance.
///
/// # Errors
/// If the script cannot be read, or if the process lacks the permission to create a network
/// namespace with a device.
pub fn play_at_kernel(path: &Path, tolerance: Option<Duration>) -> Result<Verdict, Error> {
    Ok(match read(path, tolerance)? {
        Ok(script) => play(&script, &mut Kernel::new()?),
        Err(refusal) => refusal.into(),
    })
}

/// The maximum size of a script in bytes. The rest of a longer file is ignored. Chosen:
/// packetdrill's own scripts have some kilobytes.
const LARGEST_SCRIPT: u64 = 1 << 26;

fn read(path: &Path, tolerance: Option<Duration>) -> Result<Result<Script, Refusal>, Error> {
    let text =
        named_file::read(path, LARGEST_SCRIPT).map_err(|source| Error::ReadScript { path: path.to_owned(), source })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let include = |name: &str| {
        let octets = named_file::read(&folder.join(name), LARGEST_SCRIPT).ok()?;
        String::from_utf8(octets).ok()
    };
    let mut script = grammar::read(&String::from_utf8_lossy(&text), &include);
    if let (Ok(script), Some(tolerance)) = (&mut script, tolerance) {
        script.command_line.tolerance.least = tolerance;
    }
    Ok(script)
}

/// Returns a scenario with a flow over the TCP of `preset`, with default settings.
#[must_use]
pub fn scenario_of(preset: Preset) -> String {
    format!(
        "duration = \"1s\"\nseed = 1\n\n[[link]]\nname = \"link\"\nfrom = \"client\"\nto = \"server\"\nforward = {{ delay = \"1ms\" }}\nreverse = {{ delay = \"1ms\" }}\n\n\
         [[flow]]\nfrom = \"client\"\nto = \"server\"\npreset = \"{}\"\n",
        preset.name()
    )
}
