//! The settings of a flow over UDP.

use crate::fault::Fault;
use acklab_base::Bytes;
use acklab_wire::udp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// UDP has no settings. Each write of the application is a datagram, which may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {}

impl Settings {
    /// Checks that an application with writes of this size can use UDP. UDP cannot delay a write,
    /// and each write must fit into a datagram.
    ///
    /// # Errors
    /// If an application cannot use UDP. The path of the fault is relative to the flow.
    pub fn check(self, write: Option<Bytes>) -> Result<(), Fault> {
        let Some(write) = write else {
            let expected = "an application with a rate of its own, for UDP gives it none, such as \
                            { model = \"constant\", rate = \"200Mbps\", write = \"1472B\" }";
            return Err(Fault::expected("traffic", expected));
        };
        if !(udp::TEST_HEADER..=udp::LARGEST_PAYLOAD).contains(&write.get()) {
            let expected = format!("a write that fits a datagram: {}B to {}B", udp::TEST_HEADER, udp::LARGEST_PAYLOAD);
            return Err(Fault::expected("traffic.write", expected));
        }
        Ok(())
    }
}
