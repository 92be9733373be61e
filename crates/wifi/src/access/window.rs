//! The contention window, and the policies that adapt it.

mod mimd;
mod standard;

use super::{Control, Parameters};

/// The contention window of one EDCAF, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    control: Control,
    minimum: u16,
    floor: u16,
    maximum: u16,
    now: u16,
}

impl Window {
    /// Returns a window of size CWmin.
    #[must_use]
    pub const fn new(parameters: &Parameters) -> Self {
        Self {
            control: parameters.cw_control,
            minimum: parameters.cw_min,
            floor: parameters.floor(),
            maximum: parameters.cw_max,
            now: parameters.cw_min,
        }
    }

    /// Returns the current window: backoffs are drawn from 0 to this value.
    #[must_use]
    pub const fn get(&self) -> u16 {
        self.now
    }

    /// Adapts the window to a successful frame exchange.
    pub const fn succeed(&mut self) {
        self.now = match self.control {
            Control::Standard => standard::after_success(self.minimum),
            Control::Mimd => mimd::after_success(self.now, self.floor),
        };
    }

    /// Adapts the window to a failed frame exchange.
    pub const fn fail(&mut self) {
        self.now = doubled(self.now, self.maximum);
    }

    /// Adapts the window after a frame was given up: the window is reset to CWmin when a retry
    /// counter reaches its limit (10.3.3). With `resets_mimd`, this also applies to
    /// [`Control::Mimd`].
    pub const fn give_up(&mut self, resets_mimd: bool) {
        if resets_mimd || matches!(self.control, Control::Standard) {
            self.now = self.minimum;
        }
    }
}

/// Returns the next of the windows 2ⁿ − 1, up to `maximum` (10.3.3).
const fn doubled(now: u16, maximum: u16) -> u16 {
    let next = 2 * now as u32 + 1;
    if next < maximum as u32 { next as u16 } else { maximum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Category;
    use crate::phy::Standard;

    fn window(control: Control) -> Window {
        Window::new(&Parameters { cw_control: control, ..Parameters::of(Standard::A, Category::BestEffort) })
    }

    #[test]
    fn failures_double_it_up_to_the_largest() {
        let mut window = window(Control::Standard);
        let seen: Vec<u16> = (0..8).map(|_| (window.fail(), window.get()).1).collect();
        assert_eq!(seen, [31, 63, 127, 255, 511, 1023, 1023, 1023]);
    }

    #[test]
    fn a_success_resets_it_or_under_mimd_halves_it() {
        let after = |control| {
            let mut window = window(control);
            (0..3).for_each(|_| window.fail());
            window.succeed();
            window.get()
        };
        assert_eq!((after(Control::Standard), after(Control::Mimd)), (15, 63));
    }

    #[test]
    fn mimd_halves_below_the_smallest_window_down_to_its_floor() {
        let own = Parameters { cw_control: Control::Mimd, ..Parameters::of(Standard::B, Category::BestEffort) };
        let halved = |floor: u16| {
            let mut window = Window::new(&Parameters { cw_floor: Some(floor), ..own });
            let mut seen = vec![window.get()];
            (0..6).for_each(|_| (window.succeed(), seen.push(window.get())).1);
            seen
        };
        assert_eq!(halved(0), [31, 15, 7, 3, 1, 0, 0]);
        assert_eq!(halved(1), [31, 15, 7, 3, 1, 1, 1]);
        assert_eq!(halved(2), [31, 15, 7, 3, 2, 2, 2]);
        let mut window = Window::new(&Parameters { cw_floor: Some(0), ..own });
        (0..6).for_each(|_| window.succeed());
        let doubled: Vec<u16> = (0..3).map(|_| (window.fail(), window.get()).1).collect();
        assert_eq!(doubled, [1, 3, 7]);
    }

    #[test]
    fn mimd_goes_no_lower_than_the_smallest_and_keeps_its_window_when_a_frame_is_given_up() {
        let mut window = window(Control::Mimd);
        window.succeed();
        assert_eq!(window.get(), 15);
        window.fail();
        window.give_up(false);
        assert_eq!(window.get(), 31);
        window.give_up(true);
        assert_eq!(window.get(), 15);
    }
}
