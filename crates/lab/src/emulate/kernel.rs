//! A scenario's requirements on the kernel's TCP: the socket options, routes and parameters that
//! fulfill them, or a refusal that names the missing ability.

use crate::error::Error;
use crate::scenario::{Flow, Transport};
use acklab_live::netlink::Metrics;
use acklab_live::socket::Options;
use acklab_transport::tcp::{Preset, Settings, TcpConfig, ecn};
use acklab_transport::{ack, cc};
use std::collections::BTreeMap;

/// The requirements of one flow over TCP on the kernel at both ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Request {
    /// The options of the flow's sockets.
    pub(super) options: Options,
    /// The metrics of the routes between the flow's ends.
    pub(super) metrics: Metrics,
    /// Parameters of the namespaces of the flow's ends, such as `net/ipv4/tcp_sack`.
    pub(super) parameters: BTreeMap<&'static str, String>,
}

/// Parameters that are set in every namespace. The comments give the reasons.
pub(super) const PARAMETERS: [(&str, &str); 5] = [
    // Prevents connections from reusing metrics of earlier ones.
    ("net/ipv4/tcp_no_metrics_save", "1"),
    // Permits flows to use any port.
    ("net/ipv4/ip_unprivileged_port_start", "0"),
    // Permits every user to ping.
    ("net/ipv4/ping_group_range", "0 2147483647"),
    // The link has no router.
    ("net/ipv6/conf/default/router_solicitations", "0"),
    ("net/ipv6/conf/default/addr_gen_mode", "1"),
];

/// `tcp_wmem[1]` and `tcp_rmem[1]` of Linux, the initial sizes of buffers (`tcp_init` in
/// `net/ipv4/tcp.c`).
const INITIAL_SEND_BUFFER: u64 = 16 << 10;
const INITIAL_RECEIVE_BUFFER: u64 = 128 << 10;

/// Parameters that affect TCP and are therefore listed in the results.
pub(super) const REPORTED: [&str; 18] = [
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_dsack",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_ecn",
    "net/ipv4/tcp_recovery",
    "net/ipv4/tcp_early_retrans",
    "net/ipv4/tcp_frto",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_reordering",
    "net/ipv4/tcp_limit_output_bytes",
    "net/ipv4/tcp_min_rtt_wlen",
    "net/ipv4/tcp_pacing_ss_ratio",
    "net/ipv4/tcp_pacing_ca_ratio",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_moderate_rcvbuf",
    "net/ipv4/tcp_no_metrics_save",
];

/// Returns the kernel's name of a congestion controller. Returns `None` if the kernel does not have
/// this controller with these constants.
fn controller(congestion: &cc::ControllerConfig) -> Option<&'static str> {
    let kernel = match congestion {
        cc::ControllerConfig::NewReno(_) => "reno",
        cc::ControllerConfig::Cubic(_) => "cubic",
        cc::ControllerConfig::Vegas(_) => "vegas",
        cc::ControllerConfig::Bbr(_) => "bbr",
        cc::ControllerConfig::Dctcp(_) => "dctcp",
        _ => return None,
    };
    (cc::ControllerConfig::named(congestion.name()).as_ref() == Some(congestion)).then_some(kernel)
}

/// Returns the value of a parameter for a switch.
fn switch(on: bool) -> String {
    u8::from(on).to_string()
}

/// Returns the requirements of `flow` on the kernel's TCP. Returns `None` for a flow over UDP.
///
/// # Errors
/// If the kernel does not support a setting.
pub(super) fn request(flow: &Flow) -> Result<Option<Request>, Error> {
    let refuse = |key: &str, found: String, expected: &str| Error::Kernel {
        flow: flow.name.clone(),
        key: key.to_owned(),
        found,
        expected: expected.to_owned(),
    };
    if flow.page.is_some() {
        return Err(refuse("page", "a page".to_owned(), "`traffic`: the kernel's sockets carry no requests here"));
    }
    let transport = &flow.transport;
    if !transport.abilities().is_in_kernel {
        let known = Transport::names_with(|abilities| abilities.is_in_kernel).join(" or ");
        let expected = format!("{known}, the transports of the kernel");
        return Err(refuse("transport", format!("\"{}\"", transport.name()), &expected));
    }
    let Some(settings) = transport.tcp() else { return Ok(None) };
    if settings.preset != Preset::Linux {
        let found = format!("\"{}\"", settings.preset.name());
        return Err(refuse("preset", found, "\"linux\": the kernel's TCP cannot behave as another stack"));
    }
    let config = settings.config();
    let Some(congestion) = controller(&config.congestion) else {
        let found = format!("\"{}\", with these constants", config.congestion.name());
        return Err(refuse("congestion", found, "reno, cubic, vegas, bbr or dctcp, with their default constants"));
    };
    // The settings of the kernel's default behavior, with this controller.
    let default = Settings { congestion: Some(config.congestion), ..Settings::of(Preset::Linux) };
    let usual = default.config();
    let mut request = Request::default();
    request.options.congestion = Some(congestion.to_owned());
    quick_ack(&config, &mut request).map_err(|(found, expected)| refuse("ack", found, expected))?;
    let parameters = &mut request.parameters;
    parameters.insert("net/ipv4/tcp_sack", switch(config.sack));
    parameters.insert("net/ipv4/tcp_dsack", switch(config.dsack));
    parameters.insert("net/ipv4/tcp_timestamps", switch(config.timestamps.is_some()));
    parameters.insert("net/ipv4/tcp_window_scaling", switch(config.window_scaling));
    let ecn = match config.ecn {
        ecn::EcnConfig::Off => "0",
        ecn::EcnConfig::Classic | ecn::EcnConfig::Dctcp => "1",
        ecn::EcnConfig::Accurate => {
            return Err(refuse("ecn", "\"accurate\"".into(), "\"off\", \"classic\" or \"dctcp\""));
        }
    };
    parameters.insert("net/ipv4/tcp_ecn", ecn.to_owned());
    if config.mss != usual.mss {
        // The kernel includes the timestamps option in the segment size (`tcp_sync_mss`).
        let options = if config.timestamps.is_some() { 12 } else { 0 };
        request.options.mss = Some(config.mss.get() as u32 + options);
    }
    buffers(&config, &mut request);
    request.metrics.initial_window = (config.initial_window != usual.initial_window).then_some(config.initial_window.0);
    request.metrics.min_rto_ms = (config.rto.min != usual.rto.min).then_some(config.rto.min.as_millis() as u32);
    remaining(settings, &default).map_or(Ok(()), |(key, found, expected)| Err(refuse(&key, found, &expected)))?;
    Ok(Some(request))
}

