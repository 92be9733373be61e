//! A finding about a path, with its evidence.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A finding about a path: a value with the evidence that supports it, or the reason why it is not
/// known.
///
/// A finding always has this text. It serialises as the value, or as `null`; [`Statements`] contain
/// the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<T>(Result<(T, String), String>);

impl<T> Finding<T> {
    /// Creates a known value, with its evidence: the method and the numbers that support it.
    #[must_use]
    pub fn known(value: T, evidence: impl Into<String>) -> Self {
        Self(Ok((value, evidence.into())))
    }

    /// Creates the reason why a value is not known: what was found, and what was expected.
    #[must_use]
    pub fn not_known(reason: impl Into<String>) -> Self {
        Self(Err(reason.into()))
    }

    /// Returns the value, or `None` if it is not known.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        self.0.as_ref().ok().map(|(value, _)| value)
    }

    /// Returns the evidence of the value, or `None` if it is not known.
    #[must_use]
    pub fn evidence(&self) -> Option<&str> {
        self.0.as_ref().ok().map(|(_, evidence)| evidence.as_str())
    }

    /// Returns why the value is not known, or `None` if it is known.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }
}

impl<T: Serialize> Serialize for Finding<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// The texts of the findings of a direction, by quantity. Each quantity is in one of the two maps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statements {
    /// The evidence of each known value.
    pub evidence: BTreeMap<&'static str, String>,
    /// Why each other value is not known.
    pub not_known: BTreeMap<&'static str, String>,
}

impl Statements {
    /// Adds the text of the finding of `quantity`.
    pub(crate) fn add<T>(&mut self, quantity: &'static str, finding: &Finding<T>) {
        match &finding.0 {
            Ok((_, evidence)) => self.evidence.insert(quantity, evidence.clone()),
            Err(reason) => self.not_known.insert(quantity, reason.clone()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_is_known_or_not_known() {
        let mut statements = Statements::default();
        statements.add("rate", &Finding::known(12.0, "900 back-to-back pairs"));
        statements.add("controller", &Finding::<f64>::not_known("1 loss epoch, expected at least 5"));
        assert_eq!(statements.evidence.keys().collect::<Vec<_>>(), [&"rate"]);
        assert_eq!(statements.not_known.keys().collect::<Vec<_>>(), [&"controller"]);
    }
}
