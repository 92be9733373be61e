//! TCP over cells with TCP/HACK: transfers complete despite losses, and the octets on the air agree
//! with the tables.
//!
//! `ACKLAB_CASES=2000 cargo test -p acklab-lab --test integration hack` runs more cases. A failure
//! prints its scenario.

use crate::common::tables::Tables;
use crate::common::tshark::tshark;
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt;
use std::path::Path;

const CASES: u32 = 96;
const STATIONS: usize = 3;

/// A scenario that prints as it is written.
#[derive(Clone)]
struct Text(String);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

/// Returns a server behind an access point.
fn head(seed: u64, standard: &str) -> String {
    format!(
        "seed = {seed}\n[[link]]\nname = \"wire\"\nfrom = \"server\"\nto = \"ap\"\n\
         forward = {{ rate = \"500Mbps\", delay = \"1ms\" }}\nreverse = {{ rate = \"500Mbps\", delay = \"1ms\" }}\n\
         [[wifi]]\nname = \"cell\"\nstandard = \"{standard}\"\n"
    )
}

fn hack() -> impl Strategy<Value = String> {
    let variant = prop_oneof![3 => Just("more-data"), 1 => Just("opportunistic"), 1 => Just("timer")];
    let limit = prop_oneof![3 => Just(200), 1 => 5..60_u32];
    let checksum = select(vec!["elided", "carried"]);
    let delay = prop_oneof![Just(0), 10..500_u32];
    (variant, limit, checksum, delay, any::<bool>()).prop_map(|(variant, limit, checksum, delay, split)| {
        format!(
            "hack = {{ variant = \"{variant}\", hold_limit = \"{limit}ms\", checksum = \"{checksum}\", \
             delay = \"{delay}us\", split = {split} }}\n"
        )
    })
}

fn flow() -> impl Strategy<Value = String> {
    let node = |node: usize| if node == 0 { "server".to_owned() } else { format!("sta_{node}") };
    let ends = prop_oneof![
        3 => (1..=STATIONS).prop_map(|to| (0, to)),
        2 => (1..=STATIONS).prop_map(|from| (from, 0)),
        1 => (1..=STATIONS).prop_map(|from| (from, from % STATIONS + 1)),
    ];
    let preset = select(vec!["linux", "rfc", "ns3"]);
    (ends, preset, 1..300_u64, 0..200_u64).prop_map(move |((from, to), preset, size, start)| {
        format!(
            "[[flow]]\nfrom = \"{}\"\nto = \"{}\"\npreset = \"{preset}\"\nstart = \"{start}ms\"\n\
             traffic = {{ model = \"fixed\", size = \"{size}kB\" }}\n",
            node(from),
            node(to)
        )
    })
}

/// Generates a cell that loses up to a fifth of all frames, with some flows.
fn lossy() -> impl Strategy<Value = Text> {
    let standard = select(vec!["802.11a", "802.11n", "802.11ac", "802.11be"]);
    let settings = (
        select(vec!["request", "retransmit"]),
        weighted(0.3, 2..5_u8),
        weighted(0.3, 1..20_u16),
        select(vec!["standard", "ns3"]),
        (0.0..0.2, 0.0..0.2),
        weighted(0.3, 20..200_u32),
    );
    (0..1000_u64, standard, settings, hack(), prop::collection::vec(flow(), 1..6)).prop_map(
        |(seed, standard, (after, requests, frames, dialect, (data, control), limit), hack, flows)| {
            let requests =
                requests.map_or_else(String::new, |requests| format!("retries = {{ requests = {requests} }}\n"));
            let frames = frames.map_or_else(String::new, |frames| format!(", max_frames = {frames}"));
            let limit = limit.map_or_else(String::new, |packets| format!(", limit = \"{packets}packets\""));
            Text(format!(
                "duration = \"3600s\"\n{}dialect = \"{dialect}\"\n{hack}{requests}\
                 aggregation = {{ after_missed = \"{after}\"{frames} }}\n[wifi.reception.channel]\nmodel = \"fixed\"\n\
                 frame_error_rate = {data:.3}\ncontrol_error_rate = {control:.3}\n[wifi.ap]\nname = \"ap\"\n\
                 queue = {{ discipline = \"fifo\"{limit} }}\n[[wifi.station]]\nname = \"sta\"\ncount = {STATIONS}\n{}",
                head(seed, standard),
                flows.concat()
            ))
        },
    )
}

/// Checks that every flow completes with all its octets, and is never idle for longer than its
/// retransmission timer.
fn transfers_complete(text: &str) -> Result<(), TestCaseError> {
    let sets = ["measure.series=[\"packets\", \"events\"]".to_owned()];
    let scenario = load(text, "the scenario", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}\n\n{text}"));
    let tables = Tables::of(&scenario, &RunOptions::default());
    let failures = tables.counts("hack", "total_decompression_failures_l2");
    prop_assert!(failures.iter().all(|failures| *failures == 0), "{failures:?} cannot be decompressed");

    let ended: Vec<(String, String)> =
        tables.texts("events", "flow").into_iter().zip(tables.texts("events", "event")).collect();
    let (names, times) = (tables.texts("packets", "flow"), tables.numbers("packets", "time"));
    for (flow, delivered) in scenario.flows().iter().zip(tables.counts("flows", "total_delivered_bytes_l7")) {
        let is_finished = ended.iter().any(|(name, event)| *name == flow.name && event == "finished");
        prop_assert!(is_finished, "{} does not come to its end", flow.name);
        let acklab_app::Traffic::Fixed { size } = flow.traffic else { panic!("a fixed size was asked for") };
        prop_assert_eq!(delivered, size.get(), "{}", &flow.name);
        let of_flow: Vec<f64> =
            names.iter().zip(&times).filter(|(name, _)| **name == flow.name).map(|(_, at)| *at).collect();
        let gap = of_flow.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        prop_assert!(gap < LONGEST_TIMER, "{} stands still for {gap} s", flow.name);
    }
    Ok(())
}

