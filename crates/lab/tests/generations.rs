//! Generations of 802.11 in scenarios: TCP over 802.11be, its Block ACKs on the air, and features
//! that a generation or a band lacks.

use crate::common::tables::Tables;
use crate::common::tshark::{knows_eht, tshark};
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use acklab_wire::dot11::radiotap::{self, Eht, Modulation};
use acklab_wire::dot11::{BlockAck, BlockBitmap, Frame, decode};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Downloads to a station over one stream at 320 MHz, 2882.4 Mbps on the air. The access point
/// always has more than 1024 segments of the four flows.
const DOWNLOADS: &str = r#"
duration = "1.5s"
seed = 3
[measure]
from = "500ms"
[[link]]
name = "wire"
from = "server"
to = "ap"
forward = { rate = "10Gbps", delay = "1ms" }
reverse = { rate = "10Gbps", delay = "1ms" }
[[wifi]]
name = "cell"
standard = "802.11be"
[wifi.ap]
name = "ap"
[[wifi.station]]
name = "sta"
"#;

const FLOW: &str = r#"
[[flow]]
from = "server"
to = "sta"
preset = "linux"
"#;

/// Returns the downloads with this ACK policy.
fn downloads(ack: &str) -> String {
    format!("{DOWNLOADS}{}", format!("{FLOW}{ack}\n").repeat(4))
}

/// An ACK for every second segment, and for every sixteenth.
const DELAYED: &str = "ack = { policy = \"delayed\", segments = 2, timer = \"200ms\" }";
const THIN: &str = "ack = { policy = \"byte-counting\", segments = 16, timer = \"200ms\" }";

/// Returns the payload in Mbps if one sender alone used the air, without ACKs of TCP. A packet of
/// 1500 octets with 1448 of payload is a subframe of 1544. A symbol of 13.6 µs holds 39,200 bits,
/// behind 51.2 µs of preamble. AIFS, the mean of a backoff of 0 to 15 slots, SIFS, and the Block
/// ACK at 24 Mbps follow; a symbol of the Block ACK has 96 bits.
fn capacity(frames: f64, block_ack: f64) -> f64 {
    let data = 51.2 + 13.6 * (frames * 1544.0 * 8.0 / 39_200.0).ceil();
    let response = 20.0 + 4.0 * ((22.0 + 8.0 * block_ack) / 96.0).ceil();
    frames * 1448.0 * 8.0 / (43.0 + 7.5 * 9.0 + data + 16.0 + response)
}

fn goodput(tables: &Tables) -> f64 {
    tables.numbers("flows", "mean_throughput_l7").iter().sum()
}

#[test]
fn tcp_over_802_11be_fills_a_mpdus_of_1024_frames() {
    let run = |window: u32| {
        let tables = Tables::run(&downloads(DELAYED), &[format!("wifi.0.aggregation.window={window}")], None);
        (goodput(&tables), tables.numbers("stations", "mean_mpdus_per_ppdu_l2")[0])
    };
    let ((narrow, fewer), (wide, more)) = (run(256), run(1_024));
    assert!(fewer <= 256.0 && more > 900.0, "{fewer} and {more} frames in an A-MPDU");
    // TCP's ACKs take at most a quarter of the air: half as many frames, with a thirtieth of the
    // octets, and their own contention.
    let (narrow_most, wide_most) = (capacity(256.0, 56.0), capacity(1_024.0, 152.0));
    assert!((0.75 * narrow_most..narrow_most).contains(&narrow), "{narrow} of {narrow_most} Mbps");
    assert!((0.75 * wide_most..wide_most).contains(&wide), "{wide} of {wide_most} Mbps");
    assert!(wide > 1.1 * narrow, "{wide} against {narrow} Mbps");
}

/// A Block ACK of 1024 frames carries the 64 ACKs for that many segments, and no ACK has a separate
/// frame. With an ACK for every second segment it carries 512 of them, which need numbers of
/// sixteen bits.
#[test]
fn hack_works_with_block_acks_of_1024_frames() {
    let plain = Tables::run(&downloads(THIN), &["seed=3"], None);
    let hack = Tables::run(&downloads(THIN), &["wifi.0.hack={}"], None);
    let of_station = |tables: &Tables, column: &str| tables.counts("hack", column)[1];
    assert_eq!(of_station(&hack, "total_plain_acks_l2"), 0);
    assert_eq!(hack.numbers("stations", "mean_mpdus_per_ppdu_l2")[0].round() as u64, 1_024);
    let (augmented, compressed) =
        (of_station(&hack, "total_augmented_answers_l2"), of_station(&hack, "total_compressed_acks_l2"));
    assert_eq!(compressed / augmented, 1_024 / 16, "{compressed} ACKs in {augmented} responses");
    let (less, more) = (goodput(&plain), goodput(&hack));
    assert!(more > 1.02 * less && more < capacity(1_024.0, 152.0), "{more} against {less} Mbps");

    let many = Tables::run(&downloads(DELAYED), &["wifi.0.hack={}"], None);
    assert_eq!(many.counts("hack", "total_decompression_failures_l2"), [0, 0]);
    let (augmented, compressed) =
        (of_station(&many, "total_augmented_answers_l2"), of_station(&many, "total_compressed_acks_l2"));
    assert_eq!(compressed / augmented, 1_024 / 2, "{compressed} ACKs in {augmented} responses");
}

