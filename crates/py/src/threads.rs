//! Runs long work in a separate thread.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The interval of checks for Ctrl-C and for the end of the run.
const CHECK: Duration = Duration::from_millis(20);

/// Calls `work` in a separate thread. The function passed to `work` returns `false` if the work
/// must stop. This happens when `cancelled` is set, at Ctrl-C if `heeds_signals`, or when `look`
/// raises an exception. `look` is called repeatedly.
pub(crate) fn in_a_thread<T: Send>(
    py: Python<'_>,
    heeds_signals: bool,
    cancelled: &AtomicBool,
    work: impl FnOnce(&mut dyn FnMut() -> bool) -> T + Send,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
) -> PyResult<T> {
    let interrupted = AtomicBool::new(false);
    let mut raised = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let run = scope
                .spawn(|| work(&mut || !interrupted.load(Ordering::Relaxed) && !cancelled.load(Ordering::Relaxed)));
            while !run.is_finished() {
                std::thread::sleep(CHECK);
                if raised.is_none() {
                    let check = |py: Python<'_>| {
                        if heeds_signals {
                            py.check_signals()?;
                        }
                        look(py)
                    };
                    raised = Python::attach(check).err();
                    interrupted.store(raised.is_some(), Ordering::Relaxed);
                }
            }
            run.join()
        })
    });
    match raised {
        Some(raised) => Err(raised),
        None => Ok(outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
    }
}
