//! Tools for real hosts.

use crate::cancel::Cancel;
use crate::errors::{Cancelled, RunError, UsageError};
use crate::threads::in_a_thread;
use acklab_deploy::Identity;
use acklab_deploy::tools::perf::{Contender, Options, measure};
use acklab_deploy::tools::proxy::{Allow, Forward, connect, listen};
use acklab_deploy::tools::serve::Serving;
use acklab_deploy::tools::trust::{Trust, offered};
use acklab_deploy::tools::{self, Stop, ToolError, known_hosts, state};
use pyo3::prelude::*;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

fn raised(why: &ToolError) -> PyErr {
    let message = why.to_string();
    match why {
        ToolError::Usage(_) => UsageError::new_err(message),
        ToolError::Stopped => Cancelled::new_err(message),
        ToolError::Trust(_) | ToolError::Failed(_) => RunError::new_err(message),
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(place: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|error: T::Err| UsageError::new_err(format!("{place}: found {text:?}: {error}")))
}

fn trust(fingerprint: Option<&str>, authorities: Option<PathBuf>) -> PyResult<Option<Trust>> {
    match (fingerprint, authorities) {
        (Some(fingerprint), None) => Ok(Some(Trust::Fingerprint(parsed("fingerprint", fingerprint)?))),
        (None, Some(file)) => Ok(Some(Trust::Authorities(file))),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            Err(UsageError::new_err("found a fingerprint and certificates of authorities, expected one of them"))
        }
    }
}

/// Runs `work`, and passes each line that `work` sends to `tell`. The function passed to `work`
/// returns `true` if the work must continue. Ctrl-C stops the work.
fn with_lines<T: Send>(
    py: Python<'_>,
    cancel: Option<&Cancel>,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut() -> bool, mpsc::Sender<String>) -> Result<T, ToolError> + Send,
) -> PyResult<T> {
    let (to, lines) = mpsc::channel();
    let mut show = move |py: Python<'_>| {
        let Some(tell) = tell else { return Ok(()) };
        lines.try_iter().try_for_each(|line: String| tell.call1(py, (line,)).map(drop))
    };
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    let done = in_a_thread(py, true, &flag, |goes_on| work(goes_on, to), &mut show)?;
    show(py)?;
    done.map_err(|why| raised(&why))
}

/// Runs a tool until it is stopped. When `cancel` is cancelled, unfinished work has the time
/// `drain` to finish. An exception, such as that of Ctrl-C, ends the tool immediately.
fn until_stopped<F>(
    py: Python<'_>,
    cancel: Option<&Cancel>,
    tell: Option<&Py<PyAny>>,
    drain: Duration,
    tool: impl FnOnce(Stop, mpsc::Sender<String>) -> F + Send,
) -> PyResult<()>
where
    F: Future<Output = Result<(), ToolError>>,
{
    let flag = cancel.map(Cancel::flag).unwrap_or_default();
    with_lines(py, None, tell, |goes_on, to| {
        let demands = || if goes_on() { u32::from(flag.load(Ordering::Relaxed)) } else { 2 };
        tools::run_until(demands, drain, |stop| tool(stop, to))
    })
}

fn time(place: &str, text: &str) -> PyResult<Duration> {
    let time: acklab_base::Duration = parsed(place, text)?;
    Ok(Duration::from_nanos(time.as_nanos()))
}

/// Returns the certificate and the key from two files, or the certificate and key stored in
/// `folder`.
fn identity(folder: &Path, certificate: Option<PathBuf>, key: Option<PathBuf>) -> Result<Identity, ToolError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => state::identity_of(&certificate, &key),
        (None, None) => state::identity(folder),
        _ => Err(ToolError::Usage("found one of certificate and key, expected both or neither".to_owned())),
    }
}

