//! The log lines of a tool. Clients cause most lines, so the rate of each kind is limited. A flood
//! of clients therefore neither fills a disk nor hides lines of other kinds.

use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// The maximum number of lines of a kind per period. Chosen: the number that a person can read.
const MAX_LINES: u32 = 30;
const PERIOD: Duration = Duration::from_secs(60);

/// The subject of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The tool itself, which logs few lines.
    Tool,
    /// A client that was refused, or does not speak the protocol.
    Refused,
    /// A target that was not reached.
    Target,
    /// A measurement that has ended.
    Measured,
}

const LIMITED: [(Kind, &str); 3] = [
    (Kind::Refused, "clients that were refused or spoke something else"),
    (Kind::Target, "targets that were not reached"),
    (Kind::Measured, "measurements"),
];

/// Lines of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    /// The end of the present period. A period begins with a line.
    until: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl Limit {
    /// Returns `true` if a line may be logged now.
    fn passes(&mut self, now: Instant) -> bool {
        self.until.get_or_insert(now + PERIOD);
        self.lines += 1;
        let passes = self.lines <= MAX_LINES;
        if !passes {
            self.lines = MAX_LINES;
            self.left_out += 1;
        }
        passes
    }

    /// Ends the period if its time has passed. Returns the number of lines that were suppressed in
    /// it, if any.
    fn expire(&mut self, now: Instant) -> Option<u64> {
        if self.until.is_none_or(|until| now < until) {
            return None;
        }
        let left_out = self.left_out;
        *self = Self::default();
        (left_out > 0).then_some(left_out)
    }
}

/// Accepts lines. Lines are dropped if their reader no longer exists.
#[derive(Clone, Debug)]
pub(crate) struct Lines(UnboundedSender<(Kind, String)>);

impl Lines {
    pub(crate) fn tell(&self, kind: Kind, line: String) {
        _ = self.0.send((kind, line));
    }
}

/// The lines within the limits.
#[derive(Debug)]
pub(crate) struct Log {
    lines: UnboundedReceiver<(Kind, String)>,
    limits: [Limit; LIMITED.len()],
}

impl Log {
    pub(crate) fn new() -> (Lines, Self) {
        let (to, lines) = unbounded_channel();
        (Lines(to), Self { lines, limits: Default::default() })
    }

    fn passes(&mut self, kind: Kind) -> bool {
        let place = LIMITED.iter().position(|(limited, _)| *limited == kind);
        place.is_none_or(|place| self.limits[place].passes(Instant::now()))
    }

    /// Returns the next line. No line is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> String {
        loop {
            let now = Instant::now();
            let mut expired =
                self.limits.iter_mut().zip(LIMITED).filter_map(|(limit, (_, text))| Some((limit.expire(now)?, text)));
            if let Some((left_out, text)) = expired.next() {
                return format!("{left_out} more lines in {} s: {text}", PERIOD.as_secs());
            }
            let end = self.limits.iter().filter_map(|limit| limit.until).min();
            let ends = async {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // While no line arrives, no line is logged.
                Some((kind, line)) = self.lines.recv() => if self.passes(kind) {
                    return line;
                },
                () = ends => {}
            }
        }
    }

    /// Returns the remaining lines when the tool ends.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        let mut rest = Vec::new();
        while let Ok((kind, line)) = self.lines.try_recv() {
            if self.passes(kind) {
                rest.push(line);
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_a_limit_and_then_a_count_of_the_rest() {
        let (mut limit, start) = (Limit::default(), Instant::now());
        let passed = (0..1000).filter(|_| limit.passes(start)).count();
        assert_eq!(passed, MAX_LINES as usize);
        assert_eq!((limit.expire(start), limit.expire(start + PERIOD)), (None, Some(970)));
        assert!(limit.passes(start + PERIOD), "another period");
        assert_eq!(limit.expire(start + PERIOD * 2), None, "nothing was left out");
    }

    #[test]
    fn a_flood_of_one_kind_hides_no_other() {
        let (lines, mut log) = Log::new();
        (0..1000).for_each(|number| lines.tell(Kind::Refused, number.to_string()));
        lines.tell(Kind::Target, "target".to_owned());
        lines.tell(Kind::Tool, "tool".to_owned());
        let expected: Vec<_> =
            (0..MAX_LINES).map(|number| number.to_string()).chain(["target".into(), "tool".into()]).collect();
        assert_eq!(log.rest(), expected);
    }
}
