//! Tests reception as a cell uses it: models of the channel, hidden nodes, capture, fades and
//! absences.

#![expect(clippy::float_cmp, reason = "certainty is exact, and so is a rate that was given")]

use acklab_base::random::Seed;
use acklab_base::{Bytes, Duration, Instant};
use acklab_wifi::phy::{Band, Format, Guard, Mode, Standard, Width};
use acklab_wifi::reception::capture::Capture;
use acklab_wifi::reception::config::{Snr, Streams};
use acklab_wifi::reception::place::Place;
use acklab_wifi::reception::schedule::{Absence, Fade};
use acklab_wifi::reception::{Cell, Channel, Interferer, Kind, Link, Presence, Reception, ReceptionConfig};

const AC: Cell<'_> = Cell { name: "cell", stations: 3, standard: Standard::Ac, band: Band::Ghz5, width: Width::Mhz20 };
const NOW: Instant = Instant::ZERO;

fn vht(mcs: u8, streams: u8, width: Width) -> Mode {
    Mode { format: Format::Vht, mcs, streams, width, guard: Guard::Ns800 }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns stations at 10 m in three directions, except the last, which is far away.
fn snr() -> Snr {
    Snr::new(Place::Points { points: vec![[10.0, 0.0], [-10.0, 0.0], [0.0, 60.0]] })
}

fn reception(snr: Snr) -> Reception {
    Reception::new(&ReceptionConfig { channel: Channel::Snr(snr), ..ReceptionConfig::default() }, AC, Seed(1))
}

fn other(from: usize, is_earlier: bool) -> Interferer {
    Interferer { from, is_earlier }
}

fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 0.01, "{got}, expected {expected}");
}

#[test]
fn all_frames_of_a_perfect_channel_arrive_unless_they_collide() {
    let reception = Reception::new(&ReceptionConfig::default(), AC, Seed(1));
    let success = |octets| reception.success(NOW, 1, 0, vht(9, 4, Width::Mhz160), Kind::Data, Bytes(octets));
    assert_eq!((success(1), success(1_000_000)), (1.0, 1.0));
    assert_eq!(reception.snr_db(NOW, 1, 0, Mode::ofdm(0)), None);
    assert!(reception.hears(1, 2));
    let beside = |others: &[Interferer]| reception.link_beside(NOW, 1, 0, Mode::ofdm(0), Kind::Data, others);
    assert_eq!(beside(&[other(2, false)]), Link::LOST);
    close(beside(&[]).success(Bytes(100)), 1.0);
}

#[test]
fn a_fixed_rate_distinguishes_data_and_control_but_not_lengths() {
    let channel = Channel::Fixed { frame_error_rate: 0.02, control_error_rate: 0.005 };
    let reception = Reception::new(&ReceptionConfig { channel, ..ReceptionConfig::default() }, AC, Seed(1));
    let success = |kind, octets| reception.success(NOW, 1, 0, vht(9, 1, Width::Mhz80), kind, Bytes(octets));
    assert_eq!([success(Kind::Data, 14), success(Kind::Data, 1500)], [0.98, 0.98]);
    assert_eq!(success(Kind::Control, 14), 0.995);
}

/// 20 dBm − 46.74 dB − 30 dB against −93.97 dBm; stations have 5 dB less.
#[test]
fn the_ratio_is_power_less_loss_less_noise() {
    let reception = reception(snr());
    let ratio = |from, to, mode| reception.snr_db(NOW, from, to, mode).unwrap();
    close(ratio(0, 1, Mode::ofdm(0)), 20.0 - 46.734 - 30.0 + 93.965);
    close(ratio(1, 0, Mode::ofdm(0)), 15.0 - 46.734 - 30.0 + 93.965);
    close(ratio(0, 1, Mode::ofdm(0)) - ratio(0, 1, vht(0, 1, Width::Mhz160)), 9.031);
    close(ratio(0, 1, Mode::ofdm(0)) - ratio(0, 2, Mode::ofdm(0)), 0.0);
    // The distances between the stations are 50 m or more, and 20 m.
    assert!(ratio(1, 3, Mode::ofdm(0)) < ratio(1, 2, Mode::ofdm(0)));
    close(ratio(1, 0, Mode::ofdm(0)) - ratio(1, 2, Mode::ofdm(0)), 9.031);
}

