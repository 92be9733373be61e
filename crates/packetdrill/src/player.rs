//! Runs a script against a [`Stack`], as packetdrill's `run.c` does.

mod segments;

use crate::code::{Kind, Statement};
use crate::command_line::CommandLine;
use crate::comparison::{self, is_as_expected};
use crate::expression::NoValue;
use crate::names;
use crate::numbers::Numbers;
use crate::refusal::Refusal;
use crate::script::{Action, Call, Event, Packet, Script};
use crate::stack::{Answer, Departures, Stack};
use crate::time::Time;
use crate::tolerance::Tolerance;
use crate::verdict::{Failure, Verdict};
use acklab_base::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// The time for which the player continues to wait for a packet after its tolerance, so that a
/// report can include the packet's time.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time for which the player waits for a packet without a time. It is longer than any timer of
/// TCP.
const LONGEST: Duration = Duration::from_secs(600);

/// Runs `script` against `stack`.
pub fn play(script: &Script, stack: &mut dyn Stack) -> Verdict {
    let mut player = Player {
        stack,
        command_line: &script.command_line,
        numbers: Numbers::default(),
        left: Departures::new(),
        before: Instant::ZERO,
        is_anchored: false,
        blocking: None,
        written: 0,
        writes: BTreeSet::new(),
        variables: BTreeMap::new(),
        failures: Vec::new(),
    };
    match player.play(script) {
        Ok(()) | Err(End::Failed) if !player.failures.is_empty() => Verdict::Failed(player.failures),
        Ok(()) | Err(End::Failed) => Verdict::Passed,
        Err(End::Refused(refusal)) => refusal.into(),
    }
}

/// The reasons why a script ends before its last event.
enum End {
    /// A packet, call or time differed, so later ones would also differ.
    Failed,
    Refused(Refusal),
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A call that blocks.
struct Blocking<'a> {
    line: usize,
    call: &'a Call,
    /// The time at which the call is expected to end.
    until: Instant,
}

struct Player<'a> {
    stack: &'a mut dyn Stack,
    command_line: &'a CommandLine,
    numbers: Numbers,
    left: Departures,
    /// The scripted time of the previous event.
    before: Instant,
    /// `true` if the previous event was an arriving packet: times of successive arrivals are
    /// relative to each other.
    is_anchored: bool,
    blocking: Option<Blocking<'a>>,
    /// Octets written by the calls that have returned, and the offsets of the ends of these writes.
    written: u64,
    writes: BTreeSet<u64>,
    /// Variables set by the statements of the script.
    variables: BTreeMap<String, i64>,
    failures: Vec<Failure>,
}

impl<'a> Player<'a> {
    fn play(&mut self, script: &'a Script) -> Result<(), End> {
        for order in &script.setup {
            self.stack.set(order)?;
        }
        for event in &script.events {
            self.event(event)?;
        }
        self.end_blocking()
    }

    fn event(&mut self, event: &'a Event) -> Result<(), End> {
        let arrives = matches!(event.action, Action::Arrives(_));
        let base = match event.time {
            Time::At { is_relative: true, .. } if arrives && self.is_anchored => self.before,
            Time::At { is_relative: false, .. } => Instant::ZERO,
            Time::At { .. } | Time::Any => self.stack.now(),
        };
        let (start, end) = match event.time {
            Time::Any => (base, base + LONGEST),
            Time::At { start, end, .. } => (base + start, base + end.unwrap_or(start)),
        };
        let tolerated = self.command_line.tolerance.of(start.since(self.before));
        if let Action::Leaves(packet) = &event.action {
            self.leaves(event, packet, start, end, tolerated)?;
        } else {
            if matches!(event.action, Action::Calls(_)) {
                // Calls use one thread, so a blocking call must end before the next call.
                self.end_blocking()?;
            }
            self.wait(start)?;
            let now = self.stack.now();
            if !Tolerance::holds(tolerated, start, end, now) {
                return self.fail(
                    event.line,
                    format!("this at {}", shown(start)),
                    format!("that it is {} already", shown(now)),
                );
            }
            match &event.action {
                Action::Arrives(packet) => self.arrives(event.line, packet)?,
                Action::Calls(call) => self.calls(event.line, call, base)?,
                Action::Sets(orders) => orders.iter().try_for_each(|order| self.stack.set(order))?,
                Action::Runs(statements) => statements.iter().try_for_each(|statement| self.run(statement))?,
                Action::Leaves(_) => {}
            }
        }
        (self.before, self.is_anchored) = (start, arrives);
        Ok(())
    }