/// Returns the frames of a capture: radiotap header and frame.
fn frames(path: &Path) -> Vec<(radiotap::Header, Vec<u8>)> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let (Block::EnhancedPacket(packet), _) = block.unwrap() {
            let (header, frame) = radiotap::decode(&packet.data).unwrap();
            frames.push((header, frame.to_vec()));
        }
    }
    frames
}

/// Returns a capture of a tenth of a second, and its tables.
fn captured(name: &str, window: u32) -> (PathBuf, Tables) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generations_{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let window = format!("wifi.0.aggregation.window={window}");
    let sets = ["duration=100ms".to_owned(), "measure.from=0ms".to_owned(), window];
    let text = format!("{}[[capture]]\npoint = \"cell\"\nfile = \"air.pcapng\"\n", downloads(DELAYED));
    let scenario = load(&text, "the downloads", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}"));
    let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
    let tables = Tables::of(&scenario, &options);
    (folder.join("air.pcapng"), tables)
}

#[test]
fn a_capture_holds_the_modulation_of_eht_and_bitmaps_of_128_octets() {
    let (path, tables) = captured("modulation", 1_024);
    let captured = frames(&path);
    let expected =
        Eht { mcs: 13, streams: 1, width: Some(320), guard: Some(800), training: Some(2), is_ldpc: Some(true) };
    let modern = captured.iter().filter(|(header, _)| header.modulation == Some(Modulation::Eht(expected))).count();
    assert_eq!(modern as u64, tables.counts("stations", "total_mpdus_l2").iter().sum::<u64>());
    assert!(captured.iter().all(|(header, _)| header.channel.is_some_and(|channel| channel.frequency == 5_955)));
    let mut acknowledged = 0;
    for (_, frame) in &captured {
        if let Ok(Frame::BlockAck(BlockAck { bitmap, .. })) = decode(frame) {
            assert!(matches!(bitmap, BlockBitmap::Of1024(_)), "{bitmap:?}");
            assert_eq!(frame.len(), 24 + 128);
            acknowledged = acknowledged.max(bitmap.words().iter().map(|word| word.count_ones()).sum::<u32>());
        }
    }
    assert!(acknowledged > 256, "at most {acknowledged} frames in a Block ACK");
}

#[test]
fn what_a_generation_or_a_band_does_not_have_is_refused() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        match load(&downloads(DELAYED), "the downloads", &sets, None) {
            Ok(_) => panic!("{sets:?} was accepted"),
            Err(refusal) => refusal.to_string(),
        }
    };
    let cases: [(&[&str], &str); 7] = [
        (&["wifi.0.aggregation.window=1025"], "a window of 1 to 1024 frames in 802.11be"),
        (&["wifi.0.aggregation.window=0"], "a window of 1 to 1024 frames in 802.11be"),
        (&["wifi.0.standard=802.11ac", "wifi.0.aggregation.window=65"], "a window of 1 to 64 frames in 802.11ac"),
        (&["wifi.0.standard=802.11ac", "wifi.0.band=6GHz"], "a band of 802.11ac: 5GHz"),
        (&["wifi.0.band=5GHz", "wifi.0.width=320MHz"], "at most 160MHz in the band of 5GHz"),
        (
            &["wifi.0.standard=802.11ax", "wifi.0.width=320MHz", "wifi.0.band=6GHz"],
            "802.11ax defines nothing with 1 stream(s) at 320MHz",
        ),
        (&["wifi.0.rate={control=\"fixed\", mcs=14}"], "802.11be has no MCS 14, expected 0 to 13"),
    ];
    for (sets, expected) in cases {
        let message = refused(sets);
        assert!(message.contains(expected), "{sets:?}: {message}");
    }
    for width in ["20MHz", "40MHz"] {
        load(
            &downloads(DELAYED),
            "the downloads",
            &["wifi.0.band=2.4GHz".to_owned(), format!("wifi.0.width={width}")],
            None,
        )
        .unwrap();
    }
}

/// tshark decodes the Block ACKs of both sizes and the rate, and finds nothing malformed.
#[test]
fn tshark_reads_bitmaps_of_64_and_128_octets() {
    if !knows_eht() {
        return;
    }
    for (window, octets) in [(512, 64), (1_024, 128)] {
        let (path, _) = captured(&format!("window_{window}"), window);
        let Some(bitmaps) = tshark(&path, "wlan.fc.type_subtype == 0x0019", &["wlan.ba.bm", "wlan.fcs.status"]) else {
            return;
        };
        assert!(bitmaps.len() > 3, "{bitmaps:?}");
        for bitmap in &bitmaps {
            let (digits, status) = bitmap.split_once(' ').unwrap();
            assert_eq!((digits.len(), status), (2 * octets, "1"), "{bitmap}");
        }
        let wrong = tshark(&path, "_ws.malformed && radiotap.flags.badfcs == 0", &["frame.number"]).unwrap();
        assert_eq!(wrong, [""; 0], "a window of {window}");
        let rates = tshark(&path, "wlan.fc.type_subtype == 0x0028", &["wlan_radio.data_rate"]).unwrap();
        assert!(!rates.is_empty() && rates.iter().all(|rate| rate == "2882.4"), "{:?}", rates.first());
    }
}
