//! Converts variables of the kernel to settings of a connection (Linux,
//! `Documentation/networking/ip-sysctl.rst`).

use crate::refusal::Refusal;
use crate::shell::Order;
use acklab_base::Bytes;
use acklab_base::units::Segments;
use acklab_transport::tcp::sender::AfterIdle;
use acklab_transport::tcp::{Settings, ecn};
use acklab_transport::{cc, pacing, recovery};

/// The ECN modes (`tcp_ecn`) of the end that opens the connection, and of the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnByEnd {
    pub(crate) active: ecn::EcnConfig,
    pub(crate) passive: ecn::EcnConfig,
}

/// Variables without visible effect in a script of a bulk connection: limits of retries and of
/// memory that are not reached, Fast Open, and coalescing of segments for offload.
const WITHOUT_EFFECT: [&str; 18] = [
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_fastopen_blackhole_timeout_sec",
    "tcp_syncookies",
    "tcp_fack",
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_tso_rtt_log",
    "tcp_no_metrics_save",
    "tcp_mem",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_shrink_window",
    "tcp_backlog_ack_defer",
    "tcp_rto_max_ms",
    // The variable has an effect only if tcp_ecn_option is 1.
    "tcp_ecn_option_beacon",
];

/// Variables for which acklab supports only the kernel's default.
const FIXED: [(&str, &[&str]); 10] = [
    ("tcp_cubic.parameters.hystart_detect", &["3"]),
    ("tcp_frto", &["1", "2"]),
    ("tcp_reordering", &["3"]),
    ("tcp_max_reordering", &["300"]),
    ("tcp_notsent_lowat", &["4294967295", "-1"]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_ecn_fallback", &["1"]),
    ("tcp_limit_output_bytes", &["4194304", "1048576"]),
    ("tcp_early_demux", &["1"]),
    ("tcp_workaround_signed_windows", &["0"]),
];

/// Adopts `order` unless `settings` override it.
pub(crate) fn adopt(settings: &mut Settings, ecn: &mut Option<EcnByEnd>, order: &Order) -> Result<(), Refusal> {
    let key = order.key.strip_prefix("net.ipv4.").unwrap_or(&order.key);
    let unknown = || Refusal::out_of_scope(order.line, format!("the variable {key} = {}", order.value));
    let value = order.value.as_str();
    match (key, value) {
        ("tcp_sack", "0" | "1") => set_default(&mut settings.sack, value == "1"),
        ("tcp_dsack", "0") => set_default(&mut settings.dsack, false),
        // Disabling SACK also disables D-SACK.
        ("tcp_dsack", "1") => {}
        ("tcp_timestamps", "0" | "1" | "2") => set_default(&mut settings.timestamps, value != "0"),
        ("tcp_window_scaling", "0" | "1") => set_default(&mut settings.window_scaling, value == "1"),
        ("tcp_slow_start_after_idle", "0") => set_default(&mut settings.after_idle, AfterIdle::Keep),
        ("tcp_slow_start_after_idle", "1") => set_default(&mut settings.after_idle, AfterIdle::Decay),
        // 1 and 2 selected Early Retransmit (RFC 5827), which was removed. From 3 on, the value
        // selects the tail loss probe.
        ("tcp_early_retrans", "0" | "3" | "4") => set_default(&mut settings.tail_loss_probe, value != "0"),
        ("tcp_recovery", "0") => set_default(&mut settings.detection, recovery::Detection::DupThresh),
        ("tcp_recovery", "1") => set_default(&mut settings.detection, recovery::Detection::Rack),
        ("tcp_congestion_control", name) => {
            set_default(&mut settings.congestion, cc::ControllerConfig::named(name).ok_or_else(unknown)?);
        }
        ("tcp_rmem", sizes) => set_default(&mut settings.receive_buffer, largest(sizes).ok_or_else(unknown)?),
        ("tcp_wmem", sizes) => set_default(&mut settings.send_buffer, largest(sizes).ok_or_else(unknown)?),
        ("tcp_ecn", number) => set_default(ecn, by_end(number).ok_or_else(unknown)?),
        ("tcp_ecn_option", "0" | "2" | "3") => set_default(&mut settings.ecn_option, value != "0"),
        ("initcwnd", number) => {
            set_default(&mut settings.initial_window, Segments(number.parse().map_err(|_| unknown())?))
        }
        ("fq", _) => set_default(&mut settings.pacing, pacing::PacingConfig::Always),
        _ if WITHOUT_EFFECT.contains(&key) => {}
        _ if FIXED.iter().any(|(name, values)| *name == key && values.contains(&value)) => {}
        _ => return Err(unknown()),
    }
    Ok(())
}

/// Sets a setting to `value`, unless the caller has set it.
fn set_default<T>(setting: &mut Option<T>, value: T) {
    setting.get_or_insert(value);
}

/// Returns the last of three sizes, which is the maximum size of a buffer.
fn largest(sizes: &str) -> Option<Bytes> {
    let words: Vec<u64> = sizes.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match words[..] {
        [_, _, largest] => Some(Bytes(largest)),
        _ => None,
    }
}

/// Returns the modes of `tcp_ecn` in Linux 6.18. 1 requests and accepts classic ECN, and 2 only
/// accepts it. 3 requests and accepts accurate ECN, 4 requests classic ECN and accepts accurate
/// ECN, and 5 only accepts accurate ECN.
fn by_end(number: &str) -> Option<EcnByEnd> {
    use ecn::EcnConfig::{Accurate, Classic, Off};
    let (active, passive) = match number {
        "0" => (Off, Off),
        "1" => (Classic, Classic),
        "2" => (Off, Classic),
        "3" => (Accurate, Accurate),
        "4" => (Classic, Accurate),
        "5" => (Off, Accurate),
        _ => return None,
    };
    Some(EcnByEnd { active, passive })
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_transport::tcp::Preset;

    fn adopted(mut settings: Settings, orders: &[(&str, &str)]) -> Result<Settings, Refusal> {
        let mut ecn = None;
        for (key, value) in orders {
            let order = Order { line: 9, key: format!("net.ipv4.{key}"), value: (*value).to_owned() };
            adopt(&mut settings, &mut ecn, &order)?;
        }
        Ok(settings)
    }

    #[test]
    fn variables_become_settings() {
        let orders = [("tcp_sack", "0"), ("tcp_congestion_control", "cubic"), ("tcp_rmem", "4096 540000 15728640")];
        let config = adopted(Settings::of(Preset::Linux), &orders).unwrap().config();
        assert!(!config.sack && !config.dsack);
        assert_eq!(config.congestion.name(), "cubic");
        assert_eq!(config.receive_buffer, Bytes(15 << 20));
    }

    #[test]
    fn settings_of_the_caller_take_precedence() {
        let specified = Settings { congestion: cc::ControllerConfig::named("bbr"), ..Settings::of(Preset::Linux) };
        let settings = adopted(specified, &[("tcp_congestion_control", "cubic")]).unwrap();
        assert_eq!(settings.config().congestion.name(), "bbr");
    }

    #[test]
    fn other_variables_are_out_of_scope_with_their_line() {
        for order in
            [("tcp_nothing", "1"), ("tcp_reordering", "5"), ("tcp_congestion_control", "yeah"), ("tcp_rmem", "1 2")]
        {
            let refusal = adopted(Settings::of(Preset::Linux), &[order]).unwrap_err();
            assert_eq!((refusal.line, refusal.kind), (9, crate::refusal::Kind::OutOfScope), "{order:?}");
        }
    }
}