/// Limits the size to which buffers grow. If the limit is below the initial size, the buffer has
/// the limit's size from the start.
fn buffers(config: &TcpConfig, request: &mut Request) {
    let (sent, received) = (config.send_buffer.get(), config.receive_buffer.get());
    if sent < INITIAL_SEND_BUFFER {
        request.options.send_buffer = Some(sent as usize);
    } else {
        request.parameters.insert("net/ipv4/tcp_wmem", format!("4096 {INITIAL_SEND_BUFFER} {sent}"));
    }
    if received < INITIAL_RECEIVE_BUFFER {
        request.options.receive_buffer = Some(received as usize);
    } else {
        request.parameters.insert("net/ipv4/tcp_rmem", format!("4096 {INITIAL_RECEIVE_BUFFER} {received}"));
    }
}

/// Sets no route if the kernel chooses its ACKs itself. Otherwise sets a route on which the kernel
/// acknowledges every segment.
fn quick_ack(config: &TcpConfig, request: &mut Request) -> Result<(), (String, &'static str)> {
    match config.ack {
        ack::PolicyConfig::Linux(_) => Ok(()),
        ack::PolicyConfig::PerPacket(_) => {
            request.metrics.quick_ack = true;
            Ok(())
        }
        other => Err((format!("\"{}\"", other.name()), "\"linux\", or \"per-packet\" by the route's `quickack`")),
    }
}

/// The settings that a request can express. The growth of buffers depends on the running kernel.
const SETTABLE: [&str; 14] = [
    "kernel",
    "congestion",
    "ack",
    "sack",
    "dsack",
    "timestamps",
    "timestamp_tick",
    "window_scaling",
    "ecn",
    "mss",
    "send_buffer",
    "receive_buffer",
    "initial_window",
    "min_rto",
];

/// Returns the first setting that differs from the kernel's value and cannot be set: its name, its
/// value, and the kernel's value.
fn remaining(settings: &Settings, default: &Settings) -> Option<(String, String, String)> {
    let full = |settings: &Settings| match serde_json::to_value(settings.in_full()) {
        Ok(serde_json::Value::Object(full)) => full,
        _ => serde_json::Map::new(),
    };
    let (asked, usual) = (full(settings), full(default));
    let differs = |(key, _): &(&String, &serde_json::Value)| {
        !SETTABLE.contains(&key.as_str()) && asked.get(*key) != usual.get(*key)
    };
    let (key, value) = asked.iter().find(differs)?;
    let expected = usual.get(key).map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Some((key.clone(), value.to_string(), format!("{expected}, which is what the kernel does")))
}

/// The requirements of several flows on one namespace.
#[derive(Debug, Default)]
pub(super) struct Agreement<'a> {
    parameters: BTreeMap<&'static str, (String, &'a str)>,
}

impl<'a> Agreement<'a> {
    /// Adds the parameters of `flow`.
    ///
    /// # Errors
    /// If another flow requires a different value.
    pub(super) fn add(&mut self, flow: &'a Flow, request: &Request) -> Result<(), Error> {
        for (parameter, value) in &request.parameters {
            let (agreed, owner) = self.parameters.entry(parameter).or_insert_with(|| (value.clone(), &flow.name));
            if agreed != value {
                return Err(Error::Kernel {
                    flow: flow.name.clone(),
                    key: match *parameter {
                        "net/ipv4/tcp_wmem" => "send_buffer",
                        "net/ipv4/tcp_rmem" => "receive_buffer",
                        other => other.trim_start_matches("net/ipv4/tcp_"),
                    }
                    .to_owned(),
                    found: value.clone(),
                    expected: format!(
                        "{agreed} as for flow \"{owner}\", because the flows of a node share this parameter"
                    ),
                });
            }
        }
        Ok(())
    }

    pub(super) fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.parameters.iter().map(|(parameter, (value, _))| (*parameter, value.as_str()))
    }
}
