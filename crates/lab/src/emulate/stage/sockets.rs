//! Creates the sockets of the flows.

use super::super::end::{KernelEnd, Shown};
use super::super::traffic::{TrafficEnd, datagrams, stream};
use super::super::{addresses, host_error};
use super::{Cast, Stage};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::transports;
use acklab_base::FlowKey;
use acklab_base::random::Seed;
use acklab_live::socket::{Tcp, Udp};
use acklab_wire::{Endpoints, address_of_node};
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;

/// The first dynamic port (RFC 6335, §6). Client ports of flows are numbered from it.
const CLIENT_PORT: u16 = 49_152;
/// The server port of the first flow.
const SERVER_PORT: u16 = 20_000;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A flow whose sockets exist.
pub(super) struct Staged {
    pub(super) ends: [KernelEnd; 2],
    /// The flow keys of the packets that the two ends send.
    pub(super) keys: [FlowKey; 2],
}

impl Stage {
    /// Returns the addresses and ports of flow `number`.
    pub(super) fn endpoints_of(&self, number: u16) -> Endpoints {
        let [from, to] = self.casts[usize::from(number)].ends.map(|node| address_of_node(node.0));
        Endpoints {
            source: SocketAddrV4::new(from, CLIENT_PORT + number % (u16::MAX - CLIENT_PORT)),
            destination: SocketAddrV4::new(to, SERVER_PORT + number),
        }
    }

    /// Creates the sockets of a flow.
    pub(super) fn add_flow(
        &mut self,
        scenario: &Scenario,
        number: u16,
        traffic: &mut Vec<TrafficEnd>,
    ) -> Result<Staged, Error> {
        let Cast { flow, ends, request, .. } = &self.casts[usize::from(number)];
        let endpoints = self.endpoints_of(number);
        let [client, server] = addresses::sockets(endpoints, self.version);
        let namespaces = [self.namespace_at(ends[0])?, self.namespace_at(ends[1])?];
        let seed = Seed(scenario.seed);
        let back = flow.reverse();
        let shown = [Arc::<Shown>::default(), Arc::new(Shown::reading(transports::reader(flow, seed), back.is_none()))];
        let at = |end: usize| Arc::clone(&shown[end]);
        let tos = flow.category.dscp() << 2;
        let refused = || host_error(format!("flow \"{}\": cannot make its sockets", flow.name));
        let writers = [Some(transports::writer(flow, seed)), back.map(|back| transports::writer(&back, seed))];
        let (protocol, kernel_ends) = match request {
            Some(request) => {
                let socket = |end: usize, address: SocketAddr| {
                    let socket = Tcp::bound(namespaces[end], address, &request.options)?;
                    socket.set_tos(tos)?;
                    // As in a simulation, written data are sent immediately.
                    socket.set_no_delay()?;
                    Ok(socket)
                };
                let sockets = [socket(0, client).map_err(refused())?, socket(1, server).map_err(refused())?];
                // The accepting end comes first, so that it listens before the other end connects.
                let ends_of_flow = sockets.into_iter().zip(writers).zip([Some(server), None]).zip(&shown).rev();
                traffic.extend(ends_of_flow.map(|(((socket, writer), peer), shown)| {
                    TrafficEnd::Stream(stream::StreamEnd { socket, peer, writer, shown: Arc::clone(shown) })
                }));
                (TCP, [KernelEnd::tcp(0, at(0)), KernelEnd::tcp(1, at(1))])
            }
            None => {
                let socket = |end: usize, own: SocketAddr, peer: SocketAddr| {
                    let socket = Udp::between(namespaces[end], own, peer)?;
                    socket.set_tos(tos)?;
                    Ok(socket)
                };
                let sockets =
                    [socket(0, client, server).map_err(refused())?, socket(1, server, client).map_err(refused())?];
                let ends_of_flow = sockets.into_iter().zip(writers).zip(&shown);
                traffic.extend(ends_of_flow.map(|((socket, writer), shown)| {
                    TrafficEnd::Datagrams(datagrams::DatagramEnd { socket, writer, shown: Arc::clone(shown) })
                }));
                let full = flow.traffic.write().unwrap_or_default();
                (UDP, [KernelEnd::udp(0, full, at(0)), KernelEnd::udp(1, full, at(1))])
            }
        };
        let keys = [endpoints, endpoints.reverse()].map(|way| self.version.flow_key(way, protocol));
        let name = flow.name.clone();
        self.shown.extend(shown.into_iter().map(|shown| (name.clone(), shown)));
        Ok(Staged { ends: kernel_ends, keys })
    }
}
