//! Tables for Python: Arrow record batches that pyarrow, Polars and other libraries use without a
//! copy.

use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A record batch. Its methods and capsule names are defined by the Arrow PyCapsule interface
/// (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>). A capsule that
/// is not consumed releases its content.
#[pyclass(module = "acklab._core", frozen)]
pub(crate) struct Table(RecordBatch);

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self(batch)
    }
}

#[pymethods]
impl Table {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.0.schema()).map_err(not_exported)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the schema and the columns. A producer need not convert them to the schema that the
    /// consumer requests.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let (columns, _) = to_ffi(&StructArray::from(self.0.clone()).into_data()).map_err(not_exported)?;
        Ok((self.__arrow_c_schema__(py)?, PyCapsule::new_with_value(py, columns, c"arrow_array")?))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err passes it")]
fn not_exported(why: ArrowError) -> PyErr {
    PyRuntimeError::new_err(why.to_string())
}
