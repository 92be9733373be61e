//! Measures endpoints, links and cells.
//!
//! Probes use an endpoint only through its contract in `acklab-base`, and do not depend on a
//! transport. The tables of a simulated, an emulated and a deployed connection therefore have the
//! same columns with the same meaning. This crate contains no scenario, no clock and no socket. The
//! caller that drives the endpoints passes the time.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`recorder`] | [`Recorder`]: the measurement of one endpoint whose peer runs elsewhere |
//! | [`meter`] | [`EndpointMeter`]: passes to probes and to a log what an endpoint sends, accepts and reports |
//! | [`probe`] | [`FlowProbe`]: the measurements of one direction of a flow |
//! | [`statistics`] | means, distributions and Jain's index, updated with each value |
//! | [`snapshot`] | [`Snapshot`]: the counters of an endpoint at an instant |
//! | [`flow`], [`relay`] | flows and proxies of which both ends are measured |
//! | [`observed`] | [`Observed`]: a packet that probes and captures can read |
//! | [`observers`], [`air`] | the observers of a network: captures, drops, and monitors of a cell's air |
//! | [`subjects`] | [`Subjects`]: the names and known properties of what is measured |
//! | [`series`] | [`Series`]: the time series that can be recorded |
//! | [`mod@tables`] | the tables, and [`metrics`]: their columns |
//! | [`metric`] | [`Description`]: the meaning of a column |
//! | [`table`] | [`Table`]: a typed table with units, which converts to Arrow |
//! | [`qlog`] | logs of endpoints for qvis |
//! | [`capture`] | captures of packets, of sockets and of the air in pcapng files |
//!
//! # An endpoint without the lab
//!
//! A program that drives an endpoint itself, for instance over real sockets, calls a [`Recorder`]
//! at each step. In this example, a sender of TCP sends its SYN:
//!
//! ```
//! use acklab_base::random::Seed;
//! use acklab_base::{Duration, Endpoint, Instant, Machine, Port};
//! use acklab_measure::{FlowInfo, Recorder, RecorderOptions, Series};
//! use acklab_transport::cc::Controller;
//! use acklab_transport::tcp::{Preset, Sender};
//!
//! let config = Preset::Linux.config();
//! let seed = Seed(1);
//! let controller = Controller::new(&config.congestion, &config.controller_start(seed, "upload")).unwrap();
//! let mut sender = Sender::new(config, controller, seed, "upload");
//!
//! let mut now = Instant::ZERO;
//! let info = FlowInfo { name: "upload".to_owned(), payload: config.mss.get(), ..FlowInfo::default() };
//! let options = RecorderOptions {
//!     series: vec![Series::OperatingPoint, Series::Events],
//!     sample_interval: Some(Duration::from_millis(10)),
//!     ..RecorderOptions::default()
//! };
//! let mut recorder = Recorder::new(now, info, &options, &mut sender);
//!
//! if let Port::Stream(port) = sender.port() {
//!     port.open(now);
//!     port.write(now, 1_000_000);
//! }
//! recorder.update(now, &mut sender);
//! while let Some(segment) = sender.poll(now) {
//!     recorder.sends(now, &segment, &sender);
//!     // … and out to the socket.
//! }
//! for _ in 0..5 {
//!     recorder.sample(now, &sender);
//!     now += Duration::from_millis(10);
//! }
//!
//! let tables = recorder.finish(now, &mut sender).unwrap();
//! let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
//! assert_eq!(names, ["flows", "acks", "operating_point", "events"]);
//! let batch = tables.into_iter().nth(2).unwrap().into_arrow().unwrap();
//! assert_eq!(batch.num_rows(), 5);
//! ```

pub mod air;
pub mod capture;
pub mod flow;
pub mod meter;
pub mod metric;
pub mod observed;
pub mod observers;
pub mod probe;
pub mod qlog;
pub mod recorder;
pub mod relay;
pub mod series;
pub mod snapshot;
pub mod statistics;
pub mod subjects;
pub mod table;
pub mod tables;

pub use meter::{EndpointMeter, Role};
pub use metric::{Better, Description};
pub use observed::{Delivery, Observed};
pub use probe::{FlowProbe, Probes, Records};
pub use recorder::{Recorder, RecorderOptions};
pub use series::Series;
pub use snapshot::Snapshot;
pub use subjects::{FlowInfo, Subjects};
pub use table::Table;
pub use tables::{metrics, tables};
