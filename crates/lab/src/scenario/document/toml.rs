//! Parses a document from TOML, the form of scenarios that people write.

use super::{Member, Node, Origin, SyntaxError, Value};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Parses a whole document.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            Ok(Node { origin: Origin::Text(Some(span)), value: from_table(table.into_inner())? })
        }
        Err(error) => Err(error.span().and_then(|span| bare_value(text, span.start)).unwrap_or_else(|| SyntaxError {
            span: error.span(),
            message: format!("this is not TOML: {}", error.message()),
        })),
    }
}

/// Parses a single TOML value, such as the one in `--set key=value`.
pub(in crate::scenario) fn parse_value(text: &str) -> Result<Value, String> {
    let value = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
    from_value(value.into_inner()).map_err(|error| error.message)
}

fn from_value(value: DeValue<'_>) -> Result<Value, SyntaxError> {
    let too_large = |text: &str| SyntaxError { span: None, message: format!("the number {text} is too large") };
    Ok(match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(value) => Value::Datetime(value.to_string()),
        DeValue::Integer(value) => {
            Value::Integer(i128::from_str_radix(value.as_str(), value.radix()).map_err(|_| too_large(value.as_str()))?)
        }
        DeValue::Float(value) => Value::Float(value.as_str().parse().map_err(|_| too_large(value.as_str()))?),
        DeValue::Array(array) => from_array(array)?,
        DeValue::Table(table) => from_table(table)?,
    })
}

fn from_spanned(value: Spanned<DeValue<'_>>) -> Result<Node, SyntaxError> {
    let span = value.span();
    match from_value(value.into_inner()) {
        Ok(value) => Ok(Node { origin: Origin::Text(Some(span)), value }),
        Err(error) => Err(SyntaxError { span: error.span.or(Some(span)), ..error }),
    }
}

fn from_array(array: DeArray<'_>) -> Result<Value, SyntaxError> {
    Ok(Value::Array(array.into_iter().map(from_spanned).collect::<Result<_, _>>()?))
}

fn from_table(table: DeTable<'_>) -> Result<Value, SyntaxError> {
    let mut members: Vec<_> = table.into_iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    let members = members.into_iter().map(|(key, value)| {
        let origin = Origin::Text(Some(key.span()));
        Ok((key.into_inner().into_owned(), Member::written(origin, from_spanned(value)?)))
    });
    Ok(Value::Table(members.collect::<Result<_, _>>()?))
}

/// Returns the error for two common faults for which the TOML parser has no clear message: text
/// without quotes, and a missing value.
fn bare_value(text: &str, fault: usize) -> Option<SyntaxError> {
    let line_start = text.get(..fault)?.rfind('\n').map_or(0, |newline| newline + 1);
    let start = line_start + text[line_start..fault].rfind('=')? + 1;
    let value = text[start..].split(['\n', ',', '}', ']', '#']).next().unwrap_or_default();
    let start = start + (value.len() - value.trim_start().len());
    let value = value.trim();
    let message = match value.chars().next() {
        None => "the value is missing".to_owned(),
        Some('"' | '\'' | '[' | '{') => return None,
        Some(_) if parse_value(value).is_ok() || value.contains('"') => return None,
        Some(_) => format!("found {value} without quotes, expected \"{value}\""),
    };
    Some(SyntaxError { span: Some(start..start + value.len()), message })
}
