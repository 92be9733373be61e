//! The wall clock: what a world of machines needs to carry the packets of real applications.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`driver`] | [`Driver`]: runs a world in real time, with packets that arrive from devices |
//! | [`clock`] | [`WallClock`]: the monotonic clock, counted from the start of the run |
//! | [`wake_latency`] | [`WakeLatency`]: how long the system takes to wake a thread, by which the driver sets its timers earlier |
//! | [`outlet`] | [`Outlet`]: TUN devices to which packets are delivered, and how late each was |
//! | [`lateness`] | [`Lateness`]: the distribution of these delays, in all and by second |
//! | [`tun`] | [`Tun`]: a network device whose packets are read and written by this process |
//! | [`diversion`] | [`Diversion`]: traffic that the kernel forwards between two devices, diverted to this process as long as it lives |
//! | [`exit`] | [`Exit`]: frames sent through a device in batches |
//! | [`forwarding`] | [`Forwarding`]: what carries traffic between two devices when no process does |
//! | [`namespace`] | [`Namespace`]: a network stack of its own, held only by a descriptor |
//! | [`udp`] | UDP sockets that move datagrams in batches |
//! | [`netlink`] | addresses, routes and properties of devices |
//! | [`memory`] | the memory of this process |
//! | [`named_file`] | files that people name, whose reading ends whatever they are |
//! | [`permission`] | root, or a user namespace of one's own |
//! | [`household`] | [`Household`]: processes that end with this one, whatever ends it |
//! | [`socket`] | sockets of the kernel inside a namespace, and [`TcpInfo`] |
//! | [`realtime`] | [`Privileges`](realtime::Privileges): real-time priority, locked memory, and processors that do not halt |
//! | [`cpu_latency`] | [`AwakeProcessors`]: processors that do not halt while they are idle |
//! | [`steal`] | [`Steal`]: the time that the hypervisor takes of processors |
//! | [`idling`] | [`Wakefulness`](idling::Wakefulness): processors stay awake, or halt once the hypervisor takes too much of them |
//! | [`wait`] | [`Wait`]: how long something that could run waited for a processor |
//! | [`run_delay`] | [`RunDelays`]: how long threads that could run wait for a processor |
//! | [`standstill`] | [`Standstill`]: how long a processor stands still, whatever this process does |
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
pub mod wait;
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
pub use run_delay::RunDelays;
pub use socket::TcpInfo;
pub use standstill::Standstill;
pub use steal::Steal;
pub use tun::Tun;
pub use wait::Wait;
pub use wake_latency::WakeLatency;
