//! Processes that end with this process, even if it is killed.

use crate::namespace::Namespace;
use crate::sys;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A process namespace for the children of the thread that created it.
///
/// The first process of the namespace only ends when this thread ends. The kernel then kills all
/// processes of the namespace, including the children of children, even if this process was killed
/// with `kill -9`. Afterwards, the thread cannot start other threads.
#[derive(Debug)]
pub struct Household {
    first: Child,
}

impl Household {
    /// Creates a process namespace for the processes that the calling thread starts from now on.
    ///
    /// # Errors
    /// If the process lacks the permission, or if `sleep` cannot be started.
    pub fn new() -> io::Result<Self> {
        sys::unshare(UnshareFlags::NEWPID)?;
        let mut command = Command::new("sleep");
        command.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        sys::before_exec(&mut command, || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // Orphans of the namespace become children of this process, which does not wait for
            // them.
            sys::ignore_children()
        });
        Ok(Self { first: command.spawn()? })
    }

    /// Returns the first process. Processes whose parents have ended are its children.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first.id()
    }

    /// Starts `command` in `namespace`. The process is killed at the latest when the calling thread
    /// ends.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&self, mut command: Command, namespace: &Namespace) -> io::Result<Child> {
        // The thread itself enters the namespace, not the child between fork and exec. The process
        // therefore need not be copied. Copying would delay the thread that carries packets.
        namespace.inside(|| command.spawn())
    }
}

/// Makes the process of `command` the first of a process group, so that a signal reaches its
/// children too.
pub fn lead_a_group(command: &mut Command) {
    command.process_group(0);
}

/// Requests that `child` end (SIGTERM), and if it leads a process group, the whole group.
pub fn ask_to_end(child: &Child) {
    signal(child, Signal::TERM);
}

/// Kills `child`, and if it leads a process group, the whole group.
pub fn force_to_end(child: &Child) {
    signal(child, Signal::KILL);
}

fn signal(child: &Child, signal: Signal) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    // A process that has ended cannot receive a signal.
    if kill_process_group(pid, signal).is_err() {
        let _ = kill_process(pid, signal);
    }
}

impl Drop for Household {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.first.kill();
        let _ = self.first.wait();
    }
}
