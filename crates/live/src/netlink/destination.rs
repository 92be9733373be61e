//! Decides whether an address leads to this host.

use super::{Netlink, family_of};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteType};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The number of TCP (IANA, protocol numbers).
const TCP: u8 = 6;

impl Netlink {
    /// Returns `true` if a TCP connection to `target` leads to this host, or does not lead to a
    /// single other host. Either an interface, up or not, has the address, or the kernel does not
    /// forward packets to it (a `local`, `broadcast`, `anycast` or `multicast` route). Rules for
    /// the port of the target and for the user of this process count.
    ///
    /// # Errors
    /// If the kernel refuses the query.
    pub fn leads_here(&self, target: SocketAddr) -> io::Result<bool> {
        Ok(self.route_type(target)?.is_some_and(|kind| kind != RouteType::Unicast) || self.has_address(target.ip())?)
    }

    /// Returns the type of the route to `target`. Returns `None` if there is none.
    fn route_type(&self, target: SocketAddr) -> io::Result<Option<RouteType>> {
        let mut message = RouteMessage::default();
        let (family, length) = family_of(target.ip());
        message.header.address_family = family;
        message.header.destination_prefix_length = length;
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::from(target.ip())),
            RouteAttribute::IpProto(TCP),
            RouteAttribute::Dport(target.port()),
        ];
        match self.get(RouteNetlinkMessage::GetRoute(message)) {
            Ok(RouteNetlinkMessage::NewRoute(route)) => Ok(Some(route.header.kind)),
            Ok(_) => Err(io::Error::other("the kernel has answered with something other than a route")),
            Err(error) if is_no_route(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if an interface has this address.
    fn has_address(&self, address: IpAddr) -> io::Result<bool> {
        let mut is_found = false;
        self.query(RouteNetlinkMessage::GetAddress(AddressMessage::default()), |message| {
            let RouteNetlinkMessage::NewAddress(found) = message else { return };
            // In a tunnel, the address attribute is that of the other end, and `Local` that of this
            // one (`IFA_LOCAL`, linux/if_addr.h).
            let of_interface = |attribute: &AddressAttribute| match attribute {
                AddressAttribute::Local(own) => Some(*own),
                _ => None,
            };
            let of_either_end = |attribute: &AddressAttribute| match attribute {
                AddressAttribute::Address(own) => Some(*own),
                _ => None,
            };
            let attributes = &found.attributes;
            let own = attributes.iter().find_map(of_interface).or_else(|| attributes.iter().find_map(of_either_end));
            is_found |= own == Some(address);
        })?;
        Ok(is_found)
    }
}

/// Returns `true` if there is no route, an `unreachable` one, or no such version of IP: a
/// connection fails. With other errors, the destination is unknown.
fn is_no_route(error: &io::Error) -> bool {
    let errors = [libc::ENETUNREACH, libc::EHOSTUNREACH, libc::EAFNOSUPPORT, libc::EOPNOTSUPP];
    error.raw_os_error().is_some_and(|errno| errors.contains(&errno))
}
