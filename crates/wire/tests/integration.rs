//! Tests of the wire crate through its public interface: octets to values and back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod dot11_octets;
mod dot11_properties;
mod ip_packet;
mod quic_octets;
mod rohc;
mod rohc_sizes;
mod rohc_vectors;
mod tack_octets;
mod tcp_octets;
mod udp_octets;
