//! Tests of the lab through its public interface: scenarios in, tables and captures out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ack_filters;
mod acknowledged;
mod acks_first;
mod air_capture;
mod air_of_a_cell;
mod bbr;
mod both_ways;
mod capture;
mod capture_files;
mod captures;
mod closed_forms;
mod common;
mod decisions;
mod delay_based;
mod delivery;
mod demand;
mod departures;
mod determinism;
mod duplicates;
mod ecn;
mod emulate;
mod generations;
mod growth;
mod hack;
mod invariants;
mod ipv6;
mod limits;
mod mechanisms;
mod metrics;
mod mtu;
mod overhead;
mod own_transport;
mod pages;
mod peers;
mod pep;
mod plain_recovery;
mod properties;
mod qlog;
mod quic;
mod quic_parity;
mod quinn;
mod scenario;
#[path = "../../../fuzz/seeds.rs"]
mod seeds;
mod slow_reader;
mod slow_return_link;
mod snapshots;
mod standstill;
mod strategies;
mod tack;
mod tack_dissector;
mod tack_hard_paths;
mod udp;
mod video;
