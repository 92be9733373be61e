//! Stops a tool in two phases. In the first, the tool begins no new work. In the second, unfinished
//! work is ended.

use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The interval between checks whether a tool must stop.
const CHECK: Duration = Duration::from_millis(50);

/// The phase of a tool's stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Running,
    Draining,
    Over,
}

/// Shows whether a tool must stop. Clones share the state.
#[derive(Clone, Debug)]
pub struct Stop {
    phase: watch::Receiver<Phase>,
    drain: Duration,
}

/// Stops all tasks that hold the [`Stop`].
#[derive(Debug)]
pub(crate) struct Stopper {
    phase: watch::Sender<Phase>,
}

impl Stopper {
    /// Creates a stop. Unfinished transfers have the time `drain` to finish.
    pub(crate) fn new(drain: Duration) -> (Self, Stop) {
        let (sender, receiver) = watch::channel(Phase::Running);
        (Self { phase: sender }, Stop { phase: receiver, drain })
    }

    /// Prevents new work.
    pub(crate) fn drain(&self) {
        self.phase.send_replace(Phase::Draining);
    }

    /// Ends all work immediately.
    pub(crate) fn end(&self) {
        self.phase.send_replace(Phase::Over);
    }

    /// Stops the tool according to `demands`, the number of requests to stop. After the first
    /// request, unfinished transfers have the time `drain`. The second request ends them. Returns
    /// once all work should have ended.
    pub(super) async fn heed(&self, drain: Duration, mut demands: impl FnMut() -> u32) {
        while demands() == 0 {
            tokio::time::sleep(CHECK).await;
        }
        self.drain();
        let until = Instant::now() + drain;
        while demands() < 2 && Instant::now() < until {
            tokio::time::sleep_until(until.min(Instant::now() + CHECK)).await;
        }
        self.end();
    }
}

impl Stop {
    /// Returns `true` if no new work may begin.
    pub(crate) fn has_begun(&self) -> bool {
        *self.phase.borrow() >= Phase::Draining
    }

    /// Returns the time for unfinished transfers after the first request.
    pub(crate) const fn drain(&self) -> Duration {
        self.drain
    }

    /// Waits until no new work may begin.
    pub(crate) async fn begun(&self) {
        self.reaches(Phase::Draining).await;
    }

    /// Waits until all work must end immediately.
    pub(crate) async fn over(&self) {
        self.reaches(Phase::Over).await;
    }

    async fn reaches(&self, least: Phase) {
        // The call fails if the stopper was dropped. The runtime is then about to end.
        _ = self.phase.clone().wait_for(|phase| *phase >= least).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time from the start to each phase. The first request comes immediately, the
    /// second after `second`.
    fn phases(drain: Duration, second: Duration) -> [Duration; 2] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (stopper, stop) = Stopper::new(drain);
            let start = Instant::now();
            let watch = async {
                stop.begun().await;
                assert!(stop.has_begun());
                let begun = start.elapsed();
                stop.over().await;
                [begun, start.elapsed()]
            };
            let demands = || if start.elapsed() < second { 1 } else { 2 };
            tokio::join!(stopper.heed(drain, demands), watch).1
        })
    }

    #[test]
    fn a_second_demand_or_the_end_of_the_time_ends_what_drains() {
        let [short, long] = [Duration::from_millis(200), Duration::from_secs(60)];
        assert!(phases(Duration::ZERO, long)[1] < long, "at once");
        let [begun, over] = phases(short, long);
        assert!(begun < short && (short..long).contains(&over), "after the time: {begun:?}, {over:?}");
        let [begun, over] = phases(long, short);
        assert!(begun < short && (short..long).contains(&over), "at the second demand: {begun:?}, {over:?}");
    }
}
