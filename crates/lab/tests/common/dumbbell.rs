//! One flow over 50 Mbps and 40 ms, with a bandwidth-delay product of 166 packets. Measurement
//! begins after the first second.

use crate::common::tables::Tables;
use acklab_lab::scenario::load;

/// Rate of the bottleneck in Mbps.
const RATE: f64 = 50.0;

/// A path with flow `f` over one transport. Its full packets of 1500 octets carry `payload` octets
/// of the stream.
pub(crate) struct Dumbbell {
    pub(crate) protocol: &'static str,
    pub(crate) payload: f64,
}

impl Dumbbell {
    /// Returns the scenario.
    pub(crate) fn text(&self) -> String {
        format!(
            r#"
duration = "6s"
seed = 1

[[link]]
name = "btl"
from = "a"
to = "b"
forward = {{ rate = "50Mbps", delay = "20ms", queue = {{ discipline = "fifo", limit = "200packets" }} }}
reverse = {{ rate = "50Mbps", delay = "20ms" }}

[[flow]]
name = "f"
from = "a"
to = "b"
transport = {{ protocol = "{}" }}

[measure]
from = "1s"
"#,
            self.protocol
        )
    }

    pub(crate) fn run(&self, sets: &[&str]) -> Tables {
        Tables::run(&self.text(), sets, None)
    }

    /// Returns the goodput as a share of the bottleneck's capacity.
    pub(crate) fn share(&self, tables: &Tables) -> f64 {
        self.share_of(goodput(tables))
    }

    /// Returns a goodput in Mbps as a share of the bottleneck's capacity.
    pub(crate) const fn share_of(&self, goodput: f64) -> f64 {
        goodput / (RATE * self.payload / 1500.0)
    }

    /// Returns the message that refuses the scenario with `set`.
    pub(crate) fn refusal(&self, set: &str) -> String {
        load(&self.text(), "the dumbbell", &[set.to_owned()], None).unwrap_err().to_string()
    }
}

/// Returns the goodput in Mbps.
pub(crate) fn goodput(tables: &Tables) -> f64 {
    tables.numbers("flows", "mean_throughput_l7")[0]
}
