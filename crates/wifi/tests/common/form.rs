//! The two forms of a packet: typed, as in simulations, and octets, as on emulated paths.

#![allow(unreachable_pub, reason = "others pass it on")]

use super::typed::Typed;
use acklab_wifi::Packet;
use acklab_wire::ipv4::Extent;
use acklab_wire::{IpPacket, Pdu};
use std::fmt::Debug;

/// A packet that is built from a typed packet, and its octets.
pub trait Form: Packet + Debug {
    fn of(typed: &Typed) -> Self;
    fn octets(&self) -> Vec<u8>;
}

impl Form for Typed {
    fn of(typed: &Typed) -> Self {
        *typed
    }

    fn octets(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        let encoded = self.segment.encode(self.endpoints, self.ip, Extent::Whole, &mut octets);
        encoded.unwrap_or_else(|error| panic!("{error}: {self:?}"));
        octets
    }
}

impl Form for IpPacket {
    fn of(typed: &Typed) -> Self {
        let resolve = |address| {
            assert_eq!(address, *typed.endpoints.destination.ip());
            typed.to
        };
        Self::parse(Form::octets(typed), resolve).unwrap_or_else(|error| panic!("{error}: {typed:?}"))
    }

    fn octets(&self) -> Vec<u8> {
        self.octets().to_vec()
    }
}
