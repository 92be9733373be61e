//! UDP.

use super::endpoints::Endpoints;
use super::maker::{Maker, UDP};
use super::{Abilities, Protocol};
use crate::error::Error;
use crate::scenario::Flow;
use acklab_base::Bytes;
use acklab_transport::fault::Fault;
use acklab_transport::udp::{Receiver, Sender, Settings};
use acklab_wire::IpVersion;
use acklab_wire::ipv4::IPV4_HEADER;
use acklab_wire::udp::UDP_HEADER;

impl Protocol for Settings {
    const NAME: &'static str = "UDP";
    const ABILITIES: Abilities = Abilities { is_in_kernel: true, has_octets: true, ..Abilities::NONE };

    fn check_for(&self, flow: &Flow, _version: IpVersion) -> Result<(), Fault> {
        self.check(flow.traffic.write())
    }

    fn endpoints(&self, maker: &Maker<'_>, _version: IpVersion) -> Result<Endpoints, Error> {
        let flow = maker.flow;
        let payload = flow.traffic.write().ok_or_else(|| Error::NoRate { flow: flow.name.clone() })?;
        let receiver = Receiver::new(payload, !flow.reading.is_at_once());
        Ok(Endpoints::new(UDP, Sender::new(payload), receiver, payload, Bytes(IPV4_HEADER + UDP_HEADER)))
    }
}
