//! Decompresses streams that librohc compressed (`vectors/rohc_tcp.txt`). A decompressor of RFC
//! 6846 restores every header of a stream if the number of consecutive lost packets does not exceed
//! the compressor's repetitions.

use acklab_wire::rohc::{Ack, Compressor, Decompressor, Octets, RohcConfig};

struct Packet {
    is_delivered: bool,
    compressed: Vec<u8>,
    header: Vec<u8>,
}

struct Stream {
    name: String,
    packets: Vec<Packet>,
}

fn octets(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal digits")).collect()
}

fn header(last: Option<&Packet>, text: &str) -> Vec<u8> {
    if let Some(hex) = text.strip_prefix('=') {
        return octets(hex);
    }
    let mut header = last.expect("a stream begins with a complete header").header.clone();
    for patch in text.split(',').filter(|patch| *patch != "-") {
        let (position, hex) = patch.split_once(':').expect("position and octets");
        let (position, octets) = (position.parse::<usize>().expect("a position"), octets(hex));
        header[position..position + octets.len()].copy_from_slice(&octets);
    }
    header
}

fn streams() -> Vec<Stream> {
    let stream = |section: &str| {
        let name = section.lines().next().expect("a name").trim_start_matches("# ").to_owned();
        let mut packets = Vec::<Packet>::new();
        for line in section.lines().skip(1) {
            let [mark, compressed, text] = line.split(' ').collect::<Vec<_>>().try_into().expect("three fields");
            let header = header(packets.last(), text);
            packets.push(Packet { is_delivered: mark == "+", compressed: octets(compressed), header });
        }
        Stream { name, packets }
    };
    include_str!("vectors/rohc_tcp.txt").split("\n\n").skip(1).map(|section| stream(section.trim_end())).collect()
}

#[test]
fn each_header_of_another_compressor_is_decompressed() {
    for Stream { name, packets } in streams() {
        let mut decompressor = Decompressor::new(RohcConfig::standard());
        for (number, packet) in packets.iter().enumerate().filter(|(_, packet)| packet.is_delivered) {
            let mut header = None;
            let outcome = decompressor.decompress(&packet.compressed, |_, ack| header = ack.headers().ok());
            assert_eq!(header.as_deref(), Some(&packet.header[..]), "{name}, packet {number}: {outcome:?}");
        }
    }
}

/// acklab sends changes three times; librohc sent them four times in these streams. However,
/// librohc does not repeat changes of DF, and uses a non-sequential IP-ID as a reference. With four
/// repetitions, a stream in which only DF and IP-ID change would take more octets with acklab.
#[test]
fn no_stream_takes_more_octets_than_by_the_other_compressor() {
    for Stream { name, packets } in streams() {
        let (mut compressor, mut decompressor) =
            (Compressor::new(RohcConfig::standard()), Decompressor::new(RohcConfig::standard()));
        let (mut ours, mut reference, mut octets) = (0, 0, Octets::new());
        for packet in &packets {
            let ack = Ack::of_octets(&packet.header).expect("a pure ACK");
            compressor.compress(&ack, &mut octets).expect("a pure ACK");
            let mut out = None;
            decompressor.decompress(&octets, |_, ack| out = Some(*ack)).expect("it has just been compressed");
            assert_eq!(out, Some(ack), "{name}");
            ours += octets.len();
            reference += packet.compressed.len();
        }
        assert!(ours <= reference, "{name}: found {ours} octets, expected at most the {reference} of librohc");
    }
}
