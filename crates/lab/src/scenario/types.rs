//! The types of the language. Documents are checked against them.
//!
//! The types are represented by a JSON Schema with a definition for each type. Uses of a type refer
//! to its definition. Each process that loads a scenario generates this schema once. Generating it
//! takes a sixth of the time of the schema for editors, which repeats a type at each use.

use super::document::{Table, Value};
use serde_json::{Map, Value as Json};

/// The schema keyword that names the [shorthand](super::shorthand) of a tagged table: `"name"` or
/// `"flat"`.
pub(super) const SHORTHAND: &str = "x-acklab-shorthand";
/// The schema keyword for the aliases of a variant's name.
pub(super) const ALIASES: &str = "x-acklab-aliases";

/// A type: the keywords of a schema, and the keywords of the definition to which it refers.
#[derive(Clone, Copy)]
pub(super) struct Type<'a> {
    schema: &'a Json,
    definition: Option<&'a Json>,
    /// The definitions to which the schema and its parts refer.
    definitions: Option<&'a Json>,
}

impl<'a> Type<'a> {
    /// Returns the type of this whole schema, with its definitions.
    pub(super) fn new(schema: &'a Json) -> Self {
        Self::within(schema, schema.get("$defs"))
    }

    /// Returns the type of a part of this schema.
    pub(super) fn part(self, schema: &'a Json) -> Self {
        Self::within(schema, self.definitions)
    }

    fn within(schema: &'a Json, definitions: Option<&'a Json>) -> Self {
        let reference = schema.get("$ref").and_then(Json::as_str);
        let definition = reference.and_then(|reference| definitions?.get(reference.strip_prefix("#/$defs/")?));
        Self { schema, definition, definitions }
    }

    /// Returns the value of a keyword.
    pub(super) fn get(self, keyword: &str) -> Option<&'a Json> {
        self.schema.get(keyword).or_else(|| self.definition?.get(keyword))
    }

    pub(super) fn text(self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    /// Returns the keys of a table.
    pub(super) fn properties(self) -> Option<&'a Map<String, Json>> {
        self.get("properties")?.as_object()
    }

    /// Returns the type of the value of `key`.
    pub(super) fn property(self, key: &str) -> Option<Self> {
        self.properties()?.get(key).map(|schema| self.part(schema))
    }

    pub(super) fn knows(self, key: &str) -> bool {
        self.properties().is_some_and(|known| known.contains_key(key))
    }

    /// Returns the type of the entries of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.get("items").map(|schema| self.part(schema))
    }

    /// Returns the keys that a table must have.
    pub(super) fn required(self) -> impl Iterator<Item = &'a str> {
        self.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }

    /// Returns `true` if a table may have keys that the schema does not list.
    pub(super) fn is_open(self) -> bool {
        self.get("additionalProperties") != Some(&Json::Bool(false))
    }

    /// Returns the variants of a tagged table.
    pub(super) fn kinds(self) -> Option<Vec<Self>> {
        Some(self.get("oneOf")?.as_array()?.iter().map(|schema| self.part(schema)).collect())
    }

    /// Returns the key with a fixed value in this variant: the tag.
    pub(super) fn tag(self) -> Option<&'a str> {
        self.properties()?.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(key, _)| key.as_str())
    }

    /// Returns the values of `tag` that select this variant.
    pub(super) fn names(self, tag: &str) -> impl Iterator<Item = &'a str> {
        let name = self.properties().and_then(|known| known.get(tag)?.get("const")?.as_str());
        let aliases = self.get(ALIASES).and_then(Json::as_array).into_iter().flatten();
        name.into_iter().chain(aliases.filter_map(Json::as_str))
    }

    /// Returns `true` if the name of this variant may replace its table. This is permitted if the
    /// variant requires no other key. In a flat flow, it is also permitted if the other keys may be
    /// keys of the flow.
    pub(super) fn stands_alone(self, tag: &str, shorthand: &Json) -> bool {
        if shorthand == "flat" { !self.is_open() } else { self.required().all(|key| key == tag) }
    }
}

/// Returns the variant that the tag of `table` selects.
pub(super) fn kind_of<'a>(table: &Table, kinds: &[Type<'a>]) -> Option<Type<'a>> {
    let tag = kinds.first()?.tag()?;
    let Value::Text(name) = &table.get(tag)?.node.value else { return None };
    kinds.iter().copied().find(|kind| kind.names(tag).any(|known| known == name))
}

/// Returns the name of a variant with exactly one required key besides the tag, and that key.
/// `{ name = value }` is a shorthand for the two.
pub(super) fn pair_of<'a>(kind: Type<'a>, tag: &str) -> Option<(&'a str, &'a str)> {
    let name = kind.names(tag).next()?;
    match kind.required().filter(|key| *key != tag).collect::<Vec<_>>()[..] {
        [key] => Some((name, key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{generate, scenario};
    use super::*;
    use schemars::generate::SchemaSettings;

    /// Returns a part of the schema of `whole`, with all references replaced by their definitions.
    fn written_out(whole: Type<'_>, schema: &Json) -> Json {
        match schema {
            Json::Array(items) => items.iter().map(|item| written_out(whole, item)).collect(),
            Json::Object(own) => {
                let mut all = own.clone();
                let definition = whole.part(schema).definition.and_then(Json::as_object);
                assert!(definition.is_none_or(|it| !it.contains_key("$ref")), "{own:?} refers to a reference");
                for (keyword, value) in definition.into_iter().flatten() {
                    all.entry(keyword).or_insert_with(|| value.clone());
                }
                all.retain(|keyword, _| keyword != "$ref");
                all.iter().map(|(keyword, value)| (keyword.clone(), written_out(whole, value))).collect()
            }
            other => other.clone(),
        }
    }

    /// When a type refers to another, no keyword is lost or added.
    #[test]
    fn a_reference_stands_for_what_it_refers_to() {
        let mut with_references = generate(SchemaSettings::draft2020_12());
        let mut without = generate(SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true));
        for (schema, keywords) in [(&mut with_references, &["$schema", "$defs"][..]), (&mut without, &["$schema"])] {
            schema.as_object_mut().unwrap().retain(|keyword, _| !keywords.contains(&keyword.as_str()));
        }
        assert!(with_references.to_string().len() * 4 < without.to_string().len());
        let first = difference("", &written_out(scenario(), &with_references), &without);
        assert!(first.is_none(), "{}", first.unwrap_or_default());
    }

    fn difference(path: &str, one: &Json, other: &Json) -> Option<String> {
        match (one, other) {
            (Json::Object(members), Json::Object(others)) if members.len() == others.len() => {
                members.iter().find_map(|(key, value)| {
                    difference(&format!("{path}/{key}"), value, others.get(key).unwrap_or(&Json::Null))
                })
            }
            (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
                items.iter().zip(others).find_map(|(item, other)| difference(path, item, other))
            }
            _ => (one != other).then(|| format!("{path}: {one} and {other}")),
        }
    }
}
