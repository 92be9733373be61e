//! The Python module `acklab._core`: bindings of the lab.
//!
//! | module | contents |
//! |---|---|
//! | `run` | checks and runs a scenario: text in, Arrow tables out |
//! | `batch` | checks and runs many points of a sweep in one call |
//! | `emulate` | runs a scenario in real time |
//! | `inline` | runs the path of a scenario between two interfaces |
//! | `inspect` | reads captures |
//! | `packetdrill` | runs scripts of packetdrill |
//! | `hosts` | tools for real hosts: serve, perf, proxy |
//! | `strategies` | callbacks to ACK policies, congestion controllers and rules of requesting ACKs written in Python |
//! | `table` | Arrow tables for Python |
//! | `cancel` | a token that stops runs |
//! | `threads` | long work in a separate thread |
//! | `errors` | the conversion of errors to exceptions |

use pyo3::prelude::*;

mod batch;
mod cancel;
mod emulate;
mod errors;
mod hosts;
mod inline;
mod inspect;
mod packetdrill;
mod run;
mod strategies;
mod table;
mod threads;

/// The compiled core of acklab.
#[pymodule]
mod _core {
    use super::{PyModule, PyResult};
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::{BatchResult, check_many, run_many};
    #[pymodule_export]
    use super::cancel::Cancel;
    #[pymodule_export]
    use super::emulate::{EmulationResult, acquire_permission, calibrate, emulate};
    #[pymodule_export]
    use super::hosts::{
        known_fingerprint, offered_fingerprint, perf, proxy_connect, proxy_listen, remember_fingerprint, serve,
    };
    #[pymodule_export]
    use super::inline::inline;
    #[pymodule_export]
    use super::inspect::inspect;
    #[pymodule_export]
    use super::packetdrill::packetdrill;
    #[pymodule_export]
    use super::run::{RunResult, check, load, metrics, run, schema};
    #[pymodule_export]
    use super::strategies::ask::{AckRequest, AskPath, AskStart};
    #[pymodule_export]
    use super::strategies::controller::ControllerStart;
    #[pymodule_export]
    use super::strategies::facts::{Ack, Lost, RateSample, Sent, Transmission, Window};
    #[pymodule_export]
    use super::strategies::policy::{Arrival, At, Hold, Ledger, Now, PolicyStart};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("PORT", acklab_deploy::tools::PORT)?;
        module.add("QLOG_VERSIONS", acklab_measure::qlog::Schema::ALL.map(acklab_measure::qlog::Schema::name))?;
        module.add("PROCESSORS", acklab_lab::emulate::IdleProcessors::NAMES)?;
        module.add("REVISION", env!("ACKLAB_REVISION"))
    }
}
