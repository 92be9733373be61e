//! Tunnels over UDP, by their ports (IANA, "Service Name and Transport Protocol Port Numbers").
//!
//! Other traffic may use such a port, so each tunnel rejects headers that are not its own.

use super::frame::Frame;
use super::{Layer, Opened, ayiya, capwap, geneve, gre, gtp, l2tp, lisp, plausible, teredo, tzsp, vxlan};

/// Octets of the header of UDP (RFC 768).
const HEADER: usize = 8;

/// Opens the tunnel of a UDP datagram. Returns `None` if it is not a tunnel.
pub(super) fn tunnel(frame: Frame<'_>) -> Option<Opened<'_>> {
    let ports = [frame.number(2)?, frame.number(0)?];
    let payload = frame.skip(HEADER, "UDP").ok()?;
    // Responses come from the port of the service.
    ports.into_iter().find_map(|port| match port {
        // Linux used the second port before the first was assigned.
        4789 | 8472 => vxlan::open(payload),
        4790 => vxlan::open_generic(payload),
        6081 => geneve::open(payload),
        2152 => gtp::open(payload),
        3544 => teredo::open(payload),
        1701 => l2tp::open(payload),
        5072 => ayiya::open(payload),
        5247 => capwap::open(payload),
        4341 => lisp::open(payload),
        37008 => tzsp::open(payload),
        // GRE in UDP (RFC 8086), version 0 without reserved bits, and MPLS in UDP (RFC 7510).
        4754 => payload.octets.starts_with(&[0]).then(|| gre::open(payload)),
        6635 => is_labelled(payload).then_some(Ok((Layer::Mpls, payload))),
        _ => None,
    })
}

/// Returns `true` if an IP packet follows the bottom of a label stack.
fn is_labelled(mut frame: Frame<'_>) -> bool {
    while let Ok((&[_, _, third, _], rest)) = frame.take::<4>("MPLS") {
        frame = rest;
        if third & 1 != 0 {
            return plausible::is_ip(frame);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
        let length = (HEADER + payload.len()) as u16;
        [&from.to_be_bytes()[..], &to.to_be_bytes(), &length.to_be_bytes(), &[0, 0], payload].concat()
    }

    fn layer(from: u16, to: u16, payload: &[u8]) -> Option<Layer> {
        let octets = datagram(from, to, payload);
        tunnel(Frame::new(&octets, octets.len())).map(|opened| opened.unwrap().0)
    }

    const VXLAN: [u8; 9] = [8, 0, 0, 0, 0, 0, 7, 0, 9];

    #[test]
    fn a_tunnel_has_its_port_at_either_end() {
        assert_eq!(layer(50_000, 4789, &VXLAN), Some(Layer::Ethernet));
        assert_eq!(layer(4789, 50_000, &VXLAN), Some(Layer::Ethernet));
        assert_eq!(layer(50_000, 8472, &VXLAN), Some(Layer::Ethernet));
        assert_eq!(layer(50_000, 4788, &VXLAN), None);
        assert_eq!(layer(50_000, 4754, &[0, 0, 8, 0, 0x45]), Some(Layer::EtherType(0x0800)));
    }

    #[test]
    fn other_traffic_on_such_a_port_is_no_tunnel() {
        assert_eq!(layer(50_000, 4789, &[0xc0, 0, 0, 0, 1, 8, 1, 2, 3]), None);
        assert_eq!(layer(50_000, 4754, &[0x45]), None);
        assert_eq!(layer(50_000, 6635, &[0, 0, 1, 64, 0x45]), None);
        assert_eq!(layer(50_000, 4789, &[]), None);
    }
}