    fn fail(&mut self, line: usize, expected: String, found: String) -> Result<(), End> {
        self.failures.push(Failure { line, expected, found });
        Err(End::Failed)
    }

    /// Advances time to `until`. Sent packets are stored for their events.
    fn wait(&mut self, until: Instant) -> Result<(), End> {
        while self.stack.now() < until {
            self.step(until)?;
        }
        self.check_blocking()
    }

    /// Advances time to `until`, or until a packet is sent or a call ends.
    fn step(&mut self, until: Instant) -> Result<(), End> {
        let mut left = Departures::new();
        self.stack.pass(until, &mut left);
        self.left.append(&mut left);
        self.check_blocking()
    }

    fn arrives(&mut self, line: usize, packet: &Packet) -> Result<(), End> {
        let Some(segment) = self.numbers.arriving(packet, self.command_line.scales_echoes) else {
            let message =
                "found an echoed timestamp that no packet of the script has had, expected one, or --tcp_ts_ecr_scaled";
            return Err(Refusal::malformed(line, message).into());
        };
        self.stack.inject(segment, &mut self.left);
        self.note_initial();
        self.check_blocking()
    }

    /// Reads the initial sequence number as soon as it is known, because the numbers of arriving
    /// packets depend on sent ones.
    fn note_initial(&mut self) {
        if let Some((_, segment)) = self.left.back() {
            self.numbers.note_initial(segment);
        }
    }

    fn leaves(
        &mut self,
        event: &Event,
        expected: &Packet,
        start: Instant,
        end: Instant,
        tolerated: Duration,
    ) -> Result<(), End> {
        let line = event.line;
        let wanted = |at: String| format!("{expected} at {at}");
        let range = || if end == start { shown(start) } else { format!("{} to {}", shown(start), shown(end)) };
        let time = if event.time == Time::Any { "any time".to_owned() } else { range() };
        let limit = end + tolerated + PATIENCE;
        while self.left.is_empty() && self.stack.now() < limit {
            self.step(limit)?;
        }
        let Some((at, found)) = self.gather(expected) else {
            return self.fail(line, wanted(time), "nothing".to_owned());
        };
        let timestamps = comparison::Timestamps {
            tick: self.command_line.timestamp_tick,
            tolerated: self.command_line.tolerance.of(start.since(Instant::ZERO)),
        };
        let is_in_time = event.time == Time::Any || Tolerance::holds(tolerated, start, end, at);
        if !is_in_time || !is_as_expected(expected, &found, timestamps) {
            return self.fail(line, wanted(time), format!("{} at {}", as_specified(expected, &found), shown(at)));
        }
        Ok(())
    }

    fn calls(&mut self, line: usize, call: &'a Call, base: Instant) -> Result<(), End> {
        self.stack.begin(line, call, &mut self.left)?;
        self.note_initial();
        let until = call.until.map(|until| base + until);
        self.blocking = Some(Blocking { line, call, until: until.unwrap_or(self.stack.now()) });
        self.check_blocking()?;
        if self.blocking.is_some() && until.is_none() {
            return self.fail(line, format!("{} to return at once", call.name), "that it blocks".to_owned());
        }
        Ok(())
    }

