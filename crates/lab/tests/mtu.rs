//! Links that carry only small packets, from the start or from a given time on.

use crate::common::dumbbell::{Dumbbell, goodput};
use crate::common::tables::Tables;

const DUMBBELL: Dumbbell = Dumbbell { protocol: "quic", payload: 1439.0 };
const QUINN: Dumbbell = Dumbbell { protocol: "quinn", payload: 1439.0 };
const TACK: Dumbbell = Dumbbell { protocol: "tack", payload: 1446.0 };
const TCP: Dumbbell = Dumbbell { protocol: "tcp", payload: 1448.0 };

/// From 2 s on, packets above 1400 octets are dropped without a report.
const DROP: &str = r#"link.btl.forward.mtu_steps=[{at="0s", mtu="1500B"}, {at="2s", mtu="1400B"}]"#;
/// The window of measurement, which begins three seconds after the change.
const AFTER: &str = "measure.from=3s";

fn drops(tables: &Tables) -> u64 {
    tables.counts("links", "total_mtu_drops_l3")[0]
}

#[test]
fn packets_above_the_mtu_are_dropped_and_counted() {
    let tables = DUMBBELL.run(&["link.btl.forward.mtu=1499B", "measure.from=0s"]);
    assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [0]);
    let (dropped, octets) = (drops(&tables), tables.counts("links", "total_bytes_mtu_dropped_l3")[0]);
    assert!(dropped > 10 && octets == 1500 * dropped, "{dropped} packets, {octets} octets");
    assert_eq!(tables.counts("flows", "total_drops_l2"), [0], "no queue dropped them");
    let tables = DUMBBELL.run(&["link.btl.forward.mtu=1500B"]);
    assert_eq!(drops(&tables), 0);
    assert!(DUMBBELL.share(&tables) > 0.9);
}

/// The sender gets no report of the dropped packets: without discovery, the flow stalls.
#[test]
fn a_path_whose_mtu_drops_is_a_black_hole() {
    for dumbbell in [DUMBBELL, TCP] {
        let preset: &[&str] = if dumbbell.protocol == "tcp" { &["flow.0.preset=linux"] } else { &[] };
        let sets = [preset, &[DROP, AFTER]].concat();
        let tables = dumbbell.run(&sets);
        assert_eq!(tables.counts("flows", "total_delivered_bytes_l7"), [0], "{}", dumbbell.protocol);
        assert!(drops(&tables) > 0);
    }
}

/// quinn-proto, this QUIC and TACK detect the change and continue with smaller packets (RFC 8899,
/// §4.3).
#[test]
fn discovery_finds_the_way_out_of_a_black_hole() {
    // When packets arrive again, BBR continues with its earlier model of the path. NewReno would
    // grow from two packets.
    let bbr = "flow.0.congestion=bbr";
    for (dumbbell, special) in
        [(DUMBBELL, &[bbr] as &[&str]), (QUINN, &[bbr, "flow.0.packet=1228B"]), (TACK, &["flow.0.congestion=bbr-tack"])]
    {
        let sets = [special, &["flow.0.mtu_discovery=true", DROP]].concat();
        let whole = dumbbell.run(&[&sets[..], &["measure.from=0s"]].concat());
        assert_eq!(whole.counts("flows", "total_black_holes_l4"), [1], "{}", dumbbell.protocol);
        let after = goodput(&dumbbell.run(&[&sets[..], &["measure.from=4s"]].concat()));
        // Every path carries 1228 octets, of which at most 1172 are data.
        assert!(after > 0.8 * 50.0 * 1160.0 / 1228.0, "{}: {after} Mbps", dumbbell.protocol);
    }
}

/// The search ends within twenty octets of what the path carries. Congestion control does not count
/// lost probes as losses.
#[test]
fn discovery_finds_what_the_path_carries() {
    let events = |mtu: u64| {
        let tables = DUMBBELL.run(&[
            "flow.0.mtu_discovery=true",
            r#"flow.0.traffic={model="constant", rate="20Mbps"}"#,
            &format!("link.btl.forward.mtu={mtu}B"),
            r#"measure.series=["events"]"#,
            "measure.from=0s",
        ]);
        let names = tables.texts("events", "event");
        let details = tables.texts("events", "detail");
        let sizes = names.iter().zip(&details).filter(|(name, _)| *name == "datagram-size");
        let sizes: Vec<u64> = sizes.map(|(_, detail)| detail.split(' ').next().unwrap().parse().unwrap()).collect();
        assert!(!names.iter().any(|name| name == "recovery-entered"), "{names:?}");
        assert!(goodput(&tables) > 19.7, "{}", goodput(&tables));
        (sizes, drops(&tables))
    };
    assert_eq!(events(1500), (vec![1472], 0), "one probe");
    let (sizes, lost) = events(1400);
    let last = *sizes.last().unwrap() + 28;
    assert!((1380..=1400).contains(&last), "{sizes:?}");
    assert_eq!(lost % 3, 0, "each size that does not pass is tried three times: {lost}");
}

/// A queue that overflows is not a black hole.
#[test]
fn congestion_does_not_shrink_packets() {
    let tables = DUMBBELL.run(&[
        "flow.0.mtu_discovery=true",
        r#"link.btl.forward.queue={discipline="fifo", limit="20packets"}"#,
        r#"link.btl.forward.loss={model="gilbert-elliott", good_to_bad=0.001, bad_to_good=0.05}"#,
        "measure.from=0s",
    ]);
    assert!(tables.counts("flows", "total_retransmissions_l4")[0] > 50);
    assert_eq!(tables.counts("flows", "total_black_holes_l4"), [0]);
}

#[test]
fn impossible_sizes_are_refused() {
    let refused = |set: &str| DUMBBELL.refusal(set);
    assert!(refused("link.btl.forward.mtu=67B").contains("at least 68B"));
    let steps = |steps: &str| refused(&format!("link.btl.forward.mtu_steps={steps}"));
    assert!(steps("[]").contains("at least one step"));
    assert!(steps(r#"[{at="1s", mtu="1400B"}]"#).contains("the first step sets the MTU at the start"));
    assert!(steps(r#"[{at="0s", mtu="1400B"}, {at="0s", mtu="1500B"}]"#).contains("a time after the step before it"));
    assert!(refused(r#"link.btl.forward={mtu="1400B", mtu_steps=[{at="0s", mtu="1400B"}]}"#).contains("only one of"));
}
