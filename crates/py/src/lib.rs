//! The Python module `acklab._core`: it passes text in and tables out, and owns no behaviour of its own.
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
/// x
#[pyfunction]
fn id(batch: PyRecordBatch) -> PyRecordBatch { batch }
/// The core.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::id;
}
