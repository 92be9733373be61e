//! Channel access: DCF (10.3) and EDCA with its four categories (10.23.2).

mod category;
mod contention;
mod edca;
mod window;

pub use category::{Category, Control, Overrides, Parameters};
pub(crate) use contention::{Contention, EdcafId, LaneId, RxEnd};
pub use edca::EdcaSet;
pub use window::Window;
