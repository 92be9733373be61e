//! The options of a segment in the notation of scripts. Their order and padding are not compared,
//! because acklab arranges headers differently.

use acklab_wire::tcp::{AckRate, FieldOrder, Options};

/// Returns the options as a script lists them, without padding.
pub(crate) fn listed(options: &Options) -> String {
    let mut list = Vec::new();
    if let Some(mss) = options.mss {
        list.push(format!("mss {mss}"));
    }
    if options.sack_permitted {
        list.push("sackOK".to_owned());
    }
    if let Some(timestamps) = options.timestamps {
        list.push(format!("TS val {} ecr {}", timestamps.value, timestamps.echo));
    }
    if let Some(option) = options.accurate_ecn {
        let names = match option.order() {
            FieldOrder::Ect0First => ["e0b", "ceb", "e1b"],
            FieldOrder::Ect1First => ["e1b", "ceb", "e0b"],
        };
        let fields: String =
            names.iter().zip(option.fields()).map(|(name, value)| format!(" {name} {value}")).collect();
        list.push(format!("ECN{fields}"));
    }
    if !options.sack.is_empty() {
        let blocks: Vec<String> =
            options.sack.as_slice().iter().map(|block| format!("{}:{}", block.start.0, block.end.0)).collect();
        list.push(format!("sack {}", blocks.join(" ")));
    }
    if let Some(scale) = options.window_scale {
        list.push(format!("wscale {scale}"));
    }
    if options.ack_congestion_control {
        list.push("ACK congestion control".to_owned());
    }
    if let Some(ratio) = options.ack_ratio {
        list.push(format!("ACK ratio {ratio}"));
    }
    match options.ack_rate {
        None => {}
        Some(AckRate::Supported) => list.push("exp-tarr".to_owned()),
        Some(AckRate::Every(segments)) => list.push(format!("exp-tarr {segments}")),
    }
    list.join(",")
}
