//! Tests invariants of every window-based controller under arbitrary events.

use super::testing::{MSS, ack, start};
use super::*;
use proptest::prelude::*;
use proptest::sample::select;

/// An event for a controller.
#[derive(Clone, Copy, Debug)]
enum Event {
    Acked { segments: u64, rtt_us: u64, may_grow: bool },
    Loss,
    Timeout,
    Undo,
    Idle { ms: u64 },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        20 => (0u64..20, 1u64..200_000, any::<bool>())
            .prop_map(|(segments, rtt_us, may_grow)| Event::Acked { segments, rtt_us, may_grow }),
        2 => Just(Event::Loss),
        1 => Just(Event::Timeout),
        1 => Just(Event::Undo),
        1 => (0u64..5000).prop_map(|ms| Event::Idle { ms }),
    ]
}

/// Returns the controllers whose window the sender reduces.
fn window_based() -> Vec<ControllerConfig> {
    let start = start(Growth::PerAck);
    let governs = |config: &ControllerConfig| {
        Controller::new(config, &start).is_some_and(|controller| controller.governs_window())
    };
    ControllerConfig::built_in().filter(|config| !governs(config)).collect()
}

fn setting() -> impl Strategy<Value = (ControllerConfig, Start)> {
    (
        select(window_based()),
        select(vec![Dialect::Reference, Dialect::Linux, Dialect::Ns3]),
        select(vec![
            SlowStart::Classic {},
            SlowStart::HYSTART_PLUS_PLUS,
            SlowStart::LINUX_HYSTART,
            SlowStart::NS3_HYSTART,
        ]),
        select(vec![Growth::PerAck, Growth::PerSegment, Growth::ByteCounting]),
        any::<bool>(),
    )
        .prop_map(|(config, dialect, slow_start, growth, paced)| {
            (config, Start { dialect, slow_start, paced, ..start(growth) })
        })
}

proptest! {
    /// The window is at least one segment and the threshold at least two. No ACK increases the
    /// window by more than the acknowledged data plus two segments.
    #[test]
    fn windows_stay_sane((config, start) in setting(), events in proptest::collection::vec(event(), 1..400)) {
        let mut controller = Controller::new(&config, &start).expect("it is built in");
        let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        let (mut now, mut una) = (Instant::ZERO + Duration::from_secs(1), 0);
        let mut undo = None;
        for event in events {
            now += Duration::from_micros(300);
            let before = window;
            match event {
                Event::Acked { segments, rtt_us, may_grow } => {
                    una += segments * MSS;
                    let nxt = una + window.cwnd;
                    let may_grow = may_grow && segments > 0;
                    let ack = Ack { acked_to: Position(una), sent_to: Position(nxt), may_grow, ..ack(now, segments, Duration::from_micros(rtt_us)) };
                    controller.on_ack(&mut window, &ack);
                    prop_assert!(window.cwnd <= before.cwnd + (segments + 2) * MSS, "{before:?} to {window:?}");
                    let sent = Sent {
                        now,
                        bytes: MSS,
                        in_flight: window.cwnd,
                        end: Position(nxt + MSS),
                        is_retransmission: false,
                        is_app_limited: false,
                    };
                    controller.on_sent(&mut window, &sent);
                }
                Event::Loss => {
                    undo = Some(window);
                    window.ssthresh = controller.ssthresh(now, &window, window.cwnd, Signal::Loss);
                    controller.on_state(now, &mut window, CongestionState::Recovery);
                    window.cwnd = window.ssthresh;
                    controller.on_state(now, &mut window, CongestionState::Open);
                    prop_assert!(window.ssthresh <= before.cwnd.max(2 * MSS));
                }
                Event::Timeout => {
                    undo = None;
                    window.ssthresh = controller.ssthresh(now, &window, window.cwnd, Signal::Timeout);
                    window.cwnd = MSS;
                    controller.on_state(now, &mut window, CongestionState::Loss);
                }
                Event::Undo => if let Some(before) = undo.take() {
                    window.cwnd = window.cwnd.max(before.cwnd);
                    window.ssthresh = window.ssthresh.max(before.ssthresh);
                    controller.on_undo(now, &mut window);
                },
                Event::Idle { ms } => now += Duration::from_millis(ms),
            }
            prop_assert!(window.cwnd >= MSS, "{window:?}");
            prop_assert!(window.ssthresh >= 2 * MSS, "{window:?}");
        }
    }
}
