//! Who may send next: the distributed coordination function and its four enhanced categories (10.3, 10.23.2).

mod category;
mod contention;
mod window;

pub use category::{Category, Overrides, Parameters};
pub(crate) use contention::{Contention, FunctionId, LaneId, PREAMBLE_DETECTION};
pub use window::{Control, Window};
