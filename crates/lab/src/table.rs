//! Typed tables with units.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::sync::Arc;

/// A named table whose columns know their units.
#[derive(Clone, Debug)]
pub struct Table {
    name: &'static str,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: &'static str,
    unit: &'static str,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    Text(Vec<Option<String>>),
    Number(Vec<Option<f64>>),
    Count(Vec<Option<u64>>),
}

impl Table {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    pub(crate) fn text<T: Into<Option<String>>>(
        mut self,
        name: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.columns.push(Column { name, unit: "", values: Values::Text(values) });
        self
    }

    pub(crate) fn number<T: Into<Option<f64>>>(
        mut self,
        name: &'static str,
        unit: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(|value| value.into().filter(|value| value.is_finite())).collect();
        self.columns.push(Column { name, unit, values: Values::Number(values) });
        self
    }

    pub(crate) fn count<T: Into<Option<u64>>>(
        mut self,
        name: &'static str,
        unit: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.columns.push(Column { name, unit, values: Values::Count(values) });
        self
    }

    /// Its name: `flows`, `links`, `network`, …
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The table as Arrow, the unit of each column in its field's metadata under `unit`. What could not be measured, or has no meaning, is null.
    ///
    /// # Errors
    /// If its columns differ in length, which would be a fault of the lab.
    pub fn into_arrow(self) -> Result<RecordBatch, ArrowError> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.columns.into_iter().map(Column::into_arrow).unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

impl Column {
    fn into_arrow(self) -> (Field, ArrayRef) {
        let (data_type, array): (_, ArrayRef) = match self.values {
            Values::Text(values) => (DataType::Utf8, Arc::new(StringArray::from(values))),
            Values::Number(values) => (DataType::Float64, Arc::new(Float64Array::from(values))),
            Values::Count(values) => (DataType::UInt64, Arc::new(UInt64Array::from(values))),
        };
        // The schema of a table is the same whatever its values, so that the tables of many runs fit together.
        let mut field = Field::new(self.name, data_type, true);
        if !self.unit.is_empty() {
            field.set_metadata([("unit".to_owned(), self.unit.to_owned())].into());
        }
        (field, array)
    }
}