    /// Checks the blocking call if it has ended.
    fn check_blocking(&mut self) -> Result<(), End> {
        let Some((at, answer)) = self.stack.ended() else { return Ok(()) };
        let Some(Blocking { line, call, until }) = self.blocking.take() else { return Ok(()) };
        self.note_write(call, &answer);
        if !is_expected(call, &answer) {
            return self.fail(line, format!("{} = {}", call.name, result(call)), answer_text(&answer));
        }
        if !Tolerance::holds(self.command_line.tolerance.least, until, until, at) {
            let expected = format!("{} to return at {}", call.name, shown(until));
            return self.fail(line, expected, format!("that it returns at {}", shown(at)));
        }
        Ok(())
    }

    fn note_write(&mut self, call: &Call, answer: &Answer) {
        if let Answer::Returns(octets @ 1..) = answer
            && call.writes()
        {
            self.written += octets.unsigned_abs();
            self.writes.insert(self.written);
        }
    }

    /// Waits for the blocking call, if there is one.
    fn end_blocking(&mut self) -> Result<(), End> {
        let Some(Blocking { line, call, until }) = &self.blocking else { return Ok(()) };
        let (line, name, until) = (*line, call.name.clone(), *until);
        let limit = until + self.command_line.tolerance.least + PATIENCE;
        while self.blocking.is_some() && self.stack.now() < limit {
            self.step(limit)?;
        }
        if self.blocking.is_some() {
            return self.fail(line, format!("{name} to return at {}", shown(until)), "that it blocks".to_owned());
        }
        Ok(())
    }

    fn run(&mut self, statement: &Statement) -> Result<(), End> {
        let info = |name: &str| {
            self.variables.get(name).copied().or_else(|| names::number(name)).or_else(|| self.stack.info(name))
        };
        let outside = |why: NoValue| Refusal::out_of_scope(statement.line, why.to_string());
        match &statement.kind {
            Kind::Assign(name, value) => {
                let value = value.value(&info).map_err(outside)?;
                self.variables.insert(name.clone(), value);
            }
            Kind::Assert(expression) => {
                if expression.value(&info).map_err(outside)? == 0 {
                    let mut found = Vec::new();
                    expression.each_name(&mut |name| {
                        let shown = info(name).map(|value| format!("{name} = {value}"));
                        if names::number(name).is_none() && shown.is_some() {
                            found.extend(shown);
                        }
                    });
                    found.dedup();
                    let (expected, found) = (statement.text.clone(), found.join(", "));
                    self.failures.push(Failure { line: statement.line, expected, found });
                }
            }
        }
        Ok(())
    }
}

/// Returns `found` without the fields that `expected` does not specify, so that both print in the
/// same way.
fn as_specified(expected: &Packet, found: &Packet) -> Packet {
    let mut compared = found.clone();
    compared.window = expected.window.and(found.window);
    if expected.ecn == crate::script::Mark::Unspecified {
        compared.ecn = expected.ecn;
    }
    if expected.options.is_none() {
        compared.options = None;
    }
    compared
}

fn is_expected(call: &Call, answer: &Answer) -> bool {
    match (call.result, answer) {
        (None, _) => true,
        (Some(expected), Answer::Returns(number)) => expected == *number && call.error.is_none(),
        (Some(expected), Answer::Fails(error)) => {
            expected == -1 && call.error.as_ref().is_none_or(|name| name == error)
        }
    }
}

fn result(call: &Call) -> String {
    let number = call.result.map_or_else(|| "...".to_owned(), |number| number.to_string());
    call.error.as_ref().map_or_else(|| number.clone(), |error| format!("{number} {error}"))
}

fn answer_text(answer: &Answer) -> String {
    match answer {
        Answer::Returns(number) => number.to_string(),
        Answer::Fails(error) => format!("-1 {error}"),
    }
}

fn shown(at: Instant) -> String {
    format!("{} s", (at.as_secs_f64() * 1e6).round() / 1e6)
}
