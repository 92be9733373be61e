//! Typed tables with units.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::sync::Arc;

/// A named table of columns with units.
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
    /// Creates a table without columns.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    /// Adds a column of text. Null means unknown.
    #[must_use]
    pub fn text<T: Into<Option<String>>>(mut self, name: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.columns.push(Column { name, unit: "", values: Values::Text(values) });
        self
    }

    /// Adds a column of numbers in `unit`. A value that is not finite becomes null.
    #[must_use]
    pub fn number<T: Into<Option<f64>>>(
        mut self,
        name: &'static str,
        unit: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(|value| value.into().filter(|value| value.is_finite())).collect();
        self.columns.push(Column { name, unit, values: Values::Number(values) });
        self
    }

    /// Adds a column of counts in `unit`.
    #[must_use]
    pub fn count<T: Into<Option<u64>>>(
        mut self,
        name: &'static str,
        unit: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.columns.push(Column { name, unit, values: Values::Count(values) });
        self
    }

    /// Returns the name: `flows`, `links`, `network`, …
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Appends the rows of `other`.
    ///
    /// # Errors
    /// If `other` has other columns.
    pub fn append(&mut self, other: Self) -> Result<(), ArrowError> {
        let key = |column: &Column| (column.name, column.unit, std::mem::discriminant(&column.values));
        if !self.columns.iter().map(key).eq(other.columns.iter().map(key)) {
            return Err(ArrowError::SchemaError(format!("tables `{}` have different columns", self.name)));
        }
        for (column, below) in self.columns.iter_mut().zip(other.columns) {
            column.values.append(below.values);
        }
        Ok(())
    }

    /// Converts the table to Arrow. The metadata of each field contain the unit under the key
    /// `unit`. Values that could not be measured or are meaningless are null.
    ///
    /// # Errors
    /// If the columns differ in length. This is possible only for a table that the caller built.
    pub fn into_arrow(self) -> Result<RecordBatch, ArrowError> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.columns.into_iter().map(Column::into_arrow).unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Count(values) => values.len(),
        }
    }

    /// Adds values of the same kind.
    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Text(values), Self::Text(mut others)) => values.append(&mut others),
            (Self::Number(values), Self::Number(mut others)) => values.append(&mut others),
            (Self::Count(values), Self::Count(mut others)) => values.append(&mut others),
            _ => debug_assert!(false, "the kinds were compared before"),
        }
    }
}

impl Column {
    fn into_arrow(self) -> (Field, ArrayRef) {
        let (data_type, array): (_, ArrayRef) = match self.values {
            Values::Text(values) => (DataType::Utf8, Arc::new(StringArray::from(values))),
            Values::Number(values) => (DataType::Float64, Arc::new(Float64Array::from(values))),
            Values::Count(values) => (DataType::UInt64, Arc::new(UInt64Array::from(values))),
        };
        // All fields are nullable, so that the schema does not depend on the values and the tables
        // of many runs can be joined.
        let mut field = Field::new(self.name, data_type, true);
        if !self.unit.is_empty() {
            field.set_metadata([("unit".to_owned(), self.unit.to_owned())].into());
        }
        (field, array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(flow: &str, rate: f64) -> Table {
        Table::new("flows").text("flow", [flow.to_owned()]).number("rate", "Mbps", [rate])
    }

    #[test]
    fn rows_are_added_below() {
        let mut both = table("one", 1.0);
        both.append(table("two", f64::NAN)).unwrap();
        assert_eq!(both.rows(), 2);
        let twice = Table::new("flows").text("flow", ["one", "two"].map(str::to_owned)).number(
            "rate",
            "Mbps",
            [Some(1.0), None],
        );
        assert_eq!(both.into_arrow().unwrap(), twice.into_arrow().unwrap());
    }

    #[test]
    fn rows_of_other_columns_are_not_added() {
        let one = table("one", 1.0);
        for other in [
            Table::new("flows").text("flow", ["two".to_owned()]),
            Table::new("flows").text("flow", ["two".to_owned()]).number("rate", "kbps", [2.0]),
            Table::new("flows").text("flow", ["two".to_owned()]).count("rate", "Mbps", [2]),
        ] {
            assert!(one.clone().append(other).is_err());
        }
    }
}
