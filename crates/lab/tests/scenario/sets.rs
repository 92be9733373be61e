//! Values given by `--set`.

use super::{FULL, NAME, edited, read, settings};
use crate::common::names::controllers;
use acklab_app::Traffic;
use acklab_base::units::{Limit, Segments};
use acklab_base::{Bytes, Duration, Rate};
use acklab_lab::scenario::{Scenario, load};
use acklab_measure::Series;
use acklab_path::{loss, queue};
use acklab_transport::{ack, cc};

fn set(sets: &[&str]) -> Scenario {
    read(FULL, sets).unwrap_or_else(|refusal| panic!("{sets:?}\n{refusal}"))
}

#[test]
fn values_are_toml_or_text() {
    let scenario = set(&[
        "seed=7",
        "title = a b, c",
        "flow.0.congestion=reno",
        "flow.0.sack=false",
        "flow.0.initial_window=4segments",
        "link.0.forward.rate=8Mbps",
        "link.0.forward.loss.bad_to_good=1",
        "measure.series=[\"queue\"]",
        "link.0.reverse.gate={ interval = '1ms', quota = 0x10 }",
    ]);
    assert_eq!((scenario.seed, scenario.title.as_str()), (7, "a b, c"));
    assert_eq!(settings(&scenario, 0).congestion, Some(cc::ControllerConfig::NEW_RENO));
    assert_eq!((settings(&scenario, 0).sack, settings(&scenario, 0).initial_window), (Some(false), Some(Segments(4))));
    assert_eq!(scenario.link[0].forward.rate, Some(Rate::from_mbps(8)));
    assert_eq!(scenario.measure.series, [Series::Queue]);
    assert_eq!(scenario.link[0].reverse.gate.map(|gate| gate.quota), Some(16));
}

#[test]
fn entries_are_found_by_index_and_by_name() {
    let scenario = set(&[
        "link.btl.reverse.gate.quota=5",
        "link.2.forward.delay=3ms",
        "flow.bulk.mss=500B",
        "flow.flow_4.mss=600B",
    ]);
    assert_eq!(scenario.link[0].reverse.gate.map(|gate| gate.quota), Some(5));
    assert_eq!(scenario.link[2].forward.delay, Duration::from_millis(3));
    assert_eq!(settings(&scenario, 0).mss, Some(Bytes(500)));
    assert_eq!(settings(&scenario, 1).mss, Some(Bytes(600)), "the first flow counts three times");
}

#[test]
fn tables_are_made_on_the_way() {
    let scenario = set(&[
        "flow.1.ack.policy=delayed",
        "link.lan.forward.queue.discipline=fifo",
        "link.lan.forward.queue.limit=9packets",
    ]);
    assert!(matches!(
        settings(&scenario, 1).ack,
        Some(ack::PolicyConfig::Delayed(ack::delayed::Delayed { segments: 2, .. }))
    ));
    assert_eq!(scenario.link[2].forward.queue, queue::QueueConfig::default().with_limit(Some(Limit::Packets(9))));
}

#[test]
fn an_empty_value_takes_a_key_away() {
    let scenario = set(&["link.btl.reverse.gate=", "measure=", "capture.0=", "flow.0.name="]);
    assert!(scenario.link[0].reverse.gate.is_none() && scenario.measure.series.is_empty());
    assert_eq!(scenario.capture.len(), 1);
    assert_eq!(scenario.flows()[0].name, "flow_1");
}

/// Choosing another variant removes the keys of the text that the new variant does not have.
#[test]
fn changing_the_kind_drops_the_settings_of_the_old_kind() {
    let scenario = set(&[
        "flow.0.ack.policy=per-packet",
        "flow.0.traffic.model=greedy",
        "link.btl.reverse.queue.discipline=fifo",
        "link.btl.forward.loss.model=independent",
        "link.btl.forward.loss.probability=0.5",
    ]);
    assert_eq!(settings(&scenario, 0).ack, Some(ack::per_packet::PerPacket {}.into()));
    assert_eq!(scenario.flow[0].traffic, Traffic::Greedy {});
    assert_eq!(
        scenario.link[0].reverse.queue,
        queue::QueueConfig::default().with_limit(Some(Limit::Bytes(Bytes(30_000))))
    );
    assert_eq!(scenario.link[0].forward.loss, Some(loss::LossConfig::Independent { probability: 0.5 }));
}

