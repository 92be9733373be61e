//! The delay profile: the delay of packets as a function of the window when they were sent.
//!
//! Each window has a moving average of its delays. Once a second, a smooth curve is fitted to them.
//! The authors use ALGLIB's penalised regression spline (`spline1dfitpenalized` with ρ = 2). This
//! is the P-spline of degree 1 (Eilers and Marx, "Flexible Smoothing with B-splines and Penalties",
//! Statistical Science 11(2), 1996). It is linear between knots. The squares of its second
//! differences are penalised with λ = 10^ρ · max diag(BᵀB) / max diag(DᵀD), which is ALGLIB's
//! scaling of λ. It is not cubic between knots, and it is a line beyond the last knot.

/// The largest window of the profile (`MAX_W_DELAY_CURVE`).
const MOST: usize = 40_000;
/// The spacing of knots, in windows (`N` of `delayProfile_thread`).
const SPACING: usize = 15;
/// The minimum number of knots. Their spacing is reduced if necessary. With fewer windows, no curve
/// is fitted.
const MIN_KNOTS: usize = 5;
/// 10^ρ with ρ = 2 (`spline1dfitpenalized`).
const PENALTY: f64 = 100.0;
/// The maximum diagonal element of DᵀD for second differences: 1 + 4 + 1.
const DIFFERENCES: f64 = 6.0;
/// The ridge that makes the system positive definite if no window between two knots has a delay, as
/// a share of the maximum element of BᵀB.
const RIDGE: f64 = 1e-10;

/// A curve through equally spaced knots, linear between them and beyond the last.
#[derive(Clone, Debug, Default)]
struct Curve {
    /// The spacing in windows; the first knot is at window 1.
    spacing: f64,
    values: Vec<f64>,
}

impl Curve {
    fn at(&self, window: f64) -> f64 {
        let place = (window - 1.0).max(0.0) / self.spacing;
        let left = (place as usize).min(self.values.len() - 2);
        self.values[left] + (place - left as f64) * (self.values[left + 1] - self.values[left])
    }

    /// Returns the smallest window, at least 2, whose delay exceeds `delay`. Returns `None` if it
    /// is not below [`MOST`].
    fn first_above(&self, delay: f64) -> Option<f64> {
        let last = self.values.len() - 2;
        for (left, pair) in self.values.windows(2).enumerate() {
            let begins = 1.0 + left as f64 * self.spacing;
            if pair[0] > delay {
                return Some(begins.ceil().max(2.0));
            }
            if pair[1] > delay || (left == last && pair[1] > pair[0]) {
                // The first whole window beyond the point where the line reaches the delay.
                let meets = begins + (delay - pair[0]) / (pair[1] - pair[0]) * self.spacing;
                let window = (meets.floor() + 1.0).max(2.0);
                return (window < MOST as f64).then_some(window);
            }
        }
        None
    }
}

/// The profile. Delays are milliseconds, windows are packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// The moving average of the delays of each window, if there is any.
    points: Vec<Option<f64>>,
    curve: Option<Curve>,
}

impl Profile {
    /// Adds the delay of a packet that was sent at `window`; `memory` is the weight of the old
    /// value.
    pub(super) fn add(&mut self, window: u32, delay: f64, memory: f64) {
        let window = (window as usize).min(MOST - 1);
        if window >= self.points.len() {
            self.points.resize(window + 1, None);
        }
        let point = &mut self.points[window];
        *point = Some(point.map_or(delay, |before| memory * before + (1.0 - memory) * delay));
    }

    /// Removes this window and all larger ones.
    pub(super) fn cut(&mut self, window: u32) {
        self.points.truncate(window as usize);
    }

    pub(super) const fn is_fitted(&self) -> bool {
        self.curve.is_some()
    }

    /// Fits the curve to the points. Returns `false` if there are too few windows.
    pub(super) fn fit(&mut self) -> bool {
        let Some(largest) = self.points.iter().rposition(Option::is_some) else { return false };
        let spacing = SPACING.min(largest / MIN_KNOTS);
        if spacing == 0 {
            return false;
        }
        let knots = largest / spacing + 2;
        // The normal equations (BᵀB + λ·DᵀD)·a = Bᵀy: diagonals 0, 1 and 2 of a symmetric matrix.
        let mut bands = vec![[0.0; 3]; knots];
        let mut right = vec![0.0; knots];
        for (window, point) in self.points.iter().enumerate().skip(1) {
            let Some(delay) = point else { continue };
            let place = (window - 1) as f64 / spacing as f64;
            let left = place as usize;
            let (before, after) = (1.0 - (place - left as f64), place - left as f64);
            bands[left][0] += before * before;
            bands[left][1] += before * after;
            bands[left + 1][0] += after * after;
            right[left] += before * delay;
            right[left + 1] += after * delay;
        }
        let most = bands.iter().map(|band| band[0]).fold(0.0, f64::max);
        for band in &mut bands {
            band[0] += RIDGE * most;
        }
        let penalty = PENALTY * most / DIFFERENCES;
        for first in 0..knots - 2 {
            for (row, weight) in [1.0, -2.0, 1.0].into_iter().enumerate() {
                for (column, other) in [1.0, -2.0, 1.0].into_iter().enumerate().skip(row) {
                    bands[first + row][column - row] += penalty * weight * other;
                }
            }
        }
        self.curve = Some(Curve { spacing: spacing as f64, values: solve(bands, right) });
        true
    }

