//! A token that stops runs from another thread.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A token that stops all runs to which it was passed.
#[pyclass(module = "acklab._core", frozen)]
#[derive(Default)]
pub(crate) struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the runs. This cannot be undone.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns `true` once `cancel` has been called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}
