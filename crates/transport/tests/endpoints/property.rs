//! The invariants of two endpoints, whatever the network does to the segments between them. The
//! tests of this crate and the fuzz target `tcp_endpoints` share this module.

mod both_ways;
#[path = "../common/driven.rs"]
mod driven;
mod forgery;
mod network;
#[path = "../common/octets.rs"]
mod octets;
mod setting;

use acklab_base::{Duration, Ecn};
pub(crate) use both_ways::connections_keep_their_promises;
use forgery::{forge_ack, forge_data};
use network::{Network, Way};
use octets::Octets;
use setting::Setting;

/// The bytes determine the settings of a connection and a list of operations: segments arrive, are
/// lost, duplicated, reordered or forged, and time passes. At every instant:
///
/// * delivered data have arrived, in order and once, and are never withdrawn;
/// * unread data fit into the buffer, and no offered window is withdrawn;
/// * the sender leaves no gap, stays within the offered window, and sends no acknowledged data;
/// * the data in flight are at most the data sent;
/// * an unfinished sender waits for an event within its longest timeout;
/// * waking a machine early has no effect, and a woken machine stops.
///
/// Afterwards the network has no impairments, and the transfer completes, unless a forged segment
/// made a false claim. Returns the number of operations and a digest of all segments sent.
///
/// # Panics
/// If an invariant fails.
pub(crate) fn endpoints_keep_their_promises(octets: &[u8]) -> (u64, u64) {
    let mut octets = Octets::new(octets);
    let setting = Setting::of(&mut octets);
    let mut network = Network::new(&setting);
    let is_hostile = octets.once_in(8);
    // The number of harmful operations.
    let harm = octets.one_of(&[32, 64, 128, 255]);
    let mut steps = 0;
    while !octets.is_empty() && !network.is_finished() {
        let kind = octets.octet();
        if octets.octet() < harm {
            disturb(&mut network, &mut octets, kind, is_hostile);
        } else {
            proceed(&mut network, &mut octets, kind);
        }
        steps += 1;
    }
    if network.is_honest {
        network.behave();
    }
    (steps, network.digest())
}

/// The setting of the input `SLOW`: segments of one byte in the largest window, for as long as
/// [`Setting`] permits a greedy source to write.
#[allow(dead_code, reason = "the fuzz target has inputs instead")]
pub(crate) fn the_slowest_source_ends() {
    Network::new(&Setting::slowest()).behave();
}

/// Performs an operation of a good network.
fn proceed(network: &mut Network, octets: &mut Octets<'_>, kind: u8) {
    match kind % 8 {
        0..3 => deliver(network, Way::Forward, 1 + usize::from(kind / 8 % 4)),
        3..6 => deliver(network, Way::Backward, 1 + usize::from(kind / 8 % 4)),
        6 => {
            network.pass(Duration::from_micros(u64::from(kind) * 20));
            deliver(network, Way::Forward, usize::MAX);
            network.pass(Duration::from_micros(octets.below(20_000)));
            deliver(network, Way::Backward, usize::MAX);
        }
        _ if kind & 8 == 0 => wait(network),
        _ => network.read(octets.below(1 << 14)),
    }
}

fn deliver(network: &mut Network, way: Way, most: usize) {
    for _ in 0..network.under_way(way).len().min(most) {
        network.deliver(way, 0);
        network.pass(Duration::from_micros(100));
    }
}

fn wait(network: &mut Network) {
    if let Some(deadline) = network.deadline() {
        network.pass(deadline.since(network.now));
    }
}

/// Performs an operation of a bad network.
fn disturb(network: &mut Network, octets: &mut Octets<'_>, kind: u8, is_hostile: bool) {
    let way = if kind & 1 == 0 { Way::Forward } else { Way::Backward };
    let under_way = network.under_way(way);
    let index = octets.below(under_way.len() as u64) as usize;
    match kind / 2 % 11 {
        0 => drop(under_way.remove(index)),
        1 => drop(under_way.drain(index..)),
        2 => {
            if let Some(there) = under_way.get(index) {
                let segment = there.segment;
                network.give(way, segment);
            }
        }
        3 | 4 => network.deliver(way, index),
        5 => network.pass(Duration::from_micros(1 << octets.below(25))),
        6 => network.wake_early(),
        7 => {
            // Nothing arrives until a timer has expired.
            under_way.clear();
            wait(network);
        }
        8 => {
            // Segments get congestion marks while they wait.
            for waiting in under_way.iter_mut().skip(index).filter(|waiting| waiting.segment.ecn.is_capable()) {
                waiting.segment.ecn = Ecn::Ce;
            }
        }
        _ => {
            network.is_honest &= !is_hostile;
            let (way, segment) = match way {
                Way::Forward => forge_data(network, octets),
                Way::Backward => forge_ack(network, octets),
            };
            network.give(way, segment);
        }
    }
}
