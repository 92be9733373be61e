//! Captures as decoded by tshark.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Returns these fields of each frame of `path`, as tshark decodes them, separated by blanks.
/// Returns `None` if tests with tshark are disabled.
///
/// # Panics
/// If tshark is missing or fails.
pub(crate) fn tshark(path: &Path, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    decoded(path, &["-n"], filter, fields)
}

/// Returns the same with addresses replaced by the names that the file gives them.
pub(crate) fn tshark_with_names(path: &Path, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    decoded(path, &["-N", "n"], filter, fields)
}

/// Returns the same with a dissector of this project, which `name` names by its file. Fields are
/// separated by tabs.
pub(crate) fn tshark_with_dissector(path: &Path, name: &str, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dissectors").join(name);
    decoded(path, &["-n", "-X", &format!("lua_script:{}", script.display()), "-E", "separator=/t"], filter, fields)
}

/// Returns the same with these datagrams decoded as another protocol, such as `udp.port==9,quic`.
/// Fields are separated by tabs.
pub(crate) fn tshark_as(path: &Path, taken_for: &str, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    decoded(path, &["-n", "-d", taken_for, "-E", "separator=/t"], filter, fields)
}

/// Returns `true` if the installed tshark dissects EHT. Wireshark 4.0 does not, and shows no field
/// of a frame with EHT fields in radiotap.
pub(crate) fn knows_eht() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let fields = Command::new("tshark").args(["-G", "fields"]).output().map(|output| output.stdout);
        let knows = fields.is_ok_and(|fields| String::from_utf8_lossy(&fields).contains("\tradiotap.eht.known\t"));
        if !knows {
            eprintln!("left out: tshark does not know EHT");
        }
        knows
    })
}

fn decoded(path: &Path, options: &[&str], filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    if std::env::var_os("ACKLAB_WITHOUT_TSHARK").is_some() {
        eprintln!("left out: ACKLAB_WITHOUT_TSHARK is set");
        return None;
    }
    let output = Command::new("tshark")
        .args([
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "wlan.check_checksum:TRUE",
            "-o",
            "udp.check_checksum:TRUE",
            "-T",
            "fields",
            "-E",
            "separator=/s",
        ])
        .args(options)
        .args(["-Y", filter])
        .args(fields.iter().flat_map(|field| ["-e", *field]))
        .arg("-r")
        .arg(path)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "tshark does not start ({error}): install it, or set ACKLAB_WITHOUT_TSHARK=1 to do without this test"
            )
        });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect())
}

/// Returns the numbers of the frames that match `filter`, each with these fields.
pub(crate) fn frames(path: &Path, filter: &str, fields: &[&str]) -> Option<Vec<String>> {
    tshark(path, filter, &[&["frame.number"], fields].concat())
}
