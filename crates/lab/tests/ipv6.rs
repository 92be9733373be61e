//! Networks with IPv6: packets are 20 octets longer, and captures hold IPv6.

use crate::common::tables::Tables;
use crate::common::tshark::{frames, tshark, tshark_with_names};
use acklab_lab::RunOptions;
use acklab_lab::scenario::load;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A server behind a link, an access point and a phone: TCP, UDP, QUIC and TACK over both.
const NETWORK: &str = r#"
duration = "500ms"
seed = 1
ip = 6

[[link]]
name = "wire"
from = "server"
to = "ap"
forward = { rate = "40Mbps", delay = "5ms" }
reverse = { rate = "40Mbps", delay = "5ms" }

[[wifi]]
name = "cell"
standard = "802.11n"
rate = { control = "fixed", mcs = 7 }
ap = { name = "ap" }
station = [{ name = "phone" }]

[[flow]]
name = "tcp"
from = "server"
to = "phone"
preset = "linux"

[[flow]]
name = "udp"
from = "phone"
to = "server"
transport = "udp"
traffic = { model = "constant", rate = "1Mbps", write = "1000B" }

[[flow]]
name = "quic"
from = "server"
to = "phone"
transport = "quic"
traffic = { model = "fixed", size = "100kB" }

[[flow]]
name = "tack"
from = "server"
to = "phone"
transport = "tack"
traffic = { model = "fixed", size = "100kB" }

[[capture]]
point = "wire_forward"
file = "wire.pcapng"

[[capture]]
point = "phone"
file = "phone.pcapng"

[[capture]]
point = "cell"
file = "cell.pcapng"
"#;

#[test]
fn captures_hold_valid_ipv6_with_the_names_of_nodes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ipv6");
    fs::create_dir_all(&folder).unwrap();
    let scenario = load(NETWORK, "the network", &[], None).unwrap();
    let tables = Tables::of(&scenario, &RunOptions { captures: Some(folder.clone()), ..RunOptions::default() });
    for file in ["wire.pcapng", "phone.pcapng", "cell.pcapng"] {
        let path = folder.join(file);
        // Frames that collided have a wrong FCS.
        let wrong = "(ip || _ws.malformed || tcp.checksum.status == 0 || udp.checksum.status == 0) \
                     && !(wlan.fcs.status == 0)";
        let Some(found) = frames(&path, wrong, &["_ws.expert.message"]) else { return };
        assert_eq!(found, [""; 0], "{file}");
        // tshark cannot verify a checksum over octets that the file omits (status 2). Some of the
        // other checksums are valid.
        let transports: &[&str] = if file == "cell.pcapng" { &["tcp", "udp"] } else { &["tcp"] };
        for transport in transports {
            let valid = frames(&path, &format!("{transport}.checksum.status == 1"), &[]).unwrap();
            assert!(!valid.is_empty(), "{transport} in {file}");
        }
    }
    let path = folder.join("phone.pcapng");
    let ends = |named: Option<Vec<String>>| named.unwrap().into_iter().collect::<BTreeSet<_>>();
    let both = ["phone server", "server phone"].map(str::to_owned);
    assert_eq!(ends(tshark_with_names(&path, "ipv6", &["ipv6.src_host", "ipv6.dst_host"])), BTreeSet::from(both));
    // Nodes are numbered in the order of their names: ap, phone, server.
    let addresses = ["2001:db8::2 2001:db8::3", "2001:db8::3 2001:db8::2"].map(str::to_owned);
    assert_eq!(ends(tshark(&path, "ipv6", &["ipv6.src", "ipv6.dst"])), BTreeSet::from(addresses));
    // The octets in the table of the link are those of the captured packets.
    let lengths = tshark(&folder.join("wire.pcapng"), "ipv6", &["ipv6.plen"]).unwrap();
    let octets: u64 = lengths.iter().map(|length| 40 + length.parse::<u64>().unwrap()).sum();
    let row = tables.texts("links", "link").iter().position(|link| link == "wire_forward").unwrap();
    assert_eq!(octets, tables.counts("links", "total_bytes_in_l2")[row]);
}

/// The path bounds TACK's largest packet at 1500 octets, whatever the header of IP. IPv6 leaves 20
/// octets fewer for the payload.
#[test]
fn packets_of_tack_are_no_larger_than_with_ipv4() {
    let text = r#"
        duration = "500ms"
        seed = 1
        link = [{ name = "wire", from = "a", to = "b", forward = { delay = "5ms" }, reverse = { delay = "5ms" } }]
        flow = [{ name = "tack", from = "a", to = "b", transport = "tack", traffic = { model = "fixed", size = "1MB" } }]
    "#;
    for version in [4, 6] {
        let tables = Tables::run(text, &[format!("ip={version}")], None);
        let (octets, packets) =
            (tables.counts("links", "total_bytes_out_l2")[0], tables.counts("links", "total_packets_out_l2")[0]);
        assert!((1450..=1500).contains(&(octets / packets)), "{} octets a packet with IPv{version}", octets / packets);
    }
    let refusal = load(text, "it", &["ip=6".into(), "flow.0.packet=1247B".into()], None).unwrap_err().to_string();
    assert!(refusal.contains("1248B to 65535B"), "{refusal}");
}

#[test]
fn every_packet_is_twenty_octets_longer_than_with_ipv4() {
    // Without a rate, the length of packets does not affect the times, so both runs send the same
    // packets.
    let run = |version: u8| {
        let text = r#"
            duration = "500ms"
            seed = 1
            link = [{ name = "wire", from = "a", to = "b", forward = { delay = "5ms" }, reverse = { delay = "5ms" } }]
            flow = [{ name = "tcp", from = "a", to = "b", preset = "linux", receive_buffer = "64KiB" }]
        "#;
        Tables::run(text, &[format!("ip={version}")], None)
    };
    let (four, six) = (run(4), run(6));
    let (octets, packets) = ("total_bytes_out_l2", "total_packets_out_l2");
    let expected = |row: usize| four.counts("links", octets)[row] + 20 * four.counts("links", packets)[row];
    assert_eq!(six.counts("links", octets), [expected(0), expected(1)]);
    assert_eq!(six.counts("links", packets), four.counts("links", packets));
    let acks = four.counts("flows", "total_acks_delivered_l4")[0];
    let of_acks = |tables: &Tables| tables.counts("flows", "total_ack_bytes_l3")[0];
    assert_eq!(of_acks(&six), of_acks(&four) + 20 * acks);
}

#[test]
fn other_versions_and_compressed_acks_are_refused() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        load(NETWORK, "the network", &sets, None).unwrap_err().to_string()
    };
    assert!(refused(&["ip=5"]).contains("ip=5: found 5, expected 4 or 6"), "{}", refused(&["ip=5"]));
    let hack = refused(&["wifi.cell.hack={}"]);
    assert!(hack.contains("expected no `hack` with `ip = 6`"), "{hack}");
}
