//! Reports the kernel's version and features, its drops, and failures.

use super::super::end::Shown;
use super::super::{host_error, kernel};
use super::Stage;
use super::devices::DEVICE;
use crate::error::Error;
use acklab_live::realtime;
use acklab_measure::Table;
use std::fs;
use std::io;
use std::sync::Arc;

/// The offloads of TCP and UDP in the devices, with their names in the table `kernel`. All are off,
/// so that no device merges or splits packets.
const DEVICES: [(&str, &str); 5] = [
    ("offloads", "none"),
    ("tso", "off: TCP hands over one segment at a time"),
    ("gso", "done by the kernel before the device: each read is one packet"),
    ("gro", "off: each packet enters the stack of its host alone"),
    ("gso_max_segs", "1"),
];

impl Stage {
    /// Returns the packets that devices have dropped because their queue was full.
    pub(in super::super) fn overruns(&self) -> Result<u64, Error> {
        let mut sum = 0;
        for host in &self.hosts {
            let dropped = host.namespace.inside(|| {
                let text = fs::read_to_string("/proc/thread-self/net/dev")?;
                let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'));
                // The columns are eight of reception, then octets, packets, errors and drops of
                // transmission.
                let dropped = line.and_then(|line| line.split_whitespace().nth(11)?.parse::<u64>().ok());
                dropped.ok_or_else(|| io::Error::other("the device has no counters"))
            });
            sum += dropped.map_err(host_error(format!("cannot read the counters of node \"{}\"", host.name)))?;
        }
        Ok(sum)
    }

    /// Returns the reasons why flows have failed.
    pub(in super::super) fn failures(&self) -> Vec<String> {
        let failed = |(name, shown): &(String, Arc<Shown>)| Some(format!("flow \"{name}\": {}", shown.failure.get()?));
        self.shown.iter().filter_map(failed).collect()
    }

    /// Returns the table `kernel`, with the kernel and its parameters.
    pub(in super::super) fn provenance(&self) -> Result<Table, Error> {
        let mut rows: Vec<(Option<String>, String, String)> = Vec::new();
        rows.push((None, "release".to_owned(), realtime::kernel_release()));
        for (name, value) in DEVICES {
            rows.push((None, name.to_owned(), value.to_owned()));
        }
        rows.push((None, "mtu".to_owned(), self.mtu.to_string()));
        for host in &self.hosts {
            for parameter in kernel::REPORTED {
                // Not every kernel has every parameter.
                if let Ok(value) = host.namespace.get(parameter) {
                    rows.push((Some(host.name.clone()), parameter.replace('/', "."), value));
                }
            }
        }
        Ok(Table::new("kernel")
            .text("node", rows.iter().map(|(node, ..)| node.clone()))
            .text("parameter", rows.iter().map(|(_, parameter, _)| parameter.clone()))
            .text("value", rows.iter().map(|(.., value)| value.clone())))
    }
}
