//! One exchange over typed packets and over octets: both carriers make the same decisions at the
//! same times.

use crate::common::disciplines;
use crate::common::duplex::{self, Duplex};
use crate::common::exchange::{Carrier, Flow, Trace, flows, run};
use crate::common::form::Form;
use crate::common::nodes::attach_nodes;
use crate::common::typed::Typed;
use acklab_base::random::Seed;
use acklab_base::{Duration, FlowKey, Instant};
use acklab_path::link;
use acklab_path::queue::{Keeps, Place, QueueConfig as Queue};
use acklab_wifi::airtime::Use;
use acklab_wifi::{Cell, CellConfig, counters, hack};
use acklab_wire::IpPacket;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// After every exchange.
const END: Instant = Instant::from_nanos(60_000_000_000);
const STATIONS: usize = 2;

impl<D: Form> Carrier<D> for Cell<D> {
    fn take_drop(&mut self) -> Option<FlowKey> {
        self.take_drop()
    }
}

/// Returns the result of an exchange over a wire.
fn over_wire<D: Form>(config: &link::LinkConfig, flows: &[Flow]) -> (Trace, [duplex::Counts; 2]) {
    let mut wire: Duplex<D> = Duplex::new(config);
    let trace = run(&mut wire, flows);
    (trace, wire.counts(END))
}

/// The results of an exchange in a cell: its deliveries and counters.
#[derive(Debug, PartialEq)]
struct InCell {
    trace: Trace,
    counters: Vec<counters::Counters>,
    hack: Vec<hack::Counters>,
    airtime: Vec<Duration>,
    unplaced: u64,
}

fn in_cell<D: Form>(settings: &Value, flows: &[Flow]) -> InCell {
    let config: CellConfig =
        serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("{error}: {settings}"));
    let mut cell: Cell<D> = Cell::new(&config, Seed(3)).unwrap_or_else(|error| panic!("{error}"));
    attach_nodes(&mut cell);
    for flow in flows {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            cell.carry(from, to, flow.category).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    let trace = run(&mut cell, flows);
    InCell {
        trace,
        counters: cell.counters().to_vec(),
        hack: cell.hack_counters().to_vec(),
        airtime: Use::ALL.iter().map(|what| cell.airtime(END).total(*what)).collect(),
        unplaced: cell.unplaced(),
    }
}

fn wire_config(settings: &Value) -> link::LinkConfig {
    serde_json::from_value(settings.clone()).unwrap_or_else(|error| panic!("{error}: {settings}"))
}

/// Returns channels with losses and other impairments behind a queue.
fn channel() -> impl Strategy<Value = Value> {
    let some = |value: Value| prop_oneof![Just(Value::Null), Just(value)];
    (
        some(json!({"interval": "3ms", "quota": 4})),
        some(json!({"model": "gilbert-elliott", "good_to_bad": 0.1, "bad_to_good": 0.4})),
        some(json!({"model": "exponential", "mean": "1ms"})),
        some(json!({"probability": 0.1, "by": "4ms"})),
        some(json!({"probability": 0.1})),
        0..4_u32,
    )
        .prop_map(|(gate, loss, jitter, reorder, duplicate, device_queue)| {
            json!({"rate": "2Mbps", "delay": "1ms", "overhead": "2B", "gate": gate, "loss": loss, "jitter": jitter,
                "reorder": reorder, "duplicate": duplicate, "device_queue": device_queue})
        })
}