#[test]
fn changing_the_kind_still_refuses_keys_of_sets_and_unknown_keys() {
    let refusal = |text: &str, sets: &[&str]| read(text, sets).unwrap_err().to_string();
    assert_eq!(
        refusal(FULL, &["flow.0.ack.policy=per-packet", "flow.0.ack.segments=2"]),
        "--set flow.0.ack.segments=2: unknown key\n = known keys: policy"
    );
    let typo = edited("segments = 3", "segmnts = 3");
    assert!(refusal(&typo, &["flow.0.ack.policy=per-packet"]).contains(": flow.0.ack.segmnts: unknown key\n"));
}

#[test]
fn later_sets_win() {
    assert_eq!(set(&["seed=1", "seed=2"]).seed, 2);
    let scenario = set(&["flow.0.ack=", "flow.0.ack.policy=linux"]);
    assert_eq!(settings(&scenario, 0).ack, Some(ack::linux::Linux {}.into()));
}

#[test]
fn a_seed_takes_the_place_of_the_scenarios_own() {
    let sets = ["seed=7".to_owned()];
    assert_eq!(load(FULL, NAME, &sets, Some(u64::MAX)).unwrap().seed, u64::MAX);
    assert_eq!(load(&edited("seed = 42\n", ""), NAME, &[], Some(3)).unwrap().seed, 3);
}

#[test]
fn sets_are_refused_with_themselves_as_the_place() {
    let no_such_controller = format!(
        "found \"cubik\", expected one of {}, or a table such as {{ algorithm = \"custom\", name = \"mine\" }}; did you mean `cubic`?",
        controllers()
    );
    for (set, message) in [
        ("flow.0.congestion=cubik", &*no_such_controller),
        ("flow.0.recovery=fast", "found \"fast\", expected one of \"prr\", \"classic\", \"reno\", \"tahoe\""),
        (
            "link.btl.forward.rate=16",
            "link.0.forward.rate: found 16, expected a rate such as \"16Mbps\" (units: bps, kbps, Mbps, Gbps); the unit is missing",
        ),
        (
            "flow.0.ack.timer=-1ms",
            "found \"-1ms\", expected a duration such as \"15ms\" (units: ns, us, µs, ms, s, min); it must not be negative",
        ),
        (
            "flow.0.ack={policy=\"delayed\", segments=0}",
            "flow.0.ack.segments: found 0, expected a whole number of at least 1",
        ),
        ("flow.7.mss=1B", "`flow` has no entry 7; expected an index from 0 to 1"),
        (
            "link.btk.overhead=1B",
            "`link` has no entry `btk`; expected an index from 0 to 2, or one of the names btl, access, lan; did you mean `btl`?",
        ),
        ("seed.x=1", "`seed` is 42 and has no `x`"),
        ("flow.0.mss.x=1", "`flow.0.mss` is \"1400B\" and has no `x`"),
        ("seed", "expected a path and a value, such as flow.0.congestion=newreno"),
        ("=5", "expected a path such as flow.0.congestion before the `=`; a key of this one is empty"),
        ("flow..mss=5", "expected a path such as flow.0.congestion before the `=`; a key of this one is empty"),
        ("flow.0.sack=", "an empty value removes a key, but there is no `sack` here"),
        ("measure.series=[queue]", "the value is not TOML: string values must be quoted, expected literal string"),
        ("flow=3", "found 3, expected a list of tables, each written [[flow]]"),
        (
            "flow.0.traffic.model=constant",
            "the key `rate` is missing, which model = \"constant\" needs; expected rate = \"16Mbps\", for example",
        ),
        ("flow.0.count=10001", "the scenario has 10001 flows up to this one; expected at most 10000"),
    ] {
        let text = FULL.replace("count = 3\nspacing = \"1s\"\n", "");
        assert_eq!(read(&text, &[set]).unwrap_err().to_string(), format!("--set {set}: {message}"));
    }
    let endless = format!("{}=1", ["a"; 100_000].join("."));
    assert!(read(FULL, &[&endless]).unwrap_err().message().ends_with("this one has 100000 keys"));
}