/// The longest timer in seconds: an initial timeout of one second (RFC 6298, 2.1) that has expired
/// and was doubled.
const LONGEST_TIMER: f64 = 2.5;

proptest! {
    #![proptest_config({
        let cases = std::env::var("ACKLAB_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() }
    })]

    #[test]
    fn transfers_complete_though_frames_and_answers_are_lost(text in lossy()) {
        transfers_complete(&text.0)?;
    }
}

/// Two runs give the same tables, bit by bit.
#[test]
fn the_same_seed_brings_the_same_acks() {
    let text = format!(
        "duration = \"2s\"\n{}hack = {{}}\n[wifi.reception.channel]\nmodel = \"fixed\"\nframe_error_rate = 0.1\n\
         control_error_rate = 0.1\n[wifi.ap]\nname = \"ap\"\n[[wifi.station]]\nname = \"sta\"\ncount = 2\n\
         [[flow]]\nfrom = \"server\"\nto = \"sta\"\npreset = \"linux\"\n[[flow]]\nfrom = \"sta_1\"\nto = \"server\"\npreset = \"linux\"\n",
        head(7, "802.11n")
    );
    let run = || Tables::run(&text, &["measure.series=[\"air\"]"], None);
    let (one, other) = (run(), run());
    assert!(one == other);
    assert!(one.counts("hack", "total_repeated_acks_l2").iter().sum::<u64>() > 10);
}

/// Returns a download to one station.
fn download(standard: &str) -> String {
    format!(
        "duration = \"2s\"\n{}hack = {{}}\n[wifi.ap]\nname = \"ap\"\nqueue = {{ discipline = \"fifo\", limit = \"500packets\" }}\n\
         [[wifi.station]]\nname = \"sta\"\n[[flow]]\nfrom = \"server\"\nto = \"sta\"\npreset = \"linux\"\n\
         [[capture]]\npoint = \"cell\"\nfile = \"air.pcapng\"\n",
        head(7, standard)
    )
}

#[test]
fn no_ack_of_a_long_download_has_a_frame_of_its_own() {
    for standard in ["802.11a", "802.11n"] {
        let tables = Tables::run(&download(standard), &["measure.from=1s"], None);
        let of_station = |column: &str| tables.counts("hack", column)[1];
        assert_eq!(of_station("total_plain_acks_l2"), 0, "{standard}");
        assert_eq!(of_station("total_repeated_acks_l2"), 0, "{standard}");
        assert!(of_station("total_compressed_acks_l2") > 1_000, "{standard}");
    }
}

/// Wireshark ignores the appended octets: no frame is malformed, and each response frame is longer
/// by the octets in the tables.
#[test]
fn answers_with_acks_are_answers_to_tshark() {
    for (standard, subtype, plain) in [("802.11a", "0x001d", 14), ("802.11n", "0x0019", 32)] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hack_{standard}"));
        std::fs::create_dir_all(&folder).unwrap();
        let sets = ["duration=300ms".to_owned()];
        let scenario =
            load(&download(standard), "a download", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}"));
        let options = RunOptions { captures: Some(folder.clone()), ..RunOptions::default() };
        let tables = Tables::of(&scenario, &options);
        let capture = folder.join("air.pcapng");
        let fields = ["frame.len", "radiotap.length", "_ws.malformed", "wlan.fcs.status"];
        let Some(answers) = tshark(&capture, &format!("wlan.fc.type_subtype == {subtype}"), &fields) else { return };
        let mut appended = (0_u64, 0_u64);
        for answer in &answers {
            let fields: Vec<u64> = answer.split(' ').map(|field| field.parse().unwrap_or(u64::MAX)).collect();
            // Nothing is malformed, and the FCS is good.
            assert_eq!(fields[2..], [u64::MAX, 1], "{standard}: {answer}");
            let longer = fields[0] - fields[1] - plain;
            appended = (appended.0 + u64::from(longer > 0), appended.1 + longer);
        }
        let sum = |column: &str| tables.counts("hack", column).into_iter().sum::<u64>();
        let augmented = sum("total_augmented_answers_l2");
        assert!(augmented > 50, "{standard}: {augmented}");
        // The last one may be on the air when the run ends.
        assert!(augmented - appended.0 <= 1, "{standard}: {} of {augmented} are longer", appended.0);
        let octets = sum("total_compressed_bytes_l2") + sum("total_augmented_answers_l2");
        assert!((0..200).contains(&(octets - appended.1)), "{standard}: {} of {octets} octets", appended.1);
    }
}