#[test]
fn streams_have_all_or_a_share() {
    let orthogonal = reception(snr());
    let shared = reception(Snr { streams: Streams::SharedPower, ..snr() });
    let ratio = |reception: &Reception, streams| reception.snr_db(NOW, 0, 1, vht(0, streams, Width::Mhz20)).unwrap();
    close(ratio(&orthogonal, 1) - ratio(&orthogonal, 4), 0.0);
    close(ratio(&shared, 1) - ratio(&shared, 2), 3.0103);
    close(ratio(&shared, 1) - ratio(&shared, 4), 6.0206);
}

#[test]
fn fast_rates_reach_the_near_and_slow_ones_the_far() {
    let reception = reception(snr());
    let success = |to, mode| reception.success(NOW, 0, to, mode, Kind::Data, Bytes(1500));
    // 37.2 dB at 10 m, 13.9 dB at 60 m.
    assert!(success(1, vht(8, 1, Width::Mhz20)) > 0.999);
    assert!(success(3, vht(8, 1, Width::Mhz20)) < 1e-9);
    assert!(success(3, vht(4, 1, Width::Mhz20)) > 0.9);
    assert!(success(3, vht(5, 1, Width::Mhz20)) < 0.01);
}

/// The far station receives the access point at −80 dBm, and the other stations at −85 dBm or less.
#[test]
fn a_node_that_is_too_far_is_not_heard() {
    let by_default = reception(snr());
    assert!(by_default.hears(3, 0) && by_default.hears(1, 2) && by_default.hears(2, 0));
    assert!(!by_default.hears(3, 1) && !by_default.hears(1, 3));
    assert!(!by_default.hears(0, 3), "a station sends with less power than the access point");
    let keen = reception(Snr { carrier_sense: Some(-90.0), ..snr() });
    assert!(keen.hears(3, 1) && keen.hears(0, 3));
    let wide = Reception::new(
        &ReceptionConfig { channel: Channel::Snr(snr()), ..ReceptionConfig::default() },
        Cell { width: Width::Mhz80, ..AC },
        Seed(1),
    );
    assert!(!wide.hears(3, 0), "−76 dBm in 80 MHz");
}

#[test]
fn hidden_pairs_do_not_hear_each_other() {
    let config = ReceptionConfig { hidden: vec![[1, 2]], ..ReceptionConfig::default() };
    let reception = Reception::new(&config, AC, Seed(1));
    assert!(!reception.hears(1, 2) && !reception.hears(2, 1));
    assert!(reception.hears(1, 3) && reception.hears(0, 1) && reception.hears(0, 2));
    // A receiver that does not sense the interferer is not disturbed. A receiver that senses both
    // senders is disturbed.
    let beside = |to, by| reception.link_beside(NOW, 0, to, Mode::ofdm(0), Kind::Data, &[other(by, false)]);
    close(beside(1, 2).success(Bytes(100)), 1.0);
    assert_eq!(beside(3, 2), Link::LOST);
}

/// The access point is 20 m from station 2. Station 1, 1 m from the access point, is 39 dB
/// stronger.
#[test]
fn the_stronger_frame_survives_where_capture_is_on() {
    let place = Place::Points { points: vec![[1.0, 0.0], [20.0, 0.0], [1.0, 0.0]] };
    let capture = Some(Capture { threshold: 10.0, takes_later: false });
    let with = reception(Snr { capture, ..Snr::new(place.clone()) });
    let beside = |reception: &Reception, from, others: &[Interferer]| {
        let mut link = reception.link_beside(NOW, from, 0, Mode::ofdm(4), Kind::Data, others);
        link.header() * link.success(Bytes(1500))
    };
    assert!(beside(&with, 1, &[other(2, false)]) > 0.999);
    assert!(beside(&with, 2, &[other(1, false)]) < 1e-9);
    assert!(beside(&with, 1, &[other(3, false)]) < 1e-9, "equals");
    assert!(beside(&with, 1, &[other(2, true)]) < 1e-9, "it came too late");
    assert!(beside(&reception(Snr::new(place)), 1, &[other(2, false)]) < 1e-9, "capture is off");
    assert!(beside(&with, 1, &[other(0, false)]) < 1e-9, "the receiver itself sends");

    // A frame that survives by the threshold may still be too fast: 54 Mbps needs 19 dB.
    let at_5_m = Place::Points { points: vec![[5.0, 0.0], [12.6, 0.0], [1.0, 0.0]] };
    let with = reception(Snr { capture, ..Snr::new(at_5_m) });
    let success = |mode| {
        let mut link = with.link_beside(NOW, 1, 0, mode, Kind::Data, &[other(2, false)]);
        link.success(Bytes(1500))
    };
    assert!(success(Mode::ofdm(3)) > 0.99 && success(Mode::ofdm(7)) < 0.01);
}

