//! Measures the minimum work of an encrypted transport over UDP. Datagrams are sealed and sent in
//! batches, received together and opened, and the receiver reports the number of arrived datagrams.

use super::ground::{Cost, HERE, Hosts, THERE, address, processor_time};
use acklab_base::{Duration, Ecn};
use acklab_live::WallClock;
use acklab_live::udp::{Received, UdpPort, Wait};
use acklab_wire::tack::protected::{SAMPLE, SEALED_AT};
use acklab_wire::tack::{BELOW, Frame, HEADER, TAG};
use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};
use std::time::Instant;

/// The maximum number of octets of datagrams that are sent in one system call.
const BATCH: usize = 64_000;
/// The number of batches in flight. They fit into the receive buffer that Linux allows by default
/// (`rmem_max`).
const WINDOW: usize = 4;
/// The first octet of a short header with a packet number of four octets (RFC 9000, §17.3.1).
const FIRST: u8 = 0x43;
const NUMBER: usize = 4;
const NUMBER_AT: usize = SEALED_AT as usize - NUMBER;

fn keys(side: Side) -> Keys {
    TLS13_AES_128_GCM_SHA256.tls13().unwrap().quic_suite().unwrap().keys(b"floor", side, Version::V1)
}

/// Returns the masked parts of a header: the first octet and the packet number.
fn masked(header: &mut [u8]) -> (&mut u8, &mut [u8]) {
    let (first, rest) = header.split_first_mut().unwrap();
    (first, &mut rest[NUMBER_AT - 1..])
}

/// Appends a datagram with this number and these unencrypted octets.
fn seal(number: u64, plain: &[u8], keys: &Keys, octets: &mut Vec<u8>) {
    let start = octets.len();
    octets.push(FIRST);
    octets.extend_from_slice(&[0; NUMBER_AT - 1]);
    octets.extend_from_slice(&(number as u32).to_be_bytes());
    octets.extend_from_slice(plain);
    let (header, payload) = octets[start..].split_at_mut(SEALED_AT as usize);
    let tag = keys.local.packet.encrypt_in_place(number, header, payload).unwrap();
    let (first, packet_number) = masked(header);
    keys.local.header.encrypt_in_place(&payload[..SAMPLE], first, packet_number).unwrap();
    octets.extend_from_slice(tag.as_ref());
}

/// Opens a datagram in place.
fn open(number: u64, datagram: &mut [u8], keys: &Keys) {
    let (header, payload) = datagram.split_at_mut(SEALED_AT as usize);
    let (first, packet_number) = masked(header);
    keys.remote.header.decrypt_in_place(&payload[..SAMPLE], first, packet_number).unwrap();
    keys.remote.packet.decrypt_in_place(number, header, payload).unwrap();
}

/// Sleeps until a datagram has arrived.
fn await_datagrams(port: &mut UdpPort, wait: &mut Wait, clock: &WallClock) {
    while port.receive().unwrap() == Received::Nothing {
        let woken = wait.until(clock, Some(clock.now() + Duration::from_secs(5)), port, false).unwrap();
        assert!(woken.can_receive, "datagrams were lost");
    }
}

/// Moves `size` octets in packets of `packet` octets. Each has as many octets of a stream as TACK's
/// packets.
pub(crate) fn floor(hosts: &Hosts, packet: usize, size: usize) -> Cost {
    let datagram = packet - BELOW as usize;
    let plain = vec![7; datagram - SEALED_AT as usize - TAG as usize];
    let of_stream = plain.len() - (HEADER - SEALED_AT + Frame::stream_header(0)) as usize;
    let packets = size.div_ceil(of_stream);
    let mut here = hosts.on(0, || UdpPort::bind(address(HERE, 0)).unwrap());
    let mut there = hosts.on(1, || UdpPort::bind(address(THERE, 0)).unwrap());
    let to = there.address().unwrap();
    let (start, before) = (Instant::now(), processor_time());
    let receiver = std::thread::spawn(move || {
        let (keys, clock, mut wait) = (keys(Side::Server), WallClock::start(), Wait::new(&there).unwrap());
        let mut count: u64 = 0;
        while count < packets as u64 {
            await_datagrams(&mut there, &mut wait, &clock);
            let mut from = to;
            there.batches(|batch| {
                for place in batch.places() {
                    open(count, &mut batch.memory[place], &keys);
                    count += 1;
                }
                from = batch.from;
            });
            there.send(from, Ecn::NotEct, &count.to_be_bytes(), 8).unwrap();
        }
    });
    let (keys, clock, mut wait) = (keys(Side::Client), WallClock::start(), Wait::new(&here).unwrap());
    let batch = (BATCH / datagram).min(here.most_segments());
    let (mut sent, mut arrived, mut octets) = (0, 0, Vec::new());
    while sent < packets {
        while sent >= arrived + WINDOW * batch {
            await_datagrams(&mut here, &mut wait, &clock);
            here.batches(|told| {
                for place in told.places() {
                    arrived = u64::from_be_bytes(told.memory[place].try_into().unwrap()) as usize;
                }
            });
        }
        octets.clear();
        for _ in 0..batch.min(packets - sent) {
            seal(sent as u64, &plain, &keys, &mut octets);
            sent += 1;
        }
        let taken = here.send(to, Ecn::NotEct, &octets, datagram).unwrap();
        assert_eq!(taken, octets.len(), "the window fits into the kernel's buffer");
    }
    receiver.join().unwrap();
    Cost { packets: Some(packets as u64), ..Cost::of(size, start, before) }
}
