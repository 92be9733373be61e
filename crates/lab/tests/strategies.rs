//! Custom strategies: the example, and the messages about unknown names.

#[path = "../examples/own_strategy.rs"]
mod own_strategy;

use crate::common::names::controllers;
use crate::common::tables::Tables;
use acklab_base::{Duration, Instant};
use acklab_lab::scenario::{Scenario, load, load_for};
use acklab_lab::{Error, Results, RunOptions, Strategies, check, run};
use acklab_transport::ack::{AckPolicy, Arrival, Decision, Held, Ledger, Reason};
use acklab_transport::quic::ask::{AskRule, Path, Request};

const SCENARIO: &str = r#"
duration = "3s"
seed = 3
link = [{ name = "btl", from = "a", to = "b", forward = { rate = "8Mbps", delay = "5ms", loss = { model = "independent", probability = 0.01 } }, reverse = { delay = "5ms" } }]
flow = [{ from = "a", to = "b", preset = "rfc", count = 2, ack = { policy = "custom", name = "mine" } }]
"#;

/// The delayed ACK of RFC 5681, §4.2, like the built-in policy.
struct Delayed;

impl AckPolicy for Delayed {
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
        match arrival {
            Arrival::InOrder if ledger.segments >= 2 => Decision::Now(Reason::SegmentCount),
            Arrival::InOrder => {
                Decision::At(ledger.since.unwrap_or(ledger.newest) + Duration::from_millis(200), Reason::Timer)
            }
            Arrival::OutOfOrder => Decision::Now(Reason::OutOfOrder),
            Arrival::FillsGap { .. } => Decision::Now(Reason::FillsGap),
            Arrival::Duplicate => Decision::Now(Reason::Duplicate),
        }
    }
}

fn mine() -> Strategies {
    Strategies::default().with_policy("mine", |_| Delayed)
}