#[test]
fn a_fade_weakens_both_directions_while_it_lasts() {
    let fade = Fade { node: 1, from: Duration::from_millis(10), until: Some(Duration::from_millis(20)), loss: 25.0 };
    let config = ReceptionConfig { channel: Channel::Snr(snr()), fades: vec![fade], ..ReceptionConfig::default() };
    let reception = Reception::new(&config, AC, Seed(1));
    let ratio = |now, from, to| reception.snr_db(now, from, to, Mode::ofdm(0)).unwrap();
    for (from, to) in [(0, 1), (1, 0), (1, 2)] {
        close(ratio(at(9), from, to) - ratio(at(10), from, to), 25.0);
        close(ratio(at(9), from, to) - ratio(at(20), from, to), 0.0);
    }
    close(ratio(at(9), 0, 2) - ratio(at(10), 0, 2), 0.0);
    let success = |now| reception.success(now, 0, 1, Mode::ofdm(7), Kind::Data, Bytes(1500));
    assert!(success(at(9)) > 0.999 && success(at(10)) < 1e-6);
}

#[test]
fn an_absent_node_neither_sends_nor_receives() {
    let away = |announced| Absence {
        node: 1,
        from: Duration::from_millis(10),
        until: Some(Duration::from_millis(20)),
        announced,
    };
    for (announced, presence) in [(false, Presence::Away), (true, Presence::AwayAnnounced)] {
        let config = ReceptionConfig { absences: vec![away(announced)], ..ReceptionConfig::default() };
        let reception = Reception::new(&config, AC, Seed(1));
        let success = |now, from, to| reception.success(now, from, to, Mode::ofdm(0), Kind::Control, Bytes(14));
        assert_eq!([9, 10, 20].map(|ms| success(at(ms), 0, 1)), [1.0, 0.0, 1.0]);
        assert_eq!([9, 10, 20].map(|ms| success(at(ms), 1, 0)), [1.0, 0.0, 1.0]);
        assert_eq!(success(at(10), 0, 2), 1.0);
        assert_eq!(reception.presence(at(10), 1), presence);
        assert_eq!(reception.next_presence_change(at(10)), Some(at(20)));
        assert_eq!(reception.next_presence_change(at(20)), None);
    }
}

/// A link returns the same probabilities as a single query, after any other queries.
#[test]
fn a_link_remembers_only_the_last_length() {
    let reception = reception(snr());
    let mode = vht(4, 1, Width::Mhz20);
    let mut link = reception.link(NOW, 0, 3, mode, Kind::Data);
    for octets in [1500, 1500, 40, 0, 1500, 1501] {
        let fresh = reception.link(NOW, 0, 3, mode, Kind::Data).success(Bytes(octets));
        assert_eq!(link.success(Bytes(octets)).to_bits(), fresh.to_bits(), "{octets}");
    }
    close(link.success(Bytes(0)), 1.0);
    assert!(link.success(Bytes(1500)) < link.success(Bytes(40)));
}

