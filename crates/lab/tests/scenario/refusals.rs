//! The messages about invalid scenarios, with their positions.

mod impossible;
mod nodes;
mod values;

use super::{FULL, NAME, edited, read};
use crate::common::names::quoted;
use acklab_lab::scenario::load;
use acklab_transport::ack;

/// The text that is replaced, its replacement, and the message. `«` and `»` enclose the position
/// that the message underlines.
type Case<'a> = (&'a str, &'a str, &'a str);

fn check(cases: &[Case<'_>]) {
    for (what, with, message) in cases {
        check_marked(&edited(what, with), message);
    }
}

fn check_marked(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').expect("a mark");
    let (underlined, after) = rest.split_once('»').expect("a second mark");
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    let refusal = read(&format!("{before}{underlined}{after}"), &[]).expect_err(message).to_string();
    let mut lines = refusal.lines();
    assert_eq!(lines.next(), Some(&*format!("{NAME}:{line}:{column}: {message}")));
    let carets = format!("| {}{}", " ".repeat(column - 1), "^".repeat(underlined.chars().count()));
    assert!(lines.nth(2).is_some_and(|line| line.ends_with(&carets)), "{refusal}\nshould underline {underlined}");
}

#[test]
fn unknown_and_missing_keys() {
    check(&[
        // Loss, jitter and traffic use the same key for their model.
        (
            r#"jitter = { model = "normal", mean = "1ms", deviation = "200us" }"#,
            r#"«jitter» = { distribution = "normal", mean = "1ms", deviation = "200us" }"#,
            r#"link.0.reverse.jitter: the key `model` is missing; expected one of "uniform", "exponential", "normal""#,
        ),
        (
            r#"interval = "5ms""#,
            r#"«intervall» = "5ms""#,
            "link.0.reverse.gate.intervall: unknown key; did you mean `interval`?",
        ),
        (r#"growth = "per-ack""#, r#"«colour» = "red""#, "flow.0.colour: unknown key"),
        ("seed = 42", "seed = 42\n«durration» = \"3s\"", "durration: unknown key; did you mean `duration`?"),
        ("segments = 3", "«segmets» = 3", "flow.0.ack.segmets: unknown key; did you mean `segments`?"),
        ("[link.reverse]", "[link.«revers»]", "link.0.revers: unknown key; did you mean `reverse`?"),
        ("count = 3", r#"«"co.unt"» = 3"#, "flow.0.co.unt: unknown key; did you mean `count`?"),
    ]);
}

#[test]
fn times() {
    check(&[
        (
            r#"from = "1s""#,
            r#"from = «"15s"»"#,
            r#"measure.from: found "15s", expected a time before the run's end at 15s"#,
        ),
        (
            r#"until = "14.5s""#,
            r#"until = «"15.1s"»"#,
            r#"measure.until: found "15.1s", expected a time up to the run's end at 15s"#,
        ),
        (
            r#"until = "14.5s""#,
            r#"until = «"1s"»"#,
            r#"measure.until: found "1s", expected a time after measure.from, which is 1s"#,
        ),
        (r#"bin = "100ms""#, r#"bin = «"0s"»"#, r#"measure.bin: found "0s", expected a duration above zero"#),
        (
            r#"bin = "100ms""#,
            r#"bin = «"1ns"»"#,
            r#"measure.bin: found "1ns", expected longer bins, so that the window of measurement has at most 10000000"#,
        ),
        (
            r#"start = "100ms""#,
            r#"start = «"15s"»"#,
            r#"flow.1.start: found "15s", expected a time before the run's end at 15s"#,
        ),
        (
            r#"start = "100ms""#,
            "start = \"100ms\"\nstop = «\"100ms\"»",
            r#"flow.1.stop: found "100ms", expected a time after `start`, which is 100ms"#,
        ),
        (
            r#"spacing = "1s""#,
            r#"spacing = «"8s"»"#,
            "flow.0.spacing: the last of 3 flows would start at 16s, after the run's end at 15s",
        ),
        (
            r#"stop = "14s""#,
            r#"stop = «"2s"»"#,
            r#"flow.0.stop: found "2s", expected a time after the start of the last flow at 2s"#,
        ),
    ]);
}

/// A missing key has no position, so the message shows that of its table.
#[test]
fn missing_keys_are_named() {
    let built_in: Vec<ack::PolicyConfig> = ack::PolicyConfig::built_in().collect();
    let policies = quoted(built_in.iter().map(ack::PolicyConfig::name));
    let no_policy = format!("flow.0.ack: the key `policy` is missing; expected one of {policies}, \"custom\"");
    let cases = [
        (
            "preset = \"linux\"\n",
            "",
            "[[flow]]\nfrom",
            "flow.1: the key `preset` is missing; expected preset = \"linux\", for example",
        ),
        (
            ", quota = 10",
            "",
            "gate",
            "link.0.reverse.gate: the key `quota` is missing; expected quota = 10, for example",
        ),
        ("policy = \"delayed\", ", "", "ack = {", &*no_policy),
        (
            ", size = \"3MB\"",
            "",
            "traffic",
            "flow.0.traffic: the key `size` is missing, which model = \"fixed\" needs; expected size = \"1448B\", for example",
        ),
    ];
    for (what, with, place, message) in cases {
        let text = edited(what, with);
        let at = text.find(place).expect(place);
        let line = text[..at].matches('\n').count() + 1;
        let refusal = read(&text, &[]).expect_err(message).to_string();
        assert!(
            refusal.starts_with(&format!("{NAME}:{line}:1: {message}\n")),
            "{refusal}\nexpected line {line}: {message}"
        );
    }
    let whole = |text: &str| read(text, &[]).expect_err(text).to_string();
    assert_eq!(whole(""), format!("{NAME}: the key `duration` is missing; expected duration = \"15s\", for example"));
    assert_eq!(
        whole(&FULL[..FULL.find("[[link]]").unwrap()]),
        format!("{NAME}: the key `flow` is missing; expected at least one table [[flow]]")
    );
    assert_eq!(
        whole("duration = \"1s\"\nseed = 1\nlink = []\nflow = []"),
        format!("{NAME}:3:8: link: expected at least one link or Wi-Fi cell\n  |\n3 | link = []\n  |        ^^")
    );
}

#[test]
fn texts_that_are_not_toml() {
    check(&[
        ("rate = \"16Mbps\"", "rate = «16Mbps»", "found 16Mbps without quotes, expected \"16Mbps\""),
        ("model = \"poisson\"", "model = «poisson»", "found poisson without quotes, expected \"poisson\""),
        ("delay = \"7.5ms\"", "delay = «7.5 ms»   # both ways", "found 7.5 ms without quotes, expected \"7.5 ms\""),
        ("seed = 42", "seed = 42\n«seed» = 43", "this is not TOML: duplicate key"),
    ]);
    let refusal = read(&edited("seed = 42", "seed ="), &[]).unwrap_err();
    assert_eq!((refusal.place(), refusal.message()), ("studies/x.toml:4:7", "the value is missing"));
    let refusal = read(&edited("[[flow]]\nname", "[[flow\nname"), &[]).unwrap_err();
    assert!(refusal.message().starts_with("this is not TOML: "), "{refusal}");
}

#[test]
fn json_is_refused_by_path() {
    let json = |seed: &str| format!("{{\"duration\": \"1s\",\n \"seed\": {seed}}}");
    let refusal = |text: &str| load(text, "scenario", &[], None).unwrap_err().to_string();
    assert_eq!(refusal(&json("\"x\"")), "scenario: the key `flow` is missing; expected at least one table [[flow]]");
    assert_eq!(
        refusal(&json("1, \"link\": [{\"name\": 3}], \"flow\": []")),
        "scenario: link.0: the key `from` is missing; expected from = \"r1\", for example"
    );
    assert_eq!(
        refusal(&json("1, \"seed\": 2")),
        "scenario:2:22: this is not JSON: the key `seed` is given twice\n  |\n2 |  \"seed\": 1, \"seed\": 2}\n  |                      ^"
    );
    assert_eq!(
        refusal(&json("1,")),
        "scenario:2:12: this is not JSON: trailing comma\n  |\n2 |  \"seed\": 1,}\n  |            ^"
    );
    assert!(refusal(&format!("{{\"a\":{}", "[".repeat(100_000))).contains("recursion limit exceeded"));
}

#[test]
fn the_name_of_a_file_says_that_it_is_json() {
    let refusal = |text: &str, name: &str| load(text, name, &[], None).unwrap_err();
    assert!(refusal("[1, 2]", "x.json").to_string().starts_with("x.json: found a list of 2, expected a table"));
    assert_eq!(refusal("duration = 1", "x.JSON").message(), "this is not JSON: expected value");
    assert_eq!(refusal("", "x.json").place(), "x.json:1:1");
    assert!(refusal("[1, 2]", "x.toml").message().starts_with("this is not TOML: "));
}

#[test]
fn the_whole_message() {
    let refusal = read(&edited("interval = \"5ms\"", "intervall = \"5ms\""), &[]).unwrap_err();
    let expected = r#"
studies/x.toml:24:10: link.0.reverse.gate.intervall: unknown key; did you mean `interval`?
   |
24 | gate = { intervall = "5ms", quota = 10 }
   |          ^^^^^^^^^
   = known keys: interval, quota"#;
    assert_eq!(refusal.to_string(), expected.trim_start());
    assert_eq!(refusal.path(), "link.0.reverse.gate.intervall");
}

/// A scenario may come from an untrusted source, and control characters change the state of a
/// terminal.
#[test]
fn no_control_characters_reach_the_terminal() {
    let refusal =
        read(&edited("seed = 42", "seed = \"\u{85}\\u001b[31m\"\n\"\\u001b[2J\" = 1"), &["title=\u{1b}[31m\n"]);
    let message = refusal.unwrap_err().to_string();
    assert!(message.chars().all(|character| !character.is_control() || character == '\n'), "{message:?}");
}

#[test]
fn marks_and_those_who_need_them() {
    check(&[
        (
            "congestion = \"newreno\"\ngrowth = \"per-ack\"\necn = \"accurate\"",
            "congestion = \"dctcp\"\necn = «\"classic\"»",
            r#"flow.0.ecn: "dctcp" needs to know how much was marked: expected "dctcp" or "accurate", found "classic""#,
        ),
        (
            "ecn = \"accurate\"",
            "ecn = \"classic\"\necn_option = «true»",
            r#"flow.0.ecn_option: only `ecn = "accurate"` has an option, and `ecn` is "classic""#,
        ),
        (
            r#"queue = { discipline = "fifo", limit = "20packets" }"#,
            r#"queue = { discipline = "codel", target = «"0ms"» }"#,
            r#"link.0.forward.queue.target: found "0ms", expected a duration above zero"#,
        ),
        (
            r#"queue = { discipline = "fifo", limit = "20packets" }"#,
            r#"queue = { discipline = "codel", interval = «"0ms"» }"#,
            r#"link.0.forward.queue.interval: found "0ms", expected a duration above zero"#,
        ),
    ]);
    let asked = read(FULL, &["flow.0.congestion=dctcp", "flow.0.ecn="]).unwrap();
    assert_eq!(asked.flow[0].tcp().unwrap().ecn, acklab_transport::tcp::ecn::EcnConfig::Dctcp, "it asks by itself");
}
