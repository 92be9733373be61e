//! Names of the built-in strategies, as messages list them.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_transport::cc;

/// Returns the names in quotes, separated by commas.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// Returns the built-in controllers, each followed by its aliases.
pub fn controllers() -> String {
    let schema = schemars::schema_for!(cc::ControllerConfig).to_value();
    let kinds = schema["oneOf"].as_array().into_iter().flatten();
    let names = kinds.flat_map(|kind| {
        let aliases = kind["x-acklab-aliases"].as_array().into_iter().flatten();
        std::iter::once(&kind["properties"]["algorithm"]["const"]).chain(aliases)
    });
    quoted(names.filter_map(|name| name.as_str()).filter(|name| *name != "custom"))
}