/// Serves measurements until Ctrl-C or `cancel`.
///
/// `certificate` and `key` are files in PEM. Without them, the server uses the certificate and key
/// in `folder`, by default the folder of the tools. They are created on the first run. `ready` is
/// called with the port and the fingerprint once clients can connect. `tell` is called with a line
/// for each measurement. When the server stops, a running measurement has the time `drain` to
/// finish. Raises `UsageError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (addresses, port, ready, tell=None, certificate=None, key=None, folder=None, drain="0s", cancel=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn serve(
    py: Python<'_>,
    addresses: Vec<String>,
    port: u16,
    ready: Py<PyAny>,
    tell: Option<Py<PyAny>>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    folder: Option<PathBuf>,
    drain: &str,
    cancel: Option<&Cancel>,
) -> PyResult<()> {
    let addresses = addresses.iter().map(|one| parsed::<IpAddr>("address", one)).collect::<PyResult<Vec<_>>>()?;
    let drain = time("--drain", drain)?;
    let options = || {
        let folder = folder.map_or_else(state::folder, Ok)?;
        let identity = identity(&folder, certificate, key)?;
        Ok(tools::serve::Options { addresses, port, identity, reset_key: state::reset_key(&folder)? })
    };
    let options = options().map_err(|why| raised(&why))?;
    until_stopped(py, cancel, tell.as_ref(), drain, |stop, to| {
        let ready = |serving: Serving| {
            // An exception could not be reported. The function only stores or prints.
            _ = Python::attach(|py| ready.call1(py, (serving.port, serving.fingerprint.to_string())).map(drop));
        };
        tools::serve::serve(options, stop, ready, move |line| _ = to.send(line))
    })
}

/// Measures transports in turns. Returns a JSON list with an object for each measurement.
///
/// `contenders` has the syntax of the option `--with`. `tell` is called with events of the
/// measurement, as JSON. Raises `UsageError`, `RunError`, and `Cancelled` after `cancel` is
/// cancelled.
#[pyfunction]
#[pyo3(signature = (host, port, contenders, *, rounds, reverse, streams, seconds, octets, bitrate, interval, fingerprint=None, authorities=None, keys=None, qlog=None, tell=None, cancel=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn perf(
    py: Python<'_>,
    host: String,
    port: u16,
    contenders: &str,
    rounds: u32,
    reverse: bool,
    streams: u32,
    seconds: Option<f64>,
    octets: Option<u64>,
    bitrate: Option<u64>,
    interval: f64,
    fingerprint: Option<&str>,
    authorities: Option<PathBuf>,
    keys: Option<PathBuf>,
    qlog: Option<PathBuf>,
    tell: Option<Py<PyAny>>,
    cancel: Option<&Cancel>,
) -> PyResult<String> {
    let trust = trust(fingerprint, authorities)?;
    let contenders = Contender::list(contenders).map_err(|why| raised(&why))?;
    let options = Options {
        host,
        port,
        trust,
        contenders,
        rounds,
        reverse,
        streams,
        seconds,
        octets,
        bitrate,
        interval,
        keys,
        qlog,
    };
    let rows = with_lines(py, cancel, tell.as_ref(), |goes_on, to| {
        tools::run(goes_on, |stop| {
            let tell = move |told| _ = serde_json::to_string(&told).map(|text| to.send(text));
            measure(&options, stop, tell)
        })
    })?;
    serde_json::to_string(&rows).map_err(|error| RunError::new_err(error.to_string()))
}

/// Returns the known fingerprint of a server, if `file` contains one. The default of `file` is the
/// file of the tools. Raises `UsageError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (host, port, file=None))]
pub(crate) fn known_fingerprint(host: &str, port: u16, file: Option<PathBuf>) -> PyResult<Option<String>> {
    let known = file.map_or_else(known_hosts::file, Ok).and_then(|file| known_hosts::lookup(&file, host, port));
    Ok(known.map_err(|why| raised(&why))?.map(|fingerprint| fingerprint.to_string()))
}

/// Trusts a server with this fingerprint from now on. Raises `UsageError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (host, port, fingerprint, file=None))]
pub(crate) fn remember_fingerprint(host: &str, port: u16, fingerprint: &str, file: Option<PathBuf>) -> PyResult<()> {
    let fingerprint = parsed("fingerprint", fingerprint)?;
    let added = file.map_or_else(known_hosts::file, Ok);
    added.and_then(|file| known_hosts::add(&file, host, port, fingerprint)).map_err(|why| raised(&why))
}