    /// Returns the delay at a window (`calcDelayCurveInv`). Without a curve, it is the delay of the
    /// nearest window with a delay.
    pub(super) fn delay_at(&self, window: f64) -> f64 {
        if let Some(curve) = &self.curve {
            return curve.at(window);
        }
        let window = (window as usize).min(self.points.len());
        let below = self.points[..window].iter().rev().flatten().next();
        let from = self.points[window..].iter().flatten().next();
        self.points.get(window).copied().flatten().or(below.copied()).or(from.copied()).unwrap_or(0.0)
    }

    /// Returns the window for a delay (`calcDelayCurve`): the window before the first one with a
    /// longer delay. Returns `None` if no window has a longer delay.
    pub(super) fn window_at(&self, delay: f64) -> Option<f64> {
        Some(self.curve.as_ref()?.first_above(delay)? - 1.0)
    }
}

/// Solves a symmetric positive definite system with two diagonals next to the main one, by LDLᵀ.
fn solve(mut bands: Vec<[f64; 3]>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for row in 0..n {
        let [pivot, one, two] = bands[row];
        for (distance, element) in [(1, one), (2, two)] {
            if row + distance < n {
                let factor = element / pivot;
                bands[row + distance][0] -= factor * element;
                if distance == 1 {
                    bands[row + 1][1] -= factor * two;
                }
                right[row + distance] -= factor * right[row];
            }
        }
    }
    for row in (0..n).rev() {
        let [pivot, one, two] = bands[row];
        let next = right.get(row + 1).copied().unwrap_or(0.0);
        let after = right.get(row + 2).copied().unwrap_or(0.0);
        right[row] = (right[row] - one * next - two * after) / pivot;
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(delays: impl Iterator<Item = (u32, f64)>) -> Profile {
        let mut profile = Profile::default();
        delays.for_each(|(window, delay)| profile.add(window, delay, 0.875));
        assert!(profile.fit());
        profile
    }

    /// A line has no second differences, so the penalty does not change it, and gaps are bridged.
    #[test]
    fn a_line_is_fitted_exactly_and_inverted() {
        let profile =
            seen((1..=200).filter(|window| window % 7 != 0).map(|window| (window, 20.0 + 0.5 * f64::from(window))));
        for window in [1.0, 2.0, 35.5, 200.0, 300.0] {
            assert!(
                (profile.delay_at(window) - (20.0 + 0.5 * window)).abs() < 1e-3,
                "{window}: {}",
                profile.delay_at(window)
            );
        }
        assert_eq!(profile.window_at(60.25), Some(80.0), "81 has 60.5 ms");
        assert_eq!(profile.window_at(170.25), Some(300.0), "beyond what was seen");
        assert_eq!(profile.window_at(1.0), Some(1.0));
    }

    #[test]
    fn noise_is_smoothed() {
        let noise = |window: u32| if window.is_multiple_of(2) { 10.0 } else { -10.0 };
        let profile = seen((1..=300).map(|window| (window, 100.0 + f64::from(window) + noise(window))));
        for window in 20..280 {
            assert!((profile.delay_at(f64::from(window)) - 100.0 - f64::from(window)).abs() < 1.0, "{window}");
        }
    }

    #[test]
    fn a_flat_profile_cannot_be_inverted_and_few_windows_have_none() {
        let profile = seen((1..=50).map(|window| (window, 40.0)));
        assert_eq!(profile.window_at(45.0), None);
        let mut few = Profile::default();
        (1..5).for_each(|window| few.add(window, 40.0, 0.875));
        assert!(!few.fit() && few.window_at(50.0).is_none());
        few.add(5, 50.0, 0.875);
        assert!(few.fit());
    }

    #[test]
    fn a_point_is_a_moving_average_and_is_what_is_known_before_the_fit() {
        let mut profile = Profile::default();
        profile.add(7, 40.0, 0.875);
        profile.add(7, 80.0, 0.875);
        assert!((profile.delay_at(7.0) - 45.0).abs() < 1e-12);
        assert!((profile.delay_at(3.0) - 45.0).abs() < 1e-12, "the nearest");
        assert!((profile.delay_at(30.0) - 45.0).abs() < 1e-12);
        profile.cut(7);
        assert!(profile.delay_at(7.0).abs() < 1e-12 && !profile.fit());
    }
}
