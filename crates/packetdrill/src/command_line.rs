//! The options at the head of a script (`config.c`).

use crate::refusal::Refusal;
use crate::tolerance::Tolerance;
use acklab_base::Duration;
use std::collections::BTreeMap;

/// A day, which is also the maximum time of an event.
const MAX_MICROS: u64 = 86_400_000_000;

/// The command line that a script requires.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandLine {
    /// The tolerance of times.
    pub tolerance: Tolerance,
    /// The tick of the timestamp clock in the script. Without a tick, the timestamps of outgoing
    /// packets are not compared.
    pub timestamp_tick: Option<Duration>,
    /// `true` if an arriving packet may echo a timestamp that was never sent. Its distance from the
    /// first timestamp then determines the echoed value.
    pub scales_echoes: bool,
    /// `true` if each packet of the script is one segment, and PSH is compared on each
    /// (`--strict_segments`).
    pub is_strict: bool,
    /// Words that the script defines (`--define=NAME=VALUE`).
    pub(crate) defines: BTreeMap<String, String>,
}

impl CommandLine {
    /// Adopts `--name=value` on `line`.
    pub(crate) fn adopt(&mut self, line: usize, name: &str, value: Option<&str>) -> Result<(), Refusal> {
        let micros = || {
            let number = value.and_then(|value| value.parse::<u64>().ok()).filter(|micros| *micros <= MAX_MICROS);
            let expected = || Refusal::malformed(line, format!("--{name}: expected microseconds, a day at most"));
            number.map(Duration::from_micros).ok_or_else(expected)
        };
        match name {
            "tolerance_usecs" => self.tolerance.least = micros()?,
            "tolerance_percent" => {
                let percent = value.and_then(|value| value.parse().ok()).filter(|value| (0.0..=100.0).contains(value));
                let expected = || Refusal::malformed(line, "--tolerance_percent: expected 0 to 100");
                self.tolerance.percent = percent.ok_or_else(expected)?;
            }
            "tcp_ts_tick_usecs" => self.timestamp_tick = Some(micros()?).filter(|tick| !tick.is_zero()),
            "strict_segments" => self.is_strict = true,
            "tcp_ts_ecr_scaled" => self.scales_echoes = true,
            "define" => {
                let Some((word, meaning)) = value.and_then(|value| value.split_once('=')) else {
                    return Err(Refusal::malformed(line, "--define: expected NAME=VALUE"));
                };
                self.defines.insert(word.to_owned(), meaning.to_owned());
            }
            "ip_version" if value != Some("ipv4") => {
                return Err(Refusal::out_of_scope(line, "IPv6: sizes are those of IPv4"));
            }
            "mtu" if value != Some("1500") => return Err(Refusal::out_of_scope(line, "an MTU other than 1500")),
            // Addresses and ports are not part of a simulated segment. `mss` is for segmentation
            // offload, which acklab does not implement.
            "ip_version" | "mtu" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
            | "connect_port" | "mss" | "speed" | "verbose" | "init_scripts" | "non_fatal" | "send_omit_free" => {}
            _ => return Err(Refusal::out_of_scope(line, format!("the option --{name}"))),
        }
        Ok(())
    }
}