/// Returns the fingerprint of a server's certificate, without trusting the server. Raises
/// `RunError`.
#[pyfunction]
pub(crate) fn offered_fingerprint(py: Python<'_>, host: &str, port: u16) -> PyResult<String> {
    let found = with_lines(py, None, None, |goes_on, _| tools::run(goes_on, |stop| offered(host, port, stop)))?;
    Ok(found.to_string())
}

/// Runs the far side of a proxy, until Ctrl-C or `cancel`.
///
/// `allow` are the rules for targets. Without a rule, the public Internet is allowed. `ready` is
/// called with the port, the fingerprint and the token once clients can connect. `tell` is called
/// with a line for each refusal. The other arguments are the same as for `serve`. Raises
/// `UsageError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (addresses, port, allow, ready, tell=None, certificate=None, key=None, folder=None, drain="0s", cancel=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn proxy_listen(
    py: Python<'_>,
    addresses: Vec<String>,
    port: u16,
    allow: Vec<String>,
    ready: Py<PyAny>,
    tell: Option<Py<PyAny>>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    folder: Option<PathBuf>,
    drain: &str,
    cancel: Option<&Cancel>,
) -> PyResult<()> {
    let addresses = addresses.iter().map(|one| parsed::<IpAddr>("address", one)).collect::<PyResult<Vec<_>>>()?;
    let drain = time("--drain", drain)?;
    let options = || {
        let allow = allow.iter().map(|rule| rule.parse()).collect::<Result<Vec<Allow>, ToolError>>()?;
        let folder = folder.map_or_else(state::folder, Ok)?;
        let identity = identity(&folder, certificate, key)?;
        let (reset_key, token) = (state::reset_key(&folder)?, state::token(&folder)?);
        Ok(listen::Options { addresses, port, identity, reset_key, token, allow })
    };
    let options = options().map_err(|why| raised(&why))?;
    let token = options.token.to_string();
    until_stopped(py, cancel, tell.as_ref(), drain, |stop, to| {
        let ready = |serving: Serving| {
            // As with `serve`.
            let told = (serving.port, serving.fingerprint.to_string(), token);
            _ = Python::attach(|py| ready.call1(py, told).map(drop));
        };
        listen::listen(options, stop, ready, move |line| _ = to.send(line))
    })
}

/// Runs the near side of a proxy, until Ctrl-C or `cancel`.
///
/// `socks` is the address at which SOCKS5 is served. `forwards` are the ports to forward. `ready`
/// is called with the local addresses once programs can connect. `tell` is called with a line for
/// each failure. Raises `UsageError` and `RunError`.
#[pyfunction]
#[pyo3(signature = (host, port, token, socks, forwards, ready, tell=None, fingerprint=None, authorities=None, keys=None, drain="0s", cancel=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keyword arguments of Python")]
pub(crate) fn proxy_connect(
    py: Python<'_>,
    host: String,
    port: u16,
    token: &str,
    socks: Option<&str>,
    forwards: Vec<String>,
    ready: Py<PyAny>,
    tell: Option<Py<PyAny>>,
    fingerprint: Option<&str>,
    authorities: Option<PathBuf>,
    keys: Option<PathBuf>,
    drain: &str,
    cancel: Option<&Cancel>,
) -> PyResult<()> {
    let expected = "expected a fingerprint or certificates of authorities";
    let trust = trust(fingerprint, authorities)?
        .ok_or_else(|| UsageError::new_err(format!("trust: found nothing, {expected}")))?;
    let socks = socks.map(|at| parsed::<SocketAddr>("--socks", at)).transpose()?;
    let drain = time("--drain", drain)?;
    let options = || {
        let forwards = forwards.iter().map(|forward| forward.parse()).collect::<Result<Vec<Forward>, ToolError>>()?;
        Ok(connect::Options { host, port, trust, token: token.parse()?, socks, forwards, keys })
    };
    let options = options().map_err(|why: ToolError| raised(&why))?;
    until_stopped(py, cancel, tell.as_ref(), drain, |stop, to| {
        let ready = |bound: Vec<SocketAddr>| {
            let bound: Vec<_> = bound.iter().map(ToString::to_string).collect();
            // As with `serve`.
            _ = Python::attach(|py| ready.call1(py, (bound,)).map(drop));
        };
        connect::connect(options, stop, ready, move |line| _ = to.send(line))
    })
}