#[test]
fn a_pattern_and_the_stem_of_numbered_names_select_all_that_match() {
    let workers: String = (1..=3)
        .map(|number| {
            format!("[[flow]]\nname = \"worker_{number}\"\nfrom = \"src\"\nto = \"dst\"\npreset = \"linux\"\n")
        })
        .collect();
    let text = format!(
        "duration = \"1s\"\nseed = 1\n[[link]]\nname = \"btl\"\nfrom = \"src\"\nto = \"dst\"\nforward = {{ rate = \"1Mbps\" }}\nreverse = {{ rate = \"1Mbps\" }}\n{workers}\
         [[flow]]\nname = \"workers\"\nfrom = \"src\"\nto = \"dst\"\npreset = \"linux\"\n"
    );
    let selected = |set: &str| -> Vec<bool> {
        let scenario = read(&text, &[set]).unwrap();
        scenario.flow.iter().map(|flow| !flow.start.is_zero()).collect()
    };
    assert_eq!(selected("flow.*.start=1ms"), [true; 4]);
    assert_eq!(selected("flow.worker_*.start=1ms"), [true, true, true, false]);
    assert_eq!(selected("flow.worker.start=1ms"), [true, true, true, false], "the stem of the numbered names");
    assert_eq!(selected("flow.workers.start=1ms"), [false, false, false, true], "the whole name");
    assert_eq!(selected("flow.w*r_2.start=1ms"), [false, true, false, false]);
    assert!(read(&text, &["flow.x*.start=1ms"]).unwrap_err().to_string().contains("`flow` has no entry `x*`"));
    let removed = read(&text, &["flow.worker_*="]).unwrap();
    assert_eq!(removed.flow.len(), 1, "an empty value removes all that match");
}

/// The fault is in the text, although the override causes it.
#[test]
fn a_set_may_make_the_text_wrong() {
    let refusal = read(FULL, &["duration=5s"]).unwrap_err();
    assert_eq!(refusal.path(), "measure.until");
    assert_eq!(refusal.message(), "found \"14.5s\", expected a time up to the run's end at 5s");
    assert_eq!(refusal.place(), "studies/x.toml:67:9");
}

#[test]
fn a_cell_of_ns2_has_no_qos_and_a_floor_is_no_ceiling() {
    const QOS: &str = include_str!("../../benches/cost/wifi_n_download.toml");
    const DCF: &str = include_str!("../../benches/cost/wifi_b_upload.toml");
    let refusal = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(text, "cell.toml", &sets, None).err().map(|refusal| refusal.to_string())
    };
    let of_qos = refusal(QOS, &["wifi.0.dialect=ns2"]).unwrap();
    assert!(of_qos.contains("ns-2 has no QoS"), "{of_qos}");
    assert_eq!(refusal(DCF, &["wifi.0.dialect=ns2", "wifi.0.station.0.access.best_effort.cw_floor=1"]), None);
    let of_floor =
        refusal(DCF, &["wifi.0.access.best_effort.cw_min=15", "wifi.0.access.best_effort.cw_floor=31"]).unwrap();
    assert!(of_floor.contains("at most `cw_min`, which is 15"), "{of_floor}");
}

/// A run of a cell with A-MSDUs of 2⁶³ octets did not end: the packets that fit into one were
/// counted one by one.
#[test]
fn an_a_msdu_has_at_most_the_octets_of_its_generation() {
    const CELL: &str = include_str!("../../benches/cost/wifi_n_download.toml");
    let refusal = |standard: &str, octets: u64| {
        let sets = [format!("wifi.0.standard={standard}"), format!("wifi.0.aggregation.a_msdu={octets}B")];
        load(CELL, "cell.toml", &sets, None).err().map(|refusal| refusal.to_string())
    };
    for (standard, most) in [("802.11n", 7935), ("802.11ac", 11_424), ("802.11ax", 11_424), ("802.11be", 11_424)] {
        assert_eq!(refusal(standard, most), None);
        let refused = refusal(standard, most + 1).unwrap();
        assert!(refused.contains(&format!("an A-MSDU of at most {most}B in {standard}")), "{refused}");
        assert!(refusal(standard, 1 << 62).is_some());
    }
}