fn cell_with_hack() -> impl Strategy<Value = Value> {
    let variant = prop::sample::select(vec!["more-data", "opportunistic", "timer"]);
    let checksum = prop::sample::select(vec!["elided", "carried"]);
    let standard = prop::sample::select(vec!["802.11a", "802.11n"]);
    let queue = prop::sample::select(disciplines::all());
    (standard, variant, checksum, any::<bool>(), queue, 0.0..0.3, 0.0..0.3).prop_map(
        |(standard, variant, checksum, split, queue, data, control)| {
            json!({
                "name": "cell",
                "standard": standard,
                "reception": {
                    "channel": {"model": "fixed", "frame_error_rate": data, "control_error_rate": control},
                },
                "hack": {"variant": variant, "checksum": checksum, "split": split, "delay": "30us"},
                "ap": {"name": "ap", "queue": queue},
                "station": [{"name": "sta", "count": STATIONS, "queue": queue}],
            })
        },
    )
}

/// Returns pairs of nodes: the access point and a station, and two stations.
fn ends_in_cell() -> Vec<(usize, usize)> {
    vec![(0, 1), (0, 2), (1, 0), (1, 2)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_treats_both_forms_alike(flows in flows(vec![(0, 1), (1, 0)])) {
        for queue in disciplines::all() {
            let config = wire_config(&json!({"rate": "2Mbps", "delay": "1ms", "queue": queue}));
            prop_assert_eq!(over_wire::<Typed>(&config, &flows), over_wire::<IpPacket>(&config, &flows), "{:?}", queue);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gate_device_and_channel_treat_both_forms_alike(
        flows in flows(vec![(0, 1), (1, 0)]),
        queue in prop::sample::select(disciplines::all()),
        mut settings in channel(),
    ) {
        settings["queue"] = json!(queue);
        let config = wire_config(&settings);
        prop_assert_eq!(over_wire::<Typed>(&config, &flows), over_wire::<IpPacket>(&config, &flows));
    }

    #[test]
    fn a_cell_with_hack_treats_both_forms_alike(flows in flows(ends_in_cell()), settings in cell_with_hack()) {
        prop_assert_eq!(in_cell::<Typed>(&settings, &flows), in_cell::<IpPacket>(&settings, &flows));
    }
}

#[test]
fn the_schema_lists_every_discipline() {
    let all = disciplines::all();
    assert!(Queue::built_in().all(|discipline| all.contains(&discipline)));
    let has = |is: fn(&Queue) -> bool| all.iter().any(is);
    assert!(has(|queue| matches!(queue, Queue::Fifo(settings) if settings.mark_above.is_some())));
    assert!(has(|queue| matches!(queue, Queue::CoDel(settings) if settings.ecn)));
    assert!(has(|queue| matches!(
        queue,
        Queue::AckFilter(settings) if settings.keeps == Keeps::Nothing && settings.place == Place::Tail
    )));
    assert!(has(
        |queue| matches!(queue, Queue::CakeAckFilter(settings) if settings.aggressive && settings.limit.is_some())
    ));
}

/// Returns the first values of a strategy.
fn some<T>(strategy: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    let one = |_| strategy.new_tree(&mut runner).map(|tree| tree.current());
    (0..10).map(one).collect::<Result<_, _>>().unwrap_or_else(|reason| panic!("{reason}"))
}

/// Checks that all impairments occur. Otherwise, the comparisons would prove nothing.
#[test]
fn every_impairment_occurs() {
    let mut on_wire = [0; 3];
    for flows in some(flows(vec![(0, 1), (1, 0)])) {
        for queue in disciplines::all() {
            let config = wire_config(&json!({"rate": "2Mbps", "delay": "1ms", "queue": queue}));
            for (counters, _) in over_wire::<IpPacket>(&config, &flows).1 {
                let counts = [counters.dropped, counters.marked, counters.filtered];
                on_wire.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
    }
    assert!(on_wire.iter().all(|count| *count > 0), "{on_wire:?}");
    let mut in_air = [0; 3];
    for (flows, settings) in some((flows(ends_in_cell()), cell_with_hack())) {
        for counters in in_cell::<IpPacket>(&settings, &flows).hack {
            let counts = [counters.plain, counters.compressed, counters.decompressed];
            in_air.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    assert!(in_air.iter().all(|count| *count > 0), "{in_air:?}");
}
