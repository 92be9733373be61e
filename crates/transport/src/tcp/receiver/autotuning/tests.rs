//! Tests of the windows and of the growth of the receive buffer.

use super::*;

const MSS: u64 = 1448;

/// Returns the buffer of an end that has offered 45 segments of 1448 bytes, as the kernels do.
fn buffer_of(kernel: Kernel) -> ReceiveBuffer {
    let mut buffer = ReceiveBuffer::new(kernel, kernel.largest_receive_buffer().get());
    buffer.open(45 * MSS, MSS);
    buffer
}

fn buffer() -> ReceiveBuffer {
    buffer_of(Kernel::V6_18)
}

/// Returns a full-sized segment in order, before the round-trip time is measured.
const fn in_order(octets: u64) -> Arrived {
    let flow = Flow { full_size: octets, beyond: 0, round_trip: None, has_sack: true, is_read_at_once: true };
    Arrived { octets, advanced: octets, flow }
}

/// Returns a full-sized segment in order, with this estimate of the round-trip time.
fn measured(octets: u64, round_trip: Duration) -> Arrived {
    let arrived = in_order(octets);
    Arrived { flow: Flow { round_trip: Some(round_trip), ..arrived.flow }, ..arrived }
}

/// Returns a full-sized segment beyond a gap of one segment.
const fn beyond_a_gap(octets: u64) -> Arrived {
    let arrived = in_order(octets);
    Arrived { advanced: 0, flow: Flow { beyond: 2 * octets, ..arrived.flow }, ..arrived }
}

/// Returns which segments in order make the window grow. Each round trip of 100 ms has
/// `per_round_trip` segments.
fn growth(buffer: &mut ReceiveBuffer, from: u64, segments: u64, per_round_trip: u64) -> Vec<bool> {
    let spacing = Duration::from_millis(100) / per_round_trip;
    (from..from + segments)
        .map(|k| buffer.arrive(Instant::ZERO + spacing * (k + 1), &measured(MSS, Duration::from_millis(100))))
        .collect()
}

/// The window grows from 65,160 to 80,480 bytes in six steps of 2,896 bytes or less. A slow flow
/// needs no more than the initial buffer.
#[test]
fn a_slow_flow_never_outgrows_the_first_buffer() {
    let grows = growth(&mut buffer(), 0, 200, 10);
    assert_eq!(grows.iter().filter(|grows| **grows).count(), 6);
    assert!(grows[..6].iter().all(|grows| *grows));
}

/// At 100 segments per round trip, the buffer exceeds twice 144,800 bytes. The window then grows
/// with each segment.
#[test]
fn a_fast_flow_grows_the_buffer_by_what_a_round_trip_brings() {
    let mut buffer = buffer();
    growth(&mut buffer, 0, 2500, 100);
    assert!(buffer.clamp > 2 * 100 * MSS, "{}", buffer.clamp);
    let free = window_of(buffer.memory - memory_of(MSS), buffer.ratio);
    assert_eq!(buffer.offered, free, "in the end all of it is offered, except the segment that arrives");
    assert!(!growth(&mut buffer, 2500, 300, 100).contains(&true));
}

/// Ten segments of 8000 bytes exceed the first window, so the buffer grows once a round trip
/// delivers that window. If ten segments were required, the initial buffer, whose window is at most
/// 81,920 bytes, could never grow.
#[test]
fn large_segments_grow_the_buffer_as_well() {
    let mut buffer = ReceiveBuffer::new(Kernel::V6_18, Kernel::V6_18.largest_receive_buffer().get());
    buffer.open(64_000, 8000);
    for k in 0..200 {
        // In each round trip of 23 ms, all data arrive that the window permits.
        let per_round_trip = buffer.window() / 8000;
        let round_trip = Duration::from_millis(23);
        let now = Instant::ZERO + round_trip * (k + 1);
        for segment in 0..per_round_trip {
            buffer.arrive(now + round_trip * segment / per_round_trip, &measured(8000, round_trip));
        }
    }
    assert!(buffer.window() > 20 * 65_535, "{}", buffer.window());
}

/// The windows that the kernels announce on a path of 1 Mbps: 6.12.117 in virtual time and 6.18.44
/// in real time. The SYN-ACK announces 65,160 bytes. The next window is 67,072 (in units of 128) or
/// 68,608 (in units of 1024), and the last is 80,512 or 80,896.
#[test]
fn the_first_windows_are_those_of_the_kernels() {
    for (kernel, unit, windows) in [(Kernel::V6_12, 128, [67_072, 80_512]), (Kernel::V6_18, 1024, [68_608, 80_896])] {
        let autotuning = Autotuning::new(kernel, kernel.largest_receive_buffer().get(), true);
        assert_eq!((autotuning.initial_window(1448), autotuning.initial_window(1460)), (65_160, 64_240));
        let mut buffer = buffer_of(kernel);
        let announced = [1, 20].map(|segments| {
            growth(&mut buffer, 0, segments, 10);
            buffer.window().next_multiple_of(unit)
        });
        assert_eq!(announced, windows, "{kernel:?}");
    }
}

/// A round trip has 18 segments, and the next has 36. 6.12.117 ends with a window of 382,336 bytes,
/// in units of 128: (2 · 36 + 16) · 3 segments. 6.18 does not add 16.
#[test]
fn the_buffer_of_each_kernel_grows_by_its_own_rule() {
    for (kernel, segments) in [(Kernel::V6_12, 264), (Kernel::V6_18, 216)] {
        let mut buffer = buffer_of(kernel);
        buffer.measure(MSS);
        buffer.per_round_trip = 18 * MSS;
        buffer.grow_buffer(36 * MSS, &in_order(MSS).flow);
        assert_eq!(buffer.clamp + 1, segments * MSS, "{kernel:?}");
    }
}