fn read(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    load(text, "x.toml", &sets, None).unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn the_example_does_what_it_says() {
    let numbers = |report: &str| -> Vec<f64> {
        report
            .lines()
            .next()
            .into_iter()
            .flat_map(|line| line.split(' '))
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let linux = own_strategy::report(&["flow.0.ack.policy=linux".to_owned()]).unwrap();
    let [throughput, srtt] = numbers(&linux)[..] else { panic!("{linux}") };
    assert!(throughput > 14.0 && srtt < 30.0 + 8.0 * 0.75, "some four segments of 0.75 ms wait: {linux}");

    let report = own_strategy::report(&[]).unwrap();
    let [throughput, srtt] = numbers(&report)[..] else { panic!("{report}") };
    assert!(throughput < 10.0 && srtt > 30.0 + 7.0, "ACKs wait for 7.5 ms, as if there were a queue: {report}");
    let mut lines = report.lines().skip(1);
    assert_eq!(lines.next(), Some("handshake: 1 ACKs"));
    let periods =
        lines.next().and_then(|line| line.strip_prefix("period: ")?.strip_suffix(" ACKs")?.parse::<u32>().ok());
    assert!(periods.is_some_and(|periods| (1200..=1334).contains(&periods)), "10 s at an ACK every 7.5 ms: {report}");
}

#[test]
fn a_mirror_of_the_delayed_policy_is_the_same() {
    let tables = |scenario: &Scenario| {
        let options = RunOptions { strategies: mine(), ..RunOptions::default() };
        let Results { tables, wakes, hops, .. } = run(scenario, &options, || true).unwrap();
        let tables: Vec<_> = tables.into_iter().map(|table| table.into_arrow().unwrap()).collect();
        (tables, wakes, hops)
    };
    let custom = tables(&read(SCENARIO, &[]));
    let mut built_in = tables(&read(SCENARIO, &["flow.0.ack.policy=delayed"]));
    let name = built_in.0[0].schema().index_of("ack_policy").unwrap();
    assert_ne!(custom.0[0], built_in.0[0], "the name differs");
    let mut columns = built_in.0[0].columns().to_vec();
    columns[name] = custom.0[0].column(name).clone();
    built_in.0[0] = arrow_array::RecordBatch::try_new(built_in.0[0].schema(), columns).unwrap();
    assert_eq!(custom, built_in);
}

#[test]
fn after_each_wake_up_the_run_is_asked_whether_to_go_on() {
    let (mut asked, scenario) = (0, read(SCENARIO, &[]));
    let options = RunOptions { strategies: mine(), ..RunOptions::default() };
    let outcome = run(&scenario, &options, || {
        asked += 1;
        asked < 10
    });
    assert!(matches!(outcome, Err(Error::Stopped)));
    assert_eq!(asked, 10);
}

#[test]
fn a_run_refuses_names_that_it_does_not_know() {
    let refused = |set: &str, strategies: Strategies| {
        let options = RunOptions { strategies, ..RunOptions::default() };
        run(&read(SCENARIO, &[set]), &options, || true).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        refused("flow.0.ack.name=yours", mine()),
        "flow \"flow_1\": ack.name: found \"yours\", expected the name of a strategy that was added to the run: \"mine\""
    );
    assert_eq!(
        refused("flow.0.congestion={ custom = \"mine\" }", mine()),
        "flow \"flow_1\": congestion.name: found \"mine\", expected the name of a strategy that was added to the run, and none was added"
    );
}

/// A rule of requesting ACKs, with one instance per end.
struct EachWindow;

impl AskRule for EachWindow {
    fn request(&mut self, _now: Instant, path: &Path) -> Option<Request> {
        Some(Request::after(path.packets(), path.srtt))
    }
}

#[test]
fn a_sender_over_quic_asks_by_a_rule_of_the_user() {
    let over_quic = |ask: &str| {
        let set =
            format!(r#"flow.0={{from="a", to="b", transport={{protocol="quic", congestion="vegas", ask={ask}}}}}"#);
        let options = RunOptions {
            strategies: Strategies::default().with_ask("window", |_| EachWindow),
            ..RunOptions::default()
        };
        Tables::of(&read(SCENARIO, &[&set, "link.0.forward.loss.probability=0"]), &options)
    };
    let acks = |tables: &Tables| tables.counts("flows", "total_acks_sent_l4")[0];
    let asked = over_quic(r#"{rule="custom", name="window"}"#);
    assert!(asked.counts("flows", "total_ack_frequency_sent_l4")[0] > 0);
    let unasked = over_quic(r#"{rule="none"}"#);
    assert!(3 * acks(&asked) < acks(&unasked), "{} and {}", acks(&asked), acks(&unasked));
    let unknown = read(
        SCENARIO,
        &[r#"flow.0={from="a", to="b", transport={protocol="quic", ask={rule="custom", name="mine"}}}"#],
    );
    let refused = run(&unknown, &RunOptions::default(), || true).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("ask.name: found \"mine\""), "{refused}");
}

/// A check does not know the strategies of a run, but it reads the files.
#[test]
fn a_check_refuses_what_a_run_refuses_but_for_names_of_strategies() {
    let checked = |sets: &[&str]| check(&read(SCENARIO, sets), &RunOptions::default()).map_err(|why| why.to_string());
    assert_eq!(checked(&[]), Ok(()));
    let set = ["link.0.forward={ trace = { file = \"gone.trace\" } }", "flow.0.ack.policy=delayed", "flow.0.ack.name="];
    let refused = run(&read(SCENARIO, &set), &RunOptions::default(), || true).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("cannot read the trace gone.trace"), "{refused}");
    assert_eq!(checked(&set), Err(refused.clone()));
    assert_eq!(checked(&set[..1]), Err(refused));
}

#[test]
fn a_name_that_is_not_known_is_refused_in_its_place() {
    let refused = |text: &str| load_for(text, "x.toml", &[], None, &mine()).unwrap_err().to_string();
    let refusal = refused(&SCENARIO.replace("\"mine\"", "\"mien\""));
    assert!(
        refusal.starts_with(
            "x.toml:5:94: flow.0.ack.name: found \"mien\", expected the name of a strategy that was added to the run: \"mine\"; did you mean `mine`?\n"
        ),
        "{refusal}"
    );
    let refusal = refused(&SCENARIO.replace("ack =", "congestion = { custom = \"mine\" }, ack ="));
    assert!(
        refusal.starts_with(
            "x.toml:5:84: flow.0.congestion.custom: found \"mine\", expected the name of a strategy that was added to the run, and none was added\n"
        ),
        "{refusal}"
    );
}

#[test]
fn an_unknown_name_is_refused_without_a_run() {
    let refused = |set: &str| load(SCENARIO, "x.toml", &[set.to_owned()], None).unwrap_err().message().to_owned();
    let controllers = controllers();
    let table =
        format!("expected one of {controllers}, or a table such as {{ algorithm = \"custom\", name = \"mine\" }}");
    assert_eq!(refused("flow.0.congestion=mine"), format!("found \"mine\", {table}"));
    assert_eq!(refused("flow.0.congestion=3"), format!("found 3, {table}"));
    let algorithm = format!("the key `algorithm` is missing; expected one of {controllers}, \"custom\"");
    assert_eq!(refused("flow.0.congestion={ costum = \"mine\" }"), algorithm);
    assert_eq!(refused("flow.0.congestion={ custom = 3 }"), "found 3, expected text in quotes");
    assert_eq!(refused("flow.0.congestion={}"), algorithm);
    assert_eq!(
        refused("flow.0.congestion={ algorithm = \"custom\" }"),
        "the key `name` is missing, which algorithm = \"custom\" needs; expected name = \"mine\", for example"
    );
    assert_eq!(
        refused("flow.0.ack.name=a name"),
        "found \"a name\", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"
    );
    let long = "x".repeat(33);
    assert_eq!(
        refused(&format!("flow.0.ack.name={long}")),
        format!("found \"{long}\", expected at most 32 characters")
    );
}

#[test]
fn the_canonical_form_keeps_the_names() {
    let scenario = read(SCENARIO, &["flow.0.congestion={ custom = \"mine\" }"]);
    let canonical = scenario.canonical_json();
    let transport = &canonical["flow"][0]["transport"];
    assert_eq!(transport["ack"], serde_json::json!({ "policy": "custom", "name": "mine" }));
    assert_eq!(transport["congestion"], serde_json::json!({ "algorithm": "custom", "name": "mine" }));
    assert_eq!(read(&canonical.to_string(), &[]).canonical_json(), canonical);
}
