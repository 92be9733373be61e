//! The permission to create namespaces and devices: the permission of root, or of a separate user
//! namespace.

use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::fs;
use std::io;

/// The kernel's switches that permit user namespaces, and the command that sets each.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
];

/// The reasons why the permission is denied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process has several threads, and the kernel moves only processes with one thread into a
    /// user namespace.
    #[error(
        "this process may not make network namespaces, and cannot enter a user namespace because it has several threads; \
         expected root, or a process that `unshare --user --map-root-user` starts"
    )]
    Threads,
    /// The system does not permit namespaces to users.
    #[error(
        "this process may not make network namespaces: it is not root (CAP_SYS_ADMIN and CAP_NET_ADMIN), and the system \
         allows it no user namespace ({source}); start it as root (`sudo acklab …`), or let root grant it by `{grant}`"
    )]
    Refused {
        /// The command that permits it.
        grant: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
    /// The user namespace exists, but maps no user.
    #[error("cannot become root of a user namespace: {0}; start it as root (`sudo acklab …`)")]
    Map(io::Error),
}

/// How the process may create namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// It has the capabilities of root.
    Root,
    /// It is root of a user namespace.
    UserNamespace,
}

/// Returns `true` if the process may create network namespaces, process namespaces and devices in
/// them.
#[must_use]
pub fn is_granted() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Acquires the permission. If the process does not have it, it enters a separate user namespace
/// for good, and is root there.
///
/// # Errors
/// If the system does not allow it. The message states how to permit it.
pub fn acquire() -> Result<Permission, Error> {
    if is_granted() {
        return Ok(Permission::Root);
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    crate::sys::unshare(UnshareFlags::NEWUSER).map_err(|errno| match errno {
        rustix::io::Errno::INVAL => Error::Threads,
        other => Error::Refused { grant: grant(), source: other.into() },
    })?;
    // A process without privileges may map only its own user and group. It may map the group only
    // if it cannot leave groups (user_namespaces(7)).
    let written = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("0 {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("0 {group} 1")));
    written.map_err(Error::Map)?;
    Ok(Permission::UserNamespace)
}

/// Returns the command that permits user namespaces on this system.
fn grant() -> &'static str {
    let is_set =
        |(path, value, _): &&(&str, &str, &str)| fs::read_to_string(path).is_ok_and(|found| found.trim() == *value);
    SWITCHES
        .iter()
        .find(is_set)
        .map_or("setcap cap_sys_admin,cap_net_admin,cap_sys_nice+ep PYTHON", |(.., grant)| grant)
}
