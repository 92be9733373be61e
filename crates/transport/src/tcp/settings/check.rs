//! Checks each setting of a connection, and their combinations.

use super::Settings;
use crate::fault::{Fault, above_zero};
use crate::tcp::config::RttClock;
use crate::tcp::ecn;
use acklab_base::Bytes;

/// The maximum payload in an IP packet of 65,535 bytes, which also has headers of 40 bytes and
/// timestamps of 12 bytes.
const LARGEST_MSS: Bytes = Bytes(65_483);
/// RFC 7323, §2.3: a window of 2¹⁶ with a shift of 14.
const LARGEST_WINDOW: Bytes = Bytes(1 << 30);
/// The maximum size of a buffer: more memory than any machine has.
const LARGEST_BUFFER: Bytes = Bytes(1 << 40);

impl Settings {
    /// Checks the constraints that the schema cannot express.
    ///
    /// # Errors
    /// Returns the first invalid setting.
    pub fn check(&self) -> Result<(), Fault> {
        self.sizes()?;
        self.kernel()?;
        self.timeouts()?;
        self.timestamps()?;
        self.options()?;
        let config = self.config();
        config.congestion.check().map_err(|fault| fault.within("congestion"))?;
        config.slow_start.check().map_err(|fault| fault.within("slow_start"))?;
        config.ack.check().map_err(|fault| fault.within("ack"))
    }

    fn sizes(&self) -> Result<(), Fault> {
        let config = self.config();
        if config.mss == Bytes::ZERO || config.mss > LARGEST_MSS {
            return Err(Fault::expected("mss", format!("a size from 1B to {LARGEST_MSS}")));
        }
        if config.initial_window.0 == 0 {
            return Err(Fault::expected("initial_window", "at least one segment"));
        }
        for (key, buffer, largest) in [
            ("send_buffer", config.send_buffer, LARGEST_BUFFER),
            ("receive_buffer", config.receive_buffer, LARGEST_WINDOW),
        ] {
            if buffer < config.mss {
                return Err(Fault::expected(key, format!("at least one segment of {}", config.mss)));
            }
            if buffer > largest {
                return Err(Fault::expected(key, format!("at most {}GiB", largest.get() >> 30)));
            }
        }
        Ok(())
    }

    fn kernel(&self) -> Result<(), Fault> {
        if self.kernel.is_some() && !self.config().is_autotuned() {
            let reason = "only `receive_window = \"autotuned\"` has the buffer of a kernel";
            return Err(Fault::misplaced("kernel", reason));
        }
        Ok(())
    }

    fn timeouts(&self) -> Result<(), Fault> {
        let rto = self.config().rto;
        above_zero("initial_rto", rto.initial)?;
        above_zero("min_rto", rto.min)?;
        above_zero("max_rto", rto.max)?;
        above_zero("rto_granularity", rto.granularity)?;
        if rto.min > rto.max {
            return Err(match self.min_rto {
                Some(_) => Fault::expected("min_rto", format!("at most the largest timeout, which is {}", rto.max)),
                None => Fault::expected("max_rto", format!("at least the smallest timeout, which is {}", rto.min)),
            });
        }
        Ok(())
    }

    fn timestamps(&self) -> Result<(), Fault> {
        let config = self.config();
        if let Some(tick) = config.timestamps {
            return above_zero("timestamp_tick", tick);
        }
        if self.timestamp_tick.is_some() {
            let reason = "there is no tick without timestamps, and they are switched off";
            return Err(Fault::misplaced("timestamp_tick", reason));
        }
        if config.rtt_clock == RttClock::Timestamps {
            return Err(Fault::expected("rtt_clock", "\"send-times\", for timestamps are switched off"));
        }
        Ok(())
    }

    fn options(&self) -> Result<(), Fault> {
        let config = self.config();
        let ecn = config.ecn;
        if config.congestion.counts_marks() && !ecn.counts() {
            let reason = format!(
                "\"{}\" needs to know how much was marked: expected \"dctcp\" or \"accurate\", found \"{}\"",
                config.congestion.name(),
                ecn.name()
            );
            return Err(Fault::misplaced("ecn", reason));
        }
        if config.congestion.is_scalable() && ecn != ecn::EcnConfig::Accurate {
            let name = config.congestion.name();
            let reason = format!(
                "\"{name}\" is for L4S (RFC 9331, section 4.2): expected \"accurate\", found \"{}\"",
                ecn.name()
            );
            return Err(Fault::misplaced("ecn", reason));
        }
        if self.ecn_option == Some(true) && ecn != ecn::EcnConfig::Accurate {
            let reason = format!("only `ecn = \"accurate\"` has an option, and `ecn` is \"{}\"", ecn.name());
            return Err(Fault::misplaced("ecn_option", reason));
        }
        if config.dsack && !config.sack {
            return Err(Fault::misplaced("dsack", "what comes twice is reported by SACK, and SACK is switched off"));
        }
        Ok(())
    }
}
