//! The initial settings of a connection.

use crate::refusal::Refusal;
use crate::script::Script;
use crate::shell::Order;
use crate::sysctl;
use acklab_base::{Bytes, Duration};
use acklab_transport::fault::{Complaint, Fault};
use acklab_transport::tcp::sender::SendBufferLimit;
use acklab_transport::tcp::{Settings, TcpConfig, ecn};

/// The payload of a packet of 1500 octets, the MTU of a script's device, with the headers of IPv4
/// and TCP.
const DEVICE_MSS: u64 = 1460;
/// Octets of a timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

/// The initial settings of a connection.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The caller's settings, which override the kernel variables.
    settings: Settings,
    /// The kernel variables in the order in which they were set. A later value overrides an earlier
    /// one.
    orders: Vec<Order>,
    tick: Option<Duration>,
    /// The maximum segment size that the application requests (`TCP_MAXSEG`).
    pub(super) max_payload: Option<u64>,
    /// The receive buffer that the application requests (`SO_RCVBUF`).
    pub(super) receive_buffer: Option<Bytes>,
}

impl Start {
    /// Returns the caller's settings, with the tick of `script`.
    pub(super) fn new(settings: &Settings, script: &Script) -> Self {
        Self {
            settings: settings.clone(),
            orders: Vec::new(),
            tick: script.command_line.timestamp_tick,
            max_payload: None,
            receive_buffer: None,
        }
    }

    /// Adopts a kernel variable.
    pub(super) fn adopt(&mut self, order: &Order) -> Result<(), Refusal> {
        sysctl::adopt(&mut self.settings.clone(), &mut None, order)?;
        self.orders.push(order.clone());
        Ok(())
    }

    /// Returns `true` if `order` changes the initial settings of connections.
    pub(super) fn is_changed_by(&self, order: &Order) -> Result<bool, Refusal> {
        let mut after = self.clone();
        after.adopt(order)?;
        Ok([true, false].iter().any(|is_active| after.config(*is_active) != self.config(*is_active)))
    }

    /// Returns the settings of the end that opens the connection (`is_active`), or of the other
    /// end. An error names the caller's settings that contradict the script.
    pub(super) fn config(&self, is_active: bool) -> Result<TcpConfig, String> {
        let mut settings = self.settings.clone();
        let mut by_end = None;
        for order in self.orders.iter().rev() {
            // It was adopted before, so it is in scope.
            let _ = sysctl::adopt(&mut settings, &mut by_end, order);
        }
        // A write of a script is accepted as a whole, because scripts do not test the memory limits
        // of the kernel.
        settings.send_buffer_limit.get_or_insert(SendBufferLimit::Payload);
        if let Some(ecn) = by_end {
            settings.ecn.get_or_insert(if is_active { ecn.active } else { ecn.passive });
        }
        if settings.config().timestamps.is_some() {
            settings.timestamp_tick = settings.timestamp_tick.or(self.tick);
        }
        if settings.config().ecn != ecn::EcnConfig::Accurate {
            settings.ecn_option = None;
        }
        settings.receive_buffer = self.receive_buffer.map(|size| self.window_of(size)).or(settings.receive_buffer);
        settings.mss.get_or_insert(Bytes(self.payload(&settings)));
        settings.check().map_err(complaint)?;
        Ok(settings.config())
    }

    /// Returns the initial window of a kernel for a receive buffer of `size`: whole segments, here
    /// without timestamps (`tcp_select_initial_window`). The kernel allocates twice the size, and
    /// reserves half of it for headers until segments have arrived.
    fn window_of(&self, size: Bytes) -> Bytes {
        let mss = self.max_payload.unwrap_or(DEVICE_MSS).clamp(1, DEVICE_MSS);
        Bytes(if size.get() > mss { size.get() / mss * mss } else { size.get() })
    }

    /// Returns the payload of a full-sized segment with the timestamps, if they are offered.
    fn payload(&self, settings: &Settings) -> u64 {
        let mss = self.max_payload.unwrap_or(DEVICE_MSS).min(DEVICE_MSS);
        mss.saturating_sub(if settings.config().timestamps.is_some() { TIMESTAMPS } else { 0 }).max(1)
    }
}

fn complaint(fault: Fault) -> String {
    match fault.complaint {
        Complaint::Expected(expected) => format!("{}: expected {expected}", fault.path),
        Complaint::Misplaced(reason) => format!("{}: {reason}", fault.path),
    }
}