#[test]
fn values_that_make_no_sense_are_found() {
    let path = |config: ReceptionConfig| config.fault(3).map(|fault| fault.path);
    assert_eq!(path(ReceptionConfig::default()), None);
    let with = |snr: Snr| ReceptionConfig { channel: Channel::Snr(snr), ..ReceptionConfig::default() };
    assert_eq!(path(with(snr())), None);
    assert_eq!(
        path(ReceptionConfig { hidden: vec![[0, 3], [1, 4]], ..ReceptionConfig::default() }),
        Some("hidden.1".to_owned())
    );
    assert_eq!(
        path(ReceptionConfig { hidden: vec![[2, 2]], ..ReceptionConfig::default() }),
        Some("hidden.0".to_owned())
    );
    let fade = |node, until, loss| Fade {
        node,
        from: Duration::from_millis(5),
        until: Some(Duration::from_millis(until)),
        loss,
    };
    assert_eq!(
        path(ReceptionConfig { fades: vec![fade(1, 9, 3.0)], ..ReceptionConfig::default() }),
        Some("fades.0".to_owned())
    );
    let faded = |fade| ReceptionConfig { fades: vec![fade], ..with(snr()) };
    assert_eq!(path(faded(fade(1, 9, 3.0))), None);
    assert_eq!(path(faded(fade(4, 9, 3.0))), Some("fades.0.node".to_owned()));
    assert_eq!(path(faded(fade(1, 5, 3.0))), Some("fades.0.until".to_owned()));
    assert_eq!(path(faded(fade(1, 9, -1.0))), Some("fades.0.loss".to_owned()));
    let two_points = Snr::new(Place::Points { points: vec![[1.0, 1.0]; 2] });
    assert_eq!(path(with(two_points)), Some("channel.place.points".to_owned()));
    assert_eq!(path(with(Snr { frequency: Some(0.0), ..snr() })), Some("channel.frequency".to_owned()));
    let channel = Channel::Fixed { frame_error_rate: 0.1, control_error_rate: 1.5 };
    assert_eq!(
        path(ReceptionConfig { channel, ..ReceptionConfig::default() }),
        Some("channel.control_error_rate".to_owned())
    );
}

/// The configuration language: all settings of each model, and no others.
#[test]
fn a_configuration_reads_as_it_is_written() {
    let read = |text: &str| serde_json::from_str::<ReceptionConfig>(text);
    assert_eq!(read("{}").unwrap(), ReceptionConfig::default());
    assert_eq!(read(r#"{"channel": {"model": "perfect"}}"#).unwrap(), ReceptionConfig::default());
    let fixed = read(r#"{"channel": {"model": "fixed", "frame_error_rate": 0.02}}"#).unwrap();
    assert_eq!(fixed.channel, Channel::Fixed { frame_error_rate: 0.02, control_error_rate: 0.0 });
    let text = r#"{
        "channel": {"model": "snr", "place": {"shape": "disc", "radius": 20.0}, "capture": {"threshold": 10.0},
                    "path_loss": {"exponent": 3.5, "reference_distance": 10.0}, "streams": "shared-power"},
        "hidden": [[1, 2]],
        "fades": [{"node": 1, "from": "2s", "until": "2.5s", "loss": 20.0}],
        "absences": [{"node": 2, "from": "1s"}]
    }"#;
    let config = read(text).unwrap();
    let Channel::Snr(snr) = &config.channel else { panic!("{config:?}") };
    let defaults = Snr::new(Place::Disc { radius: 20.0 });
    assert_eq!(*snr, Snr { capture: snr.capture, path_loss: snr.path_loss, streams: Streams::SharedPower, ..defaults });
    assert_eq!(snr.capture, Some(Capture { threshold: 10.0, takes_later: false }));
    assert_eq!(snr.path_loss.reference_loss, None);
    assert_eq!((config.absences[0].until, config.absences[0].announced), (None, false));
    assert_eq!(read(&serde_json::to_string(&config).unwrap()).unwrap(), config, "written and read again");

    for unknown in [
        r#"{"chanel": {"model": "perfect"}}"#,
        r#"{"channel": {"model": "fixed", "frame_error_rate": 0.1, "place": {"shape": "disc", "radius": 1.0}}}"#,
        r#"{"channel": {"model": "snr", "place": {"shape": "disc", "radius": 1.0}, "power": 20.0}}"#,
        r#"{"channel": {"model": "snr", "place": {"shape": "disc", "radius": 1.0, "points": []}}}"#,
        r#"{"channel": {"model": "snr"}}"#,
    ] {
        assert!(read(unknown).is_err(), "{unknown}");
    }
}

/// The schema of each model has its tag besides its settings, and permits no other keys.
#[test]
fn the_schema_knows_the_tag_and_the_settings_together() {
    let settings = schemars::generate::SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<ReceptionConfig>().to_value();
    let models = schema["properties"]["channel"]["oneOf"].as_array().unwrap();
    let snr = models.iter().find(|model| model["properties"]["model"]["const"] == "snr").unwrap();
    assert!(snr["properties"]["place"].is_object() && snr["properties"]["noise_figure"].is_object(), "{snr:#}");
    assert_eq!(models.len(), 3);
    for model in models {
        assert_eq!(model["additionalProperties"], false, "{model:#}");
    }
}
