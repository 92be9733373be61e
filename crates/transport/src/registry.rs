//! Checks that apply to every registry.

use schemars::{JsonSchema, Schema, schema_for};

/// Returns the entries of the schema of `Config`, one per variant.
pub(crate) fn variants<Config: JsonSchema>() -> Vec<Schema> {
    let schema = schema_for!(Config);
    let variants = schema.get("oneOf").and_then(|variants| variants.as_array()).cloned().unwrap_or_default();
    variants.into_iter().filter_map(|variant| variant.try_into().ok()).collect()
}

/// Checks that the schema names `built_in` and "custom" under `tag`, in this order.
pub(crate) fn assert_schema_names<'a, Config: JsonSchema>(tag: &str, built_in: impl Iterator<Item = &'a str>) {
    let variants = variants::<Config>();
    let described: Vec<_> =
        variants.iter().filter_map(|variant| variant.get("properties")?[tag]["const"].as_str()).collect();
    let expected: Vec<_> = built_in.chain(["custom"]).collect();
    assert_eq!(described, expected);
}
