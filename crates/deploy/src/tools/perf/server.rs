//! The server's side of a measurement.

use super::channel::Channel;
use super::contender::{CONTROL_BUFFER, Quic, Transport};
use super::protocol::{self, Message, Plan, Preface};
use super::traffic::{Load, Meter, Sink};
use crate::config;
use crate::endpoint::Endpoint;
use crate::tools::log::Kind;
use crate::tools::{PATIENCE, Stop, ToolError};
use acklab_transport::tack::Settings;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};

/// The maximum size of a buffer that a client may request.
const LARGEST_BUFFER: u64 = 64 << 20;
/// The time after which a silent client is abandoned, in addition to the duration of its
/// measurement.
const GRACE: Duration = Duration::from_secs(60);

/// The transport over which a client has connected. The next connections use the settings that the
/// client requests.
#[derive(Clone)]
pub(crate) enum ClientTransport {
    Tack(Endpoint),
    Quic(Arc<Mutex<Quic>>),
    Tcp,
}

impl ClientTransport {
    const fn protocol(&self) -> &'static str {
        match self {
            Self::Tack(_) => "tack",
            Self::Quic(_) => "quic",
            Self::Tcp => "tcp",
        }
    }

    /// Sets the settings of future connections.
    fn prepare(&self, transport: &Transport) -> Result<(), ToolError> {
        match (self, transport) {
            (Self::Tack(endpoint), Transport::Tack(wanted)) => {
                let set = endpoint.set_transport(bounded(wanted));
                set.map_err(|error| ToolError::Usage(format!("settings: {error}")))
            }
            (Self::Quic(settings), Transport::Quic(wanted)) => {
                *settings.lock().unwrap_or_else(PoisonError::into_inner) = *wanted;
                Ok(())
            }
            (Self::Tcp, Transport::Tcp { .. }) => Ok(()),
            _ => Err(ToolError::Usage(format!("transport: found another one, expected {}", self.protocol()))),
        }
    }

    fn restore(&self) {
        match self {
            // `settings_of` has already checked these settings.
            Self::Tack(endpoint) => _ = endpoint.set_transport(settings_of_control()),
            Self::Quic(settings) => *settings.lock().unwrap_or_else(PoisonError::into_inner) = Quic::of_control(),
            Self::Tcp => {}
        }
    }
}

/// Returns the settings of connections outside a measurement: control connections of any client,
/// with one stream and few bytes.
pub(crate) fn settings_of_control() -> Settings {
    Settings { streams: 1, receive_buffer: CONTROL_BUFFER, ..config::settings() }
}

/// Returns the client's settings with the server's limits on memory, streams and time.
fn bounded(wanted: &Settings) -> Settings {
    let usual = config::settings();
    let least = |buffer: acklab_base::Bytes| acklab_base::Bytes(buffer.get().min(LARGEST_BUFFER));
    Settings {
        send_buffer: least(wanted.send_buffer),
        receive_buffer: least(wanted.receive_buffer),
        streams: 1,
        idle_timeout: usual.idle_timeout,
        keep_alive: usual.keep_alive,
        skip_numbers: usual.skip_numbers,
        ..*wanted
    }
}

/// The running measurement, if there is one.
#[derive(Debug, Default)]
pub(crate) struct MeasurementSlot {
    current: Mutex<Option<(u64, mpsc::Sender<Arrival>)>>,
    /// `true` if no further measurement may begin.
    is_closed: AtomicBool,
    is_empty: Notify,
}

/// A data channel.
pub(crate) struct Arrival(Channel);

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Arrival")
    }
}

/// Ends the measurement in the slot when it is dropped.
struct Admitted<'l> {
    slot: &'l MeasurementSlot,
    via: &'l ClientTransport,
    arrivals: mpsc::Receiver<Arrival>,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        *self.slot.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.slot.is_empty.notify_one();
        self.via.restore();
    }
}

impl MeasurementSlot {
    fn admit<'l>(&'l self, via: &'l ClientTransport, test: u64, plan: &Plan) -> Result<Admitted<'l>, ToolError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(stops());
        }
        if current.is_some() {
            return Err(ToolError::Failed("the server is busy with another measurement; try again later".to_owned()));
        }
        via.prepare(&plan.contender.transport)?;
        let (to, arrivals) = mpsc::channel(plan.streams as usize);
        *current = Some((test, to));
        Ok(Admitted { slot: self, via, arrivals })
    }

    /// Prevents further measurements. Returns `true` if one is running.
    pub(crate) fn close(&self) -> bool {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(true, Ordering::Relaxed);
        current.is_some()
    }

    /// Returns `true` if a measurement is running.
    pub(crate) fn is_busy(&self) -> bool {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Waits until no measurement is running.
    pub(crate) async fn empty(&self) {
        while self.is_busy() {
            self.is_empty.notified().await;
        }
    }

    /// Delivers a data channel to the current measurement. Drops a channel of another measurement.
    fn deliver(&self, test: u64, channel: Channel) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((expected, to)) = &*current
            && *expected == test
        {
            // If there are more channels than expected, the excess channel is dropped.
            _ = to.try_send(Arrival(channel));
        }
    }
}

fn stops() -> ToolError {
    ToolError::Failed("the server stops".to_owned())
}

