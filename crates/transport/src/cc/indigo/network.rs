//! A layer of LSTM cells and a linear layer that scores actions. It follows `DaggerLSTM` of
//! `dagger/models.py`: TensorFlow's `BasicLSTMCell` with a forget bias of one.
//!
//! Sums have a fixed order and functions are libm's, so the same inputs give the same actions on
//! every machine. A decision takes 584 multiplications.

use super::weights::{GATES, SCORES};

/// The actions: ÷2, −10, 0, +10, ×2 (`action_mapping`).
pub(super) const ACTIONS: usize = 5;
/// The inputs: queueing delay, delivery rate, sending rate, window, and the last action, one-hot.
pub(super) const INPUTS: usize = 4 + ACTIONS;
/// The number of cells. Indigo has 32.
const HIDDEN: usize = 8;
/// Inputs, hidden state and bias.
const SEEN: usize = INPUTS + HIDDEN + 1;

/// The state of the cells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Network {
    cells: [f64; HIDDEN],
    hidden: [f64; HIDDEN],
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

fn weighted<const N: usize>(weights: &[f64; N], seen: &[f64; N]) -> f64 {
    weights.iter().zip(seen).fold(0.0, |sum, (weight, value)| sum + weight * value)
}

impl Network {
    /// Returns the action with the maximum score.
    pub(super) fn action(&mut self, inputs: &[f64; INPUTS]) -> usize {
        let mut seen = [1.0; SEEN];
        seen[..INPUTS].copy_from_slice(inputs);
        seen[INPUTS..INPUTS + HIDDEN].copy_from_slice(&self.hidden);
        for cell in 0..HIDDEN {
            let [input, new, forget, output] = [0, 1, 2, 3].map(|gate| weighted(&GATES[gate * HIDDEN + cell], &seen));
            self.cells[cell] = self.cells[cell] * sigmoid(forget + 1.0) + sigmoid(input) * libm::tanh(new);
            self.hidden[cell] = libm::tanh(self.cells[cell]) * sigmoid(output);
        }
        let mut last = [1.0; HIDDEN + 1];
        last[..HIDDEN].copy_from_slice(&self.hidden);
        let scores = SCORES.map(|weights| weighted(&weights, &last));
        // If scores are equal, the first action wins.
        (1..ACTIONS).fold(0, |best, action| if scores[action] > scores[best] { action } else { best })
    }
}
