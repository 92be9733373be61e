//! Runs a world of machines by the wall clock, with the packets of real applications.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`driver`] | [`Driver`]: runs a world in real time, with packets that arrive from devices |
//! | [`clock`] | [`WallClock`]: the monotonic clock, counted from the start of the run |
//! | [`wake_latency`] | [`WakeLatency`]: the time that the system takes to wake a thread; the driver sets its timers earlier by it |
//! | [`outlet`] | [`Outlet`]: TUN devices to which packets are delivered, with the lateness of each packet |
//! | [`lateness`] | [`Lateness`]: the distribution of this lateness, in total and by second |
//! | [`tun`] | [`Tun`]: a network device whose packets are read and written by this process |
//! | [`diversion`] | [`Diversion`]: traffic that the kernel forwards between two devices, diverted to this process while it runs |
//! | [`exit`] | [`Exit`]: frames sent through a device in batches |
//! | [`forwarding`] | [`Forwarding`]: forwards traffic between two devices without a process |
//! | [`namespace`] | [`Namespace`]: a separate network stack, which exists as long as its descriptor |
//! | [`udp`] | UDP sockets that move datagrams in batches |
//! | [`netlink`] | addresses, routes and properties of devices |
//! | [`memory`] | the memory of this process |
//! | [`named_file`] | files of any kind that users name, read without waiting for ever |
//! | [`permission`] | the permission of root, or of a separate user namespace |
//! | [`household`] | [`Household`]: processes that end with this one, however it ends |
//! | [`socket`] | sockets of the kernel inside a namespace, and [`TcpInfo`] |
//! | [`realtime`] | [`Privileges`](realtime::Privileges): real-time priority, locked memory, and processors that do not halt |
//! | [`cpu_latency`] | [`AwakeProcessors`]: processors that do not halt while they are idle |
//! | [`steal`] | [`Steal`]: the stolen time of processors |
//! | [`idling`] | [`Wakefulness`](idling::Wakefulness): processors stay awake, or halt when too much of their time is stolen |
//! | [`run_delay`] | [`RunDelays`]: the time that runnable threads wait for a processor; [`Wait`]: the longest in an interval |
//! | [`standstill`] | [`Standstill`]: the times at which a processor stood still |
//! | `sys` | the system calls without a safe wrapper: the only unsafe code |
//!
//! Namespaces have no names: the kernel removes them, with their devices, when the last descriptor
//! is closed, also after `kill -9`.

pub mod clock;
pub mod cpu_latency;
pub mod diversion;
pub mod driver;
pub mod exit;
pub mod forwarding;
pub mod household;
pub mod idling;
pub mod lateness;
pub mod memory;
pub mod named_file;
pub mod namespace;
pub mod netlink;
pub mod outlet;
pub mod permission;
pub mod realtime;
pub mod run_delay;
pub mod socket;
pub mod standstill;
pub mod steal;
mod sys;
pub mod tun;
pub mod udp;
pub mod wake_latency;

pub use clock::WallClock;
pub use cpu_latency::AwakeProcessors;
pub use diversion::Diversion;
pub use driver::{Devices, Driver, Outcome};
pub use exit::Exit;
pub use forwarding::Forwarding;
pub use household::Household;
pub use lateness::Lateness;
pub use namespace::Namespace;
pub use outlet::Outlet;
pub use run_delay::{RunDelays, Wait};
pub use socket::TcpInfo;
pub use standstill::Standstill;
pub use steal::Steal;
pub use tun::Tun;
pub use wake_latency::WakeLatency;
