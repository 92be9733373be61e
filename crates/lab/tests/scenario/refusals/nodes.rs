//! Names, nodes and paths between nodes.

use super::{check, check_marked};
use crate::scenario::{FULL, edited, read};

#[test]
fn names_and_nodes() {
    check(&[
        (
            r#"name = "btl""#,
            r#"name = «"bottle neck"»"#,
            r#"link.0.name: found "bottle neck", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "btl""#,
            r#"name = «"10"»"#,
            r#"link.0.name: found "10", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "bulk""#,
            r#"name = «"a.b"»"#,
            r#"flow.0.name: found "a.b", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"from = "r1""#,
            r#"from = «""»"#,
            r#"link.0.from: found "", expected a name of letters, digits, `_` and `-` that begins with a letter or `_`"#,
        ),
        (
            r#"name = "lan""#,
            r#"name = «"btl"»"#,
            r#"link.2.name: found "btl", expected a unique name; another link has this one"#,
        ),
        ("to = \"r2\"\n\n", "to = «\"r1\"»\n\n", r#"link.0.to: found "r1", expected a node other than `from`"#),
        (
            "from = \"r2\"\n",
            "from = «\"access_reverse\"»\n",
            r#"link.2.from: found "access_reverse", expected another name; a direction of the link `access` has this one"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"src_0\"»\npreset",
            r#"flow.1.to: found "src_0", expected a node other than `from`"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"src_1\"»\npreset",
            r#"flow.1.to: found "src_1", expected a node that a link or a cell names: dst_0, r1, r2, src_0; did you mean `src_0`?"#,
        ),
        (
            "to = \"r2\"\npreset",
            "to = «\"nowhere\"»\npreset",
            r#"flow.1.to: found "nowhere", expected a node that a link or a cell names: dst_0, r1, r2, src_0"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"dst_1"»"#,
            r#"capture.0.point: found "dst_1", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `dst_0`?"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"r1"»"#,
            r#"capture.0.point: found "r1", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `r2`?"#,
        ),
        (
            r#"point = "dst_0""#,
            r#"point = «"dst_0.out"»"#,
            r#"capture.0.point: found "dst_0.out", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse"#,
        ),
        (
            r#"point = "btl_reverse.out""#,
            r#"point = «"btl_revers.out"»"#,
            r#"capture.1.point: found "btl_revers.out", expected a node where a flow begins or ends, or a direction of a link, with `.out` for packets as they leave it: dst_0, r2, src_0, btl_forward, btl_reverse, access_forward, access_reverse, lan_forward, lan_reverse; did you mean `btl_reverse`?"#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «""»"#,
            r#"capture.0.file: found "", expected the name of a file, such as "src_0.pcapng""#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"a/"»"#,
            r#"capture.0.file: found "a/", expected the name of a file, such as "src_0.pcapng""#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"../a"»"#,
            r#"capture.0.file: found "../a", expected a file inside the folder of the run: no `..` and no leading `/`"#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"/etc/a"»"#,
            r#"capture.0.file: found "/etc/a", expected a file inside the folder of the run: no `..` and no leading `/`"#,
        ),
        (
            r#"file = "dst_0.pcapng""#,
            r#"file = «"flows.parquet"»"#,
            r#"capture.0.file: found "flows.parquet", expected another name: results of acklab have this one, or are hidden"#,
        ),
        (
            r#"file = "captures/acks.pcapng""#,
            r#"file = «"dst_0.pcapng"»"#,
            r#"capture.1.file: found "dst_0.pcapng", expected a unique file; another capture writes it"#,
        ),
    ]);
}

#[test]
fn flows_that_share_a_name() {
    check_marked(
        &FULL.replace("from = \"src_0\"\nto = \"r2\"", "name = «\"bulk_2\"»\nfrom = \"src_0\"\nto = \"r2\""),
        "flow.1.name: two flows would be called `bulk_2`: flow.0 and flow.1",
    );
}

#[test]
fn nodes_without_a_path() {
    let island =
        "\n[[link]]\nname = \"island\"\nfrom = \"a\"\nto = \"b\"\nforward = { delay = \"1ms\" }\nreverse = {}\n";
    check_marked(
        &format!("{}{island}", edited("to = \"r2\"\npreset", "to = «\"b\"»\npreset")),
        "flow.1.to: found \"b\", expected a node that is connected with src_0: dst_0, r1, r2",
    );
}

/// Such a flow would send forever at the same instant.
#[test]
fn paths_that_take_no_time() {
    let refusal = |forward: &str, reverse: &str| {
        let text = format!(
            "duration = \"1s\"\nseed = 1\n[[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nforward = {forward}\nreverse = {reverse}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\npreset = \"rfc\"\n"
        );
        read(&text, &[]).err().map(|refusal| refusal.message().to_owned())
    };
    assert_eq!(
        refusal("{}", "{}").as_deref(),
        Some(
            "packets between a and b take no time, so the run would never end; expected a rate or a delay on a link between them"
        )
    );
    for some_time in ["{ delay = \"1ns\" }", "{ rate = \"10000Gbps\" }", "{ gate = { interval = \"1ms\", quota = 1 } }"]
    {
        assert_eq!(refusal(some_time, "{}"), None);
        assert_eq!(refusal("{}", some_time), None);
    }
}
