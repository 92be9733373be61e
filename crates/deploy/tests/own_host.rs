//! Tests that the rule `public` excludes addresses of the far side's own host, in a namespace with
//! public addresses.
//!
//! The test needs the permission to create namespaces, and the programs `unshare` and `ip`. Without
//! them, it reports that it was skipped. It runs itself again in separate namespaces for the
//! network and for `/etc/hosts`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use acklab_live::Namespace;
use acklab_live::netlink::Netlink;
use common::{Far, socks};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;

/// A public address of the far side's host, for each version of IP.
const OWN: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::new(9, 9, 9, 9), Ipv6Addr::new(0x2620, 0xfe, 0, 0, 0, 0, 0, 0xfe));
/// Another host of the public Internet.
const OTHER: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::new(8, 8, 8, 8), Ipv6Addr::new(0x2001, 0x4860, 0, 0, 0, 0, 0, 0x8888));
/// A name of the far side's host.
const NAME: &str = "own.example";
/// Set in the process that runs in separate namespaces.
const APART: &str = "ACKLAB_TEST_APART";
const SUCCEEDED: u8 = 0;
const NOT_ALLOWED: u8 = 2;

/// Runs `ip` of iproute2 in the namespace of the calling thread.
fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Returns a link between the namespace of the calling thread and another one. Each end has its
/// addresses, and a route to those of the other end.
fn internet() -> Namespace {
    let internet = Namespace::new().unwrap();
    Netlink::here().unwrap().add_pair("out0", "in0", &internet).unwrap();
    let configure = |device: &str, (v4, v6): (Ipv4Addr, Ipv6Addr)| {
        ip("link set lo up");
        ip(&format!("link set {device} up"));
        ip(&format!("address add {v4}/32 dev {device}"));
        ip(&format!("address add {v6}/128 dev {device} nodad"));
        ip(&format!("route add default dev {device}"));
        ip(&format!("-6 route add default dev {device}"));
    };
    configure("out0", OWN);
    let configured = internet.inside(|| {
        configure("in0", OTHER);
        Ok(())
    });
    configured.unwrap();
    internet
}

/// Returns the type and the octets of an address in a request of SOCKS5.
fn encoded(host: &str) -> Vec<u8> {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => [[1].as_slice(), &v4.octets()].concat(),
        Ok(IpAddr::V6(v6)) => [[4].as_slice(), &v6.octets()].concat(),
        Err(_) => [[3, host.len() as u8].as_slice(), host.as_bytes()].concat(),
    }
}

fn accept_all(listener: TcpListener) {
    std::thread::spawn(move || listener.incoming().flatten().for_each(drop));
}

/// Runs the test with this name again in separate namespaces. Returns `true` in that process.
fn is_apart(test: &str) -> bool {
    if std::env::var_os(APART).is_some() {
        return true;
    }
    let hosts = std::env::temp_dir().join(format!("acklab-hosts-{}", std::process::id()));
    std::fs::write(&hosts, format!("127.0.0.1 localhost\n{} {NAME}\n{} {NAME}\n", OWN.0, OWN.1)).unwrap();
    let unshared = ["--net", "--mount", "sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\""];
    let mut command = Command::new("unshare");
    command.args(unshared).arg(&hosts).arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let may = Command::new("unshare").args(["--net", "--mount", "ip", "link"]).output();
    match may.map(|done| done.status.success()) {
        Ok(true) => assert!(command.env(APART, "1").status().unwrap().success()),
        _ => eprintln!("skipped: cannot make namespaces"),
    }
    std::fs::remove_file(hosts).unwrap();
    false
}

#[test]
fn a_public_address_of_the_own_host_is_not_of_the_public_internet() {
    if !is_apart("a_public_address_of_the_own_host_is_not_of_the_public_internet") {
        return;
    }
    let internet = internet();
    let local = TcpListener::bind("[::]:0").unwrap();
    let port = local.local_addr().unwrap().port();
    accept_all(local);
    internet.inside(|| TcpListener::bind(("::", port)).map(accept_all)).unwrap();
    // The kernel delivers these to this host, although no interface has their addresses.
    ip("route add local 198.41.0.0/24 dev lo");
    ip("-6 route add local 2001:503:ba3e::/48 dev lo");
    // Only one port, as for a transparent proxy on this host.
    ip(&format!("rule add to 8.8.4.4 ipproto tcp dport {port} lookup 100"));
    ip("route add local default dev lo table 100");
    let far = Far::new(&[]);
    let (serving, _far) = far.listen(0);
    let (bound, _, _near) = far.connect(serving.port, "127.0.0.1:1");
    let reply = |host: &str| socks(bound[0], 1, &encoded(host), port).1;
    for address in [IpAddr::from(OWN.0), OWN.1.into(), [198, 41, 0, 7].into()] {
        TcpStream::connect(SocketAddr::new(address, port)).unwrap();
    }
    let own = "9.9.9.9 2620:fe::fe ::ffff:9.9.9.9 64:ff9b::909:909 2002:909:909::1 198.41.0.7 2001:503:ba3e::7 8.8.4.4";
    // The C library accepts numbers as names of hosts.
    let names = "own.example OWN.Example 151587081 0x9090909 9.592137 2620:fe::fe%1 fe80::1%out0 localhost 0 127.1";
    for host in own.split(' ').chain(names.split(' ')) {
        assert_eq!(reply(host), NOT_ALLOWED, "{host}");
    }
    for host in "8.8.8.8 2001:4860::8888 ::ffff:8.8.8.8 134744072".split(' ') {
        assert_eq!(reply(host), SUCCEEDED, "{host}");
    }
    // Addresses are checked for each connection.
    ip("address add 8.8.8.8/32 dev lo");
    assert_eq!(reply("8.8.8.8"), NOT_ALLOWED, "since a moment ago, it is an address of this host");
    // An interface that is down also has addresses.
    ip("link set out0 down");
    assert_eq!(reply("9.9.9.9"), NOT_ALLOWED);
}