/// Serves a channel that a client has opened. Returns a line for the operator of the server.
pub(crate) async fn serve_channel(
    mut channel: Channel,
    peer: SocketAddr,
    via: &ClientTransport,
    slot: &MeasurementSlot,
    stop: Stop,
) -> Option<(Kind, String)> {
    let named = |text: String| format!("{} {}: {text}", via.protocol(), peer.ip());
    let preface = match Preface::read(&mut channel.receive).await {
        Ok(preface) => preface,
        Err(reason) => {
            let refusal = Message::Refused { reason: reason.clone() };
            // Closing a socket with unread bytes resets the connection. The reset would destroy the
            // refusal.
            let farewell = async {
                protocol::send(&mut channel.send, &refusal).await?;
                channel.send.shutdown().await?;
                let mut rest = channel.receive.take(protocol::LARGEST as u64);
                tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
            };
            _ = tokio::time::timeout(PATIENCE, farewell).await;
            return Some((Kind::Refused, named(format!("refused: {reason}"))));
        }
    };
    if preface.is_data {
        slot.deliver(preface.test, channel);
        return None;
    }
    let Channel { mut send, receive, carrier } = channel;
    let mut inbox = protocol::inbox(receive);
    let done = tokio::select! {
        done = conduct(&mut send, &mut inbox, via, slot, preface.test) => done,
        () = stop.over() => Err(stops()),
    };
    let (told, held) = match done {
        Ok((told, held)) => ((Kind::Measured, named(told)), Some(held)),
        Err(error) => {
            let refusal = Message::Refused { reason: error.to_string() };
            _ = tokio::time::timeout(PATIENCE, protocol::send(&mut send, &refusal)).await;
            ((Kind::Refused, named(format!("refused: {error}"))), None)
        }
    };
    // The client reads the last message and closes the connections. They must exist until then.
    while let Ok(Some(Ok(_))) = tokio::time::timeout(PATIENCE, inbox.recv()).await {}
    drop((held, carrier));
    Some(told)
}

async fn next(inbox: &mut mpsc::Receiver<Result<Message, String>>) -> Result<Message, ToolError> {
    let gone = || ToolError::Failed("the control channel is lost".to_owned());
    inbox.recv().await.ok_or_else(gone)?.map_err(ToolError::Failed)
}

/// The connections of a finished measurement. The client ends them.
struct Held {
    _traffic: (Option<Load>, Option<Sink>),
    _meter: Meter,
}

async fn conduct(
    control: &mut super::channel::Sending,
    inbox: &mut mpsc::Receiver<Result<Message, String>>,
    via: &ClientTransport,
    slot: &MeasurementSlot,
    test: u64,
) -> Result<(String, Held), ToolError> {
    let lost = |error: std::io::Error| ToolError::failed("the control channel is lost", error);
    let late = |what| ToolError::failed(what, format_args!("found nothing for {} s", PATIENCE.as_secs()));
    let request = tokio::time::timeout(PATIENCE, next(inbox)).await.map_err(|_| late("request"))??;
    let Message::Request(plan) = request else {
        return Err(ToolError::usage("message", "another one", "a request"));
    };
    plan.check()?;
    let mut admitted = slot.admit(via, test, &plan)?;
    protocol::send(control, &Message::Accepted).await.map_err(lost)?;
    let mut channels = Vec::new();
    let gather = async {
        while channels.len() < plan.streams as usize {
            let Some(Arrival(channel)) = admitted.arrivals.recv().await else { return };
            channels.push(channel);
        }
    };
    tokio::time::timeout(PATIENCE, gather).await.map_err(|_| late("data channels"))?;
    let (mut sending, mut receiving, mut carriers) = (Vec::new(), Vec::new(), Vec::new());
    for channel in channels {
        if let (true, Transport::Tcp { congestion: Some(name) }) = (plan.reverse, &plan.contender.transport) {
            channel.carrier.set_kernel_congestion(name)?;
        }
        sending.push(channel.send);
        receiving.push(channel.receive);
        carriers.push(channel.carrier);
    }
    protocol::send(control, &Message::Started).await.map_err(lost)?;
    let meter = Meter::start(carriers);
    let most = plan.seconds.map_or(protocol::LONGEST, Duration::from_secs_f64) + GRACE;
    let work = async {
        if plan.reverse {
            let mut load = Load::start(sending, &plan)?;
            let message = tokio::select! {
                error = load.run(&meter) => return Err(error),
                message = next(inbox) => message?,
            };
            match message {
                Message::Stop => Ok((meter.read(Some(&load), None), (Some(load), None))),
                _ => Err(ToolError::usage("message", "another one", "the end of the measurement")),
            }
        } else {
            let (to, mut reports) = mpsc::unbounded_channel();
            let mut sink = Sink::start(receiving);
            let received = {
                let receive = sink.run(&plan, &to);
                tokio::pin!(receive);
                loop {
                    tokio::select! {
                        received = &mut receive => break received?,
                        Some(report) = reports.recv() => {
                            protocol::send(control, &Message::Report(report)).await.map_err(lost)?;
                        }
                        message = next(inbox) => {
                            message?;
                            return Err(ToolError::usage("message", "one", "none before the result"));
                        }
                    }
                }
            };
            Ok((meter.read(None, Some(received)), (None, Some(sink))))
        }
    };
    let done = tokio::time::timeout(most, work).await;
    let (side, traffic) = done.map_err(|_| ToolError::failed("measurement", "it takes too long"))??;
    let told = match &side.received {
        Some(report) => format!("{} has sent {} octets in {:.1} s", plan.contender.name, report.octets, report.seconds),
        None => format!("{} has received", plan.contender.name),
    };
    protocol::send(control, &Message::Result(side)).await.map_err(lost)?;
    Ok((told, Held { _traffic: traffic, _meter: meter }))
}
