//! The settings of a transport at the two ends of a flow.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The key of the settings of the end at `to`.
const PEER: &str = "peer";
/// The description of the key `peer` in the schema.
const DESCRIPTION: &str = "The settings of the end at `to`, if they differ from those of the end at `from`. What is left out follows from \
                           their own preset.";

/// The settings of the two ends of a flow. `peer` is present if the settings differ:
/// `{ preset = "chrome", peer = { preset = "neqo" } }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends<S> {
    /// The settings of the end at `from`. Without `peer`, the settings of both ends.
    pub from: S,
    /// The settings of the end at `to`. `None` if both ends have the same settings.
    pub peer: Option<S>,
}

impl<S> Ends<S> {
    /// Returns the settings of the end at `to`.
    #[must_use]
    pub const fn to(&self) -> &S {
        match &self.peer {
            Some(peer) => peer,
            None => &self.from,
        }
    }

    /// Returns the settings of both ends. The settings of the end at `from` come first.
    #[must_use]
    pub const fn both(&self) -> [&S; 2] {
        [&self.from, self.to()]
    }

    /// Applies `change` to the settings of both ends.
    pub(crate) fn map(&self, change: impl Fn(&S) -> S) -> Self {
        Self { from: change(&self.from), peer: self.peer.as_ref().map(change) }
    }
}

impl<S: Serialize> Serialize for Ends<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let table = |settings: &S| serde_json::to_value(settings).map_err(serde::ser::Error::custom);
        let mut settings = table(&self.from)?;
        if let Some(peer) = &self.peer {
            settings[PEER] = table(peer)?;
        }
        settings.serialize(serializer)
    }
}

impl<'de, S: DeserializeOwned> Deserialize<'de> for Ends<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = Map::deserialize(deserializer)?;
        let peer = settings.remove(PEER);
        let read = |table: Value| serde_json::from_value(table).map_err(D::Error::custom);
        Ok(Self { peer: peer.map(read).transpose()?, from: read(Value::Object(settings))? })
    }
}

impl<S: JsonSchema> JsonSchema for Ends<S> {
    fn schema_name() -> Cow<'static, str> {
        format!("Ends_of_{}", S::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = S::json_schema(generator);
        let mut peer = S::json_schema(generator);
        peer.insert("description".to_owned(), DESCRIPTION.into());
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert(PEER.to_owned(), peer.to_value());
        }
        schema
    }
}
