//! Reads a contained log field by field and event by event. At most one event is in memory.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// A receiver of the parts of a contained log.
pub(super) trait Sink {
    /// `true` if events are read, `false` if they are skipped.
    const READS_EVENTS: bool;

    /// Begins the list of traces.
    fn traces(&mut self) {}

    /// Begins a trace.
    fn trace(&mut self);

    /// Begins the events of the current trace.
    fn events(&mut self) {}

    /// Reads a field of the file or of the current trace, in any order, except `events` and
    /// `traces`.
    fn field(&mut self, is_of_trace: bool, name: &str, value: &RawValue);

    /// Reads an event of the current trace.
    fn event(&mut self, text: &str);
}

/// Reads one log: an object with `traces`, with a single `trace`, or (before draft-00) with the
/// fields of a trace.
pub(super) struct Log<'s, S>(pub(super) &'s mut S);

/// A list of traces.
struct Traces<'s, S>(&'s mut S);

/// A trace, or an error in its place (draft-ietf-quic-qlog-main-schema, "TraceError").
struct Trace<'s, S>(&'s mut S);

/// A list of events.
struct Events<'s, S>(&'s mut S);

/// Deserialises a value of the given form, or `null`, which Go writes for an empty list.
macro_rules! value_or_null {
    ($name:ident, $expected:literal, $($visit:item)*) => {
        impl<'de, S: Sink> DeserializeSeed<'de> for $name<'_, S> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_any(self)
            }
        }

        impl<'de, S: Sink> Visitor<'de> for $name<'_, S> {
            type Value = ();

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str($expected)
            }

            fn visit_unit<E>(self) -> Result<(), E> {
                Ok(())
            }

            $($visit)*
        }
    };
}

value_or_null! {
    Log, "a log: an object",
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "traces" => {
                    self.0.traces();
                    fields.next_value_seed(Traces(&mut *self.0))?;
                }
                "trace" => fields.next_value_seed(Trace(&mut *self.0))?,
                "events" => {
                    self.0.trace();
                    fields.next_value_seed(Events(&mut *self.0))?;
                }
                _ => self.0.field(false, &name, &fields.next_value::<Box<RawValue>>()?),
            }
        }
        Ok(())
    }
}

value_or_null! {
    Traces, "a list of traces",
    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        while traces.next_element_seed(Trace(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

value_or_null! {
    Trace, "a trace: an object",
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.trace();
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "events" => fields.next_value_seed(Events(&mut *self.0))?,
                _ => self.0.field(true, &name, &fields.next_value::<Box<RawValue>>()?),
            }
        }
        Ok(())
    }
}

value_or_null! {
    Events, "a list of events",
    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        self.0.events();
        if S::READS_EVENTS {
            while let Some(event) = events.next_element::<Box<RawValue>>()? {
                self.0.event(event.get());
            }
        } else {
            while events.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }
}