/// 30 segments are beyond a gap. The buffer of 6.18 grows to twice the sum of these and the ten
/// segments of the first round trip. The buffer of 6.12 does not grow.
#[test]
fn data_beyond_a_gap_grow_the_buffer_of_one_kernel() {
    for (kernel, clamp) in [(Kernel::V6_12, 81_920), (Kernel::V6_18, 60 * MSS)] {
        let mut buffer = buffer_of(kernel);
        let beyond = beyond_a_gap(MSS);
        let arrived = Arrived { flow: Flow { beyond: 40 * MSS, ..beyond.flow }, ..beyond };
        buffer.arrive(Instant::ZERO, &arrived);
        assert_eq!(buffer.clamp.next_multiple_of(MSS), clamp.next_multiple_of(MSS), "{kernel:?}");
    }
}

/// The segment that fills a gap is read first, while the segments after the gap are unread. The
/// round trip that ends with this read counts 18 segments minus 30.
#[test]
fn a_gap_that_closes_ends_no_large_round_trip() {
    let mut buffer = buffer();
    let round_trip = Duration::from_millis(100);
    for k in 0..18 {
        buffer.arrive(Instant::ZERO + Duration::from_millis(k), &measured(MSS, round_trip));
    }
    let arrived = Arrived { advanced: 31 * MSS, ..measured(MSS, round_trip) };
    buffer.arrive(Instant::ZERO + round_trip, &arrived);
    assert_eq!((buffer.per_round_trip, buffer.clamp), (10 * MSS, 81_920));
}

/// A segment of 1000 bytes uses as much memory as a segment of 1448 bytes. The initial buffer is
/// therefore smaller than the first window.
#[test]
fn shorter_segments_leave_less_window() {
    let mut buffer = buffer();
    let arrived = in_order(1000);
    assert!(!buffer.arrive(Instant::ZERO, &arrived));
    assert_eq!((buffer.ratio, buffer.window()), (111, 131_072 * 111 / 256));
    assert!(buffer.arrive(Instant::ZERO, &in_order(MSS)));
    assert_eq!((buffer.ratio, buffer.clamp), (160, 131_072 * 160 / 256), "a longer one leaves more");
}

/// Data beyond a gap occupy the buffer, so the window does not grow until the gap is filled.
#[test]
fn data_beyond_a_gap_takes_room() {
    let mut buffer = buffer();
    growth(&mut buffer, 0, 10, 10);
    assert!(!buffer.arrive(Instant::ZERO, &beyond_a_gap(MSS)));
    assert_eq!(buffer.held, MSS);
}

/// Returns a full-sized segment in order, for an application that reads late.
fn unread(octets: u64, round_trip: Duration) -> Arrived {
    let arrived = measured(octets, round_trip);
    Arrived { flow: Flow { is_read_at_once: false, ..arrived.flow }, ..arrived }
}

/// 56 segments use 129,024 bytes of memory. The remaining 2,048 bytes would be a window of 1,280
/// bytes, less than a segment.
#[test]
fn unread_data_shut_the_window_before_the_memory_is_full() {
    let mut buffer = buffer();
    let round_trip = Duration::from_millis(20);
    for k in 0..56 {
        buffer.arrive(Instant::ZERO, &unread(MSS, round_trip));
        assert_eq!(buffer.unread.memory(), (k + 1) * 2304);
        assert_eq!(buffer.is_short(), k + 1 > 28, "{k}");
    }
    assert_eq!((buffer.free(), buffer.window()), (1280, 0));
    buffer.read(Instant::ZERO, 40 * MSS, &unread(MSS, round_trip).flow);
    assert_eq!(buffer.window(), (131_072 - 16 * 2304) * 160 / 256);
    buffer.read(Instant::ZERO, 1, &unread(MSS, round_trip).flow);
    assert_eq!(buffer.unread.memory(), 16 * 2304, "a segment of which something is left");
}

/// A window that is rounded up permits more data than fit into the memory.
#[test]
fn an_overcommitted_buffer_grows_and_its_window_does_not() {
    let mut buffer = buffer();
    for _ in 0..60 {
        buffer.arrive(Instant::ZERO, &unread(MSS, Duration::from_millis(20)));
    }
    assert_eq!((buffer.memory, buffer.clamp), (59 * 2304, 81_920));
}

/// An application reads all data of two round trips at their end. When the kernel adjusts the
/// buffer, nearly as many bytes are unread as were read.
#[test]
fn a_late_reader_grows_no_buffer() {
    let growth_by = |segments_per_read: u64| {
        let mut buffer = buffer();
        let round_trip = Duration::from_millis(20);
        for k in 0..4000 {
            let now = Instant::ZERO + round_trip * (k + 1) / 50;
            let arrived = unread(MSS, round_trip);
            buffer.arrive(now, &arrived);
            if (k + 1) % segments_per_read == 0 {
                buffer.read(now, buffer.unread.octets(), &arrived.flow);
            }
        }
        buffer.clamp
    };
    assert_eq!(growth_by(50), 81_920);
    assert!(growth_by(5) > 120_000, "{}", growth_by(5));
}

#[test]
fn without_sack_a_segment_beyond_a_gap_leaves_the_window() {
    for has_sack in [true, false] {
        let mut buffer = buffer();
        let beyond = beyond_a_gap(MSS);
        let arrived = Arrived { flow: Flow { has_sack, ..beyond.flow }, ..beyond };
        assert_eq!(buffer.arrive(Instant::ZERO, &arrived), has_sack);
    }
}
